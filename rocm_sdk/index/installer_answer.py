"""The questions to pip or uv about the versions that they would install from one index, and from nowhere else."""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.own_place import scratch_place
from rocm_sdk.base.processes import Done, run
from rocm_sdk.base.scratch import scratch_directory
from rocm_sdk.base.value_text import quoted_for_shell, without_passwords
from rocm_sdk.index.web.server import shown_address
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.terminal.progress import waiting

from .failure_reason import explained
from .install_errors import InstallRefusedError
from .installer_limits import watch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .destination import Destination
    from .request import Index, Requirement

# The warnings about an extra that a distribution does not have: pip's, then uv's.
_UNOFFERED = (
    re.compile(r"WARNING: (\S+) \S+ does not provide the extra '([^']+)'"),
    re.compile(r"The package `([\w.-]+)==[^`]*` does not have an extra named `([^`]+)`"),
)
_PINNED = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?(?:==| @ )(\S+)", re.MULTILINE)
_ORIGIN = re.compile(r"^ +# from (\S+)", re.MULTILINE)
_LAST_LINES = 6  # the last lines of an installer that fails
# Seconds without a byte after which an installer gives up a request, and how often it tries again. With pauses, all
# tries of a silent index take less than 60 s. For a question, pip gets one more: then it names a cause.
ASKING, INSTALLING = ("25", "1"), ("16", "2")
# Installer -> the variables of both, each with those by which a user may have set it.
_LIMITS = {
    "pip": (("PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT"), ("PIP_RETRIES",)),
    "uv": (("UV_HTTP_TIMEOUT", "UV_REQUEST_TIMEOUT", "HTTP_TIMEOUT"), ("UV_HTTP_RETRIES",)),
}
VARIABLES = {"pip": "PIP_INDEX_URL", "uv": "UV_DEFAULT_INDEX"}  # installer -> its index
# The check of pip's own version asks the same index, and waits for it, too.
_NO_OTHER_QUESTION = "PIP_DISABLE_PIP_VERSION_CHECK"

# Variables of pip, and of its libraries, that name files. Each of the latter may name several, separated by blanks.
_PATH_VARIABLES = frozenset(
    {
        "CURL_CA_BUNDLE",
        "NETRC",
        "PIP_CACHE_DIR",
        "PIP_CERT",
        "PIP_CLIENT_CERT",
        "PIP_CONFIG_FILE",
        "PIP_LOG",
        "PIP_PREFIX",
        "PIP_REPORT",
        "PIP_ROOT",
        "PIP_SRC",
        "PIP_TARGET",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
    }
)
_PATHS_VARIABLES = frozenset({"PIP_BUILD_CONSTRAINT", "PIP_CONSTRAINT", "PIP_FIND_LINKS", "PIP_REQUIREMENT"})
SCRATCH = "rocm-sdk-install-"  # the names of directories in TMPDIR begin so
# Of source distributions, only the code of AMD's rocm is run. uv has options for that. pip's do not apply to a
# requirement with an address: that is refused by a module that its interpreters import before the user's sitecustomize.
_FOR_UV = {"pip": ("--only-binary", ":all:", "--no-binary"), "lock": ("--no-build", "--no-binary-package")}
_FOR_PIP = """
import importlib.machinery, os, sys
def refuse(event, words, place=os.path.dirname(__file__)):
    if event == "subprocess.Popen" and words[2]:
        first, name, *_ = *os.fsdecode(words[2]).removeprefix(place + "/").split("/"), ""
        if first.startswith("pip-") and name.partition("_")[0] != "rocm":
            raise OSError(name.partition("_")[0] + " is a source distribution, and only the code of rocm's is run")
sys.addaudithook(refuse)
sys.path.remove(os.path.dirname(__file__))
if other := importlib.machinery.PathFinder.find_spec(__name__):
    other.loader.exec_module(sys.modules[__name__])
"""


class Package(NamedTuple):
    """The choice of an installer; origin is the address of the file (pip) or of the index (uv), "" if it says none."""

    version: str
    origin: str
    is_direct: bool = False  # the address is from a package's requirement, not from a page of the index


