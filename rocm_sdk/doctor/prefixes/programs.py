"""The programs of a prefix. Only known ones are started: nobody knows what the others do."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rocm_sdk.base.files import read_beginning
from rocm_sdk.doctor.children import Ended, Way, run_programs
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.surroundings import Child, Surroundings
from rocm_sdk.doctor.tool_table import TOOLS, ToolRow
from rocm_sdk.installed.prefix import Prefix

_PLACES = ("bin", "lib/llvm/bin", "llvm/bin")
COMPILER = re.compile(r"(amd)?(clang(\+\+|-cpp)?|flang(-new)?)(-\d+)?|(ld\.)?lld(-\d+)?|llvm-objdump(-\d+)?")
LINKER_REFUSES = "error while loading shared libraries: "  # the words of the dynamic linker about a program
_NOT_LOADED = re.compile(LINKER_REFUSES + r"([^:]+): cannot open shared object file")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)|Can't locate ([\w/]+)\.pm in @INC")
_NO_PROGRAM, _NOT_EXECUTABLE = 127, 126  # status of a shell and of env
_PYTHON_WRITES_NOTHING = {"PYTHONDONTWRITEBYTECODE": "1"}


class Program(NamedTuple):
    """A known program."""

    path: str
    row: ToolRow

    @property
    def name(self) -> str:
        """The name of the file without its directory, as messages have it."""
        return os.path.basename(self.path)


def check_programs(prefix: Prefix, library_path: str, recorder: Recorder, options: Options) -> None:
    """Start each known program with the arguments that make it print its version or its help."""
    programs, others = _programs(prefix)
    trial = _Trial(programs, Way(options.seconds, options.parallel, variables_of(library_path)))
    for program, ended in trial.run(programs):
        name, path = program.name, program.path
        facts: dict[str, object] = {"tool": name, **prefix.facts}
        if ended.refusal is not None:
            _judge_refusal(program, ended, recorder, facts)
        elif ended.status is None:
            recorder.bad("E-TOOL-003", path, tool=name, seconds=trial.way.seconds)
        elif (match := _NOT_LOADED.search(ended.output)) is not None:
            recorder.bad("E-PREFIX-005", path, needing=name, name=match[1], **prefix.facts)
        elif ended.status != 0 and (module := missing_module(ended.output)) is not None:
            recorder.skip(f"{name}: it needs the {module[0]}, which the build root does not have")
        elif ended.status in {_NO_PROGRAM, _NOT_EXECUTABLE} and program.row.calls is not None:
            recorder.skip(f"{name}: the prefix has no compiler for it: {ended.last_line}")
        elif ended.status < 0 or (ended.status != 0 and not program.row.any_status):
            child = trial.child_of(program, ended)
            recorder.bad("E-TOOL-001", path, None, child, detail=f"{ended.how}: {ended.last_line}", **facts)
        else:
            recorder.good(f"{name}: {ended.last_line}")
    if others:
        recorder.skip(f"{len(others):,} programs that the self test does not know: {', '.join(others[:10])}")


class _Trial:
    """The runs of programs, and of failed ones in other surroundings."""

    def __init__(self, programs: Sequence[Program], way: Way) -> None:
        self._programs = {program.path: program for program in programs}
        self.way = way

    def run(self, programs: Sequence[Program], **other: Any) -> Iterator[tuple[Program, Ended]]:
        """Run programs. other: other values of the way."""
        commands = [[program.path, *program.row.arguments] for program in programs]
        return zip(programs, run_programs(commands, self.way._replace(**other)), strict=True)

    def child_of(self, program: Program, ended: Ended) -> Child:
        """Return the program as a child, which can run again if it has ended."""
        again = None if ended.status is None else self._again
        return Child(program.path, ended.seconds, again, (program.path,))

    def _again(self, names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        programs = [self._programs[name] for name in names]
        found = self.run(programs, surroundings=surroundings, seconds=seconds)
        return [works(program.row, ended) for program, ended in found]


def works(row: ToolRow, ended: Ended) -> bool:
    """Return whether a program that was started to say its version or its help did so."""
    if ended.status is None or ended.status < 0 or (ended.status != 0 and LINKER_REFUSES in ended.output):
        return False
    return ended.status == 0 or row.any_status


def missing_module(output: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the module that a script does not find, in words, and the possible ends of its path; None: none."""
    match = _NO_MODULE.search(output)
    if match is None or match[1] is None:
        return (f"Perl module {match[2].replace('/', '::')}", (f"/{match[2]}.pm",)) if match is not None else None
    return f"Python module {match[1]}", (f"/{match[1]}.py", f"/{match[1]}/__init__.py")


def is_for_another_machine(path: str, ended: Ended) -> bool:
    """Return whether the kernel has refused a program for another machine: such a prefix is not a fault."""
    if ended.refusal is None or ended.refusal.errno != errno.ENOEXEC:
        return False
    own, other = _header("/proc/self/exe"), _header(path)
    return other.startswith(b"\x7fELF") and (own[4:6], own[18:20]) != (
        other[4:6],
        other[18:20],
    )  # class, order, machine


def _header(path: str) -> bytes:
    try:
        return read_beginning(path, 20)
    except OSError:
        return b""


def variables_of(library_path: str) -> Mapping[str, str]:
    """Return the environment of programs of the prefix."""
    return {"LD_LIBRARY_PATH": library_path, **_PYTHON_WRITES_NOTHING}


def _programs(prefix: Prefix) -> tuple[Sequence[Program], list[str]]:
    """Return the known programs, each file once, and the names of the others."""
    known, others, seen = [], [], set()
    for place in _PLACES:
        directory = os.path.join(prefix.root, place)
        for path in (each for each in prefix.files if os.path.dirname(each) == directory):
            name = os.path.basename(path)
            row = TOOLS.get(name) or (ToolRow(("--version",)) if COMPILER.fullmatch(name) else None)
            if row is not None and os.path.realpath(directory) not in seen:
                known.append(Program(path, row))
            elif row is None and not prefix.is_shared:
                others.append(name)
        seen.add(os.path.realpath(directory))
    return known, sorted(set(others))


def _judge_refusal(program: Program, ended: Ended, recorder: Recorder, facts: dict[str, object]) -> None:
    """Judge a program that the kernel did not start."""
    name, path = program.name, program.path
    if not os.path.exists(path):
        return  # a link to nothing, which is reported as such
    if not os.access(path, os.X_OK):
        detail = f"it cannot be executed: its mode is {os.stat(path).st_mode & 0o7777:04o}"
        recorder.bad("E-TOOL-001", path, detail=detail, **facts)
    elif isinstance(ended.refusal, FileNotFoundError):
        detail = f"the interpreter that {path} names is not in the build root"
        recorder.bad("E-TOOL-002", path, detail=detail, **facts)
    elif is_for_another_machine(path, ended):
        recorder.skip(f"{name}: it is for another machine")
    else:
        recorder.bad("E-TOOL-001", path, detail=ended.how, **facts)
