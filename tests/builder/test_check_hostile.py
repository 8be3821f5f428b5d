"""`rocm-sdk-build check` of damaged and hostile packages, and of what else lies beside them."""

import io
import json
import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from checked_packages import VERSION, check, path_of, problems, replaced, rewritten, the_problem
from other_user import OtherUser

from rocm_sdk_build.checking.package_list import ELSEWHERE


def test_one_is_cut(dist: Path) -> None:
    core = next(dist.glob("rocm_sdk_core-*.whl"))
    core.write_bytes(core.read_bytes()[:-100])
    _, what, fix = next(each for each in problems(dist) if each[0] == core.name)
    assert "is damaged: no usable zip file" in what
    assert "--only core " in fix


def test_a_flipped_byte(dist: Path) -> None:
    """In the data of a member: neither names nor sizes change."""
    core = next(dist.glob("rocm_sdk_core-*.whl"))
    with zipfile.ZipFile(core) as archive:
        info = archive.getinfo("_rocm_sdk_core/lib/libamdhip64.so.7")
    data = bytearray(core.read_bytes())
    data[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 1
    core.write_bytes(data)
    file, what, fix = the_problem(dist)
    assert file == core.name
    assert "is damaged" in what
    assert "--only core " in fix


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"sha256=", b"sha256=A", "is not what RECORD says"),
        (b"_rocm_sdk_libraries/__init__.py,", b"other.py,", "RECORD does not list its files"),
        (
            b"rocm_sdk_libraries/_dist_info.py,sha256",
            b"rocm_sdk_libraries/_dist_info.py,md5",
            "is not what RECORD says",
        ),
        (b",0\n", b",1\n", "is not what RECORD says: it has another size"),
        (b"_rocm", b"\xff\xfe", "is damaged"),
    ],
)
def test_a_record_that_lies(dist: Path, old: bytes, new: bytes, told: str) -> None:
    path = path_of(dist, "rocm_sdk_libraries")
    rewritten(path, replaced("dist-info/RECORD", old, new), is_recorded=False)
    file, what, fix = the_problem(dist)
    assert (file, told in what) == (path.name, True), what
    assert "--only libraries " in fix


