"""Each situation has one problem, which names the true cause, and a fix after which there is none."""

import py_compile
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from of_packages import killed_upgrade, second_metadata
from of_system import OTHER_USER
from programs import completed
from rows import ROWS
from sample_site import LIBRARIES
from situations import HIP, Situation, User, flip

import rocm_sdk
from rocm_sdk.base.value_text import is_words


@pytest.mark.parametrize("situation", ROWS, ids=lambda each: each.name)
def test_one_problem_with_its_cause_and_a_fix_that_works(situation: Situation, request: pytest.FixtureRequest) -> None:
    user: User = request.getfixturevalue("user" if situation.has_rpaths else "user_without_rpaths")
    if situation.shell == OTHER_USER:
        user.become(request.getfixturevalue("other_user"))
    situation.breaks(user.environment)
    asked = user.ask(situation)
    if situation.code is None:
        assert asked.problems == []
        return
    assert [found["code"] for found in asked.problems] == [situation.code], asked.problems
    (found,) = asked.problems
    told = " ".join(str(found[name]) for name in ("title", "cause", "path", "fix"))
    assert situation.says.format(index=user.environment.index) in told
    assert is_words(found["fix"]) != situation.is_mended, found["fix"]
    if situation.is_mended and situation.is_tried:
        assert user.ask(situation, found["fix"]).problems == []


def _ask_in(user: User, directory: Path, *, by_variable: bool) -> subprocess.CompletedProcess[str]:
    """Run `python -m rocm_sdk test` with a directory before the standard library."""
    before = {"PYTHONPATH": f"{directory}:{user.environment.variables['PYTHONPATH']}"} if by_variable else {}
    return completed(
        [str(user.environment.python), "-m", "rocm_sdk", "test"],
        env=user.environment.variables | before,
        cwd=None if by_variable else directory,
        timeout=60,
    )


@pytest.mark.parametrize("by_variable", [True, False], ids=["PYTHONPATH", "current directory"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json", "raise RuntimeError('mine')"),
        ("selectors", ""),
        ("enum", ""),
        ("ctypes", "raise ImportError('mine')"),
    ],
)
def test_a_file_in_the_place_of_a_module_of_python_is_named(
    user: User, name: str, text: str, *, by_variable: bool
) -> None:
    """The command itself is the victim: it has no report."""
    path = user.environment.root / "mine" / f"{name}.py"
    path.parent.mkdir()
    path.write_text(text)
    result = _ask_in(user, path.parent, by_variable=by_variable)
    assert result.returncode == 1
    assert f"{path} takes the place of Python's module {name}: " in result.stderr
    assert f"fix: Rename {path}" in result.stderr
    assert ("out of PYTHONPATH" if by_variable else "begins with the current directory") in result.stderr


@pytest.mark.parametrize("text", ["raise RuntimeError('old')", "", "def check(): return 1"])
def test_a_stale_pyc_of_the_loader_is_named(user: User, text: str) -> None:
    """The bytecode was made of another release, and Python is told not to compare it with the source."""
    root = user.environment.root
    shutil.copytree(
        Path(rocm_sdk.__file__).parent, root / "loader/rocm_sdk", ignore=shutil.ignore_patterns("__pycache__")
    )
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
    assert sorted((each["code"], each["path"]) for each in asked.problems) == [
        ("E-FILE-007", str(outer)),
        ("E-FILE-007", str(outer / "lib")),
    ]


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


def test_the_rows_are_of_many_causes() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names)) >= 120
    assert len({row.code for row in ROWS if row.code is not None}) >= 40
    kinds = Counter((row.code, row.says) for row in ROWS if row.code is not None)
    assert [kind for kind, count in kinds.items() if count > 3] == []
