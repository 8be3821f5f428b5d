"""The subject `tools`: each console script of the packages starts, and finds the program behind it."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.reporter import Reporter
from rocm_sdk.devel import layout
from rocm_sdk.devel.make_ready import make_ready
from rocm_sdk.doctor.children import Ended, Way, run_programs
from rocm_sdk.doctor.file_faults import fault_of
from rocm_sdk.doctor.load_results import LoadResult, search_path
from rocm_sdk.doctor.prefixes.programs import COMPILER, LINKER_REFUSES, check_programs, missing_module, works
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.surroundings import Child, Surroundings
from rocm_sdk.doctor.tool_table import TOOLS, UNKNOWN_TOOL, ToolRow
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.shared_objects import inspect
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import problem_of

from .load_failure import LoadFailures

# The words of the dynamic linker when a program cannot be started.
_NOT_LOADED = re.compile(LINKER_REFUSES + "(.+)")
_NO_FUNCTION = re.compile(r"ImportError: cannot import name '(\w+)' from '([\w.]+)'")

_ENTRY_POINTS_LIMIT = 1 << 20  # bytes

# Parts of the message of a script whose program does not exist.
_NO_PROGRAM = ("FileNotFoundError", "No such file or directory", "ImportError", "ModuleNotFoundError")
_NOT_FOUND = 127  # status of a shell that does not find a program
_NOT_EXECUTED = re.compile(r"Can't exec \"(/[^\"\n]+)\": No such file or directory")  # Perl's words; the status is 255
_OF_KERNEL = "'/sys/"  # a file of the driver, as Python names it


class Tool(NamedTuple):
    """A console script."""

    name: str
    path: str
    row: ToolRow
    owner: Distribution


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check the scripts, or the programs of a prefix.

    The development tree is extracted only if the options allow it.
    """
    if installation.prefix is not None:
        with search_path(installation.search_directories) as path:
            check_programs(installation.prefix, path, recorder, options)
        return
    _check_compilers(installation, recorder)
    tools = list(_tools(installation))
    state = layout.tree_state(installation.site)
    waits = state in {layout.PACKED, layout.INTERRUPTED}
    if waits and options.may_extract and any(tool.row.needs_tree for tool in tools):
        make_ready(Reporter())
        waits = False
    ready = []
    for tool in tools:
        if waits and tool.row.needs_tree:
            recorder.say("N-TOOL-004", tool.path, tool=tool.name)
        elif not os.path.exists(tool.path):
            recorder.bad(
                "E-TOOL-002", tool.path, tool=tool.name, detail=f"{tool.path} is not there", **tool.owner.facts
            )
        else:
            ready.append(tool)
    _try(installation, ready, recorder, options)


def _check_compilers(installation: Installed, recorder: Recorder) -> None:
    """Check, as for libraries, whether the compilers and linkers that ROCm itself starts find what they need.

    If a file has no search path to a library of the SDK, that is not a fault: the note about libraries says so.
    """
    places = (os.path.split(os.path.join(installation.site, path)) for path in installation.owners)
    listed = [f"{place}/{name}" for place, name in places if place.endswith("llvm/bin") and COMPILER.fullmatch(name)]
    programs = tuple(dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, listed))))
    libraries = tuple(each.path for each in installation.shared_objects) if programs else ()
    for file in _native.check_host_files(programs, libraries).files:
        name = os.path.basename(file.path)
        told = [each for each in file.unfound if each.place != "SDK" or inspect(each.needing).search_path is not None]
        for each in told:
            is_nowhere = each.path is None and each.fault is None
            facts: dict[str, object] = {
                **installation.owner_of(each.needing),
                "needing": os.path.basename(each.needing),
            }
            facts |= (
                _native.missing_library(each.name, False)[2]
                if is_nowhere
                else {"name": each.name, "present": each.path}
            )
            code = each.fault_code or ("E-LIB-002" if is_nowhere else "E-LIB-004")
            recorder.bad(code, each.needing, f"check tools: {name}", **{"detail": each.fault, **facts})
        if not told:
            recorder.good(f"{name} finds the libraries that it needs")


