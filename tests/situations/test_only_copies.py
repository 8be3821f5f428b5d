"""Places of packages times damages: a fix that is printed loses nothing where it fails, and mends where it works."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from environments import empty_environment, environment_with_pip
from of_packages import killed_upgrade
from other_user import USER, OtherUser, open_directory
from own_mounts import mounted
from programs import completed
from sample_site import clean_environment
from sdk_environment import OF_THIS_MACHINE, served
from situations import BLAS, CORE, HIP, HSA, METADATA, compile_to, link_to, remove, replace_by

import rocm_sdk

pytestmark = pytest.mark.slow

_WANTED = ("rocm-sdk-core==7.10.0", "rocm-sdk-libraries==7.10.0", "rocm-profiler==7.10.0")
LIBRARIES = 4  # of these packages
_MINOR = f"python3.{sys.version_info.minor}"
_PIP = ("-m", "pip", "install")
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


class Kind(NamedTuple):
    """A kind of place, and how packages come into it."""

    installer: str = "pip"
    top: str = "venv"  # below the folder
    site: str = ""  # below `top`
    option: str = ""  # --target, --prefix or --user


_SITE = f"lib/{_MINOR}/site-packages"
PLACES = {
    "venv": Kind(site=_SITE),
    "venv of uv": Kind("uv", site=_SITE),
    "user": Kind("pip", "base", _SITE, "--user"),
    "target": Kind("pip", "target", "", "--target"),
    "target of uv": Kind("uv", "target", "", "--target"),
    "prefix": Kind("pip", "prefix", _SITE, "--prefix"),
    "zipapp": Kind("pip", "cache", "app_0123/site-packages", "--target"),  # as shiv unpacks one
}


def made(folder: Path, index: str, kind: Kind) -> Place:
    """Make a place of a kind, with the packages."""
    top = folder / kind.top
    site = top / kind.site
    variables = {"PYTHONPATH": _tools(folder) + (f":{site}" if kind.option in {"--target", "--prefix"} else "")}
    if kind.option == "--user":  # of the interpreter itself, which is no virtual environment
        python = Path(sys.base_prefix, "bin", _MINOR)
        if completed([python, "-c", "import pip"]).returncode != 0:
            pytest.skip(f"{python} has no pip, with which packages are installed for a user")
        variables |= {"PYTHONUSERBASE": str(top), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    else:
        python = (empty_environment if kind.installer == "uv" else environment_with_pip)(folder / "venv")
    if kind.option:
        (site if kind.option == "--target" else top).mkdir(parents=True)
    words = {"--target": [str(site)], "--prefix": [str(top)]}.get(kind.option, [])
    command = ["uv", "pip", "install", "--python", str(python)] if kind.installer == "uv" else [str(python), *_PIP]
    place = Place(python, top, site, variables)
    option = [kind.option] if kind.option else []
    done = place.run([*command, *option, *words, "--index-url", index, "--no-deps", *_WANTED])
    assert done.returncode == 0, done.stderr
    return place.keep()


def target_of_a_user(folder: Path, index: str, other: OtherUser) -> Place:
    (folder / "target").mkdir()
    place = Place(other.python, folder / "target", folder / "target", {"PYTHONPATH": f"{folder}/target"}, user=USER)
    installer = [sys.executable, "-m", "pip", "install", "--target", str(place.site), "--no-deps"]
    done = completed([*installer, "--index-url", index, *_WANTED])
    assert done.returncode == 0, done.stderr
    return place.keep()


# ---- places times damages

Damage = Callable[[Place], object]

DAMAGES: dict[str, Damage] = {
    "core was interrupted": lambda place: killed_upgrade(place, "core"),
    "libraries were interrupted": lambda place: killed_upgrade(place, "libraries"),
    "the metadata of core is lost": lambda place: remove(place.site / METADATA["core"]),
    "the metadata of libraries is lost": lambda place: remove(place.site / METADATA["libraries"]),
    "RECORD of core is no text": lambda place: (place.site / METADATA["core"] / "RECORD").write_bytes(b"\xff\xfe\0"),
    "the metadata of core is a file": lambda place: replace_by(place.site / METADATA["core"], Path.touch),
    "HIP is missing": lambda place: (place.site / HIP).unlink(),
    "HIP is a FIFO": lambda place: replace_by(place.site / HIP, os.mkfifo),
    "HIP is a directory": lambda place: replace_by(place.site / HIP, Path.mkdir),
    "rocBLAS is a link that leads nowhere": lambda place: link_to(place.site / BLAS, "/nowhere/librocblas.so.5"),
    "the libraries are missing": lambda place: remove(place.site / BLAS.partition("/")[0]),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest.fixture(scope="module")
def places(index: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Place]]:
    kept: dict[str, Place] = {}

    def place(name: str) -> Place:
        if name not in kept:
            kept[name] = made(tmp_path_factory.mktemp("place"), index, PLACES[name])
        kept[name].set_back()
        return kept[name]

    yield place
    for each in kept.values():
        shutil.rmtree(each.top.parent)


def fail_and_mend(place: Place, index: str, damage: Damage) -> None:
    damage(place)
    place.be_owned()
    before, damaged = place.contents(), place.test()
    fixes = [found["fix"] for found in damaged.problems]
    assert fixes and all(found["is_command"] for found in damaged.problems), damaged.problems
    for fix in fixes:  # no index answers
        assert place.run(fix).returncode != 0
    assert before <= place.contents(), "the fix fails, and what it replaces is lost"
    place.set_back()
    damage(place)
    place.be_owned()
    for fix in fixes:
        done = place.run(fix.replace(NOWHERE, index))
        assert done.returncode == 0, f"{fix}\n{done.stderr}"
    mended = place.test()
    assert mended.problems == []
    assert mended.loaded == LIBRARIES >= damaged.loaded


# Each damage where packages lie in a directory of their own, and of each form of fix one elsewhere.
OF_EACH = ("core was interrupted", "the metadata of core is lost", "HIP is a FIFO", "the libraries are missing")


@pytest.mark.parametrize(
    ("name", "damage"), [(name, damage) for name in PLACES for damage in (DAMAGES if name == "target" else OF_EACH)]
)
def test_a_fix_loses_nothing(places: Callable[[str], Place], index: str, name: str, damage: str) -> None:
    fail_and_mend(places(name), index, DAMAGES[damage])


# ---- what may be a user's own

_MINE = "what this user has made"


def _own_build(place: Place, name: str) -> None:
    """Put a library of the user's own into the place of one; its end tells it from others."""
    compile_to(place.site / name, "int mine;")
    with (place.site / name).open("a") as file:
        file.write(_MINE + name)


