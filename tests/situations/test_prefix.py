"""`rocm-sdk test --sdk PREFIX`: a ROCm that is to be packaged, in its forms and surroundings."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled_files import compile_file
from ended import assert_failed, succeeded
from installed_rocm import Prefix as Made
from of_prefixes import BY_NAME, ROWS, Fault
from other_user import become_possible, open_directory
from sample_prefix import CLANG, Stage, run_on_prefix, sound_stage
from sample_site import clean_environment, run_interpreter

from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.prefix_versions import Said, agree, release_of


def state_of(root: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """Return mode, time and content of everything below a directory."""
    found: dict[str, tuple[int, int, bytes | str]] = {}
    for path in root.rglob("*"):
        facts = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[str(path)] = (facts.st_mode, facts.st_mtime_ns, content)
    return found


# ---- sound


def test_a_sound_prefix_passes_and_stays_as_it_is(stage: Stage) -> None:
    program = stage.program("bin/debugged", "-no-pie")  # a debugger reads the staging directory of a program
    program.write_bytes(program.read_bytes() + os.fsencode(stage.destdir / "source.c"))
    before = state_of(stage.destdir)
    said = stage.test()
    assert said.status == 0, said.problems
    assert said.codes <= {"N-DEVEL-006"}
    assert said.document["version"] == "7.1.0"
    assert (said.document["site"], said.document["chosen_by"]) == (str(stage.root), "--sdk")
    counts = {each["subject"]: each["count"] for each in said.document["subjects"]}
    assert set(counts) == {"prefix", "libraries", "tools", "devel"}
    assert (counts["libraries"], counts["tools"]) == (3, 3)
    (unknown,) = said.subject("tools")["not_tried"]
    assert unknown == "2 programs that the self test does not know: debugged, rocblas-bench"
    assert state_of(stage.destdir) == before
    command = [sys.executable, "-m", "rocm_sdk", "test", "--sdk", stage.root]
    for variable in ("DESTDIR", "RPM_BUILD_ROOT"):
        text = succeeded(command, env=clean_environment() | {variable: str(stage.destdir)}).stdout.splitlines()
        assert text[0] == f"ROCm 7.1.0 in {stage.root}    for /opt/rocm-7.1"
        assert text[-1].startswith("no problems")


def test_another_sdk_of_the_machine_is_left_out(stage: Stage, tmp_path: Path) -> None:
    """Variables lead to a ROCm with a library of the same name that crashes."""
    other = tmp_path / "other/lib"
    other.mkdir(parents=True)
    crash = "__attribute__((constructor)) static void f(void) { __builtin_trap(); }"
    for soname in ("libhsa-runtime64.so.1", "libamdhip64.so.7"):
        command = ["gcc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-x", "c", "-"]
        compile_file(command, other / soname, crash)
    variables = {"ROCM_PATH": str(other.parent), "LD_LIBRARY_PATH": str(other), "ROCM_SDK_ROOT": "/nonexistent"}
    said = stage.test(**variables)
    assert said.status == 0, said.problems
    words = "it leads to another SDK, and was unset for this test"
    assert {f"with {name}: {words}" for name in ("ROCM_PATH", "ROCM_SDK_ROOT")} <= {
        *said.subject("prefix")["not_tried"]
    }


def test_a_package_alone_takes_what_it_needs_from_the_build_root(stage: Stage, tmp_path: Path) -> None:
    """A prefix has librocrand without HIP: the build root has HIP where the dynamic linker is told to look."""
    system = tmp_path / "system"
    system.mkdir()
    for name in ("libhsa-runtime64.so.1", "libamdhip64.so.7"):
        shutil.copy(stage.root / "lib" / name, system / name)
    alone = Stage(tmp_path / "alone")
    (alone.root / "lib").mkdir()
    for name in ("librocrand.so.1.1", "librocrand.so.1", "librocrand.so"):
        shutil.copy(stage.root / "lib" / name, alone.root / "lib" / name, follow_symlinks=False)
    found = alone.test().only("E-PREFIX-005")
    need = "librocrand.so.1.1 needs libamdhip64.so.7, which is in neither the prefix nor the build root"
    assert (found["title"], "libamdhip64.so.7" in found["fix"]) == (need, True)
    # LD_LIBRARY_PATH of a ROCm does not count, so the file has another name for this test.
    (system / "libamdhip64.so.7").rename(system / "libhidden.so")
    change = ["patchelf", "--replace-needed", "libamdhip64.so.7", "libhidden.so", alone.root / "lib/librocrand.so.1.1"]
    subprocess.run(change, check=True)
    assert alone.test(LD_LIBRARY_PATH=str(system)).status == 0


def test_another_rocm_in_the_search_path_is_named(tmp_path: Path) -> None:
    """DT_RPATH before LD_LIBRARY_PATH: the library of another prefix would come first."""
    other, own = sound_stage(tmp_path / "other"), sound_stage(tmp_path / "own")
    # Not below /tmp for the test: as an installed ROCm, which a directory of pytest is not.
    place = Path("/opt") / f"rocm-sdk-test-{os.getpid()}"
    try:
        place.symlink_to(other.root)
    except OSError as error:
        pytest.skip(f"/opt cannot be written: {error}")
    try:
        library = own.root / "lib/librocrand.so.1.1"
        subprocess.run(["patchelf", "--set-rpath", f"{place}/lib:$ORIGIN", library], check=True)
        found = own.test().only("W-LIB-011")
        assert "libamdhip64.so.7" in found["cause"] and str(place) in found["cause"]
    finally:
        place.unlink()


# ---- forms of prefixes


def test_without_a_staging_directory(tmp_path: Path) -> None:
    """The prefix is where it will be, as prefixes of Nix and conda are: texts that name it are right."""
    stage = sound_stage(tmp_path / "store of a'$(d) b:c")
    stage.file("lib/pkgconfig/hip.pc", f"prefix={stage.root}\n")
    said = run_on_prefix(stage.root)
    assert said.status == 0, said.problems
    assert "texts: no staging directory is named (--destdir)" in said.subject("prefix")["not_tried"]


def test_a_tree_of_links_to_other_prefixes(stage: Stage, tmp_path: Path) -> None:
    """As Nix's symlinkJoin makes it; the prefix itself is named by a link."""
    joined = tmp_path / "joined"
    for path in stage.root.rglob("*"):
        if not path.is_dir():
            target = joined / path.relative_to(stage.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    (tmp_path / "link").symlink_to(joined)
    said = run_on_prefix(tmp_path / "link", "--only", "prefix,libraries,tools")
    assert said.status == 0, said.problems
    assert said.subject("libraries")["count"] == 3


def test_an_environment_with_other_packages(stage: Stage) -> None:
    """Of an environment of conda what has ROCm's names: the others have faults of their own."""
    (stage.root / "conda-meta").mkdir()
    stage.file("lib/libopenblas.so.0.3", b"\x7fELF damaged")
    stage.file("lib/cmake/blas/blas-config.cmake", "set(broken\n")
    stage.link("bin/python", "python3.99")
    assert stage.test().status == 0
    (stage.root / "conda-meta").rmdir()
    assert {"E-LIB-006", "E-DEVEL-003", "E-PREFIX-002"} <= stage.test().codes


def test_a_prefix_for_another_machine(stage: Stage) -> None:
    """As a cross build makes it: what can be read is tested, nothing is loaded or started."""
    for path in [path for path in stage.root.rglob("*") if path.is_file() and not path.is_symlink()]:
        content = bytearray(path.read_bytes())
        if content[:4] == b"\x7fELF":
            content[18:20] = (21).to_bytes(2, "little")  # e_machine: 64-bit PowerPC
            path.write_bytes(content)
    shutil.copy(stage.root / "bin/rocminfo", stage.root / "lib/llvm/bin/clang")
    said = stage.test()
    assert said.status == 0, said.problems
    assert said.only("N-LIB-021")["path"] == str(stage.root)
    assert said.subject("libraries")["count"] == 0
    assert "rocminfo: it is for another machine" in said.subject("tools")["not_tried"]
    assert "the resource directory: clang is for another machine" in said.subject("devel")["not_tried"]


# Files of other software in a prefix -> whether the prefix is a ROCm. conda's stands for the system's.
@pytest.mark.parametrize(
    ("path", "is_there"),
    [
        ("bin/amdgpu-arch", False),
        ("lib/libamd.so.3", False),
        ("include/amd.h", False),
        ("lib/libamdhip64.so.7", True),
        ("include/hip/hip_version.h", True),
        ("lib/cmake/rocrand/rocrand-config.cmake", True),
    ],
)
def test_what_shows_a_rocm_among_other_software(tmp_path: Path, path: str, is_there: bool) -> None:
    prefix = Made(tmp_path / "usr")
    prefix.file("conda-meta/history", "")
    prefix.file("bin/python", "")
    if ".so" in path:
        prefix.library(path)
    else:
        prefix.file(path, "# nothing\n")
    said = run_on_prefix(prefix.root)
    assert ("E-PREFIX-001" not in said.codes) == is_there
    assert is_there or said.status == 1


@pytest.mark.slow
def test_an_empty_prefix_is_an_error_that_names_it(tmp_path: Path) -> None:
    for words in ((), ("--only", "libraries"), ("--only", "tools,devel")):
        said = run_on_prefix(tmp_path, *words)
        assert (said.status, said.codes) == (1, {"E-TEST-002" if words else "E-PREFIX-001"})
        assert all(str(tmp_path) in each["title"] + each["cause"] for each in said.problems)
    (tmp_path / "README").write_text("no ROCm")
    assert "it has README" in run_on_prefix(tmp_path).only("E-PREFIX-001")["cause"]


# ---- its version


@pytest.mark.parametrize(("name", "release"), [("_rocm_sdk_devel", "5.2.3"), ("rocm", "5.2.21153")])
def test_the_release_of_a_tree_of_packages(tmp_path: Path, name: str, release: str) -> None:
    """As Debian's: HIP counts its builds, and rocm-cmake its own releases. The packages say which release they are."""
    prefix = Made(tmp_path / name)
    prefix.file("share/rocm/cmake/ROCMConfigVersion.cmake", 'set(PACKAGE_VERSION "0.8.0")\n')
    prefix.file("share/hip/version", "HIP_VERSION_MAJOR=5\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=21153\n")
    prefix.library("lib/libamdhip64.so.5")
    info = tmp_path / "rocm_sdk_core-5.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 5.2.3\n")
    assert release_of(Prefix(str(prefix.root))) == release


