"""find_libraries and locate: from shortnames to files, and what they say when there is none."""

import ast
import json
import re
import sys

import pytest
from programs import completed
from sample_site import CORE, DIST_INFO, LIBRARIES, Site, clean_environment, run_python

import rocm_sdk
from rocm_sdk import _native

# The names of the established loader, which callers rely on.
ESTABLISHED = """
    amdhip64 hipfile hiprtc roctx64 rocprofiler-sdk rocprofiler-sdk-roctx roctracer64 rocm_smi64 rocdecode rocjpeg
    amd_smi
    rocm_sysdeps_liblzma rocm-openblas amd_comgr rocm_kpack rocdxg rpp hipblas hipblaslt hipfft hiprand hipsparse
    hipsolver
    hipsparselt rccl miopen origami hipdnn
"""

# The names that AMD's own bindings ask for beyond this list, and the names that the loader adds.
ADDED = """
    hiprtc-builtins rocblas rocfft rocrand rocsolver rocsparse hsa-runtime64 LLVM clang hsa-amd-aqlprofile64
    rocprofiler-register amdocl64 OpenCL
"""


def ask(site: Site, expression: str, **environment: str) -> str:
    """Return the value of an expression, or the exception: class names it can be caught by, message."""
    program = f"""
        import rocm_sdk
        try:
            print({expression})
        except Exception as error:
            print(*(base.__name__ for base in type(error).__mro__[:-3]), "|", error)
    """
    return site.output(program, **environment)


def test_catalog_has_each_name_once() -> None:
    names = [row[0] for row in _native.catalog()]
    assert sorted(names) == sorted([*ESTABLISHED.split(), *ADDED.split()])


@pytest.mark.parametrize("row", _native.catalog(), ids=lambda row: row[0])
def test_each_name_is_found_by_its_pattern(site: Site, row: tuple[str, str, str, str, str, bool]) -> None:
    shortname, package, pattern, _, directory, _ = row
    soname = pattern.replace("[-.]", "-").rstrip("*.").replace("*", "") + ".3"
    path = site.library(soname, package={"core": CORE, "libraries": LIBRARIES}[package], directory=directory)
    assert ask(site, f"rocm_sdk.find_libraries({shortname!r})") == f"[PosixPath('{path}')]"


def test_order_is_as_asked_and_optional_ones_are_skipped(site: Site) -> None:
    hip, sparse = site.library("libamdhip64.so.7"), site.library("libhipsparse.so.1", package=LIBRARIES)
    assert ask(site, "*rocm_sdk.find_libraries('hipsparse', 'rocdxg', 'amdhip64')") == f"{sparse} {hip}"


def test_locate_tells_how(site: Site) -> None:
    path = site.library("libamdhip64.so.7")
    assert ask(site, "tuple(rocm_sdk.locate('amdhip64'))") == str(
        ("amdhip64", str(path), "libamdhip64.so.7", "core", "file name")
    )
    assert ask(site, "tuple(rocm_sdk.locate('rocdxg'))") == "('rocdxg', None, None, 'core', 'absent (optional)')"


def test_unknown_name_offers_the_nearest(site: Site) -> None:
    answer = ask(site, "rocm_sdk.find_libraries('amdhip46')")
    assert answer.startswith("UnknownLibraryError RocmSdkError ModuleNotFoundError ImportError |")
    assert "'amdhip46'" in answer
    assert "did you mean amdhip64?" in answer


def test_missing_packages_are_named_at_once(site: Site) -> None:
    (site.path / LIBRARIES / "__init__.py").unlink()
    (site.path / LIBRARIES).rmdir()
    answer = ask(site, "rocm_sdk.find_libraries('hipsparse', 'amdhip64', 'rccl')")
    assert answer.startswith("PackageNotInstalledError RocmSdkError ModuleNotFoundError ImportError |")
    assert "'rocm[libraries]==7.10.0'" in answer
    assert "hipsparse, rccl" in answer


def test_without_an_sdk_everything_is_named() -> None:
    program = """
        import rocm_sdk
        try:
            rocm_sdk.find_libraries("hipsparse", "amdhip64")
        except ModuleNotFoundError as error:
            print(error)
    """
    answer = run_python(program, "-I").stdout
    assert "rocm-sdk-core, rocm-sdk-libraries" in answer
    assert '--index-url https://stable.repo.amd.com/rocm/whl-next/ "rocm[libraries]"' in answer


