"""A container was started without --device: the kernel has the GPUs, /dev has not."""

from __future__ import annotations

import shutil

from sample_machine import Machine
from sample_report import install, run_test
from sample_site import Site


def test_the_option_is_named(linked_site: Site, machine: Machine) -> None:
    install(linked_site)
    machine.cpu(0)
    machine.gpu(1, "gfx1100")
    shutil.rmtree(machine.root / "dev")
    said = run_test(linked_site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root), container="docker")
    found = [each for each in said.problems if each["code"] == "W-GPU-001" and "kfd" in each["title"]]
    assert found, said.problems
    assert "--device" in found[0]["fix"]