def _killed_with_file(place: Place, name: str) -> None:
    (place.site / name).write_text(_MINE + name)
    killed_upgrade(place, "core")


OWN: dict[str, Damage] = {
    "HIP": lambda place: _own_build(place, HIP),
    "two libraries, and a file is missing": lambda place: (
        *(_own_build(place, each) for each in (HIP, HSA)),
        (place.site / f"{CORE}/__init__.py").unlink(),
    ),
    "a file in the place of core": lambda place: replace_by(place.site / CORE, lambda path: path.write_text(_MINE)),
    "a further file in a killed upgrade": lambda place: _killed_with_file(place, f"{CORE}/lib/mine.so"),
    "a changed file in a killed upgrade": lambda place: _killed_with_file(place, "rocm_sdk_core/_cli.py"),
}


def own_files(place: Place) -> list[bytes]:
    files = (path.read_bytes() for path in place.top.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(content for content in files if _MINE.encode() in content)


@pytest.mark.parametrize("name", ["venv", "target", "target of uv"])
@pytest.mark.parametrize("damage", OWN)
def test_what_may_be_a_users_own_stays(places: Callable[[str], Place], index: str, name: str, damage: str) -> None:
    """Beside the place that the package takes again, under a name that the fix says."""
    place = places(name)
    OWN[damage](place)
    own = own_files(place)
    assert own
    fixes = [found["fix"] for found in place.test().problems]
    (keeping, *_) = (fix for fix in fixes if ".rocm-sdk-old" in fix)
    assert place.run(keeping).returncode != 0  # no index answers
    assert {*own} <= {*own_files(place)}
    place.set_back()
    OWN[damage](place)
    for fix in (each for each in fixes if " install " in each):
        done = place.run(fix.replace(NOWHERE, index))
        assert done.returncode == 0, f"{fix}\n{done.stderr}"
    assert own_files(place) == own
    assert place.test() == ([], LIBRARIES)


# ---- the fix for a --target directory


def target_without_hip(places: Callable[[str], Place]) -> tuple[Place, str]:
    place = places("target")
    (place.site / HIP).unlink()
    (fix,) = (found["fix"] for found in place.test().problems)
    return place, fix


@pytest.fixture
def killing_tar(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that makes the value of PATH with a tar that kills all processes of the fix, or fails."""

    def path_with(script: str) -> str:
        (tmp_path / "tar").write_text(f"#!/bin/sh\ntar={shutil.which('tar')}\n{script}\n")
        (tmp_path / "tar").chmod(0o755)
        return f"{tmp_path}:{os.environ['PATH']}"

    return path_with


KILLED = {
    "before it copies": "kill -9 0",
    "while it copies": 'case "$*" in *-cf*) exec "$tar" "$@";; esac; head -c 20000 | "$tar" "$@"; kill -9 0',
    "before it removes": 'case "$*" in *-cf*) exec "$tar" "$@";; esac; "$tar" "$@"; kill -9 0',
}


@pytest.mark.parametrize("script", KILLED)
def test_a_fix_that_was_killed_can_be_tried_again(
    places: Callable[[str], Place], index: str, killing_tar: Callable[[str], str], script: str
) -> None:
    """It leaves a directory, which is named and can be removed, and is in nobody's way."""
    place, fix = target_without_hip(places)
    (place.site / ".new").mkdir()
    (place.site / ".new/mine").touch()
    fix = fix.replace(NOWHERE, index)
    for _ in range(2):
        done = place.run(["setsid", "--wait", "sh", "-c", fix], PATH=killing_tar(KILLED[script]))
        assert done.returncode != 0
    assert len([*place.site.glob(".new.*")]) == 2
    assert place.run(fix).returncode == 0
    left = place.test().problems
    assert [found["code"] for found in left] == ["W-PKG-007"] * 2
    assert " is left over from an interrupted fix" in left[0]["title"]
    for found in left:
        assert place.run(found["fix"]).returncode == 0
    assert place.test() == ([], LIBRARIES)
    assert [path.name for path in place.site.glob(".new*/*")] == ["mine"]


@pytest.mark.parametrize("option", ["-cf", "-xf"])
def test_a_fix_whose_files_cannot_be_copied_fails(
    places: Callable[[str], Place], index: str, killing_tar: Callable[[str], str], option: str
) -> None:
    place, fix = target_without_hip(places)
    failing = f'"$tar" "$@"; case "$*" in *{option}*) exit 2;; esac'
    assert place.run(fix.replace(NOWHERE, index), PATH=killing_tar(failing)).returncode != 0
    assert [*place.site.glob(".new.*")]


def test_files_on_another_disk(places: Callable[[str], Place], index: str, open_directory: Path) -> None:
    """The link to them stays, and they are replaced and not written into."""
    place = places("target")
    (place.site / BLAS).unlink()
    kernels = place.site / BLAS.partition("/")[0] / "lib/rocblas"
    mode = place.site.stat().st_mode
    with mounted(open_directory, "-t", "tmpfs", "none") as disk:
        shutil.copytree(kernels, disk / "rocblas")
        shutil.rmtree(kernels)
        kernels.symlink_to(disk / "rocblas")
        before = {path: path.stat().st_ino for path in disk.rglob("*") if path.is_file()}
        (fix,) = (found["fix"] for found in place.test().problems)
        done = place.run(fix.replace(NOWHERE, index))
        assert done.returncode == 0, done.stderr
        assert kernels.readlink() == disk / "rocblas"
        assert before
        assert not {path for path, number in before.items() if path.stat().st_ino == number}
        assert place.site.stat().st_mode == mode
        assert place.test() == ([], LIBRARIES)


@pytest.fixture(scope="module")
def of_a_user(index: str) -> Iterator[Callable[[OtherUser], Place]]:
    made: list[Place] = []
    with open_directory() as directory:

        def place(other: OtherUser) -> Place:
            if not made:
                made.append(target_of_a_user(directory, index, other))
            made[0].set_back()
            return made[0]

        yield place


@pytest.mark.parametrize("damage", OF_EACH)
def test_a_fix_of_an_ordinary_user(
    of_a_user: Callable[[OtherUser], Place], other_user: OtherUser, index: str, damage: str
) -> None:
    fail_and_mend(of_a_user(other_user), index, DAMAGES[damage])