class Answer(NamedTuple):
    """The packages that an installer would install, by normalised name, and the extras that it does not find."""

    packages: dict[str, Package]
    unoffered: frozenset[tuple[str, str]]  # (normalised name, extra)


def ask(requirements: Sequence[Requirement], destination: Destination, index: Index) -> Answer:
    """Ask the installer for a solution, and return it.

    Raises InstallRefusedError with the installer's own words if it finds none.
    """
    texts = [str(each) for each in requirements]
    if destination.installer == "uv":
        command = [*compiling(destination, index), "--no-header", "--no-annotate", "--emit-index-annotation", "-"]
        done = run_installer(command, destination, index, "\n".join(texts))
        packages: dict[str, Package] = {}
        matches = list(_PINNED.finditer(done.stdout))
        ends = [*(each.start() for each in matches[1:]), len(done.stdout)]
        for match, end in zip(matches, ends, strict=False):  # without a match, there is one end more
            source = _ORIGIN.search(done.stdout, match.end(), end)
            own = match[2] if "://" not in match[2] else _version_in(match[2])
            packages[normalised(match[1])] = Package(own, source[1] if source else match[2])
    else:
        asking = ["--dry-run", "--ignore-installed", "--quiet", "--no-input", "--report", "-"]
        command = [*destination.command, *asking, *pre_releases(destination, index), *texts]
        done = run_installer(command, destination, index, None)
        packages = _packages_of_pip(done.stdout)
    if missing := [each.name for each in requirements if normalised(each.name) not in packages]:
        said = "it printed nothing" if not done.stdout.strip() else "its answer does not have it"
        raise InstallRefusedError(
            f"{destination.installer} ended without an error, and did not say which version of {missing[0]} it would"
            f" install: {said}",
            f"see whether {command[0]} is the one that you mean: {quoted_for_shell(command[0])} --version",
        )
    for name in packages.keys() - {normalised(each.name) for each in requirements if each.file}:
        version, origin, is_direct = packages[name]
        if is_direct:
            what = f"{name} {version} would come from {without_passwords(origin)}, which a package names"
            raise InstallRefusedError(f"{what}, not from {index.shown}", f"ask those who run it to put {name} there")
    found = {(normalised(name), extra) for pattern in _UNOFFERED for name, extra in pattern.findall(done.stderr)}
    return Answer(packages, frozenset(found))


def compiling(destination: Destination, index: Index) -> list[str]:
    """Return the command with which uv chooses versions for an interpreter, without its inputs and outputs."""
    return [
        "uv",
        "pip",
        "compile",
        *plain_options(destination),
        "--python",
        destination.python,
        *pre_releases(destination, index),
    ]


def plain_options(destination: Destination) -> list[str]:
    """Return the options without which uv takes packages from the further places in its files.

    pip has a variable for the same.
    """
    return ["--no-config"] if destination.installer == "uv" and _configured(destination) else []


def pre_releases(destination: Destination, index: Index) -> list[str]:
    """Return the options without which installers ignore the versions in an index of builds that are not final."""
    if index.is_stable:
        return []
    return ["--prerelease", "allow"] if destination.installer == "uv" else ["--pre"]


def variables(destination: Destination) -> tuple[list[str], dict[str, str]]:
    """Return the variables to unset and to set to make an installer look at one index and nowhere else."""
    unset = [name for name in destination.further_places if " in " not in name]
    if not _configured(destination):
        return unset, {}
    if destination.installer == "uv":  # its option --no-config leaves the file that this variable names
        return [*unset, *(name for name in ("UV_CONFIG_FILE",) if name in os.environ)], {}
    return unset, {"PIP_CONFIG_FILE": os.devnull}


def _configured(destination: Destination) -> bool:
    """Return whether the installer's files name further places."""
    return any(" in " in name for name in destination.further_places)


