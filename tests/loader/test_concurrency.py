"""Threads, fork, and constructors that call back."""

import pytest
from sample_site import CORE, Site

# Loading takes a while, and whoever sees the library before the constructor has ended sees `ready` as 0.
SLOW = """
#include <unistd.h>
int ready, runs;
__attribute__((constructor)) static void start(void) { usleep(300000); ready = 1; runs++; }
"""


@pytest.fixture
def slow_site(site: Site) -> Site:
    site.library("libamdhip64.so.7", SLOW)
    return site


def test_of_two_threads_one_loads_and_both_see_the_libraries(slow_site: Site) -> None:
    program = """
        import threading, rocm_sdk
        results = []
        def load():
            (library,) = rocm_sdk.preload_libraries("amdhip64")
            import ctypes
            hip = ctypes.CDLL("libamdhip64.so.7")
            ready, runs = (ctypes.c_int.in_dll(hip, name).value for name in ("ready", "runs"))
            results.append((library.already_loaded, ready, runs))
        threads = [threading.Thread(target=load) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(sorted(results))
    """
    assert slow_site.output(program) == str([(False, 1, 1)] + [(True, 1, 1)] * 7)


def test_python_runs_while_a_library_loads(slow_site: Site) -> None:
    program = """
        import threading, time, rocm_sdk
        thread = threading.Thread(target=rocm_sdk.preload_libraries, args=("amdhip64",))
        thread.start()
        turns = 0
        while thread.is_alive():
            time.sleep(0.01)
            turns += 1
        print(turns > 5)
    """
    assert slow_site.output(program) == "True"


def test_fork_waits_for_a_running_load(slow_site: Site) -> None:
    program = """
        import ctypes, os, threading, time, rocm_sdk
        thread = threading.Thread(target=rocm_sdk.preload_libraries, args=("amdhip64",))
        thread.start()
        time.sleep(0.1)  # the constructor runs now
        child = os.fork()
        if child == 0:
            (library,) = rocm_sdk.preload_libraries("amdhip64")
            ready = ctypes.c_int.in_dll(ctypes.CDLL("libamdhip64.so.7"), "ready").value
            os._exit(0 if ready and library.already_loaded else 1)
        thread.join()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    # Python 3.12 and later warn of any fork beside threads.
    assert slow_site.output(program, "-W", "ignore::DeprecationWarning") == "0"


def test_child_of_a_fork_can_load(slow_site: Site) -> None:
    slow_site.library("libhiprtc.so.7")
    program = """
        import os, rocm_sdk
        rocm_sdk.preload_libraries("amdhip64")
        child = os.fork()
        if child == 0:
            os._exit(len(rocm_sdk.preload_libraries("hiprtc", "amdhip64")))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert slow_site.output(program) == "2"


def test_constructor_may_call_us(site: Site) -> None:
    site.library("libhiprtc.so.7", "int inner(void) { return 5; }")
    # The constructor runs Python, which it may: the GIL is free while libraries load.
    site.library(
        "libamdhip64.so.7",
        """
        #include <dlfcn.h>
        int result = -1;
        __attribute__((constructor)) static void start(void) {
            int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
            int (*run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
            void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
            int state = ensure();
            result = run("import rocm_sdk; rocm_sdk.preload_libraries('hiprtc')");
            release(state);
        }
        """,
    )
    program = """
        import ctypes, rocm_sdk
        rocm_sdk.preload_libraries("amdhip64")
        assert ctypes.c_int.in_dll(rocm_sdk._ALL_CDLLS["amdhip64"], "result").value == 0
        print(rocm_sdk._ALL_CDLLS["hiprtc"].inner())
    """
    assert site.output(program) == "5"


def test_imports_from_two_threads(slow_site: Site) -> None:
    program = """
        import threading
        versions = []
        def use():
            import rocm_sdk
            rocm_sdk.initialize_process(preload_shortnames=["amdhip64"], check_version="7.*")
            versions.append(rocm_sdk.__version__)
        threads = [threading.Thread(target=use) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(versions)
    """
    assert slow_site.output(program) == str(["7.10.0"] * 4)


def test_hanging_constructor_is_named_in_verbose_mode(site: Site) -> None:
    import subprocess
    import sys

    from sample_site import clean_environment

    path = site.library(
        "libamdhip64.so.7",
        "#include <unistd.h>\n__attribute__((constructor)) static void start(void) { for (;;) pause(); }",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')"],
        env=clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_VERBOSE": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    process.kill()
    process.communicate()
    assert str(path) in line
    assert CORE in line
