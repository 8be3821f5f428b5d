"""A machine with GPUs for each test."""

import pytest


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "ROCR_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "HSA_OVERRIDE_GFX_VERSION",
        "HSA_XNACK",
        "HSA_ENABLE_SRAMECC",
        "ROCM_SDK_ROOTFS",
        "ROCM_SDK_TARGET_FAMILY",
    ):
        monkeypatch.delenv(name, raising=False)
