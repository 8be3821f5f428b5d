"""Attacks durability: cuts the power at every system call of `rocm-sdk init` and of `rocm-sdk adopt`, and calls again.

Each scenario is recorded once (see `disk`). From each state that a power cut may leave, `rocm-sdk path --root` and
`rocm-sdk init --check` must end with the tree, RECORDs and store of an undisturbed run, and change nothing beside them;
an adoption (of the wheel in build/wheel) must end as an undisturbed one, and undoing it with what was there before.
Equal states are tried once; a directory of a killed writer counts as such, whatever is in it.

usage: python tests/attack/power_cut.py [--rounds N] [--seed S] [--keep DIR] [--scenario NAME]

N samples are taken at each call where there are too many states for all of them.
"""

import argparse
import csv
import io
import json
import os
import random
import shutil
import signal
import stat
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "adoption"))

from disk import Disk, State, record
from disk import readable as readable_call
from established_rocm import ROCM_FILES
from sample_devel import DevelSite, device_files, directory, link, member, with_metadata, write

ROOT = Path(__file__).resolve().parents[2]
TREE, CORE = "_rocm_sdk_devel", "_rocm_sdk_core"
SECONDS = 60  # for one state
STAGING = ".rocm_sdk_devel.staging-"
SHOWN = 10  # failures of a scenario
Facts = dict[str, object]


def members(version: int) -> list[object]:
    """Return the members of a tree with one of everything, as small as it can be."""
    return [
        member(f"{TREE}/__init__.py"),
        link(f"{TREE}/llvm", "lib"),
        directory(f"{TREE}/empty"),
        member(f"{TREE}/bin/tool", b"#!/bin/sh\n", mode=0o755),
        link(f"{TREE}/bin/hipcc", f"../../{CORE}/bin/hipcc"),
        link(f"{TREE}/bin/amdclang", f"../../{CORE}/bin/amdclang"),
        member(f"{TREE}/include/hip.h", b"// hip %d\n" % version * 20),
        member(f"{TREE}/include/same.h", b"", type=b"1", linkname=f"{TREE}/include/hip.h"),
        member(f"{TREE}/lib/only-{version}.a", bytes(range(256)) * 8),
        link(f"{TREE}/lib/libamdhip64.so.7", f"../../{CORE}/lib/libamdhip64.so.7"),
        link(f"{TREE}/lib/libhiprand.so.1", "../../_rocm_sdk_libraries/lib/libhiprand.so.1"),
    ]


class Scenario(NamedTuple):
    """The files before a call, the call that is cut, and the check after the next calls.

    `check` gets the directory, and the facts after an undisturbed call; it returns the wrong facts in words, "" if
    there are none.
    """

    prepare: Callable[[Path], object]
    command: tuple[str, ...]
    check: Callable[[Path, Facts], str]


def packed(root: Path) -> DevelSite:
    """Return an SDK with a device package, whose tree is not extracted; a file of someone else is beside it."""
    site = DevelSite(root / "site")
    site.install_sdk()
    site.install_devel(members(1))  # type: ignore[arg-type]
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    write(root / "site/torch/__init__.py", b"mine")
    write(root / "mine", b"mine")
    return site


def with_known_store(root: Path) -> None:
    """Make a packed SDK beside a store that another environment has made."""
    other = packed(root / "other")
    other.command("init", "--store", str(root / "store"))
    packed(root)


def with_older_tree(root: Path) -> None:
    """Install another version of the development package over an extracted one."""
    site = packed(root)
    site.command("init")
    site.install_devel(members(2))  # type: ignore[arg-type]


def with_changed_packages(root: Path) -> None:
    """Make a complete tree, and replace a device package and the runtime around it."""
    site = packed(root)
    site.install("rocm-sdk-device-gfx942", device_files("gfx942", count=4))
    site.command("init")
    for number in (2, 3):
        (site.path / f"_rocm_sdk_libraries/lib/rocblas/library/gfx942_{number}.co").unlink()
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    with site.record("rocm-sdk-device-gfx942").open("a") as file:  # pip leaves the rows of files that it does not know
        file.write("".join(f"{TREE}/lib/rocblas/library/gfx942_{number}.co,,\n" for number in range(2)))
    site.install("rocm-sdk-device-gfx1100", device_files("gfx1100"))
    write(site.core / "bin/hipcc", b"#!/bin/sh\necho another hipcc\n")
    write(site.core / "lib/libamdhip64.so.7", b"another HIP runtime")
    site.record("rocm-sdk-core").touch()


