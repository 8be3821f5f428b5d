"""Attacks init with stores that someone else wrote: lists, files, markers and modes of all kinds.

usage: python tests/attack/stores.py [--rounds N] [--seed S] [--only ROUND] [--keep DIR]
"""

import contextlib
import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hostile_input import LISTS, STORE_FILES, TEXTS, replace_directory_by_link
from sample_devel import DevelSite, write
from victims import (
    FOREIGN,
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
    tree_content,
)

SHA256 = "ab" * 32


def values(chance: random.Random, root: Path) -> Any:
    """Return a value to put into a list."""
    return chance.choice(
        [
            *(
                "..",
                "../../victim.txt",
                f"{root}/victims/a",
                "/etc/shadow",
                "",
                ".",
                "a//b",
                "a\0b",
                "\udc80",
                "x" * 5000,
            ),
            *(
                "llvm/x",
                "__init__.py",
                "__init__.py/x",
                ".rocm-sdk/stamp",
                "file",
                "link",
                "runtime",
                "directory",
                "fifo",
            ),
            *(
                "../_rocm_sdk_core/bin/hipcc",
                "../../_rocm_sdk_core/bin/hipcc",
                "../torch/lib/x",
                SHA256,
                "../" * 20 + "etc/passwd",
            ),
            *(None, True, False, 0, 1, -1, 1 << 70, 1.5, float("inf"), [], {}, ["x"], {"a": 1}),
        ]
    )


def edit_list(store: Path, chance: random.Random, root: Path) -> None:
    lists = sorted((store / "trees").iterdir()) if (store / "trees").is_dir() else []
    if not lists or not lists[0].is_file():
        return
    data = lists[0].read_bytes()
    way = chance.choice(("text", "list", "bytes", "fields", "fields"))
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        way = "text"
    if way == "text":
        data = TEXTS[chance.choice(sorted(TEXTS))]
    elif way == "bytes":
        changed = bytearray(data)
        for _ in range(chance.choice((1, 2, 5))):
            changed[chance.randrange(len(changed))] = chance.choice([*b'"[]{},:/.0x\\', chance.randrange(256)])
        data = bytes(changed)
    elif way == "list":
        LISTS[chance.choice(sorted(LISTS))](content)
        data = json.dumps(content).encode()
    else:
        data = json.dumps(edited(content, chance, root)).encode()
    replace(lists[0], data)


def edited(content: dict[str, Any], chance: random.Random, root: Path) -> dict[str, Any]:
    """Return a list with some fields, rows or members changed."""
    rows = content["members"]
    for _ in range(chance.choice((1, 1, 2, 4))):
        row = chance.choice(rows)
        match chance.choice(("field", "field", "row", "top", "copy", "drop", "shuffle")):
            case "field" if isinstance(row, list) and row:
                row[chance.randrange(len(row))] = values(chance, root)
            case "row":
                rows.append([values(chance, root) for _ in range(chance.choice((6, 6, 5, 7)))])
            case "top":
                content[chance.choice(("format", "tree", "members"))] = values(chance, root)
                break
            case "copy":
                rows.append(row)
            case "drop":
                rows.remove(row)
            case _:
                chance.shuffle(rows)
    return content


def replace(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)
    path.chmod(0o444)


def edit_file(store: Path, chance: random.Random, _root: Path) -> None:
    files = sorted(path for path in (store / "files").glob("??/*") if path.is_file() and not path.is_symlink())
    if files:
        chance.choice((*STORE_FILES, replace_directory_by_link, Path.unlink))(chance.choice(files))


def add_foreign(store: Path, chance: random.Random, root: Path) -> None:
    """Add names that no store has, or that one may have."""
    names = (
        "a.jpg",
        "trees/oak.txt",
        "files/p/a.jpg",
        "files/ab/x",
        ".partial-x",
        ".rocm-sdk-partial-mine",
        "files/zz",
        "trees/sha256-.json",
    )
    write(store / chance.choice(names), FOREIGN.encode())
    if chance.random() < 0.3:
        (store / "link").unlink(missing_ok=True)
        (store / "link").symlink_to(root / "victims")


