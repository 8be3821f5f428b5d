"""The common fixtures of the suite: a process state of its own, groups of tests for several workers, a sample site."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import suite_costs
from other_user import OtherUser, become_possible, open_directory
from parts import MARKERS, PARTS, chosen, names
from sample_machine import Machine, machine_of
from sample_site import Site
from system_programs import skip_if_lacking

import rocm_sdk

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# Variables of the caller that change what the tests see, by their beginnings.
FOREIGN_VARIABLES = (
    *("CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_", "HSA_", "ROCM_", "ROCR_", "container"),
    *("GLIBC_TUNABLES", "LANG", "LC_", "LD_", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON", "XDG_"),
    *("CLICOLOR", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR"),
)
OWN_VARIABLES = ("ROCM_SDK_TEST_",)  # how much the tests do

# Tests of one group run one after the other in one worker (--dist=loadgroup): path below tests/ -> group.
# `machine`: they measure time, mount something or fill a file system. The others share something that is made once.
GROUPS = {
    "real_sdk": "debian",
    "builder/test_bad_artifacts.py": "machine",
    "builder/test_estimate.py": "machine",
    "builder/test_real_packages.py": "debian",
    "builder/test_three_ways.py": "debian",
    "adoption": "adoption",
    "cli/test_completion.py": "completion",
    "closure/test_images.py": "machine",
    "cluster": "cluster",
    "closure/test_proof_hostile.py": "machine",
    "closure/test_proof_rights.py": "machine",
    "devel/test_killed.py": "machine",
    "devel/test_lock.py": "machine",
    "devel/test_overlay.py": "machine",
    "devel/test_refusals.py": "machine",
    "loader/test_load_watch.py": "machine",
    "loader/test_scale.py": "machine",
    "rewriting/test_room.py": "machine",
    "situations/test_load_check.py": "machine",
    "situations/test_loading.py": "make",
    "test_benchmarks.py": "machine",
    "test_c_suite.py": "make",
    "test_documentation.py": "documentation",
    "test_embedding.py": "make",
    "test_install.py": "make",
}

# Tests that install the wheels of build/wheel, which `make develop` leaves as they are.
BUILT_WHEEL_TESTS = ("adoption", "builder/test_demo.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only", choices=PARTS, help="only this part of the suite: tests/parts.py")
    suite_costs.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "installed_wheel: needs the wheel as pip installed it, not the sources in place")
    config.addinivalue_line(
        "markers", "built_wheel: installs the wheel of build/wheel, which must not be older than the sources"
    )
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.pluginmanager.register(suite_costs.Meter())
    _take_own_state()


def _take_own_state() -> None:
    """Set signals, limits, umask, environment and standard input, whatever the process inherited (nohup, ulimit)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for limit, wanted in ((resource.RLIMIT_NOFILE, 1024), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_STACK, 8 << 20)):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    os.umask(0o022)
    for name in [name for name in os.environ if name.startswith(FOREIGN_VARIABLES)]:
        if not name.startswith(OWN_VARIABLES):
            del os.environ[name]
    os.environ["LC_ALL"] = "C.UTF-8"
    _move_home(ROOT / "build/test-home")
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.dup2(descriptor, 0)
    os.close(descriptor)


def _move_home(home: Path) -> None:
    """Make an empty home directory, and keep the places where pip and uv get packages from and keep them."""
    before = Path(os.environ.get("HOME", "/nonexistent"))
    for variable, place in (("PIP_CONFIG_FILE", ".config/pip/pip.conf"), ("UV_CONFIG_FILE", ".config/uv/uv.toml")):
        if (before / place).is_file():
            os.environ.setdefault(variable, str(before / place))
    for variable, name in (("PIP_CACHE_DIR", "pip-cache"), ("UV_CACHE_DIR", "uv-cache")):
        os.environ[variable] = str(home.parent / name)
    home.mkdir(parents=True, exist_ok=True)
    os.environ["HOME"] = str(home)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests of one group to one worker.

    The group's marker in pytest-xdist 3.8 is lost with pytest 9.2.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc] # pytest-xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            file = config.rootpath / nodeid.partition("::")[0]
            groups = [GROUPS[place] for place in names(file.relative_to(TESTS).as_posix()) if place in GROUPS]
            return groups[0] if groups else nodeid

    return GroupScheduling(config, log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a value by its argument if it is a sentence or the text of a file."""
    is_text = isinstance(val, str) and (len(val) > 40 or val.count(" ") > 1 or "\n" in val)
    return argname if is_text else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if not {*names(item.nodeid.removeprefix("tests/"))}.isdisjoint(BUILT_WHEEL_TESTS):
            item.add_marker(pytest.mark.built_wheel)
    if part := config.getoption("only"):
        taken = chosen(part, items)
        config.hook.pytest_deselected(items=[item for item in items if item not in {*taken}])
        items[:] = taken


def _lacking_programs_skip() -> Generator[None, object, object]:
    try:
        return (yield)
    except FileNotFoundError as error:
        skip_if_lacking(error)
        raise


pytest_runtest_call = pytest_fixture_setup = pytest.hookimpl(wrapper=True)(_lacking_programs_skip)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if not Path(rocm_sdk.__file__).resolve().is_relative_to(ROOT / "rocm_sdk"):
        return
    if item.get_closest_marker("installed_wheel"):
        pytest.skip("needs the wheel as pip installed it, here the sources are in its place: make test")
    if item.get_closest_marker("built_wheel") and not _wheel_is_built():
        pytest.skip("installs the wheel of build/wheel, which is older than the sources: make wheel")


@cache
def _wheel_is_built() -> bool:
    command = ["make", "--question", "--silent", "build/wheel/loader.stamp", "build/wheel/builder.stamp"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="session", autouse=True)
def _away_from_the_sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the sources: programs started with `-c` or `-m` look into the current directory first.

    The installed package is tested, and not the sources.
    """
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    yield
    os.chdir(before)


@pytest.fixture(scope="session")
def benchmarks_parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a directory of sys.path with the package `benchmarks`, and without a source tree.

    A source tree would shadow the installed package. The directory is of the session: an imported package remembers
    where it was found, and must stay there.
    """
    directory = tmp_path_factory.mktemp("parent")
    (directory / "benchmarks").symlink_to(ROOT / "benchmarks")
    sys.path.insert(0, str(directory))
    yield directory
    sys.path.remove(str(directory))


@pytest.fixture(scope="session")
def other_user() -> Iterator[OtherUser]:
    """Yield a user who owns nothing, as whom a test can run programs."""
    with become_possible() as user:
        yield user


@pytest.fixture(name="open_directory")
def _open_directory() -> Iterator[Path]:
    """Yield a directory that other users may enter, unlike pytest's own."""
    with open_directory() as directory:
        yield directory


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine with a CPU node and amdgpu, and no GPU yet."""
    return machine_of(tmp_path / "machine")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Return a site-packages directory with an SDK that has no libraries yet, and whose libraries get no RPATH."""
    return Site(tmp_path / "site-packages")
