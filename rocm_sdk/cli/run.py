"""The command `rocm-sdk run COMMAND...`, which runs a program that finds this SDK's libraries and tools.

The process becomes the program, so signals reach it directly. Two variables of its environment change, LD_LIBRARY_PATH
and PATH; LD_PRELOAD, too, for files of the load plan that the linker would not find in directories; and the variables
that choose GPUs, if some are chosen. Names without a version are links in a directory of the run.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk._native import load_plan
from rocm_sdk.base.left_variables import may_lead_out
from rocm_sdk.base.processes import become, find_program
from rocm_sdk.terminal.output import complain

from . import recorded_pages
from .gpu_option import add_gpu_options, chosen_variables, is_misused

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from rocm_sdk.installed.view import Installed

EXAMPLE = "rocm-sdk run ./saxpy --size 1000"
NOT_PASSED_ON = (
    "sudo, cron and systemd do not pass LD_LIBRARY_PATH on: have them start `rocm-sdk run PROGRAM`, with the full path"
    " of rocm-sdk."
)
DESCRIPTION = f"""\
Run a program that finds this SDK's libraries and tools: their directories come first in LD_LIBRARY_PATH and PATH.
Nothing else in its environment changes, except LD_PRELOAD if a library's file name is not its SONAME, or if a library
replaces the SDK's own (ROCM_SDK_LIBRARY_NAME), and the variables of --gpu, --no-comgr-cache and --record-pages.
Variables that lead ROCm to files outside this SDK (ROCM_PATH, ROCPROFILER_REGISTER_LIBRARY, ROCBLAS_TENSILE_LIBPATH
...) are dropped, unless a running profiler has set them; `rocm-sdk run env NAME=VALUE COMMAND` sets one anyway. Names
without a version that programs open, such as libamd_smi.so, are links in a directory in TMPDIR, which is removed when
the program ends. The development tree is extracted if only that has the program. The exit status is 127 if there
is no such program, 126 if it cannot be started, else the program's own. {NOT_PASSED_ON}"""

