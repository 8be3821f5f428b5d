"""The library without Python: a program that sees only the public headers preloads libraries, as C17 and as C++17."""

import subprocess
from pathlib import Path

import pytest
from ended import assert_failed
from programs import completed
from system_programs import need_cmocka

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests/embed/preload_from_c.c"
LIBRARY = ROOT / "build/c/gcc/librocm_sdk.a"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return completed(command)


def succeed(*command: str | Path) -> str:
    result = run(*command)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    need_cmocka()
    result = run("make", "-C", str(ROOT), "VARIANT=gcc", "c-programs")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with two libraries without RPATHs, the second of which needs the first."""
    directory = tmp_path_factory.mktemp("site") / "_rocm_sdk_core/lib"
    directory.mkdir(parents=True)
    source = directory / "empty.c"
    source.write_text("int present;\n")
    dependency, library = directory / "libdependency.so.1", directory / "libroctx64.so.4"
    shared = ("cc", "-shared", "-fPIC", "-Wl,--no-as-needed")
    succeed(*shared, "-Wl,-soname,libdependency.so.1", "-o", dependency, source)
    succeed(*shared, "-Wl,-soname,libroctx64.so.4", "-o", library, source, dependency)
    return directory.parent.parent


@pytest.fixture(scope="module", params=["c17", "c++17"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    is_c = request.param == "c17"
    built = tmp_path_factory.mktemp("program") / "preload_from_c"
    succeed(
        *(("gcc", "-x", "c") if is_c else ("g++", "-x", "c++")),
        *(f"-std={request.param}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'csrc/include'}", PROGRAM),
        *("-x", "none", LIBRARY, "-lelf", "-o", built),
    )
    return built


@pytest.mark.slow
def test_preloads_what_is_named(program: Path, site: Path) -> None:
    assert succeed(program, site, "roctx64") == f"roctx64 {site}/_rocm_sdk_core/lib/libroctx64.so.4\n"


def test_says_what_is_wrong(program: Path, site: Path) -> None:
    assert_failed(run(program, site, "roctx65"), 1, "unknown ROCm library name 'roctx65'", "did you mean roctx64")


def test_a_program_that_stands_for_a_function_that_it_calls_is_no_fault(tmp_path: Path) -> None:
    """A program that is bound to its place has an address for each function that it uses: all agree on it."""
    needed, plugin = tmp_path / "libneeded.so", tmp_path / "libplugin.so"
    (tmp_path / "needed.c").write_text("int who(void) { return 1; }\n")
    (tmp_path / "plugin.c").write_text("int who(void);\nint (*pointer)(void) = who;\n")
    (tmp_path / "own.c").write_text("int who(void);\nint (*own(void))(void) { return who; }\n")
    shared = ("cc", "-shared", "-fPIC")
    succeed(*shared, "-Wl,-soname,libneeded.so", tmp_path / "needed.c", "-o", needed)
    succeed(*shared, "-Wl,-soname,libplugin.so", tmp_path / "plugin.c", needed, "-o", plugin)
    program = tmp_path / "program"
    sources = (ROOT / "tests/embed/bindings_from_c.c", tmp_path / "own.c")
    places = ("-no-pie", "-fno-pie", f"-I{ROOT / 'csrc/include'}", f"-Wl,-rpath,{tmp_path}")
    succeed("gcc", *places, *sources, LIBRARY, needed, "-lelf", "-o", program)
    lines = [line.split("\t") for line in succeed(program, "foresee", "--", f"g={plugin}").splitlines()]
    (who,) = [line for line in lines if line[1] == "who"]
    assert who[3:] == [str(program), "meant"]
