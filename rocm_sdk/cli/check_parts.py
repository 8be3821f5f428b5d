"""The common parts of the forms of a check: the options, the GPUs that they name, and the lines on GPU code."""

import sys

from rocm_sdk.terminal.output import complain, tell_fix, tell_row, tell_wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable

    from rocm_sdk._native import Coverage
    from rocm_sdk.fit.code_verdict import CodeVerdict
    from rocm_sdk.problems import Problem, SaidFixes

_WIDTH = 26  # of the column of names
_LINE = 60  # columns; a longer list of names goes on in a line of its own


def add_against(parser: "ArgumentParser", sdk: str) -> None:
    """Add the options that say what a check is against, and the form of its output. sdk: the help of --sdk."""
    parser.add_argument(
        "--gpu",
        action="append",
        metavar="GPU",
        help="targets or families, separated by commas, or `machine` (the default): the GPUs of this machine as ROCm"
        " presents them. A target without features, such as gfx90a, stands for a GPU in any mode",
    )
    parser.add_argument("--sdk", metavar="DIR", help=sdk)
    parser.add_argument("--json", action="store_true", help="all facts, for programs")


def is_directory(name: str) -> bool:
    """Return whether --sdk names a directory; complain if not."""
    import os

    if os.path.isdir(name):
        return True
    try:
        os.stat(name)
        what = "is not a directory"
    except FileNotFoundError:
        what = "there is no such directory"
    except OSError as error:
        what = f"{error.strerror}"
    complain(f"--sdk {name}: {what}", "name a directory that has the libraries of an SDK")
    return False


def chosen_gpus(words: "list[str] | None") -> tuple[list[str], list[str]]:
    """Return the target ids that --gpu names, each once, and the product name of each. Raise EmptySelectionError."""
    from rocm_sdk import _native, targets
    from rocm_sdk.base.value_text import listed
    from rocm_sdk.fit.wsl import unseen

    given = ",".join(words or ["machine"])
    chosen: dict[str, str] = {}
    targets.refuse_no_target("--gpu", given)
    for word in listed(given):
        if word == "machine":
            chosen |= {
                gpu.target: (
                    f"{gpu.name}, really {gpu.real_processor}: HSA_OVERRIDE_GFX_VERSION" if gpu.overridden else gpu.name
                )
                for gpu in _native.gpus()
                if gpu.processor != "unknown"
            }
        else:
            chosen |= {name: targets.lookup(name).product for name in targets.expand(word)}
    for note in unseen(() if words is None else chosen):
        complain(note)
    return list(chosen), list(chosen.values())


def print_code(verdict: "CodeVerdict", names: list[str], products: list[str]) -> None:
    """Print what the libraries have for each GPU, and what they lack."""
    from rocm_sdk.fit.coverage import with_code
    from rocm_sdk.fit.coverage_words import SPIRV_DEPENDS
    from rocm_sdk.problems import SaidFixes

    found, fixes = verdict.coverage, SaidFixes()
    for index, name in enumerate(names):
        tell_row(name, products[index])
        _print_gpu(found, index, verdict.lacks[index], fixes)
    if is_best_effort(found):
        from rocm_sdk.fit.comgr import comgr_tries_other_processors

        words = {
            True: "finds code for another processor: it is patched",
            False: "finds code for the exact target only: it is not patched",
            None: "could not be asked",
        }
        tell_wrapped("best effort: nobody promises that such kernels run; they may fail, hang or compute wrong results")
        tell_wrapped(f"the installed comgr {words[comgr_tries_other_processors()]}", "  ")
        tell_wrapped("without a GPU, it is not known whether HIP and ROCr are patched", "  ")
    for each in verdict.problems:
        tell_wrapped(f"{each.code}: {each.title}: {each.cause}")
        if (fix := fixes.of(each)) is not None:
            tell_fix(*fix, 0)
    if None in verdict.runs and with_code(found):
        tell_wrapped(SPIRV_DEPENDS)
    unused = [each for each in found.targets if not each.used]
    if unused:
        from rocm_sdk.base.value_text import size_text

        shown = ", ".join(f"{each.target or 'unknown target'} {size_text(each.size)}" for each in unused)
        plain = sum(each.size for each in found.targets)
        tell_wrapped(
            f"not used: {size_text(sum(each.size for each in unused))} of {size_text(plain)} of GPU code: {shown}"
        )


def _print_gpu(found: "Coverage", index: int, problems: "Iterable[Problem]", fixes: "SaidFixes") -> None:
    from rocm_sdk.fit.coverage_words import is_failure, lines_on
    from rocm_sdk.terminal.style import style, width_of

    for names, text in lines_on(found, index):
        longest = min(_LINE if len(names) > 6 else _WIDTH + 1, (width_of(sys.stdout) or _LINE + 2) - 2)
        lines = [""]
        for position, name in enumerate(names):
            word = name if position + 1 == len(names) else f"{name}, "
            if lines[-1] and len(lines[-1]) + len(word) > longest:
                lines.append("")
            lines[-1] += word
        for line in lines[:-1]:
            tell_wrapped(line.rstrip(), "  ")
        tell_row(f"  {lines[-1]:{_WIDTH}}", text, (str, style("error", sys.stdout) if is_failure(text) else str))
    for each in problems:
        if each.code not in ("N-CODE-003", "N-CODE-008"):  # the lines say it
            tell_row(f"  {'':{_WIDTH}}", f"{each.code}: {each.cause}")
            if (fix := fixes.of(each)) is not None:
                tell_fix(*fix, _WIDTH + 4)


def is_best_effort(found: "Coverage") -> bool:
    """Return whether a GPU runs code that only a patched runtime tries."""
    return any(on.verdict == "best effort" for library in found.libraries for on in library.gpus)
