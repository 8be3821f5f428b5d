"""preload_for: an extension module names what it needs, and no list of libraries has to."""

from pathlib import Path

import pytest
from sample_site import CORE, LIBRARIES, Site, compile_library, run_python


@pytest.fixture
def extension(site: Site, tmp_path: Path) -> Path:
    """Return a file that needs rocsparse through a library beside it, which its RPATH leads to, and amdhip64 itself."""
    hip = site.library("libamdhip64.so.7", "int hip(void) { return 7; }")
    roc = site.library("librocsparse.so.1", "int hip(void); int roc(void) { return hip(); }", (hip,), LIBRARIES)
    site.library("libamd_comgr.so.3")
    framework = tmp_path / "framework"
    framework.mkdir()
    inner = compile_library(
        framework / "libframework.so", "libframework.so", "int roc(void); int work(void) { return roc(); }", (roc,)
    )
    flags = ("-Wl,-rpath,$ORIGIN",)
    return compile_library(
        framework / "_ext.so", None, "int work(void); int run(void) { return work(); }", (inner, hip), flags
    )


def test_an_extension_loads_after_it(site: Site, extension: Path) -> None:
    program = f"""
        import ctypes, pathlib, rocm_sdk
        path = {str(extension)!r}
        try:
            ctypes.CDLL(path)
        except OSError:
            pass
        else:
            raise SystemExit("it loads by itself, this test shows nothing")
        libraries = rocm_sdk.preload_for(pathlib.Path(path))
        assert "libframework" not in open("/proc/self/maps").read()
        print(*(library.location.soname for library in libraries), ctypes.CDLL(path).run())
    """
    assert site.output(program, "-W", "error") == "libamdhip64.so.7 librocsparse.so.1 7"


def test_a_file_that_needs_nothing_of_the_sdk(site: Site, tmp_path: Path) -> None:
    plain = compile_library(tmp_path / "plain.so", None)
    assert site.output(f"import rocm_sdk; print(rocm_sdk.preload_for({str(plain)!r}))", "-W", "error") == "()"


@pytest.mark.parametrize("name", ["libabsent.so.3", "librccl.so.1"], ids=["of nobody", "of ROCm"])
def test_a_missing_dependency_is_a_warning(site: Site, tmp_path: Path, name: str) -> None:
    """Also a library that the SDK has not in any version."""
    site.library("libamdhip64.so.7")
    absent = compile_library(tmp_path / name, name)
    extension = compile_library(tmp_path / "ext.so", None, needed=(absent,))
    absent.unlink()
    result = site.run(f"import rocm_sdk; rocm_sdk.preload_for({str(extension)!r})")
    assert f"RocmSdkWarning: {extension} needs {name}" in result.stderr


def test_a_file_for_another_release_is_one_problem(site: Site, tmp_path: Path) -> None:
    """Built for ROCm 7, and the SDK is 5.2.3: each of its libraries has another number."""
    names = {"libamdhip64.so": (7, 5), "librocblas.so": (5, 0), "librocsparse.so": (1, 0)}
    wanted = []
    for name, (number, here) in names.items():
        wanted.append(compile_library(tmp_path / f"{name}.{number}", f"{name}.{number}"))
        site.library(f"{name}.{here}", package=CORE if "hip" in name else LIBRARIES)
    (site.path / "rocm_sdk_core/_dist_info.py").write_text("__version__ = '5.2.3'\n")
    extension = compile_library(tmp_path / "_ext.so", None, needed=tuple(reversed(wanted)))
    for path in wanted:
        path.unlink()
    program = f"""
        import rocm_sdk
        try:
            rocm_sdk.preload_for({str(extension)!r})
        except rocm_sdk.BadLibraryError as error:
            print(error.code, error.problem.title, error.problem.cause, error.fix, sep="\\n")
    """
    code, title, cause, fix = site.output(program, "-W", "error").splitlines()
    assert code == "E-LIB-024"
    assert title == "_ext.so was built for ROCm 7.0 or newer, the SDK is 5.2.3 and has libamdhip64.so.5"
    assert "the file needs libamdhip64.so.7 and 2 more of ROCm, which neither" in cause
    assert "https://stable.repo.amd.com/rocm/whl-next/ 'rocm[libraries]>=7.0'  # or take a build of _ext.so for" in fix


