"""The command `code`: new files with less code, or with the code in another container."""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterable
from functools import partial

from rocm_sdk import RocmSdkError
from rocm_sdk.base import processes
from rocm_sdk.base.processes import find_program
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.fit.code.options import is_asked_for, misuse
from rocm_sdk.fit.comgr import cache_problem
from rocm_sdk.installed.record import read_record
from rocm_sdk.terminal.output import attempt, complain, remember_done, status_of, tell
from rocm_sdk_build.base.new_file import is_directory
from rocm_sdk_build.base.pieces import naming_place

from .choice import chosen_gpus
from .extract import extract_code
from .retarget import parse_pair
from .rewrite import NewCode, Rewritten, rewrite_file
from .trees import Left, Order, RewrittenTree, Select, rewrite_directory, rewrite_wheel, select_all

_SHOWN = 3  # files that are named for one reason


def run(options: Namespace, select_for: Callable[[tuple[str, ...], bool], Select]) -> int:
    """Write each file; return 0, 1 if a file cannot be rewritten, or 2 for wrong usage.

    `select_for` makes the selection of files in trees for GPUs, with or without files that only patched runtimes try.
    """
    wrong = misuse(options) if is_asked_for(options) else "say what new files are to have: --keep TARGETS"
    if wrong is not None:
        complain(wrong)
        return 2
    if options.extract:
        return max(attempt(name, partial(_extract, name, options)) for name in options.files)
    try:
        kept = chosen_gpus(options.keep, "--keep") if options.keep else ()
        pairs = tuple(map(parse_pair, options.retarget))
    except RocmSdkError as error:
        complain(error.message, error.fix)
        return status_of(error)
    compressed = True if options.compress else False if options.decompress else None
    wish = NewCode(
        kept, options.also_unofficial, compressed, pairs, options.force, not options.no_load, exact=options.exact
    )
    order = Order(wish, select_for(kept, options.also_unofficial) if kept else select_all)
    place = None if options.dry_run else options.output
    status = max(attempt(name, partial(_rewrite, name, place, order)) for name in options.files)
    for each in cache_problem() if options.compress and place is not None else ():
        complain(f"{each.title}: {each.cause} [{each.code}]", each.fix)
    return status


def _rewrite(name: str, place: str | None, order: Order) -> None:
    base = os.path.basename(os.path.normpath(name))
    output = os.path.join(place, base) if place is not None and is_directory(place) else place
    with naming_place(output or tempfile.gettempdir()):
        _make(name, output, order)


def _make(name: str, output: str | None, order: Order) -> None:
    if os.path.isdir(name) or name.endswith(".whl"):
        write = rewrite_directory if os.path.isdir(name) else rewrite_wheel
        _tell_tree(write(name, output, order.wish, order.select))
    else:
        check = checks_of(output) if output is not None and os.path.exists(output) else None
        _tell(rewrite_file(name, output, order.wish))
        if check is not None:
            complain(f"{output} took the place of an installed file: {check} will tell that it differs")


def _extract(name: str, options: Namespace) -> None:
    with naming_place(options.extract):
        found = extract_code(name, options.extract, any_ratio=options.force)
    if found:
        remember_done(f"{counted(len(found), 'file')} in {options.extract}")
    for made in found:
        tell(f"{made.path}   {size_text(made.size)}")


def _tell_tree(made: RewrittenTree) -> None:
    _remember(made.output)
    sizes = f"{size_text(made.size_before)} -> {size_text(made.size)}"
    count = sum(kind.dropped for kind in made.kinds)
    dropped = f", {counted(count, 'file')} dropped" if count else ""
    end = "" if made.output else ", nothing written"
    tell(f"{made.output or made.path}   {sizes}, {counted(len(made.rewritten), 'file')} rewritten{dropped}{end}")
    for each in made.rewritten:
        if each.dropped or each.path not in made.selection.kinds:
            tell(f"  {each.path}   {size_text(each.size_before)} -> {size_text(each.size)}{_check_of(each)}")
            _tell_targets(each, "    ")
    for kind in made.kinds:
        kept = f"{counted(kind.kept, 'file')} kept ({size_text(kind.kept_size)})"
        tell(f"  {kind.kind}: {kept}, {kind.dropped:,} dropped ({size_text(kind.dropped_size)})")
    held = {each.path for each in made.selection.held}
    _tell_left(made.selection.held, "for other GPUs, and")
    _tell_left([each for each in made.left if each.path not in held])


def _tell_left(files: Iterable[Left], about: str = "") -> None:
    """Print a line for each reason."""
    lead = f"{about} left".lstrip()
    reasons: dict[str, list[str]] = {}
    for left in files:
        reasons.setdefault(left.why, []).append(left.path)
    for why, paths in reasons.items():
        if len(paths) == 1:
            tell(f"  {lead} as it is: {paths[0]}: {why}")
        else:
            more = f", and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
            tell(f"  {lead} as they are: {counted(len(paths), 'file')}: {why}: {', '.join(paths[:_SHOWN])}{more}")


def _remember(output: str | None) -> None:
    if output is not None:
        remember_done(f"{output} is written")


def _tell(made: Rewritten) -> None:
    _remember(made.output)
    bundles = counted(made.bundle_count, "bundle")
    sizes = f"{size_text(made.size_before)} -> {size_text(made.size)}"
    if made.is_copy:
        end = ", nothing written" if made.output is None else ""
        tell(f"{made.output or made.path}   {size_text(made.size)}, {bundles}, as it was: all of its code is kept{end}")
    elif made.output is None:
        tell(f"{made.path}   {sizes}, {bundles}, nothing written")
    else:
        tell(f"{made.output}   {sizes}, {bundles}{_check_of(made)}")
    _tell_targets(made, "  ")


def _check_of(made: Rewritten) -> str:
    return ", verified" if made.loaded else f", verified, not loaded: {made.remark}"


def _tell_targets(made: Rewritten, indent: str) -> None:
    if made.dropped:
        tell(f"{indent}kept: {', '.join(made.kept)}   dropped: {', '.join(made.dropped)}")


_SECONDS = 10
_LEVELS = 8  # directories between a file and site-packages


def checks_of(path: str) -> str | None:
    """Return the command that will report the changed file, or the RECORD that lists the file.

    The command is `dpkg -V PACKAGE` or `rpm -V PACKAGE`. Return None if no package has the file.
    """
    place = os.path.abspath(path)
    return _record_of(place) or _ask(["dpkg-query", "-S", place], "dpkg -V") or _ask(["rpm", "-qf", place], "rpm -V")


def _ask(command: list[str], check: str) -> str | None:
    if find_program(command[0]) is None:
        return None
    try:
        done = processes.run(command, variables={"LC_ALL": "C"}, seconds=_SECONDS)
    except OSError:
        return None
    name = done.stdout.partition(":")[0].partition("\n")[0].strip()
    return f"{check} {name}" if done.returncode == 0 and name else None


def _record_of(path: str) -> str | None:
    directory = os.path.dirname(path)
    for _ in range(_LEVELS):
        try:
            names = sorted(name for name in os.listdir(directory) if name.endswith(".dist-info"))
        except OSError:
            return None
        for name in names:
            record = os.path.join(directory, name, "RECORD")
            if _lists(record, os.path.relpath(path, directory)):
                return record
        directory = os.path.dirname(directory)
    return None


def _lists(record: str, path: str) -> bool:
    try:
        return any(row.path == path for row in read_record(record).rows)
    except (OSError, ValueError):
        return False
