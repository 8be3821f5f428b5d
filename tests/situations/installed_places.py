"""The kinds of places that packages are installed into, each with the SDK of `sdk_environment`, made and set back."""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from environments import empty_environment, environment_with_pip
from other_user import USER, OtherUser
from programs import completed
from sample_site import clean_environment
from sdk_environment import OF_THIS_MACHINE

import rocm_sdk

_WANTED = ("rocm-sdk-core==7.10.0", "rocm-sdk-libraries==7.10.0", "rocm-profiler==7.10.0")
LIBRARIES = 4  # of these packages
_MINOR = f"python3.{sys.version_info.minor}"
NOWHERE = "http://127.0.0.1:9/simple/"  # no server listens there


class Asked(NamedTuple):
    """The answer of `rocm-sdk test`: errors and warnings, and the number of libraries that load."""

    problems: list[dict[str, Any]]
    loaded: int


class Place:
    """A directory that has the packages of an SDK, and the interpreter that imports them."""

    def __init__(self, python: Path, top: Path, site: Path, variables: dict[str, str], user: int | None = None) -> None:
        """Take the place of an installation; `top` is the directory that an installer changes.

        `user` owns the place and runs everything; None is the user who runs the tests.
        """
        self.python, self.top, self.site = python, top, site
        self._user = user
        self._variables = clean_environment() | {
            "PATH": os.pathsep.join((str(python.parent), str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(top.parent / "home"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_RETRIES": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "UV_NO_CONFIG": "1",
            "UV_HTTP_RETRIES": "0",
            "UV_CACHE_DIR": str(top.parent / "uv-cache"),
            **variables,
        }
        (top.parent / "home").mkdir()
        self._kept = top.parent / "kept"

    def keep(self) -> "Place":
        """Keep a copy of the place, which is set back to it."""
        for path in self.site.glob("_rocm_sdk_*/bin/*"):
            path.chmod(0o755)  # make_wheel keeps no modes
        self.be_owned()
        subprocess.run(["cp", "-a", self.top, self._kept], check=True)
        return self

    def be_owned(self) -> None:
        """Give all of the place to its user."""
        if self._user is not None:
            places = [self.top.parent / "home", self.top]
            subprocess.run(["chown", "-Rh", f"{self._user}:{self._user}", *places], check=True)
            os.chown(self.top.parent, self._user, self._user)

    def set_back(self) -> None:
        shutil.rmtree(self.top)
        subprocess.run(["cp", "-a", self._kept, self.top], check=True)

    def run(self, command: str | list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        words = command if isinstance(command, list) else ["sh", "-c", command]
        become = {} if self._user is None else {"user": self._user, "group": self._user, "extra_groups": []}
        return completed(words, env=self._variables | variables, cwd=self.top.parent, timeout=120, **become)

    def test(self) -> Asked:
        """Ask `rocm-sdk test` about the place; an index is not reached, as packages would come from nowhere."""
        words = [str(self.python), "-m", "rocm_sdk", "test", "--json", "--only", "packages,files,libraries"]
        words += ["--skip", "E-PKG-006"]  # of where this package itself is installed
        done = self.run(words, ROCM_SDK_INDEX=NOWHERE)
        assert done.stdout, done.stderr
        document = json.loads(done.stdout)
        problems = [each for each in document["problems"] if each["severity"] != "note"]
        counts = (each["count"] - each["failed"] for each in document["subjects"] if each["subject"] == "libraries")
        return Asked([each for each in problems if each["code"] not in OF_THIS_MACHINE], sum(counts))

    def contents(self) -> set[str]:
        """Return the digests of all files."""
        files = (path for path in self.top.rglob("*") if path.is_file() and not path.is_symlink())
        return {sha256(path.read_bytes()).hexdigest() for path in files if path.suffix != ".pyc"}


def _tools(folder: Path) -> str:
    """Make a directory with this package alone, and return its path."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "rocm_sdk").symlink_to(Path(rocm_sdk.__file__).parent)
    return str(tools)


def _installed(place: Place, *installer: str, index: str) -> Place:
    done = place.run([*installer, "--index-url", index, "--no-deps", *_WANTED])
    assert done.returncode == 0, done.stderr
    return place.keep()


def venv_of_pip(folder: Path, index: str) -> Place:
    python = environment_with_pip(folder / "venv")
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    place = Place(python, folder / "venv", site, {"PYTHONPATH": _tools(folder)})
    return _installed(place, str(python), "-m", "pip", "install", index=index)


def venv_of_uv(folder: Path, index: str) -> Place:
    python = empty_environment(folder / "venv")
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    place = Place(python, folder / "venv", site, {"PYTHONPATH": _tools(folder)})
    return _installed(place, "uv", "pip", "install", "--python", str(python), index=index)


def user_site(folder: Path, index: str) -> Place:
    """Return a place in the user's site of the interpreter itself, which is no virtual environment."""
    base = Path(sys.base_prefix, "bin", _MINOR)
    python = str(base)
    if completed([python, "-c", "import pip"]).returncode != 0:
        pytest.skip(f"{python} has no pip, with which packages are installed for a user")
    (folder / "base").mkdir()
    site = folder / "base/lib" / _MINOR / "site-packages"
    variables = {"PYTHONPATH": _tools(folder), "PYTHONUSERBASE": str(folder / "base")}
    place = Place(base, folder / "base", site, variables | {"PIP_BREAK_SYSTEM_PACKAGES": "1"})
    return _installed(place, python, "-m", "pip", "install", "--user", index=index)


def target_of_pip(folder: Path, index: str) -> Place:
    python = environment_with_pip(folder / "venv")
    (folder / "target").mkdir()
    variables = {"PYTHONPATH": f"{_tools(folder)}:{folder}/target"}
    place = Place(python, folder / "target", folder / "target", variables)
    return _installed(place, str(python), "-m", "pip", "install", "--target", str(place.site), index=index)


def target_of_uv(folder: Path, index: str) -> Place:
    python = empty_environment(folder / "venv")
    (folder / "target").mkdir()
    variables = {"PYTHONPATH": f"{_tools(folder)}:{folder}/target"}
    place = Place(python, folder / "target", folder / "target", variables)
    words = ("uv", "pip", "install", "--python", str(python), "--target", str(place.site))
    return _installed(place, *words, index=index)


def prefix_of_pip(folder: Path, index: str) -> Place:
    python = environment_with_pip(folder / "venv")
    (folder / "prefix").mkdir()
    site = folder / "prefix/lib" / _MINOR / "site-packages"
    place = Place(python, folder / "prefix", site, {"PYTHONPATH": f"{_tools(folder)}:{site}"})
    return _installed(place, str(python), "-m", "pip", "install", "--prefix", str(place.top), index=index)


def unpacked_zipapp(folder: Path, index: str) -> Place:
    """Return the directory that a zipapp (shiv) unpacks its site-packages into."""
    python = environment_with_pip(folder / "venv")
    site = folder / "cache/app_0123/site-packages"
    site.mkdir(parents=True)
    place = Place(python, folder / "cache", site, {"PYTHONPATH": f"{_tools(folder)}:{site}"})
    return _installed(place, str(python), "-m", "pip", "install", "--target", str(site), index=index)


def target_of_a_user(folder: Path, index: str, other: OtherUser) -> Place:
    (folder / "target").mkdir()
    place = Place(other.python, folder / "target", folder / "target", {"PYTHONPATH": f"{folder}/target"}, user=USER)
    installer = [sys.executable, "-m", "pip", "install", "--target", str(place.site), "--no-deps"]
    done = completed([*installer, "--index-url", index, *_WANTED])
    assert done.returncode == 0, done.stderr
    return place.keep()


PLACES = {
    "venv": venv_of_pip,
    "venv of uv": venv_of_uv,
    "user": user_site,
    "target": target_of_pip,
    "target of uv": target_of_uv,
    "prefix": prefix_of_pip,
    "zipapp": unpacked_zipapp,
}
