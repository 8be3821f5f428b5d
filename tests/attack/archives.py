"""Attacks init with archives: random members that want more than to make a tree, lies about sizes, damaged headers.

usage: python tests/attack/archives.py [--rounds N] [--seed S] [--only ROUND] [--keep DIR]
"""

import lzma
import random
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hostile_input import MEMBERS, TREE
from sample_devel import devel_files, directory, link, make_archive, member
from victims import (
    GOOD,
    WrongError,
    call,
    environment,
    foreign_files,
    good_tree,
    main,
    require_clear,
    require_good_tree,
    require_same,
    require_sound,
)

Member = tuple[tarfile.TarInfo, bytes]
PARTS = (
    *(
        "..",
        "..",
        ".",
        "",
        "a",
        "A",
        "lib",
        "LIB",
        "bin",
        "llvm",
        "include",
        "hip",
        "__init__.py",
        ".rocm-sdk",
        "manifest.json",
    ),
    *(
        "x" * 255,
        "x" * 300,
        "\u00e9",
        "e\u0301",
        "\udcff",
        "a\nb",
        "a\\b",
        "-rf",
        "a b",
        "\u202e",
        "con",
        "~",
        "$HOME",
        "*",
    ),
)
TYPES = (
    *(tarfile.REGTYPE,) * 6, *(tarfile.DIRTYPE,) * 3, *(tarfile.SYMTYPE,) * 6, *(tarfile.LNKTYPE,) * 4,
    tarfile.AREGTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE,
    b"Z", b"\0", b"x",
)  # fmt: skip
PAX_KEYS = ("path", "linkpath", "size", "mtime", "GNU.sparse.name")
MODES = (0o644, 0o644, 0o755, 0, 0o4755, 0o2755, 0o1777, 0o777, 0o7777, 1 << 20)
DATES = (1_700_000_000, 1_700_000_000, 0, -1, 1 << 33, 1 << 60, 0.5)


def name(chance: random.Random, root: Path) -> str:
    """Return a name of a member, or a text of a link."""
    parts = [chance.choice(PARTS) for _ in range(chance.choice((1, 1, 2, 3, 5)))]
    beginnings = (*(f"{TREE}/",) * 6, "", "/", "../", f"{TREE}/../", f"{root}/victims/", "_rocm_sdk_core/", f"{TREE}2/")
    if chance.random() < 0.03:
        parts += ["d"] * chance.choice((60, 70, 1100))
    return chance.choice(beginnings) + "/".join(parts)


def target(chance: random.Random, root: Path, names: list[str]) -> str:
    """Return the text of a link: to other members, out of the tree in several ways, into packages."""
    ups = "../" * chance.randrange(6)
    ways = [chance.choice(names), f"{ups}{chance.choice(PARTS)}", f"{root}/victims/secret", f"{ups}victims/secret"]
    ways += [f"{ups}_rocm_sdk_core/lib/libamdhip64.so.7", f"{ups}torch/lib/x", name(chance, root), "/etc/passwd", ""]
    return chance.choice(ways)


def random_members(chance: random.Random, root: Path) -> list[Member]:
    members: list[Member] = list(GOOD) if chance.random() < 0.7 else [GOOD[0]]
    is_tame = chance.random() < 0.5
    if not is_tame and chance.random() < 0.25:
        members += MEMBERS[chance.choice(sorted(MEMBERS))]
    for number in range(chance.choice((0, 1, 1, 2, 4, 8))):
        members.append(tame_member(chance, members, number) if is_tame else random_member(chance, members, root))
    if chance.random() < 0.1:
        chance.shuffle(members)
    return members


def random_member(chance: random.Random, members: list[Member], root: Path) -> Member:
    names = [each[0].name for each in members]
    new = chance.choice(names) if chance.random() < 0.2 else name(chance, root)
    if chance.random() < 0.2:
        new = f"{chance.choice(names)}/{chance.choice(PARTS)}"
    kind = chance.choice(TYPES)
    data = b"evil" * chance.choice((0, 1, 200)) if kind in {tarfile.REGTYPE, tarfile.AREGTYPE} else b""
    fields: dict[str, object] = {"type": kind, "mode": chance.choice(MODES), "mtime": chance.choice(DATES)}
    if kind in {tarfile.SYMTYPE, tarfile.LNKTYPE}:
        fields["linkname"] = target(chance, root, names)
    if chance.random() < 0.05:
        values = ("../x", f"{root}/victims/a", "a\0b", "nan", "-1", "99999999999999999999", "")
        fields["pax_headers"] = {chance.choice(PAX_KEYS): chance.choice(values)}
    return member(new, data, **fields)