def test_the_release_is_not_that_of_rocm_cmake(tmp_path: Path) -> None:
    prefix = Made(tmp_path / "rocm")
    prefix.file("share/rocm/cmake/ROCMConfigVersion.cmake", 'set(PACKAGE_VERSION "0.8.0")\n')
    assert release_of(Prefix(str(prefix.root))) is None
    prefix.file("lib/cmake/hip/hip-config-version.cmake", 'set(PACKAGE_VERSION "5.2.3")\n')
    assert release_of(Prefix(str(prefix.root))) == "5.2.3"
    pairs = {("1.2", "1.2.3"): True, ("1.2.3.4", "1.2.3.5"): True, ("1.2.3", "1.2.4"): False, ("1.2", "1.3.2"): False}
    for (first, second), is_one in pairs.items():  # three numbers count, or as many as both have
        assert agree(Said("a", "rocrand", first), Said("b", "rocrand", second)) == is_one
        assert agree(Said("a", "rocrand", second), Said("b", "rocrand", first)) == is_one


# ---- wrong words, rights, network, variables


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--sdk /nonexistent", "--sdk: /nonexistent is not a directory"),
        ("--sdk /usr --destdir /opt", "--destdir: /usr is not below /opt"),
        ("--destdir /opt", "--destdir needs --sdk PREFIX"),
        ("--sdk /usr --fix", "--fix is not for --sdk"),
        ("--pid 1 --fix", "--fix is not for --pid"),
        ("--merge /usr --deep", "--deep is not for --merge"),
        ("--pid 1 --only files", "--only is not for --pid"),
        ("--sdk /usr --only gpus", "nothing was tested: --only and --skip leave no subject"),
        ("--expect a", "--expect needs --merge DIR"),
        ("--output x", "--output needs --json"),
        ("--node", "--node needs --json"),
        ("--json --output %q", "--output: %q stands for nothing"),
        ("--only E-TEST-002", "--only: no subject reports E-TEST-002"),
        ("--only E-FILE-001,E-PROC-001", "--only: no subject reports E-PROC-001"),
        ("--only gpus --skip gpus", "nothing was tested"),
        ("--only gpus --target .", "nothing was tested"),
        ("--seconds=0", "not a number of seconds from 1 to 86400"),
        ("--seconds=x", "not a number of seconds from 1 to 86400"),
        ("--seconds=86401", "not a number of seconds from 1 to 86400"),
        ("--seconds=" + "1" * 5000, "not a number of seconds from 1 to 86400"),
    ],
    ids=lambda text: text[:30] if text.startswith("--") else "",
)
def test_wrong_words(words: str, message: str) -> None:
    assert_failed(run_interpreter("-m", "rocm_sdk", "test", *words.split(), check=False), 2, message)


