"""open_sdk(): an SDK that is asked several times is read once, and answers as the functions of the same names."""

import sys
import textwrap
from pathlib import Path

import pytest
from sample_site import LIBRARIES, Site, clean_environment, run_python
from system_calls import opened

NAMES = ("amd_comgr", "amdhip64", "hsa-runtime64", "hiprand", "hipsparse", "rocrand", "rocsparse")
FILES = {
    "libamd_comgr.so.3": "_rocm_sdk_core",
    "libamdhip64.so.7": "_rocm_sdk_core",
    "libhsa-runtime64.so.1": "_rocm_sdk_core",
    "libhiprand.so.1": LIBRARIES,
    "libhipsparse.so.4": LIBRARIES,
    "librocrand.so.1": LIBRARIES,
    "librocsparse.so.1": LIBRARIES,
}


@pytest.fixture
def sdk(site: Site) -> Site:
    for soname, package in FILES.items():
        site.library(soname, package=package)
    return site


def test_each_file_is_opened_once(sdk: Site, tmp_path: Path) -> None:
    code = """
        from rocm_sdk import _native
        sdk = _native.open_sdk()
        sdk.facts(), sdk.package_directory("core"), sdk.built_targets()
        for name, *_ in _native.catalog():
            try:
                sdk.locate(name)
            except (ModuleNotFoundError, FileNotFoundError):
                pass
        sdk.located(), sdk.facts()
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    found = opened(command, sdk.path, tmp_path / "calls", clean_environment() | {"PYTHONPATH": str(sdk.path)})
    paths = [*(f"{package}/lib/{soname}" for soname, package in FILES.items()), "rocm_sdk_core/_dist_info.py"]
    assert {path: found[path] for path in paths} == dict.fromkeys(paths, 1)


def test_it_answers_as_the_functions(sdk: Site) -> None:
    code = """
        import rocm_sdk
        from rocm_sdk import _native
        sdk = _native.open_sdk()

        def told(question, *words):
            try:
                return question(*words)
            except rocm_sdk.RocmSdkError as error:
                return type(error), error.message, error.code, error.facts

        for method, words in (("facts", ()), ("built_targets", ()), *(("package_directory", (name,)) for name in
                              ("core", "libraries", "devel", "profiler"))):
            function = {"facts": "sdk_facts"}.get(method, method)
            assert told(getattr(sdk, method), *words) == told(getattr(_native, function), *words), (method, words)
        names = [name for name, *_ in _native.catalog()]
        for name in (*names, "hipsprase"):
            assert told(sdk.locate, name) == told(_native.locate, name), name
        failed = {name: told(sdk.locate, name)[0].__name__ for name in sdk.failures()}
        assert failed == sdk.failures() and "miopen" in failed and "hipsparse" not in failed
        found = {name for name, place in zip(names, sdk.located(), strict=True) if place is not None and place.path}
        print(*sorted(found))
        assert told(sdk.bindings, "hipsparse") == told(rocm_sdk.bindings, "hipsparse")
        for wrong in (lambda: sdk.package_directory("nothing"), lambda: sdk.locate(1), lambda: sdk.bindings(1)):
            try:
                wrong()
            except (TypeError, ValueError):
                continue
            raise AssertionError(wrong)
    """
    assert sdk.output(code).split() == sorted(NAMES)


def test_what_changes_later_is_not_seen(sdk: Site) -> None:
    code = """
        import os
        from rocm_sdk import _native
        sdk = _native.open_sdk()
        before = sdk.locate("hipsparse").path
        os.remove(before)
        assert sdk.locate("hipsparse").path == before
        try:
            _native.open_sdk().locate("hipsparse")
        except FileNotFoundError:
            print("a new one sees it")
    """
    assert sdk.output(code) == "a new one sees it"


def test_without_an_sdk() -> None:
    code = """
        from rocm_sdk import PackageNotInstalledError, _native
        sdk = _native.open_sdk()
        for question in (sdk.facts, lambda: sdk.package_directory("core"), lambda: sdk.locate("amdhip64")):
            for _ in range(2):
                try:
                    question()
                except PackageNotInstalledError as error:
                    print(error.code)
        print(set(sdk.located()))
    """
    assert run_python(code).stdout.splitlines() == [*["E-PKG-001"] * 6, "{None}"]


def test_damaged_metadata_is_said_by_each_question(sdk: Site) -> None:
    sdk.write("rocm_sdk_core/_dist_info.py", "__version__ = (\n")
    code = """
        from rocm_sdk import BadMetadataError, _native
        sdk = _native.open_sdk()
        for question in (sdk.facts, sdk.located, lambda: sdk.locate("amdhip64")):
            try:
                question()
            except BadMetadataError as error:
                print(error.path)
    """
    assert sdk.output(code).split() == [str(sdk.path / "rocm_sdk_core/_dist_info.py")] * 3


def test_one_thread_at_a_time(sdk: Site) -> None:
    """A second thread is refused or waits for nothing: no answer is mixed up, and nothing crashes."""
    code = """
        import threading
        from rocm_sdk import _native
        sdk, told = _native.open_sdk(), []

        def ask():
            for _ in range(50):
                try:
                    told.append(sdk.bindings("hipsparse").reference_count >= 0 and "answered")
                except RuntimeError as error:
                    told.append(str(error))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        [each.start() for each in threads], [each.join() for each in threads]
        print(len(told), *sorted(set(told)), sep="\\n")
    """
    count, *said = sdk.output(code).splitlines()
    assert count == "200"
    assert said[-1] == "answered"
    assert set(said) <= {"answered", "another thread is using this Sdk: make one in each thread"}


def test_it_is_made_by_the_function_alone(sdk: Site) -> None:
    code = """
        from rocm_sdk import _native
        kind = type(_native.open_sdk())
        for make in (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind), lambda: type("x", (kind,), {})):
            try:
                make()
            except TypeError:
                print("refused")
    """
    assert sdk.output(code).split() == ["refused"] * 4


ASK_AGAIN = """
from rocm_sdk import _native

def pages():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])

sdk = _native.open_sdk()
for count in (200, 800):
    before = pages()
    for _ in range(count):
        sdk.bindings("hipsparse")
print(pages() - before)
"""


@pytest.mark.slow
def test_questions_leave_no_memory(sdk: Site) -> None:
    """The memory of a plan is freed with the plan, and not with the SDK."""
    assert int(sdk.output(ASK_AGAIN)) < 100
