#!/usr/bin/env python3
"""`make mutants`: makes small faults in a clone of what is committed, one at a time, and prints how tests take them.

A mutant is a comparison, a limit that is off by one, a condition that is negated, a value of truth, or a statement that
is dropped. The tests are those that `make test-touched` chooses for a change of the file, the C programs first. A
mutant is killed where a test fails that passes without it. Exit status 0 where none survives, else 1.
"""

import argparse
import ast
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from touched_tests import read_table, tests_of

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutants"

SIGNS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
C_TOKENS = (
    (r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
    (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r" \+ 1\b", ""), (r" - 1\b", ""), (r"(?<=[ (])!(?=\w)", ""),
    (r"\bcontinue;", ";"), (r"(?m)^ +RSDK_TRY\(.*\);$", ""), (r"(?m)^ +[a-z_]+\([^;]*\);$", ""),
    (r"\bif \(", "if (!"), (r"(?m)(?<=return )-?[01](?=;)", "2"),
)  # fmt: skip
C_TEXTS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|^#[^\n]*', re.DOTALL | re.MULTILINE)


class Mutant(NamedTuple):
    """A file, the place of its bytes that change, and the bytes that come there."""

    file: str
    start: int
    end: int
    after: bytes


def of_c(file: str) -> Iterator[Mutant]:
    """Yield the mutants of a C file."""
    text = (COPY / file).read_text(encoding="utf-8")
    code = C_TEXTS.sub(lambda found: "\0" * len(found[0]), text)
    for pattern, after in C_TOKENS:
        for found in re.finditer(pattern, code):
            start, end = (len(text[:place].encode()) for place in found.span())
            yield Mutant(file, start, end, after.encode())


def of_python(file: str) -> Iterator[Mutant]:
    """Yield the mutants of a Python file."""
    data = (COPY / file).read_bytes()
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        return lines[node.lineno - 1] + node.col_offset, end

    tree = ast.parse(data)
    texts = {each for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.arg) for each in ast.walk(node)}
    for node in ast.walk(tree):
        match None if node in texts else node:
            case (
                ast.Compare(left=first, ops=[sign], comparators=[second])
                | ast.BoolOp(op=sign, values=[first, second, *_])
            ):
                (_, start), (end, _) = span(first), span(second)
                before, after = SIGNS[type(sign)]
                yield Mutant(file, start, end, data[start:end].replace(before.encode(), after.encode(), 1))
            case ast.Constant(value=bool(value)):
                yield Mutant(file, *span(node), str(not value).encode())
            case ast.Constant(value=int(value)):
                yield Mutant(file, *span(node), str(value + 1).encode())
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                start, end = span(test)
                yield Mutant(file, start, end, b"not (" + data[start:end] + b")")
            case ast.Raise() | ast.Continue() | ast.AugAssign() | ast.Expr(value=ast.Call()):
                yield Mutant(file, *span(node), b"pass")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Return the result of a command in the copy; one that hangs has failed."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    try:
        return subprocess.run(command, cwd=COPY, env=own, capture_output=True, text=True, timeout=1800, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "FAILED it hangs", "")


def verdict(mutant: Mutant, tests: list[str]) -> tuple[str, str]:
    """Return what becomes of a mutant, and the test that notices it; the copy is as before afterwards."""
    path, before = COPY / mutant.file, (COPY / mutant.file).read_bytes()
    path.write_bytes(before[: mutant.start] + mutant.after + before[mutant.end :])
    pytest = ["build/venv-develop/bin/pytest", "-q", "-x", "--only=usual"]
    try:
        if run("make", "-s", "develop").returncode != 0:
            return "not compiled", ""
        done = run(*pytest, "-n2", "--dist=loadgroup", *tests)
    finally:
        path.write_bytes(before)
        run("make", "-s", "develop")
    killer = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    name = killer[1] if killer else ""
    if name.startswith("tests/") and run(*pytest, name).returncode != 0:
        return "no verdict", f"{name} fails without it"
    return ("SURVIVED" if done.returncode in {0, 5} else "killed"), name  # 5: no test ran


def main() -> int:
    """Try the mutants that the command asks for, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, value in (("--seed", str, "1"), ("--number", int, 10)):
        parser.add_argument(name, type=kind, default=value)
    parser.add_argument("file", nargs="+")
    options = parser.parse_args()
    COPY.mkdir(parents=True, exist_ok=True)
    for words in (["init", "-q"], ["fetch", "-q", str(ROOT), "HEAD"], ["reset", "-q", "--hard", "FETCH_HEAD"]):
        subprocess.run(["git", *words], cwd=COPY, check=True)
    run("make", "-s", "develop")
    mutants = [each for file in sorted({*options.file}) for each in (of_python if file.endswith(".py") else of_c)(file)]
    random.Random(options.seed).shuffle(mutants)
    tried = survived = 0
    while mutants and tried < options.number:
        mutant = mutants.pop()
        began, text = time.monotonic(), (COPY / mutant.file).read_bytes()
        tests = sorted(tests_of([mutant.file], read_table()), key=lambda name: name != "test_c_suite.py")
        found, killer = verdict(mutant, [f"tests/{each}" for each in tests])
        tried += found in {"killed", "SURVIVED"}
        survived += found == "SURVIVED"
        line, before = text[: mutant.start].count(b"\n") + 1, text[mutant.start : mutant.end].decode()
        change = " ".join(f"{mutant.file}:{line}: {before} -> {mutant.after.decode()}".split())
        print(f"{found:12} {time.monotonic() - began:4.0f} s  {change}  {killer}", flush=True)
    print(f"seed {options.seed}: {tried} mutants, {survived} survived")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
