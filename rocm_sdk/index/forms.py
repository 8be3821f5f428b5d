"""The chosen packages as a command, or as the text of a file of pip, uv or conda."""

from __future__ import annotations

import json
import os
from pathlib import Path

from rocm_sdk.base.own_place import scratch_place
from rocm_sdk.base.scratch import scratch_directory
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.installed.distributions import normalised

from .destination import is_ours
from .install_errors import InstallRefusedError, WrongWordError
from .installer_answer import SCRATCH, compiling, plain_options, pre_releases, run_installer, variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .choice import Choice
    from .destination import Destination
    from .request import Index, Requirement

_APART = ("command", "pyproject", "uv.lock")  # the forms that keep two indexes apart
UNPINNED = ("command", "requirements", "environment")  # the forms that need no answer from the index
_INDEX = "rocm"  # its name in files of uv


def arguments(requirements: Iterable[Requirement], destination: Destination, index: Index) -> list[str]:
    """Return the words that follow `install`, without the index."""
    return [*pre_releases(destination, index), *map(str, requirements)]


def commands(choice: Choice, destination: Destination, index: Index) -> list[str]:
    """Return the commands that install the choice, for a shell, each from one index."""
    unset, added = variables(destination)
    prefix = [word for name in unset for word in ("-u", name)] + [f"{name}={value}" for name, value in added.items()]
    option = "--default-index" if destination.installer == "uv" else "--index-url"
    words = [*(["env", *prefix] if prefix else []), *destination.command, *plain_options(destination)]
    calls = ((choice.requirements, index), *choice.further)
    begin = f"{in_words(words)} {option}"
    return [f"{begin} {place.shown} {in_words(arguments(each, destination, place))}" for each, place in calls]


def in_words(words: Iterable[str]) -> str:
    """Return a command as a line of a shell."""
    return " ".join(map(quoted_for_shell, words))


def refuse_pair(installer: str, name: str, index: Index) -> None:
    """Raise InstallRefusedError for a form that an installer (or conda-pip) lacks, or that shows a password."""
    is_known = name == "environment" if installer == "conda-pip" else (installer, name) in _MAKERS
    if not is_known:
        raise WrongWordError(f"--format {name}: {installer} has no such form", pairs())
    if index.has_password and name != "command":
        raise InstallRefusedError(
            "ROCM_SDK_INDEX has a password, which would stand in the file", "give it to the installer in ~/.netrc"
        )


def refuse_joint(name: str, choice: Choice, index: Index) -> None:
    """Raise InstallRefusedError for a form that cannot keep the indexes of the choice apart."""
    for requirements, place in choice.further if name not in _APART else ():
        what = f"--format {name} cannot keep {index.shown} and {place.shown} apart, which has {requirements[0].name}"
        raise InstallRefusedError(what, f"ROCm's names can be anybody's there. These can: {', '.join(_APART)}")


def form(name: str, choice: Choice, destination: Destination, index: Index) -> str:
    """Return the text of a form, which refuse_pair has let through."""
    return _MAKERS[destination.installer, name](choice, destination, index)


def pairs() -> str:
    """Return the forms of each installer."""
    installers = dict.fromkeys(installer for installer, _ in _MAKERS)
    forms = {each: ", ".join(name for installer, name in _MAKERS if installer == each) for each in installers}
    return "; ".join(f"{each}: {names}" for each, names in forms.items()) + "; conda-pip: environment"


def _commands(choice: Choice, destination: Destination, index: Index) -> str:
    """Return the command, and the one that takes over the files of this package, if it is installed."""
    lines = commands(choice, destination, index)
    if destination.adopting:
        lines.append(in_words(destination.adopting))
    return "\n".join(lines) + "\n"


def _requirements(choice: Choice, destination: Destination, index: Index) -> str:
    pre = []
    if not index.is_stable:
        pre = ["--pre" if destination.installer == "pip" else "# uv pip install --prerelease allow --requirements FILE"]
    return "\n".join([f"--index-url {index.address}", *pre, *map(str, choice.requirements)]) + "\n"


