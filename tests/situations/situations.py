"""The form of a situation, and what several of them do."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from other_user import USER, OtherUser
from own_mounts import need_mounts
from programs import completed
from sample_site import CORE, LIBRARIES, compile_library
from sdk_environment import OF_THIS_MACHINE, Environment

HSA = f"{CORE}/lib/libhsa-runtime64.so.1"
HIP = f"{CORE}/lib/libamdhip64.so.7"
BLAS = f"{LIBRARIES}/lib/librocblas.so.5"
METADATA = {name: f"rocm_sdk_{name}-7.10.0.dist-info" for name in ("core", "libraries", "devel")}


def nothing(_environment: Environment) -> None:
    """Break nothing: the fault is in the shell."""


class Situation(NamedTuple):
    """A fault, and the answer that `rocm-sdk test` has to give."""

    name: str
    code: str | None  # of the one problem; None: there is none
    says: str  # that its title, cause, path or fix has
    breaks: Callable[[Environment], object] = nothing
    lines: tuple[str, ...] = ()  # that are typed into the shell before
    is_mended: bool = True  # a machine can carry out the fix
    is_tried: bool = True  # this machine, too
    words: str = ""  # of the command
    has_rpaths: bool = True  # of the libraries
    shell: tuple[str, ...] = ("bash", "-c")  # that takes the lines


by_hand = partial(Situation, is_mended=False)


def on(name: str, change: Callable[..., object], *arguments: object) -> Callable[[Environment], object]:
    """Return a function that changes a file or directory among the packages."""
    return lambda environment: change(environment.site / name, *arguments)


def renamed(name: str, other: str) -> Callable[[Environment], object]:
    return lambda environment: (environment.site / name).rename(environment.site / other)


def set_variable(name: str, value: str) -> tuple[str]:
    return (f"export {name}={value}",)


def compile_to(path: Path, source: str, soname: str | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return compile_library(path, soname, source)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def replace_by(path: Path, put: Callable[[Path], object]) -> None:
    remove(path)
    put(path)


def link_to(path: Path, target: str) -> None:
    replace_by(path, lambda place: place.symlink_to(target))


def extracted_tree(environment: Environment) -> Path:
    """Extract the development tree, and return it."""
    environment.run("rocm-sdk init")
    return environment.site / "_rocm_sdk_devel"


def flip(path: Path, place: int = -1) -> None:
    """Change a byte of a file, which keeps its size."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


class Asked(NamedTuple):
    """The answer of `rocm-sdk test --json`."""

    status: int
    problems: list[dict[str, Any]]  # errors and warnings, except problems of this machine


class User:
    """A user who types lines into a shell, then `rocm-sdk test`."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._variables = {
            name: value for name, value in environment.variables.items() if name not in {"TMPDIR", "TMP", "TEMP"}
        } | {"HOME": str(environment.root)}

    def become(self, other: OtherUser) -> None:
        """Let another user enter the environment, with an interpreter and a package that he can read."""
        root = self.environment.root
        for each in [*self.environment.site.parents][:-2]:
            each.chmod(0o755)
        interpreter = other.python.resolve()
        self.environment.python.unlink()
        self.environment.python.symlink_to(interpreter)
        facts = root / "pyvenv.cfg"
        facts.write_text(re.sub(r"(?m)^home = .*$", f"home = {interpreter.parent}", facts.read_text()))
        place = "import os, rocm_sdk; print(os.path.dirname(rocm_sdk.__file__))"
        package = other.run("-c", place, check=True).stdout
        (root / "tools").mkdir()
        (root / "tools/rocm_sdk").symlink_to(package.strip())
        (root / "home").mkdir(mode=0o700)
        os.chown(root / "home", USER, USER)
        self._variables["HOME"] = str(root / "home")  # where comgr may make its cache; in /tmp anybody has made one
        self._variables["PYTHONPATH"] = str(root / "tools")

    def ask(self, situation: Situation) -> Asked:
        result = self._run(situation, "--json")
        said = re.search(r"^.*?(\{\n.*^\})", result.stdout, re.DOTALL | re.MULTILINE)  # LD_PRELOAD may talk
        assert said is not None, f"{result.stdout[-2000:]}{result.stderr[-2000:]}"
        found = json.loads(said[1])["problems"]
        problems = [each for each in found if each["severity"] != "note" and each["code"] not in OF_THIS_MACHINE]
        return Asked(result.returncode, problems)

    def text_after(self, situation: Situation, fix: str) -> str:
        """Return the text of the report once the user has typed a fix."""
        result = self._run(situation, f"--skip {','.join(OF_THIS_MACHINE)}", fix)
        return result.stdout or result.stderr

    def _run(self, situation: Situation, words: str, *fixes: str) -> subprocess.CompletedProcess[str]:
        if situation.shell[0] == "unshare":
            need_mounts()
        root = self.environment.root
        names = {"root": root, "site": self.environment.site, "folder": root.parent}
        test = f"exec {self.environment.python} -m rocm_sdk test {words} {situation.words}"
        lines = [*(line.format(**names) for line in situation.lines), *fixes, test]
        result = completed([*situation.shell, "\n".join(lines)], env=self._variables, timeout=120)
        if any(refusal in result.stderr for refusal in ("mount:", "setpriv:", "no filter:")):
            pytest.skip(f"this machine does not allow it: {result.stderr[-500:]}")
        return result
