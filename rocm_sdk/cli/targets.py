"""The command `rocm-sdk targets`: the gfx targets of the SDK and of its packages, and flags to build for them."""

from rocm_sdk._native import built_targets
from rocm_sdk.terminal.output import complain, tell, tell_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

EXAMPLE = "cmake $(rocm-sdk targets --cmake machine) .."


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the question, and the targets."""
    question = parser.add_mutually_exclusive_group()
    question.add_argument("--installed", action="store_true", help="the targets that the installed packages support")
    question.add_argument("--missing", action="store_true", help="GPUs of this machine that no package supports")
    question.add_argument("--check", action="store_true", help="whether all parts support the same GPUs")
    for name in _FLAGS:
        question.add_argument(f"--{name}", action="store_true", help=f"for a build: {_FLAGS[name](('gfx942',))}")
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, ...}')
    parser.add_argument(
        "selection",
        nargs="?",
        metavar="SELECTION",
        help="for the flags of a build: `sdk` (the default), `machine`, or targets and families separated by commas",
    )


def run(options: "Namespace") -> int:
    """Print the answer in one line. Return status 1 if there is none, or if something is missing."""
    flags = next((name for name in _FLAGS if getattr(options, name.replace("-", "_"))), None)
    if flags is not None:
        return _print_flags(_FLAGS[flags], options.selection or "sdk", as_json=options.json)
    if options.selection is not None:
        complain(f"a selection needs one of {', '.join(f'--{name}' for name in _FLAGS)}")
        return 2
    if options.installed:
        return _print_installed(as_json=options.json)
    if options.missing:
        return _print_missing(as_json=options.json)
    return _print_check(as_json=options.json) if options.check else _print_built(as_json=options.json)


def _print_built(*, as_json: bool = False) -> int:
    targets = built_targets()
    if not targets:
        complain("the installed SDK does not say which targets it was built for (share/therock/dist_info.json)")
        return 1
    if as_json:
        tell_json(1, targets=targets.split(";"))
    else:
        print(targets)
    return 0


# ---- flags for builds


def _cmake(targets: tuple[str, ...]) -> str:
    names = ";".join(targets)
    return f"-DAMDGPU_TARGETS={names} -DGPU_TARGETS={names} -DCMAKE_HIP_ARCHITECTURES={names}"


def _offload_arch(targets: tuple[str, ...]) -> str:
    return " ".join(f"--offload-arch={name}" for name in targets)


def _torch(targets: tuple[str, ...]) -> str:
    return f"PYTORCH_ROCM_ARCH={';'.join(targets)}"


def _use_flags(targets: tuple[str, ...]) -> str:
    """Return the USE flags of Gentoo's rocm.eclass, which have no features: it builds for their modes itself."""
    return " ".join(dict.fromkeys(f"amdgpu_targets_{name.partition(':')[0]}" for name in targets))


def _required_use(targets: tuple[str, ...]) -> str:
    return f"|| ( {_use_flags(targets)} )"


def _nix(targets: tuple[str, ...]) -> str:
    return " ".join(["[", *(f'"{name}"' for name in targets), "]"])


_FLAGS: "dict[str, Callable[[tuple[str, ...]], str]]" = {
    "cmake": _cmake,
    "offload-arch": _offload_arch,
    "torch": _torch,
    "use-flags": _use_flags,
    "required-use": _required_use,
    "nix": _nix,
}


def _print_flags(form: "Callable[[tuple[str, ...]], str]", selection: str, *, as_json: bool) -> int:
    from rocm_sdk.fit.selection import select

    chosen, notes = select(selection)
    if as_json:
        tell_json(1, targets=chosen, flags=form(chosen), notes=notes)
        return 0
    for note in notes:
        complain(note)
    print(form(chosen))
    return 0


# ---- packages


def _print_installed(*, as_json: bool) -> int:
    from rocm_sdk.fit.packages import supported_targets, supporting_packages
    from rocm_sdk.installed.view import current

    installed = current()
    packages = supporting_packages(installed)
    supported = supported_targets(installed)
    if as_json:
        documents = [{"distribution": package.distribution, "fault": package.fault} for package in packages]
        tell_json(1, targets=supported, packages=documents)
        return 0 if supported else 1
    for package in packages:
        if package.fault is not None:
            complain(f"{package.distribution} supports no target: {package.fault}")
    if not supported:
        complain("no installed package has device code; see rocm-sdk targets --missing")
        return 1
    print(";".join(supported))
    return 0


def _print_missing(*, as_json: bool) -> int:
    from rocm_sdk import _native
    from rocm_sdk.fit.packages import install_command, missing_targets, requirement_for, supported_targets
    from rocm_sdk.installed.view import current

    installed, gpus = current(), _native.gpus()
    missing = missing_targets(gpus, supported_targets(installed))
    if as_json:
        documents = [{"target": name, "requirement": requirement_for(installed, name)} for name in missing]
        tell_json(1, missing=documents, gpus=len(gpus))
        return 1 if missing else 0
    for name in missing:
        requirement = requirement_for(installed, name)
        line = install_command(installed, requirement) if requirement else "this SDK has no code for it"
        tell(f"{name}: {line}")
    if not gpus:
        complain("no GPU was found: see rocm-sdk gpus")
    return 1 if missing else 0


def _print_check(*, as_json: bool) -> int:
    from rocm_sdk.fit.consistency import check
    from rocm_sdk.installed.view import current

    result = check(current())
    if as_json:
        tell_json(1, parts=result.parts, gaps=[gap._asdict() for gap in result.gaps], notes=result.notes)
        return 1 if result.gaps or result.notes else 0
    for part, supported in result.parts.items():
        tell(f"{part}: {';'.join(supported)}")
    for note in result.notes:
        complain(note)
    for gap in result.gaps:
        complain(f"{gap.target} is supported by {gap.other}, not by {gap.part}")
    return 1 if result.gaps or result.notes else 0
