"""The costs and promises of `import rocm_sdk`, which runs inside `import torch`."""

import sys

import pytest
from sample_site import LIBRARIES, Site, run_python

HEAVY = {"ctypes", "re", "pathlib", "dataclasses", "json", "importlib.metadata", "warnings", "typing", "argparse"}


def test_import_brings_in_nothing_but_the_extension() -> None:
    program = """
        import sys
        before = set(sys.modules)
        import rocm_sdk
        print(*sorted(set(sys.modules) - before))
    """
    assert run_python(program, "-I").stdout.split() == ["rocm_sdk", "rocm_sdk._native"]


def test_initialize_process_needs_no_heavy_module(site: Site) -> None:
    site.library("libhiprand.so.1", package=LIBRARIES)
    program = """
        import sys
        before = set(sys.modules)
        import rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=["hiprand"], check_version="7.*")
        print(*sorted(set(sys.modules) - before))
    """
    assert not HEAVY & set(site.output(program).split())


def test_without_an_sdk_the_import_works_and_the_version_says_what_to_install() -> None:
    program = """
        import rocm_sdk
        assert not hasattr(rocm_sdk, "__version__")
        assert rocm_sdk.loader_version.count(".") == 2
        try:
            rocm_sdk.__version__
        except AttributeError as error:
            print(error)
    """
    assert "[E-PKG-001]" in run_python(program, "-I").stdout


def test_version_is_that_of_the_sdk(site: Site) -> None:
    assert site.output("import rocm_sdk; print(rocm_sdk.__version__)") == "7.10.0"


def test_from_import_of_every_public_name() -> None:
    run_python("import rocm_sdk; [getattr(rocm_sdk, name) for name in rocm_sdk.__all__]", "-I")


def test_dir_has_the_public_names_and_nothing_else() -> None:
    program = """
        import rocm_sdk
        print(*sorted({*dir(rocm_sdk)} ^ {*rocm_sdk.__all__, "__version__", "targets"}))
        print(*(name for name in dir(rocm_sdk) if name != "__version__" and not hasattr(rocm_sdk, name)))
    """
    assert run_python(program, "-I").stdout.split() == []


def test_unknown_attribute_is_an_attribute_error() -> None:
    program = """
        import rocm_sdk
        try:
            rocm_sdk.nonsense
        except AttributeError as error:
            print(error)
    """
    assert run_python(program, "-I").stdout.strip() == "module 'rocm_sdk' has no attribute 'nonsense'"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="interpreters with a GIL of their own exist since 3.12")
def test_subinterpreters_with_their_own_gil(site: Site) -> None:
    site.library("libamdhip64.so.7")
    program = """
        import rocm_sdk
        try:
            import _interpreters as interpreters
            own_gil = interpreters.create("isolated")
        except ImportError:
            import _xxsubinterpreters as interpreters
            own_gil = interpreters.create(isolated=True)
        rocm_sdk.preload_libraries("amdhip64")
        failure = interpreters.run_string(own_gil, '''
        import rocm_sdk
        (library,) = rocm_sdk.preload_libraries("amdhip64")
        assert library.already_loaded
        assert len(rocm_sdk.loaded_libraries()) == 1
        '''.replace("\\n        ", "\\n"))
        assert failure is None, failure
        print("both")
    """
    assert site.output(program) == "both"


def test_subinterpreter_that_shares_the_gil(site: Site) -> None:
    site.library("libamdhip64.so.7")
    program = """
        import sys
        if sys.version_info >= (3, 13):
            import _interpreters as interpreters
            shared = interpreters.create("legacy")
        else:
            import _xxsubinterpreters as interpreters
            shared = interpreters.create(isolated=False)
        code = "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64'); print('loaded', flush=True)"
        interpreters.run_string(shared, code)
    """
    assert site.output(program) == "loaded"
