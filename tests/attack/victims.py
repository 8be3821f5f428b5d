"""The common part of the attackers of `rocm-sdk init`: an environment with files of others around it, calls, answers.

Whatever an archive, a store or a note holds: a call ends with a right tree, or with an error that names the fault and
leaves nothing half done; files of others stay as they are; and a good archive makes a right tree afterwards.
"""

import argparse
import contextlib
import hashlib
import os
import random
import shutil
import signal
import stat
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sample_devel import VERSION, DevelSite, device_files, sample_members, write

SECONDS = 60  # for one call
# Files that the attackers give a name in a store or in a tree, which init may replace.
MOVED = ("secret", "victims/linked")
SHOWN = 10  # failures of one attacker
FOREIGN = "mine"  # what is in files of others
CHANGED = (
    "_rocm_sdk_devel",
    ".rocm_sdk_devel.",
    "rocm_sdk_devel/_devel.",
)  # names below site-packages that init may change
RECORDS = tuple(f"{name}-{VERSION}.dist-info/RECORD" for name in ("rocm_sdk_devel", "rocm_sdk_device_gfx942"))
GOOD = [each for each in sample_members() if len(each[1]) < 10_000]  # without the large file: there are many rounds


class Answer(NamedTuple):
    """The end of a call; `status` is the exit status.

    The status is -1 if the call did not end, or raised an exception that the command does not catch.
    """

    status: int
    said: str


class WrongError(Exception):
    """The error for an act of the product that is forbidden to it."""


def environment(root: Path) -> DevelSite:
    """Make an SDK whose tree is not extracted, with a device package, and files of others beside and around it."""
    site = DevelSite(root / "env/site")
    site.install_sdk()
    site.install_devel(GOOD)
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    for name in (
        "victim.txt",
        "env/victim.txt",
        "env/site/victim.txt",
        "env/site/torch/lib/x",
        "env/site/torch/__init__.py",
    ):
        write(root / name, FOREIGN.encode())
    (root / "victims/empty").mkdir(parents=True)
    for name in (
        "a",
        "linked",
        "deep/b",
        "library/gfx942_0.co",
        "hipcc",
        "stamp",
        "device_links.json",
        "manifest.json",
    ):
        write(root / "victims" / name, FOREIGN.encode())
    (root / "victims/link").symlink_to("a")
    (root / "victims/secret").write_bytes(b"secret")
    (root / "victims/secret").chmod(0o600)
    return site


def foreign_files(root: Path) -> dict[str, tuple[object, ...]]:
    """Return the facts that no call may change below the root: content, modes, dates, number of names.

    The store has no part in them.
    """
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if f"{name}/".startswith("store/") or "__pycache__" in name:
            continue
        inner = name.removeprefix("env/site/")
        if inner != name and (inner.startswith(CHANGED) or inner in RECORDS):
            continue
        facts = path.lstat()
        shown: tuple[object, ...] = (
            stat.S_IFMT(facts.st_mode),
            stat.S_IMODE(facts.st_mode),
            facts.st_uid,
            facts.st_gid,
        )
        if stat.S_ISREG(facts.st_mode):
            shown += (facts.st_mtime_ns, hashlib.sha256(path.read_bytes()).digest())
            shown += () if inner.startswith("_rocm_sdk_") or name in MOVED else (facts.st_nlink,)
        elif stat.S_ISLNK(facts.st_mode):
            shown += (str(path.readlink()),)
        found[name] = shown
    return found


def tree_content(site: DevelSite) -> dict[str, object]:
    """Return the entries of the tree except our notes, without dates."""
    found: dict[str, object] = {}
    for path in sorted(site.tree.rglob("*")):
        name = str(path.relative_to(site.tree))
        if name.startswith(".rocm-sdk"):
            continue
        facts = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "directory"
        found[name] = (stat.S_IFMT(facts.st_mode), bool(facts.st_mode & 0o100), content)
    return found


def require_sound(site: DevelSite) -> None:
    """Require a sound tree: as its manifest says, and without symbolic links to files of others.

    Each symbolic link ends in the tree, in a package of the SDK, or nowhere.
    """
    checked = call(site, "init", "--check")
    found = [line for line in checked.said.splitlines() if line.startswith(f"rocm-sdk: {site.tree}")]
    # A link into a package may be one to a file that the package does not have.
    are_missing = ["belongs to a package that is not installed" in line for line in found]
    if (checked.status != 0 and not (found and all(are_missing))) or "Traceback" in checked.said:
        raise WrongError(f"the tree is not sound\n{checked.said}")
    places = tuple(f"{site.path}/{each}/" for each in ("_rocm_sdk_devel", "_rocm_sdk_core", "_rocm_sdk_libraries"))
    for path in site.tree.rglob("*"):
        if path.is_symlink() and path.exists() and not f"{path.resolve()}/".startswith(places):
            raise WrongError(f"{path} leads to {path.resolve()}")


