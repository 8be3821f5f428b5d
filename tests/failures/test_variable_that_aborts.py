"""A variable at which ROCm aborts each program, as a launcher writes it that joins a list with an empty name."""

import pytest
from sample_machine import Machine
from sample_report import install, run_test
from sample_site import Site


@pytest.mark.parametrize(
    ("variable", "values", "fix"),
    [
        ("ROCR_VISIBLE_DEVICES", ("1,,0", "1,0"), "leave no entry between commas empty"),
        ("ROCR_VISIBLE_DEVICES", ("1, ,0", "1,0"), "leave no entry between commas empty"),
        ("HSA_OVERRIDE_GFX_VERSION_2", ("8.0.3", "11.0.0"), "give a version of the GPU's own generation"),
    ],
)
def test_a_report_names_it(
    linked_site: Site, machine: Machine, variable: str, values: tuple[str, str], fix: str
) -> None:
    wrong, right = values
    install(linked_site)
    machine.cpu(0)
    for node in (1, 2):
        machine.gpu(node, "gfx1100")
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    found = run_test(linked_site.path, "--only", "environment", **root, **{variable: wrong}).only("W-GPU-033")
    assert found["title"] == f"{variable} makes ROCm abort each program"
    assert f"{variable}={wrong}" in found["cause"]
    assert found["fix"] == f"unset {variable}  # or {fix}"
    report = run_test(linked_site.path, "--only", "environment", **root, **{variable: right})
    assert "W-GPU-033" not in {each["code"] for each in report.problems}
