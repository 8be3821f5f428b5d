"""What runs in a measured process. It imports nothing but what is measured, and prints plain text, a fact per line.

usage: python -I measured_process.py ACTION ARGUMENT...
"""

import os
import sys
from time import perf_counter_ns

CHECK_VERSION = "5.*"


def import_module(name: str) -> None:
    begin = perf_counter_ns()
    __import__(name)
    print_interval(begin, perf_counter_ns())


def initialize(module_name: str, *shortnames: str) -> None:
    """The import is not part of the interval."""
    module = __import__(module_name)
    names = [*shortnames]
    begin = perf_counter_ns()
    module.initialize_process(preload_shortnames=names, check_version=CHECK_VERSION)
    print_interval(begin, perf_counter_ns())
    print_mapped_files()


def open_all(*steps: str) -> None:
    """The bare loop of dlopen. A step is `global:PATH` or `local:PATH`."""
    package = __import__("bare_package")
    order = [(path, scope == "global") for scope, _, path in (step.partition(":") for step in steps)]
    begin = perf_counter_ns()
    package.open_all(order)
    print_interval(begin, perf_counter_ns())
    print_mapped_files()


def show_plan(*shortnames: str) -> None:
    """The plan of the package: per library that is opened how, in which scope, its file, and all files of the step."""
    import rocm_sdk

    for step in rocm_sdk.load_plan(*shortnames).steps:
        print("step", step.method, "global" if step.rtld_global else "local", step.path, *step.members, sep="\t")


def print_interval(begin: int, end: int) -> None:
    print("interval", begin, end, sep="\t")
    print("search-path-entries", len(sys.path), sep="\t")


def print_mapped_files() -> None:
    with os.fdopen(os.open("/proc/self/maps", os.O_RDONLY), encoding="utf-8") as maps:
        paths = {line.partition("/")[2].rstrip("\n") for line in maps if "/" in line}
    for path in sorted(paths):
        print("mapped", f"/{path}", sep="\t")


ACTIONS = {function.__name__: function for function in (import_module, initialize, open_all, show_plan)}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](*sys.argv[2:])