def _try(installation: Installed, ready: Sequence[Tool], recorder: Recorder, options: Options) -> None:
    trial = _Trial(installation, ready, options)
    found = list(_run(ready, _way(options)))
    again, directories = _unaided(installation, found, options)
    for tool, ended in found:
        if ended.status and (lack := _lack(installation, tool, ended)) is not None:
            recorder.skip(f"{tool.name}: {lack}")
        elif tool not in again:
            _judge(trial, tool, ended, recorder)
    if again:
        names = ", ".join(tool.name for tool in again)
        recorder.say("W-TOOL-006", installation.site, programs=names, tool=again[0].name)
        with search_path(directories) as path:
            for tool, ended in _run(again, _way(options, {"LD_LIBRARY_PATH": path})):
                _judge(trial, tool, ended, recorder)


def _lack(installation: Installed, tool: Tool, ended: Ended) -> str | None:
    """Return what the tool needs and even a sound SDK lacks: a compiler, a foreign module; None if nothing."""
    is_alone = tool.row.calls is not None and not os.path.exists(_in_core(installation, tool.row.calls))
    absent = _NOT_EXECUTED.search(ended.output)
    if is_alone and (ended.status == _NOT_FOUND or (absent is not None and not os.path.lexists(absent[1]))):
        said = ended.last_line if absent is None else absent[0]
        return f"this SDK has no compiler for it; HIP_CLANG_PATH names one: {said}"
    module = missing_module(ended.output)
    if module is None or any(path.endswith(module[1]) for path in installation.owners):
        return _lack_of_function(installation, tool, ended)
    return f"it needs the {module[0]}, which is not installed"


def _lack_of_function(installation: Installed, tool: Tool, ended: Ended) -> str | None:
    """Return words for a script whose function is missing in the module, as the package has it; None otherwise."""
    match = _NO_FUNCTION.search(ended.output)
    module = f"{match[2].replace('.', '/')}.py" if match is not None else None
    row = next((file for file in tool.owner.files if file.path == module and file.digest), None)
    if match is None or row is None or fault_of(os.path.join(installation.site, row.path), row, deep=True) is not None:
        return None
    return f"its package declares the script without the function {match[1]} behind it"


def _way(options: Options, variables: Mapping[str, str] | None = None) -> Way:
    return Way(options.seconds, options.parallel, variables)


def _run(tools: Sequence[Tool], way: Way) -> Iterator[tuple[Tool, Ended]]:
    commands = [[tool.path, *tool.row.arguments] for tool in tools]
    return zip(tools, run_programs(commands, way), strict=True)


