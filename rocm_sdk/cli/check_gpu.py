"""`rocm-sdk check-gpu`: whether the installed libraries have code for a GPU."""

import sys

from rocm_sdk import _native
from rocm_sdk.terminal.output import complain, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Sequence

    from rocm_sdk._native import Coverage, Gpu, LibraryCoverage
    from rocm_sdk.problems import Problem

EXAMPLE = "rocm-sdk check-gpu --gpu gfx1151"
DESCRIPTION = """\
Check whether the installed libraries have code for a GPU, by the code in their files. Exit status 0 where each library
that has GPU code runs on each GPU, 1 where one does not, or nothing could be checked."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_WIDTH = 26  # of the column of names
_LINE = 60  # after which a list of names goes on in a line of its own


def add_arguments(parser: "ArgumentParser") -> None:
    """The GPUs, the files and the form of the output."""
    parser.add_argument(
        "--gpu",
        action="append",
        metavar="GPU",
        help="targets or families, with commas, or `machine` (the default): the GPUs of this machine as ROCm presents"
        " them. A target without features, as gfx90a, stands for a GPU in any mode",
    )
    parser.add_argument("--sdk", metavar="DIR", help="look at the libraries below this directory instead")
    parser.add_argument(
        "--unofficial",
        action="store_true",
        help="also count code for other processors that runtimes with patches of distributions try",
    )
    parser.add_argument("--json", action="store_true", help="all facts, for programs")


def run(options: "Namespace") -> int:
    """Prints what the libraries have for each GPU; status 1 if one lacks something, or nothing was checked."""
    from rocm_sdk.gpu_support.code_problems import problems_on
    from rocm_sdk.gpu_support.coverage import with_code
    from rocm_sdk.installed.installation import current

    names, products = chosen_gpus(options.gpu or ["machine"])
    if not names:
        causes = "; ".join(found.cause for found in _native.check_gpu_access())
        complain(f"no GPU to check{causes and f': {causes}'}", "name one: rocm-sdk check-gpu --gpu gfx1151")
        return 1
    installed = None if options.sdk is not None else current()
    directories = (options.sdk,) if installed is None else installed.directories
    found = _native.coverage(directories, tuple(names), options.unofficial)
    problems = tuple(problems_on(found, index, installed) for index in range(len(names)))
    if options.json:
        _print_json(found, names, products, problems)
    else:
        print_coverage(found, names, products, problems)
    for fault in found.faults:
        complain(f"{fault.message} [{fault.code}]")
    if not with_code(found):
        complain("nothing was checked: no library with GPU code was found")
    each_on = [on for library in found.libraries for on in library.gpus]
    is_lacking = any(on.verdict == "none" or on.missing_table is not None for on in each_on)
    return 1 if is_lacking or found.faults or not with_code(found) else 0


def print_coverage(
    found: "Coverage", names: list[str], products: list[str], problems: "Sequence[tuple[Problem, ...]]"
) -> None:
    """What the libraries have for each GPU, and what they lack."""
    for index, name in enumerate(names):
        tell(f"{name}  {products[index]}")
        _print_gpu(found, index, problems[index])
    if _is_best_effort(found):
        _print_dependence()
    _print_unused(found)


def _is_best_effort(found: "Coverage") -> bool:
    return any(on.verdict == "best effort" for library in found.libraries for on in library.gpus)


def chosen_gpus(words: list[str]) -> tuple[list[str], list[str]]:
    """The target ids, each once, and the product name of each."""
    from rocm_sdk import targets

    chosen: dict[str, str] = {}
    for word in ",".join(words).split(","):
        if word.strip() == "machine":
            chosen |= {gpu.target: _product(gpu) for gpu in _native.gpus() if gpu.processor != "unknown"}
        else:
            chosen |= {name: targets.lookup(name).product for name in targets.expand(word)}
    return list(chosen), list(chosen.values())


def _product(gpu: "Gpu") -> str:
    return f"{gpu.name}, really {gpu.real_processor}: HSA_OVERRIDE_GFX_VERSION" if gpu.overridden else gpu.name


# ---- text


def _print_gpu(found: "Coverage", index: int, problems: "Iterable[Problem]") -> None:
    from rocm_sdk.gpu_support.words import line_of
    from rocm_sdk.installed.catalog import shortnames_by_stem

    shortnames = shortnames_by_stem()
    groups: dict[tuple[int, str], list[str]] = {}
    for library in found.libraries:
        on = library.gpus[index]
        if on.verdict == "not needed" and library.name not in shortnames:
            continue  # libraries of the host; LLVM and others
        groups.setdefault(line_of(library, on), []).append(shortnames.get(library.name, library.name))
    for (_, text), names in sorted(groups.items()):
        _print_group(sorted(names), text)
    for each in problems:
        if each.code not in ("N-CODE-003", "N-CODE-008"):  # the lines say it
            tell(f"  {'':{_WIDTH}}  {each.code}: {each.cause}")
            if each.fix is not None:
                tell(f"  {'':{_WIDTH}}  fix: {each.fix}")


def _print_dependence() -> None:
    """What unofficial code depends on, as far as it can be found out."""
    from rocm_sdk.gpu_support.runtime_patches import comgr_tries_other_processors

    words = {
        True: "finds code for another processor: it is patched",
        False: "finds code for the exact target only: it is not patched",
        None: "could not be asked",
    }
    tell("best effort: nobody promises that such kernels run; they may fail, hang or compute wrongly")
    tell(f"  the installed comgr {words[comgr_tries_other_processors()]}")
    tell("  whether HIP and ROCr are patched cannot be told without a GPU")


def _print_unused(found: "Coverage") -> None:
    """The code that none of the GPUs runs."""
    unused = [each for each in found.targets if not each.used]
    if unused:
        from rocm_sdk.base.value_text import size_text

        names = ", ".join(f"{each.target or 'unknown target'} {size_text(each.size)}" for each in unused)
        plain = sum(each.size for each in found.targets)
        tell(f"not used: {size_text(sum(each.size for each in unused))} of {size_text(plain)} of GPU code: {names}")


def _print_group(names: list[str], text: str) -> None:
    lines = [""]
    for position, name in enumerate(names):
        word = name if position + 1 == len(names) else f"{name}, "
        if lines[-1] and len(lines[-1]) + len(word) > (_LINE if len(names) > 6 else _WIDTH + 1):
            lines.append("")
        lines[-1] += word
    for line in lines[:-1]:
        tell(f"  {line}".rstrip())
    tell(f"  {lines[-1]:{_WIDTH}}  {text}")


# ---- for programs


def _print_json(
    found: "Coverage", names: list[str], products: list[str], problems: "Sequence[tuple[Problem, ...]]"
) -> None:
    import json

    content: dict[str, object] = {
        "schema": _SCHEMA,
        "gpus": [
            {
                "target": name,
                "name": products[index],
                "libraries": [_document(library, index) for library in found.libraries],
                "problems": [each.as_document() for each in problems[index]],
            }
            for index, name in enumerate(names)
        ],
        "targets": [_fields(each) for each in found.targets],
        "faults": [_fields(each) for each in found.faults],
    }
    if _is_best_effort(found):
        from rocm_sdk.gpu_support.runtime_patches import comgr_tries_other_processors

        content["comgr_tries_other_processors"] = comgr_tries_other_processors()
    json.dump(content, sys.stdout, indent=2)
    sys.stdout.write("\n")


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__match_args__}  # type: ignore[attr-defined]


def _document(library: "LibraryCoverage", index: int) -> dict[str, object]:
    return {"name": library.name, "files": library.files, **_fields(library.gpus[index])}
