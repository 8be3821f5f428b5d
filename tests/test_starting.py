"""A lint: rocm_sdk/base/starting.py alone starts programs, and C reads no variable that another user may have set.

A module that starts a program by itself leaves out one of the rules of that module some day.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("rocm_sdk", "builder/rocm_sdk_build", "variant_provider")

# File -> why it starts programs by itself.
STARTERS = {
    "rocm_sdk/base/starting.py": "for all others",
    "builder/rocm_sdk_build/packages/script_template.py": "it is part of packages, where the loader may be another one",
}
C_STARTERS = {
    "python_path.c": "a caller asks for an interpreter, whose file is named by an absolute path or by the caller"
}
CONSTANTS = {"DEVNULL", "PIPE", "STDOUT", "TimeoutExpired"}  # of subprocess

# Modules that start programs, or make interpreters, in all or most of what they do.
STARTING_MODULES = re.compile(
    r"(multiprocessing|pty|venv|ensurepip|webbrowser|ctypes\.util|asyncio\.subprocess)(\..+)?"
)
# Functions that do, and those that take programs or libraries from relative places.
STARTING_FUNCTIONS = re.compile(
    r"os\.(exec(l|le|lp|lpe|v|ve|vp|vpe)|spawn[a-z]+|posix_spawnp?|system|popen|startfile)|shutil\.which|ctypes\.util\..+"
    r"|asyncio\.create_subprocess_\w+|concurrent\.futures\.(process\..+|ProcessPoolExecutor)"
    r"|platform\.(processor|architecture|uname)|uuid\.(uuid1|getnode)"
)
C_STARTS = re.compile(r"\b(system|popen|exec(?:l|le|lp|v|ve|vp|vpe|veat)|fexecve|posix_spawnp?|wordexp)\s*\(")
C_VARIABLES = re.compile(r"\bgetenv\s*\(")


def starts(text: str) -> Iterator[str]:
    """Yield the expressions that start a program in Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if STARTING_MODULES.fullmatch(each.name))
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{each.name}" for each in node.names]
            yield from (name for name in names if _starts(name) or STARTING_MODULES.fullmatch(str(node.module)))
        elif isinstance(node, ast.Attribute) and _starts(ast.unparse(node)):
            yield ast.unparse(node)


def _starts(name: str) -> bool:
    module, _, last = name.rpartition(".")
    is_start = module == "subprocess" and last not in CONSTANTS
    return is_start or STARTING_FUNCTIONS.fullmatch(name) is not None or STARTING_MODULES.fullmatch(name) is not None


def c_faults(text: str) -> list[str]:
    """Return the calls in C source that start a program, or read a variable that counts with other rights too."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)
    return [match[0] for pattern in (C_STARTS, C_VARIABLES) for match in pattern.finditer(code)]


def test_one_module_starts_programs() -> None:
    found = {}
    for source in (each for package in PACKAGES for each in sorted((ROOT / package).rglob("*.py"))):
        name = source.relative_to(ROOT).as_posix()
        if name not in STARTERS and (wrong := list(starts(source.read_text()))):
            found[name] = wrong
    assert found == {}


@pytest.mark.parametrize("name", STARTERS)
def test_the_exceptions_start_programs(name: str) -> None:
    assert list(starts((ROOT / name).read_text()))


def test_c_starts_no_programs() -> None:
    """The programs of packages become others by a system call of their own, with a path that they made."""
    sources = [*(ROOT / "csrc").rglob("*.[ch]"), *(ROOT / "builder/rocm_sdk_build").rglob("*.[ch]")]
    assert len(sources) > 100
    found = {each.name: faults for each in sources if (faults := c_faults(each.read_text()))}
    assert found.keys() == C_STARTERS.keys()
    assert found["python_path.c"] == ["posix_spawn("]


@pytest.mark.parametrize(
    "line",
    [
        "import subprocess\nsubprocess.run(['a'])",
        "import subprocess\nstart = subprocess.Popen",
        "from subprocess import run",
        "from subprocess import check_output as ask",
        "import os\nos.execvp('a', ['a'])",
        "import os\nos.system('a')",
        "import os\nos.popen('a')",
        "from os import posix_spawn",
        "import multiprocessing",
        "import multiprocessing.pool",
        "from multiprocessing import Process",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import asyncio\nasyncio.create_subprocess_exec('a')",
        "import pty",
        "import venv",
        "import shutil\nshutil.which('a')",
        "from shutil import which",
        "import ctypes.util",
        "from ctypes import util",
        "from ctypes.util import find_library",
        "import platform\nplatform.processor()",
    ],
)
def test_each_start_in_python(line: str) -> None:
    assert list(starts(line))


@pytest.mark.parametrize(
    "line",
    [
        "import subprocess\nsubprocess.PIPE",
        "import os\nos.execute",
        "from concurrent.futures import ThreadPoolExecutor",
        "import platform\nplatform.freedesktop_os_release()",
        "from .subprocess import run",
    ],
)
def test_what_is_none(line: str) -> None:
    assert not list(starts(line))


@pytest.mark.parametrize("line", ['system("a");', "execve (a, b, c);", "posix_spawn(&a);", 'x = getenv("A");'])
def test_each_fault_in_c(line: str) -> None:
    assert c_faults(line)


@pytest.mark.parametrize("line", ["/* execve(a) */", 'say("system(a)");', 'secure_getenv("A");', "call(__NR_execve);"])
def test_what_is_no_fault_in_c(line: str) -> None:
    assert not c_faults(line)
