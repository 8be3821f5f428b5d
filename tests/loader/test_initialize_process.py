"""initialize_process: what it preloads and checks, for modules of a framework."""

import pytest
from ended import assert_refused
from sample_site import Site, run_python


@pytest.mark.parametrize("text", ["'amdhip64'", "b'amdhip64'"])
def test_a_text_in_place_of_a_list_is_a_type_error(text: str) -> None:
    program = f"""
        import rocm_sdk
        try:
            rocm_sdk.initialize_process(preload_shortnames={text})
        except TypeError as error:
            print(error)
    """
    answer = run_python(program).stdout.strip()
    assert answer == f"preload_shortnames is a list of names, not {text}: write [{text}]"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("preload_shortname", "preload_shortnames"),
        ("preload_shortnamse", "preload_shortnames"),
        ("chek_version", "check_version"),
        ("rtld_globol", "rtld_global"),
        ("env_overrides", "env_override"),
        ("check_versions_of", None),
        ("preload_for", None),
        ("versoin_check", None),
    ],
)
def test_a_misspelt_argument_is_a_warning(site: Site, given: str, meant: str | None) -> None:
    result = site.run(f"import rocm_sdk\nrocm_sdk.initialize_process({given}=None)")
    if meant is None:
        assert result.stderr == ""
    else:
        warning = f"initialize_process() ignores the unknown argument {given!r}: is {meant!r} meant?"
        assert result.stderr.startswith(f"<string>:2: RocmSdkWarning: {warning}")


def test_initialize_process_preloads_and_checks(chain: Site) -> None:
    program = """
        import rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], check_version="7.*", unknown_option=1)
        rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], check_version="7.10.0")
        print(list(rocm_sdk._ALL_CDLLS))
    """
    assert chain.output(program, "-W", "error") == "['hipsparse']"


@pytest.mark.parametrize("names", ["amdhip64;rocsparse", " amdhip64 , rocsparse,, "])
def test_environment_adds_libraries(chain: Site, names: str) -> None:
    program = """
        import rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=["hipsparse"]{})
        print(*rocm_sdk._ALL_CDLLS)
    """
    environment = {"ROCM_SDK_PRELOAD_LIBRARIES": names}
    assert chain.output(program.format(""), **environment) == "hipsparse amdhip64 rocsparse"
    assert chain.output(program.format(", env_override=False"), **environment) == "hipsparse"


def test_environment_that_fails_is_a_runtime_error_with_its_cause(chain: Site) -> None:
    program = """
        import rocm_sdk
        try:
            rocm_sdk.initialize_process()
        except RuntimeError as error:
            print(type(error).__name__, type(error.__cause__).__name__, error)
    """
    answer = chain.output(program, ROCM_SDK_PRELOAD_LIBRARIES="amdhip46")
    assert answer.startswith("EnvironmentOverrideError UnknownLibraryError")
    assert "ROCM_SDK_PRELOAD_LIBRARIES='amdhip46'" in answer


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ("'7.10.0'", True),
        ("'7.*'", True),
        ("'*'", True),
        ("'7.*.0'", True),
        ("'*10*'", True),
        ("'7*7.10.0'", False),
        ("'7.1'", False),
        ("'7.10.0.*'", False),
        ("'7.9.*'", False),
        ("'.*'", False),
        ("re.compile(r'7\\.1')", True),
        ("re.compile(r'7\\.1$')", False),
    ],
)
@pytest.mark.parametrize("fails", [True, False])
def test_version_check(site: Site, wanted: str, fits: bool, fails: bool) -> None:
    program = f"""
        import re, warnings, rocm_sdk
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                rocm_sdk.initialize_process(check_version={wanted}, fail_on_version_mismatch={fails})
            except RuntimeError as error:
                print("RuntimeError", type(error).__name__, error)
        for warning in caught:
            print(warning.category.__mro__[-5].__name__, warning.filename, warning.message)
    """
    answer = site.output(program)
    if fits:
        assert answer == ""
    else:
        assert answer.startswith("RuntimeError VersionMismatchError" if fails else "UserWarning <string>")
        assert "7.10.0" in answer


def test_a_version_that_is_no_text(site: Site) -> None:
    result = site.run("import rocm_sdk; rocm_sdk.initialize_process(check_version=7)", check=False)
    assert result.stderr.endswith("TypeError: check_version is a text or a compiled pattern, not 7\n")


def test_an_sdk_that_does_not_say_its_version(site: Site) -> None:
    """As a program of Nuitka's whose packages were compiled: their metadata is not a file."""
    site.library("libroctx64.so.4")
    (site.path / "rocm_sdk_core/_dist_info.py").unlink()
    program = """
        import warnings, rocm_sdk
        warnings.simplefilter("error")
        for shortnames in (None, ["roctx64"]):
            try:
                rocm_sdk.initialize_process(preload_shortnames=shortnames, check_version="*")
            except rocm_sdk.VersionMismatchWarning as warning:
                print(warning)
        print(hasattr(rocm_sdk, "__version__"))
    """
    first, second, known = site.output(program).splitlines()
    assert first == second
    assert "matching '*', and the installed SDK does not say its version; " in first
    assert known == "False"
    told = site.run("import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main(['version']))", check=False)
    assert_refused(told, 1, "None is not a version: the SDK's _dist_info.py is missing", "rocm-sdk-core")
