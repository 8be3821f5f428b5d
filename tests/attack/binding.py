"""Attacks symbol binding: random graphs of libraries, loaded in two ways that must bind each symbol alike.

One build has correct RPATHs and is opened by plain dlopen. The other has random ones (none, RPATH, RUNPATH, empty
entries, tokens that only the linker knows) and is loaded by preload_libraries, whose load_plan must name exactly the
files that are mapped afterwards. Graphs have cycles, needs with a path, filters, auxiliaries and symbols that several
libraries define.

usage: python tests/attack/binding.py [--rounds N] [--seed S] [--keep DIR]
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

from sample_site import CORE, LIBRARIES, Site, clean_environment

SYMBOLS = 3
SECONDS = 60  # for one process
ROOTS = {"roctx64": "libroctx64.so.4", "rocm_smi64": "librocm_smi64.so.7", "hiprtc": "libhiprtc.so.7"}
PLACES = "$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_libraries/lib"
CORRECT = ("--disable-new-dtags", "-rpath", PLACES)
RANDOM_PATHS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    CORRECT,
    ("--enable-new-dtags", "-rpath", PLACES),
    ("--disable-new-dtags", "-rpath", f":{PLACES}"),
    ("--enable-new-dtags", "-rpath", "$ORIGIN/nowhere:"),
    ("--disable-new-dtags", "-rpath", f"/nowhere/$LIB:{PLACES}"),
    ("--disable-new-dtags", "-rpath", "$ORIGIN"),
)

# Opens the roots, asks every probe through every handle and in the global scope, and says what is mapped.
PROGRAM = """
import ctypes, os, sys
how, site, is_global, probes = sys.argv[1], sys.argv[2], sys.argv[3] == "global", sys.argv[4].split()
roots = [word.split("=") for word in sys.argv[5:]]
mode = os.RTLD_NOW | (os.RTLD_GLOBAL if is_global else os.RTLD_LOCAL)
if how == "preload":
    sys.path.insert(0, site)
    import rocm_sdk
    names = [name for name, _ in roots]
    plan = rocm_sdk.load_plan(*names, rtld_global=is_global)
    planned = {path for step in plan.steps for path in step.members}
    rocm_sdk.preload_libraries(*names, rtld_global=is_global)
    handles = [ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_NOLOAD) for _, path in roots]
    with open("/proc/self/maps") as maps:
        mapped = {line.split(maxsplit=5)[5].strip() for line in maps if site in line}
    for path in sorted(planned ^ mapped):
        print("PLAN AND MAPS DIFFER:", path)
else:
    handles = [ctypes.CDLL(path, mode) for _, path in roots]
for number, handle in enumerate([*handles, ctypes.CDLL(None)]):
    for probe in probes:
        try:
            function = handle[probe]
        except AttributeError:
            print(number, probe, "absent")
            continue
        function.restype = ctypes.c_char_p
        print(number, probe, function().decode())
"""


@dataclass
class Library:
    """A library of the graph: its file, what it defines, what it needs and how the entry is written."""

    name: str
    package: str
    symbols: list[int]
    needed: list[tuple[str, str]] = field(default_factory=list)  # file, kind: name, path, filter or auxiliary

    def source(self, number: int) -> str:
        lines = []
        for symbol in range(SYMBOLS):
            if symbol in self.symbols:
                lines.append(f'const char *s{symbol}(void) {{ return "{self.name}"; }}')
            else:
                lines.append(f"extern const char *s{symbol}(void) __attribute__((weak));")
            lines.append(f'const char *p{number}_{symbol}(void) {{ return s{symbol} ? s{symbol}() : "none"; }}')
        return "\n".join(lines)


class MismatchError(Exception):
    """The error for two ways of loading that do not agree."""


def random_graph(chance: random.Random) -> tuple[list[Library], dict[str, str], str]:
    """Return libraries, the roots that are asked for, and the scope.

    Every need exists, except some auxiliaries.
    """
    roots = chance.sample(sorted(ROOTS), chance.choice((1, 1, 2, 3)))
    names = [ROOTS[root] for root in roots] + [f"libn{i}.so.1" for i in range(chance.randint(2, 6))]
    libraries = [
        Library(name, chance.choice((CORE, LIBRARIES)), [s for s in range(SYMBOLS) if chance.random() < 0.5])
        for name in names
    ]
    for library in libraries:
        if library.name in ROOTS.values():
            library.package = CORE
    for at, library in enumerate(libraries):
        for other in chance.sample(libraries, chance.randint(0, min(3, len(libraries)))):
            is_back = libraries.index(other) <= at
            if other is library or (is_back and chance.random() < 0.7):
                continue
            is_near = other.package == library.package
            kinds = ["name"] * 6 + ["path"] * is_near + ([] if is_back else ["filter", "auxiliary"])
            library.needed.append((other.name, chance.choice(kinds)))
        if chance.random() < 0.1:
            library.needed.append(("libabsent.so.1", "auxiliary"))
    return libraries, {root: ROOTS[root] for root in roots}, chance.choice(("global", "local"))


def run(*command: str, text: str | None = None) -> None:
    subprocess.run(command, input=text, text=True, check=True)


def link(directory: Path, library: Library, output: Path, paths: tuple[str, ...]) -> None:
    """Link the library's object by the linker itself, which is ten times as fast as by the compiler."""
    options = []
    for name, kind in library.needed:
        stub = directory / ("stubs-path" if kind == "path" else "stubs") / name
        options += [f"--{kind}={name}"] if kind in ("filter", "auxiliary") else [str(stub)]
    output.parent.mkdir(parents=True, exist_ok=True)
    run(
        *("ld", "-shared", "--no-as-needed", "--allow-shlib-undefined", "--hash-style=gnu", "-z", "noexecstack"),
        *("-soname", library.name, *paths, str(directory / f"{library.name}.o"), *options, "-o", str(output)),
    )