def with_overwritten_files(root: Path) -> None:
    """Install our wheel, and a distribution `rocm` over it."""
    (wheel,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
    site = root / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site, [name for name in archive.namelist() if ".data/" not in name])
    (own_record,) = site.glob("rocm_sdk_loader-*.dist-info/RECORD")
    rows = own_record.read_text().splitlines(keepends=True)
    own_record.write_text("".join(row for row in rows if ".data/" not in row))
    files = {name: text.format(version="7.10.0").encode() for name, text in ROCM_FILES.items() if "{" in text}
    files = {name: text.encode() for name, text in ROCM_FILES.items()} | files
    files["rocm-7.10.0.dist-info/entry_points.txt"] = b"[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n"
    for name, data in with_metadata("rocm", files, "7.10.0").items():
        write(site / name, data)


def is_rubbish(path: str) -> bool:
    """Return whether a path is of a killed writer: the next one removes it (tests/devel/test_leftovers.py)."""
    return Path(path).name.startswith((STAGING, ".rocm-sdk-partial-")) or path == "site/.rocm_sdk_devel.lock"


def facts_of(root: Path) -> Facts:
    """Return the facts of all below the directory except rubbish, so that equal results are equal.

    Facts of notes are without the parts that may differ.
    """
    facts: Facts = {}
    names: dict[int, str] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        found = path.lstat()
        if any(is_rubbish(str(each)) for each in (Path(name), *Path(name).parents)) or "__pycache__" in name:
            continue
        if not stat.S_ISREG(found.st_mode):
            facts[name] = str(path.readlink()) if stat.S_ISLNK(found.st_mode) else "directory"
            continue
        first = names.setdefault(found.st_ino, name)
        facts[name] = (first, stat.S_IMODE(found.st_mode), readable(path))
    return facts


def readable(path: Path) -> object:
    """Return the content of a file, without inode numbers and dates; the rows of a RECORD are in order."""
    data = path.read_bytes()
    if path.name == "RECORD":
        return sorted(csv.reader(io.StringIO(data.decode())))
    if path.parent.name == ".rocm-sdk" and path.name == "manifest.json":
        return json.loads(data)["entries"]
    if path.parent.name == ".rocm-sdk" and path.name == "stamp":
        return [line.partition("\t")[2] or line for line in data.decode().split("\n")]
    return data


def check_tree(root: Path, wanted: Facts) -> str:
    """Make the tree ready, and return the difference from the wanted facts in words, "" if there is none.

    Only a process of its own may call this function.
    """
    from rocm_sdk.cli import main as command

    site = root / "site"
    sys.path.insert(0, str(site))
    for words in (["path", "--root"], ["init", "--check"]):
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            status = command(words)
        if status != 0:
            return f"{words}: exit status {status}\n{said.getvalue()}"
        if problem := differences(facts_of(root), wanted):
            return f"after {words}: {problem}\n{said.getvalue()}"
    return f"{STAGING}* is left" if list(site.glob(f"{STAGING}*")) else ""


def check_tree_with_store(root: Path, wanted: Facts) -> str:
    """Make the tree ready with a store."""
    os.environ["ROCM_SDK_STORE"] = str(root / "store")
    return check_tree(root, wanted)


def check_adoption(root: Path, wanted: Facts) -> str:
    """Adopt the files of the directory, and undo that; return the difference from the wanted facts, "": none.

    Only a process of its own may call this function.
    """
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "site"))
    from rocm_sdk.adoption import adopt, undo

    adopt(root / "site")
    if problem := differences(facts_of(root), wanted):
        return f"after an adoption: {problem}"
    (record,) = (name for name in wanted if "/rocm_sdk_loader-" in name and name.endswith("/RECORD"))
    adopted, whole = (root / record).read_bytes(), f"{record}.whole"
    undo(root / "site")
    found = facts_of(root)
    with_overwritten_files(root / "before")
    before = facts_of(root / "before")
    # Undoing takes the shared names out of our RECORD, and keeps the whole one beside it.
    if (root / whole).read_bytes() != adopted:
        return f"after undoing it: {whole} is not the RECORD of the adoption"
    problem = differences(without(found, record, whole), without(before, record, whole))
    return problem and f"after undoing it: {problem}"


def without(facts: Facts, *names: str) -> Facts:
    return {name: value for name, value in facts.items() if name not in names}