def good_tree(root: Path) -> dict[str, object]:
    """Return the tree that the good archive makes, found out once."""
    if not _GOOD_TREE:
        site = environment(root / "good")
        call(site, "init")
        _GOOD_TREE.update(tree_content(site))
        shutil.rmtree(root / "good")
    return _GOOD_TREE


_GOOD_TREE: dict[str, object] = {}


def call(site: DevelSite, *words: str, **variables: str) -> Answer:
    """Call the command in a forked process, which costs less than a new one."""

    def command() -> int:
        from rocm_sdk.cli import main

        sys.path.insert(0, str(site.path))
        os.environ.update(variables)
        return main([*words])

    return in_child(command)


def in_child(work: Callable[[], int]) -> Answer:
    """Run a function in a forked process with a limit of time; its result is the exit status."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            status = 255
            with contextlib.suppress(BaseException):
                signal.alarm(SECONDS)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
                sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
                try:
                    status = work()
                except BaseException:
                    traceback.print_exc()
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)
        _, result = os.waitpid(child, 0)
        output.seek(0)
        said = output.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(result)
    return Answer(-1 if status < 0 or status == 255 else status, said)


def require_clear(answer: Answer, statuses: tuple[int, ...] = (0, 1)) -> None:
    """Require the end of a call as calls end: with a result, or with an error that says what happened."""
    if answer.status not in statuses or "Traceback" in answer.said:
        raise WrongError(f"exit status {answer.status}\n{answer.said}")
    if answer.status != 0 and "rocm-sdk: " not in answer.said:
        raise WrongError(f"it fails and says nothing\n{answer.said}")


def require_same(before: dict[str, tuple[object, ...]], after: dict[str, tuple[object, ...]], when: str) -> None:
    """Require that files of others are as they were; raise WrongError if not."""
    changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    if changed:
        told = [f"{name}: {after.get(name)} instead of {before.get(name)}" for name in changed[:5]]
        raise WrongError("\n".join([f"changed {when}:", *told]))


def require_good_tree(site: DevelSite, root: Path, wanted: dict[str, object]) -> None:
    """Require the right tree from a good archive: the development package is installed again with it."""
    site.install_devel(GOOD)
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    before = foreign_files(root)
    answer = call(site, "init", "--check")
    if answer.status != 0:
        raise WrongError(f"a good archive is refused afterwards\n{answer.said}")
    if tree_content(site) != wanted:
        raise WrongError(f"a good archive makes another tree afterwards\n{answer.said}")
    if leftovers := [path.name for path in site.path.glob(".rocm_sdk_devel.staging-*")]:
        raise WrongError(f"left behind: {leftovers}")
    require_same(before, foreign_files(root), "by a good archive")


Attack = Callable[[Path, random.Random], str]


def main(attack: Attack, description: str) -> int:
    """Run the rounds of an attacker, and return the exit status.

    The attacker gets an empty directory and says how a round ended (a word, counted).
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, metavar="ROUND", help="this round alone")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="the files of a round that fails go there")
    options = parser.parse_args()
    os.umask(0o022)
    os.environ.pop("ROCM_SDK_STORE", None)
    outcomes: Counter[str] = Counter()
    failures = 0
    rounds = [options.only] if options.only is not None else [*range(options.rounds)]
    for number in rounds:
        with tempfile.TemporaryDirectory(
            prefix="rocm-sdk-attack-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        ) as place:
            root = Path(os.path.realpath(place))
            signal.alarm(10 * SECONDS)  # an attacker that hangs ends, too
            try:
                outcomes[attack(root, random.Random(f"{options.seed}.{number}"))] += 1
            except WrongError as error:
                failures += 1
                if failures <= SHOWN:
                    print(f"round {number} of seed {options.seed}: {error}\n", flush=True)
                if options.keep:
                    shutil.copytree(root, options.keep / f"{options.seed}.{number}", symlinks=True)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{len(rounds)} rounds from seed {options.seed}: {told or 'nothing'}; {failures} failed")
    return 1 if failures else 0