def tame_member(chance: random.Random, members: list[Member], number: int) -> Member:
    """Return a member that may be in an archive, or just not.

    Links climb as far as they can, and names differ in case.
    """
    place = chance.choice(("", "a/", "A/", "a/b/", "lib/", "x" * 255 + "/", "d/" * 40))
    new = f"{TREE}/{place}{chance.choice(('new', 'New', 'é', 'a b', '-rf'))}{number}"
    files = [each[0].name for each in members if each[0].isreg()]
    match chance.choice(("file", "program", "directory", "link", "link", "link", "hard link")):
        case "file":
            return member(new, b"new" * chance.choice((0, 1, 200)), mtime=chance.choice((0, 1 << 33)))
        case "program":
            return member(new, b"#!/bin/sh\n", mode=0o777)
        case "directory":
            return directory(new)
        case "hard link":
            return member(new, type=tarfile.LNKTYPE, linkname=chance.choice(files))
    ups = "../" * (place.count("/") + chance.choice((-1, 0, 0, 1, 1)))
    places = (
        "lib",
        "include/hip",
        "_rocm_sdk_core/lib",
        "_rocm_sdk_core/lib/libamdhip64.so.7",
        "torch/lib/x",
        "new0",
        ".",
    )
    return link(new, ups + chance.choice(places))


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return the archive with some bytes of headers replaced, with right checksums; sometimes a part of it alone."""
    content = bytearray(data)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        start = chance.randrange(len(content) // 512) * 512
        at = chance.choice((0, 100, 108, 124, 135, 136, 156, 157, 257, 345, chance.randrange(512)))
        content[start + at] = chance.choice([0, 0x80, 0xFF, *b"/.07xgLKS125", chance.randrange(256)])
        header = bytes(content[start : start + 148]) + b" " * 8 + bytes(content[start + 156 : start + 512])
        content[start + 148 : start + 156] = b"%06o\0 " % sum(header)
    if chance.random() < 0.1:
        del content[chance.randrange(len(content)) :]
    return bytes(content)


def archive(chance: random.Random, root: Path) -> tuple[bytes, str]:
    """Return the bytes of a random archive, and its file's name."""
    kind = chance.choice(("_devel.tar", "_devel.tar", "_devel.tar.xz"))
    while True:
        try:
            data = damaged(make_archive(random_members(chance, root)), chance)
        except (ValueError, OverflowError, tarfile.TarError):  # not even tarfile writes it
            continue
        if kind == "_devel.tar":
            return data, kind
        return lzma.compress(data, preset=0), kind


def attack(root: Path, chance: random.Random) -> str:
    """Attack with a random archive, and return a word for how the round ended."""
    site = environment(root)
    if chance.random() < 0.3:
        call(site, "init")
    wanted = good_tree(root)
    (site.path / "rocm_sdk_devel/_devel.tar").unlink(missing_ok=True)
    data, kind = archive(chance, root)
    record = site.install("rocm-sdk-devel", devel_files(data, kind))
    if chance.random() < 0.3:  # as if RECORD had no digest of it
        text = "\n".join(
            f"rocm_sdk_devel/{kind},," if f"/{kind}," in row else row for row in record.read_text().split("\n")
        )
        record.write_text(text)
    had_tree = site.tree.exists()
    before = foreign_files(root)
    words = ["init", "--store", str(root / "store")] if chance.random() < 0.3 else ["init"]
    answer = call(site, *words)
    require_clear(answer)
    require_same(before, foreign_files(root), "by the archive")
    if answer.status == 0:
        require_sound(site)
    elif site.tree.exists() != had_tree or list(site.path.glob(".rocm_sdk_devel.staging-*")):
        raise WrongError(f"something is left of a refused archive\n{answer.said}")
    for path in (site.path / "rocm_sdk_devel").glob("_devel.tar*"):
        path.unlink()
    require_good_tree(site, root, wanted)
    return "extracted" if answer.status == 0 else "refused"


if __name__ == "__main__":
    sys.exit(main(attack, __doc__ or ""))
