"""The command `python -m benchmarks`: runs rows, prints a Markdown table, writes build/benchmarks.json."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError

from . import (
    row_bindings,
    row_build,
    row_cli,
    row_closure,
    row_codelist,
    row_cold,
    row_devel,
    row_gpus,
    row_import,
    row_init,
    row_init_scale,
    row_init_syscalls,
    row_ranks,
    row_selftest,
    row_slim,
    row_trampoline,
)
from .figures import Figure
from .observation import CannotMeasureError, ProcessError, instruction_counter
from .stage import BUILD, Stage, make_stage

ROWS: Mapping[str, Callable[[Stage], list[Figure]]] = {
    "import": row_import.run,
    "init": row_init.run,
    "init-scale": row_init_scale.run,
    "init-syscalls": row_init_syscalls.run,
    "bindings": row_bindings.run,
    "cli": row_cli.run,
    "gpus": row_gpus.run,
    "devel": row_devel.run,
    "selftest": row_selftest.run,
    "codelist": row_codelist.run,
    "slim": row_slim.run,
    "closure": row_closure.run,
    "ranks": row_ranks.run,
    "cold": row_cold.run,
    "trampoline": row_trampoline.run,
    "build": row_build.run,
}
COUNTED = ("calls", "directories", "operations", "servers")  # units of whole numbers
HEADINGS = ("row", "what", "median", "least", "most", "values", "target", "reached")


def main() -> int:
    """Run the rows and report; return 0 after any time, or 1 if something does not work."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)} (all)")
    parser.add_argument("--smoke", action="store_true", help="only see that everything works: a tiny SDK, few rounds")
    parser.add_argument(
        "--output", type=Path, default=BUILD, metavar="DIR", help="for benchmarks.json and what is measured (build)"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="write the table there, too, as the documentation shows it"
    )
    options = parser.parse_args()
    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(ROWS)}")
    stage = make_stage(options.output.absolute() / "benchmark-stage", is_smoke=options.smoke)
    facts = _machine(stage)
    if stage.is_smoke:
        print("smoke run: few rounds with tiny libraries; these times say nothing")
    table = [_line(HEADINGS), _line(["---"] * len(HEADINGS))]
    head = "; ".join(f"{name}: {value}" for name, value in facts.items())
    print(head, "", *table, sep="\n", flush=True)
    results = {}
    for row in options.rows or ROWS:
        try:
            results[row] = ROWS[row](stage)
        except CannotMeasureError as reason:
            print(f"row {row}: not measured: {reason}", file=sys.stderr)
            continue
        except (PackagingError, ProcessError) as error:
            print(f"error: row {row}: {error}", file=sys.stderr)
            return 1
        for figure in results[row]:
            table.append(_line(_cells(row, figure)))
            print(table[-1], flush=True)
    _write_json(options.output / "benchmarks.json", facts, results)
    if options.page is not None:
        options.page.write_text("\n".join([head, "", *table, ""]), encoding="utf-8")
    return 0


def _machine(stage: Stage) -> dict[str, object]:
    counter = instruction_counter()
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "SDK": "sample, compiled on the spot" if stage.has_sample_sdk else "Debian's ROCm",
        "Python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}",
        "kernel": platform.release(),
        "C library": " ".join(platform.libc_ver()),
        "instructions": f"counted by {counter[0]}" if counter else "not counted: neither perf nor valgrind can, here",
    }


def _cells(row: str, figure: Figure) -> Iterator[str]:
    yield row
    yield figure.what
    for value in (figure.median, figure.minimum, figure.maximum):
        yield f"{value:.0f}" if figure.unit in COUNTED else f"{value:.3f}"
    yield f"{figure.count} {figure.unit}"
    yield f"{figure.target.bound} {figure.target.value:g}" if figure.target else ""
    yield {None: "", True: "yes", False: "**no**"}[figure.is_reached]


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write_json(path: Path, facts: Mapping[str, object], results: Mapping[str, Sequence[Figure]]) -> None:
    figures = [
        {"row": row, **dataclasses.asdict(figure), "reached": figure.is_reached}
        for row, figures in results.items()
        for figure in figures
    ]
    partial = path.with_name(".benchmarks.json.partial")
    partial.write_text(json.dumps({"machine": facts, "figures": figures}, indent=2) + "\n", encoding="utf-8")
    partial.rename(path)


if __name__ == "__main__":
    sys.exit(main())
