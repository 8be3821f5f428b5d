"""The command `closure --in-place`: the SDK in its environment becomes the closure, in one step or by a journal.

The order is fixed: leftovers of an earlier run are completed; the new files are made and tried in a scratch directory;
then a new site-packages of hard links takes the name of the old one, or a journal appears, which is completed at once.
A process that is killed leaves the old state, the new one, or a journal.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rocm_sdk.base.moving import exchange, sync_directory, sync_file_system
from rocm_sdk.installed.distributions import CLOSURE_JOURNAL
from rocm_sdk_build.closure.choosing.roots import open_roots
from rocm_sdk_build.closure.closure import SITE, Made, Request, attempt_of, recipe_of, selected, write_closure
from rocm_sdk_build.closure.disk_use import compare, uses_of
from rocm_sdk_build.closure.proving.proof import prove
from rocm_sdk_build.closure.source_sdk import InstalledSdk, SdkPackage
from rocm_sdk_build.closure.writing.site import Written
from rocm_sdk_build.errors import WrongUsageError
from rocm_sdk_build.files.scratch import PREFIX, scratch_directory

from .also import Also, find_others, make_smaller
from .changes import Changes, changes_of_sdk
from .environment import Environment, find_environment, locked, place_for_scratch, require_writable, site_to_prune
from .journal import complete, is_interrupted, publish, write_journal
from .new_site import Snapshot, make_new_site, refuse_changed, snapshot_of, take_owner

_RIGHTS = 0o777
# Errors of hard links: too many links, another user's file, another file system, no links at all.
_LINK_REFUSED = (errno.EMLINK, errno.EPERM, errno.EXDEV, errno.ENOTSUP, errno.ENOSYS)


class _Subject(NamedTuple):
    """The environment that becomes smaller; `others` are distributions that are not of the SDK."""

    environment: Environment
    site: str
    sdk: InstalledSdk
    others: tuple[SdkPackage, ...]

    @property
    def tops(self) -> list[str]:
        """The names in site-packages of the files."""
        names = {path.partition("/")[0] for each in (*self.sdk.packages, *self.others) for path in each.files}
        return sorted(name for name in names if os.path.lexists(f"{self.site}/{name}"))


class _Prepared(NamedTuple):
    """New files in a scratch directory, which are tried, and the changes that need them."""

    made: Made
    changes: Changes


def prune_environment(request: Request, also: tuple[str, ...]) -> Made | None:
    """Make the SDK of this environment smaller; return None if only an interrupted run was to complete.

    `also` are other distributions whose GPU code goes, too. Raise PackagingError, RocmSdkError or OSError if the SDK
    cannot be made smaller; then the environment is unchanged, or has a journal.
    """
    sys.dont_write_bytecode = True  # the directory of this program is compared before it is exchanged
    environment = find_environment()
    completed = [site for site in environment.sites if _complete_interrupted(environment, site)]
    if completed and not (request.words or request.libraries or request.preloads or request.tools or request.traced):
        return None
    sdk = InstalledSdk()
    site = site_to_prune(environment, sdk)
    others = find_others(also, site, sdk)
    if others and not request.gpus:
        raise WrongUsageError("--also makes GPU code smaller, and no GPU is named", "--gpu TARGETS")
    with locked(site):
        return _prune(request, _Subject(environment, site, sdk, others))


def _prune(request: Request, subject: _Subject) -> Made:
    site = subject.site
    place, can_exchange = place_for_scratch(site, subject.tops)
    before, snapshot = uses_of(site), snapshot_of(site)
    with scratch_directory(place) as scratch:
        made, changes = _prepare(request, subject, scratch)
        refuse_changed(site, snapshot)
        if not changes.are_none:
            _take_owners(site, changes)
            if not (can_exchange and _exchanged(site, scratch, changes, snapshot)):
                publish(write_journal(scratch, changes, site), site)
    removed = complete(site, subject.environment.scripts)
    return made._replace(pruned=compare(before, uses_of(site), removed, is_changed=not changes.are_none))


def _complete_interrupted(environment: Environment, site: str) -> bool:
    """Return whether a killed run had left work to do, which is done now."""
    if not is_interrupted(site):
        return False
    require_writable(site)
    with locked(site):
        for place in (Path(site).parent, Path(site)):  # the old site-packages
            if os.access(place, os.W_OK) and any(place.glob(f"{PREFIX}*")):
                with scratch_directory(place):
                    pass
        complete(site, environment.scripts)
    return True


# ---- the new files ----


def _prepare(request: Request, subject: _Subject, scratch: Path) -> _Prepared:
    environment, site, sdk, others = subject
    with open_roots(request.words, request.libraries, request.preloads, request.tools) as roots:
        attempt = attempt_of(request, roots, scratch)
        recipe = recipe_of(request, roots)
        recipe = recipe._replace(requires=(*recipe.requires, *_requirements(site, sdk)), in_place=True, may_link=True)
        selection = selected(sdk, roots, request)
        closure = write_closure(sdk, selection, recipe, scratch / SITE)
        (scratch / "also").mkdir()
        smaller = [make_smaller(each, site, recipe, scratch / "also" / each.name) for each in others]
        replaced = {f"{site}/{path}": file for each in smaller for path, file in each.changes.new.items()}
        attempt = attempt._replace(replaced=replaced) if attempt is not None else None
        proof = prove(sdk, roots, selection, closure, request.gpus, attempt) if attempt is not None else None
    changes = changes_of_sdk(environment, site, sdk, closure)
    for each in smaller:
        changes = changes.with_others(each.changes)
    made = Made(
        request._replace(output=Path(site)),
        roots,
        selection._replace(left_out=(*selection.left_out, *(file for each in smaller for file in each.left_out))),
        closure._replace(files=(*closure.files, *_rewritten(smaller))),
        proof,
        sum(file.size for file in sdk.files.values()) + _size_before(smaller),
        sum(each.size for each in (*closure.files, *_rewritten(smaller))),
        0,
    )
    return _Prepared(made._replace(output_size=made.size), changes)


def _rewritten(smaller: list[Also]) -> tuple[Written, ...]:
    return tuple(file for each in smaller for file in each.files)


def _size_before(smaller: list[Also]) -> int:
    return sum(file.kept.file.size for file in _rewritten(smaller)) + sum(
        left.file.size for each in smaller for left in each.left_out
    )


def _requirements(site: str, sdk: InstalledSdk) -> Iterator[str]:
    """Yield the requirements of the distributions that are not of the SDK."""
    own = {package.name for package in sdk.packages}
    for each in distributions(path=[site]):
        if canonicalize_name(each.name or "") not in own:
            yield from each.requires or ()


def _take_owners(site: str, changes: Changes) -> None:
    """Give new files the owners of the files that they replace, or else the owner of site-packages; only root can."""
    for path, file in changes.new.items():
        facts = os.stat(site)
        with suppress(FileNotFoundError):
            facts = os.stat(os.path.join(site, path))
        mode = file.stat().st_mode & _RIGHTS
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            take_owner(descriptor, facts)
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


# ---- the exchange ----


def _exchanged(site: str, scratch: Path, changes: Changes, snapshot: Snapshot) -> bool:
    """Return whether a new directory has taken the place of the old one; False if links are refused here."""
    new = scratch / "new"
    try:
        make_new_site(site, new, changes)
    except OSError as error:
        if error.errno not in _LINK_REFUSED:
            raise
        return False
    write_journal(scratch, Changes(scripts=changes.scripts), site).rename(new / CLOSURE_JOURNAL)
    sync_file_system(str(new))
    refuse_changed(site, snapshot)
    exchange(str(new), site)
    sync_directory(os.path.dirname(site))
    return True
