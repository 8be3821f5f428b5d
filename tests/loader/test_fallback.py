"""ROCM_SDK_FALLBACK: where no package of the SDK is installed, a whole ROCm from elsewhere."""

import json
import shutil
from pathlib import Path

import pytest
from sample_site import LIBRARIES, Site, compile_library

TELL = """
import json, rocm_sdk
try:
    places = [rocm_sdk.locate(name) for name in ("amdhip64", "hipsparse", "rocdxg")]
    loaded = rocm_sdk.preload_libraries("hipsparse")
    print(json.dumps([rocm_sdk.__version__, places, [each.location.path for each in loaded]]))
except rocm_sdk.RocmSdkError as error:
    print(json.dumps([type(error).__name__, error.code, error.message, error.fix]))
"""


def make_rocm(prefix: Path, version: str | None, library_directory: str = "lib") -> Path:
    """Make a ROCm below one directory; its libraries have no RPATH."""
    directory = prefix / library_directory
    directory.mkdir(parents=True)
    hip = compile_library(directory / "libamdhip64.so.6", "libamdhip64.so.6")
    compile_library(directory / "libhipsparse.so.1", "libhipsparse.so.1", needed=(hip,))
    (prefix / "bin").mkdir()
    (prefix / "bin/hipcc").write_text("#!/bin/sh\n")
    (prefix / "bin/hipcc").chmod(0o755)
    if version is not None:
        (prefix / ".info").mkdir()
        (prefix / ".info/version").write_text(f"{version}\n")
    return directory


@pytest.fixture
def empty(site: Site) -> Site:
    """Return a site-packages directory without an SDK."""
    shutil.rmtree(site.path)
    site.path.mkdir()
    return site


def tell(site: Site, fallback: str, **environment: str) -> list[object]:
    answer: list[object] = json.loads(site.output(TELL, ROCM_SDK_FALLBACK=fallback, **environment))
    return answer


@pytest.mark.parametrize("library_directory", ["lib", "lib64"])
@pytest.mark.parametrize("version", ["6.2.0-66", None])
def test_a_prefix(empty: Site, tmp_path: Path, library_directory: str, version: str | None) -> None:
    lib = make_rocm(tmp_path / "my rocm", version, library_directory)
    found, places, loaded = tell(empty, f"prefix:{tmp_path}/my rocm")
    assert found == ("6.2.0" if version else "unknown")
    assert places == [
        ["amdhip64", f"{lib}/libamdhip64.so.6", "libamdhip64.so.6", "core", "fallback"],
        ["hipsparse", f"{lib}/libhipsparse.so.1", "libhipsparse.so.1", "libraries", "fallback"],
        ["rocdxg", None, None, "core", "absent (optional)"],
    ]
    assert loaded == [f"{lib}/libhipsparse.so.1"]


@pytest.mark.parametrize(
    ("files", "version"),
    [
        (("libamdhip64.so.6.4.43484",), "6.4"),
        (("libamdhip64.so.6.4.43484", "libamdhip64.so.5.7.31921"), "unknown"),
        (("libamdhip64.so.6.4",), "unknown"),
        (("libamdhip64.so.6..1", "libamdhip64.so.", "libamdhip64.so.x.4.1"), "unknown"),
    ],
)
def test_the_version_of_a_distributions_rocm(empty: Site, tmp_path: Path, files: tuple[str, ...], version: str) -> None:
    """Debian's has no file that tells it; the file of the HIP runtime has its version in the name."""
    lib = make_rocm(tmp_path / "usr", None)
    for name in files:
        (lib / name).touch()
    assert tell(empty, f"prefix:{tmp_path}/usr")[0] == version


def test_conda(empty: Site, tmp_path: Path) -> None:
    lib = make_rocm(tmp_path / "environment", None)
    _, places, _ = tell(empty, "conda", CONDA_PREFIX=str(tmp_path / "environment"))
    assert isinstance(places, list)
    assert places[0][1] == f"{lib}/libamdhip64.so.6"
    assert tell(empty, "conda")[0] == "PackageNotInstalledError"


def test_the_first_place_that_has_one_is_taken_whole(empty: Site, tmp_path: Path) -> None:
    """The second one's hipblas is not used with the first one's runtime."""
    make_rocm(tmp_path / "one", "6.1.0")
    lib = make_rocm(tmp_path / "two", "6.2.0")
    compile_library(lib / "libhipblas.so.2", "libhipblas.so.2")
    places = f"prefix:{tmp_path}/none,prefix:{tmp_path}/one,prefix:{tmp_path}/two"
    assert tell(empty, places)[0] == "6.1.0"
    program = """
        import rocm_sdk
        try:
            rocm_sdk.locate("hipblas")
        except rocm_sdk.LibraryNotFoundError as error:
            print(error.path)
    """
    assert empty.output(program, ROCM_SDK_FALLBACK=places) == str(tmp_path / "one/lib")


def test_an_installed_sdk_is_never_mixed_with_it(site: Site, tmp_path: Path) -> None:
    """Neither where the packages have everything, nor where the package of the libraries is not installed."""
    lib = make_rocm(tmp_path / "rocm", "6.2.0")
    site.library("libamdhip64.so.7")
    site.library("libhipsparse.so.4", package=LIBRARIES)
    version, places, _ = tell(site, f"prefix:{tmp_path}/rocm")
    assert version == "7.10.0"
    assert str(lib) not in json.dumps(places)
    shutil.rmtree(site.path / LIBRARIES)
    assert tell(site, f"prefix:{tmp_path}/rocm")[0] == "PackageNotInstalledError"