_TOOL_DIRECTORIES = ("bin", "lib/llvm/bin")


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the options, the program and its arguments."""
    from argparse import REMAINDER

    from .arguments import pause

    parser.add_argument(
        "--watch",
        type=pause,
        metavar="SECONDS",
        help="name the library in which the program, as it starts or ends, has been hanging for this long",
    )
    parser.add_argument(
        "--record-pages",
        action="store_true",
        help=recorded_pages.HELP % "the program touches when it loads them with rocm_sdk",
    )
    add_gpu_options(parser)
    parser.add_argument("program", nargs="?", metavar="COMMAND", help="a program of the SDK's tools or in PATH")
    parser.add_argument(
        "arguments", nargs=REMAINDER, metavar="ARGUMENT", help="arguments of the program, options included"
    )


def run(options: "Namespace") -> int:
    """Become the program. Return only if that fails: 127 or 126, as in shells; 2 if no program is named."""
    from rocm_sdk.installed.view import current

    if options.program is None:
        complain("no program is named", f"name one: {EXAMPLE}")
        return 2
    if is_misused(options):
        return 2
    environment = _own_environment()
    for name, value in chosen_variables(options).items():
        environment.pop(name.encode(), None)
        environment |= {name.encode(): value.encode()} if value is not None else {}
    installed = current()
    libraries = _planned_libraries(installed)
    _leave_out(installed, environment)
    tools = _tool_directories(installed)
    directories = _with_all_packages(libraries.directories, installed, options.program, tools)
    _prepend(environment, b"LD_PRELOAD", libraries.files)
    if tools:  # without PATH, programs are looked for in the default one
        environment.setdefault(b"PATH", os.fsencode(os.defpath))
    _prepend(environment, b"PATH", tools)
    if options.record_pages:
        from rocm_sdk.installed.page_list import VARIABLE

        place = recorded_pages.prepare(installed)
        if place is None:
            return 1
        environment[VARIABLE.encode()] = os.fsencode(place)
    if _is_of_packed_tree(options.program, environment):
        from rocm_sdk.errors import LibraryNotFoundError

        try:
            from rocm_sdk.devel.named_files import TOOL, find
            from rocm_sdk.terminal.progress import TerminalReporter

            _prepend(environment, b"PATH", [os.path.dirname(find(TOOL, options.program, TerminalReporter).path)])
        except LibraryNotFoundError as error:
            return _no_such_program(options.program, error.fix)
    return _start(options, environment, lambda: [*directories, *_links(libraries.names, directories, installed)])


def _start(options: "Namespace", environment: dict[bytes, bytes], directories: "Callable[[], list[str]]") -> int:
    """Become the program, or watch it. Return the status if that fails, or of the watched program.

    directories: asked in the process that becomes the program.
    """

    def start() -> int:
        _prepend(environment, b"LD_LIBRARY_PATH", directories())
        return _try(options, environment)

    if options.watch is not None:
        from .watch import run_watched

        return run_watched(start, options.watch, options.program)
    return start()


def _leave_out(installed: "Installed", environment: dict[bytes, bytes]) -> None:
    """Remove inherited variables that lead out of the SDK, and say so."""
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
    if not may_lead_out(variables):
        return
    from rocm_sdk.installed.inherited import leading_out

    for each in leading_out(installed, variables):
        del environment[os.fsencode(each.name)]
        if each.kept is not None:
            environment[os.fsencode(each.name)] = os.fsencode(each.kept)
        complain(f"{each.name} leads out of this SDK, to {', '.join(each.outside)}: left out ({each.row.harm})")


def _try(options: "Namespace", environment: dict[bytes, bytes]) -> int:
    """Become the program, or say why not, and return the status."""
    try:
        sys.stdout.flush()
        # Python ignores these signals, and exec keeps ignored signals ignored.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        become([options.program, *options.arguments], environment)
    except (FileNotFoundError, NotADirectoryError):
        return _no_such_program(options.program)
    except OSError as error:
        complain(f"{options.program}: {error.strerror}")
        return 126


def _no_such_program(program: str, fix: str | None = None) -> int:
    complain(f"{program}: no such program in the SDK or in PATH", fix)
    return 127


class _Libraries(NamedTuple):
    """The files and directories that the dynamic linker needs to open the files of the load plan.

    names: linker name without version -> file.
    """

    directories: list[str]
    files: list[str]
    names: dict[str, str]


def _planned_libraries(installed: "Installed") -> _Libraries:
    """Return the directories of all libraries, and of their dependencies if RPATHs do not lead the linker there.

    Files that the linker would not find there are listed: those whose names differ from their SONAMEs, and those that
    replace the SDK's own (ROCM_SDK_LIBRARY_NAME), whose directories may hold a whole other ROCm.
    """
    from rocm_sdk.installed.library_directories import is_private

    locations = installed.locations
    steps = load_plan(*locations, new_process=True).steps
    roots = [] if installed.fallback is not None else installed.directories
    places = {os.path.dirname(step.path) for step in steps}
    own = {each for each in places if any(is_private(each, root) for root in roots)}
    # The SDK's own LLVM and its copies of system libraries are left out unless an anchor brings them in.
    brought = (member for step in steps if step.method == "anchor" for member in step.members if member != step.path)
    private = own - set(map(os.path.dirname, brought))
    overrides = {place.path for place in locations.values() if place.found_via == "override"}
    first, files = [], []
    for step in steps:
        has_own_name = step.soname in {None, os.path.basename(step.path)}
        if has_own_name and step.path not in overrides:
            continue
        if not {" ", ":"} & set(step.path):
            files.append(step.path)
        elif has_own_name:
            first.append(step.path)
        else:
            complain(f"{step.path} cannot be preloaded into programs: its path has a blank or a colon")
    paths = first + [step.path for step in steps if step.path not in overrides]
    paths += [member for step in steps if step.method == "anchor" for member in step.members]
    directories = []
    for directory in dict.fromkeys(map(os.path.dirname, paths)):
        if directory in private:
            continue
        if {":", ";"} & set(directory):
            complain(f"{directory} cannot be in LD_LIBRARY_PATH: its path has a colon or semicolon")
        else:
            directories.append(directory)
    wish = os.environ.get("ROCM_SDK_UNVERSIONED_NAMES")
    names: dict[str, str] = {}
    for step in steps if wish != "0" else ():
        names |= dict(step.names)
        linker_name, so, version = (step.soname or "").partition(".so")
        if wish == "1" and version:
            names.setdefault(linker_name + so, step.path)
    return _Libraries(directories, files, names)


def _with_all_packages(directories: list[str], installed: "Installed", program: str, tools: list[str]) -> list[str]:
    """Return the directories, then those of other packages, then those that the program needs.

    The program needs a directory if it needs a library in it.
    """
    from rocm_sdk.installed.library_directories import led_on, open_directories, packages_of, shared_libraries

    packages = [each for each in packages_of(installed) if not {":", ";"} & set(each)]
    if installed.fallback is not None:
        return directories
    found = list(dict.fromkeys([*directories, *open_directories(packages)]))
    file = find_program(program, path=":".join([*tools, os.environ.get("PATH", os.defpath)]))
    row = led_on(file, found, ())[0] if file is not None else None
    return [*found, *(led_on(row.path, found, shared_libraries(packages))[1] if row and row.unfound else [])]


def _links(names: dict[str, str], directories: list[str], installed: "Installed") -> list[str]:
    """Return the directories of links for the names that are files in no directory."""
    from rocm_sdk.installed.library_directories import packages_of

    from .run_names import give_names

    absent = {
        name: path
        for name, path in names.items()
        if not any(os.path.exists(os.path.join(directory, name)) for directory in directories)
    }
    return give_names(absent, packages_of(installed))


def _tool_directories(installed: "Installed") -> list[str]:
    """Return the directories of programs, in the development tree if it is extracted, and in the core package."""
    roots = [installed.sdk.package_directory("core")]
    with suppress(ModuleNotFoundError):
        roots.insert(0, installed.sdk.package_directory("devel"))
    directories = (f"{root}/{directory}" for directory in _TOOL_DIRECTORIES for root in roots)
    return [directory for directory in directories if os.path.isdir(directory)]


def _is_of_packed_tree(program: str, environment: dict[bytes, bytes]) -> bool:
    """Return whether only the development tree, not yet extracted, can have a program."""
    from rocm_sdk.devel.layout import PACKED, tree_state

    search_path = os.fsdecode(environment.get(b"PATH", os.fsencode(os.defpath)))
    return "/" not in program and find_program(program, path=search_path) is None and tree_state() == PACKED


def _own_environment() -> dict[bytes, bytes]:
    """Return the environment with which this process was started: Python may have added LC_CTYPE to os.environ."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    return {name: value for name, equals, value in (entry.partition(b"=") for entry in entries) if equals}


def _prepend(environment: dict[bytes, bytes], name: bytes, directories: list[str]) -> None:
    entries = [*map(os.fsencode, directories), *filter(None, [environment.get(name)])]
    if entries:
        environment[name] = b":".join(entries)
