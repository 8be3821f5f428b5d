"""Programs of a prefix: whether those that are known start. Others are not started: nobody knows what they do."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rocm_sdk.base.files import read_beginning
from rocm_sdk.doctor.children import Ended, run_programs
from rocm_sdk.doctor.options import Options
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.doctor.tool_table import TOOLS, ToolRow
from rocm_sdk.installed.prefix import Prefix

_PLACES = ("bin", "lib/llvm/bin", "llvm/bin")
_COMPILER = re.compile(r"(amd)?(clang(\+\+|-cpp)?|flang(-new)?)(-\d+)?|(ld\.)?lld(-\d+)?|llvm-objdump(-\d+)?")
_NOT_LOADED = re.compile(r"error while loading shared libraries: ([^:]+): cannot open shared object file")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_NO_PROGRAM, _NOT_EXECUTABLE = 127, 126  # status of a shell and of env
_PYTHON_WRITES_NOTHING = {"PYTHONDONTWRITEBYTECODE": "1"}


class Program(NamedTuple):
    """A program that is known."""

    path: str
    row: ToolRow

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


def check_programs(prefix: Prefix, library_path: str, recorder: Recorder, options: Options) -> None:
    """Starts each known program with what makes it print its version or its help."""
    programs, others = _programs(prefix)
    commands = [[program.path, *program.row.arguments] for program in programs]
    variables = variables_of(library_path)
    results = run_programs(commands, options.seconds, options.parallel, variables)
    for program, ended in zip(programs, results, strict=True):
        _judge(prefix, program, ended, recorder, options)
    if others:
        recorder.skip(f"{len(others):,} programs that the self test does not know: {', '.join(others[:10])}")


def is_for_another_machine(path: str, ended: Ended) -> bool:
    """Whether the kernel has refused a program for that: a prefix that was built for another machine is no fault."""
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
    """The environment of programs of the prefix."""
    return {"LD_LIBRARY_PATH": library_path, **_PYTHON_WRITES_NOTHING}


def _programs(prefix: Prefix) -> tuple[Sequence[Program], list[str]]:
    """Those that are known, each file once, and the names of the others."""
    known, others, seen = [], [], set()
    for place in _PLACES:
        directory = os.path.join(prefix.root, place)
        for path in (each for each in prefix.files if os.path.dirname(each) == directory):
            name = os.path.basename(path)
            row = TOOLS.get(name) or (ToolRow(("--version",)) if _COMPILER.fullmatch(name) else None)
            row = None if row is not None and row.broken is not None else row
            if row is not None and os.path.realpath(directory) not in seen:
                known.append(Program(path, row))
            elif row is None and not prefix.is_shared:
                others.append(name)
        seen.add(os.path.realpath(directory))
    return known, sorted(set(others))


def _judge_refusal(program: Program, ended: Ended, recorder: Recorder, facts: dict[str, object]) -> None:
    """A program that the kernel did not start."""
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


def _judge(prefix: Prefix, program: Program, ended: Ended, recorder: Recorder, options: Options) -> None:
    name, path = program.name, program.path
    facts: dict[str, object] = {"tool": name, **prefix.facts}
    if ended.refusal is not None:
        _judge_refusal(program, ended, recorder, facts)
    elif ended.status is None:
        recorder.bad("E-TOOL-003", path, tool=name, seconds=options.seconds)
    elif (match := _NOT_LOADED.search(ended.output)) is not None:
        recorder.bad("E-PREFIX-005", path, needing=name, name=match[1], **prefix.facts)
    elif ended.status != 0 and (module := _NO_MODULE.search(ended.output)) is not None:
        recorder.skip(f"{name}: it needs the Python module {module[1]}, which the build root does not have")
    elif ended.status in {_NO_PROGRAM, _NOT_EXECUTABLE} and program.row.calls is not None:
        recorder.skip(f"{name}: the prefix has no compiler for it: {ended.last_line}")
    elif ended.status < 0 or (ended.status != 0 and not program.row.any_status):
        recorder.bad("E-TOOL-001", path, detail=f"{ended.how}: {ended.last_line}", **facts)
    else:
        recorder.good(f"{name}: {ended.last_line}")
