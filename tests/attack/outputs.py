"""Attacks rocm-sdk-build code, promote, index and clear-execstack: what lies in their input and where output goes.

usage: python tests/attack/outputs.py [--rounds N] [--seed S] [--only ROUND] [--keep DIR]
"""

import contextlib
import os
import random
import stat
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sample_devel import write
from sample_device_code import bundle, objects
from victims import FOREIGN, Answer, WrongError, foreign_files, in_child, main, require_same

USER = 65534
CODE = bundle(objects("gfx1030", "gfx942"))
OLD, NEW = "7.10.0rc1", "7.10.0"
WHEEL = f"rocm_sdk_core-{OLD}-py3-none-any.whl"


def names(chance: random.Random, root: Path) -> str:
    """Return a name that a member or a row may have: most of them lead elsewhere."""
    climbing = ("../victims/a", "../../victims/a", "../../../victims/a", "lib/../../victims/a", f"{root}/victims/a")
    strange = ("", ".", "..", "a//b", "./a", "a\0b", "x" * 300, "d/" * 200 + "x", "/etc/passwd")
    return chance.choice((*climbing, *strange, "lib/x.co", "lib/y.co", "link/x.co", "lib", "lib/", "new"))


def place(path: Path, chance: random.Random, root: Path) -> None:
    """Put something at a path, if nothing is there.

    Text that is written through a link of before is not the attack's.
    """
    if os.path.lexists(path):
        return
    kind = chance.choice(("link", "link", "link to a directory", "fifo", "directory", "file", "program", "device"))
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(chance.choice((f"{root}/victims/a", "../victims/a", "../../victims/a", "nowhere")))
    elif kind == "link to a directory":
        path.symlink_to(chance.choice((f"{root}/victims", "..", ".", "../../victims", "/")))
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
        (path / "a").write_text(FOREIGN)
    elif kind == "device" and os.geteuid() == 0:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        path.write_text(FOREIGN)
        path.chmod(chance.choice((0o644, 0o4755, 0o2755, 0o6777, 0o444)))
    if path.is_symlink() and os.geteuid() == 0:
        os.lchown(path, USER, USER)


def make_tree(tree: Path, chance: random.Random, root: Path) -> None:
    """Make a directory with code and with RECORDs that say anything.

    Things that are not copied may be there too, and another user may own all of it.
    """
    for name in ("lib/x.co", "deep/lib/y.co"):
        write(tree / name, CODE)
        (tree / name).chmod(chance.choice((0o644, 0o4755, 0o6755, 0o444)))
    for top in ("", "deep/"):
        rows = "".join(f'"{names(chance, root)}",sha256=x,1\n' for _ in range(chance.randrange(5)))
        text = chance.choice((rows.replace("\0", ""), rows, "lib/x.co,sha256=x,1\n", '"', "\udc80"))
        write(tree / f"{top}p-1.dist-info/RECORD", text.encode(errors="surrogateescape"))
    for _ in range(chance.randrange(3)):
        with contextlib.suppress(OSError):
            place(tree / chance.choice(("link", "lib/link", "new", "p-1.dist-info/x", "q-1.dist-info")), chance, root)
    if os.geteuid() == 0 and chance.random() < 0.5:
        for path in [tree, *tree.rglob("*")]:
            if not path.is_symlink():
                mode = path.stat().st_mode
                os.chown(path, USER, USER)
                path.chmod(stat.S_IMODE(mode))
    (tree / "deep").chmod(chance.choice((0o755, 0o555, 0o3777)))


def make_wheel(path: Path, chance: random.Random, root: Path) -> None:
    """Write a wheel with some members of any name and any kind."""
    info = f"rocm_sdk_core-{OLD}.dist-info"
    members = {"lib/x.co": CODE, f"{info}/METADATA": f"Name: rocm-sdk-core\nVersion: {OLD}\n".encode()}
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of equal names
        for name, data in members.items():
            archive.writestr(name, data)
        for _ in range(chance.randrange(3)):
            member = zipfile.ZipInfo(names(chance, root))
            kind = chance.choice((stat.S_IFREG, stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR))
            member.external_attr = (kind | chance.choice((0o644, 0o6755))) << 16
            archive.writestr(member, f"{root}/victims/a")


def call(*words: str) -> Answer:
    def command() -> int:
        from rocm_sdk_build.__main__ import main as build

        return build(words)

    return in_child(command)


def attack(root: Path, chance: random.Random) -> str:
    for name in ("a", "deep/b"):
        write(root / "victims" / name, FOREIGN.encode())
    out = root / "out"
    out.mkdir()
    (root / "wheels").mkdir()
    make_tree(root / "tree", chance, root)
    make_wheel(root / "wheels" / WHEEL, chance, root)
    for name in ("new", WHEEL, WHEEL.replace(OLD, NEW), "simple", "links.html", f"{WHEEL}.metadata"):
        if chance.random() < 0.3:
            place(out / name, chance, root)
    for named in (*out.iterdir(), root / "tree/new"):
        if os.geteuid() != 0 and named.is_symlink() and named.is_dir():  # our own link: the directory is what we name
            named.unlink()
    for number in range(chance.randrange(3)):
        place(out / f".rocm-sdk-build-{number}" / chance.choice(("lock", "x")), chance, root)
    keep = ("code", "--no-load", "--keep", "gfx1030", "--output")
    commands: list[Callable[[], tuple[str, ...]]] = [
        lambda: (*keep, f"{out}/new", f"{root}/tree"),
        lambda: (*keep, f"{root}/tree/new", f"{root}/tree"),
        lambda: (*keep, f"{out}/new", f"{root}/tree/lib/x.co"),
        lambda: (*keep, f"{out}/{WHEEL}", f"{root}/wheels/{WHEEL}"),
        lambda: ("promote", f"{root}/wheels", "--output", str(out), "--version", NEW),
        lambda: ("index", str(out), "--root", f"{root}/wheels"),
    ]
    words = chance.choice(commands)()
    before, special, programs_before = others(root), specials(out), programs(out)
    answer = call(*words)
    if answer.status not in (0, 1) or "Traceback" in answer.said or (answer.status and not answer.said):
        raise WrongError(f"{words}: exit status {answer.status}\n{answer.said}")
    require_same(before, others(root), f"by {words}")
    if special - specials(out):
        raise WrongError(f"{words} replaced {special - specials(out)}")
    is_of_another = (root / "tree").stat().st_uid != os.geteuid()
    if words[0] == "code" and is_of_another and (made := programs(out) - programs_before):
        raise WrongError(f"{words}: {made} act as the new owner")
    return f"{words[0]} {'refused' if answer.status else 'done'}"


def others(root: Path) -> dict[str, tuple[object, ...]]:
    """Return the files that no command may change: all except the output, and the metadata that an index adds."""
    found = foreign_files(root)
    return {name: facts for name, facts in found.items() if not name.startswith("out") and ".metadata" not in name}


def specials(out: Path) -> set[tuple[str, int]]:
    """Return the entries that no command replaces: all except files."""
    found = ((str(path), path.lstat()) for path in out.iterdir())
    return {(name, facts.st_ino) for name, facts in found if not stat.S_ISREG(facts.st_mode)}


def programs(out: Path) -> set[tuple[str, int]]:
    """Return the files that let everybody act as their owner."""
    found = ((str(path), path.lstat()) for path in out.rglob("*"))
    return {(name, facts.st_ino) for name, facts in found if stat.S_ISREG(facts.st_mode) and facts.st_mode & 0o6000}


if __name__ == "__main__":
    sys.exit(main(attack, __doc__ or ""))
