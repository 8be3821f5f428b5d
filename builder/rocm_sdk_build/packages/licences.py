"""A package's licence files, and the licences of Debian's packages as SPDX expressions.

Licence files lie among the package's artifacts, mostly in `share/doc`. The expressions come from copyright files in the
machine-readable form (DEP-5): an expression joins the licences of all files of the package's source except the
packaging, `debian/*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from rocm_sdk_build.inputs.catalog import Artifact

_NAME = re.compile(r"(?i)(licen[cs]es?|copying|copyright|notice)([-._].*)?")
_SUFFIXES = ("", ".txt", ".md", ".rst", ".html", ".lesser", ".lib", ".runtime")
_DIRECTORIES = ("licenses", "LICENSES")
_PLACE = re.compile(r"share/doc/([^/]+)/copyright")
_FORMAT = re.compile(r"https?://www\.debian\.org/doc/packaging-manuals/copyright-format/1\.0/?")
_TABLE = Path(__file__).with_name("debian_licences.txt")
_SIZE_LIMIT, _COUNT_LIMIT = 1 << 20, 100
_NAME_LIMIT = 1000  # letters of a synopsis, whose comparison takes time by their square
_OPERATORS = ((", and ", "AND"), (", or ", "OR"), (" or ", "OR"), (" and ", "AND"))  # the weakest operator first
_REFERENCE = "LicenseRef-"


def find_licences(artifacts: Iterable[Artifact]) -> dict[str, Path]:
    """Return the licence files by their paths below the SDK's root; the first artifact that has a path counts."""
    found: dict[str, Path] = {}
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry.kind == "file" and _is_licence(PurePosixPath(entry.path)):
                found.setdefault(entry.path, entry.source)
    return dict(sorted(found.items()))


def licences_of_debian(files: Mapping[str, Path]) -> dict[str, str | None]:
    """Return the licence expression of each of Debian's packages.

    The expression is None where the copyright file of the package is not in the form, or damaged. `files` are licence
    files by their paths below the SDK's root. A name that the table lacks becomes a LicenseRef.
    """
    return {package: _joined(each) if each else None for package, each in _expressions_of(files).items()}


def expression_of_all(files: Mapping[str, Path]) -> str | None:
    """Return the licence expression of a package with these licence files.

    Return None unless all files are in the form, with names of the table.
    """
    found = _expressions_of(files)
    every = frozenset[str]().union(*found.values())
    if len(found) != len(files) or not all(found.values()) or any(_REFERENCE in each for each in every):
        return None
    return _joined(every) if every else None


def _is_licence(path: PurePosixPath) -> bool:
    name = _NAME.fullmatch(path.name)
    ending = path.suffix.lower() if name is not None and path.suffix.lower() in _SUFFIXES else None
    return ending is not None or path.parent.name in _DIRECTORIES


def _expressions_of(files: Mapping[str, Path]) -> dict[str, frozenset[str]]:
    """Return the licence expressions of each of Debian's packages; none where they are not known."""
    places = {place[1]: file for path, file in files.items() if (place := _PLACE.fullmatch(path)) is not None}
    return {package: _read(file) for package, file in sorted(places.items())}


def _read(file: Path) -> frozenset[str]:
    with file.open("rb") as opened:
        data = opened.read(_SIZE_LIMIT + 1)
    if len(data) > _SIZE_LIMIT:
        return frozenset()
    head, *rest = [*_paragraphs(data.decode("utf-8", "replace"))] or [{}]
    if _FORMAT.fullmatch(head.get("format", "")) is None:
        return frozenset()
    names = set()
    for each in rest:
        patterns = [pattern.removeprefix("./") for pattern in each.get("files", "").split()]
        if "license" in each and any(not pattern.startswith("debian/") for pattern in patterns):
            names.add(each["license"].partition("\n")[0].strip())
    if len(names) > _COUNT_LIMIT or any(len(name) > _NAME_LIMIT for name in names):
        return frozenset()
    return frozenset(map(_expression, names))


def _paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each paragraph: the name in lower case, and the value with the lines that follow it."""
    for block in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")):
        fields: dict[str, str] = {}
        name = ""
        for line in block.split("\n"):
            if line[:1] in {" ", "\t"} and name:
                fields[name] += f"\n{line}"
            elif ":" in line and not line.startswith("#"):
                name, _, value = line.partition(":")
                name = name.lower()
                fields[name] = value.strip()
        yield fields


def _expression(names: str) -> str:
    """Return the licence expression of a synopsis such as "A or B, and C"."""
    for word, operator in _OPERATORS:
        parts = names.split(word)
        if len(parts) > 1:
            return f" {operator} ".join(_in_parentheses(_expression(part)) for part in parts)
    own = re.sub(r"[^A-Za-z0-9.]+", "-", names.replace("+", "-or-later ")).strip("-")
    return _names().get(_key(names)) or f"{_REFERENCE}{own or 'unknown'}"


def _in_parentheses(expression: str) -> str:
    return f"({expression})" if " " in expression else expression


def _joined(expressions: frozenset[str]) -> str | None:
    parts = sorted(expressions)
    joined = " AND ".join(map(_in_parentheses, parts)) if len(parts) > 1 else parts[0]
    try:
        return str(canonicalize_license_expression(joined))
    except InvalidLicenseExpression:
        return None


def _key(name: str) -> str:
    """Return the key of a name: names are equal in upper and lower case, and with `.0` at the end of the version."""
    return re.sub(r"(\.0)+(\+?)$", r"\2", " ".join(name.lower().split()))


@cache
def _names() -> dict[str, str]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {_key(name): identifier for name, identifier, _source in rows}
