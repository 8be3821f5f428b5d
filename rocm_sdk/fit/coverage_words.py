"""The words for a library's code for a GPU: the lines of `check-gpu`, the remarks of `check`, the codes of both.

All three come from one table: a library in a line is also in the remark and the problem of the same row.
"""

from rocm_sdk.base.named_tuple import NamedTuple

from .coverage import with_code
from .done_without import is_done_without, is_spare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rocm_sdk._native import Code, Coverage, GpuCoverage, LibraryCoverage

_NAMED = 3  # libraries that a remark names

# Verdict -> the place of its lines, and their text. "used" are the targets of the code that the GPU runs.
VERDICTS = {
    "not needed": (0, "ok"),
    "exact": (1, "exact code for {gpu}"),
    "compatible": (2, "compatible code ({used})"),
    "generic": (3, "generic code ({used})"),
    "compiled at first use": (4, "kernels are compiled at first use"),
    "best effort": (5, "best effort: code for {used}, which only a patched runtime tries; unofficial"),
    "none": (6, "NO CODE for this GPU: its kernels fail with hipErrorInvalidDeviceFunction"),
}
SPIRV_DEPENDS = "SPIR-V runs if the comgr that HIP has translates it, which is not known here"
_DONE_WITHOUT = "present, calculates nothing for {processor}, which ROCm does not build it for; others do its work"
_FOR_OTHERS = "kernels for other GPUs, in files whose names say nothing of GPUs"
_NO_KERNELS = "NO KERNELS for this GPU: it loads, and its calls will fail"


class Trait(NamedTuple):
    """What is said about a library beside its verdict. None: nothing is said in this place."""

    applies: "Callable[[LibraryCoverage, GpuCoverage], bool]"
    line: str | None
    remark: str | None
    code: "Code | None" = None


def _is_partial(_library: "LibraryCoverage", on: "GpuCoverage") -> bool:
    return on.verdict != "none" and not on.uncovered_modes and on.covered < on.total


def _has_plain_verdict(on: "GpuCoverage") -> bool:
    return on.verdict in ("exact", "compatible", "generic")


# In the order in which a line has them.
# fmt: off
TRAITS = (
    Trait(lambda library, on: on.verdict == "none" and not is_done_without(library, on), None, "no code for it"),
    Trait(is_done_without, None, "present, calculates nothing for it"),
    Trait(lambda _, on: on.tables == "fallback", "fallback kernels only, which are slow",
          "fallback kernels only, which are slow", "N-CODE-008"),
    Trait(lambda _, on: on.missing_table is not None, "a TABLE OF KERNELS IS MISSING: some calls will fail",
          "a table of kernels is missing", "E-CODE-007"),
    Trait(lambda _, on: on.late > 0, "{late} parts in a later archive only, which not every HIP opens",
          "parts in a later archive only, which not every HIP opens"),
    Trait(lambda _, on: on.verdict == "compiled at first use", None, "compiled at first use"),
    Trait(lambda _, on: on.database is False, "no performance database for {processor}", None),
    Trait(lambda library, on: on.verdict == "best effort" and library.compressed_count > 0,
          "it is compressed, which takes a patched comgr", None),
    Trait(lambda _, on: bool(on.uncovered_modes), "none for {modes}", None, "N-CODE-003"),
    Trait(lambda library, on: _is_partial(library, on) and _has_plain_verdict(on),
          "in {covered} of {total} parts", None, "N-CODE-003"),
    Trait(lambda library, on: _is_partial(library, on) and on.verdict == "best effort", None, None, "N-CODE-003"),
)
# fmt: on


def line_of(library: "LibraryCoverage", on: "GpuCoverage") -> tuple[int, str]:
    """Return the place of a library's line, and its text."""
    place, text = VERDICTS[on.verdict]
    if is_done_without(library, on):
        text = _DONE_WITHOUT
    elif on.lack == "unnamed":
        text = _FOR_OTHERS
    elif on.verdict == "none" and on.covered > 0:
        text = _NO_KERNELS
    said = [text, *(row.line for row in TRAITS if row.line is not None and row.applies(library, on))]
    used = _used_targets(library, on.gpu) if "{used}" in text else ""
    processor, modes = on.gpu.partition(":")[0], ", ".join(on.uncovered_modes)
    facts = {"used": used, "gpu": on.gpu, "processor": processor, "modes": modes}
    return place, "; ".join(said).format(late=on.late, covered=on.covered, total=on.total, **facts)


def is_failure(text: str) -> bool:
    """Return whether the text of a line says that calls of the libraries will fail."""
    return text.startswith(("NO CODE", "NO KERNELS")) or "a TABLE OF KERNELS IS MISSING" in text


def lines_on(found: "Coverage", index: int) -> "list[tuple[list[str], str]]":
    """Return the lines of the GPU that was asked for at `index`: libraries, and the text.

    Libraries are named by their short names, if they have any. Libraries of the host, such as LLVM's, have no line.
    """
    from rocm_sdk.installed.catalog import shortnames_by_stem

    shortnames = shortnames_by_stem()
    groups: dict[tuple[int, str], list[str]] = {}
    for library in found.libraries:
        on = library.gpus[index]
        if on.verdict != "not needed" or library.name in shortnames:
            groups.setdefault(line_of(library, on), []).append(shortnames.get(library.name, library.name))
    return [(sorted(names), text) for (_, text), names in sorted(groups.items())]


def remarks_on(found: "Coverage", index: int) -> "Iterator[str]":
    """Yield the remarks on the libraries, which they name, on the GPU that was asked for at `index`."""
    having = with_code(found)
    rows = [(library, library.gpus[index]) for library in found.libraries]
    rows = [(library, on) for library, on in rows if library in having or is_done_without(library, on)]
    for row in TRAITS:
        if row.remark is not None:
            yield from _remark(row.remark, [library.name for library, on in rows if row.applies(library, on)])
    for library in found.libraries:
        if library.gpus[index].database is False:
            yield f"slow first use: {library.name} has no database for it"


def codes_of(library: "LibraryCoverage", on: "GpuCoverage") -> "Iterator[Code]":
    """Yield the codes of the lacks of a library with some code for the GPU, each once."""
    codes = (row.code for row in TRAITS if row.code is not None and row.applies(library, on))
    yield from dict.fromkeys(codes)


def has_all(library: "LibraryCoverage", on: "GpuCoverage") -> bool:
    """Return whether a library lacks nothing on a GPU: all its code is for it, or nobody needs the library there."""
    return is_spare(library, on) or (_has_plain_verdict(on) and not any(codes_of(library, on)))


def named(names: "Iterable[str]") -> str:
    """Return the first of several libraries, and how many more there are."""
    first = list(names)
    more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
    return f"{', '.join(first[:_NAMED])}{more}"


def _remark(text: str, names: list[str]) -> "Iterator[str]":
    if names:
        yield f"{named(names)}: {text}"


def _used_targets(library: "LibraryCoverage", gpu: str) -> str:
    """Return the targets of the library's code that the GPU runs, the best first."""
    from rocm_sdk.targets import compatibility

    order = ("exact", "compatible", "generic", "SPIR-V", "unofficial")
    fits = [(compatibility(each.target, gpu, unofficial=True).fit, each.target) for each in library.targets]
    best = min((order.index(fit) for fit, _ in fits if fit != "none"), default=0)
    return ", ".join(target for fit, target in fits if fit == order[best]) or gpu
