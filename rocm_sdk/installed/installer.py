"""How the SDK was installed: by which installer, into which environment, from where.

Fixes are made from these facts. Only files are read, and only if something is wrong or packages are to be installed.
"""

from __future__ import annotations

import os
import site as site_module
import sys
import sysconfig

from rocm_sdk.base.files import names_in, read_beginning
from rocm_sdk.base.processes import find_program
from rocm_sdk.base.users import user_name
from rocm_sdk.base.value_text import quoted_for_shell

from .distributions import Distribution, name_of_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LIMIT = 1 << 20  # bytes of each file
_PIPX_FILE, _CONDA_DIRECTORY, _ENVIRONMENT_FILE = "pipx_metadata.json", "conda-meta", "pyvenv.cfg"
_SITES = frozenset({"site-packages", "dist-packages"})
_SYSTEM_PREFIXES = ("/usr",)

# The index that an installer asks by default, which has placeholders under the names of the SDK's packages.
PUBLIC_INDEX = "https://pypi.org/simple"
_PUBLIC_INDEXES = frozenset({PUBLIC_INDEX, "https://pypi.python.org/simple"})
_UV_SECTIONS = frozenset({"", "pip"})  # of uv.toml, or below [tool.uv]

# Installer -> keys of settings that name further places, variables, sections of its files.
_FURTHER_PLACES = {
    "pip": (
        frozenset({"extra-index-url", "find-links", "no-index"}),
        ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"),
        frozenset({"global", "install", "download", "lock"}),
    ),
    "uv": (
        frozenset({"extra-index-url", "find-links", "no-index", "index", "url", "torch-backend"}),
        ("UV_EXTRA_INDEX_URL", "UV_INDEX", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_TORCH_BACKEND"),
        _UV_SECTIONS,
    ),
}


def installation_facts(
    site: str,
    distribution: str | None = None,
    requirement: str | None = None,
    known: Sequence[Distribution] | None = None,
) -> dict[str, str]:
    """Return the fields of rsdk_installation (rocm_sdk/problem.h) that are known about the packages in `site`.

    distribution: the package that is to be installed again. requirement: the packages to install; its source counts.
    known: the distributions of the SDK there, if the caller has read them. Beside those fields are `packages`, the
    words that install what an exact requirement of the selector brings, `address`, the address of the wheel, `tree`,
    the words that install it from its source tree, and `closure`, the command that made it.
    """
    prefix = _prefix_of(site)
    python = _python_of(prefix) if prefix is not None else sys.executable
    metadata = _metadata_of(site, distribution, known)
    if prefix is None and metadata is None:  # a directory that no Python installer has filled, or may fill
        installer = "other"
    else:
        words = metadata.read("INSTALLER").decode("utf-8", errors="replace").split() if metadata is not None else ()
        recorded = words[0].lower() if words else ""  # poetry's word is followed by its version
        installer = _installer_of(site, prefix, python, recorded)
    facts = {"installer": installer, "python": _shown(python), "site": _shown(site)}
    if (environment := prefix or _bare_prefix_of(site)) is not None:
        facts["environment"] = _shown(environment)
    if requirement is not None and (own := _own_source(requirement, site, known)):
        facts |= own
    elif (source := _source(installer, prefix)) is not None:
        facts["source"] = source
    if note := _obstacle(site):
        facts["note"] = note
    if metadata is not None and (command := metadata.closure) is not None:
        facts["closure"] = command
    return facts


def own_site() -> str:
    """Return the directory for further packages: this package's, if an installer put it there, else purelib."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return own if os.path.basename(own) in _SITES or _metadata_of(own, None) else sysconfig.get_path("purelib")


# ---- the environment


def _prefix_of(site: str) -> str | None:
    """Return the environment whose packages are in `site`.

    The result is None for a directory that is in no environment, such as one of --target.
    """
    if _same(site, sysconfig.get_path("purelib")) or _same(site, sysconfig.get_path("platlib")):
        return sys.prefix
    parts = os.path.abspath(site).split(os.sep)
    if len(parts) > 3 and parts[-1] in _SITES and parts[-2].startswith("python"):
        prefix = os.sep.join(parts[:-3])
        if parts[-3].startswith("lib") and _python_of(prefix):
            return prefix
    return sys.prefix if _is_of_user(site) else None


def _bare_prefix_of(site: str) -> str | None:
    """Return the directory that `pip install --prefix` of this interpreter filled; None for another directory."""
    scheme, here = sysconfig.get_preferred_scheme("prefix"), os.path.abspath(site)
    for name in ("purelib", "platlib"):
        below = sysconfig.get_path(name, scheme, {"base": "", "platbase": ""})
        if here.endswith(below):
            return here.removesuffix(below) or os.sep
    return None


def _is_of_user(site: str) -> bool:
    """Return whether a directory is the user's, into which pip installs with --user."""
    return bool(site_module.ENABLE_USER_SITE) and _same(site, site_module.getusersitepackages())


def _python_of(prefix: str) -> str:
    """Return the interpreter of an environment; "" if it has none."""
    if _same(prefix, sys.prefix):
        return sys.executable
    return next((path for name in ("python", "python3") if os.path.exists(path := f"{prefix}/bin/{name}")), "")


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _shown(path: str) -> str:
    """Return the path as a user in the current directory writes it."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # the current directory does not exist
        return path
    return path if relative.startswith("..") or relative == "." else relative


# ---- the installer


def _installer_of(site: str, prefix: str | None, python: str, recorded: str) -> str:
    """Return the row of the table of installers: the one that made the installation and is there to change it."""
    if prefix is None:
        if find_program("uv") and (recorded == "uv" or not _has_module("pip")):
            return "uv target"
        return "target" if _bare_prefix_of(site) is None else "prefix"
    if os.path.exists(os.path.join(prefix, _PIPX_FILE)) and find_program("pipx"):
        return "pipx"
    if recorded == "conda" and os.path.isdir(os.path.join(prefix, _CONDA_DIRECTORY)):
        return "conda"
    if _is_of_system(site, prefix, recorded):
        return "system"
    has_pip = os.path.isdir(os.path.join(site, "pip")) or (python == sys.executable and _has_module("pip"))
    if recorded == "uv" and find_program("uv"):
        return "uv"
    if has_pip:
        return "user pip" if _is_of_user(site) else "pip"
    if find_program("uv"):
        return "uv"
    return "outer pip" if find_program("pip") else "ensurepip"


def _is_of_system(site: str, prefix: str, recorded: str) -> bool:
    """Return whether the system's package manager owns a directory.

    Such a directory is in /usr, and neither in a virtual environment nor made by pip.
    """
    if os.path.exists(os.path.join(prefix, _ENVIRONMENT_FILE)) or recorded in {"pip", "uv"}:
        return False
    return os.path.abspath(site).startswith(tuple(f"{each}/lib" for each in _SYSTEM_PREFIXES))


def _has_module(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _metadata_of(
    site: str, distribution: str | None, known: Sequence[Distribution] | None = None
) -> Distribution | None:
    """Return the distribution that is asked for, else another one of the SDK; None if there is none."""
    if known:
        by_name = {each.name: each for each in known}
        return by_name.get(distribution or "") or by_name.get("rocm-sdk-core") or known[0]
    found = _names_of_sdk(site)
    names = {name_of_directory(name): name for name in found}
    name = names.get(distribution or "") or names.get("rocm-sdk-core") or next(iter(found), None)
    return Distribution(os.path.join(site, name)) if name is not None else None


def _names_of_sdk(site: str) -> list[str]:
    """Return the `.dist-info` directories of packages of the SDK."""
    return [name for name in names_in(site) if name.endswith(".dist-info") and name.lower().startswith("rocm")]


# ---- where the packages come from


def _own_source(requirement: str, site: str, known: Sequence[Distribution] | None) -> dict[str, str]:
    """Return the source of a requirement that was installed from a path or an address; {} for another one."""
    from .wheel_directory import address_of, tree_of, wheels_of  # here: most problems need no command

    known = known or [Distribution(f"{site}/{name}") for name in _names_of_sdk(site)]
    if (wheels := wheels_of(requirement, site, known)) is not None:
        return {"source": f"--find-links {quoted_for_shell(wheels.directory)}", "packages": wheels.packages}
    if (tree := tree_of(requirement, known)) is not None:
        return {"source": "", "tree": tree}
    address = address_of(requirement, known)
    return {"source": "", "address": address} if address is not None else {}


def _source(installer: str, prefix: str | None) -> str | None:
    """Return options that name the source; "" if the installer's configuration names it, None if nothing does.

    An index in the configuration is not repeated: it may contain a password.
    """
    index = index_of(installer, prefix)
    return None if index is None or index.rstrip("/") in _PUBLIC_INDEXES else ""


def index_of(installer: str, prefix: str | None) -> str | None:
    """Return the index from which an installer takes packages, if its configuration says so; else None."""
    if installer.startswith("uv"):
        return _index_of_uv()
    if index := os.environ.get("PIP_INDEX_URL"):
        return index
    files = [_settings_of(path) for path in _pip_files(prefix or sys.prefix)]
    # A section of the command counts before [global], whichever file has it.
    values = (each.get((section, "index-url")) for section in ("install", "global") for each in files)
    return next(filter(None, values), None)


def _index_of_uv() -> str | None:
    """Return the index from which uv takes packages, if its variables and files say so; else None.

    Of several [[index]] tables the one with `default = true` replaces the public index.
    """
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if index := os.environ.get(variable):
            name, equals, address = index.partition("=")
            return address if equals and "://" not in name else index  # the address may have a name
    for settings in map(_settings_of, _uv_files()):
        for (section, key), value in settings.items():
            if key == "index-url" and section in _UV_SECTIONS:
                return value
            if key == "default" and value == "true" and section.startswith("index "):
                return settings.get((section, "url"))
    return None


def further_places(installer: str, prefix: str) -> list[str]:
    """Return the settings of "pip" or "uv" that add packages from places other than an index.

    Variables are given by name, settings in files with the file.
    """
    keys, variables, sections = _FURTHER_PLACES[installer]
    paths = _pip_files(prefix) if installer == "pip" else _uv_files()
    found = [name for name in variables if os.environ.get(name)]
    for path in filter(os.path.isfile, paths):
        for section, key in _settings_of(path):
            is_used = section in sections or section.startswith("index ")
            if is_used and key in keys:
                found.append(f"{key} in {path}")
    return list(dict.fromkeys(found))


def keys_of_pip(prefix: str) -> frozenset[str]:
    """Return the settings that files of pip have for an installation."""
    files = map(_settings_of, _pip_files(prefix))
    return frozenset(key for each in files for section, key in each if section in ("global", "install"))


def _pip_files(prefix: str) -> list[str]:
    """Return pip's files, the most important first: PIP_CONFIG_FILE's, the environment's, the user's, the machine's."""
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:  # this file switches all others off
        return []
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    machine = (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    return [
        *([named] if named else []),
        f"{prefix}/pip.conf",
        f"{config}/pip/pip.conf",
        os.path.expanduser("~/.pip/pip.conf"),
        "/etc/pip.conf",
        *(f"{each}/pip/pip.conf" for each in machine),
    ]


def _uv_files() -> list[str]:
    """Return uv's files, the first counts."""
    if named := os.environ.get("UV_CONFIG_FILE"):
        return [named]
    if os.environ.get("UV_NO_CONFIG"):
        return []
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return [*_project_files(), f"{config}/uv/uv.toml", "/etc/xdg/uv/uv.toml", "/etc/uv/uv.toml"]


def _project_files() -> list[str]:
    """Return the files of the nearest directory above with settings for uv, and of the workspace roots above it.

    For a member of a workspace, uv reads only the root's file. We do not check which directories are members.
    """
    try:
        directory = os.getcwd()
    except OSError:  # the directory does not exist any more
        return []
    found: list[str] = []
    while True:
        own, project = os.path.join(directory, "uv.toml"), os.path.join(directory, "pyproject.toml")
        names = _names_of_uv(project)
        path = own if os.path.isfile(own) else project if names else None
        if path is not None and (not found or "workspace" in names):
            found.append(path)
        if directory == os.path.dirname(directory):
            return found
        directory = os.path.dirname(directory)


def _names_of_uv(path: str) -> set[str]:
    """Return the names of tables and keys below [tool.uv] in a pyproject.toml. Without any, uv looks further up."""
    try:
        lines = read_beginning(path, _LIMIT).decode("utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    names: set[str] = set()
    table: list[str] = []
    for line in map(str.lstrip, lines):
        if line.startswith("["):
            table = _parts_of(line)
        tool, uv, name, *_ = [*table, *_parts_of(line), "", ""]  # the empty table itself counts
        if (tool, uv) == ("tool", "uv"):
            names.add(name)
    return names


def _parts_of(line: str) -> list[str]:
    """Return the parts of the name of a table or key: tool, uv, index of `[[tool.uv.index]]`."""
    name = line.partition("#")[0].partition("=")[0].strip().strip("[]")
    return [each.strip(" \t\"'") for each in name.split(".")]


def _settings_of(path: str) -> dict[tuple[str, str], str]:
    """Return the values of a file of pip or uv, by section and key.

    Each [[tool.uv.index]] table has its own section.
    """
    try:
        lines = read_beginning(path, _LIMIT).decode("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    settings: dict[tuple[str, str], str] = {}
    section = ""
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("#", ";")):
            continue
        start = line.lstrip() if path.endswith(".toml") else line
        if start.startswith("["):
            name = ".".join(_parts_of(start)).removeprefix("tool.uv").lstrip(".")
            section = f"{name} {number}" if start.startswith("[[") else name
        key, equals, value = line.partition("=")
        if equals:
            settings.setdefault((section, key.strip().replace("_", "-")), value.partition(" #")[0].strip().strip("\"'"))
    return settings


# ---- obstacles


def _obstacle(site: str) -> str:
    """Return why the installation cannot be changed by this user; "" if it can."""
    try:
        if os.statvfs(site).f_flag & os.ST_RDONLY:
            return f"{site} is on a read-only file system"
        owner = os.stat(site).st_uid
    except OSError:
        return ""
    if os.access(site, os.W_OK | os.X_OK, effective_ids=True):
        return ""
    if owner == os.geteuid():
        return f"{site} has a mode or an attribute that forbids it: see ls -ld and lsattr -d"
    return f"{site} belongs to {user_name(owner)}: run it as that user"
