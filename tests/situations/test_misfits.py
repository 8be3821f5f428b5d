"""Libraries that do not fit each other: the fix is for what comes first, not for the file that dlerror names first."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from checked_files import document
from command_fixtures import Call
from sample_report import install, reinstalls, run_test
from sample_site import CORE, LIBRARIES, Site, compile_library, run_python

Attempt = Callable[..., tuple[str, str, str, str]]
Form = tuple[str, str, str]


def versioned(path: Path, soname: str, version: str, source: str, *flags: str) -> Path:
    """Compile a library that defines its symbols with a version, and the base version of that kind."""
    base = version.rpartition("_")[0] + "_1"
    script = path.parent / f"{version}.map"
    path.parent.mkdir(parents=True, exist_ok=True)
    own = "" if version == base else f"{base} {{ }}; "
    script.write_text(f"{own}{version} {{ global: *; }};")
    return compile_library(path, soname, source, (), (f"-Wl,--version-script={script}", *flags))


COMPARE = "rocm-sdk test --deep  # compares the packages with each other, and their files with RECORD"

# The library that comes first, the version that the SDK's library needs, and the version that the first one has.
FORMS = (
    ("libstdc++.so.6", "GLIBCXX_3.4.99", "GLIBCXX_3.4.7"),
    ("libvendor.so.2", "VENDOR_12", "VENDOR_9"),
)


def problems_of(verdict: dict[str, object]) -> list[dict[str, str]]:
    found = verdict["problems"]
    assert isinstance(found, list)
    return found


def displaced(sdk: Site, tmp_path: Path, form: Form) -> tuple[Path, Path]:
    """Let HIP need a version of a library; return the library's newer and older directories."""
    name, wanted, old = form
    new = versioned(tmp_path / "new" / name, name, wanted, "int vendor(void) { return 2; }")
    source = "int vendor(void); int hipGetDeviceCount(int *n) { return *n = vendor(); }"
    sdk.library("libamdhip64.so.7", source, (new,))
    install(sdk)
    return new.parent, versioned(tmp_path / "conda/lib" / name, name, old, "int old_vendor(void) { return 1; }").parent


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
def test_an_older_library_by_a_variable(sdk: Site, tmp_path: Path, call: Call, attempt: Attempt, form: Form) -> None:
    """Exception, check and test give one sentence, and the fix helps."""
    name, wanted, old = form
    new, other = displaced(sdk, tmp_path, form)
    sentence = f"it needs {wanted} of {name}, and {other}/{name}, brought in by LD_LIBRARY_PATH, has at most {old}"
    fix = f"unset LD_LIBRARY_PATH  # or take {other} out of it"
    both = {"LD_LIBRARY_PATH": f"{other}:{new}"}
    _, code, message, advice = attempt(sdk, "initialize_process(preload_shortnames=['amdhip64'])", **both)
    assert (code, advice) == ("E-LIB-020", fix)
    assert sentence in message
    user = compile_library(tmp_path / "u.so", None, "", (sdk.path / CORE / "lib/libamdhip64.so.7",))
    (found,) = problems_of(document(call, user, **both))
    assert (found["code"], found["cause"], found["fix"]) == ("E-LIB-020", sentence, fix)
    said = run_test(sdk.path, "--only", "libraries", **both).only("E-LIB-020")
    assert (said["cause"], said["fix"]) == (sentence, fix)
    assert attempt(sdk, "initialize_process(preload_shortnames=['amdhip64'])", LD_LIBRARY_PATH=str(new))[1] == ""


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
def test_an_older_library_that_was_loaded_before(sdk: Site, tmp_path: Path, form: Form) -> None:
    """Conda's own is renewed by conda; of others the order changes. The library that brought it in is named."""
    name, _, old = form
    new, other = displaced(sdk, tmp_path, form)
    flags = ("-Wl,-rpath," + str(other), "-Wl,--disable-new-dtags")
    mpi = compile_library(tmp_path / "libmpi.so.40", "libmpi.so.40", "", (other / name,), flags)
    program = """
        import ctypes, rocm_sdk
        try:
            {first}
            rocm_sdk.initialize_process(preload_shortnames=['amdhip64'])
            ctypes.CDLL({mpi!r})
        except rocm_sdk.RocmSdkError as error:
            print(error.message, error.fix, sep="\\n")
    """

    def said(first: str) -> list[str]:
        variables = {"PYTHONPATH": str(sdk.path), "LD_LIBRARY_PATH": str(new)}
        return run_python(program.format(first=first, mpi=str(mpi)), **variables).stdout.splitlines()

    message, fix = said(f"ctypes.CDLL({str(mpi)!r})")
    assert f"and {other}/{name}, brought in by the RPATH of libmpi.so.40, has at most {old}" in message
    assert fix == "Import and initialise rocm_sdk before libmpi.so.40 is loaded"
    assert said("pass") == []  # the order that the fix asks for
    (tmp_path / "conda/conda-meta").mkdir()
    conda = f"conda install --prefix {tmp_path}/conda -c conda-forge libstdcxx-ng  # a newer one"
    assert said(f"ctypes.CDLL({str(mpi)!r})")[1] == (conda if name == "libstdc++.so.6" else fix)


