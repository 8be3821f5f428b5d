"""A container was started without --device: the kernel has the GPUs, /dev has not."""

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
    assert said.only("W-GPU-016")["title"] == "/dev/kfd is not there"
    assert "--device" in said.only("W-GPU-016")["fix"]
    assert [found["code"] for found in said.problems if found["severity"] == "warning"] == ["W-GPU-016"], "one cause"
