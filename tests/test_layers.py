"""The layers (docs/architecture.md): an #include or import goes down, and no two files depend on each other."""

import ast
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from programs import completed
from system_programs import need

ROOT = Path(__file__).resolve().parent.parent

# The C layers, from the lowest up: each directory of csrc except include. Parts of one layer know nothing of each
# other.
C_LAYERS = [
    {"base", "install", "programs"},
    {"elf", "gpu"},
    {"sdk"},
    {"device_code", "loader"},
    {"binding"},
    {"diagnosis"},
    {"python"},
]
RANK = {directory: rank for rank, layer in enumerate(C_LAYERS) for directory in layer}
# Directories that know nothing of some below them: what a symbol binds to does not depend on GPU code.
C_APART = {"binding": {"device_code"}}

LIBELF_HEADERS = re.compile(r"(libelf|gelf|libdw)\.h$|elfutils/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# A single pass over comments and strings: a quote in a comment opens no string, slashes in a string open no comment.
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)

PACKAGE_NAMES = r"_?rocm[-_]sdk[-_](?:core|libraries|devel|device)\w*|_?rocm[-_]profiler\w*"

# Parts that a part of the Python package may import; the core (the modules in rocm_sdk/ itself) is open.
PYTHON_MAY_IMPORT: dict[str, set[str]] = {
    "core": {"base", "problems"},
    "base": set(),
    "terminal": {"base"},
    "installed": {"base"},
    "adoption": {"base", "installed"},
    "problems": {"base", "installed"},
    "fit": {"base", "installed", "problems", "terminal"},
    "index": {"base", "fit", "installed", "terminal"},
    "devel": {"base", "installed", "problems"},
    "_devel": {"devel"},
    "doctor": {
        "adoption",
        "base",
        "devel",
        "fit",
        "index",
        "installed",
        "problems",
        "terminal",
    },
    "cli": {
        *("_devel", "adoption", "base", "devel", "doctor", "fit", "index", "installed"),
        *("problems", "terminal"),
    },
    "__main__": {"base", "cli"},
    "_pyinstaller": {"installed"},
    "testing": {"base"},
}


def without_comments(text: str) -> str:
    return COMMENT_OR_STRING.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)


def include_violation(directory: str, source: Path, kind: str, target: str) -> str | None:
    """Return the fault of an #include of a file in csrc/`directory`, or None; "include" is for public headers."""
    above = target.partition("/")[0]
    if target == "Python.h":
        return None if directory == "python" else "Python.h outside csrc/python"
    if LIBELF_HEADERS.search(target):
        return None if directory == "elf" else "a libelf header outside csrc/elf"
    if kind == "<" or above == "rocm_sdk":
        return None
    if directory == "include":
        return "a public header includes a private one"
    if "/" not in target:
        return None if (source.parent / target).exists() else "neither beside the file nor named from csrc/"
    if above not in RANK:
        return f"{above} has no rank in C_LAYERS"
    if above != directory and RANK[above] >= RANK[directory]:
        return f"goes up or sideways, from {directory} to {above}"
    if above in C_APART.get(directory, ()):
        return f"{directory} knows nothing of {above}"
    return None


