"""The report of a closure: kept files and reasons, files left out, what the system must have, and the proof."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rocm_sdk import gpus
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.installed.readers import host_packages
from rocm_sdk.terminal.output import tell, tell_table
from rocm_sdk_build.closure.choosing.proof_choice import why_untried
from rocm_sdk_build.closure.closure import Made
from rocm_sdk_build.closure.writing.site import Written

SCHEMA = 1  # version of --json; incremented when the meaning of a field changes
_NUMBERS = frozenset({"before", "after", "size", "files"})
_SHOWN = 3  # names of a row that stands for many files
_LIBC = frozenset({"libc", "libm", "libdl", "libpthread", "librt", "libutil"})
_SYSTEMS = ("Debian, Ubuntu", "Fedora, RHEL", "SUSE", "Arch", "Gentoo")
# A library of the system -> a file of the system that it reads. HIP and rocminfo print the names of GPUs in the file.
_READ = {"libdrm_amdgpu.so.1": "amdgpu.ids"}
# Such a file -> its package in each of the systems.
_PACKAGES = {"amdgpu.ids": ("libdrm-common", "libdrm", "libdrm_amdgpu1", "libdrm", "x11-libs/libdrm")}


def tell_report(made: Made) -> None:
    """Print the report."""
    request = made.request
    targets = f" for {', '.join(request.gpus)}" if request.gpus else ""
    image = f", {size_text(made.output_size)} as {request.form}" if request.form != "site" else ""
    tell(f"{request.output}   {size_text(made.size_before)} -> {size_text(made.size)}{targets}{image}")
    tell("")
    rows = [
        (os.path.basename(e.kept.file.path), size_text(e.kept.file.size), size_text(e.size), e.kept.reason)
        for e in libraries_of(made)
    ]
    tell_table(("library", "before", "after", "why"), rows, _NUMBERS)
    data = [(kind, str(count), size_text(size), why) for kind, (count, size, why) in data_of(made).items()]
    if data:
        tell("")
        tell_table(("data", "files", "size", "why"), data, _NUMBERS)
    left = _group_sizes(made)
    if left:
        tell("")
        rows_left = [(reason, str(count), size_text(size)) for reason, (count, size) in left.items()]
        tell_table(("left out", "files", "size"), rows_left, _NUMBERS)
    tell("")
    for line in _notes(made):
        tell(line)


def _group_sizes(made: Made) -> dict[str, tuple[int, int]]:
    """Return for each reason the number and bytes of the files that are left out for it, the largest first."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each in made.selection.left_out:
        sums[each.reason][0] += 1
        sums[each.reason][1] += each.file.size
    return {reason: (count, size) for reason, (count, size) in sorted(sums.items(), key=lambda row: -row[1][1])}


def libraries_of(made: Made) -> list[Written]:
    """Return the libraries and programs, the largest first."""
    found = [each for each in made.site.files if each.kept.kind in ("library", "program")]
    return sorted(found, key=lambda each: (-each.size, each.kept.file.path))


def data_of(made: Made) -> dict[str, tuple[int, int, str]]:
    """Return for each kind of data the number and bytes of files, and the first one's reason; the largest first."""
    sums: dict[str, tuple[int, int, str]] = {}
    for each in made.site.files:
        kind = each.kept.kind
        if kind not in ("library", "program", "module", "link"):
            count, size, why = sums.get(kind, (0, 0, each.kept.reason))
            sums[kind] = (count + 1, size + each.size, why)
    return dict(sorted(sums.items(), key=lambda row: (-row[1][1], row[0])))