@pytest.mark.parametrize(
    ("name", "version"), [("libhsa-runtime64.so.1", "ROCR_1"), ("librocprofiler-register.so.0", None)]
)
def test_a_symbol_that_an_older_library_of_the_name_lacks(
    sdk: Site, tmp_path: Path, attempt: Attempt, name: str, version: str | None
) -> None:
    """With a version the symbol names its library; without, another file of the name has the symbol."""
    script = tmp_path / "map"
    script.write_text(f"{version} {{ global: *; }};")
    flags = (f"-Wl,--version-script={script}",) if version else ()
    own = sdk.library(name, "int added(void) { return 0; }", flags=flags)
    sdk.library("libamdhip64.so.7", "int added(void); int f(void) { return added(); }", (own,), flags=("-Wl,-z,now",))
    install(sdk)
    (tmp_path / "app").mkdir()
    old = compile_library(tmp_path / "app" / name, name, "int old(void) { return 0; }", (), flags)
    _, code, message, fix = attempt(sdk, "initialize_process(preload_shortnames=['amdhip64'])", LD_PRELOAD=str(old))
    assert code == "E-LIB-020"
    assert f"it needs added of {name}, and {old}, brought in by LD_PRELOAD, does not have it" in message
    assert fix == f"unset LD_PRELOAD  # or take {old} out of it"


@pytest.mark.parametrize("soname", ["librocdxg.so.1", "libroctx64.so.4"])
def test_a_library_of_the_system_is_not_to_be_brought_again(sdk: Site, tmp_path: Path, call: Call, soname: str) -> None:
    """TheRock 6245: the file that needs more is the subject, and the system's library the object."""
    future = versioned(
        tmp_path / "new/libstdc++.so.6", "libstdc++.so.6", "GLIBCXX_3.4.99", "int future(void) { return 0; }"
    )
    path = sdk.library(soname, "int future(void); int f(void) { return future(); }", (future,))
    install(sdk)
    found = run_test(sdk.path, "--only", "libraries").only("E-LIB-020")
    assert found["title"] == f"{soname} does not fit what it needs"
    assert found["path"] == str(path)
    assert found["cause"].startswith("it needs GLIBCXX_3.4.99 of libstdc++.so.6, and /")
    assert found["fix"].startswith("Use a newer release of the system, or an SDK that was built for this one  # /")
    alone = shutil.copy(path, tmp_path)
    (other,) = problems_of(document(call, alone))
    assert other["cause"] == found["cause"]
    assert other["fix"] == f"Take a build of {soname} that fits what is here, or install what it was built with"


@pytest.mark.parametrize(("needing", "other"), [("hipsparse", "librocsparse.so.1"), ("rocsparse", "libamdhip64.so.7")])
def test_only_a_file_of_another_size_is_installed_again(sdk: Site, attempt: Attempt, needing: str, other: str) -> None:
    """The package of the file that was changed, not the one that needs the symbol; without a change, none."""
    package = CORE if "hip64" in other else LIBRARIES
    path = sdk.path / package / "lib" / other
    sdk.library(
        f"lib{needing}.so.1",
        "int added(void); int f(void) { return added(); }",
        (path,),
        LIBRARIES,
        flags=("-Wl,-z,now",),
    )
    call = f"initialize_process(preload_shortnames=['{needing}'])"
    install(sdk)
    _, code, message, fix = attempt(sdk, call)
    assert (code, fix) == ("E-LIB-020", COMPARE)
    assert "undefined symbol: added" in message
    sdk.library(other, "char padding[99999] = {1};", package=package)
    distribution = package.strip("_").replace("_", "-")
    fix = attempt(sdk, call)[3]
    assert reinstalls(fix, f"{distribution}==7.10.0")
    assert f"# {other} has {path.stat().st_size} bytes, " in fix
