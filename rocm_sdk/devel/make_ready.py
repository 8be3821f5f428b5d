"""The way to make a tree ready for use, whatever its state.

The tree is extracted, an interrupted extraction is completed, or the links are updated.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import NamedTuple

from rocm_sdk._native import sdk_facts, sdk_root
from rocm_sdk.base.file_lock import held
from rocm_sdk.base.reporter import Reporter
from rocm_sdk.errors import DevelopmentTreeError, PackageNotInstalledError, SystemManagedError
from rocm_sdk.problems.problem import install_fix, reinstall_fix

from .extract import Extraction, remove_archives
from .layout import DISTRIBUTION, LOCK, find_archive, find_site, find_tree
from .manifest import is_extracted_from, read_manifest
from .preflight import explained, is_writable, require_writable
from .replace import staging_directory
from .stamp import is_current
from .store import Store
from .tree_record import Record
from .update import LinkUpdate, update_tree
from .workspace import OF_TREE, Workspace, devel_distribution

DEFAULT_TIMEOUT = 1800.0


class Request(NamedTuple):
    """What the caller asks for.

    timeout: seconds to wait for another process that works on the tree. store: a directory (see `store`); None: the
    value of the environment variable ROCM_SDK_STORE, if any. verify: check the links themselves, even if the stamp says
    that nothing has changed.
    """

    timeout: float = DEFAULT_TIMEOUT
    store: str | None = None
    verify: bool = False


_DEFAULT_REQUEST = Request()


def make_ready(reporter: Reporter, request: Request = _DEFAULT_REQUEST) -> str:
    """Return the directory of the tree, extracted if needed and with all its links up to date.

    Raises PackageNotInstalledError, DevelopmentTreeError, DevelopmentTreeLockedError, BadArchiveError or
    SystemManagedError.
    """
    site = find_site()
    if site is None:
        raise PackageNotInstalledError(
            f"the development package ({DISTRIBUTION}) is not installed",
            install_fix(f"rocm[devel]{_required_version()}", sdk_root()),
        )
    tree = _complete_tree(site)
    if tree is not None and is_current(site, tree) and not request.verify:
        return tree
    if tree is not None and not is_writable(site):
        reporter.say(f"{site} is not writable: the links of {tree} are not updated")
        return tree
    try:
        record = devel_distribution(site).record
    except SystemManagedError as error:
        if tree is None:
            raise
        reporter.say(f"the links of {tree} are not updated: {error.message}")
        return tree
    with explained(site):
        require_writable(site, record)
        # Errors are also explained inside, where the files that fill the disk have not been removed yet.
        with (
            held(OF_TREE, f"{site}/{LOCK}", request.timeout, reporter.say),
            staging_directory(site) as staging,
            explained(site),
        ):
            return _make_ready_locked(site, staging, reporter, request)


def _required_version() -> str:
    """Return the version of the installed SDK in the form of a requirement: "==7.10.0"; "" without an SDK."""
    version = sdk_facts()["version"]
    return f"=={version}" if version else ""


def _complete_tree(site: str) -> str | None:
    """Return the tree, if its extraction is complete; else None.

    Raises DevelopmentTreeError if there is no archive to extract, either.
    """
    # In this order: another process may be about to finish, and the tree appears before the archive is removed.
    if find_archive(site) is not None:
        return None
    tree = find_tree(site)
    if tree is None:
        raise DevelopmentTreeError(
            f"{DISTRIBUTION} in {site} has neither its archive nor its tree",
            reinstall_fix(DISTRIBUTION, site),
            site,
        )
    return tree


def _make_ready_locked(site: str, staging: str, reporter: Reporter, request: Request) -> str:
    # The previous holder of the lock may have done the work, or pip may have changed something.
    distribution = devel_distribution(site)
    workspace = Workspace(site, staging, distribution.version)
    record = Record(distribution.record)
    record.require([row[0] for row in record.rows] + [LOCK], staging)
    tree = find_tree(site)
    archive = find_archive(site)
    if archive is not None and not (tree is not None and is_extracted_from(tree, archive)):
        directory = request.store or os.environ.get("ROCM_SDK_STORE")
        store = Store.made_in(directory) if directory else None
        with store.in_use(request.timeout, reporter.say) if store else nullcontext():
            tree, result = Extraction(workspace, archive, record, store, reporter).run()
        _report(reporter, result)
        _report_absent(reporter, tree, site)
        return tree
    if tree is None:
        return str(_complete_tree(site))
    if archive is not None or request.verify or not is_current(site, tree):
        _report(reporter, update_tree(workspace, tree, record))
    if archive is not None:
        remove_archives(site)
    return tree


def _report(reporter: Reporter, result: LinkUpdate) -> None:
    for notice in result.notices:
        reporter.say(notice)
    if result.missing:
        shown = ", ".join(result.missing[:3])
        more = f" and {len(result.missing) - 3} more" if len(result.missing) > 3 else ""
        reporter.say(
            f"{len(result.missing)} links of the tree point to nothing: {shown}{more}; if a package of the SDK is not"
            ' installed (the extra "libraries" of rocm), the next call after its installation creates them'
        )


def _report_absent(reporter: Reporter, tree: str, site: str) -> None:
    """Say which files of packages the archive never had, or that it is from another build than the packages."""
    from rocm_sdk.installed.view import at
    from rocm_sdk.problems import fix_of, problem

    from .absent import absent_files

    installed, manifest = at(site), read_manifest(tree)
    for found in absent_files(tree, manifest.entries, installed) if manifest is not None else ():
        reporter.say(f"{found.facts['detail']} [{found.code}]; {fix_of(found)}")
    own = installed.distribution(DISTRIBUTION)
    if own is not None and installed.core is not None and (facts := own.unlike(installed.core)):
        found = problem("E-PKG-002", own.directory, site, **facts)
        reporter.say(f"{found.title} [{found.code}]; {fix_of(found)}")
