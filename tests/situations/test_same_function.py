"""Two libraries that have, and call, functions of the same names: found before loading and in a process."""

from collections.abc import Callable
from pathlib import Path

from sample_report import install, run_test
from sample_site import CORE, Site, compile_library

WHO = "int state = %d; int who(void) { return state; } int ask_%s(void) { return who(); }"


def twins(site: Site) -> tuple[str, str]:
    for name, number in (("libroctx64.so.4", 1), ("libroctracer64.so.4", 2)):
        site.library(name, WHO % (number, name[3:-5]))
    install(site)
    return str(site.path / CORE / "lib/libroctx64.so.4"), str(site.path / CORE / "lib/libroctracer64.so.4")


def test_the_plan_tells_it_and_the_fix_mends_it(linked_site: Site) -> None:
    first, second = twins(linked_site)
    said = run_test(linked_site.path, "--only", "bindings")
    found = said.only("W-BIND-001")
    assert found["path"] == second
    assert f"and 1 more binds to {first}, though {second} has it" in found["cause"]
    assert "ROCM_SDK_ISOLATE=roctx64 " in found["fix"]
    mended = run_test(linked_site.path, "--only", "bindings", ROCM_SDK_ISOLATE="roctx64")
    assert mended.codes == set()
    assert mended.subject("bindings")["count"] == 1


def test_a_stranger_is_not_to_be_isolated(linked_site: Site, program: Callable[..., int], tmp_path: Path) -> None:
    """ROCM_SDK_ISOLATE decides about the SDK's own files; another one of the same name is opened by others."""
    _, second = twins(linked_site)
    stranger = compile_library(tmp_path / "libroctx64.so.4", "libroctx64.so.4", WHO % (3, "stranger"))
    code = f"import ctypes\nfor path in ({str(stranger)!r}, {second!r}): ctypes.CDLL(path, ctypes.RTLD_GLOBAL)"
    found = run_test(linked_site.path, "--pid", str(program(linked_site.path, code))).only("W-BIND-001")
    assert "ROCM_SDK_ISOLATE" not in found["fix"]
    assert str(stranger) in found["fix"]


def test_the_list_of_a_framework_counts(linked_site: Site) -> None:
    twins(linked_site)
    linked_site.write("torch/__init__.py")
    call = 'rocm_sdk.initialize_process(preload_shortnames=["roctracer64", "roctx64"], check_version="7.*")'
    linked_site.write("torch/_rocm_init.py", f"import rocm_sdk\n{call}\n")
    said = run_test(linked_site.path, "--only", "bindings")
    found = {Path(each["path"]).name: each["breaks"] for each in said.problems}
    assert found == {
        "libroctracer64.so.4": ["all libraries"],
        "libroctx64.so.4": ["the libraries that torch preloads"],
    }


REFUSE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
int open(const char *path, int flags, ...) {
    if (strncmp(path, "/proc/", 6) == 0 && strstr(path, "/mem") != NULL) {
        errno = EACCES;
        return -1;
    }
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
    va_end(rest);
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
"""


def test_a_kernel_that_refuses_is_told(linked_site: Site, program: Callable[..., int], tmp_path: Path) -> None:
    """As with kernel.yama.ptrace_scope=1: the maps can be read, the memory cannot."""
    first, _ = twins(linked_site)
    refuse = compile_library(tmp_path / "librefuse.so", "librefuse.so", REFUSE)
    pid = program(linked_site.path, f"import ctypes; ctypes.CDLL({first!r})")
    said = run_test(linked_site.path, "--pid", str(pid), LD_PRELOAD=str(refuse))
    assert f"/proc/{pid}/mem: Permission denied" in said.only("N-PROC-005")["cause"]


def test_a_process_tells_it(linked_site: Site, program: Callable[..., int]) -> None:
    first, second = twins(linked_site)
    code = f"import ctypes\nfor path in ({first!r}, {second!r}): ctypes.CDLL(path, ctypes.RTLD_GLOBAL)"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.only("W-BIND-001")["path"] == second
