"""The packages to install, as requirements of packages of one index."""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit

from rocm_sdk._native import choose_index as index_row
from rocm_sdk._native import sdk_indexes
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.installed.installable_table import INSTALLABLES

from .install_errors import InstallRefusedError, WrongWordError

_SDK = "sdk"
_STABLE = "stable"
_OTHER = "other"  # builds that are not final, of no known stream


class Index(NamedTuple):
    """An index. shown is its form in commands: a variable if the address may hold a password."""

    address: str
    shown: str
    stream: str
    first_release: tuple[int, int]
    project: str = "rocm"  # one that it has

    @property
    def is_stable(self) -> bool:
        """True if the index has only final releases."""
        return self.stream == _STABLE

    @property
    def is_directory(self) -> bool:
        """True if the index is on this machine: its address begins with file:."""
        return urlsplit(self.address).scheme == "file"

    @property
    def has_password(self) -> bool:
        """True if the address holds a name or a password."""
        return "@" in urlsplit(self.address).netloc


class Requirement(NamedTuple):
    """A distribution with extras.

    device: the beginning of the names of its packages for single targets, "" for none.
    """

    name: str
    extras: tuple[str, ...]
    device: str
    version: str  # with its operator, "" for any
    file: str  # the wheel that it is, "" for one of the index

    def __str__(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras} @ {_address_of(self.file)}" if self.file else f"{self.name}{extras}{self.version}"


def choose_index(rocm: str | None) -> Index:
    """Return the index that serves a release or a stream. Raise InstallRefusedError if none does."""
    row = index_row(rocm)
    site = os.environ.get("ROCM_SDK_INDEX")
    if site:
        _refuse_no_index(site)
    if row is None and site and rocm is not None:  # that index may have releases that AMD's indexes lack
        import re

        numbers = [*map(int, re.findall(r"\d+", rocm)), 0, 0]
        return Index(
            site, '"$ROCM_SDK_INDEX"', _OTHER if any(map(str.isalpha, rocm)) else _STABLE, (numbers[0], numbers[1])
        )
    if row is None:
        served = ", ".join("{2} {0[0]}.{0[1]} to {1[0]}.{1[1]}".format(*row) for row in sdk_indexes())
        fix = f"the indexes have {served.replace('to 0.0', 'and later')}"
        raise InstallRefusedError(f"--rocm {rocm}: no known index has it", fix)
    first, _, stream, address, _ = row
    return Index(site or address, '"$ROCM_SDK_INDEX"' if site else address, stream, first)


def _refuse_no_index(site: str) -> None:
    """Raise InstallRefusedError if ROCM_SDK_INDEX is not an address, or that of a directory that is not an index.

    A directory must be named by its address, too: pip takes no path, and printed commands have the variable.
    """
    if "://" in site and {*"?# \t\n"} & {*site}:  # pip and uv add names of projects
        what = "ROCM_SDK_INDEX has a query, a fragment or a blank, and the names of projects would be appended to it"
        raise InstallRefusedError(what, "name the address without it; a user and a password go into ~/.netrc")
    try:
        parts = urlsplit(site)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return
    except ValueError:  # of the port
        parts = urlsplit("")
    directory = os.path.abspath(unquote(parts.path) if parts.scheme == "file" else site)
    if not os.path.isdir(directory):
        what = "ROCM_SDK_INDEX names neither the address of a web server nor a directory"
        shown = "" if {*"@?#"} & {*site} else f": {site}"
        raise InstallRefusedError(what + shown, "ROCM_SDK_INDEX=https://HOST/simple/")
    has_pages = [each for each in (directory, f"{directory}/simple") if os.path.isfile(f"{each}/rocm/index.html")]
    if not has_pages:
        what = f"the directory that ROCM_SDK_INDEX names has no page of rocm: {directory}/rocm/index.html"
        raise InstallRefusedError(what, f"rocm-sdk-build index {quoted_for_shell(directory)}")
    if parts.scheme != "file" or has_pages[0] != directory:
        what = f"ROCM_SDK_INDEX must be the address of the directory that has the pages: {site}"
        raise InstallRefusedError(what, f"export ROCM_SDK_INDEX={_address_of(has_pages[0])}")


def make_requirements(
    things: list[str], targets: tuple[str, ...], rocm: str | None, index: Index
) -> tuple[Requirement, ...]:
    """Return the requirements of the named things (products or wheels), with the packages for the targets.

    The SDK is always among them: torch requires it without the packages for targets, JAX not at all.
    """
    rows = {name: row for name, *row in INSTALLABLES}
    devices = tuple(f"device-{target}" for target in targets)
    if rocm is not None and rocm.startswith(">="):
        release = rocm
    elif rocm is None or not rocm[:1].isdigit():
        release = ""
    else:
        is_whole = rocm.count(".") > 1 or any(each.isalpha() for each in rocm)
        release = f"=={rocm}" if is_whole or rocm.endswith("*") else f"=={rocm}.*"
    found: dict[str, Requirement] = {}
    for thing in dict.fromkeys([_SDK, *things]):
        is_file = thing not in rows
        name, extras, device, companions = rows[thing] if not is_file else _wheel(thing, rows)
        wanted = (*filter(None, extras.split(",")), *(devices if device else ()))
        version = release if thing == _SDK else ""
        found[name] = Requirement(name, wanted, device, version, os.path.abspath(thing) if is_file else "")
        is_exact = release.startswith("==")
        major = (rocm or "").partition(".")[0] if is_exact else str(index.first_release[0])
        for other in filter(None, companions.replace("{major}", major).split(",")):
            of_other = rows[other][2] if other in rows else ""
            found.setdefault(other, Requirement(other, devices if of_other else (), of_other, "", ""))
    return tuple(found.values())


def refuse_unknown(things: list[str]) -> None:
    """Raise WrongWordError for a thing that is neither a product nor an existing wheel."""
    rows = {name: row for name, *row in INSTALLABLES}
    for thing in things:
        if thing not in rows:
            _wheel(thing, rows)


def _wheel(path: str, rows: dict[str, list[str]]) -> list[str]:
    """Return the row for a wheel: the row of the product of this name, else one without packages for targets."""
    name, dash, _ = os.path.basename(path).partition("-")
    if not path.endswith(".whl") or not dash:
        what = f"{path} is neither a wheel nor one of {', '.join(rows)}"
        raise WrongWordError(what, did_you_mean(path, rows) or "see rocm-sdk install -h")
    if not os.path.isfile(path):
        raise WrongWordError(f"{path}: there is no such file", "name a wheel that is here")
    known = next((row for row in rows.values() if normalised(row[0]) == normalised(name)), None)
    return [normalised(name), *(known[1:3] if known else ("", "")), ""]


def _address_of(path: str) -> str:
    from pathlib import Path

    return Path(path).as_uri()