@pytest.mark.slow
def test_a_user_without_rights_on_a_prefix_that_nobody_may_write() -> None:
    with become_possible() as user, open_directory() as directory:
        stage = sound_stage(directory / "stage")

        def test(*words: str | Path) -> tuple[int, str]:
            done = user.run("-m", "rocm_sdk", "test", "--sdk", stage.root, *words)
            return done.returncode, done.stdout

        for path in [stage.destdir, *stage.destdir.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
        assert test("--destdir", stage.destdir)[0] == 0
        for path in (path for path in stage.destdir.rglob("*") if path.is_dir()):
            path.chmod(0o755)
        (stage.root / "lib/libamdhip64.so.7.1.2").chmod(0)
        status, said = test("--destdir", stage.destdir)
        assert (status, "libamdhip64.so.7.1.2" in said) == (1, True)
        stage.root.chmod(0)
        status, said = test()
        assert (status, "E-PREFIX-001" in said, "this user cannot read it" in said) == (1, True, True)


def test_a_program_whose_library_is_nowhere(stage: Stage) -> None:
    gone = stage.library("lib/librocgone.so.1.0")
    stage.program("bin/rocminfo", "-no-pie", "-Wl,--no-as-needed", "-x", "none", str(gone))
    for path in stage.root.glob("lib/librocgone*"):
        path.unlink()
    found = [(each["code"], each["path"]) for each in stage.test("--only", "tools").problems]
    assert ("E-PREFIX-005", str(stage.root / "bin/rocminfo")) in found


def test_hostile_files(stage: Stage) -> None:
    """Pipes, links in circles, a directory named like a library, files of no text: nothing blocks or crashes."""
    for name in ("lib/librocpipe.so.1", "lib/cmake/hip/hip-pipe.cmake", "include/hip/pipe_version.h"):
        os.mkfifo(stage.root / name)
    (stage.root / "lib/libdirectory.so.1").mkdir()
    stage.link("lib/libcircle.so", "libcircle.so")
    stage.link("lib/loop", "..")
    stage.file("include/hip/bytes_version.h", bytes(range(256)) * 100)
    stage.file("bin/bytes", b"\xff\x00" * 1000, 0o755)
    said = stage.test()
    assert said.status == 1
    assert {each["code"] for each in said.problems if each["severity"] != "note"} == {"E-PREFIX-002", "E-DEVEL-003"}


# As a clang that is told where the device libraries are.
_ASKED = """
case "$CCC_OVERRIDE_OPTIONS $*" in
*--rocm-device-lib-path=*-###*) echo ' "-mlink-builtin-bitcode" "/other/ocml.bc"'; exit ;;
esac
"""


@pytest.mark.parametrize(
    ("name", "value", "broken"),
    [
        ("CCC_OVERRIDE_OPTIONS", "+--rocm-device-lib-path=/other", "E-PREFIX-010"),
        ("HIP_PLATFORM", "nvidia", "E-TOOL-001"),
    ],
)
def test_a_variable_is_the_cause(stage: Stage, name: str, value: str, broken: str) -> None:
    """The failures of a prefix's programs come from a variable: they run again without it, and it is named."""
    stage.file("lib/llvm/bin/clang", CLANG.replace("\n", _ASKED, 1), 0o755)
    stage.file("bin/hipconfig", '#!/bin/sh\ntest -z "$HIP_PLATFORM" || exit 3\n', 0o755)
    assert stage.test().status == 0
    said = stage.test(**{name: value})
    assert (said.only("E-ENV-010")["fix"], broken in said.codes, said.status) == (f"unset {name}", False, 1)


# ---- the report of `rocm-sdk test --sdk` about a prefix with one fault


OF_INSTALLERS = ("pip install", "rocm-sdk init", "--fix", "apt-get")


@pytest.mark.parametrize("fault", ROWS, ids=lambda each: each.name)
def test_a_fault(stage: Stage, fault: Fault) -> None:
    fault.make(stage)
    said = stage.test()
    found = [each for each in said.problems if each["severity"] != "note"]
    assert sorted(each["code"] for each in found) == sorted(fault.codes.split()), said.problems
    first = min(found, key=lambda each: each["code"])
    assert fault.says in first["title"] + first["cause"]
    assert said.status == int(any(each["severity"] == "error" for each in found))
    assert not [each for each in found if not each["fix"] or any(word in each["fix"] for word in OF_INSTALLERS)]
    if fault.is_run:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin", "/sbin"))
        words = shlex.split(first["fix"], comments=True)
        subprocess.run(words, env=clean_environment() | {"PATH": path}, check=True, capture_output=True)
        assert stage.test().status == 0


def test_the_linkers_configuration_of_the_package_counts(stage: Stage) -> None:
    BY_NAME["no search path"].make(stage)
    conf = stage.destdir / "etc/ld.so.conf.d/rocm.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("/opt/rocm-7.1/lib\n")
    said = stage.test()
    assert (said.status, "W-PREFIX-006" in said.codes) == (0, False)


@pytest.mark.slow
def test_a_code_alone_is_asked_for(stage: Stage) -> None:
    for name in ("need", "link by SONAME", "version of ROCm"):
        BY_NAME[name].make(stage)
        code = BY_NAME[name].codes
        assert stage.test("--only", code).codes == {code}
        assert code not in stage.test("--skip", code).codes
