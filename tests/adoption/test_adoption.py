"""`rocm-sdk adopt` against the distribution `rocm`: both orders of installation, upgrades, uninstallation, undoing."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from other_user import OtherUser
from sample_devel import make_wheel
from system_programs import need

ROCM = "rocm[libraries]==7.10.0"
OURS = "rocm-sdk-loader"
ORDERS = {"rocm first": (ROCM, OURS), "ours first": (OURS, ROCM)}

# Environment is a class of conftest.py, which tests cannot import.
Environment = Any


def assert_ours_works(environment: Environment, version: str = "7.10.0") -> None:
    assert environment.problem() == "None"
    answer = environment.command("version")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, f"{version}\n", "")


@pytest.mark.always
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_both_orders_and_uninstallation(environment: Environment, order: tuple[str, str]) -> None:
    for requirement in order:
        environment.install(requirement)
    assert "claim the same files: rocm-sdk, rocm_sdk/__init__.py" in environment.problem()
    done = environment.adopt()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("taken over from rocm==7.10.0: ")

    assert_ours_works(environment)
    assert environment.pip_check().returncode == 0
    assert environment.is_satisfied(ROCM)
    assert not environment.is_satisfied("rocm[libraries]==7.11.0")

    before = environment.files()
    again = environment.command("adopt")
    assert (again.returncode, again.stdout) == (0, "taken over from rocm==7.10.0: nothing to do\n")
    assert environment.files() == before

    environment.uninstall("rocm")
    assert_ours_works(environment)
    assert not list(environment.site.glob("rocm-*"))
    assert not (environment.site / "rocm_sdk/tests").exists()
    environment.uninstall(OURS)
    assert not [name for name in environment.files() if "rocm_sdk/" in name or "bin/rocm" in name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("installers", "order", "place"),
    [
        (("pip", "uv"), "ours first", "a venv"),
        (("uv", "pip"), "rocm first", "a venv"),
        (("pip", "pip"), "ours first", "x" * 200),
        (("uv", "pip"), "ours first", "x" * 200),
    ],
    ids=["pip, uv", "uv, pip", "pip alone, 200 characters", "uv, pip, 200 characters"],
)
def test_the_wrapper_of_whoever_was_last_is_kept(
    make_environment: Callable[..., Environment],
    tmp_path: Path,
    place: str,
    order: str,
    installers: tuple[str, str],
) -> None:
    """Each writes one that works where no first line can name the interpreter; RECORD tells of the one that is kept."""
    (tmp_path / place).mkdir()
    environment = make_environment("pip", tmp_path / place)
    for environment.installer, requirement in zip(installers, ORDERS[order], strict=True):
        environment.install(requirement)
    script = environment.directory / "bin/rocm-sdk"
    before = script.read_bytes()
    assert before.startswith(b"#!/bin/sh\n")
    assert environment.adopt().returncode == 0
    assert script.read_bytes() == before
    assert_ours_works(environment)
    environment.uninstall("rocm")
    assert_ours_works(environment)
    environment.uninstall(OURS)
    assert not script.exists()


@pytest.mark.slow
def test_uninstalling_ours_is_noticed_by_pip_check(environment: Environment) -> None:
    for requirement in (OURS, ROCM):
        environment.install(requirement)
    environment.adopt()
    environment.uninstall(OURS)
    assert "rocm 7.10.0 requires rocm-sdk-loader" in environment.pip_check().stdout
    environment.uninstall("rocm")
    environment.install(ROCM)
    assert environment.command().stdout == "the command of rocm\n"


@pytest.mark.slow
def test_an_upgrade_of_rocm_is_noticed_and_adopted_again(environment: Environment) -> None:
    for requirement in (ROCM, OURS):
        environment.install(requirement)
    environment.adopt()
    environment.install("--upgrade", "rocm[libraries]==7.11.0")
    assert environment.command().stdout == "the command of rocm\n"
    before = environment.files()
    noticed = environment.adopt("--check")
    assert (noticed.returncode, noticed.stdout) == (1, "")
    assert noticed.stderr.startswith("rocm-sdk: rocm==7.11.0 and rocm-sdk-loader==")
    assert noticed.stderr.endswith("\n  fix: python -m rocm_sdk.adoption\n")
    assert environment.files() == before
    assert "files restored" in environment.adopt().stdout
    assert_ours_works(environment, "7.11.0")
    checked = environment.command("adopt", "--check")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    assert environment.is_satisfied("rocm[libraries]==7.11.0")
    assert environment.pip_check().returncode == 0


def test_info_tells_of_it(make_environment: Callable[..., Environment]) -> None:
    environment = make_environment("uv")
    for requirement in (ROCM, OURS):
        environment.install(requirement)

    def problems() -> list[str]:
        problems = json.loads(environment.command("info", "--json").stdout)["problems"]
        return [problem for problem in problems if "claim the same files" in problem]

    (problem,) = problems()
    assert problem.endswith("; rocm-sdk adopt")
    assert environment.command("adopt").returncode == 0
    assert problems() == []


@pytest.mark.slow
def test_an_upgrade_of_ours_keeps_the_adoption(environment: Environment) -> None:
    for requirement in (ROCM, OURS):
        environment.install(requirement)
    environment.adopt()
    environment.install("--reinstall" if environment.installer == "uv" else "--force-reinstall", "--no-deps", OURS)
    assert_ours_works(environment)
    assert environment.pip_check().returncode == 0


@pytest.mark.slow
def test_rocm_uninstalled_before_any_adoption(environment: Environment) -> None:
    """The removal of `rocm` took our files with it, `rocm_sdk/__init__.py` and the command included."""
    for requirement in (OURS, ROCM):
        environment.install(requirement)
    environment.uninstall("rocm")
    assert "missing or were overwritten" in environment.problem()
    done = environment.adopt()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rocm is not installed here: 0 names; ")
    assert_ours_works(environment)


def split_own_record(files: dict[str, bytes]) -> tuple[dict[str, bytes], bytes]:
    """Return the files without our RECORD and entry points, and the whole content of both.

    After undoing, our whole RECORD and entry points lie under names of their own.
    """
    (name,) = (name for name in files if "/rocm_sdk_loader-" in name and name.endswith("/RECORD"))
    entries, kept = (f"{Path(name).parent}/entry_points{ending}" for ending in (".txt", ".whole"))
    rest = {each: content for each, content in files.items() if each not in {name, f"{name}.whole", entries, kept}}
    return rest, files.get(f"{name}.whole", files[name]) + files.get(kept, files[entries])


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_undo_puts_back_every_byte(environment: Environment, order: tuple[str, str]) -> None:
    for requirement in order:
        environment.install(requirement)
    before = environment.files()
    environment.adopt()
    adopted = environment.files()
    assert adopted != before
    undone = environment.adopt("--undo")
    assert (undone.returncode, undone.stderr) == (0, "")
    assert undone.stdout.startswith("given back to rocm==7.10.0: ")
    given = environment.files()
    assert split_own_record(given) == split_own_record(before)
    assert environment.adopt("--undo").stdout == "given back to rocm==7.10.0: nothing to do\n"
    assert environment.files() == given
    environment.adopt()
    assert environment.files() == adopted
    assert_ours_works(environment)


# --- after an undone adoption each distribution can be uninstalled ----------------------------------------------------


def leftovers(environment: Environment) -> list[str]:
    return [name for name in environment.files() if "rocm_sdk/" in name or "rocm-" in name or "rocm_sdk_loader" in name]


@pytest.fixture
def undone(environment: Environment) -> Environment:
    """Return an environment that was adopted, and whose adoption was undone.

    The distribution `rocm` was installed last, so that its files were there to be kept.
    """
    for requirement in (OURS, ROCM):
        environment.install(requirement)
    environment.adopt()
    result = environment.adopt("--undo")
    assert (result.returncode, result.stderr) == (0, "")
    assert "uninstalling" not in result.stdout
    return environment


@pytest.mark.slow
def test_undone_and_ours_uninstalled(undone: Environment, make_environment: Callable[..., Environment]) -> None:
    undone.uninstall(OURS)
    alone = make_environment(undone.installer, undone.directory.parent / "alone")
    alone.install(ROCM)
    directory = str(alone.directory).encode()
    own = str(undone.directory).encode()
    expected = {name: content.replace(directory, own) for name, content in alone.files().items()}
    found = undone.files()
    assert found.keys() == expected.keys()
    differing = [name for name in found if found[name] != expected[name] and not name.endswith("/RECORD")]
    assert differing == []
    assert undone.command().stdout == "the command of rocm\n"
    assert undone.pip_check().returncode == 0
    undone.uninstall("rocm")
    assert not (undone.site / "rocm_sdk").exists()
    assert not (undone.directory / "bin/rocm-sdk").exists()


@pytest.mark.slow
def test_undone_and_rocm_uninstalled(undone: Environment) -> None:
    undone.uninstall("rocm")
    assert "missing or were overwritten" in undone.problem()
    undone.uninstall(OURS)
    assert [name for name in leftovers(undone) if "rocm_sdk_" not in name] == []
    assert not (undone.site / "rocm_sdk").exists()


@pytest.mark.slow
def test_undone_and_rocm_uninstalled_and_restored(undone: Environment) -> None:
    undone.uninstall("rocm")
    assert undone.adopt().returncode == 0
    assert_ours_works(undone)
    undone.uninstall(OURS)
    assert not (undone.site / "rocm_sdk").exists()


@pytest.mark.slow
def test_undone_and_either_reinstalled(undone: Environment) -> None:
    """The one that is installed last has overwritten the other again."""
    again = "--reinstall" if undone.installer == "uv" else "--force-reinstall"
    undone.install(again, "--no-deps", OURS)
    assert "claim the same files" in undone.problem()
    assert undone.adopt().returncode == 0
    assert_ours_works(undone)
    undone.install(again, "--no-deps", "rocm==7.10.0")
    assert undone.command().stdout == "the command of rocm\n"
    assert undone.adopt().returncode == 0
    assert_ours_works(undone)


@pytest.mark.slow
def test_undone_where_the_files_of_rocm_are_lost(environment: Environment) -> None:
    """Ours was installed last: nobody has what it overwrote. Both list these names, so that none is left over."""
    for requirement in (ROCM, OURS):
        environment.install(requirement)
    environment.adopt()
    said = environment.adopt("--undo").stdout
    assert "of these files too, which its installation overwrote; uninstalling it removes them" in said
    index = "--index-url https://repo.amd.com/rocm/whl-multi-arch/"
    assert f"after that: pip install --force-reinstall --no-deps {index} rocm==7.10.0" in said
    environment.uninstall(OURS)
    assert not (environment.site / "rocm_sdk/__init__.py").exists()
    environment.install("--reinstall" if environment.installer == "uv" else "--force-reinstall", "--no-deps", ROCM)
    assert environment.command().stdout == "the command of rocm\n"


def test_what_uv_links_to_its_cache_is_not_written_into(
    make_environment: Callable[..., Environment], tmp_path: Path
) -> None:
    """The installer uv makes hard links: a change in one environment would reach the cache and all others."""

    def installed(parent: Path) -> Environment:
        environment = make_environment("uv", parent)
        for requirement in (OURS, ROCM):
            environment.install(requirement)
        return environment

    first = installed(tmp_path / "first")
    assert (first.site / "rocm_sdk/__init__.py").stat().st_nlink > 1
    expected = {name: content for name, content in first.files().items() if "/rocm_sdk/" in name}
    assert first.adopt().returncode == 0
    second = installed(tmp_path / "second").files()
    assert {name: second[name] for name in expected} == expected


def test_without_rocm(make_environment: Callable[..., Environment]) -> None:
    environment = make_environment("uv")
    environment.install(OURS, "rocm-sdk-core==7.10.0")
    before = environment.files()
    assert environment.adopt().stdout == "rocm is not installed here: nothing to do\n"
    assert environment.adopt("--undo").stdout == "rocm is not installed here: nothing to do\n"
    assert environment.files() == before
    assert_ours_works(environment)


def test_a_placeholder_is_left_alone(make_environment: Callable[..., Environment], tmp_path: Path) -> None:
    """The public index has an empty `rocm`: it is not AMD's, and its RECORD is not ours to write."""
    placeholder = make_wheel(tmp_path / "placeholders", "rocm", {"dummy_pkg/_init_.py": b""}, "0.1.0")
    environment = make_environment("uv")
    environment.install(OURS, str(placeholder))
    before = environment.files()
    assert environment.adopt().stdout == "rocm is not installed here: nothing to do\n"
    assert environment.files() == before


