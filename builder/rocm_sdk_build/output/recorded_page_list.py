"""The page list of packages, recorded from their installation, and carried by the wheel of core."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from rocm_sdk.base.starting import module_command, run
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.damaged import read_small
from rocm_sdk_build.files.page_list import FLAGS, checked
from rocm_sdk_build.files.wheel_name import wheel_name
from rocm_sdk_build.files.wheels import writing
from rocm_sdk_build.packages.staging import members_of

from .trial_installation import read_back
from .unpacked import unpack_wheel


def add_page_list(wheels: Iterable[Path], installed: Path, scratch: Path, key: str, jobs: int) -> None:
    """Write core's wheel again, with the list of the pages that a load of all libraries touches.

    `installed` is the directory in which the wheels are installed. `key` and `jobs` have the meaning that `writing`
    gives them. Raise PackagingError if the packages cannot be loaded here, or core is not among them.
    """
    core = next((path for path in wheels if wheel_name(path).project == "rocm-sdk-core"), None)
    if core is None:
        raise PackagingError(
            "--record-pages: core, which carries the list, is not among the packages", "--only core,..."
        )
    done = run(
        module_command("rocm_sdk", "init", "--record-pages"), variables={"ROCM_SDK_ROOT": str(installed.absolute())}
    )
    if done.returncode:
        what = done.stderr.strip() or f"exit status {done.returncode}"
        raise PackagingError(f"--record-pages: the packages cannot be loaded here: {what}", "leave it out")
    with os.fdopen(os.open(done.stdout.rstrip("\n"), FLAGS), "rb") as file:
        pages = checked(read_small(file), installed)
    site = scratch / "paged"
    deflate = unpack_wheel(core, site)
    (site / pages.place).write_bytes(pages.text)
    (info,) = (path.name for path in site.glob("*.dist-info"))
    core.unlink()
    with writing(core, info, key, deflate=deflate, jobs=jobs) as fresh:
        for name, path in members_of(site, info).items():
            fresh.add_file(name, path)
    shutil.rmtree(site)
    read_back(core)