@pytest.mark.parametrize(
    ("name", "mode", "told"),
    [
        ("../../evil", stat.S_IFREG | 0o644, "its member '../../evil' leads out of it"),
        ("/evil", stat.S_IFREG | 0o644, "leads out of it"),
        ("_rocm_sdk_libraries/x", stat.S_IFREG | 0o4755, "would run with the rights of another user (mode 4755)"),
        ("_rocm_sdk_libraries/x", stat.S_IFLNK | 0o777, "its member '_rocm_sdk_libraries/x' is not a file"),
        ("_rocm_sdk_libraries/x/", stat.S_IFDIR | 0o755, "is not a file"),
    ],
)
def test_hostile_members(dist: Path, name: str, mode: int, told: str) -> None:
    path = path_of(dist, "rocm_sdk_libraries")

    def change(members: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        members[name] = (info, b"/etc/passwd")

    rewritten(path, change)
    before = sorted(dist.parent.rglob("*"))
    assert told in the_problem(dist)[1]
    assert sorted(dist.parent.rglob("*")) == before


def test_a_bomb(dist: Path) -> None:
    """A member that claims more than it can hold."""
    path = path_of(dist, "rocm_sdk_libraries")
    rewritten(path, lambda members: members.update({"x/y": (zipfile.ZipInfo("x/y"), bytes(1 << 20))}))
    data = path.read_bytes()
    at = data.rindex(b"PK\1\2", 0, data.rindex(b"x/y"))
    path.write_bytes(data[: at + 24] + (0xFFFFFFF0).to_bytes(4, "little") + data[at + 28 :])
    assert "its member 'x/y' claims 4294967280 bytes, more than it can hold" in the_problem(dist)[1]


def test_a_selector_that_is_a_bomb(dist: Path) -> None:
    path = dist / f"rocm-{VERSION}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(f"rocm-{VERSION}/selector.json")
        info.size = 1 << 25
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    file, what, fix = the_problem(dist)
    assert file == path.name
    assert "has more than 16777216 bytes" in what
    assert "--only rocm " in fix


def test_what_else_lies_there(dist: Path) -> None:
    """Files of others, links, pipes, directories: each is named, none is waited for or followed."""
    victim = dist.parent / "victim.whl"
    shutil.copy(next(dist.glob("rocm_sdk_core-*.whl")), victim)
    (dist / "slurm-17.out").write_text("a log\n")
    (dist / "torch-2.13.0-cp312-cp312-linux_x86_64.whl").write_bytes(b"")
    (dist / "odd.whl").write_bytes(b"")
    (dist / "rocm_sdk_devel-9.9-py3-none-any.whl").symlink_to(victim)
    os.mkfifo(dist / "rocm_sdk_core-9.9-py3-none-any.whl")
    (dist / "empty").mkdir()
    found = {file: what for file, what, _ in problems(dist)}
    assert found.keys() == {
        *("slurm-17.out", "torch-2.13.0-cp312-cp312-linux_x86_64.whl", "odd.whl", "empty"),
        *("rocm_sdk_devel-9.9-py3-none-any.whl", "rocm_sdk_core-9.9-py3-none-any.whl"),
    }
    assert found["slurm-17.out"] == "is neither a package nor package metadata"
    assert found["torch-2.13.0-cp312-cp312-linux_x86_64.whl"] == "belongs to no SDK"
    assert found["rocm_sdk_devel-9.9-py3-none-any.whl"] == "is a symbolic link"
    assert found["rocm_sdk_core-9.9-py3-none-any.whl"] == "is not a file"
    assert found["empty"] == "is a directory without packages"


@pytest.mark.slow
def test_a_link_to_a_wheel(dist: Path) -> None:
    """The fix puts the wheel in the place of the link.

    A link that leads to no file can only be moved away.
    """
    wheel = path_of(dist, "rocm_sdk_core")
    wheel.rename(dist.parent / "a wheel")
    wheel.symlink_to("../a wheel")
    (dist / "latest").symlink_to(".")
    found = {file: (what, fix) for file, what, fix in problems(dist)}
    assert found["latest"] == ("is a symbolic link", ELSEWHERE)
    what, fix = found[wheel.name]
    assert what == "is a symbolic link"
    subprocess.run(["sh", "-c", fix], check=True)
    (dist / "latest").unlink()
    assert problems(dist) == []


@pytest.mark.slow
def test_a_directory_that_may_not_be_read(other_user: OtherUser, whole: Path, open_directory: Path) -> None:
    """A directory such as lost+found is reported, and does not end the check."""
    dist = Path(shutil.copytree(whole, open_directory / "dist"))
    (dist / "lost+found").mkdir(mode=0o700)
    done = other_user.run("-m", "rocm_sdk_build", "check", dist)
    told = f"{dist}/lost+found: cannot be read: Permission denied\n  fix: give it to the user who checks it, or remove"
    assert done.returncode == 1
    assert told in done.stdout


def test_names_are_harmless_on_a_terminal(dist: Path) -> None:
    (dist / "a\x1b]0;title\x07.whl").write_bytes(b"")
    done = check(dist)
    assert (done.returncode, "\x1b" in done.stdout, "\\x1b" in done.stdout) == (1, False, True)


def test_a_file_that_another_user_keeps_to_himself(dist: Path, other_user: OtherUser, open_directory: Path) -> None:
    place = Path(shutil.copytree(dist, open_directory / "dist"))
    core = next(place.glob("rocm_sdk_core-*.whl"))
    core.chmod(0)
    done = other_user.run("-m", "rocm_sdk_build", "check", place, "--json", "--scratch", "/tmp")
    found = [(each["file"], each["what"]) for each in json.loads(done.stdout)["problems"]]
    assert (done.returncode, found) == (1, [(str(core), "cannot be read: Permission denied")])
