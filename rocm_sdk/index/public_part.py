"""JAX from AMD's index and the public one, each used alone: on the public one, anybody can have ROCm's names."""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit

from rocm_sdk.base.value_text import quoted_for_shell, without_passwords
from rocm_sdk.installed.installable_table import FIRST_JAXLIB
from rocm_sdk.installed.installer import PUBLIC_INDEX

from .choice import JAX, Choice, changes, choose, numbers_of
from .destination import OURS, Destination
from .install_errors import InstallRefusedError, UnreachedIndexError
from .installer_answer import VARIABLES, ask
from .request import Index, Requirement
from .web.server import Server, WebError
from .web.simple_index import files_of_project

_SECONDS = 5  # for the question whether an index lists JAX
_MOST_TRIES = 8  # each asks for older versions
_FIX = "another stream (--rocm), or another Python (--python)"


def choose_all(
    requirements: tuple[Requirement, ...], targets: tuple[str, ...], destination: Destination, index: Index
) -> Choice:
    """Choose as `choose` does, JAX in the newest version that its plug-ins have, from the public index if need be.

    A form without versions would mix them, so an index that is not reached is not an UnreachedIndexError.
    """
    jax = next((each for each in requirements if each.name == JAX and not each.file), None)
    if jax is None:
        return choose(requirements, targets, destination, index)
    place, at = index if _lists(index) else _public(destination, index), requirements.index(jax)
    asked, bound = (*requirements[:at], *requirements[at + 1 :]), ""
    plugins = [each.name for each in asked if each.name.startswith(f"{JAX}-rocm")]
    try:
        for _ in range(_MOST_TRIES):
            asked = tuple(each._replace(version=bound) if each.name in plugins else each for each in asked)
            choice = choose(asked, targets, destination, index)
            versions = [choice.packages[name].version.partition("+")[0] for name in plugins]
            answer = ask((jax._replace(version=f"<={min(versions, key=numbers_of)}"),), destination, place)
            found = answer.packages[JAX].version
            if {found.partition("+")[0]} == {*versions}:
                break
            bound = f"<={found.partition('+')[0]}"
        else:
            raise InstallRefusedError(f"the versions down to {found} were tried", _FIX)
    except InstallRefusedError as error:
        if not bound and not isinstance(error, UnreachedIndexError):
            raise
        what = f"{JAX} and {', '.join(plugins)} have no version in common at {index.shown} and {place.shown}:\n"
        raise InstallRefusedError((what if bound else "") + error.message, error.fix) from error
    major, version = plugins[0].removeprefix(f"{JAX}-rocm").partition("-")[0], answer.packages[JAX].version
    first, jaxlib = FIRST_JAXLIB.get(major, ""), answer.packages.get("jaxlib")
    if jaxlib is not None and numbers_of(jaxlib.version) < numbers_of(first):
        said = f"{JAX} {version}, the newest that {plugins[0]} goes with here, takes jaxlib {jaxlib.version}"
        raise InstallRefusedError(f"{said}, and the first that knows the plug-in of ROCm {major} is {first}", _FIX)
    if stranger := next((each for each in answer.packages if each.startswith(OURS)), None):
        raise InstallRefusedError(f"{JAX} {version} would bring {stranger} from {place.shown}", "take another index")
    exact = jax._replace(version=f"=={found}")
    if place is index:
        return choose((*choice.requirements[:at], exact, *choice.requirements[at:]), targets, destination, index)
    note = f"{JAX} {found} and what it requires are from {place.shown}: {index.shown} does not list {JAX}"
    notes, packages = (*choice.notes, note, *changes(answer, destination)), answer.packages | choice.packages
    return Choice(choice.requirements, packages, notes, (((exact,), place),))


def _lists(index: Index) -> bool:
    """Return whether an index has files of JAX; True if it does not say."""
    if index.is_directory:
        return os.path.isfile(f"{unquote(urlsplit(index.address).path)}/{JAX}/index.html")
    try:
        return bool(files_of_project(Server(index.address, seconds=_SECONDS, tries=1), JAX))
    except WebError as error:
        return error.status not in {403, 404}


def _public(destination: Destination, index: Index) -> Index:
    """Return the index that the installer uses by default; the public one if that is this index."""
    own = destination.public_index
    address = PUBLIC_INDEX if own.rstrip("/") == index.address.rstrip("/") else own
    is_secret = without_passwords(address) != address
    shown = f'"${VARIABLES[destination.installer]}"' if is_secret else quoted_for_shell(address)
    return Index(address, shown, "stable", index.first_release, JAX)
