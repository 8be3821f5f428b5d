"""The C interface: functions with their prototypes, members of structures with types and places, values of enumerators.

Sizes, places and values are those that the compiler has, on a 64-bit machine.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from compiled_files import compile_file

from .tables import Table

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "csrc/include/rocm_sdk"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_STRUCTURE = re.compile(r"typedef struct (rsdk_\w+) \{(.*?)\} \1;", re.DOTALL)
_ENUMERATION = re.compile(r"typedef enum (rsdk_\w+) \{(.*?)\} \1;", re.DOTALL)
_MACRO = re.compile(r"^#define (RSDK_\w+) (\"[^\"]*\"|\(?~?\w+\)?)$", re.MULTILINE)
# Names whose value is the value of a release.
_OF_A_RELEASE = {"RSDK_VERSION"}


def c_names() -> Table:
    """Return all public names of the C library."""
    text = "\n".join(
        _COMMENT.sub(" ", path.read_text(encoding="utf-8")).replace("\\\n", " ") for path in sorted(HEADERS.glob("*.h"))
    )
    table = {name: _prototype(name, text) for name in (ROOT / "csrc/install/symbols").read_text("ascii").split()}
    table |= {name: value for name, value in _MACRO.findall(text) if name not in _OF_A_RELEASE}
    types: Table = {}
    questions: dict[str, str] = {}  # row -> expression
    for structure, body in _STRUCTURE.findall(text):
        questions[structure] = f"sizeof({structure})"
        for declaration in _declarations(body):
            for name in _names(declaration):
                types[f"{structure}.{name}"] = " ".join(declaration.split())
                questions[f"{structure}.{name}"] = f"offsetof({structure}, {name})"
    for enumeration, body in _ENUMERATION.findall(text):
        table[enumeration] = "enumeration"
        for part in body.split(","):
            if match := re.match(r"\s*(RSDK_\w+)", part):
                questions[f"{enumeration}.{match[1]}"] = f"(unsigned long){match[1]}"
    for row, number in _answers(questions).items():
        table[row] = (
            f"at {number}: {types[row]}" if row in types else f"{'' if '.' in row else 'structure, bytes: '}{number}"
        )
    return table


def _prototype(name: str, text: str) -> str:
    """Return the declaration of a function; raise ValueError if the headers have none."""
    match = re.search(rf"^([\w *]+?\b{name}\([^;{{]*\))[^;{{]*;", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"csrc/install/symbols: {name} is declared in no header")
    return " ".join(match[1].split())


def _declarations(body: str) -> list[str]:
    """Return the members of a structure, one text for each declaration."""
    return [part.strip() for part in body.split(";") if part.strip()]


def _names(declaration: str) -> list[str]:
    """Return the names that a declaration of members gives."""
    if match := re.search(r"\(\*(\w+)\)\(", declaration):  # a pointer to a function
        return [match[1]]
    plain = re.sub(r"__typeof__\([^)]*\)", "function", declaration)
    return [re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", part))[-1] for part in plain.split(",")]


def _answers(questions: dict[str, str]) -> dict[str, str]:
    """Return the values of expressions, by the compiler."""
    lines = "".join(f'    printf("%zu\\n", (size_t)({expression}));\n' for expression in questions.values())
    includes = "".join(f"#include <rocm_sdk/{path.name}>\n" for path in sorted(HEADERS.glob("*.h")))
    source = f"#include <stddef.h>\n#include <stdio.h>\n{includes}int main(void) {{\n{lines}    return 0;\n}}\n"
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch, "answers")
        command = ["cc", "-std=gnu17", f"-I{HEADERS.parent}", "-x", "c", "-"]
        compile_file(command, program, source, sorted(HEADERS.glob("*.h")))
        answers = subprocess.check_output([program], text=True).split()
    return dict(zip(questions, answers, strict=True))
