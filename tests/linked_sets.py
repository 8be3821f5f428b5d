"""Random sets of libraries and programs, and what the dynamic linker makes of them: the judge of "loads".

A set has an SDK in a site-packages directory and foreign files beside it. The files are made with the assembler and
the linker alone, as a compiler takes ten times as long; a seed always makes the same set.
"""

import os
import platform
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from sample_site import CORE, LIBRARIES, Site

INTERPRETER = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}[platform.machine()]
_EXIT = {"x86_64": "mov $60, %eax; xor %edi, %edi; syscall", "aarch64": "mov x8, #93; mov x0, #0; svc #0"}
_OTHER_MACHINE = 0xF3  # EM_RISCV

OF_SDK = {  # SONAME -> package
    "libamdhip64.so.7": CORE,
    "libamd_comgr.so.3": CORE,
    "libhsa-runtime64.so.1": CORE,
    "librocblas.so.5": LIBRARIES,
    "libhelper.so.2": LIBRARIES,  # of no shortname
}
OTHER_RELEASES = ("libamdhip64.so.5", "librocblas.so.0", "libamd_comgr.so.2")
BESIDE = "libbeside.so.1"  # it lies beside the file that needs it
NOWHERE = ("libnowhere.so.1", "libamdsomething.so.3")
ALIAS, ALIAS_OF = "libalias.so.1", "libamdhip64.so.7"  # a link, and the library of the SDK that it leads to


class File(NamedTuple):
    """A file of a set; `soname` is None if the file has none."""

    path: Path
    soname: str | None
    is_program: bool = False


