"""ROCM_SDK_ROOT: the SDK in a directory in place of the one that sys.path leads to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ended import assert_refused
from other_user import OtherUser, program_with_rights, variables_of_program
from sample_site import CORE, DIST_INFO, LIBRARIES, Site

TELL = """
import json, rocm_sdk
try:
    rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], check_version="7.11.*", fail_on_version_mismatch=True)
    places = [rocm_sdk.locate("amdhip64").path, rocm_sdk.load_plan("hipsparse").steps[0].path]
    places += [each.location.path for each in rocm_sdk.loaded_libraries() if each.location.shortname == "hipsparse"]
    print(json.dumps([rocm_sdk.__version__, *places]))
except rocm_sdk.RocmSdkError as error:
    print(json.dumps([type(error).__name__, error.code, error.message, error.fix]))
"""
COMMAND = "import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main({words!r}))"


def fill(site: Site, version: str) -> Site:
    site.write("rocm_sdk_core/_dist_info.py", DIST_INFO.replace("7.10.0", version))
    hip = site.library("libamdhip64.so.7")
    site.library("libhipsparse.so.4", needed=(hip,), package=LIBRARIES)
    site.library("libamd_comgr.so.3")
    return site


@pytest.fixture
def installed(site: Site) -> Site:
    """Return the SDK on sys.path, which is of another version."""
    return fill(site, "7.10.0")


@pytest.fixture
def image(tmp_path: Path) -> Site:
    """Return the SDK in a directory of its own."""
    return fill(Site(tmp_path / "my image"), "7.11.0")


def tell(site: Site, root: str | Path, **environment: str) -> list[str]:
    result = site.run(TELL, "-W", "error", ROCM_SDK_ROOT=str(root), **environment)
    assert result.stderr == "", "an SDK that is not used is no fault"
    answer: list[str] = json.loads(result.stdout)
    return answer


def command(site: Site, root: str | Path, *words: str) -> subprocess.CompletedProcess[str]:
    return site.run(COMMAND.format(words=[*words]), check=False, ROCM_SDK_ROOT=str(root))


@pytest.mark.parametrize("end", ["", "/", "//"])
def test_it_is_the_sdk(installed: Site, image: Site, end: str) -> None:
    hip, sparse = image.path / CORE / "lib/libamdhip64.so.7", image.path / LIBRARIES / "lib/libhipsparse.so.4"
    assert tell(installed, f"{image.path}{end}") == ["7.11.0", str(hip), str(sparse), str(sparse)]


def test_an_empty_value_is_none(installed: Site) -> None:
    program = "import rocm_sdk; print(rocm_sdk.__version__, rocm_sdk._native.sdk_facts()['root'])"
    assert installed.output(program, ROCM_SDK_ROOT="") == "7.10.0 None"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "fault", "expected"),
    [
        ("image", "is not an absolute path", "the absolute path of a directory that is laid out as site-packages"),
        ("{at}/absent", "cannot be reached: No such file or directory", "the absolute path"),
        ("{at}/loop", "cannot be reached: Too many levels of symbolic links", "the absolute path"),
        ("{at}/file", "is not a directory", "the absolute path"),
        ("{at}/file/x", "cannot be reached: Not a directory", "the absolute path"),
        ("{at}/" + 300 * "x", "cannot be reached: File name too long", "the absolute path"),
        ("{at}/empty", "has no ROCm SDK in it", "the absolute path"),
        ("{at}/my image/" + CORE, "is a directory within an SDK", "{at}/my image"),
        ("{at}/my image/" + LIBRARIES + "/lib/", "is a directory within an SDK", "{at}/my image"),
        ("{at}/env", "is a Python environment", "{at}/env/lib/python3.12/site-packages"),
        ("{at}/rocm", "is a ROCm without packages", "ROCM_SDK_FALLBACK=prefix:{at}/rocm takes this one"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_names_the_variable(  # noqa: PLR0917
    installed: Site, image: Site, tmp_path: Path, value: str, fault: str, expected: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "env/lib/python3.12").mkdir(parents=True)
    (tmp_path / "env/lib/python3.12/site-packages").symlink_to(image.path)
    (tmp_path / "rocm/lib64").mkdir(parents=True)
    (tmp_path / "rocm/lib64/libamdhip64.so.6").touch()
    root = value.format(at=tmp_path)
    kind, code, message, fix = tell(installed, root)
    shown = root.rstrip("/")
    assert (kind, code, message) == ("EnvironmentOverrideError", "E-ENV-008", f"ROCM_SDK_ROOT: '{shown}' {fault}")
    assert fix.startswith("unset ROCM_SDK_ROOT  # or set it as documented: ")
    assert expected.format(at=tmp_path) in fix
    for words in (("version",), ("path", "--root"), ("init",), ("run", "true"), ("list",)):
        result = command(installed, root, *words)
        assert result.returncode == 1, words
        assert result.stderr.splitlines()[0] == f"rocm-sdk: {message} [E-ENV-008]", words
    assert message in command(installed, root, "info", "--json").stdout
    for words in ((), ("--only", "packages"), ("--only", "E-ENV-008")):
        document = json.loads(command(installed, root, "test", "--json", *words).stdout)
        assert [found["code"] for found in document["problems"] if found["severity"] == "error"] == ["E-ENV-008"]


@pytest.mark.parametrize(
    ("closed", "fault"),
    [("image", "is a directory that this user may not search"), ("", "cannot be reached: Permission denied")],
)
def test_a_directory_that_the_user_may_not_search(
    other_user: OtherUser, open_directory: Path, closed: str, fault: str
) -> None:
    root = Site(open_directory / "image").path
    (open_directory / closed).chmod(0o600)
    said = other_user.run("-m", "rocm_sdk", "version", ROCM_SDK_ROOT=str(root)).stderr
    (open_directory / closed).chmod(0o755)
    assert said.startswith(f"rocm-sdk: ROCM_SDK_ROOT: '{root}' {fault} [E-ENV-008]\n")


def test_a_program_with_the_rights_of_another_ignores_it(
    installed: Site, image: Site, other_user: OtherUser, tmp_path: Path
) -> None:
    """AT_SECURE is set where a program is set-user-ID: who starts it must not choose its libraries."""
    code = "import rocm_sdk; print(rocm_sdk.__version__, rocm_sdk._native.sdk_root())"
    variables = variables_of_program(other_user, installed.path) | {"ROCM_SDK_ROOT": str(image.path)}
    with program_with_rights(other_user, tmp_path, installed.path) as (user, program):
        result = user.run("-B", "-c", code, **variables)
        assert result.stdout == "7.10.0 None\n", result.stderr
        program.chmod(0o755)
        result = user.run("-B", "-c", code, **variables)
        assert result.stdout == f"7.11.0 {image.path}\n", result.stderr


def test_what_the_process_has_loaded_counts(installed: Site, image: Site) -> None:
    """The runtime of the SDK on sys.path is reused, with the warning that names both files."""
    old, new = (each.path / CORE / "lib/libamdhip64.so.7" for each in (installed, image))
    program = f"""
        import ctypes, warnings, rocm_sdk
        ctypes.CDLL({str(old)!r})
        with warnings.catch_warnings(record=True) as noticed:
            warnings.simplefilter("always")
            rocm_sdk.preload_libraries("hipsparse")
        print([each.category.__name__ for each in noticed])
        print({str(old)!r} in str(noticed[0].message), {str(new)!r} in str(noticed[0].message))
        print(len({{line.split()[-1] for line in open("/proc/self/maps") if "libamdhip64" in line}}))
    """
    said = installed.output(program, ROCM_SDK_ROOT=str(image.path))
    assert said == "['RocmLibraryConflictWarning']\nTrue True\n1"


@pytest.mark.slow
def test_the_commands_use_it(installed: Site, image: Site) -> None:
    def output(*words: str) -> str:
        result = command(installed, image.path, *words)
        assert result.returncode == 0, result.stderr
        return result.stdout

    assert output("version") == "7.11.0\n"
    assert json.loads(output("version", "--json"))["root"] == str(image.path)
    assert f"taken from   {image.path}  (ROCM_SDK_ROOT)" in output("info")
    assert json.loads(output("info", "--json"))["sdk"]["root"] == str(image.path)
    assert output("path", "--core") == f"{image.path}/{CORE}\n"
    for words in (["list"], ["tree", "hipsparse", "--json"]):
        assert str(image.path) in output(*words)
        assert str(installed.path) not in output(*words)
    code = "import os, rocm_sdk; print(rocm_sdk.__version__, os.environ['LD_LIBRARY_PATH'])"
    version, _, path = output("run", sys.executable, "-c", code).strip().partition(" ")
    assert (version, path.split(":")[0]) == ("7.11.0", f"{image.path}/{CORE}/lib")
    assert str(installed.path) not in path


def test_the_established_tables_know_it(installed: Site, image: Site) -> None:
    program = """
        from rocm_sdk import _dist_info
        print(_dist_info.__version__)
        print(_dist_info.ALL_PACKAGES["core"].get_py_package().origin)
    """
    said = installed.output(program, ROCM_SDK_ROOT=str(image.path))
    assert said == f"7.11.0\n{image.path}/{CORE}/__init__.py"


@pytest.mark.slow
def test_the_test_says_which_sdk_it_is(installed: Site, image: Site) -> None:
    words = ("test", "--only", "packages,libraries,environment", "-v")
    said = command(installed, image.path, *words).stdout
    assert said.startswith(f"SDK 7.11.0 in {image.path} (ROCM_SDK_ROOT)    ")
    assert f"ROCM_SDK_ROOT={image.path} changes which SDK is used" in said
    assert "W-PKG-005" not in said, "the SDK on sys.path is out of use, and no fault"
    document = json.loads(command(installed, image.path, *words, "--json").stdout)
    assert (document["site"], document["chosen_by"]) == (str(image.path), "ROCM_SDK_ROOT")
    assert {each["subject"]: each["count"] for each in document["subjects"]}["libraries"] == 3
    document = json.loads(command(installed, "", *words, "--json", "--target", str(image.path)).stdout)
    assert (document["site"], document["chosen_by"]) == (str(image.path), "--target")
    assert json.loads(command(installed, "", *words, "--json").stdout)["chosen_by"] is None


def test_the_development_tree_is_that_of_the_directory(installed: Site, image: Site) -> None:
    """The tree on sys.path has the headers of another version."""
    installed.write("rocm_sdk_devel/__init__.py")
    installed.write("_rocm_sdk_devel/__init__.py")
    result = command(installed, image.path, "path", "--root")
    assert_refused(result, 1, "the development package (rocm-sdk-devel) is not installed", str(image.path))
