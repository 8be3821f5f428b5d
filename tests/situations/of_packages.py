"""Situations: packages that installers left in part, twice or without their metadata."""

import os
import shutil
import zipfile
from pathlib import Path

from sample_site import CORE
from sdk_environment import Environment
from situations import (
    BLAS,
    HIP,
    HSA,
    METADATA,
    Situation,
    by_hand,
    extracted_tree,
    flip,
    on,
    remove,
    renamed,
    replace_by,
)


def second_metadata(environment: Environment, version: str) -> None:
    first = environment.site / METADATA["core"]
    second = environment.site / f"rocm_sdk_core-{version}.dist-info"
    shutil.copytree(first, second)
    text = (second / "METADATA").read_text().replace("7.10.0", version)
    (second / "METADATA").write_text(text)
    record = (second / "RECORD").read_text().replace("-7.10.0.dist-info", f"-{version}.dist-info")
    lines = [line for line in record.splitlines() if "librocm_smi64" not in line and ".so" not in line]
    lines += [f"{CORE}/lib/libamdhip64.so.6,sha256=AAAA,9", f"{CORE}/lib/libold.so.1,,12"]
    (second / "RECORD").write_text("\n".join(lines) + "\n")


def killed_upgrade(environment: Environment, name: str) -> None:
    for path in list(environment.site.iterdir()):
        if path.name.startswith((f"rocm_sdk_{name}", f"_rocm_sdk_{name}")):
            path.rename(path.parent / f"~{path.name[1:]}")


def _placeholders(environment: Environment) -> None:
    environment.uninstall("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm")
    environment.install("rocm==0.1.0", "rocm-sdk-core==0.1.0")


def _leftover(environment: Environment) -> None:
    path = environment.site / "_rocm_sdk_libraries_gfx90a/lib/kernels.dat"
    path.parent.mkdir(parents=True)
    path.write_text("data")


def _linked_site(environment: Environment) -> None:
    other = environment.root / "elsewhere"
    environment.site.rename(other)
    environment.site.symlink_to(other)


def _lost_devel(environment: Environment) -> None:
    extracted_tree(environment)
    shutil.rmtree(environment.site / METADATA["devel"])
    shutil.rmtree(environment.site / "rocm_sdk_devel")


def _killed_extraction(environment: Environment) -> None:
    (environment.site / ".rocm_sdk_devel.staging-x").mkdir()


def _zipped(environment: Environment) -> None:
    """Put the packages of core into an archive, and nowhere else."""
    with zipfile.ZipFile(environment.root / "sdk.zip", "w") as archive:
        for path in sorted(environment.site.rglob("*")):
            name = path.relative_to(environment.site)
            if path.is_file() and name.parts[0] in {CORE, "rocm_sdk_core", METADATA["core"]}:
                archive.write(path, name)
    environment.uninstall("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm")


def _moved_behind_a_link(environment: Environment) -> None:
    """Move core behind a link, to another disk, say."""
    other = environment.root / "elsewhere"
    (environment.site / CORE).rename(other)
    (environment.site / CORE).symlink_to(other)


def _second_spelling(environment: Environment) -> None:
    """Copy the metadata under the spelling of an older installer.

    The RECORD there lists the metadata of the other spelling.
    """
    shutil.copytree(environment.site / METADATA["core"], environment.site / "rocm-sdk-core-7.10.0.dist-info")


def _file_in_place(environment: Environment) -> None:
    replace_by(environment.site / CORE, Path.touch)


def _copied_core(environment: Environment) -> None:
    for name in (CORE, "rocm_sdk_core"):
        shutil.copytree(environment.site / name, environment.root / "other" / name)


