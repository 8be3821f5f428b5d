"""The comparison of a tree with its manifest."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from typing import TYPE_CHECKING, Literal

from rocm_sdk.base.files import chunks_of
from rocm_sdk.installed.distributions import Distribution, normalised
from rocm_sdk.installed.view import Installed, at
from rocm_sdk.problems import Problem, problem

from .absent import absent_files
from .archive_rules import DIRECTORY, LINK, RUNTIME
from .device_links import read_device_links
from .layout import DISTRIBUTION
from .link_file import FileLinker
from .manifest import Entry, read_manifest

if TYPE_CHECKING:
    from rocm_sdk.problems.problem import Known

Need = Literal["update", "install", "reinstall"]  # the work that has to be done


def verify_tree(tree: str, installed: Installed | None = None) -> list[Problem]:
    """Return a problem for each difference of the tree from its manifest, and for files of packages that it lacks.

    The result is [] if there is nothing. Every file is read, and nothing is changed. A tree without a manifest was made
    by another program: one problem says so. Raises BadMetadataError if the manifest is damaged. installed: the packages
    beside the tree, if the caller looks at them.
    """
    site = os.path.dirname(tree)
    installed = installed or at(site)
    manifest = read_manifest(tree)
    if manifest is None:
        return [difference(tree, "has no manifest: another program extracted it", "reinstall")]
    linker = FileLinker(site, None)
    links = [
        Entry(path, RUNTIME, target=text) for path, text in read_device_links(tree, os.path.basename(tree)).items()
    ]
    found = ((entry, _fault(tree, entry, linker)) for entry in (*manifest.entries, *links))
    faults = [(entry, *fault) for entry, fault in found if fault is not None]
    all_anew = any(need == "reinstall" for _, _, need in faults)  # a new tree has the links, too
    own = next((each for each in installed.distributions if each.name == DISTRIBUTION), None)
    version = f"=={own.version}" if own is not None else ""
    problems = []
    for entry, detail, need in faults:
        source = linker.source(entry.path, entry.target) if entry.kind == RUNTIME else None
        if (
            need == "install"
            and source is not None
            and (owner := installed.owners.get(os.path.relpath(source, site))) is not None
        ):
            problems.append(_missing_file(installed, source, f"{tree}/{entry.path}", owner))
        else:
            due: Need = "reinstall" if need == "update" and all_anew else need
            problems.append(difference(f"{tree}/{entry.path}", detail, due, version, installed.known, linked=source))
    return [*problems, *absent_files(tree, manifest.entries, installed)]


def copies(tree: str, installed: Installed) -> list[str]:
    """Return the paths in the tree that are copies of packages' files, where `init` would make links.

    The result is [] for a tree without a manifest. Raises BadMetadataError if the manifest is damaged.
    """
    manifest = read_manifest(tree)
    if manifest is None:
        return []
    linker = FileLinker(installed.site, None)
    links = {entry.path: entry.target for entry in manifest.entries if entry.kind == RUNTIME}
    links |= read_device_links(tree, os.path.basename(tree))
    return [path for path, text in links.items() if linker.is_copy(path, text, f"{tree}/{path}")]


def _missing_file(installed: Installed, path: str, link: str, owner: Distribution) -> Problem:
    """Return the problem that a file of an installed package, to which the tree has a link, is missing."""
    name, detail = os.path.basename(path), f"is missing, and {link} is a link to it"
    return problem("E-FILE-001", path, installed.site, installed.known, name=name, detail=detail, **owner.facts)


def difference(
    path: str, detail: str, need: Need, version: str = "", known: Known | None = None, *, linked: str | None = None
) -> Problem:
    """Return the problem that the file `path` differs.

    version: "==7.10.0", "" if it is unknown. known: as of `problem`. linked: the file of a package to which it is a
    link.
    """
    platform = next((part for part in (linked or "").split(os.sep) if part.startswith("_rocm_sdk_")), "")
    owner = normalised(platform.removeprefix("_"))
    wanted = owner if owner.startswith("rocm-sdk-core") else "rocm[libraries]"
    facts = {
        "update": {"update": "rocm-sdk init"},
        "install": {"requirement": f"{wanted}{version}", "distribution": owner, "leads": "where the link leads"},
        "reinstall": {"distribution": DISTRIBUTION, "requirement": f"{DISTRIBUTION}{version}"},
    }[need]
    return problem("E-DEVEL-002", path, None, known, detail=detail, linked=linked, **facts)


def _fault(tree: str, entry: Entry, linker: FileLinker) -> tuple[str, Need] | None:
    """Return the fault of an entry, as half a sentence, and what has to be done; None if nothing is wrong."""
    try:
        return _verify(tree, entry, linker)
    except OSError as error:
        return f"cannot be read: {error.strerror}", "reinstall"


def _verify(tree: str, entry: Entry, linker: FileLinker) -> tuple[str, Need] | None:
    path = f"{tree}/{entry.path}"
    if entry.kind == RUNTIME:
        return None if linker.is_current(entry.path, entry.target, path) else _fault_of_link(path, entry, linker)
    try:
        facts = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return "is missing", "reinstall"
    except NotADirectoryError:
        return "is missing: a file is in place of its directory", "reinstall"
    if entry.kind == LINK:
        is_same = stat.S_ISLNK(facts.st_mode) and os.readlink(path) == entry.target
        return None if is_same else (f"is not the link to {entry.target} any longer", "reinstall")
    wanted = stat.S_ISDIR if entry.kind == DIRECTORY else stat.S_ISREG
    if not wanted(facts.st_mode):
        return f"is no longer a {entry.kind}", "reinstall"
    if stat.S_IMODE(facts.st_mode) != entry.mode:
        return f"has mode {stat.S_IMODE(facts.st_mode):o} instead of {entry.mode:o}", "reinstall"
    if entry.kind != DIRECTORY and (facts.st_size != entry.size or _checksum(path, entry.checksum) != entry.checksum):
        return "has another content", "reinstall"
    return None


def _fault_of_link(path: str, entry: Entry, linker: FileLinker) -> tuple[str, Need]:
    """Return the fault of a link to a package, and what has to be done."""
    if os.path.isdir(path) and not os.path.islink(path):
        return f"is a directory instead of the link to {entry.target}", "reinstall"
    if os.path.exists(linker.source(entry.path, entry.target)):
        return f"is not the file that {entry.target} is now", "update"
    return f"belongs to a package that is not installed ({entry.target})", "install"


def _checksum(path: str, like: str) -> str:
    """Return the checksum of a file, of the same kind as `like`."""
    kind, crc, digest = like.partition(":")[0], 0, hashlib.sha256()
    with open(path, "rb") as file:
        for data in chunks_of(file):
            if kind == "crc32":
                crc = zlib.crc32(data, crc)
            else:
                digest.update(data)
    return f"crc32:{crc:08x}" if kind == "crc32" else f"{kind}:{digest.hexdigest()}"
