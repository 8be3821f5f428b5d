"""The maker of small mutations of a source file: of Python by its syntax tree, of C by a table of tokens.

Mutations are comparisons, limits that are off by one, conditions that are negated, values of truth, and statements that
are dropped. Texts and comments are left alone: a message that reads otherwise is no fault here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple


class Change(NamedTuple):
    """A change: `text[start:end]` becomes `after`; `line` counts from 1."""

    start: int
    end: int
    after: str
    line: int


def changes(name: str, text: str) -> list[Change]:
    """Return all mutations of a file that this module can make, in the order of the text."""
    found = _python(text) if name.endswith(".py") else _c(text)
    return sorted(set(found))


# ---- Python

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


def _python(text: str) -> Iterator[Change]:
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    encoded = text.encode()

    def at(line: int, column: int) -> int:
        return len(encoded[: starts[line - 1] + column].decode())

    for node in _walk(ast.parse(text)):
        for part, after in _mutations(node, text):
            assert part.end_lineno is not None
            assert part.end_col_offset is not None
            end = at(part.end_lineno, part.end_col_offset)
            yield Change(at(part.lineno, part.col_offset), end, after, part.lineno)


def _mutations(node: ast.AST, text: str) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield parts of a node, with the text that may stand in the place of each."""

    def source(part: ast.AST) -> str:
        return ast.get_source_segment(text, part) or ""

    match node:
        case ast.Compare():
            yield from ((node, changed) for changed in _comparisons(node, text))
        case ast.Constant(value=bool()):
            yield node, str(not node.value)
        case ast.Constant(value=int(number)):
            yield node, str(number + 1)
        case ast.UnaryOp(op=ast.Not()):
            yield node, source(node.operand)
        case ast.BoolOp():
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield node, word.join(f"({source(value)})" for value in node.values)
        case ast.If() | ast.While() | ast.IfExp():
            yield node.test, f"not ({source(node.test)})"
        case ast.Raise() | ast.Continue() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield node, "pass"


def _comparisons(node: ast.Compare, text: str) -> Iterator[str]:
    """Yield the comparison with each of its signs changed."""
    left, *others = [ast.get_source_segment(text, side) or "" for side in (node.left, *node.comparators)]
    for i, changed in enumerate(node.ops):
        signs = [_SIGNS[type(sign)] for sign in node.ops]
        signs[i] = _OPPOSITES[type(changed)]
        yield " ".join([left, *(f"{sign} {other}" for sign, other in zip(signs, others, strict=True))])


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of code that runs.

    Texts, annotations, default values of types and code for type checkers alone are left out.
    """
    if isinstance(node, (ast.JoinedStr, ast.arg)):
        return
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases"}:
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _walk(each)


# ---- C

_TOKENS = (
    (r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
    (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r" \+ 1\b", ""), (r" - 1\b", ""), (r"(?<=[ (])!(?=\w)", ""),
    (r"(?<=\w)\+\+(?=[;)\]])", "--"), (r"\bcontinue;", ";"), (r"(?m)^ +RSDK_TRY\(.*\);$", ""),
    (r"(?m)^ +[a-z_]+\([^;]*\);$", ""), (r"(?m)(?<=return )-?[01](?=;)", "2"),
)  # fmt: skip
_IF = re.compile(r"\bif (?=\()")
_TEXTS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|^#[^\n]*', re.DOTALL | re.MULTILINE)


def _c(text: str) -> Iterator[Change]:
    code = _TEXTS.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    for pattern, after in _TOKENS:
        for found in re.finditer(pattern, code):
            yield Change(found.start(), found.end(), after, _line(text, found.start()))
    for found in _IF.finditer(code):
        depth = 0
        for end in range(found.end(), len(code)):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            if depth == 0:
                break
        condition = text[found.end() : end + 1]
        yield Change(found.end(), end + 1, f"(!{condition})", _line(text, found.start()))


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
