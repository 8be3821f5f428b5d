"""Attacks init and adopt with notes that someone else wrote: manifests, device links, stamps, RECORDs, kept files.

usage: python tests/attack/notes.py [--rounds N] [--seed S] [--only ROUND] [--keep DIR]
"""

import contextlib
import csv
import io
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hostile_input import ENTRIES, TARGET, TEXTS
from sample_devel import VERSION, DevelSite, with_metadata, write
from victims import (
    FOREIGN,
    WrongError,
    call,
    environment,
    foreign_files,
    good_tree,
    in_child,
    main,
    require_clear,
    require_good_tree,
    require_same,
)

NOTES = ("manifest.json", "device_links.json", "stamp")
DEVICE_LIST = "_rocm_sdk_libraries/.devel_links/gfx942.json"
ROCM = f"rocm-{VERSION}.dist-info"


def names(chance: random.Random, root: Path) -> str:
    """Return a name that a note may hold: most of them lead elsewhere."""
    climbing = ("../victim.txt", "../../victim.txt", "../../../victims/a", "lib/../../victim.txt", "../torch/lib/x")
    beside = (f"{root}/victims/a", "/etc/passwd", "../_rocm_sdk_core/bin/hipcc", ".rocm-sdk/stamp")
    strange = ("", ".", "..", "a//b", "./a", "a\0b", "\udc80", "x" * 300, "d/" * 200 + "x")
    inside = ("bin/new", "bin/tool/x", "llvm/x", "lib", "empty", "__init__.py", "lib/rocblas/library/gfx942_0.co")
    return chance.choice((*climbing, *beside, *strange, *inside))


def texts(chance: random.Random, root: Path) -> str:
    """Return the text of a link in a note."""
    ends = ("etc/passwd", "victims/a", "victim.txt", "torch/lib/x", "x")
    climbing = "../" * chance.randrange(12) + chance.choice(ends)
    core = "_rocm_sdk_core"
    inside = chance.choice((TARGET, f"../../{TARGET}", f"../../{core}/lib/libamdhip64.so.7", f"../{core}/absent"))
    return chance.choice((climbing, inside, inside, f"{root}/victims/secret", names(chance, root)))


def anything(chance: random.Random, root: Path) -> Any:
    values: tuple[Any, ...] = (None, True, -1, 1 << 70, 1.5, [], {}, ["x"], {"a": 1}, float("nan"))
    return chance.choice((chance.choice(values), names(chance, root), texts(chance, root)))


def edit_manifest(site: DevelSite, chance: random.Random, root: Path) -> None:
    path = site.tree / ".rocm-sdk/manifest.json"
    content = json.loads(path.read_text())
    for _ in range(chance.choice((1, 1, 3))):
        row = chance.choice(content["entries"])
        match chance.choice(("field", "field", "runtime", "runtime", "known", "top", "archive", "drop")):
            case "field":
                row[chance.randrange(len(row))] = anything(chance, root)
            case "runtime":
                kind = chance.choice(("runtime", "link", "file", "directory"))
                content["entries"].append([names(chance, root), kind, 0, 0, "", texts(chance, root)])
            case "known":
                content["entries"].append(ENTRIES[chance.choice(sorted(ENTRIES))])
            case "top":
                content[chance.choice(sorted(content))] = anything(chance, root)
                break
            case "archive":
                content["archive"] = [anything(chance, root) for _ in range(3)]
            case _:
                content["entries"].remove(row)
    path.write_text(json.dumps(content))


def edit_device_links(site: DevelSite, chance: random.Random, root: Path) -> None:
    path = site.tree / ".rocm-sdk/device_links.json"
    links = json.loads(path.read_text())
    for _ in range(chance.choice((1, 3, 10))):
        links[names(chance, root)] = anything(chance, root)
    path.write_text(json.dumps(links if chance.random() < 0.9 else [links]))


def edit_stamp(site: DevelSite, chance: random.Random, root: Path) -> None:
    path = site.tree / ".rocm-sdk/stamp"
    lines = path.read_text().split("\n")
    lines.insert(chance.randrange(len(lines) + 1), f"{chance.randrange(3)} 0 0\t{names(chance, root)}")
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")


def edit_device_list(site: DevelSite, chance: random.Random, root: Path) -> None:
    """Edit the list of the device package."""
    content = json.loads((site.path / DEVICE_LIST).read_text())
    for _ in range(chance.choice((1, 3))):
        added: Any = {"relpath": names(chance, root), "target": texts(chance, root)}
        content["links"].append(added if chance.random() < 0.8 else anything(chance, root))
    write(site.path / DEVICE_LIST, json.dumps(content).encode())
    touch_record(site)


def touch_record(site: DevelSite) -> None:
    """Write the RECORD of the device package anew, as an installation does."""
    record = site.record("rocm-sdk-device-gfx942")
    write(record, record.read_bytes())


def edit_record(site: DevelSite, chance: random.Random, root: Path) -> None:
    record = site.record(chance.choice(("rocm-sdk-devel", "rocm-sdk-device-gfx942")))
    rows = list(csv.reader(io.StringIO(record.read_text())))
    for _ in range(chance.choice((1, 3))):
        name = names(chance, root)
        beginning = chance.choice(("", "_rocm_sdk_devel/", "../", f"{root}/victims/"))
        rows.append([chance.choice((f"{beginning}{name}", f"{name}/.devel_links/x.json", f"../{DEVICE_LIST}")), "", ""])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write(record, text.getvalue().encode("utf-8", errors="surrogatepass"))


def replace_note(site: DevelSite, chance: random.Random, root: Path) -> None:
    """Replace a note by another kind of file, or by no note at all."""
    path = site.tree / ".rocm-sdk" / chance.choice(NOTES)
    place(path, chance, root)