# fmt: off
ROWS = (
    Situation("an older dist-info of core", "E-PKG-023", "7.9.1", lambda e: second_metadata(e, "7.9.1")),
    Situation("a newer dist-info of core, and the tree", "E-PKG-023", "7.11.0", lambda e: (extracted_tree(e), second_metadata(e, "7.11.0"))),
    Situation("a killed upgrade of core", "E-PKG-025", "core", lambda e: killed_upgrade(e, "core")),
    Situation("a killed upgrade of core, and the tree", "E-PKG-025", "core", lambda e: (extracted_tree(e), killed_upgrade(e, "core"))),
    Situation("a killed upgrade of libraries, and the tree", "E-PKG-025", "libraries", lambda e: (extracted_tree(e), killed_upgrade(e, "libraries"))),
    Situation("METADATA of core is gone", "E-PKG-013", "METADATA", on(f"{METADATA['core']}/METADATA", remove)),
    Situation("RECORD of core is gone", "E-PKG-013", "RECORD", on(f"{METADATA['core']}/RECORD", remove)),
    Situation("the module of core is gone", "E-FILE-008", "rocm-sdk-core", on("rocm_sdk_core", remove)),
    Situation("the directory of core has no __init__.py", "E-PKG-003", CORE, on(f"{CORE}/__init__.py", remove)),
    Situation("libraries were installed of another release", "E-PKG-002", "rocm-sdk-libraries is 7.9.1, rocm-sdk-core 7.10.0", lambda e: e.install("rocm-sdk-libraries==7.9.1")),
    Situation("the development tree is of another nightly", "E-PKG-002", "rocm-sdk-devel is 7.10.0a20260811, rocm-sdk-core 7.10.0", lambda e: (e.install("rocm-sdk-devel==7.10.0a20260811"), extracted_tree(e))),
    Situation("the development package is of another release", "E-PKG-002", "rocm-sdk-devel is 7.9.1, rocm-sdk-core 7.10.0", lambda e: e.install("rocm-sdk-devel==7.9.1")),
    Situation("libraries were uninstalled", "E-LIB-003", "libraries", lambda e: e.uninstall("rocm-sdk-libraries")),
    Situation("the facts of core are no Python", "E-PKG-013", "_dist_info.py", on("rocm_sdk_core/_dist_info.py", Path.write_text, "__version__ = open(1)")),
    Situation("a module of core has a syntax error", "E-FILE-002", "rocm_sdk_core/__init__.py", on("rocm_sdk_core/__init__.py", Path.write_text, "def (")),
    Situation("a module of core was changed, and has the same size", "E-FILE-003", "rocm_sdk_core/_cli.py", on("rocm_sdk_core/_cli.py", flip, 0)),
    Situation("another core, which no installer knows, comes first in PYTHONPATH", "E-PKG-004", "rocm-sdk-libraries is in ", _copied_core, ("export PYTHONPATH={root}/other:$PYTHONPATH",)),
    Situation("core was uninstalled", "E-PKG-001", "core", lambda e: e.uninstall("rocm-sdk-core")),
    Situation("placeholders are installed", "E-PKG-017", "0.1.0", _placeholders),
    Situation("a directory is left over", "W-PKG-007", "gfx90a", _leftover),
    Situation("renamed directories of an upgrade that ended are left over", "W-PKG-007", "ocm_sdk_libraries", lambda e: [(e.site / name).mkdir() for name in ("~ocm_sdk_libraries", "~rocm_sdk_libraries", "~ocm_sdk_libraries-7.9.1.dist-info")]),
    Situation("the metadata of core is lost", "E-PKG-024", "rocm-sdk-core", on(METADATA["core"], remove)),
    Situation("site-packages is a link", None, "", _linked_site),
    Situation("the tree was removed by hand", "E-DEVEL-002", "rocm_sdk_devel", lambda e: shutil.rmtree(extracted_tree(e))),
    Situation("a file of the tree was changed", "E-DEVEL-002", "hip_version.h", lambda e: (extracted_tree(e) / "include/hip/hip_version.h").write_text("x")),
    Situation("the metadata of devel is lost, and its tree is left", "W-PKG-007", "_rocm_sdk_devel", _lost_devel),
    Situation("the archive of devel is gone", "E-DEVEL-002", "rocm_sdk_devel", on("rocm_sdk_devel/_devel.tar", remove)),
    Situation("RECORD of core ends in the middle", "E-PKG-013", "RECORD", on(f"{METADATA['core']}/RECORD", os.truncate, 300)),
    Situation("INSTALLER of core is gone", "E-FILE-001", "INSTALLER", on(f"{METADATA['core']}/INSTALLER", remove)),
    Situation("INSTALLER of core is gone, and a library", "E-FILE-008", "2 files", lambda e: ((e.site / METADATA["core"] / "INSTALLER").unlink(), (e.site / HSA).unlink())),
    Situation("code for a GPU was installed after the tree", "W-DEVEL-007", "tree", lambda e: (extracted_tree(e), e.install("rocm-sdk-device-gfx1100==7.10.0"))),
    Situation("the extraction of the tree was killed", "W-DEVEL-001", "", _killed_extraction),
    Situation("the archive of devel ends in the middle", "E-FILE-002", "_devel.tar", on("rocm_sdk_devel/_devel.tar", os.truncate, 5000)),
    Situation("a CMake package of the tree is empty", "E-DEVEL-003", "hip-config", lambda e: (extracted_tree(e) / "lib/cmake/hip/hip-config.cmake").write_text("")),
    Situation("the metadata of core were renamed to another version", "E-FILE-008", "rocm_sdk_core-7.9.0.dist-info has them all", renamed(METADATA["core"], "rocm_sdk_core-7.9.0.dist-info")),
    Situation("HIP was renamed", "W-LIB-010", "mv", renamed(HIP, f"{HIP}.1")),
    by_hand("HIP was copied beside itself", "W-PKG-019", "copy", lambda e: shutil.copy(e.site / HIP, e.site / CORE / "lib/libcopy.so.7")),
    Situation("the SDK is in a zip", "E-PKG-001", "zip", _zipped, ("export PYTHONPATH=$PYTHONPATH:{root}/sdk.zip",)),
    Situation("core was moved, and a link put in its place", "E-PKG-004", "elsewhere", _moved_behind_a_link),
    Situation("metadata of one version is there twice", "E-PKG-023", "rocm-sdk-core-7.10.0.dist-info", _second_spelling),
    Situation("a file is in the place of core's directory", "E-FILE-009", "is not a directory", _file_in_place),
    Situation("core was removed by hand", "E-FILE-008", "rocm-sdk-core", on(CORE, remove)),
    Situation("the metadata of core is a file", "E-PKG-013", "Not a directory", on(METADATA["core"], replace_by, Path.touch)),
    Situation("RECORD of libraries is gone, and rocblas", "E-PKG-013", "rocm-sdk-libraries", lambda e: ((e.site / METADATA["libraries"] / "RECORD").unlink(), (e.site / BLAS).unlink())),
)
# fmt: on
