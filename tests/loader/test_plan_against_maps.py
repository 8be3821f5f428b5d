"""The files that a plan names are the ones that are loaded: load_plan beside /proc/self/maps after loading."""

from pathlib import Path

import pytest
from sample_site import CORE, Site, compile_library

ROOT = "libroctx64.so.4"
DEPENDENCY = "libdep.so.1"
COMPARE = """
    import os, sys, rocm_sdk
    site, names = sys.path[1], {names}
    plan = rocm_sdk.load_plan(*names)
    planned = {{path for step in plan.steps for path in step.members}}
    assert not any(step.missing for step in plan.steps), plan
    rocm_sdk.preload_libraries(*names)
    mapped = {{line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if site in line}}
    print(sorted(os.path.relpath(path, site) for path in planned ^ mapped))
    print(*(step.method for step in plan.steps))
"""


def compare(site: Site, *names: str, cwd: Path | None = None) -> tuple[str, str]:
    """Return the files that only one of the plan and the maps has, and the methods of the steps."""
    move = f"import os; os.chdir({str(cwd)!r})" if cwd else ""
    program = f"{move}\nimport sys; sys.path.insert(1, {str(site.path)!r})\n"
    lines = [line.removeprefix("    ") for line in COMPARE.format(names=names).splitlines()]
    different, methods = site.output(program + "\n".join(lines)).splitlines()
    return different, methods


def rpath(text: str) -> tuple[str, ...]:
    return ("-Wl,--disable-new-dtags", f"-Wl,-rpath,{text}")


def decoy(directory: Path) -> None:
    """Make a library of the same name somewhere else."""
    directory.mkdir(parents=True, exist_ok=True)
    compile_library(directory / DEPENDENCY, DEPENDENCY, "int decoy;")


@pytest.mark.parametrize("before", ["", "$ORIGIN/nowhere:"])
def test_empty_entry_is_the_current_directory(site: Site, tmp_path: Path, before: str) -> None:
    needed = site.library(DEPENDENCY)
    site.library(ROOT, "", (needed,), flags=rpath(f"{before}:$ORIGIN"))
    assert compare(site, "roctx64") == ("[]", "open")
    decoy(tmp_path / "current")
    assert compare(site, "roctx64", cwd=tmp_path / "current") == ("[]", "anchor")


@pytest.mark.parametrize("token", ["LIB", "{LIB}", "PLATFORM", "{PLATFORM}"])
def test_token_that_only_the_linker_knows(site: Site, tmp_path: Path, token: str) -> None:
    needed = site.library(DEPENDENCY)
    site.library(ROOT, "", (needed,), flags=rpath(f"{tmp_path}/w/${token}:$ORIGIN"))
    for value in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "x86_64", "haswell", "aarch64"):
        decoy(tmp_path / "w" / value)
    assert compare(site, "roctx64") == ("[]", "anchor")


@pytest.mark.parametrize("new_tags", [False, True])
def test_variants_for_a_processor(site: Site, new_tags: bool) -> None:
    comgr = site.library("libamd_comgr.so.2")
    flags = ("-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN") if new_tags else rpath("$ORIGIN")
    site.library("libamdhip64.so.5", "", (comgr,), flags=flags)
    for level in ("glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v4", "haswell", "atomics"):
        site.library("libamd_comgr.so.2", directory=f"lib/{level}")
    assert compare(site, "amdhip64", "amd_comgr") == ("[]", "anchor reuse")


def test_variants_in_a_foreign_directory(site: Site, tmp_path: Path) -> None:
    needed = site.library(DEPENDENCY)
    site.library(ROOT, "", (needed,), flags=rpath(f"{tmp_path}/w:$ORIGIN"))
    (tmp_path / "w").mkdir()
    assert compare(site, "roctx64") == ("[]", "open")
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        decoy(tmp_path / "w/glibc-hwcaps" / level)
    assert compare(site, "roctx64") == ("[]", "anchor")


@pytest.mark.parametrize("entry", ["$ORIGIN/", "${ORIGIN}/../lib/", "{directory}/"])
def test_need_with_a_path(site: Site, entry: str) -> None:
    directory = site.path / CORE / "lib"
    directory.mkdir()
    entry = entry.replace("{directory}", str(directory))
    path = compile_library(directory / DEPENDENCY, entry + DEPENDENCY)
    site.library(ROOT, "", (path,))
    compile_library(directory / DEPENDENCY, DEPENDENCY)
    assert compare(site, "roctx64") == ("[]", "open")
    path.unlink()
    program = "import rocm_sdk; print(rocm_sdk.load_plan('roctx64').steps[0].missing)"
    assert site.output(program) == str((entry + DEPENDENCY,))


NAMED = 'const char *who(void) {{ return "{}"; }}'
ASK = """
    import ctypes, rocm_sdk
    rocm_sdk.preload_libraries("roctx64")
    who = rocm_sdk._ALL_CDLLS["roctx64"].who
    who.restype = ctypes.c_char_p
    print(who().decode())
"""


@pytest.mark.parametrize("kind", ["filter", "auxiliary"])
@pytest.mark.parametrize("flags", [(), rpath("$ORIGIN")])
def test_filters_bind_to_the_filtee(site: Site, kind: str, flags: tuple[str, ...]) -> None:
    site.library(DEPENDENCY, NAMED.format("filtee"))
    site.library(ROOT, NAMED.format("filter"), flags=(f"-Wl,--{kind}={DEPENDENCY}", *flags))
    assert compare(site, "roctx64") == ("[]", "open" if flags else "anchor")
    assert site.output(ASK) == "filtee"


def test_auxiliary_may_be_missing(site: Site) -> None:
    needed = site.library(DEPENDENCY)
    site.library(ROOT, NAMED.format("own"), (needed,), flags=("-Wl,--auxiliary=libabsent.so.1",))
    assert compare(site, "roctx64") == ("[]", "anchor")
    assert site.output(ASK) == "own"


def test_filtee_that_is_missing_is_named(site: Site) -> None:
    site.library(ROOT, flags=("-Wl,--filter=libabsent.so.1",))
    assert site.output("import rocm_sdk; print(rocm_sdk.load_plan('roctx64').steps[0].missing)") == str(
        ("libabsent.so.1",)
    )
