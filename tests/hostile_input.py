"""The hostile contents of archives, stores and notes, for tests and attackers."""

import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sample_devel import directory, link, member

TREE = "_rocm_sdk_devel"
INIT = member(f"{TREE}/__init__.py")

# Members of an archive after which it is refused.
MEMBERS = {
    "dot dot": [member(f"{TREE}/../evil")],
    "dot dot at the end": [directory(f"{TREE}/lib/..")],
    "absolute": [member("/tmp/evil")],
    "another top": [member("evil/file")],
    "another package": [member("_rocm_sdk_core/lib/libamdhip64.so.7")],
    "empty component": [member(f"{TREE}//evil")],
    "our notes": [member(f"{TREE}/.rocm-sdk/manifest.json")],
    "absolute link": [link(f"{TREE}/evil", "/etc/passwd")],
    "link out": [link(f"{TREE}/evil", "../../outside")],
    "link to site-packages": [link(f"{TREE}/evil", "..")],
    "link to a package directory": [link(f"{TREE}/evil", "../_rocm_sdk_core")],
    "link to a foreign package": [link(f"{TREE}/evil", "../torch/__init__.py")],
    "link to another nonce": [link("_rocm_sdk_devel_n2/evil", "../_rocm_sdk_core/lib/x")],
    "link down and out": [directory(f"{TREE}/lib"), link(f"{TREE}/evil", "lib/../../../etc/passwd")],
    "link through a link": [link(f"{TREE}/evil", "there/../../x")],
    "hard link out": [member(f"{TREE}/evil", type=tarfile.LNKTYPE, linkname="/etc/passwd")],
    "hard link to a package": [member(f"{TREE}/evil", type=tarfile.LNKTYPE, linkname="_rocm_sdk_core/bin/hipcc")],
    "hard link to nothing": [member(f"{TREE}/evil", type=tarfile.LNKTYPE, linkname=f"{TREE}/absent")],
    "hard link to a link": [
        link(f"{TREE}/l", "../_rocm_sdk_core/bin/hipcc"),
        member(f"{TREE}/evil", type=tarfile.LNKTYPE, linkname=f"{TREE}/l"),
    ],
    "device": [member(f"{TREE}/evil", type=tarfile.CHRTYPE, devmajor=1, devminor=3)],
    "block device": [member(f"{TREE}/evil", type=tarfile.BLKTYPE)],
    "FIFO": [member(f"{TREE}/evil", type=tarfile.FIFOTYPE)],
    "setuid": [member(f"{TREE}/evil", mode=0o4755)],
    "setgid": [member(f"{TREE}/evil", mode=0o2755)],
    "sparse": [member(f"{TREE}/evil", type=tarfile.GNUTYPE_SPARSE)],
    "sparse (pax)": [member(f"{TREE}/evil", b"0\n" + bytes(510), pax_headers={"GNU.sparse.major": "1",
                     "GNU.sparse.minor": "0", "GNU.sparse.name": f"{TREE}/evil", "GNU.sparse.realsize": "9"})],
    "unknown type": [member(f"{TREE}/evil", type=b"Z")],
    "twice": [member(f"{TREE}/evil"), member(f"{TREE}/evil")],
    "directory twice": [directory(f"{TREE}/evil"), directory(f"{TREE}/evil")],
    "directory over file": [member(f"{TREE}/evil"), directory(f"{TREE}/evil")],
    "directory replaced by a link": [member(f"{TREE}/evil/x"), link(f"{TREE}/evil", "../_rocm_sdk_core/lib")],
    "file below a link": [link(f"{TREE}/l", "../_rocm_sdk_core/lib"), member(f"{TREE}/l/evil")],
    "file below a file": [member(f"{TREE}/l"), member(f"{TREE}/l/evil")],
    "file in place of the tree": [member(f"{TREE}/")],
    "date before time": [member(f"{TREE}/evil", mtime=-1)],
    "date after time": [member(f"{TREE}/evil", mtime=1 << 60)],
    "date at the end of time": [member(f"{TREE}/evil", mtime=1 << 34)],
    "no date": [member(f"{TREE}/evil", pax_headers={"mtime": "nan"})],
    "NUL in the name": [member(f"{TREE}/evil", pax_headers={"path": f"{TREE}/evil\0x"})],
    "NUL in the link": [link(f"{TREE}/evil", "x", pax_headers={"linkpath": "a\0b"})],
    "empty link": [link(f"{TREE}/evil", "")],
    "deep": [member(f"{TREE}/" + "d/" * 63 + "evil")],
    "very deep": [directory(f"{TREE}/" + "d/" * 1100 + "evil")],
    "not UTF-8": [member(f"{TREE}/evil\udcff")],
}  # fmt: skip

# ---- lists of a store

Edit = Callable[[dict[str, Any]], Any]
SHA256 = "ab" * 32


def row(path: str, kind: str = "file", *, digest: str = "", target: str = "", size: int = 0) -> list[object]:
    return [path, kind, False, size, digest, target]