class LinkedSet:
    """The files of one seed, below a directory."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.random = random.Random(seed)
        self.more = random.Random(f"{seed} more")  # what came later leaves the sets of the seeds as they were
        self.directory = directory
        self.features: Counter[str] = Counter()
        self.site = Site(directory / "site")
        self._number = 0
        self.files: list[File] = []
        self._make_sdk()
        self._make_files()
        self.files = [file for file in self.files if begins_as_elf(file.path)]

    # ---- one file

    def _next(self) -> str:
        self._number += 1
        return f"{self._number}"

    def _object(self, defines: str, wants: list[str], *, program: bool) -> Path:
        """Make an object that defines a symbol and wants others."""
        code = f".text\n.globl {defines}\n.type {defines}, %function\n{defines}:\n"
        code += _EXIT[platform.machine()] + "\n" if program else "nop\n"
        code += '.section .note.GNU-stack,"",%progbits\n.data\n' + "".join(f".quad {each}\n" for each in wants)
        path = self.directory / "build" / f"{self._next()}.o"
        path.parent.mkdir(exist_ok=True)
        _run("as", "-o", str(path), "-", text=code)
        return path

    def stub(self, soname: str, versions: tuple[str, ...] = ()) -> Path:
        """Make a library to link with, of which the SONAME and the versions count."""
        path = self.directory / "stubs" / f"{soname}-{'-'.join(versions)}"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._link(path, soname, [], versions=versions)
        return path

    def _link(
        self,
        path: Path,
        soname: str | None,
        needs: list[tuple[str, str | None]],
        *,
        flags: tuple[str, ...] = (),
        versions: tuple[str, ...] = (),
        program: bool = False,
    ) -> None:
        """Link a file that needs libraries by their SONAMEs, some of them in a version."""
        stubs = [self.stub(name, ("V1", "V2")[: 1 + (version == "V2")] if version else ()) for name, version in needs]
        wants = [_symbol(name) for name, version in needs if version]
        made = self._object("_start" if program else _symbol(soname or path.name), wants, program=program)
        words = ["ld", "--no-as-needed", "--allow-shlib-undefined", "--unresolved-symbols=ignore-all", "-o", str(path)]
        words += ["-pie", "-dynamic-linker", INTERPRETER] if program else ["-shared"]
        words += ["-soname", soname] if soname else []
        if versions:
            script = self.directory / "build" / f"{self._next()}.map"
            previous = ""
            lines = []
            for version in versions:
                name = f" {_symbol(soname or path.name)};" if version == versions[-1] else ""
                lines.append(f"{version} {{ {f'global:{name}' if name else ''} }}{previous};")
                previous = f" {version}"
            script.write_text("\n".join(lines))
            words += ["--version-script", str(script)]
        path.parent.mkdir(parents=True, exist_ok=True)
        _run(*words, *flags, str(made), *map(str, stubs))

    # ---- the SDK

    def _make_sdk(self) -> None:
        """Make the libraries of an SDK, of which some need others, with and without RPATHs."""
        rpath = self.random.choice(["", "--disable-new-dtags", "--enable-new-dtags"])
        left_out = self.random.choice([None, None, None, "libhsa-runtime64.so.1", "librocblas.so.5", "libhelper.so.2"])
        names = [name for name in OF_SDK if name != left_out]
        self.features["SDK lacks a library"] += left_out is not None
        self.features["SDK with RPATHs" if rpath else "SDK without RPATHs"] += 1
        needs = {
            "libamdhip64.so.7": ["libamd_comgr.so.3", "libhsa-runtime64.so.1"],
            "librocblas.so.5": ["libamdhip64.so.7", *(["libhelper.so.2"] if self.random.random() < 0.5 else [])],
        }
        for name in names:
            place = self.site.path / OF_SDK[name] / "lib" / name
            both = ":".join(f"$ORIGIN/../../{package}/lib" for package in (CORE, LIBRARIES))
            flags = (rpath, "-rpath", f"$ORIGIN:{both}") if rpath else ()
            self._link(place, name, [(each, None) for each in needs.get(name, [])], flags=flags, versions=("V1",))

    # ---- foreign files

    def _make_files(self) -> None:
        directories = [self.directory / f"files/{name}" for name in ("a", "b", "c")]
        depth = self.random.randint(1, 6)
        self.features[f"depth {depth}"] += 1
        below: list[tuple[str, str | None]] = []
        for level in range(depth, 0, -1):
            made = [self._file(directories, level, number, below) for number in range(self.random.randint(1, 2))]
            below = [each for each in made if each is not None]
        for number in range(self.random.randint(1, 2)):
            self._program(directories, number, below)

    def _pick_needs(self, below: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
        needs = self.random.sample(below, k=min(len(below), self.random.randint(0, 2))) if below else []
        chance = self.random.random()
        if chance < 0.45:
            needs.append((self.random.choice(list(OF_SDK)), self.random.choice([None, None, "V1", "V2"])))
            self.features["needs the SDK"] += 1
        elif chance < 0.55:
            needs.append((self.random.choice(OTHER_RELEASES), None))
            self.features["needs another release"] += 1
        elif chance < 0.65:
            needs.append((self.random.choice(NOWHERE), None))
            self.features["needs what is nowhere"] += 1
        self.random.shuffle(needs)
        return list(dict(needs).items())

    def _search_flags(self, path: Path, directories: list[Path]) -> tuple[str, ...]:
        kind = self.random.choice(["none", "rpath", "runpath", "runpath"])
        self.features[f"own {kind}"] += 1
        if kind == "none":
            return ()
        entries = []
        for _ in range(self.random.randint(1, 2)):
            target = self.random.choice(
                [*directories, self.site.path / CORE / "lib", self.site.path / LIBRARIES / "lib"]
            )
            if self.random.random() < 0.7:
                self.features["$ORIGIN"] += 1
                origin = self.random.choice(["$ORIGIN", "${ORIGIN}"])
                entries.append(f"{origin}/{os.path.relpath(target, path.parent)}")
            else:
                entries.append(str(target))
            if self.random.random() < 0.2:
                self.features["absent directory"] += 1
                entries.append(self.random.choice(["/nonexistent/build/lib", "$ORIGIN/absent"]))
        tags = "--disable-new-dtags" if kind == "rpath" else "--enable-new-dtags"
        return (tags, "-rpath", ":".join(entries))

    def _file(
        self, directories: list[Path], level: int, number: int, below: list[tuple[str, str | None]]
    ) -> tuple[str, str | None] | None:
        """Make a library of a level, and return the name by which others need it."""
        soname: str | None = f"liblevel{level}{'ab'[number]}.so.1"
        if self.random.random() < 0.12:
            soname = self.random.choice([*OTHER_RELEASES, "libamdhip64.so.7", "libamd_comgr.so.3"])
            self.features["brings a library of ROCm"] += 1
        name = str(soname)
        chance = self.random.random()
        if chance < 0.15:
            name = name.rpartition(".so")[0] + ".so"
            self.features["SONAME unlike the file name"] += 1
        elif chance < 0.25:
            name = f"{soname}.0.3"
            self.features["SONAME is a link"] += 1
        needed_as = str(soname)
        if chance > 0.9:
            soname, needed_as = None, name
            self.features["no SONAME"] += 1
        path = self.random.choice(directories) / name
        if path.exists():
            return None
        needs = self._pick_needs(below)
        if self.random.random() < 0.2:  # it needs itself, or one that may need it
            back = self.random.choice([needed_as, f"liblevel{level - 1}a.so.1", f"liblevel{max(level - 2, 1)}b.so.1"])
            needs.append((back, None))
            self.features["cycle"] += 1
        if self.random.random() < 0.1:
            needs.append((BESIDE, None))
            if not (beside := path.with_name(BESIDE)).exists():
                self._link(beside, BESIDE, self.random.choice([[], [("libamdhip64.so.7", None)]]))
            self.features["wanted beside"] += 1
        versions = self.random.choice([(), (), ("V1",), ("V1", "V2")])
        needs += self._alias(directories)
        flags = (*self._search_flags(path, directories), *self._filtee_flags(below))
        self._link(path, soname, needs, flags=flags, versions=versions)
        self._spoil(path, directories)
        self._break(path, directories)
        if name.endswith(".0.3") and not (link := path.with_name(needed_as)).exists():
            link.symlink_to(name)
        self.files.append(File(path, soname))
        return needed_as, self.random.choice([None, None, "V1", "V2"]) if versions else None

    def _spoil(self, path: Path, directories: list[Path]) -> None:
        """Put something of the same name elsewhere: a link, a copy, a file of another class or for another machine."""
        chance = self.random.random()
        other = self.random.choice(directories) / path.name
        if chance > 0.4 or other.exists():
            return
        other.parent.mkdir(parents=True, exist_ok=True)
        if chance < 0.12:
            other.symlink_to(path)
            self.features["link"] += 1
        elif chance < 0.16:
            shutil.copy(path, other)
            self.features["two copies"] += 1
        elif chance < 0.2 and platform.machine() == "x86_64":
            variant = other.parent / "glibc-hwcaps/x86-64-v2" / path.name
            variant.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, variant)
            self.features["for one kind of processor"] += 1
        elif chance < 0.3:
            content = bytearray(path.read_bytes())
            content[4] = 1  # EI_CLASS: ELFCLASS32
            other.write_bytes(content)
            self.features["other class"] += 1
        else:
            content = bytearray(path.read_bytes())
            content[18:20] = _OTHER_MACHINE.to_bytes(2, "little")
            other.write_bytes(content)
            self.features["other machine"] += 1

    def _alias(self, directories: list[Path]) -> list[tuple[str, str | None]]:
        """Need a library of the SDK by another name, which is a link: the linker knows the file, if it is loaded."""
        if self.more.random() > 0.1:
            return []
        link = self.more.choice(directories) / ALIAS
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(self.site.path / OF_SDK[ALIAS_OF] / "lib" / ALIAS_OF)
        self.features["needs a link to the SDK"] += 1
        return [(ALIAS, self.more.choice([None, "V1", "V2"]))]

    def _filtee_flags(self, below: list[tuple[str, str | None]]) -> tuple[str, ...]:
        """Name a library that has what the file stands for, and that the linker may lack, or not."""
        if self.more.random() > 0.2:
            return ()
        kind = self.more.choice(["auxiliary", "filter"])
        self.features[kind] += 1
        return (f"--{kind}={self.more.choice([*(name for name, _ in below), *OF_SDK, *NOWHERE, BESIDE])}",)

    def _break(self, path: Path, directories: list[Path]) -> None:
        """Break a file, or put a broken one of its name elsewhere: the linker refuses it, or goes on behind it."""
        if self.more.random() > 0.2:
            return
        broken = self.more.choice([path, *(each / path.name for each in directories)])
        if broken.exists() and broken != path:
            return
        content = path.read_bytes()
        kind = self.more.choice(["cut", "no ELF file", "member for another machine"])
        if kind == "cut":
            content = content[: self.more.choice([0, 20, 64, len(content) // 2])]
        elif kind == "no ELF file":
            content = b"INPUT(libother.so)\n"
        else:
            content = content[:18] + _OTHER_MACHINE.to_bytes(2, "little") + content[20:]
        self.features[kind] += 1
        broken.parent.mkdir(parents=True, exist_ok=True)
        broken.write_bytes(content)

    def _program(self, directories: list[Path], number: int, below: list[tuple[str, str | None]]) -> None:
        path = self.random.choice(directories) / f"program{number}"
        needs = self._pick_needs(below)
        self._link(path, None, needs, flags=self._search_flags(path, directories), program=True)
        self.files.append(File(path, None, is_program=True))


def _symbol(name: str) -> str:
    name = ALIAS_OF if name == ALIAS else name
    return "f_" + "".join(each if each.isalnum() else "_" for each in name)


def _run(*words: str, text: str = "") -> None:
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stderr}"


def begins_as_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


# ---- the judge

LOADS = "loads"
NOT_FOUND = "not found"
REFUSED = "refused"  # for a symbol or a version: all files were found, and are whole
BROKEN = "broken"  # a file, or the one that is opened: of what else lacks the linker says nothing


def says(words: str) -> str:
    """Return the kind of an answer of the linker."""
    if words == LOADS:
        return LOADS
    if any(each in words for each in ("undefined symbol: ", ": version `")):
        return REFUSED
    is_unfound = any(each in words for each in ("cannot open shared object file", "wrong ELF class"))
    return NOT_FOUND if is_unfound and not words.startswith("/") else BROKEN


def starts(program: Path, **environment: str) -> bool:
    """Return whether the linker starts a program: it finds libraries, versions in them, and symbols."""
    return started(program, **environment) == LOADS


def started(program: Path, **environment: str) -> str:
    """Return LOADS, or the linker's reason why it does not start a program."""
    variables = {"PATH": os.environ["PATH"], "LD_BIND_NOW": "1", **environment}
    done = subprocess.run([program], env=variables, capture_output=True, text=True, check=False)
    return LOADS if done.returncode == 0 else done.stderr.rpartition("error while loading shared libraries: ")[2]


def in_child(work: "object", *arguments: "object") -> bytes:
    """Return the result of a function in a child that ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = work(*arguments)  # type: ignore[operator]
            os.write(writing, answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def opens(path: Path) -> bytes:
    """Return LOADS if dlopen(RTLD_NOW) accepts a library in this process, which is a child, else the reason."""
    import ctypes
    import faulthandler

    faulthandler.disable()  # a file that is cut ends the process, which is no fault of the test's
    try:
        ctypes.CDLL(str(path), mode=os.RTLD_NOW)
    except OSError as error:
        return str(error).encode()
    return LOADS.encode()
