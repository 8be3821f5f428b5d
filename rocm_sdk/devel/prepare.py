"""Makes the tree ready for use, whatever its state: expands it, finishes what was interrupted, or mends its links."""

from __future__ import annotations

import os
from contextlib import nullcontext

from rocm_sdk.errors import DevelopmentTreeError, PackageNotInstalledError, SystemManagedError

from .expansion import Expansion, remove_archives
from .layout import DISTRIBUTION, LOCK, find_archive, find_site, find_tree
from .lock import exclusive
from .manifest import is_made_of
from .metadata import devel_distribution
from .preflight import explained, is_writable, require_writable
from .progress import Reporter
from .record import Record
from .staging import staging
from .stamp import is_current
from .store import Store
from .upkeep import Upkeep, relink

DEFAULT_TIMEOUT = 1800.0


def prepare(
    reporter: Reporter, *, timeout: float = DEFAULT_TIMEOUT, store: str | None = None, verify: bool = False
) -> str:
    """The directory of the tree, expanded at need and with all its links mended.

    timeout: seconds to wait for another process that works on it. store: a directory (see `store`); None: the one that
    the environment variable ROCM_SDK_STORE names, if any. verify: look at the links themselves, even if the stamp says
    that nothing has changed. Raises PackageNotInstalledError, DevelopmentTreeError, DevelopmentTreeLockedError,
    BadArchiveError or SystemManagedError.
    """
    site = find_site()
    if site is None:
        raise PackageNotInstalledError(
            f"the development package ({DISTRIBUTION}) is not installed", 'pip install "rocm[devel]"'
        )
    tree = _finished_tree(site)
    if tree is not None and is_current(site, tree) and not verify:
        return tree
    if tree is not None and not is_writable(site):
        reporter.say(f"{site} is not writable: the links of {tree} are left as they are")
        return tree
    try:
        record = devel_distribution(site).record
    except SystemManagedError as error:
        if tree is None:
            raise
        reporter.say(f"the links of {tree} are left as they are: {error.message}")
        return tree
    with explained(site):
        require_writable(site, record)
        # Explained once more inside, where what fills the disk has not been removed yet.
        with exclusive(f"{site}/{LOCK}", timeout, reporter.say), staging(site) as scratch, explained(site):
            chosen = store or os.environ.get("ROCM_SDK_STORE")
            return _prepare_locked(site, scratch, reporter, timeout, chosen, verify)


def _finished_tree(site: str) -> str | None:
    """The tree, if its expansion is done. DevelopmentTreeError where there is nothing to make one of."""
    # In this order: another process may be about to finish, and the tree appears before the archive goes.
    if find_archive(site) is not None:
        return None
    tree = find_tree(site)
    if tree is None:
        raise DevelopmentTreeError(
            f"{DISTRIBUTION} in {site} has neither its archive nor its tree",
            f"pip install --force-reinstall --no-deps {DISTRIBUTION}",
            site,
        )
    return tree


def _prepare_locked(  # noqa: PLR0917
    site: str, scratch: str, reporter: Reporter, timeout: float, store: str | None, verify: bool
) -> str:
    # Whoever held the lock before may have done the work, or pip may have been here.
    distribution = devel_distribution(site)
    record = Record(distribution.record)
    record.require([row[0] for row in record.rows] + [LOCK], scratch)
    tree = find_tree(site)
    archive = find_archive(site)
    if archive is not None and not (tree is not None and is_made_of(tree, archive)):
        kept = Store(store) if store else None
        with kept.in_use(timeout, reporter.say) if kept else nullcontext():
            expansion = Expansion(site, archive, distribution, record, scratch, kept, reporter)
            tree, upkeep = expansion.run()
        _tell(reporter, upkeep)
        return tree
    if tree is None:
        return str(_finished_tree(site))
    if archive is not None or verify or not is_current(site, tree):
        _tell(reporter, relink(site, tree, distribution.version, record, scratch))
    if archive is not None:
        remove_archives(site)
    return tree


def _tell(reporter: Reporter, upkeep: Upkeep) -> None:
    for notice in upkeep.notices:
        reporter.say(notice)
    if upkeep.missing:
        shown = ", ".join(upkeep.missing[:3])
        more = f" and {len(upkeep.missing) - 3} more" if len(upkeep.missing) > 3 else ""
        reporter.say(
            f"{len(upkeep.missing)} links of the tree lead to nothing: {shown}{more}; where a package of the SDK is not"
            ' installed (pip install "rocm[libraries]"), the next call after its installation makes them'
        )