def _lock_of_pip(choice: Choice, destination: Destination, index: Index) -> str:
    """Return the lock of `pip lock`, which pip calls experimental."""
    locking = [*destination.command[:-1], "lock", "--quiet", "--output", "-"]
    try:
        words = arguments(choice.requirements, destination, index)
        return run_installer([*locking, *words], destination, index, None).stdout
    except InstallRefusedError as error:
        if "unknown command" not in error.message:
            raise
        newer = f"{destination.python} -m pip install --upgrade pip, or take --installer uv"
        raise InstallRefusedError("pip has no `pip lock` before 25.1", newer) from error


def _lock_of_uv(choice: Choice, destination: Destination, index: Index) -> str:
    asking = [*compiling(destination, index), "--no-header", "--format", "pylock.toml", "-"]
    return run_installer(asking, destination, index, "\n".join(map(str, choice.requirements))).stdout


def _uv_lock(choice: Choice, destination: Destination, index: Index) -> str:
    """Return the uv.lock of a project with the pyproject.toml of this choice.

    Packages that are not ROCm's come from uv's own index.
    """
    with scratch_directory(Path(scratch_place()), SCRATCH) as directory:
        (directory / "pyproject.toml").write_text(_project(choice, destination, index), encoding="utf-8")
        locking = ["uv", "lock", "--quiet", "--python", destination.python]
        run_installer(locking, destination, None, None, str(directory))
        return (directory / "uv.lock").read_text(encoding="utf-8")


def _project(choice: Choice, destination: Destination, index: Index) -> str:
    """Return a pyproject.toml in which each package of ROCm is a direct dependency: only these get the named source.

    Otherwise uv looks for what `rocm[libraries]` needs on the public index.
    """
    extras = {normalised(each.name): each for each in choice.requirements}
    ours = {name: package for name, package in sorted(choice.packages.items()) if is_ours(name, package.version)}
    lines = [str(extras[name]) if name in extras else f"{name}=={ours[name].version}" for name in ours]
    lines += [str(each) for requirements, _ in choice.further for each in requirements]
    return "\n".join(
        [
            "[project]",
            'name = "project"',
            'version = "0"',
            f'requires-python = "==3.{destination.minor}.*"',
            f"dependencies = {json.dumps(lines, indent=4)}",
            "",
            "[tool.uv]",
            *([] if index.is_stable else ['prerelease = "allow"']),
            f"environments = [\"sys_platform == 'linux' and platform_machine == '{os.uname().machine}'\"]",
            "",
            "[[tool.uv.index]]",
            f'name = "{_INDEX}"',
            f"url = {json.dumps(index.address)}",
            "explicit = true",
            "",
            "[tool.uv.sources]",
            *(f'{name} = {{ index = "{_INDEX}" }}' for name in ours),
            "",
        ]
    )


def environment(choice: Choice, destination: Destination, index: Index) -> str:
    """Return an environment.yml for conda, with the choice in its `pip` section."""
    options = [f"--index-url {index.address}", *([] if index.is_stable else ["--pre"])]
    rows = [f"      - {json.dumps(each)}" for each in (*options, *map(str, choice.requirements))]
    head = ["name: rocm", "dependencies:", f"  - python=3.{destination.minor}", "  - pip", "  - pip:"]
    return "\n".join([*head, *rows]) + "\n"


_MAKERS: dict[tuple[str, str], Callable[[Choice, Destination, Index], str]] = {
    ("pip", "command"): _commands,
    ("pip", "requirements"): _requirements,
    ("pip", "lock"): _lock_of_pip,
    ("uv", "command"): _commands,
    ("uv", "requirements"): _requirements,
    ("uv", "pyproject"): _project,
    ("uv", "lock"): _lock_of_uv,
    ("uv", "uv.lock"): _uv_lock,
}