def build(directory: Path, libraries: list[Library], chance: random.Random) -> None:
    """Build two sites: `correct` and `random`."""
    for number, library in enumerate(libraries):
        path = str(directory / f"{library.name}.o")
        run("cc", "-O1", "-fPIC", "-w", "-x", "c", "-c", "-", "-o", path, text=library.source(number))
        for stubs, prefix in (("stubs", ""), ("stubs-path", "$ORIGIN/")):
            (directory / stubs).mkdir(exist_ok=True)
            stub = str(directory / stubs / library.name)
            run("ld", "-shared", "-soname", prefix + library.name, path, "-o", stub)
    for name in ("correct", "random"):
        site = Site(directory / name)
        for library in libraries:
            paths = CORRECT if name == "correct" else chance.choice(RANDOM_PATHS)
            link(directory, library, site.path / library.package / "lib" / library.name, paths)


def answers(how: str, site: Path, scope: str, probes: list[str], roots: dict[str, str]) -> str:
    words = [f"{name}={site / CORE / 'lib' / file}" for name, file in roots.items()]
    command = [sys.executable, "-c", PROGRAM, how, str(site), scope, " ".join(probes), *words]
    result = subprocess.run(
        command, env=clean_environment(), cwd=site, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if result.returncode != 0:
        return f"exit status {result.returncode}\n{result.stderr}"
    return result.stdout


def attack(directory: Path, seed: str) -> None:
    """Compare the bindings of a graph; raise MismatchError with the differences."""
    chance = random.Random(seed)
    libraries, roots, scope = random_graph(chance)
    build(directory, libraries, chance)
    probes = [f"p{number}_{symbol}" for number in range(len(libraries)) for symbol in range(SYMBOLS)]
    wanted = answers("plain", directory / "correct", scope, probes, roots)
    for site in ("random", "correct"):
        got = answers("preload", directory / site, scope, probes, roots)
        if got != wanted:
            both = zip(wanted.splitlines(), got.splitlines(), strict=False)
            different = [f"  dlopen: {a}\n  ours:   {b}" for a, b in both if a != b]
            graph = [f"  {each.name}: defines {each.symbols}, needs {each.needed}" for each in libraries]
            told = "\n".join([f"{site}, {scope}, {[*roots]}", *graph, *different[:5], got[-2000:]])
            raise MismatchError(told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="the files of a graph that fails go there")
    options = parser.parse_args()
    failures = 0
    for number in range(options.rounds):
        seed = f"{options.seed}.{number}"
        with tempfile.TemporaryDirectory(prefix="rocm-sdk-binding-") as directory:
            try:
                attack(Path(os.path.realpath(directory)), seed)
            except MismatchError as error:
                failures += 1
                print(f"seed {seed}: {error}\n", flush=True)
                if options.keep:
                    shutil.copytree(directory, options.keep / seed, symlinks=True)
    print(f"{options.rounds} graphs from seed {options.seed}: {failures} bound otherwise")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