def run_installer(
    command: list[str], destination: Destination, index: Index | None, text: str | None, directory: str | None = None
) -> Done:
    """Run an installer, with the index in a variable: it may have a password, and a process's arguments are public.

    index: None for the indexes that the installer's configuration names. Raises InstallRefusedError if it fails.
    """
    what = "versions" if index is None else f"the versions that {shown_address(index.address)} has"
    *wheels, of_rocm = _FOR_UV[command[1]] if destination.installer == "uv" else ("",)
    title = f"asking {destination.installer} for {what}"
    try:
        with start_options(destination, index, ASKING) as start, waiting(title, at_once=True):
            start["directory"] = directory or start["directory"]
            done = run([*command, *wheels], given=text, **start)
            if "Wheels are required for `rocm`" in done.stderr:
                done = run([*command, *wheels, of_rocm, "rocm"], given=text, **start)
    except OSError as error:
        raise InstallRefusedError(
            f"{command[0]}: {error.strerror}", "install it, or take another --installer"
        ) from error
    if done.returncode != 0:
        said = "\n".join(without_passwords(done.stderr).strip().splitlines()[-_LAST_LINES:])
        if index is not None:
            raise explained(destination, index, index.project, done.stderr, said or "it says nothing")
        raise InstallRefusedError(f"{destination.installer} finds no solution:\n{said}", "see its words above")
    return done


def installer_environment(destination: Destination, index: Index) -> dict[str, str]:
    """Return the variables of a process that installs from one index and nowhere else."""
    unset, added = variables(destination)
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    made = kept | added | {VARIABLES[destination.installer]: index.address}
    return _with_absolute_paths(made) if destination.installer == "pip" else made


@contextmanager
def start_options(destination: Destination, index: Index | None, limits: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """Yield how to start an installer: with limits, and in an empty directory for pip, whose children import from it.

    The next run removes its temporary files after a kill. Raises InstallRefusedError if there is no place for them.
    """
    environment = dict(os.environ) if index is None else installer_environment(destination, index)
    # With these, an installer gives up a silent index.
    files = frozenset[str]() if _configured(destination) else destination.set_in_files
    made = {_NO_OTHER_QUESTION: "1"} if destination.installer == "pip" else {}
    for names, value in zip(_LIMITS[destination.installer], limits, strict=True):
        keys = {name.removeprefix("PIP_").lower().replace("_", "-") for name in names}
        if not keys & files and not any(os.environ.get(name) for name in names):
            made[names[0]] = value
    environment = made | environment
    with ExitStack() as block:
        try:
            scratch = block.enter_context(scratch_directory(Path(scratch_place()).resolve(), SCRATCH))
            (scratch / "sitecustomize.py").write_text(_FOR_PIP)
            (scratch / "start").mkdir()
        except OSError as error:
            why = f"{destination.installer} needs a directory for temporary files, and none can be made: {error}"
            raise InstallRefusedError(why, "TMPDIR names another place") from error
        modules = [str(scratch), *filter(None, [environment.get("PYTHONPATH")])]
        environment |= {"TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(modules)}
        watch = watch_of(destination.installer, "its indexes" if index is None else index.shown)
        directory = f"{scratch}/start" if destination.installer == "pip" else None
        yield {"base": environment, "directory": directory, "watch": watch}


def _with_absolute_paths(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables for a process in another directory."""
    made = dict(environment)
    for name in _PATH_VARIABLES & environment.keys():
        made[name] = _absolute(environment[name])
    for name in _PATHS_VARIABLES & environment.keys():
        made[name] = " ".join(map(_absolute, environment[name].split()))
    return made


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path and "://" not in path and not path.startswith("~") else path


def _packages_of_pip(report: str) -> dict[str, Package]:
    try:
        rows = json.loads(report)["install"]
        return {
            normalised(row["metadata"]["name"]): Package(
                str(row["metadata"]["version"]), str(row["download_info"]["url"]), row.get("is_direct") is True
            )
            for row in rows
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = repr(error) if report.strip() else "it is empty"
        raise InstallRefusedError(f"the report of pip cannot be read: {what}", "pip 22.3 or later writes it") from error


def _version_in(address: str) -> str:
    """Return the version in the address of a wheel."""
    from urllib.parse import unquote

    parts = os.path.basename(unquote(urlsplit(address).path)).split("-")
    return parts[1] if len(parts) > 1 else ""


def offered(names: Iterable[str], answer: Answer) -> list[str]:
    """Return the names whose distributions are among the chosen ones."""
    return [name for name in names if normalised(name) in answer.packages]
