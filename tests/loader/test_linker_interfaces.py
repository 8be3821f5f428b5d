"""The loader beside other users of the linker's interfaces: LD_AUDIT, LD_PRELOAD, dlmopen; and vanishing files."""

import shutil
from pathlib import Path
from textwrap import dedent

import pytest
from sample_site import CORE, Site, compile_library

ROOT, DEPENDENCY = "libroctx64.so.4", "libdep.so.1"
AUDITOR = """
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie) {
    dprintf(STDERR_FILENO, "opened %s\\n", map->l_name);
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) { return (char *)name; }
"""
LOAD = """
    import warnings, rocm_sdk
    warnings.simplefilter("error")
    (library,) = rocm_sdk.preload_libraries("roctx64")
    root = rocm_sdk._ALL_CDLLS["roctx64"]
    print(library.already_loaded, root.of_dependency(), root.of_root())
"""


@pytest.fixture(params=["none", "rpath"])
def pair(site: Site, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Return a library and its dependency, without RPATHs and with them: through an anchor, and by a plain dlopen."""
    site.rpath = request.param
    dependency = site.library(DEPENDENCY, "int of_dependency(void) { return 5; }")
    root = site.library(
        ROOT, "int of_dependency(void); int of_root(void) { return of_dependency() + 1; }", (dependency,)
    )
    return root, dependency


def test_audited_process(site: Site, pair: tuple[Path, Path], tmp_path: Path) -> None:
    auditor = compile_library(tmp_path / "audit.so", None, AUDITOR)
    result = site.run(LOAD, LD_AUDIT=str(auditor))
    assert result.stdout.split() == ["False", "5", "6"]
    opened = [line.partition("opened ")[2] for line in result.stderr.splitlines()]
    assert opened.count(str(pair[0])) == opened.count(str(pair[1])) == 1


def test_preloaded_by_the_linker(site: Site, pair: tuple[Path, Path]) -> None:
    """LD_PRELOAD of the SDK's own file is not a conflict: that very file is reused."""
    both = " ".join(map(str, reversed(pair)))
    assert site.output(LOAD, LD_PRELOAD=both, LD_LIBRARY_PATH=str(pair[0].parent)) == "True 5 6"


@pytest.mark.usefixtures("pair")
def test_other_namespace_is_another_process(site: Site) -> None:
    """A library that dlmopen has loaded into a namespace of its own is not there for us, and stays as it is."""
    program = f"""
        import ctypes
        linker = ctypes.CDLL(None)
        linker.dlmopen.restype = ctypes.c_void_p
        other = linker.dlmopen(ctypes.c_long(-1), b"{site.path}/{CORE}/lib/{DEPENDENCY}", 2)
        assert other
    """
    assert site.output(dedent(program) + dedent(LOAD)) == "False 5 6"


UNINSTALL_AND_INSTALL = """
    import os, shutil, sys, time
    lib, away = sys.argv[1:]
    while os.getppid() == PARENT:
        for name in os.listdir(lib):
            os.unlink(lib + "/" + name)
        os.rmdir(lib)
        os.mkdir(lib)
        for name in os.listdir(away):
            with open(lib + "/" + name, "wb") as file, open(away + "/" + name, "rb") as source:
                while part := source.read(4000):
                    file.write(part)
                    file.flush()
        time.sleep(0.001)
"""


@pytest.mark.usefixtures("pair")
def test_uninstalled_while_it_is_planned(site: Site) -> None:
    """Each call gives a plan or an error of ours that names a file, whatever is missing at the moment."""
    shutil.copytree(site.path / CORE / "lib", site.path / "away")
    program = f"""
        import os, subprocess, sys, time, rocm_sdk
        lib, away = "{site.path}/{CORE}/lib", "{site.path}/away"
        code = {dedent(UNINSTALL_AND_INSTALL)!r}.replace("PARENT", str(os.getpid()))
        other = subprocess.Popen([sys.executable, "-c", code, lib, away])
        outcomes = set()
        end = time.monotonic() + 20
        calls = 0
        while calls < 1000 or (len(outcomes) < 2 and time.monotonic() < end):
            calls += 1
            try:
                outcomes.add(len(rocm_sdk.load_plan("roctx64").steps))
            except rocm_sdk.RocmSdkError as error:
                assert lib in str(error), error
                outcomes.add(type(error).__name__)
        other.kill()
        other.wait()
        assert len(outcomes) > 1, outcomes
    """
    site.run(program)