def replace_directory(site: DevelSite, chance: random.Random, root: Path) -> None:
    """Replace a directory of the tree, the tree, or the directory of our notes by a link to a directory of others."""
    path = site.tree / chance.choice((".rocm-sdk", "bin", "lib", "lib/rocblas/library", "include", "."))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    place(path, chance, root)


def place(path: Path, chance: random.Random, root: Path) -> None:
    path.unlink(missing_ok=True)
    match chance.choice(("link", "link", "dangling", "fifo", "directory", "text", "hard link", "nothing")):
        case "link":
            path.symlink_to(
                root / chance.choice(("victims", "victims/a", "victims/deep", "env/site", "env/site/torch"))
            )
        case "dangling":
            path.symlink_to(root / "victims/new")
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "text":
            path.write_bytes(chance.choice([*TEXTS.values(), FOREIGN.encode()]))
        case "hard link":
            path.hardlink_to(root / "victims/linked")


def replace_lock(site: DevelSite, chance: random.Random, root: Path) -> None:
    """Replace the lock, or a name as a killed writer leaves it."""
    place(site.path / chance.choice((".rocm_sdk_devel.lock", ".rocm_sdk_devel.staging-x")), chance, root)


EDITS: tuple[Callable[[DevelSite, random.Random, Path], None], ...] = (
    *(edit_manifest,) * 4, *(edit_device_links,) * 3, edit_stamp, *(edit_device_list,) * 3, edit_record, edit_record,
    replace_note, replace_note, *(replace_directory,) * 3, replace_lock,
)  # fmt: skip


def attack(root: Path, chance: random.Random) -> str:
    """Attack an environment with an extracted tree, or an adopted environment."""
    return attack_adoption(root, chance) if chance.random() < 0.2 else attack_tree(root, chance)


def attack_tree(root: Path, chance: random.Random) -> str:
    wanted = good_tree(root)
    site = environment(root)
    if call(site, "init").status != 0:
        raise WrongError("the tree cannot be made")
    edits = [chance.choice(EDITS) for _ in range(chance.choice((1, 1, 2, 3)))]
    # Edits that replace files come last: writing to a pipe would wait for ever.
    for edit in sorted(edits, key=EDITS.index):
        # An earlier edit may have taken away what this one changes.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            edit(site, chance, root)
    before = foreign_files(root)
    statuses = []
    for words in chance.choice(
        (
            [("init",)],
            [("path", "--root"), ("init",)],
            [("init", "--check"), ("init",)],
        )
    ):
        answer = call(site, *words)
        require_clear(answer, (0, 1, 2))
        require_same(before, foreign_files(root), f"by {words}")
        statuses.append(answer.status)
    lock = site.path / ".rocm_sdk_devel.lock"
    if lock.is_symlink() or not lock.is_file():  # what an error says to remove
        shutil.rmtree(lock) if lock.is_dir() and not lock.is_symlink() else lock.unlink(missing_ok=True)
    require_good_tree(site, root, wanted)
    return "tree refused" if any(statuses) else "tree accepted"


def attack_adoption(root: Path, chance: random.Random) -> str:
    """Attack the files that an adoption has kept; undoing it puts them back."""
    site = environment(root)
    for name, data in with_metadata("rocm", {"rocm_sdk/__init__.py": b"theirs"}, VERSION).items():
        write(site.path / name, data)
    record = (site.path / ROCM / "RECORD").read_bytes()
    kept = site.path / ROCM / "adopted"
    write(kept / quote(f"{ROCM}/RECORD", safe=""), record)
    for _ in range(chance.choice((1, 2, 4))):
        name = chance.choice(
            (names(chance, root), "rocm_sdk/new.py", "rocm_sdk/a/b.py", "../../bin/rocm-sdk", "../../../../victims/a")
        )
        quoted = quote(name.encode("utf-8", errors="surrogatepass"), safe="") if chance.random() < 0.9 else "%61"
        with contextlib.suppress(OSError, ValueError):
            place(kept / quoted, chance, root) if chance.random() < 0.3 else write(kept / quoted, b"evil")
    if chance.random() < 0.3:
        place(site.path / "rocm_sdk" / "__init__.py.adopting", chance, root)
    if chance.random() < 0.2:
        (site.path / "rocm_sdk").rename(root / "victims/rocm_sdk")
        (site.path / "rocm_sdk").symlink_to(root / "victims/rocm_sdk")

    def undo() -> int:
        from rocm_sdk.adoption import undo
        from rocm_sdk.adoption.distribution import AdoptionError

        try:
            undo(site.path)
        except (AdoptionError, OSError) as error:
            print(f"rocm-sdk: {error}")
            return 1
        return 0

    before = foreign_of_rocm(root)
    answer = in_child(undo)
    require_clear(answer)
    require_same(before, foreign_of_rocm(root, before), "by adopt --undo")
    return "undo refused" if answer.status else "undo accepted"


def foreign_of_rocm(root: Path, known: Container[str] | None = None) -> dict[str, tuple[object, ...]]:
    """Return the files that undoing must leave alone.

    `known` are the names that were there before: undoing may put other names into site-packages.
    """
    theirs = (f"env/site/{ROCM}", "env/site/rocm_sdk")
    found = {name: facts for name, facts in foreign_files(root).items() if not name.startswith(theirs)}
    is_put_back = (name for name in found if known is not None and name not in known and name.startswith("env/site/"))
    return {name: found[name] for name in found.keys() - {*is_put_back}}


if __name__ == "__main__":
    sys.exit(main(attack, __doc__ or ""))
