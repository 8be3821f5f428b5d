"""The provider of wheel variants, as variantlib loads and asks it, beside the provider of rocm-bootstrap."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import empty_environment
from programs import completed
from sample_machine import machine_of

import rocm_sdk

ROOT = Path(__file__).resolve().parents[2]
OURS, OTHER = "rocm_sdk_variant_provider:AmdVariantProvider", "rocm_bootstrap.variant_provider:AMDVariantPlugin"
MACHINES = (("gfx1151",), ("gfx942", "gfx942"), ("gfx1100", "gfx1036"), ("gfx1036", "gfx1100"), ("gfx90a", "gfx1030"))
LABELS = ("gfx1036", "gfx1100", "gfx942", "gfx1151", "gfx90a", "gfx1030", "gfx908")

ASK = """
import json, sys
from variantlib.api import get_variants_by_priority
found = get_variants_by_priority(variants_json=json.load(sys.stdin), venv_python_executable=sys.executable)
print(json.dumps([[each.value for each in variant.properties] for variant in found]))
"""
LOAD = """
import json
from variantlib.plugins.loader import EntryPointPluginLoader
with EntryPointPluginLoader() as loader:
    supported = loader.get_supported_configs()
    all_values = loader.get_all_configs()["amd"].configs[0].values
print(json.dumps([[(each.name, each.multi_value, each.values) for each in supported["amd"].configs], all_values]))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory with the provider as pip installs it."""
    directory = tmp_path_factory.mktemp("provider")
    shutil.copytree(ROOT / "variant_provider", directory / "source")
    shutil.copytree(ROOT / "csrc/include", directory / "csrc/include")  # has the version
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(directory / "site"), str(directory / "source")], check=True)
    return directory / "site"


@pytest.fixture(scope="module")
def environment(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with variantlib and the provider, without rocm-bootstrap."""
    directory = tmp_path_factory.mktemp("environment") / "environment"
    empty_environment(directory)
    packages = next(directory.glob("lib/python3*/site-packages"))
    here = Path(pytest.importorskip("variantlib").__file__).parent.parent
    for name in ("variantlib", "packaging", "platformdirs", "tomlkit"):
        if (here / name).exists():
            (packages / name).symlink_to(here / name)
    (packages / "rocm_sdk").symlink_to(Path(rocm_sdk.__file__).parent)
    (packages / "paths.pth").write_text(f"{site}\n")
    return directory / "bin/python"


def run(
    python: Path | str, code: str, root: Path, text: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ROCM_SDK_ROOTFS": str(root)} | variables
    return completed([str(python), "-c", code], input=text, env=environment, cwd=root)


def test_all_values(site: Path, tmp_path: Path) -> None:
    """AMD's plug-in of September has a value for each owner of packages, in the order of its targets."""
    names = "0 2 4 6 8 9 a c", "1010 1011 1012 1013 1030 1031 1032 1033 1034 1035 1036 1100 1101 1102 1103"
    of_cards = [*(f"90{each}" for each in names[0].split()), "942", "950", *names[1].split()]
    of_cards += ["1150", "1151", "1152", "1153", "1200", "1201", "1250", "1251"]
    path = {"PYTHONPATH": f"{site}:{Path(rocm_sdk.__file__).parent.parent}"}
    code = "from rocm_sdk_variant_provider import *; print(*AmdVariantProvider.get_all_configs()[0].values)"
    said = run(sys.executable, code, tmp_path, **path)
    assert said.stdout.split() == [f"gfx{each}" for each in of_cards], said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("names", MACHINES, ids="-".join)
def test_variantlib_loads_it_by_its_entry_point(environment: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    said = run(environment, LOAD, machine_of(tmp_path / "machine", *names).root)
    assert said.returncode == 0, said.stderr
    supported, all_values = json.loads(said.stdout)
    assert supported == [["gfx_arch", True, list(dict.fromkeys(names))]]
    assert {"gfx942", "gfx1151", "gfx1250"} <= set(all_values)
    assert not [value for value in all_values if "-" in value]


def test_targets_of_one_package_are_one_value_and_unknown_ones_none(environment: Path, tmp_path: Path) -> None:
    root = machine_of(tmp_path / "machine", "gfx1250", "gfx1250", "gfx999", "gfx1100").root
    said = run(environment, LOAD, root)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)[0] == [["gfx_arch", True, ["gfx1250", "gfx1100"]]]


def variants(plugin: str) -> str:
    document = {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["amd"]},
        "providers": {"amd": {"requires": ["provider"], "plugin-api": plugin}},
        "variants": {name: {"amd": {"gfx_arch": [name]}} for name in LABELS},
    }
    return json.dumps(document)


@pytest.mark.slow
@pytest.mark.parametrize("names", MACHINES, ids="-".join)
def test_the_order_is_that_of_rocm_bootstrap(site: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    root = machine_of(tmp_path / "machine", *names).root
    pytest.importorskip("rocm_bootstrap")
    path = {"PYTHONPATH": f"{site}:{Path(rocm_sdk.__file__).parent.parent}"}
    ours = run(sys.executable, ASK, root, variants(OURS), **path)
    other = run(sys.executable, ASK, root, variants(OTHER), ROCM_BOOTSTRAP_FORCE_GFX_ARCH=",".join(names))
    assert (ours.returncode, other.returncode) == (0, 0), ours.stderr + other.stderr
    assert json.loads(ours.stdout) == json.loads(other.stdout)
    assert [each[0] for each in json.loads(ours.stdout) if each] == list(dict.fromkeys(names))


def test_it_cannot_stand_beside_rocm_bootstrap(site: Path, tmp_path: Path) -> None:
    pytest.importorskip("rocm_bootstrap")
    path = {"PYTHONPATH": f"{site}:{Path(rocm_sdk.__file__).parent.parent}"}
    said = run(sys.executable, LOAD, machine_of(tmp_path / "machine", "gfx1100").root, **path)
    assert said.returncode != 0
    assert "Two plugins use the same entry point name 'amd'" in said.stderr
