"""The names and places of the development tree in site-packages, and its state.

    rocm_sdk_devel/                 what pip installed: the module with the archive
    _rocm_sdk_devel<nonce>/         the tree, extracted from it
    _rocm_sdk_devel<nonce>/.rocm-sdk/   our notes on the tree: manifest, device links, stamp
    .rocm_sdk_devel.lock            the lock of all writers
    .rocm_sdk_devel.staging-*/      where a writer works; a leftover if nobody holds the lock

The module imports next to nothing, since scripts often call commands that use it.
"""

import os

from rocm_sdk.installed import sdk_sites

MODULE = "rocm_sdk_devel"
DISTRIBUTION = "rocm-sdk-devel"
TREE_PREFIX = "_rocm_sdk_devel"
ARCHIVES = ("_devel.tar.xz", "_devel.tar.zst", "_devel.tar")
LOCK = ".rocm_sdk_devel.lock"
STAGING_PREFIX = ".rocm_sdk_devel.staging-"

LIBRARY_PLACES = ("lib", "lib/llvm/lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib")  # directories of a package

NOTES = ".rocm-sdk"
MANIFEST = f"{NOTES}/manifest.json"
DEVICE_LINKS = f"{NOTES}/device_links.json"
STAMP = f"{NOTES}/stamp"

# The states of a tree (see `tree_state`).
ABSENT, PACKED, EXTRACTED, INTERRUPTED, LOST = "absent", "packed", "extracted", "interrupted", "lost"


def find_site() -> str | None:
    """Return the site-packages directory that holds the development package; None if it is not installed.

    Raises RocmSdkError if ROCM_SDK_ROOT cannot be used.
    """
    for site in sdk_sites():
        if os.path.exists(f"{site}/{MODULE}/__init__.py"):
            return site
    return None


def find_archive(site: str) -> str | None:
    """Return the archive that is still to be extracted; None after the extraction."""
    for name in ARCHIVES:
        path = f"{site}/{MODULE}/{name}"
        if os.path.exists(path):
            return path
    return None


def find_tree(site: str) -> str | None:
    """Return the directory of the tree; None if there is none.

    If there are several, it is the newest.
    """
    trees = [f"{site}/{name}" for name in os.listdir(site) if name.startswith(TREE_PREFIX)]
    made_at = {tree: _made_at(tree) for tree in trees}
    return max((tree for tree in trees if made_at[tree]), key=made_at.__getitem__, default=None)


def _made_at(tree: str) -> int:
    """Return when the tree was made, in nanoseconds; 0 if it is not a tree, or is being removed.

    A symbolic link is not a tree: it leads to a directory that is not ours, and nothing may be written there.
    """
    if os.path.islink(tree):
        return 0
    try:
        return os.stat(f"{tree}/__init__.py").st_ctime_ns
    except OSError:
        return 0


def find_leftovers(site: str) -> list[str]:
    """Return the staging directories. Only the holder of the lock knows that they are leftovers."""
    return [f"{site}/{name}" for name in os.listdir(site) if name.startswith(STAGING_PREFIX)]


def nonce_of(tree_name: str) -> str:
    """Return the ending of the names of the SDK's platform directories, usually ""."""
    return tree_name[len(TREE_PREFIX) :]


def tree_state(site: str | None = None) -> str:
    """Return the state of the tree in `site` (default: the directory in which the package is installed).

    ABSENT: the package is not installed. PACKED: the archive is not extracted yet. EXTRACTED: the tree is complete.
    INTERRUPTED: an extraction has begun and is not complete; another process may be working on it. LOST: neither the
    archive nor the tree exists, and the package must be reinstalled.
    """
    site = site or find_site()
    if site is None or not os.path.exists(f"{site}/{MODULE}/__init__.py"):
        return ABSENT
    # The archive first: a tree appears before its archive is removed.
    has_archive = find_archive(site) is not None
    has_tree = find_tree(site) is not None
    if not has_archive:
        return EXTRACTED if has_tree else LOST
    return INTERRUPTED if has_tree or find_leftovers(site) else PACKED
