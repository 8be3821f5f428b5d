"""/dev/kfd is there, and this user must not open it."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_machine import machine_of
from sample_site import Site


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_group_is_named(linked_site: Site, report_of_other_user: Callable[..., str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        machine_of(Path(directory, "machine"), "gfx1100")
        Path(directory, "machine/dev/kfd").chmod(0o660)
        output = report_of_other_user(linked_site, "--only", "gpus", ROCM_SDK_ROOTFS=f"{directory}/machine")
    assert "W-GPU-017  /dev/kfd cannot be opened" in output
    assert "add the user to that group" in output
