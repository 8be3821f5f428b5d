"""The recipes in packaging/ agree with the sources and with each other. `make test-recipes` builds and uses them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import completed
from sample_machine import machine_of
from sample_prefix import sound_stage
from sample_site import clean_environment

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ROOT / "packaging"
DEBIAN = RECIPES / "debian"
PAGE = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")


def version() -> str:
    (found,) = re.findall(
        r'^#define RSDK_VERSION "(.*)"$', (ROOT / "csrc/include/rocm_sdk/version.h").read_text(), re.MULTILINE
    )
    return str(found)


def test_the_symbols_of_the_debian_package_are_those_that_the_library_exports() -> None:
    lines = (DEBIAN / "librocm-sdk0.symbols").read_text(encoding="ascii").splitlines()
    assert lines[0] == "librocm_sdk.so.0 librocm-sdk0 #MINVER#"
    named = {line.split("@")[0].strip() for line in lines if line.startswith(" ")}
    assert named == {"ROCM_SDK_0", *(ROOT / "csrc/install/symbols").read_text(encoding="ascii").split()}


def versions_of(recipes: Path) -> set[str]:
    """Return the versions that recipes name, each in its own form."""
    changelog = (recipes / "debian/changelog").read_text(encoding="utf-8")
    spec = (recipes / "rpm/rocm-sdk-loader.spec").read_text(encoding="utf-8")
    return {
        re.findall(r"^rocm-sdk-loader \((.*)-\d+\)", changelog, re.MULTILINE)[0],
        *re.findall(r"^Version: +(.*)$", spec, re.MULTILINE),
        re.findall(r"^\* .*> - (.*)-\d+$", spec, re.MULTILINE)[0],
    }


def test_versions_are_those_of_the_header() -> None:
    assert versions_of(RECIPES) == {version()}


def test_the_lines_for_test_phases(tmp_path: Path) -> None:
    """Each line, with what the world puts in place of its variables."""
    rows = re.findall(r"^\| (\w+)[^|]*\|[^|]*(?:`[^`]*`[^|`]*)*\| `(rocm-sdk test .*)` \|$", PAGE, re.MULTILINE)
    assert [world for world, _ in rows] == ["Gentoo", "RPM", "Nix", "Debian", "Debian", "conda", "Spack"]
    stage = sound_stage(tmp_path / "T/stage/usr")  # its prefix is opt/rocm-7.1 below that
    shutil.move(stage.root, tmp_path / "rocm")
    shutil.rmtree(tmp_path / "T/stage/usr")
    shutil.move(tmp_path / "rocm", tmp_path / "T/stage/usr")
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian/tmp").symlink_to(tmp_path / "T/stage")
    values = {
        "%{buildroot}": str(tmp_path / "T/stage"),
        "%{_prefix}": "/usr",
        "{prefix}": str(tmp_path / "T/stage/usr"),
    }
    variables = clean_environment() | {
        "T": str(tmp_path / "T"),
        "out": values["{prefix}"],
        "PREFIX": values["{prefix}"],
    }
    variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"

    def run(command: str) -> subprocess.CompletedProcess[str]:
        words = ["sh", "-c", f"die() {{ exit 9; }}\n{command}"]
        return completed(words, env=variables, cwd=tmp_path)

    for _, line in rows:
        if line.endswith(" /usr"):  # what the machine has
            continue
        command = line.replace("\\|", "|")
        for name, value in values.items():
            command = command.replace(name, value)
        done = run(command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        (tmp_path / "T/stage/usr/bin/amdclang").symlink_to("nothing")
        done = run(command)
        assert done.returncode == (9 if "die" in command else 1), (command, done.stdout)
        (tmp_path / "T/stage/usr/bin/amdclang").unlink()


def test_the_lines_for_gentoo(tmp_path: Path) -> None:
    """The USE flags of rocm.eclass, of the GPUs of a machine."""
    (block,) = re.findall(r"```sh\n(flags=.*?)\n```", PAGE, re.DOTALL)
    machine = machine_of(tmp_path / "machine", "gfx1030", "gfx1100")
    file = tmp_path / "amdgpu-targets"
    command = block.replace("/etc/portage/package.use/amdgpu-targets", str(file))
    assert command != block
    variables = clean_environment() | {"ROCM_SDK_ROOTFS": str(machine.root)}
    variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"
    done = subprocess.run(["sh", "-ec", command], env=variables, capture_output=True, text=True, check=True)
    assert file.read_text() == "*/* AMDGPU_TARGETS: -* gfx1030 gfx1100\n"
    assert done.stdout == "amdgpu_targets_gfx1030 amdgpu_targets_gfx1100\n"
    assert done.stderr == ""
    file.unlink()
    nothing = machine_of(tmp_path / "nothing")
    variables["ROCM_SDK_ROOTFS"] = str(nothing.root)
    done = completed(["sh", "-c", command], env=variables)
    assert (done.returncode, done.stdout, file.exists()) == (1, "", False)


def test_the_patch_for_old_setuptools_applies(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    series = (DEBIAN / "patches/series").read_text(encoding="ascii").split()
    assert series == ["old-setuptools.patch"]
    command = ["git", "apply", DEBIAN / "patches" / series[0]]
    done = completed(command, cwd=tmp_path)
    assert done.returncode == 0, f"pyproject.toml has changed, so packaging/debian/patches needs it too: {done.stderr}"
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert "license-files" not in text
    assert 'license = { text = "MIT" }' in text


@pytest.mark.parametrize(
    ("recipes", "refusal"),
    [
        ([], "name recipes: containers debian lmod nix rpm"),
        (["debian", "slackware"], "there is no recipe 'slackware'"),
    ],
    ids=["none", "unknown"],
)
def test_a_wrong_recipe(recipes: list[str], refusal: str) -> None:
    done = completed([RECIPES / "try", *recipes])
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"packaging/try: {refusal}\n")
