"""Bare `rocm-sdk` says only what it has looked at."""

from pathlib import Path

import pytest
from sample_machine import Machine, machine_of
from sample_report import install
from sample_site import CORE, Site, run_interpreter


@pytest.mark.parametrize("gpus", [(), ("gfx942",)], ids=["no GPU", "a GPU"])
@pytest.mark.parametrize("deleted", [True, False])
def test_an_sdk_whose_libamdhip64_was_deleted(tmp_path: Path, gpus: tuple[str, ...], *, deleted: bool) -> None:
    """The overview looks at no library, so it does not say that libraries load; the next command does look."""
    site = Site(tmp_path / "site")
    site.write(f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": "gfx942"}')
    hip = site.library("libamdhip64.so.7")
    install(site)
    if deleted:
        hip.unlink()
    machine = machine_of(tmp_path / "machine", *gpus) if gpus else Machine(tmp_path / "machine")
    done = run_interpreter("-m", "rocm_sdk", PYTHONPATH=str(site.path), ROCM_SDK_ROOTFS=str(machine.root))
    (verdict,) = (line for line in done.stdout.splitlines() if line.startswith("verdict"))
    assert "load" not in verdict
    none = "verdict  there is no GPU to run on; no library was looked at"
    assert verdict == (none if not gpus else "verdict  the SDK was built for each usable GPU")
