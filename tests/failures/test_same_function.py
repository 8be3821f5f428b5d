"""Two libraries that have, and call, functions of the same names: found before loading and in a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sample_report import install, run_test
from sample_site import CORE, Site

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


def test_a_process_tells_it(linked_site: Site, program: Callable[..., int]) -> None:
    first, second = twins(linked_site)
    code = f"import ctypes\nfor path in ({first!r}, {second!r}): ctypes.CDLL(path, ctypes.RTLD_GLOBAL)"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.only("W-BIND-001")["path"] == second
