"""The command `rocm-sdk tree --bindings`: the files that answer the symbols of libraries, as text and for programs."""

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from rocm_sdk import Binding, BindingPair, Bindings
from rocm_sdk.base.value_text import counted, harmless
from rocm_sdk.cli.demangled import demangled
from rocm_sdk.terminal.style import style

if TYPE_CHECKING:
    from rocm_sdk._native import BindingVerdict

_SCHEMA = 1  # incremented when the meaning of a field changes
_LONGEST_NAME = 80  # letters of a symbol in the table
_COLUMNS = ("library", "binds to", "symbols", "elsewhere", "verdict")

# Verdict -> the target of its references, for people; for a fault, the kind of one. Other verdicts are as the library
# was built.
VERDICTS: "dict[BindingVerdict, str]" = {
    "vague": "C++ code that both have: no fault",
    "weak": "weak definitions that both have: no fault",
    "c++-runtime": "names of the C++ runtime: no fault",
    "c-library": "names of the C library: no fault",
    "same-source": "functions that both have from one source: no fault",
    "taken-over": "taken over on purpose: no fault",
    "other-function": "function",
    "other-object": "variable",
}
FAULTS: "tuple[BindingVerdict, ...]" = ("other-function", "other-object")


def elsewhere_of(pair: BindingPair) -> int:
    """Return how many references of a pair bind elsewhere than the library was built for."""
    return sum(pair.counts.get(verdict, 0) for verdict in VERDICTS)


def fault_count(bindings: Bindings) -> int:
    """Return how many references are faults."""
    return sum(pair.counts.get(verdict, 0) for pair in bindings.pairs for verdict in FAULTS)


def as_text(bindings: Bindings, stream: TextIO) -> str:
    """Return a row for each pair that binds elsewhere, with examples below; the sum at the end."""
    strong, faint = style("bold", stream), style("faint", stream)
    shown = [pair for pair in bindings.pairs if elsewhere_of(pair)]
    rows = [_COLUMNS, *map(_cells, shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for number, (library, bound_to, symbols, elsewhere, verdict) in enumerate(rows if shown else []):
        cells = [library.ljust(widths[0]), bound_to.ljust(widths[1]), symbols.rjust(widths[2])]
        line = harmless("  ".join([*cells, elsewhere.rjust(widths[3]), verdict]))
        lines.append(strong(line) if number == 0 else line)
        if number > 0:
            lines += [faint(harmless(f"    {line}")) for line in _examples(bindings, shown[number - 1])]
    lines.append(strong(summary(bindings)))
    return "\n".join(lines)


def summary(bindings: Bindings) -> str:
    """Return the sum, as one sentence."""
    elsewhere, faults = sum(map(elsewhere_of, bindings.pairs)), fault_count(bindings)
    libraries = len({pair.library for pair in bindings.pairs})
    total = f"{counted(bindings.reference_count, 'reference')} of {counted(libraries, 'file')}"
    if not elsewhere:
        return f"{total}: each binds to the file that it was built for"
    return f"{total}: {elsewhere} bind elsewhere, {counted(faults, 'fault')}"


def _cells(pair: BindingPair) -> tuple[str, str, str, str, str]:
    names = [os.path.basename(path) for path in (pair.library, pair.bound_to)]
    return names[0], names[1], str(pair.reference_count), str(elsewhere_of(pair)), verdict_text(pair)


def verdict_text(pair: BindingPair) -> str:
    """Return the target of a pair's references, for people: its faults, or why it is none."""
    faults = [counted(pair.counts[each], VERDICTS[each]) for each in FAULTS if each in pair.counts]
    return f"FAULT: {' and '.join(faults)} of another file" if faults else VERDICTS[pair.verdict]


def _examples(bindings: Bindings, pair: BindingPair) -> Iterator[str]:
    """Yield the examples of a pair, readable; for faults, one line each with the file that should answer."""
    readable = demangled(pair.examples) or {}
    names = [_shortened(readable.get(example, example)) for example in pair.examples]
    if pair.verdict not in FAULTS:
        yield ", ".join(names)
        return
    meant = {each.symbol: each for each in bindings.references if _is_of(each, pair)}
    for example, name in zip(pair.examples, names, strict=True):
        instead = meant[example].instead if example in meant else None
        yield f"{name}: {os.path.basename(instead or pair.library)} has it"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _is_of(reference: Binding, pair: BindingPair) -> bool:
    return (reference.library, reference.bound_to) == (pair.library, pair.bound_to)


def as_json(bindings: Bindings) -> str:
    """Return the bindings as one JSON object; docs/same-function.md describes the form."""
    content = {
        "schema": _SCHEMA,
        "references": bindings.reference_count,
        "elsewhere": sum(map(elsewhere_of, bindings.pairs)),
        "faults": fault_count(bindings),
        "pairs": [dict(zip(BindingPair.__match_args__, pair, strict=True)) for pair in bindings.pairs],
        "bound_elsewhere": [dict(zip(Binding.__match_args__, each, strict=True)) for each in bindings.references],
        "missing": bindings.missing,
    }
    return json.dumps(content, indent=2)