def edit_marker(store: Path, chance: random.Random, root: Path) -> None:
    marker = store / "rocm-sdk-store.json"
    texts = (
        b"",
        b"{",
        b'{"format": 2}',
        b'{"format": true}',
        b'{"format": 1.0}',
        b"[" * 100_000,
        b"null",
        b'{"format": 1, "x": 2}',
    )
    marker.unlink(missing_ok=True)
    if chance.random() < 0.3:
        marker.symlink_to(root / "victims/a")
    elif chance.random() < 0.8:
        marker.write_bytes(chance.choice(texts))


def edit_modes(store: Path, chance: random.Random, _root: Path) -> None:
    path = chance.choice([store, *sorted(each for each in store.rglob("*") if not each.is_symlink())])
    if chance.random() < 0.5:
        path.chmod(chance.choice((0o777, 0o775, 0o700, 0o755, 0o500, 0, 0o1777, 0o644)))
    elif os.geteuid() == 0:
        os.chown(path, chance.choice((65534, 0)), chance.choice((65534, 0)))


def edit_directory(store: Path, chance: random.Random, root: Path) -> None:
    """Remove a directory of the store, or replace it by a file or a link."""
    path = store / chance.choice(("files", "trees", "lock", "files/00"))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if path.parent.is_dir():
        match chance.choice(("nothing", "file", "link", "dangling", "fifo", "directory")):
            case "file":
                path.write_bytes(b"x")
            case "link":
                path.symlink_to(root / chance.choice(("victims", "victims/a", "env/site")))
            case "dangling":
                path.symlink_to(root / "victims/new")
            case "fifo":
                os.mkfifo(path)
            case "directory":
                path.mkdir()


EDITS: tuple[Callable[[Path, random.Random, Path], None], ...] = (
    *(edit_list,) * 6, *(edit_file,) * 4, *(add_foreign,) * 2, edit_marker, edit_modes, edit_modes, edit_directory,
)  # fmt: skip


def foreign_in_store(store: Path) -> set[str]:
    """Return the files of others that are in the store."""
    return {str(path) for path in store.rglob("*") if path.is_file() and path.read_bytes() == FOREIGN.encode()}


def attack(root: Path, chance: random.Random) -> str:
    """Attack a store that another environment has made."""
    wanted = good_tree(root)
    site, store = environment(root), root / "store"
    maker = DevelSite(root / "maker/site")
    maker.install_sdk()
    maker.install_devel(GOOD)
    if call(maker, "init", "--store", str(store)).status != 0:
        raise WrongError("the store cannot be made")
    edits = [chance.choice(EDITS) for _ in range(chance.choice((1, 1, 2, 3)))]
    for edit in edits:
        # The rest after one edit may be nothing that another can change.
        with contextlib.suppress(OSError, KeyError, TypeError, AttributeError, StopIteration):
            edit(store, chance, root)
    shutil.rmtree(root / "maker")  # its names of the store's files would hide what happens to them
    before, foreign = foreign_files(root), foreign_in_store(store)
    answer = call(site, "init", "--store", str(store))
    require_clear(answer)
    require_same(before, foreign_files(root), "by the store")
    # Who may write the store says in its lists which files an archive has; the rest is not up to him.
    if answer.status == 0 and edit_list not in edits and tree_content(site) != wanted:
        raise WrongError(f"the tree is not that of the archive\n{answer.said}")
    if answer.status == 0:
        require_sound(site)
    if answer.status != 0 and site.tree.exists():
        raise WrongError(f"it failed and left a tree\n{answer.said}")
    for words in (("store", "verify"), ("store", "prune")):
        require_clear(call(site, *words, "--store", str(store)), (0, 1, 2))
        require_same(before, foreign_files(root), f"by {words}")
    if foreign - foreign_in_store(store):
        raise WrongError(f"files of others are gone from the store: {foreign - foreign_in_store(store)}")
    require_good_tree(site, root, wanted)
    return "used" if answer.status == 0 else "refused"


if __name__ == "__main__":
    sys.exit(main(attack, __doc__ or ""))
