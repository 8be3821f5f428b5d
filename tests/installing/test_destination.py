"""Rights and room at the destination of `rocm-sdk install`, before anything is fetched."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import empty_environment
from other_user import OtherUser
from own_mounts import mounted
from package_index import write_wheel
from sample_devel import as_root, make_wheel
from sample_site import clean_environment

sys.path.append(str(Path(__file__).parent))  # modules beside this file are imported by name

from asked_server import served, write_pages, write_sdk

Run = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.slow


def _environment_of(user: OtherUser, place: Path) -> tuple[Path, Path]:
    """Make an environment with pip that others can read; return its interpreter and the place of its packages."""
    subprocess.run([user.python, "-m", "venv", "--without-pip", place], check=True)
    (site,) = place.glob("lib/python3*/site-packages")
    pip = importlib.util.find_spec("pip")
    assert pip is not None and pip.origin is not None
    shutil.copytree(Path(pip.origin).parent, site / "pip")
    return place / "bin/python", site


def _as_user(user: OtherUser, place: Path, index: str, *words: str, **variables: str) -> tuple[int, str]:
    (place / "home").mkdir(mode=0o777, exist_ok=True)
    (place / "home").chmod(0o777)
    settings = {"ROCM_SDK_INDEX": index, "HOME": str(place / "home")}
    settings |= {"UV_CACHE_DIR": str(place / "home/uv"), "PATH": clean_environment()["PATH"]} | variables
    done = user.run("-m", "rocm_sdk", "install", "sdk", "--gpu", "gfx1100", *words, **settings)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("installer", "owner", "name"), [("pip", 0, "root"), ("uv", 54321, "user 54321")])
def test_an_environment_of_another_user(  # noqa: PLR0917 - the form
    other_user: OtherUser, open_directory: Path, whl_next: str, installer: str, owner: int, name: str
) -> None:
    """Nothing is asked of the index. An environment of one's own takes the packages."""
    python, site = _environment_of(other_user, open_directory / "theirs")
    os.chown(site, owner, owner)
    words = ("--yes", "--installer", installer, "--python", str(python))
    status, said = _as_user(other_user, open_directory, "http://127.0.0.1:9/simple/", *words)
    assert status == 1
    assert said == (
        f"rocm-sdk: nobody may not install there: {site} belongs to {name}: run it as that user\n"
        "  fix: make an environment: python3 -m venv rocm && . rocm/bin/activate, and run the command again\n"
    )
    status, said = _as_user(other_user, open_directory, whl_next, "--print", *words[1:])
    assert status == 0
    assert "may not install there" in said
    (open_directory / "own").mkdir(mode=0o777)
    (open_directory / "own").chmod(0o777)
    other_user.run("-m", "venv", "--without-pip", open_directory / "own/rocm", check=True)
    own = open_directory / "own/rocm/bin/python"
    _as_user(other_user, open_directory, whl_next, "--yes", "--installer", "uv", "--python", str(own))
    assert list(open_directory.glob("own/rocm/lib/python3*/site-packages/rocm_sdk_core-10.0.1.dist-info"))


def test_what_the_kernel_allows(other_user: OtherUser, open_directory: Path, whl_next: str) -> None:
    """A directory of a group, and a place that pip's own setting names, are written to."""
    python, site = _environment_of(other_user, open_directory / "theirs")
    words = ("--dry-run", "--installer", "pip", "--python", str(python))
    status, said = _as_user(other_user, open_directory, whl_next, *words, PIP_TARGET=str(open_directory / "home/x"))
    assert (status, "may not install" in said) == (0, False)
    assert _as_user(other_user, open_directory, whl_next, *words)[0] == 1
    os.chown(site, 0, 65534)
    site.chmod(0o775)
    assert _as_user(other_user, open_directory, whl_next, *words)[0] == 0


@as_root
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_read_only_file_system(install: Run, python: Path, installer: str) -> None:
    (site,) = python.parents[1].glob("lib/python3*/site-packages")
    with mounted(site, "--bind", str(site)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(site)], check=True)
        words = ("sdk", "--yes", "--installer", installer)
        said = install(*words, status=1, python=python, ROCM_SDK_INDEX="http://127.0.0.1:9/simple/")
    assert f"root may not install there: {site} is on a read-only file system" in said.stderr


@as_root
@pytest.mark.parametrize(("installer", "shape"), [("pip", "index"), ("pip", "wheel"), ("uv", "wheel")])
def test_wheels_that_have_no_room(
    install: Run, tmp_path: Path, mounted: Callable[[Path, str], None], installer: str, shape: str
) -> None:
    """The sizes of wheels on this machine are known, and the plan warns of them. The sizes of others are not known."""
    python = empty_environment(tmp_path / "environment")
    (site,) = (tmp_path / "environment/lib").glob("python3*/site-packages")
    version, device, thing = "2.9.0+rocm10.0.0", "amd-torch-device-gfx1100", "sdk"
    packages = tmp_path / "packages"
    write_sdk(packages)
    if shape == "index":
        make_wheel(packages, "rocm-sdk-core", {"core_files/random.bin": os.urandom(1 << 20)}, "10.0.0")
    else:
        headers = f'Provides-Extra: device-gfx1100\nRequires-Dist: {device}=={version}; extra == "device-gfx1100"\n'
        files = {"torch_files/random.bin": os.urandom(1 << 20)}
        thing = str(make_wheel(tmp_path / "wheels", "torch", files, version, headers))
        write_wheel(packages, device, version)
    write_pages(packages)
    index, words = f"{packages.as_uri()}/simple", (thing, "--print", "--installer", installer)
    warns = f", and {site} has room for "
    assert warns not in install(*words, python=python, ROCM_SDK_INDEX=index).stderr
    mounted(site, "size=900k")
    assert warns in install(*words, python=python, ROCM_SDK_INDEX=index).stderr
    with served(packages) as server:
        index = f"{server.root}/simple/"
        assert warns not in install("sdk", *words[1:], python=python, ROCM_SDK_INDEX=index).stderr
