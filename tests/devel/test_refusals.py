"""Places where a tree cannot be made: said before anything is written, or nothing of it is left."""

import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused
from other_user import USER, OtherUser
from own_mounts import mounted
from sample_devel import DevelSite, as_root, member, sample_members

TREE = "_rocm_sdk_devel"


@pytest.fixture
def mount_small(tmp_path: Path) -> Iterator[Callable[[str], DevelSite]]:
    """Yield a function that mounts a small tmpfs with these options, and makes a site-packages directory of it."""
    place = tmp_path / "small"
    place.mkdir()

    with ExitStack() as block:

        def mount(options: str) -> DevelSite:
            block.enter_context(mounted(place, "-t", "tmpfs", "-o", options, "none"))
            return DevelSite(place / "site-packages")

        yield mount


def refused(site: DevelSite, *said: str) -> None:
    before = site.names()
    result = site.command("init", check=False)
    assert (result.returncode, result.stdout) == (1, "")
    for text in said:
        assert text in result.stderr
    assert site.names() - {".rocm_sdk_devel.lock"} == before


@as_root
def test_a_lack_of_space_shows_before(mount_small: Callable[[str], DevelSite]) -> None:
    site = mount_small("size=5m")
    site.install_devel(sample_members())
    refused(site, "not enough disk space for the development tree", "MB are free", "--store DIR")


@as_root
def test_the_disk_fills_up(mount_small: Callable[[str], DevelSite]) -> None:
    """The size of the content of a compressed archive is not known before."""
    site = mount_small("size=3m")
    blocks = [member(f"{TREE}/{i}", bytes(300_000)) for i in range(30)]
    record = site.install_devel([member(f"{TREE}/__init__.py"), *blocks], "_devel.tar.xz")
    before = record.stat().st_size
    refused(site, "not enough disk space for the development tree", "it is full")
    assert record.stat().st_size < before + 100


@pytest.mark.parametrize(
    ("limits", "fix"),
    [
        ((100_000, resource.RLIM_INFINITY), "  fix: ulimit -f unlimited\n"),
        ((100_000, 100_000), "  fix: Raise the hard limit where it is set"),
    ],
    ids=["soft", "hard"],
)
def test_a_file_that_is_larger_than_the_process_may_write(
    devel_site: DevelSite, limits: tuple[int, int], fix: str
) -> None:
    """The limit is lower than the file and higher than what is said."""
    devel_site.install_devel([member(f"{TREE}/__init__.py"), member(f"{TREE}/large", bytes(300_000))])
    before = devel_site.names()
    result = devel_site.command(
        "init", check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    )
    assert_refused(result, 1, "a file of it is larger than this process may write", fix)
    assert devel_site.names() - {".rocm_sdk_devel.lock"} == before
    devel_site.command("init")


@as_root
def test_no_inodes(mount_small: Callable[[str], DevelSite]) -> None:
    site = mount_small("size=50m,nr_inodes=200")
    site.install_devel([member(f"{TREE}/__init__.py"), *(member(f"{TREE}/{i}") for i in range(300))])
    refused(site, "not enough disk space for the development tree", "it has no inodes left")
    site.path.parent.joinpath("filler").mkdir()
    with pytest.raises(OSError, match="No space left"):
        for i in range(200):
            site.path.parent.joinpath("filler", str(i)).touch()
    result = site.command("init", check=False)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


@as_root
@pytest.mark.parametrize("closed", [".", "rocm_sdk_devel", "rocm_sdk_devel-7.10.0.dist-info"])
def test_a_directory_of_another_user(open_site: DevelSite, other_user: OtherUser, closed: str) -> None:
    open_site.install_sdk()
    for path in (open_site.path, *open_site.path.rglob("*")):
        os.chown(path, USER, USER)
    os.chown(open_site.path / closed, 0, 0)
    before = open_site.names()
    result = other_user.run("-m", "rocm_sdk", "init", **open_site.variables)
    assert_refused(result, 1, f"cannot write to {os.path.normpath(open_site.path / closed)}", "virtual environment")
    assert open_site.names() == before


@as_root
def test_as_an_unprivileged_owner(open_site: DevelSite, other_user: OtherUser) -> None:
    open_site.install_sdk()
    for path in (open_site.path, *open_site.path.rglob("*")):
        os.chown(path, USER, USER)
    result = other_user.run("-m", "rocm_sdk", "init", **open_site.variables)
    assert (result.returncode, result.stdout) == (0, f"{open_site.tree}\n"), result.stderr
    assert {path.lstat().st_uid for path in open_site.tree.rglob("*")} == {USER}


@as_root
def test_a_read_only_file_system(mount_small: Callable[[str], DevelSite]) -> None:
    """Root is refused there too."""
    site = mount_small("size=20m")
    site.install_sdk()
    subprocess.run(["mount", "-o", "remount,ro", str(site.path.parent)], check=True)
    before = site.names()
    assert_failed(site.command("init", check=False), 1, "cannot write to")
    assert site.names() == before


def test_record_that_changes_meanwhile(devel_site: DevelSite) -> None:
    """The installer pip takes no lock: RECORD is looked at once more before it is replaced."""
    code = """
    import sys
    from rocm_sdk.devel.tree_record import Record
    from rocm_sdk.errors import DevelopmentTreeError
    record = Record(sys.argv[1])
    with open(sys.argv[1], "a") as file:
        file.write("another/file,,\\n")
    try:
        record.require(["x"], sys.argv[2])
    except DevelopmentTreeError as error:
        print(error.message)
    """
    path = devel_site.record("rocm-sdk-devel")
    command = [sys.executable, "-c", textwrap.dedent(code), str(path), str(devel_site.path)]
    said = subprocess.check_output(command, env=devel_site.environment(), text=True)
    assert "was changed meanwhile (is pip running?)" in said
    assert path.read_text().endswith("another/file,,\n")
