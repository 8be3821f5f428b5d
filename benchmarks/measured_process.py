"""The program of a measured process, which imports nothing except the measured code.

The program prints plain text, a fact per line.

usage: python -I measured_process.py ACTION ARGUMENT...
"""

import os
import sys
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CHECK_VERSION = "5.*"


def import_module(name: str) -> None:
    """Measure the import of a module, with the imports that it makes."""
    begin = perf_counter_ns()
    __import__(name)
    print_interval(begin, perf_counter_ns())


def initialize(module_name: str, *shortnames: str) -> None:
    """Measure initialize_process; the import is not part of the interval."""
    module = __import__(module_name)
    names = [*shortnames]
    begin = perf_counter_ns()
    module.initialize_process(preload_shortnames=names, check_version=CHECK_VERSION)
    print_interval(begin, perf_counter_ns())
    print_mapped_files()


def start_together(gate: str, tree: str, module_name: str, *shortnames: str) -> None:
    """Act as a rank: wait until the other end of the pipe `gate` is closed, import from `tree` and initialise."""
    print("waiting", flush=True)
    os.read(int(gate), 1)
    sys.path.append(tree)
    __import__(module_name).initialize_process(preload_shortnames=[*shortnames], check_version=CHECK_VERSION)
    print("ready", perf_counter_ns(), sep="\t")
    print_mapped_files()


def open_all(*steps: str) -> None:
    """Measure the bare loop of dlopen; a step is `global:PATH` or `local:PATH`."""
    package = __import__("bare_package")
    order = [(path, scope == "global") for scope, _, path in (step.partition(":") for step in steps)]
    begin = perf_counter_ns()
    package.open_all(order)
    print_interval(begin, perf_counter_ns())
    print_mapped_files()


def without_end(action: str, *arguments: str) -> None:
    """Do an action, and end without the destructors of libraries.

    What these cost depends on where the heap ends: the free of one byte there may merge all that LLVM has freed.
    """
    ACTIONS[action](*arguments)
    sys.stdout.flush()
    os._exit(0)


def show_plan(*shortnames: str) -> None:
    """Print the plan of the package.

    The line of a library that is opened has the method, the scope, its file, and all files of the step.
    """
    import rocm_sdk

    for step in rocm_sdk.load_plan(*shortnames).steps:
        print("step", step.method, "global" if step.rtld_global else "local", step.path, *step.members, sep="\t")


def plan_one(site: str, shortname: str) -> None:
    """Measure the plan for one library of the SDK in `site`; the lack of such a library is a result too."""
    sys.path.insert(0, site)
    import rocm_sdk

    before = peak_memory()
    begin = perf_counter_ns()
    try:  # noqa: SIM105
        rocm_sdk.load_plan(shortname)
    except rocm_sdk.LibraryNotFoundError:
        pass
    print_interval(begin, perf_counter_ns())
    print("peak-growth", peak_memory() - before, sep="\t")


def preload_one(site: str, shortname: str) -> None:
    """Measure preload_libraries with one library of the SDK in `site`, and print the nanoseconds inside dlopen."""
    sys.path.insert(0, site)
    import rocm_sdk

    begin = perf_counter_ns()
    (library,) = rocm_sdk.preload_libraries(shortname)
    print_interval(begin, perf_counter_ns())
    print("inside-dlopen", int(library.seconds * 1e9), sep="\t")


def detect_first(module_name: str, root: str) -> None:
    """Measure import and first detection together."""
    begin = perf_counter_ns()
    if module_name == "rocm_sdk":
        __import__(module_name)._native.gpu_processors(root=root)
    else:
        bootstrap_detector(root)()
    print_interval(begin, perf_counter_ns())


def detect_in_turn(root: str, rounds: str) -> None:
    """Print the time of each detector in each round except the first, in nanoseconds."""
    import bare_package
    import reference_detector

    import rocm_sdk

    detectors = {
        "targets": lambda: rocm_sdk._native.gpu_processors(root=root),
        "full": lambda: rocm_sdk.gpus(root=root),
        "C": lambda: range(bare_package.count_gpus(root, False)),
        "C, full": lambda: range(bare_package.count_gpus(root, True)),
        "pathlib": lambda: reference_detector.targets(root),
        "rocm-bootstrap": bootstrap_detector(root),
    }
    counts = {name: len(detect()) for name, detect in detectors.items()}
    if len(set(counts.values())) != 1:
        sys.exit(f"the detectors do not agree: {counts}")
    for _ in range(int(rounds)):
        for name, detect in detectors.items():
            begin = perf_counter_ns()
            detect()
            print(name, perf_counter_ns() - begin, sep="\t")


def bootstrap_detector(root: str) -> "Callable[[], list[object]]":
    """Return rocm-bootstrap's detector, which looks at a constant path and gets another one here."""
    from rocm_bootstrap import _platform, detect

    _platform.KFD_TOPOLOGY = type(_platform.KFD_TOPOLOGY)(f"{root}{_platform.KFD_TOPOLOGY}")
    return detect.detect_gpus


def list_code(path: str) -> None:
    """Measure the listing of the GPU code of a file."""
    import rocm_sdk

    list_one = rocm_sdk.device_code
    peak_memory()
    before = peak_memory()
    begin = perf_counter_ns()
    list_one(path)
    print_interval(begin, perf_counter_ns())
    print("peak-growth", peak_memory() - before, sep="\t")


def run_command(*words: str) -> None:
    """Measure the second call of a command in this process; its output goes nowhere."""
    from rocm_sdk.cli import main

    printed = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    main([*words])
    begin = perf_counter_ns()
    main([*words])
    end = perf_counter_ns()
    os.dup2(printed, 1)
    print_interval(begin, end)


def print_interval(begin: int, end: int) -> None:
    """Print begin and end of the measured interval, in nanoseconds, and the number of entries of sys.path."""
    print("interval", begin, end, sep="\t")
    print("search-path-entries", len(sys.path), sep="\t")


def print_mapped_files() -> None:
    """Print the absolute paths of the files that this process has mapped, sorted, with a line for each."""
    with os.fdopen(os.open("/proc/self/maps", os.O_RDONLY), encoding="utf-8") as maps:
        # The file system of a server may forget a name that is still there, and "(deleted)" follows the name.
        paths = {line.partition("/")[2].rstrip("\n").removesuffix(" (deleted)") for line in maps if "/" in line}
    for path in sorted(paths):
        print("mapped", f"/{path}", sep="\t")


def peak_memory() -> int:
    """Return the most bytes that the process has had in memory since the last call."""
    with os.fdopen(os.open("/proc/self/status", os.O_RDONLY), encoding="utf-8") as status:
        kilobytes = int(status.read().partition("VmHWM:")[2].split()[0])
    with os.fdopen(os.open("/proc/self/clear_refs", os.O_WRONLY), "w", encoding="utf-8") as peak:
        peak.write("5")
    return kilobytes * 1024


ACTIONS = {
    function.__name__: function
    for function in (
        import_module,
        initialize,
        start_together,
        open_all,
        without_end,
        show_plan,
        plan_one,
        preload_one,
        detect_first,
        detect_in_turn,
        list_code,
        run_command,
    )
}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](*sys.argv[2:])
