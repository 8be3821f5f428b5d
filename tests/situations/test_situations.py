"""Each situation has one problem, which names the true cause, and a fix after which there is none."""

import py_compile
import shutil
import subprocess
from pathlib import Path

import pytest
from of_devices import ROWS as DEVICES
from of_files import ROWS as FILES
from of_packages import ROWS as PACKAGES
from of_packages import killed_upgrade, second_metadata
from of_python import ROWS as PYTHON
from of_surroundings import ROWS as SURROUNDINGS
from of_system import OTHER_USER
from of_system import ROWS as SYSTEM
from other_user import need_user_namespaces
from programs import completed
from sample_site import LIBRARIES
from situations import HIP, Situation, User, flip

import rocm_sdk

pytestmark = pytest.mark.slow


@pytest.fixture
def holds(request: pytest.FixtureRequest, situation: Situation) -> bool:
    """Make a situation once, and ask all questions of it: report, status, fix, and text once the fix was run."""
    user: User = request.getfixturevalue("user" if situation.has_rpaths else "user_without_rpaths")
    if situation.shell == OTHER_USER:
        user.become(request.getfixturevalue("other_user"))
    situation.breaks(user.environment)
    asked = user.ask(situation)
    assert [found["code"] for found in asked.problems] == [situation.code] * (situation.code is not None)
    assert asked.status == int(any(found["severity"] == "error" for found in asked.problems))
    for found in asked.problems:
        told = " ".join(str(found[name]) for name in ("title", "cause", "path", "fix"))
        assert situation.says in told
        if "was not tried: this system refuses" in found["fix"]:
            need_user_namespaces()
        assert found["is_command"] == situation.is_mended, found["fix"]
        if situation.is_mended and situation.is_tried:
            last = user.text_after(situation, found["fix"]).splitlines()[-1]
            assert last.startswith("no problems") and last.endswith("Exit status 0.")
    return True


def rows(table: tuple[Situation, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("situation", table, ids=lambda each: each.name)


@pytest.mark.always
@rows(FILES)
def test_files(holds: bool) -> None:
    assert holds


@pytest.mark.always
@rows(PACKAGES)
def test_packages(holds: bool) -> None:
    assert holds


@pytest.mark.always
@rows(PYTHON)
def test_python(holds: bool) -> None:
    assert holds


@pytest.mark.always
@rows(SURROUNDINGS)
def test_surroundings(holds: bool) -> None:
    assert holds


@pytest.mark.always
@rows(SYSTEM)
def test_system(holds: bool) -> None:
    assert holds


@pytest.mark.always
@rows(DEVICES)
def test_devices(holds: bool) -> None:
    assert holds


# ---- more than one problem, or none that the report can have


@pytest.mark.parametrize("by_variable", [True, False], ids=["PYTHONPATH", "current directory"])
@pytest.mark.parametrize(("name", "text"), [("selectors", ""), ("ctypes", "raise ImportError('mine')")])
def test_a_file_in_the_place_of_a_module_of_python(user: User, name: str, text: str, *, by_variable: bool) -> None:
    """The command itself is the victim: it has no report."""
    path = user.environment.root / "mine" / f"{name}.py"
    path.parent.mkdir()
    path.write_text(text)
    variables = user.environment.variables
    if by_variable:
        variables = variables | {"PYTHONPATH": f"{path.parent}:{variables['PYTHONPATH']}"}
    words = [str(user.environment.python), "-m", "rocm_sdk", "test"]
    result = completed(words, env=variables, cwd=None if by_variable else path.parent, timeout=60)
    assert result.returncode == 1
    assert f"{path} takes the place of Python's module {name}: " in result.stderr
    assert f"fix: Rename {path}" in result.stderr
    assert ("out of PYTHONPATH" if by_variable else "begins with the current directory") in result.stderr


@pytest.mark.parametrize("text", ["raise RuntimeError('old')", "def check(): return 1"], ids=["raises", "differs"])
def test_a_stale_pyc_of_the_loader_is_named(user: User, text: str) -> None:
    """The bytecode was made of another release, and Python is told not to compare it with the source."""
    root = user.environment.root
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rocm_sdk.__file__).parent, root / "loader/rocm_sdk", ignore=ignored)
    source = root / "loader/rocm_sdk/cli/test.py"
    before = source.read_text()
    source.write_text(text)
    stale = py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    source.write_text(before)
    command = [str(user.environment.python), "-m", "rocm_sdk", "test"]
    variables = user.environment.variables | {"PYTHONPATH": str(root / "loader"), "PYTHONDONTWRITEBYTECODE": "1"}
    result = completed(command, env=variables, timeout=60)
    assert result.returncode == 1
    assert f"{stale} takes the place of the source of the module test: " in result.stderr
    assert "Traceback" not in result.stderr
    subprocess.run(["sh", "-c", result.stderr.partition("  fix: ")[2]], check=True)
    again = completed(command, env=variables, timeout=60)
    assert again.stdout.splitlines()[-1].startswith("no problems")


def test_a_cause_hides_nothing_of_another_package(user: User) -> None:
    second_metadata(user.environment, "7.9.1")
    (user.environment.site / LIBRARIES / "lib/rocblas/library/kernels_1.co").unlink()
    asked = user.ask(Situation("two", None, ""))
    assert sorted(found["code"] for found in asked.problems) == ["E-FILE-001", "E-PKG-023"]


def test_a_refusing_directory_in_another(user: User, request: pytest.FixtureRequest) -> None:
    """Each needs its own chmod: the files of the inner one are put down to it."""
    user.become(request.getfixturevalue("other_user"))
    outer = user.environment.site / LIBRARIES
    (outer / "__init__.py").unlink()  # else nothing lists the outer one
    (outer / "lib").chmod(0o000)
    outer.chmod(0o311)
    asked = user.ask(Situation("nested", None, "", shell=OTHER_USER))
    found = sorted((each["code"], each["path"]) for each in asked.problems)
    assert found == [("E-FILE-007", str(outer)), ("E-FILE-007", str(outer / "lib"))]


def test_an_interrupted_installer_of_the_only_package(user: User) -> None:
    """No other package says the release: the renamed metadata does."""
    user.environment.uninstall("rocm-sdk-libraries", "rocm-sdk-devel", "rocm")
    killed_upgrade(user.environment, "core")
    (found,) = user.ask(Situation("alone", None, "")).problems
    assert found["code"] == "E-PKG-025"
    assert " rocm-sdk-core==7.10.0 && rm -r " in found["fix"]


def test_a_damage_that_breaks_nothing_is_left_to_deep(user: User) -> None:
    """Nothing fails, so nothing is compared: the last line says so."""
    flip(user.environment.site / HIP)
    ended = user.environment.run("rocm-sdk test").splitlines()[-1]
    assert ended.endswith(". The contents of files were not compared (--deep). Exit status 0.")
    assert ended.startswith("no problems")