def with_row(*fields: object, **named: Any) -> Edit:
    """Return an edit that adds a row to a list."""
    added = row(*fields, **named)  # type: ignore[arg-type]
    return lambda content: content["members"].append(added)


def with_field(number: int, value: object) -> Edit:
    """Return an edit that changes a field of the first file."""

    def edit(content: dict[str, Any]) -> None:
        next(member for member in content["members"] if member[1] == "file")[number] = value

    return edit


# Edits after which a list is not used.
LISTS: dict[str, Edit] = {
    "write outside": with_row("../../../victim", digest=SHA256),
    "absolute": with_row("/tmp/victim", digest=SHA256),
    "directory outside": with_row("../victim", "directory"),
    "below a link": with_row("llvm/victim", digest=SHA256),
    "below a file": with_row("__init__.py/victim", digest=SHA256),
    "another package": lambda content: content.update(tree="rocm_sdk_core"),
    "tree outside": lambda content: content.update(tree="../_rocm_sdk_devel"),
    "tree that is not a text": lambda content: content.update(tree=["_rocm_sdk_devel"]),
    "link outside": with_row("victim", "link", target="/etc/passwd"),
    "link that climbs": with_row("victim", "link", target="../../../etc/passwd"),
    "runtime link outside": with_row("victim", "runtime", target="../torch/lib/x"),
    "link as a runtime link": with_row("victim", "link", target="../_rocm_sdk_core/lib/x"),
    "hard link": with_row("victim", "hard link", target="/etc/shadow"),
    "digest that is a path": with_row("victim", digest="/../../../../../../../etc/shadow".rjust(64, "/")),
    "digest that is short": with_row("victim", digest="../../etc/shadow"),
    "unknown kind": with_row("victim", "fifo"),
    "twice": with_row("__init__.py", digest=SHA256),
    "our notes": with_row(".rocm-sdk/manifest.json", digest=SHA256),
    "size below zero": with_field(3, -1),
    "size that is a text": with_field(3, "1"),
    "size that is true": with_field(3, True),
    "size that is a fraction": with_field(3, 1.5),
    "path that is a number": with_field(0, 7),
    "path that is a list": with_field(0, [["x"]]),
    "kind that is a list": with_field(1, ["file"]),
    "program that is a number": with_field(2, 1),
    "digest that is null": with_field(4, None),
    "unpaired surrogate": with_field(0, "\udc80"),
    "rows that are texts": lambda content: content.update(members=["x" * 6]),
    "rows that are an object": lambda content: content.update(members={"a": 1}),
    "no rows": lambda content: content.pop("members"),
    "empty": lambda content: content.update(members=[]),
    "another format": lambda content: content.update(format=2),
}  # fmt: skip
TEXTS = {
    "no JSON": b"{",
    "another type": b"[1]",
    "null": b"null",
    "not UTF-8": b"\xff\xfe\xff",
    "deep": b'{"format": 1, "tree": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a number without end": b'{"format": ' + b"1" * 100_000 + b"}",
    "nothing": b"",
}


# ---- files of a store, which then are not what their names say


def replace_content(path: Path) -> None:
    size = path.stat().st_size
    path.chmod(0o644)
    path.write_bytes(b"x" * size)
    path.chmod(0o444)


def replace_by_hard_link(path: Path) -> None:
    secret = path.parents[3] / "secret"
    secret.write_bytes(b"s" * path.stat().st_size)
    secret.chmod(0o444)
    path.unlink()
    path.hardlink_to(secret)


def replace_by_link(path: Path) -> None:
    secret = path.parents[3] / "secret"
    path.rename(secret)
    path.symlink_to(secret)


def replace_directory_by_link(path: Path) -> None:
    elsewhere = path.parents[3] / "secret"
    path.parent.rename(elsewhere)
    path.parent.symlink_to(elsewhere)


def replace_by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o444)


def set_special_bit(path: Path) -> None:
    path.chmod(0o4555)


STORE_FILES = (replace_content, replace_by_hard_link, replace_by_link, replace_by_fifo, set_special_bit)

# ---- rows of a manifest

TARGET = "../_rocm_sdk_core/bin/hipcc"

ENTRIES: dict[str, list[object]] = {
    "parent": ["../victim.txt", "runtime", 0, 0, "", TARGET],
    "absolute": ["/victim.txt", "runtime", 0, 0, "", TARGET],
    "inner parent": ["lib/../../victim.txt", "runtime", 0, 0, "", TARGET],
    "target outside": ["bin/new", "runtime", 0, 0, "", "../../../../../../../../etc/passwd"],
    "absolute target": ["bin/new", "runtime", 0, 0, "", "/etc/passwd"],
    "target beside": ["bin/new", "runtime", 0, 0, "", "../../victim.txt"],
    "unknown kind": ["bin/new", "socket", 0, 0, "", TARGET],
    "wrong types": ["bin/new", "runtime", "0", 0, "", TARGET],
    "too short": ["bin/new"],
    "no list": {"path": "bin/new"},  # type: ignore[dict-item]
}  # fmt: skip
