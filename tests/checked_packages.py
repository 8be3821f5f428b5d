"""Packages that several machines have made, what `rocm-sdk-build check` says of them, and wheels with other members."""

import base64
import csv
import hashlib
import io
import json
import subprocess
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from artifact_tree import usual_tree
from build_command import build_command

from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.wish import Wish

VERSION = "7.10.0"
FAMILIES = "gfx1100,gfx942"
Result = subprocess.CompletedProcess[str]


def built(root: Path, output: Path, **changes: Any) -> Path:
    wish = Wish([root], output, VERSION, linux_families=FAMILIES, is_checked=False, dist=output)._replace(**changes)
    build(wish, read_rules())
    return output


def make_whole(directory: Path) -> None:
    directory.mkdir()
    built(usual_tree(directory / "artifacts").root, directory / "dist")


def check(*words: object) -> Result:
    return build_command("check", *words)


def problems(dist: Path) -> list[tuple[str, str, str]]:
    """Return the problems of `check`: the file, the fault and the fix of each."""
    done = check(dist, "--json")
    assert "Traceback" not in done.stderr, done.stderr
    document = json.loads(done.stdout)
    assert done.returncode == (1 if document["problems"] else 0)
    assert not list(dist.glob(".rocm-sdk-build-*"))
    for each in document["problems"]:
        assert each.keys() == {"file", "what", "fix"}
        assert all(each.values()), each
    return [(str(Path(each["file"]).relative_to(dist)), each["what"], each["fix"]) for each in document["problems"]]


def the_problem(dist: Path) -> tuple[str, str, str]:
    (found,) = problems(dist)
    return found


def path_of(dist: Path, name: str) -> Path:
    (path,) = dist.glob(f"{name}-*")
    return path


def rewritten(
    wheel: Path, change: Callable[[dict[str, tuple[zipfile.ZipInfo, bytes]]], None], *, is_recorded: bool = True
) -> None:
    """Change the members of a wheel, and write its RECORD anew if `is_recorded` asks for that."""
    with zipfile.ZipFile(wheel) as archive:
        members = {each.filename: (each, archive.read(each)) for each in archive.infolist()}
    change(members)
    (record,) = (name for name in members if name.endswith("dist-info/RECORD"))
    if is_recorded:
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        for name, (_, data) in members.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            writer.writerow((name, "", "") if name == record else (name, f"sha256={digest}", len(data)))
        members[record] = (members[record][0], rows.getvalue().encode())
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info, data in members.values():
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)


def replaced(name: str, old: bytes, new: bytes) -> Callable[[dict[str, tuple[zipfile.ZipInfo, bytes]]], None]:
    def change(members: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> None:
        (found,) = (each for each in members if each.endswith(name))
        info, data = members[found]
        assert old in data
        members[found] = (info, data.replace(old, new))

    return change