def _notes(made: Made) -> Iterator[str]:
    whole: dict[str, list[Written]] = {}
    for each in made.site.files:
        if each.remark is not None:
            whole.setdefault(each.remark, []).append(each)
    for remark, files in whole.items():
        shown = [f"{os.path.basename(each.kept.file.path)} ({size_text(each.size)})" for each in files[:_SHOWN]]
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        yield f"warning: with all code: {', '.join(shown)}{more}: {remark}"
    if unknown := made.selection.unknown:
        names = ", ".join(each.file.path for each in unknown[:_SHOWN])
        more = f", and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        yield f"unknown data stays beside the libraries: {names}{more}"
    for name, path in made.selection.needed.lacks.items():
        yield f"warning: nothing here has {name}, which {made.roots.shown(path)} needs; another package may have it"
    if made.selection.needed.unread:
        yield _unread_line(made)
    yield from _host_lines(made)
    yield from _trace_lines(made)
    if (proof := made.proof) is None:
        yield f"not tried: {why_untried(made.request.proof, made.roots)}"
        return
    done = [counted(len(proof.libraries), "library").replace("librarys", "libraries") + " loaded"]
    done += [f"{counted(len(proof.files), 'file')} of applications loaded"] if proof.files else []
    done += [f"{', '.join(map(os.path.basename, proof.modules))} imported"] if proof.modules else []
    yield f"tried where nothing else is: {', '.join(done)}, rocm-sdk test without errors ({proof.seconds:.1f} s)"
    yield from (f"not tried: {remark}" for remark in proof.remarks)
    if (pages := proof.page_list) is not None:
        yield f"page list: a load touches {size_text(pages.size)} of {pages.libraries} libraries"


def _trace_lines(made: Made) -> Iterator[str]:
    if not made.request.traced:
        return
    reasons = {each.file.path: each.reason for each in made.selection.kept}
    yield f"traced: {counted(len(made.selection.surprises), 'file')} that no rule finds"
    yield from (f"  {path}: {reasons[path]}" for path in made.selection.surprises)
    if not gpus():
        yield "traced without a GPU: what kernels load was not seen"


def _unread_line(made: Made) -> str:
    """Return a line about files of applications that were not looked at; the first one stands for its sort."""
    files = made.selection.needed.unread
    first, why = next(iter(files.items()))
    more = f", and {len(files) - 1} more files" if len(files) > 1 else ""
    return f"not looked at: {made.roots.shown(first)}{more}: {why.removeprefix(f'{first}: ')}"


def _host_lines(made: Made) -> Iterator[str]:
    """Yield lines about the libraries and files that a system must have, with its packages."""
    names = [name for name in made.selection.needed.outside if not _is_of_libc(name)]
    if not names:
        return
    names += _data_of_system(made)
    yield f"from the system: {', '.join(names)}"
    rows = {row[0]: row[1:] for row in host_packages()} | _PACKAGES
    for number, system in enumerate(_SYSTEMS):
        packages = sorted({rows[name][number] for name in names if name in rows})
        if packages:
            yield f"  {system}: {' '.join(packages)}"


def _data_of_system(made: Made) -> list[str]:
    return [_READ[name] for name in made.selection.needed.outside if name in _READ]


def _is_of_libc(name: str) -> bool:
    return name.partition(".so")[0] in _LIBC or name.startswith("ld-")


def report_json(made: Made) -> str:
    """Return the report for programs (docs/closure-proof.md)."""
    proof = made.proof
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "output": str(made.request.output),
        "form": made.request.form,
        "gpus": list(made.request.gpus),
        "size_before": made.size_before,
        "size": made.size,
        "output_size": made.output_size,
        "packages": [{"name": name, "version": version} for name, version in made.site.packages],
        "files": [_file(each) for each in made.site.files],
        "surprises": list(made.selection.surprises),
        "left_out": [
            {"reason": reason, "files": count, "size": size} for reason, (count, size) in _group_sizes(made).items()
        ],
        "outside": list(made.selection.needed.outside),
        "outside_data": _data_of_system(made),
        "unread": made.selection.needed.unread,
        "page_list": None if proof is None or proof.page_list is None else proof.page_list.place,
        "proof": None
        if proof is None
        else {
            "way": proof.way,
            "preloaded": list(proof.preloaded),
            "libraries": list(proof.libraries),
            "files": list(proof.files),
            "modules": list(proof.modules),
            "remarks": list(proof.remarks),
            "host_files": list(proof.host_files),
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _file(each: Written) -> dict[str, Any]:
    return {
        "path": each.kept.file.path,
        "distribution": each.kept.file.distribution,
        "kind": each.kept.kind,
        "reason": each.kept.reason,
        "size_before": each.kept.file.size,
        "size": each.size,
        "dropped_targets": list(each.dropped),
        "remark": each.remark,
        "has_code": not each.has_no_code,
    }
