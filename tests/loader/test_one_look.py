"""A call that says what loading would do opens each file of the SDK once."""

import sys
import sysconfig
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from sample_site import CORE, LIBRARIES, Site, clean_environment, run_python
from system_calls import opened

LIBRARY_NAMES = ("libamdhip64.so.7", "libhiprtc.so.7", "librocsparse.so.1", "libhipsparse.so.1")
METADATA = ("_dist_info.py", "dist_info.json")
BINDINGS = "import rocm_sdk; rocm_sdk.bindings('hipsparse')"
LOCATED = "from rocm_sdk._native import open_sdk; open_sdk().located()"


@pytest.fixture
def sdk(site: Site) -> Site:
    """Return an SDK with hipsparse, which needs rocsparse, which needs amdhip64; hiprtc has a function of amdhip64."""
    who = "const char *who(void) { return 0; } const char *ask(void) { return who(); }"
    hip = site.library("libamdhip64.so.7", who)
    site.library("libhiprtc.so.7", who)
    rocsparse = site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    site.library("libhipsparse.so.1", needed=(rocsparse,), package=LIBRARIES)
    return site


def opens(sdk: Site, record: Path, *command: str) -> Counter[str]:
    found = opened([*command], sdk.path, record, clean_environment() | {"PYTHONPATH": str(sdk.path)})
    names = Counter[str]()
    for path, count in found.items():
        names[Path(path).name] += count
    return Counter({name: count for name, count in names.items() if ".so" in name or name in METADATA})


def once(*names: str) -> Counter[str]:
    return Counter([*names, "_dist_info.py"])


def test_bindings(sdk: Site, tmp_path: Path) -> None:
    found = opens(sdk, tmp_path / "calls", sys.executable, "-c", BINDINGS)
    assert found == once("libamdhip64.so.7", "librocsparse.so.1", "libhipsparse.so.1")


def test_what_is_installed(sdk: Site, tmp_path: Path) -> None:
    assert opens(sdk, tmp_path / "calls", sys.executable, "-c", LOCATED) == once(*LIBRARY_NAMES)


@pytest.mark.parametrize("form", [[], ["--bindings"], ["--bindings", "--json"]])
def test_tree_of_all(sdk: Site, tmp_path: Path, form: list[str]) -> None:
    script = str(Path(sysconfig.get_path("scripts"), "rocm-sdk"))
    assert opens(sdk, tmp_path / "calls", script, "tree", *form) == once(*LIBRARY_NAMES)


HOOK = """
    import importlib.util, sys
    class Hook:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == {package!r}:
                places = [{directory!r}]
                return importlib.util.spec_from_file_location(name, places[0] + "/__init__.py",
                                                              submodule_search_locations=places)
    sys.meta_path.append(Hook)
"""
TELL = """
from rocm_sdk._native import open_sdk, plan_and_bindings
found = open_sdk().located()
print(*(location.shortname for location in found if location is not None and location.path is not None))
for has_bindings in (False, True):
    plan, bindings, core = plan_and_bindings(None, (), has_bindings)
    print(*(step.shortname for step in plan.steps if step.requested), core, bindings is not None)
"""


def test_a_package_that_only_an_import_hook_knows(sdk: Site, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / LIBRARIES
    elsewhere.parent.mkdir()
    (sdk.path / LIBRARIES).rename(elsewhere)
    hook = textwrap.dedent(HOOK).format(package=LIBRARIES, directory=str(elsewhere))
    names = "amdhip64 hiprtc hipsparse rocsparse"
    core = sdk.path / CORE
    assert sdk.output(hook + TELL).splitlines() == [names, f"{names} {core} False", f"{names} {core} True"]
    names = "amdhip64 hiprtc"
    assert sdk.output(TELL).splitlines() == [names, f"{names} {core} False", f"{names} {core} True"]


@pytest.mark.parametrize("call", ["open_sdk().facts()", "plan_and_bindings(None, (), True)"])
def test_no_sdk(call: str) -> None:
    code = f"import rocm_sdk, rocm_sdk._native\ntry: rocm_sdk._native.{call}\nexcept rocm_sdk.{{}}: print(1)"
    assert run_python(code.format("PackageNotInstalledError")).stdout == "1\n"