def test_absent_file_says_what_was_tried(site: Site) -> None:
    site.library("libamdhip64.so.7")
    answer = ask(site, "rocm_sdk.find_libraries('hiprtc')")
    assert answer.startswith("LibraryNotFoundError RocmSdkError FileNotFoundError OSError IndexError LookupError |")
    assert f"{site.path}/{CORE}/lib/libhiprtc.so*" in answer
    assert "SONAME" in answer


def test_declared_absent_is_skipped(site: Site) -> None:
    site.library("libamdhip64.so.7")
    site.write(
        f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": "gfx942", "absent_libraries": ["hipdnn"]}'
    )
    assert ask(site, "rocm_sdk.locate('hipdnn').found_via") == "absent (declared)"
    assert ask(site, "len(rocm_sdk.find_libraries('hipdnn', 'amdhip64'))") == "1"
    assert (
        "hipdnn is absent (declared)"
        in site.run("import rocm_sdk; rocm_sdk.preload_libraries('hipdnn')", ROCM_SDK_VERBOSE="1").stderr
    )


SMI = f"{CORE}/lib/librocm_smi64.so.1"
# Version of the SDK, the row of core's RECORD (None: no RECORD), and the code of the error; "": the SDK may lack it.
LEAVING = [
    ("10.1.0", "rocm_sdk_core/__init__.py", ""),
    ("10.1.0a20261120", "rocm_sdk_core/__init__.py", ""),
    ("10.2.0.dev0", None, ""),
    ("11.0.0+bkc.20270101", f"{LIBRARIES}/lib/librocm_smi64.so.1", ""),
    ("10.1.0", SMI, "E-FILE-001"),  # RECORD lists it: it is lost
    ("10.1.0rc1", f'"{SMI}"', "E-FILE-001"),
    ("10.0.0", "rocm_sdk_core/__init__.py", "E-API-001"),
    ("7.13.0", None, "E-API-001"),
]


def of_version(site: Site, version: str, row: str | None) -> Site:
    """Make the SDK one of this version, with one row in core's RECORD."""
    site.library("libroctx64.so.4", "int roctxMarkA(const char *text) { return 0; }")
    site.write("rocm_sdk_core/_dist_info.py", DIST_INFO.replace("7.10.0", version))
    if row is not None:
        site.write(f"rocm_sdk_core-{version}.dist-info/RECORD", f"{row},,\n")
    return site


@pytest.mark.parametrize(("version", "row", "code"), LEAVING)
def test_a_library_that_leaves_the_sdk(site: Site, version: str, row: str | None, code: str) -> None:
    """From 10.1 on, librocm_smi64 may be absent; a file that RECORD lists is lost in any version."""
    of_version(site, version, row)
    program = """
        import warnings, rocm_sdk
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                print(*rocm_sdk.find_libraries("rocm_smi64"), end="")
                rocm_sdk.initialize_process(preload_shortnames=["rocm_smi64", "roctx64"])  # as an older torch
            except rocm_sdk.LibraryNotFoundError as error:
                print(error.code, end="")
        print(*(f"|{each.category.__name__}: {each.message}" for each in told), sep="")
    """
    warning = f"|RocmSdkWarning: rocm_smi64: ROCm {version} has no such library any more: libamd_smi replaces it"
    assert site.output(program) == (code or warning)
    optional = "rocm_sdk._dist_info.ALL_LIBRARIES['rocm_smi64'].optional"
    assert ask(site, optional) == str(version.startswith(("10.1", "10.2", "11")))
    if not code:
        assert ask(site, "rocm_sdk.locate('rocm_smi64').found_via") == "absent (optional)"


def test_a_library_that_leaves_and_is_here(site: Site) -> None:
    path = of_version(site, "10.1.0", SMI).library("librocm_smi64.so.1")
    assert ask(site, "rocm_sdk.find_libraries('rocm_smi64')") == f"[PosixPath('{path}')]"
    path.write_bytes(b"no library")
    assert ask(site, "rocm_sdk.find_libraries('rocm_smi64')").startswith("BadLibraryError")