SCENARIOS = {
    "init": Scenario(packed, ("init",), check_tree),
    "store": Scenario(packed, ("init", "--store", "ROOT/store"), check_tree_with_store),
    "known": Scenario(with_known_store, ("init", "--store", "ROOT/store"), check_tree_with_store),
    "upgrade": Scenario(with_older_tree, ("init",), check_tree),
    "update": Scenario(with_changed_packages, ("init",), check_tree),
    "adopt": Scenario(with_overwritten_files, ("adopt",), check_adoption),
}


def differences(found: Facts, wanted: Facts) -> str:
    return "; ".join(
        difference(name, found.get(name), wanted.get(name))
        for name in sorted({*found, *wanted})
        if found.get(name) != wanted.get(name)
    )


def difference(name: str, found: object, wanted: object) -> str:
    """Return the difference of two values, from where it begins."""
    one, other = str(found), str(wanted)
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    at = max(0, same - 60)
    return f"{name}: {one[at : at + 160]} instead of {other[at : at + 160]}"


def in_child(work: Callable[[], str]) -> str:
    """Return the words of a function that runs in a forked process, which ends with the function."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            signal.alarm(SECONDS)
            said = work()
        except BaseException:  # the parent tells
            said = traceback.format_exc()
        os.write(writer, said.encode(errors="replace")[:60_000])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:  # noqa: PTH123 - a descriptor
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return said or ("" if status == 0 else f"the child ended with {status}")


class Attack:
    """The attack of a scenario in a directory of its own."""

    def __init__(self, name: str, place: Path, seed: str, samples: int, keep: Path | None) -> None:
        self.name = name
        self.states = self.failures = 0
        self._scenario = SCENARIOS[name]
        self._place = place
        self._chance = random.Random(f"{seed}.{name}")
        self._samples = samples
        self._keep = keep
        self._tried: set[bytes] = set()

    def run(self) -> None:
        """Record the scenario, replay it and cut the power before and after each call."""
        root = self._place / "recorded"
        self._scenario.prepare(root)
        disk = Disk(root)
        before = facts_of(root)
        environment = DevelSite(root / "site").environment(PYTHONDONTWRITEBYTECODE="1")
        words = [word.replace("ROOT", str(root)) for word in self._scenario.command]
        module = ["rocm_sdk.adoption"] if words == ["adopt"] else ["rocm_sdk", *words]
        lines = record([sys.executable, "-m", *module], self._place / "calls", environment, self._place)
        wanted = facts_of(root)
        if wanted == before:
            raise AssertionError(f"{self.name} changes nothing")
        disk.replayed(lines)
        self._try(disk, wanted, "before the first call")
        for line in lines:
            if disk.replay(line):
                self._try(disk, wanted, line)

    def _try(self, disk: Disk, wanted: Facts, line: str) -> None:
        for state in disk.states(self._chance, self._samples):
            key = disk.key(state, is_rubbish)
            if key in self._tried:
                continue
            self._tried.add(key)
            self.states += 1
            self._check(disk, state, wanted, line)

    def _check(self, disk: Disk, state: State, wanted: Facts, line: str) -> None:
        root = self._place / "cut"
        disk.write(state, root)
        if self._keep:
            shutil.copytree(root, self._place / "kept", symlinks=True)
        said = in_child(lambda: self._scenario.check(root, wanted))
        if said:
            self.failures += 1
        if said and self.failures <= SHOWN:
            print(
                f"{self.name}, cut after {readable_call(line)[:300]}\n  lost: {disk.lost(state)}\n  {said}\n",
                flush=True,
            )
            if self._keep:
                shutil.copytree(self._place / "kept", self._keep / f"{self.name}-{self.states}", symlinks=True)
        shutil.rmtree(root)
        shutil.rmtree(self._place / "kept", ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="states from which it fails go there")
    parser.add_argument("--scenario", action="append", choices=[*SCENARIOS], help="default: all of them")
    options = parser.parse_args()
    os.umask(0o022)
    os.environ.pop("ROCM_SDK_STORE", None)
    # In memory where that is possible: hundreds of trees are made, and nothing needs to last.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    failures = 0
    for name in options.scenario or SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="rocm-sdk-power-cut-", dir=memory) as place:
            attack = Attack(name, Path(os.path.realpath(place)), options.seed, options.rounds, options.keep)
            attack.run()
        failures += attack.failures
        print(f"{name}: {attack.states} states after a power cut, {attack.failures} not repaired", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
