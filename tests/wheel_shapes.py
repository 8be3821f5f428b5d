"""The shapes of wheels: what `check` reads of one, as text, and a stand-in of a few kilobytes made from that.

A shape has a line for each fact. `file` begins a library or program of the wheel, and the lines below it are of it:

    needs NAME | soname NAME | rpath PATH | runpath PATH     entries of its dynamic section
    versions LIBRARY VERSION...                             versions that it needs of a library
    defines VERSION...                                      versions that it defines
    wants FUNCTION...                                       functions of ROCm, and others, that other files must define
    exports FUNCTION...                                     of these, the ones that it defines for other files here
    module | program                                        Python imports it by its name; it is a program
    opens NAME...                                           names of libraries among its constants
    code TARGET...                                          targets of its GPU code

Before the first of them: `wheel` (the file name), `requires` (a value of Requires-Dist), `named` (a name without `lib`
and `.so` that a source has, or in quotes one of a library of ROCm), `other` (a file whose name alone counts, with the
targets of its code).

usage: python tests/wheel_shapes.py WHEEL...
       writes tests/foreign/shapes/NAME-VERSION.txt, from the wheels
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sample_device_code import bundle
from written_elf import shared_library

from rocm_sdk import RocmSdkError, device_code
from rocm_sdk._native import check_host_files, inspect_library

SHAPES = Path(__file__).resolve().parent / "foreign/shapes"

# Functions of ROCm's libraries, which no version of a system's library binds.
OF_ROCM = re.compile(r"_{0,2}(?:hip|hsa_|roc|rccl|nccl|miopen|rsmi_|amdsmi_|amd_comgr_)\w+")
_OF_SYSTEM = re.compile(r"lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s|z|util)\.so|ld-linux")
_OLD_GLIBC = 34  # the minor version that each system has on which tests run
_OF_DISTRIBUTION = re.compile(r"lib(?:curl|ibverbs|lzma|numa)\.so")  # which systems have or not
_OTHER = (".co", ".hsaco", ".kpack", ".dat", ".dll", ".pyd", ".aks2")
_LIMIT = 40  # functions of a file, and names of a directory: more of a kind add nothing
_MACHINE = os.uname().machine


@dataclass
class File:
    """A library or program."""

    path: str
    facts: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Shape:
    """A wheel."""

    wheel: str
    requires: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    others: dict[str, list[str]] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)

    def as_text(self) -> str:
        """Return the lines."""
        lines = [f"wheel {self.wheel}", *(f"requires {each}" for each in self.requires)]
        lines += [f"named {each}" for each in self.named]
        lines += [" ".join(("other", path, *targets)) for path, targets in self.others.items()]
        for file in self.files:
            lines.append(f"file {file.path}")
            lines += [" ".join((f"  {word}", *words)) for word, words in file.facts.items()]
            lines += [" ".join(("  versions", library, *each)) for library, each in file.versions.items()]
        return "\n".join(lines) + "\n"


def read(text: str) -> Shape:
    """Return the shape that a text describes."""
    shape = Shape("")
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if not line.startswith(" "):
            match word:
                case "wheel":
                    shape.wheel = rest
                case "requires":
                    shape.requires.append(rest)
                case "named":
                    shape.named.append(rest)
                case "other":
                    shape.others[rest.split(" ")[0]] = rest.split(" ")[1:]
                case "file":
                    shape.files.append(File(rest))
        elif word == "versions":
            shape.files[-1].versions[rest.split(" ")[0]] = rest.split(" ")[1:]
        else:
            shape.files[-1].facts[word] = rest.split(" ") if rest else []
    return shape


# ---- a stand-in


def _code(targets: Iterable[str]) -> bytes:
    return bundle({f"hipv4-amdgcn-amd-amdhsa--{target}": target.encode() for target in targets}, align=16)


def _library(file: File, *, for_any_system: bool) -> bytes:
    facts = file.facts
    versions = {name: each for name, each in file.versions.items() if not (for_any_system and _OF_SYSTEM.match(name))}
    stem = Path(file.path).name.partition(".")[0]
    return shared_library(
        soname=next(iter(facts.get("soname", [])), None),
        needed=[each for each in facts.get("needs", []) if not (for_any_system and _OF_DISTRIBUTION.match(each))],
        rpath=next(iter(facts.get("rpath", [])), None),
        runpath=next(iter(facts.get("runpath", [])), None),
        wanted=facts.get("wants", []),
        defined=[*([f"PyInit_{stem}"] if "module" in facts else []), *facts.get("exports", [])],
        needed_versions=versions,
        versions=facts.get("defines", []),
        texts=facts.get("opens", []),
        sections={".hip_fatbin": _code(facts["code"])} if "code" in facts else {},
        is_program="program" in facts,
    )


def stand_in(shape: Shape, directory: Path, *, for_any_system: bool = True) -> Path:
    """Write a wheel with the shape, for this machine and any CPython 3, and return its path.

    for_any_system: without the versions and libraries that it needs of a system, which systems have or not, and without
    the version of glibc in its tag.
    """
    name, version = shape.wheel.split("-")[:2]
    platform = shape.wheel.removesuffix(".whl").rpartition("-")[2].replace("x86_64", _MACHINE)
    if for_any_system and any(int(minor) > _OLD_GLIBC for minor in re.findall(r"manylinux_2_(\d+)", platform)):
        platform = f"linux_{_MACHINE}"
    path = directory / f"{name}-{version}-py3-none-{platform}.whl"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    metadata += [f"Requires-Dist: {each}" for each in shape.requires]
    with zipfile.ZipFile(path, "w") as archive:
        for file in shape.files:
            archive.writestr(file.path, _library(file, for_any_system=for_any_system))
        for each, targets in shape.others.items():
            archive.writestr(each, _code(targets) if targets else b"")
        archive.writestr("sources.py", "\n".join(shape.named))
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(metadata) + "\n")
    return path


# ---- a shape from a wheel


def _functions(path: Path, *, is_defined: bool) -> list[str]:
    """Return the functions that a file defines, or that it does not, as readelf prints them, without their versions."""
    lines = subprocess.run(["readelf", "-W", "--dyn-syms", str(path)], capture_output=True, text=True, check=False)
    rows = [line.split() for line in lines.stdout.splitlines()]
    names = (row[7] for row in rows if len(row) >= 8 and row[4] == "GLOBAL" and (row[6] != "UND") == is_defined)
    return [name.partition("@")[0] for name in names]


def _defined_versions(path: Path) -> list[str]:
    text = subprocess.run(["readelf", "-W", "-V", str(path)], capture_output=True, text=True, check=False).stdout
    part = text.partition("Version definition section")[2].partition("Version needs section")[0]
    return [name for flags, name in re.findall(r"Flags: (\w+).*?Name: (\S+)", part) if flags != "BASE"]


def _of_file(path: Path, name: str, lacks: Iterable[str], *, is_program: bool, is_module: bool, limit: int) -> File:
    facts: dict[str, list[str]] = {}
    found = inspect_library(str(path), True)
    single = {"soname": found.soname, "rpath": found.rpath, "runpath": found.runpath}
    facts |= {word: [text] for word, text in single.items() if text is not None}
    wants = dict.fromkeys((*lacks, *filter(OF_ROCM.fullmatch, _functions(path, is_defined=False))))
    code = device_code(path)
    lists = {
        "needs": list(found.needed),
        "defines": _defined_versions(path),
        "wants": list(wants)[:limit],
        "opens": [each for each in found.opened if " " not in each][:limit],
        "code": [each.target for each in code.targets if each.target is not None],
    }
    facts |= {word: words for word, words in lists.items() if words}
    facts |= {"program": []} if is_program else {}
    facts |= {"module": []} if is_module else {}
    versions: dict[str, list[str]] = {}
    for library, version in found.version_needs:
        versions.setdefault(library, []).append(version)
    return File(name, facts, versions)


def record(wheel: Path, limit: int = _LIMIT) -> Shape:
    """Return the shape of a wheel. limit: of the functions and opened names of a file."""
    shape = Shape(wheel.name)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch)
        root = Path(scratch)
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        libraries = [path for path in paths if path.read_bytes()[:20][:4] == b"\x7fELF" and path.suffix not in _OTHER]
        checked = {row.path: row for row in check_host_files(tuple(map(str, libraries)), ()).files}
        for path in libraries:
            row = checked.get(str(path))
            try:
                lacks = (
                    [lack.name for lack in row.lacks if lack.name is not None and lack.library is None] if row else []
                )
                is_program, is_module = row is not None and row.is_program, row is not None and row.is_module
                name = str(path.relative_to(root))
                shape.files.append(
                    _of_file(path, name, lacks[:3], is_program=is_program, is_module=is_module, limit=limit)
                )
            except RocmSdkError:
                continue  # a program without a dynamic section
        wanted = {name for file in shape.files for name in file.facts.get("wants", [])}
        for file in shape.files:
            exports = wanted.intersection(_functions(root / file.path, is_defined=True))
            file.facts |= {"exports": sorted(exports)} if exports else {}
        shape.others = dict(_others(root, paths))
        (metadata,) = root.glob("*.dist-info/METADATA")
        headers = metadata.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
        shape.requires = re.findall(r"^Requires-Dist: (.*)$", headers, re.MULTILINE)
        stems = {path.name.partition(".so")[0].removeprefix("lib") for path in libraries}
        sources = "\n".join(path.read_text(errors="replace") for path in paths if path.suffix == ".py")
        shape.named = sorted(stem for stem in stems if stem in sources)
        shape.named += sorted(set(re.findall(r"""["']lib(?:amd|hip|hsa|roc|rccl)[\w-]*\.so["']""", sources)))
    return shape


def _others(root: Path, paths: Iterable[Path]) -> Iterator[tuple[str, list[str]]]:
    """Yield the files whose names count, of each directory the first with each list of targets."""
    seen: set[tuple[Path, str, tuple[str, ...]]] = set()
    for path in paths:
        if path.suffix in _OTHER:
            targets: list[str] = []
            if path.suffix in (".co", ".hsaco"):
                targets = [each.target for each in device_code(path).targets if each.target is not None]
            key = path.parent, path.suffix, tuple(targets)
            if key not in seen and " " not in str(path):
                seen.add(key)
                yield str(path.relative_to(root)), targets


def main() -> None:
    """Write the shape of each wheel that the command line names."""
    for name in sys.argv[1:]:
        shape = record(Path(name))
        target = SHAPES / f"{'-'.join(shape.wheel.split('-')[:2])}.txt"
        target.parent.mkdir(exist_ok=True)
        target.write_text(shape.as_text(), encoding="utf-8")
        print(target.name, target.stat().st_size, hashlib.sha256(target.read_bytes()).hexdigest()[:8])


if __name__ == "__main__":
    main()
