"""Attacks the finder of bindings: random graphs of libraries, whose judge is the dynamic linker itself.

Each graph has a program, libraries that it needs, LD_PRELOAD, libraries that were opened before, and openings that are
followed. What rsdk_bindings_read says of them must be what `LD_DEBUG=bindings` tells when they are made; so must
what rsdk_bindings_read_process reads afterwards. Symbols are weak, protected, unique, thread-local, chosen at run time,
versioned or not; libraries are symbolic, filters, in cycles; openings global, local, deep; the program has copy
relocations and addresses of functions, or is independent of its place.

usage: python tests/attack/foreseen.py [--rounds N] [--seed S] [--keep DIR]
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from linker_bindings import MismatchError, compare, debugging, linker_bindings

ROOT = Path(__file__).resolve().parents[2]
STATIC_LIBRARY = ROOT / "build/c/gcc/librocm_sdk.a"
SECONDS = 60  # for one process
NAMES = ("f0", "f1", "f2", "d0", "d1", "u0", "t0", "i0")  # functions, data, unique, thread-local, chosen at run time
Reference = tuple[str, str, str | None, str | None, str]  # library, symbol, version, bound to, verdict


@dataclass
class Library:
    """A library of the graph: what it defines and how, what it needs, and how it is linked."""

    name: str
    defined: dict[str, str] = field(default_factory=dict)  # symbol -> attributes
    used: list[str] = field(default_factory=list)
    needed: list[tuple[str, str]] = field(default_factory=list)  # library, kind: needed, filter, auxiliary
    options: list[str] = field(default_factory=list)
    versions: str = ""  # a version script

    def source(self, number: int) -> str:
        lines = [_definition(name, how) for name, how in self.defined.items()]
        lines += [_declaration(name) for name in self.used if name not in self.defined]
        for name in self.used:
            lines += _uses(name, number)
        return "\n".join(lines)


def _definition(name: str, how: str) -> str:
    kind = name[0]
    if kind == "f":
        return f"{how} int {name}(void) {{ return 1; }}"
    if kind == "i":
        return (
            f"static int real_{name}(void) {{ return 1; }} static void *choose_{name}(void) {{ return real_{name}; }}\n"
            f'{how} int {name}(void) __attribute__((ifunc("choose_{name}")));'
        )
    if kind == "t":
        return f"{how} __thread int {name} = 1;"
    unique = f'\n__asm__(".type {name}, %gnu_unique_object");' if kind == "u" else ""
    return f"{how} int {name} = 1;{unique}"


def _declaration(name: str) -> str:
    weak = "__attribute__((weak))"
    kinds = {"f": f"int {name}(void) {weak};", "i": f"int {name}(void) {weak};", "t": f"extern __thread int {name};"}
    return kinds.get(name[0], f"extern int {name} {weak};")


def _uses(name: str, number: int) -> list[str]:
    """Return lines of C with a call and an address of a function, or with a value and an address of data."""
    if name[0] in "fi":
        return [
            f"int call{number}_{name}(void) {{ return {name} ? {name}() : 0; }}",
            f"int (*pointer{number}_{name})(void) = {name};",
        ]
    if name[0] == "t":
        return [f"int value{number}_{name}(void) {{ return {name}; }}"]
    return [f"int value{number}_{name}(void) {{ return &{name} ? {name} : 0; }}", f"int *p{number}_{name} = &{name};"]


def random_library(name: str, chance: random.Random) -> Library:
    library = Library(name)
    for symbol in NAMES:
        if chance.random() < 0.4:
            weak = "__attribute__((weak))" if symbol[0] not in "ui" and chance.random() < 0.25 else ""
            protected = '__attribute__((visibility("protected")))' if chance.random() < 0.1 else ""
            library.defined[symbol] = f"{weak} {protected}"
    library.used = [
        symbol for symbol in NAMES if chance.random() < 0.6 and (symbol[0] != "t" or symbol in library.defined)
    ]
    library.options = [f"-Wl,--hash-style={chance.choice(('gnu', 'gnu', 'sysv', 'both'))}"]
    if chance.random() < 0.15:
        library.options.append("-Wl,-Bsymbolic")
    if chance.random() < 0.1:
        library.options.append(chance.choice(("-Wl,-z,interpose", "-Wl,-z,global", "-Wl,-Bgroup")))
    if chance.random() < 0.3:
        first, rest = ("f0; d0;", "f1; d1; u0;") if chance.random() < 0.5 else ("f1; d1;", "f0; d0;")
        library.versions = f"V_{chance.choice('12')} {{ global: {first} }}; W {{ global: {rest} }};"
    return library


def random_graph(chance: random.Random) -> list[Library]:
    libraries = [random_library(f"lib{number}.so.1", chance) for number in range(chance.randint(3, 9))]
    for at, library in enumerate(libraries):
        for other in chance.sample(libraries, chance.randint(0, min(3, len(libraries)))):
            is_back = libraries.index(other) <= at
            if other is library or (is_back and chance.random() < 0.7):
                continue
            kinds = ["needed"] * 6 + ([] if is_back else ["filter", "auxiliary"])
            library.needed.append((other.name, chance.choice(kinds)))
    return libraries


def compiler(*words: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["cc", "-w", *words], input=text, text=True, capture_output=True, check=False)


def compiles(*words: str | Path, text: str | None = None) -> None:
    result = compiler(*words, text=text)
    if result.returncode != 0:
        raise AssertionError(f"{words}: {result.stderr}\n{text}")


def build(directory: Path, libraries: list[Library], chance: random.Random) -> Path:
    """Build the libraries, and the program; needs that the linker refuses are left off."""
    (directory / "stubs").mkdir()
    for number, library in enumerate(libraries):
        made = directory / f"{library.name}.o"
        compiles("-O1", "-fPIC", "-x", "c", "-c", "-", "-o", made, text=library.source(number))
        script = directory / f"{library.name}.map"
        script.write_text(library.versions)
        versions = [f"-Wl,--version-script={script}"] if library.versions else []
        library.options += versions
        stub = directory / "stubs" / library.name
        shared = ("-shared", f"-Wl,-soname,{library.name}")
        compiles(*shared, *versions, made, "-o", stub)
    for library in libraries:
        link(directory, library)
    return build_program(directory, libraries, chance)


def link(directory: Path, library: Library) -> None:
    words: list[str | Path] = []
    for name, kind in library.needed:
        words += [directory / "stubs" / name] if kind == "needed" else [f"-Wl,--{kind}={name}"]
    paths = ("-Wl,--disable-new-dtags,-rpath,$ORIGIN", "-Wl,--no-as-needed,--allow-shlib-undefined")
    shared = ("-shared", f"-Wl,-soname,{library.name}", *paths, *library.options)
    result = compiler(*shared, directory / f"{library.name}.o", *words, "-o", directory / library.name)
    if result.returncode != 0:
        raise AssertionError(result.stderr)


def build_program(directory: Path, libraries: list[Library], chance: random.Random) -> Path:
    """Build a program that is linked with some libraries and uses some of their symbols by value and by address."""
    needed = chance.sample(libraries, chance.choice((0, 0, 1, 2)))
    defined = {name for library in needed for name, how in library.defined.items() if "protected" not in how}
    used = [name for name in NAMES if name in defined and name[0] != "t" and chance.random() < 0.6]
    source = directory / "program.c"
    own = "int f2(void) { return 2; }\n" if chance.random() < 0.3 and "f2" not in used else ""
    lines = [_declaration(name).replace("__attribute__((weak))", "") for name in used]
    source.write_text(own + "\n".join(lines + [line for name in used for line in _uses(name, 99)]))
    program = directory / "program"
    words: list[str | Path] = [
        *(f"-I{ROOT / 'csrc/include'}", ROOT / "tests/embed/bindings_from_c.c", source, STATIC_LIBRARY, "-lelf"),
        *(directory / library.name for library in needed),
        *("-rdynamic", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{directory}"),
    ]
    places = ("-no-pie", "-fno-pie") if chance.random() < 0.5 else ("-pie", "-fPIE")
    if compiler(*places, *words, "-o", program).returncode != 0:  # a copy of what must not be copied
        source.write_text(own)
        compiles(*places, *words, "-o", program)
    return program


def random_openings(directory: Path, libraries: list[Library], chance: random.Random) -> tuple[list[str], list[str]]:
    def some(least: int) -> list[str]:
        chosen = chance.choices(libraries, k=chance.randint(least, 3))
        return [f"{chance.choice(('g', 'g', 'l', 'gd', 'ld'))}={directory / each.name}" for each in chosen]

    return some(0), some(1)


def answers(program: Path, how: str, words: list[str], preloaded: str, told: Path | None = None) -> list[Reference]:
    """Return the references that the program prints; the linker writes its bindings into `told`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    environment |= {"LD_PRELOAD": preloaded} if preloaded else {}
    environment |= debugging(told) if told else {}
    result = subprocess.run(
        [program, how, *words], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if result.returncode != 0:
        raise MismatchError(f"exit status {result.returncode}: {result.stderr}")
    found = []
    for line in result.stdout.splitlines():
        library, symbol, version, bound_to, verdict = (None if word == "-" else word for word in line.split("\t"))
        found.append((library or "", symbol or "", version, bound_to, verdict or ""))
    return found


def attack(directory: Path, seed: str) -> int:
    """Compare the bindings of a graph, and return the number of compared references."""
    chance = random.Random(seed)
    libraries = random_graph(chance)
    program = build(directory, libraries, chance)
    first, second = random_openings(directory, libraries, chance)
    preloaded = str(directory / chance.choice(libraries).name) if chance.random() < 0.2 else ""
    words = [*first, "--", *second]
    try:
        foreseen = answers(program, "foresee", words, preloaded)
        bound = answers(program, "open", words, preloaded, directory / "told")
        linker = linker_bindings(directory / "told")
        counts = compare("foreseen", foreseen, linker)
        own = [each for each in bound if Path(each[0]).parent == directory and Path(each[0]).name != "program"]
        counts += compare("of the process", own, linker)
        if counts["without relocation"]:
            raise MismatchError("the linker bound what is not told")
    except MismatchError as error:
        graph = [f"  {each}" for each in libraries]
        raise MismatchError("\n".join([str(error), f"  {words} LD_PRELOAD={preloaded}", *graph])) from None
    return counts["compared"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first graph (default: 0)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="the files of a graph that fails go there")
    options = parser.parse_args()
    subprocess.run(["make", "-s", "-C", ROOT, "VARIANT=gcc", STATIC_LIBRARY.relative_to(ROOT)], check=True)
    failures = compared = 0
    for number in range(options.first, options.first + options.rounds):
        seed = f"{options.seed}.{number}"
        with tempfile.TemporaryDirectory(prefix="rocm-sdk-foreseen-") as directory:
            try:
                compared += attack(Path(os.path.realpath(directory)), seed)
            except MismatchError as error:
                failures += 1
                print(f"seed {seed}: {error}\n", flush=True)
                if options.keep:
                    shutil.copytree(directory, options.keep / seed, symlinks=True)
    print(f"{options.rounds} graphs from seed {options.seed}: {compared} references compared, {failures} graphs differ")
    return 1 if failures or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