def test_without_the_variable_there_is_none(empty: Site, tmp_path: Path) -> None:
    make_rocm(tmp_path / "rocm", None)
    assert json.loads(empty.output(TELL, ROCM_PATH=str(tmp_path / "rocm")))[0] == "PackageNotInstalledError"
    assert tell(empty, "")[0] == "PackageNotInstalledError"


@pytest.mark.parametrize("text", ["prefix:relative", "prefix:", "rocm", "SYSTEM", "/opt/rocm"])
def test_what_is_no_place(empty: Site, text: str) -> None:
    kind, code, message, fix = tell(empty, text)
    assert (kind, code) == ("EnvironmentOverrideError", "E-ENV-008")
    assert message == f"ROCM_SDK_FALLBACK: '{text}' is none of prefix:/absolute/path, conda, system"
    assert fix


ARGUMENT = """
import json, os, sys
import rocm_sdk
place = sys.argv[1]
functions = {
    "locate": lambda: rocm_sdk.locate("amdhip64", fallback=place).path,
    "find_libraries": lambda: str(rocm_sdk.find_libraries("amdhip64", fallback=place)[0]),
    "load_plan": lambda: rocm_sdk.load_plan("amdhip64", fallback=place).steps[0].path,
    "preload_for": lambda: [each.location.path for each in rocm_sdk.preload_for(sys.argv[2], fallback=place)],
    "preload_libraries": lambda: rocm_sdk.preload_libraries("amdhip64", fallback=place)[0].location.path,
    "initialize_process": lambda: rocm_sdk.initialize_process(preload_shortnames=["amdhip64"], fallback=place),
    "version": lambda: rocm_sdk.initialize_process(check_version="6.2.*", fallback=place),
}
answers = {}
for name, function in functions.items():
    try:
        answers[name] = function()
    except Exception as error:
        answers[name] = [type(error).__name__, getattr(error, "message", str(error))]
print(json.dumps(answers))
"""


def ask_with_argument(site: Site, *arguments: str, **environment: str) -> dict[str, object]:
    answers: dict[str, object] = json.loads(
        site.output(f"import sys; sys.argv[1:] = {arguments!r}\n{ARGUMENT}", **environment)
    )
    return answers


def test_the_argument_counts_in_place_of_the_variable(empty: Site, tmp_path: Path) -> None:
    lib = make_rocm(tmp_path / "rocm", "6.2.0")
    make_rocm(tmp_path / "other", "5.7.0")
    hip = f"{lib}/libamdhip64.so.6"
    user = compile_library(tmp_path / "user.so", "user.so", "", (Path(hip),))
    answers = ask_with_argument(
        empty, f"prefix:{tmp_path}/rocm", str(user), ROCM_SDK_FALLBACK=f"prefix:{tmp_path}/other"
    )
    found = dict.fromkeys(("locate", "find_libraries", "load_plan", "preload_libraries"), hip)
    assert answers == {**found, "preload_for": [hip], "initialize_process": None, "version": None}


def test_an_empty_argument_is_no_place(empty: Site, tmp_path: Path) -> None:
    make_rocm(tmp_path / "rocm", "6.2.0")
    answers = ask_with_argument(empty, "", __file__, ROCM_SDK_FALLBACK=f"prefix:{tmp_path}/rocm")
    assert answers["locate"][0] == "PackageNotInstalledError"  # type: ignore[index]


def test_an_argument_that_is_no_place_is_named(empty: Site) -> None:
    answers = ask_with_argument(empty, "rocm", __file__)
    assert answers["locate"] == [
        "EnvironmentOverrideError",
        "fallback: 'rocm' is none of prefix:/absolute/path, conda, system",
    ]
    result = empty.run("import rocm_sdk; rocm_sdk.locate('amdhip64', fallback=['system'])", check=False)
    assert "TypeError: fallback is a str such as 'prefix:/opt/rocm,conda,system', not ['system']" in result.stderr


def test_the_command_says_so(empty: Site, tmp_path: Path) -> None:
    make_rocm(tmp_path / "rocm", "6.2.0")
    place = f"prefix:{tmp_path}/rocm"

    def run(*words: str) -> tuple[str, str]:
        result = empty.run(f"import rocm_sdk.cli; rocm_sdk.cli.main({[*words]!r})", ROCM_SDK_FALLBACK=place)
        return result.stdout, result.stderr

    said = f"rocm-sdk: no package of the SDK is installed: this is the ROCm of {place} (ROCM_SDK_FALLBACK)\n"
    assert run("version") == ("6.2.0\n", said)
    assert json.loads(run("version", "--json")[0])["fallback"] == place
    assert f"taken from   {place}  (ROCM_SDK_FALLBACK)" in run("info")[0]
    assert json.loads(run("info", "--json")[0])["sdk"]["fallback"] == place
    assert run("path", "--tool", "hipcc")[0] == f"{tmp_path}/rocm/bin/hipcc\n"
    assert json.loads(run("path", "amdhip64", "--json")[0])["found_via"] == "fallback"
