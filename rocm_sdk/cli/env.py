"""The command `rocm-sdk env`, which prints the variables that a build needs, for a shell to evaluate."""

import os

from rocm_sdk._native import locate, package_directory
from rocm_sdk.base.left_variables import may_lead_out
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.terminal.output import complain

from .arguments import EXAMPLE_GPU
from .gpu_option import add_gpu_options, chosen_variables, is_misused
from .path import directory_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from rocm_sdk.base.reporter import Reporter

EXAMPLE = 'eval "$(rocm-sdk env)" && cmake -B build'
DESCRIPTION = """\
Print the variables that a build against this SDK needs, as commands for a shell to evaluate. The first call extracts
the development tree.

  ROCM_PATH, ROCM_HOME    root of the development tree
  HIP_DEVICE_LIB_PATH     the compiler's device libraries (bitcode), if the tree has them
  CMAKE_PREFIX_PATH, PKG_CONFIG_PATH, PATH
                          the tree's directory, before the present value
  LDFLAGS                 -Wl,-rpath-link for the tree's libraries, before the present value: the linker then finds the
                          dependencies of linked libraries. CMake reads it when it first configures a build

A variable is omitted if this SDK has no directory for it. Variables that lead ROCm out of this SDK are removed, as
`rocm-sdk run` does. With --compiler, for a clang that is not AMD's, which knows neither this SDK nor its targets:

  HIPCXX, HIPFLAGS        the compiler and its flags: CMake takes both; elsewhere $HIPCXX -x hip $HIPFLAGS saxpy.hip
  HIP_CLANG_PATH          its directory, from which hipcc starts clang++

These variables do not let programs find libraries. `rocm-sdk run PROGRAM` does, even by names without a version that no
file in the packages has, such as libamd_smi.so. For a shell whose programs find them: rocm-sdk run bash

With --gpu or --no-comgr-cache, only the variables of these options, unless --for or a build option asks for more."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_ICD_DIRECTORY = "etc/OpenCL/vendors"

# Variable -> the option of `rocm-sdk path` that prints its directory; omitted if the SDK has none.
_ASSIGNED = {"ROCM_PATH": "--root", "ROCM_HOME": "--root", "HIP_DEVICE_LIB_PATH": "--device-libs"}
_PREPENDED = {"CMAKE_PREFIX_PATH": "--cmake", "PKG_CONFIG_PATH": "--pkgconfig", "PATH": "--bin"}


class Variables(NamedTuple):
    """The variables of a build or a choice of GPUs.

    assigned: variables to set. prepended: entries to prepend to search paths. removed: variables to remove. options:
    options to prepend to lists of options, as a shell reads them.
    """

    assigned: dict[str, str]
    prepended: dict[str, str]
    removed: list[str]
    options: dict[str, str] | None = None


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: the form of the output, and further variables."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--sh", action="store_const", dest="form", const="sh", help="for sh, bash, zsh (the default)")
    form.add_argument(
        "--fish", action="store_const", dest="form", const="fish", help="for fish: rocm-sdk env --fish | source"
    )
    form.add_argument(
        "--json",
        action="store_const",
        dest="form",
        const="json",
        help='for programs: {"schema": 1, "set": {}, "prepend": {}, "options": {}, "unset": []}',
    )
    parser.add_argument("--opencl", action="store_true", help="OCL_ICD_VENDORS too: OpenCL programs use only this SDK")
    parser.add_argument(
        "--compiler", metavar="CLANG", help="HIPCXX and HIPFLAGS too, for this clang: clang, clang-19 or a path"
    )
    parser.add_argument(
        "--targets",
        metavar="SELECTION",
        help="for --compiler: `machine` (the default), `sdk`, or targets and families separated by commas",
    )
    parser.add_argument(
        "--for",
        dest="purpose",
        metavar="PURPOSE",
        help="`build` (the default), or `torch-extension`: only what torch's cpp_extension needs to find this SDK",
    )
    add_gpu_options(parser)
    parser.set_defaults(form="sh")


def run(options: "Namespace") -> int:
    """Print the variables. Return status 2 for wrong usage, else 0."""
    if options.targets and not options.compiler:
        complain("--targets needs --compiler")
        return 2
    if options.purpose not in {None, *PURPOSES}:
        complain(f"there is no purpose {options.purpose}", f"take one of {', '.join(PURPOSES)}")
        return 2
    if is_misused(options):
        return 2
    chosen = chosen_variables(options)
    variables = Variables({}, {}, [])
    if options.purpose or options.opencl or options.compiler or not chosen:
        variables = PURPOSES[options.purpose or "build"](opencl=options.opencl)
    variables.assigned.update({name: value for name, value in chosen.items() if value is not None})
    variables.removed.extend(name for name, value in chosen.items() if value is None)
    if options.compiler:
        variables.assigned.update(_compiler_variables(options.compiler, options.targets or "machine", variables))
    if may_lead_out(os.environ):  # if a variable has other entries too, it is set to these
        from rocm_sdk.installed.inherited import leading_out
        from rocm_sdk.installed.view import current

        found = [each for each in leading_out(current(), os.environ) if each.name not in variables.assigned]
        variables.assigned.update({each.name: each.kept for each in found if each.kept is not None})
        variables.removed.extend(each.name for each in found if each.kept is None)
    if options.form == "json":
        import json

        document: dict[str, object] = {"schema": _SCHEMA, "set": variables.assigned, "prepend": variables.prepended}
        if variables.options:  # only of a build
            document["options"] = variables.options
        document["unset"] = variables.removed
        print(json.dumps(document, indent=2))
    else:
        print("\n".join(_FORMS[options.form](variables)))
    return 0


def build_variables(*, opencl: bool) -> Variables:
    """Return the variables of a build. Extract the development tree if needed.

    Raises RocmSdkError if the development package or OpenCL is not installed.
    """
    from rocm_sdk.devel.root import development_root

    root = development_root(_reporter)
    assigned, prepended = _directories(root, _ASSIGNED), _directories(root, _PREPENDED)
    if opencl:
        assigned["OCL_ICD_VENDORS"] = _icd_directory()
    found = _linker_options(root)
    return Variables(assigned, prepended, [], {"LDFLAGS": found} if found else None)


def _linker_options(root: str) -> str:
    """Return the options with which a linker that ignores the libraries' RPATHs finds their dependencies."""
    from rocm_sdk.devel.layout import LIBRARY_PLACES

    words = []
    for place in filter(os.path.isdir, (f"{root}/{place}" for place in LIBRARY_PLACES)):
        # gcc would take a comma in the path for the end of a word.
        option = f"-Wl,-rpath-link,{place}" if "," not in place else f"-rpath-link={place}"
        words += ["-Xlinker"] * ("," in place) + [quoted_for_shell(option)]
    return " ".join(words)


