"""The command `rocm-sdk check-gpu`: the form of `check` that looks only at the GPU code of the installed libraries."""

import sys

from rocm_sdk import _native
from rocm_sdk.terminal.output import complain

from .check_parts import add_against, chosen_gpus, is_best_effort, is_directory, print_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


EXAMPLE = "rocm-sdk check-gpu --gpu gfx1151"
DESCRIPTION = """\
Check whether the installed libraries have code for a GPU, by the code in their files. Exit status 0 if each library
that has GPU code runs on each GPU, 1 if one does not, or if nothing could be checked."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: the GPUs, the files and the form of the output."""
    add_against(parser, "look at the libraries below this directory instead")
    parser.add_argument(
        "--unofficial",
        action="store_true",
        help="also count code for other processors that runtimes with distributions' patches try",
    )


def run(options: "Namespace") -> int:
    """Print the code of the libraries for each GPU. Return status 1 if one lacks something, or nothing was checked."""
    from rocm_sdk.fit.code_verdict import as_counted, judge_code
    from rocm_sdk.fit.coverage import with_code
    from rocm_sdk.installed.view import current

    if options.sdk is not None and not is_directory(options.sdk):
        return 2
    names, products = chosen_gpus(options.gpu)
    if not names:
        from rocm_sdk.fit.wsl import explained

        from .arguments import with_gpu
        from .gpus import each_once

        causes = "; ".join(found.cause for found in each_once(explained(_native.check_gpu_access())))
        complain(f"no GPU to check{causes and f': {causes}'}", with_gpu(options.typed))
        return 1
    installed = None if options.sdk is not None else current()
    directories = (options.sdk,) if installed is None else installed.directories
    has_comgr = installed is not None
    verdict = judge_code(directories, tuple(names), installed, unofficial=options.unofficial, has_comgr=has_comgr)
    if options.gpu is None or options.gpu == ["machine"]:
        verdict = as_counted(verdict, tuple(names))
    gpus = _native.gpus() if options.gpu is None or "machine" in options.gpu else ()
    processors = {name.partition(":")[0] for name in names} | {gpu.real_processor for gpu in gpus}
    from rocm_sdk.fit.known_faults import known_faults

    verdict = verdict._replace(
        problems=(*verdict.problems, *known_faults(processors, installed.version if installed is not None else None))
    )
    if options.json:
        import json

        found = verdict.coverage
        content: dict[str, object] = {
            "schema": _SCHEMA,
            "gpus": [
                {
                    "target": name,
                    "name": products[index],
                    "libraries": [
                        {"name": library.name, "files": library.files, **_fields(library.gpus[index])}
                        for library in found.libraries
                    ],
                    "problems": [each.as_document() for each in verdict.lacks[index]],
                }
                for index, name in enumerate(names)
            ],
            "targets": [_fields(each) for each in found.targets],
            "faults": [_fields(each) for each in found.faults],
            "problems": [each.as_document() for each in verdict.problems],
            "comgr_translates_spirv": verdict.translates,
        }
        if is_best_effort(found):
            from rocm_sdk.fit.comgr import comgr_tries_other_processors

            content["comgr_tries_other_processors"] = comgr_tries_other_processors()
        json.dump(content, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        print_code(verdict, names, products)
    faults = verdict.coverage.faults
    for fault in faults:
        complain(f"{fault.message} [{fault.code}]")
    if None in verdict.runs and not with_code(verdict.coverage):
        complain("nothing was checked: no library with GPU code was found")
    return 1 if faults or not all(verdict.runs) else 0


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__match_args__}  # type: ignore[attr-defined]
