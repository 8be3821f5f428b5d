"""`rocm-sdk info`: everything on one screen, and nothing invented where something is missing."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from sample_site import CORE, Site

import rocm_sdk

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


def test_json(call: Call, sdk: Site) -> None:
    sdk.write(
        "rocm_sdk_core-7.10.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 7.10.0\n"
    )
    result = call("info", "--json")
    assert result.returncode == 0
    facts = json.loads(result.stdout)
    assert facts["schema"] == 1
    assert facts["loader"]["version"] == rocm_sdk.loader_version
    assert facts["sdk"] == {
        "version": "7.10.0",
        "targets": ["gfx942", "gfx1100"],
        "default_family": "gfx94X-dcgpu",
        "available_families": ["gfx94X-dcgpu"],
        "root": None,
        "fallback": None,
    }
    core = {"name": "rocm-sdk-core", "version": "7.10.0", "directory": f"{sdk.path}/{CORE}"}
    assert core in facts["packages"]
    assert (facts["devel"], facts["problems"]) == ("absent", [])


def test_states_of_the_development_tree(call: Call, devel_tree: Path) -> None:
    assert json.loads(call("info", "--json").stdout)["devel"] == "packed"
    assert not devel_tree.exists(), "asking changed it"
    assert call("env").returncode == 0
    assert json.loads(call("info", "--json").stdout)["devel"] == "extracted"


def test_text_fits_a_screen(call: Call) -> None:
    result = call("info")
    assert result.returncode == 0
    assert "ROCm SDK     7.10.0\n" in result.stdout
    assert "targets      gfx942 gfx1100\n" in result.stdout
    assert len(result.stdout.splitlines()) < 40


def test_the_default_family_is_among_the_families(call: Call) -> None:
    assert "families     gfx94X-dcgpu (default)\n" in call("info").stdout