class _Trial:
    """The runs of failed programs in other surroundings."""

    def __init__(self, installation: Installed, tools: Sequence[Tool], options: Options) -> None:
        self.installation = installation
        self._tools = {tool.path: tool for tool in tools}
        self.options = options

    def child_of(self, tool: Tool, ended: Ended) -> Child:
        """Return the program as a child, which can run again if it has ended."""
        files = (tool.path, _program_behind(self.installation, tool), *_modules_of(self.installation, tool.owner))
        return Child(tool.path, ended.seconds, None if ended.status is None else self._again, files)

    def _again(self, names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        tools = [self._tools[name] for name in names]
        way = Way(seconds, self.options.parallel, surroundings=surroundings)
        found = list(_run(tools, way))
        unaided, directories = _unaided(self.installation, found, self.options)
        with search_path(directories) as path:
            aided = dict(_run(unaided, way._replace(variables={"LD_LIBRARY_PATH": path})))
        return [works(tool.row, aided.get(tool, ended)) for tool, ended in found]


def _unaided(
    installation: Installed, found: Iterable[tuple[Tool, Ended]], options: Options
) -> tuple[list[Tool], list[str]]:
    """Return the tools whose programs have no RPATH to the libraries that they need, and the directories of these."""
    refused = [(tool, ended) for tool, ended in found if ended.status and _NOT_LOADED.search(ended.output)]
    if not refused:
        return [], []
    libraries = installation.shared_objects
    programs = {tool: inspect(_program_behind(installation, tool)) for tool, _ in refused}
    failures = LoadFailures(installation, [*libraries, *programs.values()], options)
    results = [(tool, LoadResult(programs[tool].path, "refused", 0, 0.0, ended.output, "")) for tool, ended in refused]
    again = [tool for tool, result in results if failures.is_unaided(result)]
    return again, list(dict.fromkeys(os.path.dirname(each.path) for each in libraries))


def _tools(installation: Installed) -> Iterator[Tool]:
    """Yield the scripts of the SDK's distributions: scripts of entry points, and scripts of the wheel itself."""
    for distribution in installation.distributions:
        if not distribution.has_sdk_files:
            continue
        recorded = {
            os.path.basename(file.path): file.path
            for file in distribution.files
            if file.path.startswith(("../", "bin/"))
        }
        entry_points = _console_scripts(distribution)
        for name in sorted(recorded):
            if name in entry_points or os.path.exists(_in_core(installation, f"bin/{name}")):
                path = os.path.normpath(os.path.join(installation.site, recorded[name]))
                yield Tool(name, path, TOOLS.get(name, UNKNOWN_TOOL), distribution)


def _modules_of(installation: Installed, owner: Distribution) -> Iterator[str]:
    """Yield the modules of a distribution, from which its console scripts import."""
    for file in owner.files:
        if file.path.endswith(".py") and not file.path.startswith(("_", "../")):
            yield os.path.join(installation.site, file.path)


def _console_scripts(distribution: Distribution) -> list[str]:
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign] # names keep their case
    try:
        text = read_beginning(os.path.join(distribution.directory, "entry_points.txt"), _ENTRY_POINTS_LIMIT)
        parser.read_string(text.decode("utf-8"))
        return sorted(parser["console_scripts"]) if parser.has_section("console_scripts") else []
    except (configparser.Error, OSError, UnicodeDecodeError):
        return []


def _judge(trial: _Trial, tool: Tool, ended: Ended, recorder: Recorder) -> None:
    installation, child = trial.installation, trial.child_of(tool, ended)
    facts: dict[str, object] = {"tool": tool.name, **tool.owner.facts}
    program = _program_behind(installation, tool)
    if _is_recorded(installation, program) and not os.access(program, os.X_OK):
        facts["program"] = program
    breaks = f"check tools: {tool.name}"
    if isinstance(ended.refusal, FileNotFoundError):
        detail = f"the interpreter in the first line of {tool.path} is not there"
        recorder.bad("E-TOOL-002", tool.path, detail=detail, **facts)
    elif ended.refusal is not None:
        recorder.bad("E-TOOL-001", tool.path, None, child, detail=ended.how, **facts)
    elif ended.status is None:
        recorder.bad("E-TOOL-003", tool.path, None, child, tool=tool.name, seconds=trial.options.seconds)
    elif ended.status != 0 and (match := _NOT_LOADED.search(ended.output)) is not None:
        finding = _native.explain_load(installation.site, _program_behind(installation, tool), match[1])
        recorder.add(problem_of(finding, installation.site), breaks, child)
    elif ended.status != 0 and any(text in ended.output for text in _NO_PROGRAM) and _OF_KERNEL not in ended.last_line:
        detail = f"{ended.how}: {ended.last_line}"
        if _is_recorded(installation, program) and not os.path.exists(program):
            owner = installation.owner_of(program)
            recorder.bad("E-FILE-001", program, breaks, name=tool.name, **owner)
            return
        if not _is_recorded(installation, program):
            facts.pop("requirement")  # a reinstallation would not bring the program
        recorder.bad("E-TOOL-002", tool.path, None, child, detail=detail, **facts)
    elif ended.status < 0 or (ended.status != 0 and not tool.row.any_status):
        recorder.bad("E-TOOL-001", tool.path, None, child, detail=f"{ended.how}: {ended.last_line}", **facts)
    else:
        recorder.good(f"{tool.name}: {ended.last_line}")


def _program_behind(installation: Installed, tool: Tool) -> str:
    """Return the program that a script of core starts, judging by its name."""
    return _in_core(installation, f"bin/{tool.name}")


def _in_core(installation: Installed, name: str) -> str:
    return os.path.join(installation.core_directory, name)


def _is_recorded(installation: Installed, path: str) -> bool:
    return os.path.relpath(path, installation.site) in installation.owners