# --- interruptions: kill -9 at each of the renames, which are all that changes an installed file ----------------------


def renames_until_done(environment: Environment, *words: str) -> int:
    trace = environment.directory / "trace"
    calls = "rename,renameat,renameat2"
    adoption = [str(environment.python), "-m", "rocm_sdk.adoption", *words]
    subprocess.run(["strace", "-f", "-o", str(trace), "-e", f"trace={calls}", *adoption], check=True, stdout=-3)
    lines = [line for line in trace.read_text().splitlines() if "rename" in line and ".pyc" not in line]
    trace.unlink()
    return len(lines)


def kill_at_rename(environment: Environment, number: int, *words: str) -> None:
    kill = f"inject=rename,renameat,renameat2:signal=SIGKILL:when={number}"
    adoption = [str(environment.python), "-B", "-m", "rocm_sdk.adoption", *words]
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", kill, *adoption], check=False, stdout=-3)
    assert result.returncode in {-9, 137}, "it was not killed"


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--undo",)], ids=["adopt", "undo"])
def test_killed_at_any_point(make_environment: Callable[..., Environment], words: tuple[str, ...]) -> None:
    need("strace")
    environment = make_environment("uv")
    for requirement in (OURS, ROCM):
        environment.install(requirement)
    if words:
        environment.adopt()
    begin = environment.directory.with_name("begin")
    shutil.copytree(environment.directory, begin, symlinks=True)
    count = renames_until_done(environment, *words)
    finished = environment.files()
    assert count > 5
    for number in range(1, count + 1):
        shutil.rmtree(environment.directory)
        shutil.copytree(begin, environment.directory, symlinks=True)
        kill_at_rename(environment, number, *words)
        assert environment.adopt(*words).returncode == 0
        assert environment.files() == finished, f"killed at rename {number}"


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["_native*.so", "cli/__init__.py"])
def test_a_file_without_a_copy(make_environment: Callable[..., Environment], pattern: str) -> None:
    environment = make_environment("uv")
    for requirement in (ROCM, OURS):
        environment.install(requirement)
    (file,) = (environment.site / "rocm_sdk").glob(pattern)
    file.unlink()
    shared = environment.site / "rocm_sdk/__init__.py"
    shared.unlink()  # uv's cache may have the same file
    shared.write_text("")
    before = environment.files()
    refused = environment.adopt()
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"{file}: missing or overwritten" in refused.stderr
    assert "[E-PKG-006]" in refused.stderr
    assert "pip install --force-reinstall --no-deps build/wheel/rocm_sdk_loader-*.whl" in refused.stderr
    assert environment.files() == before


