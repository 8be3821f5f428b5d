"""The surroundings of a process: odd names of directories, options of the interpreter, no home, no directory.

The packages and the loader are used in each, as a library and as the command.
"""

import os
import sys
from pathlib import Path

import pytest
from other_user import OtherUser
from programs import completed
from sample_site import LIBRARIES, Site, clean_environment

import rocm_sdk

LOADER = str(Path(rocm_sdk.__file__).parents[1])
PROGRAM = """
import os, sys
sys.path[:0] = map(os.fsdecode, {paths!r})
library = os.fsdecode({library!r})
{first}
import ctypes
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], check_version="7.*")
(place,) = rocm_sdk.find_libraries("hipsparse")
if os.fspath(place) != library or ctypes.CDLL(os.fspath(place)).sparse() != 42:
    sys.exit(f"found {{place!a}}")
if [step.path for step in rocm_sdk.load_plan("hipsparse").steps][-1] != library or rocm_sdk.check_process() != ():
    sys.exit("the plan is another, or the process has problems")
rocm_sdk.gpus(root="/nonexistent")
import rocm_sdk.cli
sys.exit(rocm_sdk.cli.main(["version"]) or rocm_sdk.cli.main(["test", "--only", "libraries"]))
"""


@pytest.fixture
def library(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the path of a library that needs another, in a directory with an odd name if a test gives one."""
    site = Site(tmp_path / getattr(request, "param", "site-packages"))
    hip = site.library("libamdhip64.so.7", "int hip(void) { return 42; }")
    source = "int hip(void); int sparse(void) { return hip(); }"
    return str(site.library("libhipsparse.so.4", source, (hip,), LIBRARIES))


def use(library: str, *options: str, first: str = "", **environment: str | None) -> None:
    """Run the program with these variables, without a variable that is None."""
    paths = [os.fsencode(path) for path in (Path(library).parents[2], LOADER)]
    program = Path(library).parents[3] / "program.py"
    program.write_text(PROGRAM.format(paths=paths, first=first, library=os.fsencode(library)), encoding="utf-8")
    merged = clean_environment() | environment
    variables = {name: value for name, value in merged.items() if value is not None}
    command = [sys.executable, *options, str(program)]
    result = completed(command, env=variables)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith("7.10.0\n")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "library",
    ["two  words", "line\nbreak", "quote'\"s", "$HOME `id` \\", "ünï ✓ 日本", "colon:semi;comma,", "x" * 200],
    indirect=True,
    ids=["blanks", "newline", "quotes", "shell", "letters", "separators", "long"],
)
def test_names_of_directories(library: str) -> None:
    use(library)


@pytest.mark.parametrize("options", ["-I", "-S", "-E", "-OO", "-B", "-X utf8=0", "-X dev", "-I -S -E -OO"])
def test_options_of_the_interpreter(library: str, options: str) -> None:
    use(library, *options.split())


def test_without_a_home(library: str) -> None:
    use(library, HOME=None)
    use(library, HOME="/nonexistent")


@pytest.mark.parametrize("library", ["ünï ✓"], indirect=True, ids=["letters"])
def test_a_locale_without_letters(library: str) -> None:
    plain = {"LC_ALL": None, "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    use(library, **plain)


def test_a_current_directory_that_is_gone(library: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    use(library, first=f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})")


def test_a_site_that_may_not_be_written(library: str, other_user: OtherUser) -> None:
    """As another user, to whom everything is read-only."""
    site = Path(library).parents[2]
    for parent in site.parents:
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o005)
    program = """if True:
        import ctypes, sys
        import rocm_sdk, rocm_sdk.cli
        rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], check_version="7.*")
        print(ctypes.CDLL(str(rocm_sdk.find_libraries("hipsparse")[0])).sparse(), flush=True)
        sys.exit(rocm_sdk.cli.main(["version"]))
    """
    result = other_user.run("-c", program, PYTHONPATH=str(site))
    assert result.stdout == "42\n7.10.0\n"
    assert "Traceback" not in result.stderr
