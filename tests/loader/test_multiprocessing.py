"""Children of multiprocessing, however they are started: they load, and values and errors come back."""

import os

import pytest
from sample_site import LIBRARIES, Site

PROGRAM = """
import multiprocessing, sys
import rocm_sdk

def work(name):
    rocm_sdk.initialize_process(preload_shortnames=[name], check_version="7.*")
    (library,) = rocm_sdk.preload_libraries(name)
    return library, rocm_sdk.loaded_libraries(), rocm_sdk.load_plan(name), rocm_sdk.check_process()

if __name__ == "__main__":
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        for library, libraries, plan, problems in pool.map(work, ["hipsparse", "amdhip64"]):
            print(library.location.shortname, type(library) is rocm_sdk.LoadedLibrary, len(libraries), problems)
            print([step.soname for step in plan.steps])
        print(*(place.soname for place in pool.map(rocm_sdk.locate, ["hipsparse", "amdhip64"])))
        print(*pool.apply(rocm_sdk.find_libraries, ["rocsparse"]))
        print(*(gpu.name for gpu in pool.apply(rocm_sdk.gpus, kwds={"root": "/nonexistent"})))
        try:
            pool.apply(rocm_sdk.locate, ["amdhip46"])
        except rocm_sdk.UnknownLibraryError as error:
            print(error.code, error.fix)
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_children_load_and_answer(site: Site, method: str) -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("this user may not write /dev/shm, where multiprocessing has its locks")
    hip = site.library("libamdhip64.so.7")
    roc = site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    site.library("libhipsparse.so.4", needed=(roc, hip), package=LIBRARIES)
    path = site.write("program.py", PROGRAM)
    code = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, {str(path)!r}, {method!r}]))"
    lines = site.output(code).splitlines()
    assert lines[0].startswith("hipsparse True 3 ()")
    assert lines[2].startswith("amdhip64 True ")
    assert lines[4] == "libhipsparse.so.4 libamdhip64.so.7"
    assert lines[5] == str(roc)
    assert lines[7].startswith("E-API-004 ")