@pytest.mark.parametrize("distribution", ["rocm-7", "rocm_sdk_loader-"])
@pytest.mark.parametrize("content", [b"\xff,,\n", b"a\0b,,\n", b"a" * 200_000], ids=["not text", "NUL", "too long"])
def test_a_record_that_is_none(make_environment: Callable[..., Environment], distribution: str, content: bytes) -> None:
    environment = make_environment("uv")
    for requirement in (ROCM, OURS):
        environment.install(requirement)
    (record,) = environment.site.glob(f"{distribution}*.dist-info/RECORD")
    record.unlink()  # it may be a second name of a file in uv's cache
    record.write_bytes(content)
    before = environment.files()
    for words in ([], ["--check"], ["--undo"]):
        refused = environment.adopt(*words)
        assert (refused.returncode, refused.stdout) == (1, ""), words
        assert refused.stderr.startswith(f"rocm-sdk: {record} is not valid: "), words
        assert "\n  fix: install the distribution that it belongs to again\n" in refused.stderr
    assert environment.files() == before


def test_no_permission(
    make_environment: Callable[..., Environment], other_user: OtherUser, open_directory: Path
) -> None:
    environment = make_environment("uv", open_directory)
    for requirement in (ROCM, OURS):
        environment.install(requirement)
    before = environment.files()
    refused = other_user.run("-B", "-m", "rocm_sdk.adoption", PYTHONPATH=str(environment.site))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"rocm-sdk: {environment.site}: no permission")
    assert environment.files() == before


def test_a_directory_without_us(tmp_path: Path) -> None:
    from rocm_sdk.adoption import state
    from rocm_sdk.errors import RocmSdkError

    with pytest.raises(RocmSdkError, match="rocm-sdk-loader is not installed there"):
        state(tmp_path)
