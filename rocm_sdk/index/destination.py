"""The environment into which packages are installed: its interpreter, its packages, and its installer."""

from __future__ import annotations

import os
import sys

from rocm_sdk.base.files import names_in
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.processes import find_program, module_command, question, run
from rocm_sdk.base.users import user_name
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.installed.distributions import BUILDER, LOADER, Distribution
from rocm_sdk.installed.installer import PUBLIC_INDEX, further_places, index_of, installation_facts, keys_of_pip
from rocm_sdk.installed.other_distributions import versions_in

from .install_errors import OWN_ENVIRONMENT, InstallRefusedError

# The place of its packages, its prefix, its minor version, and PEP 668's mark, which counts outside environments.
_QUESTION = """
import os, sys, sysconfig
print(sysconfig.get_path("purelib"), sys.prefix, sys.version_info[1], sep="\\n")
mark = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
print(sys.prefix == sys.base_prefix and os.path.exists(mark))
"""
_SECONDS = 60
OURS = ("rocm", "amd-", "jax-rocm")  # AMD's own distributions begin with these
# Files of environments of one command alone: nobody's program runs there.
_TOOL_FILES = ("pipx_metadata.json", "uv-receipt.toml")
_TOOL_CACHES = ("/archive-v", "/pipx/.cache/", "/.cache/pipx/", "/environments-v")


class Destination(NamedTuple):
    """An environment. command is its installer's, before `install`; versions are by normalised name."""

    python: str
    site: str
    minor: int  # of its Python 3
    installer: str  # "pip" or "uv"
    command: tuple[str, ...]
    further_places: tuple[str, ...]  # besides the index, which the installer's configuration names
    versions: dict[str, str]
    set_in_files: frozenset[str] = frozenset()  # the settings that files of pip have
    obstacle: str = ""  # why nothing can be written there
    public_index: str = PUBLIC_INDEX  # the index that the installer uses by default

    @property
    def adopting(self) -> list[str]:
        """The command that takes over the files of this package that AMD's `rocm` overwrites.

        The command is [] if this package is not installed there.
        """
        if LOADER not in self.versions:
            return []
        return module_command("rocm_sdk.adoption", python=self.python, minor=self.minor)


def find_destination(python: str | None, installer: str | None) -> Destination:
    """Return the environment of an interpreter; None: the active one, else that of this package.

    Raises InstallRefusedError if nothing can be installed there.
    """
    python = python or _active_python()
    python = find_program(python) or python
    try:
        done = run(question(python, _QUESTION), seconds=_SECONDS)
    except OSError as error:
        raise InstallRefusedError(f"{python}: {error}", "name an interpreter: --python .venv/bin/python") from error
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != 4:
        raise InstallRefusedError(f"{python} is not a Python 3 interpreter: {done.stderr.strip()[-200:]}", None)
    site, prefix, minor, is_managed = lines
    facts = installation_facts(site)
    row = facts["installer"]
    if row == "system" or is_managed == "True":
        what = f"{python} belongs to the system, and only its package manager may change {site}"
        raise InstallRefusedError(what, OWN_ENVIRONMENT)
    name, command = _command(row, installer, python, int(minor), site)
    places, keys = tuple(further_places(name, prefix)), keys_of_pip(prefix) if name == "pip" else frozenset()
    others = ("prefix", "root", "target", "user")  # places of pip
    is_other = any(each in keys or os.environ.get(f"PIP_{each.upper()}") for each in others)
    is_fixed = name == "uv" or (os.path.exists(f"{prefix}/pyvenv.cfg") and not is_other)  # else pip may take the user's
    note = facts.get("note", "") if is_fixed else ""
    obstacle = note and f"{user_name(os.geteuid())} may not install there: {note}"
    asks = index_of(name, prefix) or PUBLIC_INDEX
    return Destination(python, site, int(minor), name, command, places, versions_in(site), keys, obstacle, asks)


def _active_python() -> str:
    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if active and os.path.exists(python := os.path.join(active, "bin/python")):
        return python
    is_tool = any(os.path.exists(os.path.join(sys.prefix, name)) for name in _TOOL_FILES)
    if is_tool or any(place in f"{sys.prefix}/" for place in _TOOL_CACHES):
        raise InstallRefusedError(
            f"{sys.prefix} is an environment for this command only, and no other one is active",
            "activate one, or name its interpreter: --python .venv/bin/python",
        )
    return sys.executable


def _command(row: str, wanted: str | None, python: str, minor: int, site: str) -> tuple[str, tuple[str, ...]]:
    uses_uv = wanted == "uv" or (wanted is None and (row == "uv" or (row == "ensurepip" and find_program("uv"))))
    if uses_uv:
        if not find_program("uv"):
            raise InstallRefusedError("--installer uv: there is no uv in PATH", "install uv, or take --installer pip")
        return "uv", ("uv", "pip", "install", "--python", python)
    if os.path.isdir(os.path.join(site, "pip")) or _has_pip(python):
        return "pip", tuple(module_command("pip", "install", python=python, minor=minor))
    if find_program("pip"):
        return "pip", ("pip", "--python", python, "install")
    raise InstallRefusedError(f"{python} has no pip", f"{python} -m ensurepip, or take --installer uv")


def _has_pip(python: str) -> bool:
    try:
        return run(question(python, "import pip"), seconds=_SECONDS).returncode == 0
    except TimeoutError as error:
        raise InstallRefusedError(f"{python}: {error}", "name an interpreter: --python .venv/bin/python") from error


def is_ours(name: str, version: str) -> bool:
    """Return whether a distribution, by its normalised name, is one of ROCm."""
    return name.startswith(OURS) or "+rocm" in version


def unfinished(destination: Destination) -> tuple[str, str] | None:
    """Return a package of ROCm that a killed installer has left incomplete, and the fix; None if there is none."""
    site = destination.site
    for package in (Distribution(f"{site}/{name}") for name in names_in(site) if name.endswith(".dist-info")):
        if package.name in {LOADER, BUILDER} or not is_ours(package.name, package.version):
            continue
        # What Python and `init` write and remove has no digest; an archive is removed, too.
        files = (
            os.path.join(site, each.path) for each in package.files if each.digest and "/_devel.tar" not in each.path
        )
        bare = (f"{package.directory}/METADATA", package.record)
        if lacking := [each for each in dict.fromkeys((*bare, *files)) if not os.path.lexists(each)]:
            removing = ["rm", "-r", package.directory]  # without METADATA or RECORD, installers do not know it
            if lacking[0] not in bare:
                removing = ["uninstall" if each == "install" else each for each in destination.command]
                removing += [*(["--yes"] if destination.installer == "pip" else []), package.name]
            what = f"{package.name} {package.version} lacks {len(lacking)} of its files, as {lacking[0]}"
            fix = f"{' '.join(map(quoted_for_shell, removing))}, and run the command again"
            return f"{what}: an installation of it was stopped", fix
    return None