def extension_variables(*, opencl: bool) -> Variables:
    """Return the variables of torch's cpp_extension, which without them takes the core package for ROCm's home.

    Raises the errors of home_directory.
    """
    from rocm_sdk.devel.root import home_directory

    assigned = {"ROCM_HOME": home_directory(_reporter)}
    if opencl:
        assigned["OCL_ICD_VENDORS"] = _icd_directory()
    return Variables(assigned, {}, [])


# Purpose -> the function that returns its variables.
PURPOSES = {"build": build_variables, "torch-extension": extension_variables}


def _reporter() -> "Reporter":
    from rocm_sdk.base.reporter import reporter_of_environment

    return reporter_of_environment()


def _compiler_variables(name: str, selection: str, variables: Variables) -> dict[str, str]:
    """Return HIPCXX, HIPFLAGS, HIP_PLATFORM, and HIP_CLANG_PATH for hipcc.

    Without HIP_PLATFORM, hipconfig assumes nvidia if it finds CUDA. Raises RocmSdkError if there is no such compiler,
    or the selection has no target.
    """
    import shlex

    from rocm_sdk.devel.compilers import directory_for_hipcc, driver_name, find_driver, hip_flags

    driver = find_driver(name)
    if driver is None:
        from rocm_sdk.errors import RocmSdkError

        place = os.path.dirname(name) or "PATH"
        fix = "install it, or name another: clang-19"
        raise RocmSdkError(f"there is no {driver_name(name)} in {place}", fix, code="E-TOOL-005")
    root = variables.assigned["ROCM_HOME"]
    flags = [*hip_flags(root, _targets(selection, root)), *_flags_of_linking(variables)]
    found = {"HIPCXX": driver, "HIPFLAGS": shlex.join(flags), "HIP_PLATFORM": "amd"}
    directory = directory_for_hipcc(driver)
    return found if directory is None else found | {"HIP_CLANG_PATH": directory}