@pytest.mark.parametrize(
    ("content", "error"), [(None, "FileNotFoundError"), (b"", "OSError"), (b"\x7fELF rubbish", "OSError")]
)
def test_bad_files_are_named(site: Site, tmp_path: Path, content: bytes | None, error: str) -> None:
    path = tmp_path / "bad.so"
    if content is not None:
        path.write_bytes(content)
    program = f"""
        import rocm_sdk
        try:
            rocm_sdk.preload_for({str(path)!r})
        except {error} as error:
            assert isinstance(error, rocm_sdk.RocmSdkError)
            print(error)
    """
    assert str(path) in site.output(program)


def test_a_file_of_the_profiler_finds_the_profilers_libraries(site: Site, tmp_path: Path) -> None:
    """No shortname leads to that package, so it is looked into for given files only."""
    hip = site.library("libamdhip64.so.7", "int hip(void) { return 7; }")
    site.library("libamd_comgr.so.3")
    site.write("_rocm_profiler/__init__.py")
    inner = site.library(
        "librocprof-sys.so.1", "int hip(void); int inner(void) { return hip(); }", (hip,), "_rocm_profiler"
    )
    tool = compile_library(tmp_path / "tool.so", None, "int inner(void); int run(void) { return inner(); }", (inner,))
    program = f"""
        import ctypes, rocm_sdk
        (library,) = rocm_sdk.preload_for({str(tool)!r})
        print(library.location.package, library.location.soname, ctypes.CDLL({str(tool)!r}).run())
    """
    assert site.output(program, "-W", "error") == "profiler librocprof-sys.so.1 7"


@pytest.mark.parametrize("name", ["nothing.so", "text.so", "directory"])
def test_a_mistake_of_the_user_is_not_mended_by_an_installer(site: Site, tmp_path: Path, name: str) -> None:
    site.library("libamdhip64.so.7")
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "directory").mkdir()
    path = tmp_path / name
    program = f"""
        import rocm_sdk
        for function in (rocm_sdk.preload_for, rocm_sdk.device_code):
            try:
                function({str(path)!r})
            except rocm_sdk.RocmSdkError as error:
                print(error.fix)
    """
    fixes = site.output(program).splitlines()
    assert len(fixes) == 2
    for fix in fixes:
        assert "Name a" in fix or "else name one" in fix
        assert "pip" not in fix.replace(str(tmp_path), "")
        assert "explain" not in fix


def test_no_sdk(tmp_path: Path) -> None:
    """As by initialize_process: the packages and the line to type. What needs none of ROCm passes in silence."""
    needed = [compile_library(tmp_path / name, name) for name in ("librocsparse.so.1", "libamdhip64.so.7")]
    extension = compile_library(tmp_path / "ext.so", None, needed=tuple(needed))
    program = f"import rocm_sdk; print(rocm_sdk.preload_for({str(extension)!r}))"
    found = run_python(program, "-W", "error", LD_LIBRARY_PATH=str(tmp_path))
    assert found.stdout == "()\n", found.stderr
    for path in needed:
        path.unlink()
    result = run_python(program, check=False)
    first, fix = result.stderr.splitlines()[-2:]
    wanted = f"{extension} needs librocsparse.so.1: not installed: rocm-sdk-core, rocm-sdk-libraries [E-PKG-001]"
    assert first == f"rocm_sdk.errors.PackageNotInstalledError: {wanted}"
    assert '"rocm[libraries]"' in fix
    assert "Warning" not in result.stderr