def test_the_rest_of_an_sdk_without_the_library_that_left(site: Site) -> None:
    """`rocm-sdk test` is green, and list says that the library is optional."""
    of_version(site, "10.1.0a20261120", f"{CORE}/lib/libroctx64.so.4")
    call = [sys.executable, "-m", "rocm_sdk"]
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    done = completed([*call, "test", "--only", "api", "--json"], env=environment)
    assert "rocm_smi64" not in done.stdout + done.stderr
    assert not json.loads(done.stdout)["problems"], done.stdout
    rows = json.loads(completed([*call, "list", "--json"], env=environment).stdout)["libraries"]
    assert [each["optional"] for each in rows if each["shortname"] in {"roctx64", "rocm_smi64"}] == [False, True]


@pytest.mark.parametrize("argument", ["1", "None", "b'amdhip64'"])
def test_names_must_be_text(argument: str) -> None:
    with pytest.raises(TypeError, match="shortname must be a str"):
        rocm_sdk.locate(ast.literal_eval(argument))


@pytest.mark.parametrize("function", ["bindings", "load_plan"])
def test_one_path_is_no_list_of_paths(function: str) -> None:
    """The letters of the path would be looked for."""
    for path in ("/bin/true", b"/bin/true"):
        with pytest.raises(TypeError, match=re.escape(f"files is a list of paths, not {path!r}: write [{path!r}]")):
            getattr(_native, function)(files=path)


KEYWORDS = {
    "locate": {"overrides", "fallback"},
    "locate_all": {"overrides", "fallback"},
    "load_plan": {"overrides", "fallback", "rtld_global", "files", "new_process"},
    "preload_libraries": {"overrides", "fallback", "rtld_global", "unversioned_names"},
    "preload_for": {"overrides", "fallback", "rtld_global"},
    "bindings": {"overrides", "fallback", "rtld_global", "files", "every"},
}


@pytest.mark.parametrize("function", KEYWORDS)
def test_each_function_has_its_own_keywords(function: str) -> None:
    for keyword in {*set().union(*KEYWORDS.values()), "foreign"}:
        with pytest.raises((TypeError, AttributeError, rocm_sdk.RocmSdkError)) as found:
            getattr(_native, function)("nothing", **{keyword: ()})
        is_refused = "invalid keyword argument" in str(found.value)
        assert is_refused is (keyword not in KEYWORDS[function]), keyword


def test_errors_can_be_pickled() -> None:
    import pickle

    error = rocm_sdk.LibraryLoadError("/path: detail", "fix", "/path", detail="detail")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.message, copy.detail, copy.fix, copy.path) == ("/path: detail", "detail", "fix", "/path")
    assert str(copy) == str(error)


def test_the_detail_of_an_error_that_begins_with_no_path() -> None:
    with pytest.raises(rocm_sdk.UnknownLibraryError) as found:
        rocm_sdk.locate("nothing")
    assert found.value.detail == found.value.message


@pytest.mark.slow
def test_a_loop_over_the_table_works_on_an_sdk_with_the_established_libraries(site: Site) -> None:
    """Libraries that only other callers ask for (LLVM, OpenCL, ...) are optional."""
    established = ESTABLISHED.split()
    for name in established:
        row = rocm_sdk._dist_info.ALL_LIBRARIES[name]
        if not row.optional:
            soname = row.so_pattern.replace("*", "1").replace("so1", "so.1")
            package = f"_{row.package.get_dist_package_name('gfx942')}".replace("-", "_").removesuffix("_gfx942")
            site.library(soname, package=package, directory=row.posix_relpath)
    program = """
        import rocm_sdk
        names = [*rocm_sdk._dist_info.ALL_LIBRARIES]
        print(len(rocm_sdk.find_libraries(*names)), *(name for name in names if rocm_sdk.locate(name).path is None))
        rocm_sdk.preload_libraries(*names)
    """
    count, *absent = site.output(program).split()
    assert int(count) == len(established) - 1
    assert absent[0] == "rocdxg"
    assert {"LLVM", "clang", "OpenCL", "amdocl64", "hiprtc-builtins", "rocblas", "hsa-runtime64"} <= {*absent}
    assert {*absent}.isdisjoint({*established} - {"rocdxg"})