def _flags_of_linking(variables: Variables) -> list[str]:
    """Return LDFLAGS for the driver: without them, CMake's first test of the HIP compiler would not link."""
    import shlex

    words = shlex.split((variables.options or {}).get("LDFLAGS", ""))
    return ["--start-no-unused-arguments", *words, "--end-no-unused-arguments"] if words else []


def _targets(selection: str, root: str) -> tuple[str, ...]:
    """Return the targets of a selection. The user may compile for targets that the SDK's libraries have no code for.

    root: the development tree.
    """
    from rocm_sdk import targets
    from rocm_sdk.devel.compilers import has_bitcode
    from rocm_sdk.errors import EmptySelectionError
    from rocm_sdk.fit.packages import supported_targets
    from rocm_sdk.fit.selection import select
    from rocm_sdk.installed.view import current

    if selection not in {"machine", "sdk"}:
        return targets.expand(selection)
    try:
        chosen, notes = select(selection)
    except EmptySelectionError as error:
        known = [each for each in supported_targets(current()) if has_bitcode(root, each)] or [EXAMPLE_GPU]
        raise EmptySelectionError(error.message, f"name the targets: --targets {','.join(known[:2])}") from error
    for note in notes:
        complain(note)
    return chosen


def _directories(root: str, options: dict[str, str]) -> dict[str, str]:
    """Return variable -> its directory in the tree."""
    found = {name: directory_in(root, option) for name, option in options.items()}
    return {name: directory for name, directory in found.items() if directory is not None}


def _icd_directory() -> str:
    """Return the directory with the SDK's .icd file, else its OpenCL library: OCL_ICD_VENDORS allows both."""
    directory = f"{package_directory('core')}/{_ICD_DIRECTORY}"
    if os.path.isdir(directory):
        return directory
    library = locate("amdocl64").path
    if library is None:
        from rocm_sdk.errors import LibraryNotFoundError

        raise LibraryNotFoundError("this SDK has no OpenCL (amdocl64)", "omit --opencl")
    return library


def _sh_lines(variables: Variables) -> "Iterator[str]":
    for name, value in variables.assigned.items():
        yield f"export {name}={quoted_for_shell(value)}"
    for name, value in variables.prepended.items():
        yield f'export {name}={quoted_for_shell(value)}"${{{name}:+:${name}}}"'
    for name, value in (variables.options or {}).items():
        yield f'export {name}={quoted_for_shell(value)}"${{{name}:+ ${name}}}"'
    for name in variables.removed:
        yield f"unset {name}"


def _fish_lines(variables: Variables) -> "Iterator[str]":
    for name, value in variables.assigned.items():
        yield f"set -gx {name} {_fish_quoted(value)}"
    for name, value in variables.prepended.items():
        yield f"set -gx --path {name} {_fish_quoted(value)} ${name}"
    for name, value in (variables.options or {}).items():
        yield f"set -gx {name} {_fish_quoted(value)} ${name}"
    for name in variables.removed:
        yield f"set -e {name}"


def _fish_quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_FORMS = {"sh": _sh_lines, "fish": _fish_lines}