def cycles(needs: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield each pair of files that depend on each other, directly or through others.

    The text is "file: depends on itself: ...".
    """
    for start in sorted(needs):
        pending, via = [start], {start: ""}
        while pending:
            name = pending.pop(0)
            for other in sorted(needs.get(name, ())):
                if other == start:
                    way = [start]
                    while name:
                        way.insert(1, name)
                        name = via[name]
                    yield f"{start}: depends on itself: {' -> '.join(way[1:])} -> {start}"
                    pending = []
                    break
                if other not in via:
                    via[other] = name
                    pending.append(other)


def c_needs(csrc: Path) -> dict[str, set[str]]:
    """Return the files that each C file includes; a source and its header are one: "loader/plan"."""
    needs: dict[str, set[str]] = {}
    for source in sorted([*csrc.rglob("*.c"), *csrc.rglob("*.h")]):
        name = source.relative_to(csrc).with_suffix("").as_posix()
        for kind, target in INCLUDE.findall(without_comments(source.read_text(encoding="utf-8"))):
            places = (csrc / target, csrc / "include" / target, source.parent / target)
            found = next((place for place in places if kind == '"' and place.exists()), None)
            other = found.relative_to(csrc).with_suffix("").as_posix() if found else name
            needs.setdefault(name, set()).update({other} - {name})
    return needs


def c_violations(csrc: Path, shortnames: set[str]) -> Iterator[str]:
    """Yield each violation in the C sources, as "file: violation"."""
    words = "|".join(re.escape(name) for name in sorted(shortnames))
    rocm_names = re.compile(rf"(?<!\w)(?:(?:lib)?(?:{words})|{PACKAGE_NAMES})(?!\w)")
    for source in sorted([*csrc.rglob("*.c"), *csrc.rglob("*.h")]):
        relative = source.relative_to(csrc)
        directory = relative.parts[0]
        if directory not in RANK and directory != "include":
            yield f"{relative}: {directory} has no rank in C_LAYERS"
            continue
        code = without_comments(source.read_text(encoding="utf-8"))
        for kind, target in INCLUDE.findall(code):
            if problem := include_violation(directory, source, kind, target):
                yield f"{relative}: #include {target}: {problem}"
        if directory != "include" and RANK[directory] < RANK["sdk"]:
            for name in rocm_names.findall(code):
                yield f"{relative}: {name}: a ROCm name below csrc/sdk"


def part_of(module: tuple[str, ...]) -> str:
    """Return the part of the Python package that a module, named as a tuple below rocm_sdk, belongs to."""
    if module and module[0] in PYTHON_MAY_IMPORT:
        return module[0]
    return "core"


def imported_modules(
    source: Path, package: Path, name: str = "rocm_sdk", folder: tuple[str, ...] | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield the modules of a package that a file imports, also inside functions, named below the package.

    `folder` is the folder of the file, by default its place in the package; () if the file is not in the package.
    """
    folder = (name, *source.relative_to(package).parent.parts) if folder is None else folder
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = folder[: len(folder) - node.level + 1] if node.level else ()
            origin = (*start, *(node.module or "").split(".")) if node.module else start
            names = [(*origin, alias.name) for alias in node.names]
        else:
            continue
        yield from (found[1:] for found in names if found[:1] == (name,))


def python_needs(package: Path, root: str = "rocm_sdk") -> dict[str, set[str]]:
    """Return the modules that each module imports, at any time.

    A module is "cli/init" or, for a package's own file, "cli/__init__".
    """
    names = {source.relative_to(package).with_suffix("").as_posix() for source in package.rglob("*.py")}
    needs: dict[str, set[str]] = {}
    for source in sorted(package.rglob("*.py")):
        name = source.relative_to(package).with_suffix("").as_posix()
        for module in imported_modules(source, package, root):
            # The module itself, the package of this name, or the module that has this attribute.
            places = ["/".join(module), "/".join([*module, "__init__"])]
            places += ["/".join(module[:-1]), "/".join([*module[:-1], "__init__"])]
            other = next((place for place in places if place in names), name)
            needs.setdefault(name, set()).update({other} - {name})
    return needs


def folder_cycles(needs: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield each pair of parts of a folder, files or folders, that depend on each other; the package itself is none."""
    inside: dict[str, dict[str, set[str]]] = {}
    for name, other in ((name, other) for name, others in needs.items() for other in others):
        if folder := os.path.commonpath([name, other]):
            mine, theirs = (each.removeprefix(f"{folder}/").partition("/")[0] for each in (name, other))
            inside.setdefault(folder, {}).setdefault(mine, set()).add(theirs)
    for folder, parts in sorted(inside.items()):
        yield from (f"{folder}/{violation}" for violation in cycles(parts))


def python_violations(package: Path) -> Iterator[str]:
    """Yield each violation in the Python package, as "file: violation"."""
    for source in sorted(package.rglob("*.py")):
        relative = source.relative_to(package)
        if len(relative.parts) > 1 and relative.parts[0] not in PYTHON_MAY_IMPORT:
            yield f"{relative}: {relative.parts[0]} has no row in PYTHON_MAY_IMPORT"
            continue
        part = part_of(relative.with_suffix("").parts)
        for module in imported_modules(source, package):
            target = part_of(module)
            if target not in {"core", part, *PYTHON_MAY_IMPORT[part]}:
                yield f"{relative}: {part} imports rocm_sdk.{'.'.join(module)}"


def test_c_layers() -> None:
    from rocm_sdk import _dist_info

    shortnames = set(_dist_info.ALL_LIBRARIES)
    assert {"amdhip64", "amd_comgr", "hipsparse"} <= shortnames
    assert list(c_violations(ROOT / "csrc", shortnames)) == []
    assert list(cycles(c_needs(ROOT / "csrc"))) == []


@pytest.mark.slow
def test_python_layers() -> None:
    assert list(python_violations(ROOT / "rocm_sdk")) == []
    needs = python_needs(ROOT / "rocm_sdk")
    assert list(cycles(needs)) == []
    assert list(folder_cycles(needs)) == []


PUBLIC_HEADERS = sorted((ROOT / "csrc/include/rocm_sdk").glob("*.h"))


@pytest.mark.parametrize("header", PUBLIC_HEADERS, ids=lambda header: header.name)
@pytest.mark.parametrize(("compiler", "language", "standard"), [("gcc", "c", "c17"), ("g++", "c++", "c++17")])
def test_public_header_compiles_alone(header: Path, compiler: str, language: str, standard: str) -> None:
    """Alone, and twice: a header brings what it needs and guards itself."""
    need(compiler)
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source_options = ["-x", language, f"-std={standard}", f"-I{header.parent.parent}"]
    command = [compiler, "-fsyntax-only", *warnings, *source_options, "-"]
    # A header may hold macros only; ISO C wants a declaration in each unit all the same.
    source = f"#include <rocm_sdk/{header.name}>\n" * 2 + "int declared;\n"
    run = completed(command, input=source)
    assert run.returncode == 0, run.stderr
