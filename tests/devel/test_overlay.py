"""Layers of a container image: an overlayfs in a mount namespace of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from own_mounts import need_mounts
from programs import completed
from sample_devel import DevelSite, as_root, core_files, sample_members

pytestmark = as_root

# Mounts the layers named by the arguments, in a namespace that goes with the process, and runs the command in them.
IN_OVERLAY = """
set -e
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$3" || exit 77
shift 3
exec "$@"
"""


class Overlay:
    """Layers `image` (lower) and `container/upper`, seen together at `root`."""

    def __init__(self, directory: Path) -> None:
        self.lower = directory / "image"
        self.upper = directory / "container/upper"
        self.root = directory / "root"
        for path in (self.lower, self.upper, directory / "container/work", self.root):
            path.mkdir(parents=True)
        self.site = DevelSite(self.root / "site-packages")
        (self.root / "site-packages").rmdir()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        need_mounts()
        layers = [str(self.lower), str(self.upper.parent), str(self.root)]
        command = ["unshare", "--mount", "sh", "-c", IN_OVERLAY, "sh", *layers, *words]
        run = completed(command, env=self.site.environment(), timeout=120)
        if run.returncode == 77:
            pytest.skip(f"no overlayfs can be mounted here: {run.stderr.strip()}")
        return run

    def command(self, *words: str) -> str:
        run = self.run(sys.executable, "-m", "rocm_sdk", *words)
        assert run.returncode == 0, run.stderr
        return run.stdout


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    return Overlay(tmp_path)


def uppers(overlay: Overlay, package: str) -> set[str]:
    """Return the files of a package that were written anew in the upper layer."""
    top = overlay.upper / "site-packages" / package
    return {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}


def test_runtime_packages_in_a_lower_layer(overlay: Overlay) -> None:
    """Files of RUN pip install ... are not copied into the layer of RUN rocm-sdk init, except programs."""
    lower = DevelSite(overlay.lower / "site-packages")
    lower.install_sdk()
    overlay.command("init")
    assert uppers(overlay, "_rocm_sdk_core") == {"bin/hipcc"}
    tree = overlay.upper / "site-packages/_rocm_sdk_devel"
    assert (tree / "lib/libamdhip64.so.7").readlink() == Path("../../_rocm_sdk_core/lib/libamdhip64.so.7")
    assert (tree / "bin/hipcc").is_file()
    assert not (tree / "bin/hipcc").is_symlink()
    overlay.command("init", "--check")


def test_one_layer(overlay: Overlay) -> None:
    """Installed and extracted in one RUN: hard links, as anywhere else."""
    packages = DevelSite(overlay.root.parent / "packages")
    packages.install_sdk()
    script = f'cp -r {packages.path} {overlay.root}/site-packages && exec "$@"'
    run = overlay.run("sh", "-c", script, "sh", sys.executable, "-m", "rocm_sdk", "init", "--check")
    assert run.returncode == 0, run.stderr
    tree = overlay.upper / "site-packages/_rocm_sdk_devel"
    assert (tree / "lib/libamdhip64.so.7").samefile(overlay.upper / "site-packages/_rocm_sdk_core/lib/libamdhip64.so.7")


def test_an_old_tree_in_a_lower_layer(overlay: Overlay) -> None:
    """An old tree cannot be renamed, so it goes first, and the archive stays until the new tree is there."""
    lower = DevelSite(overlay.lower / "site-packages")
    lower.install_sdk()
    lower.command("init")
    lower.install_devel(sample_members())
    (lower.tree / "old.h").touch()
    overlay.command("init", "--check")
    listed = overlay.run("ls", str(overlay.site.tree)).stdout.split()
    assert "include" in listed
    assert "old.h" not in listed
    assert overlay.run("test", "-e", str(overlay.site.path / "rocm_sdk_devel/_devel.tar")).returncode == 1


def test_runtime_packages_on_another_file_system(make_site: Callable[..., DevelSite], tmp_path: Path) -> None:
    """Hard links are refused there: copies, which is said once."""
    need_mounts()
    site = make_site()
    site.install_sdk()
    elsewhere = DevelSite(tmp_path / "elsewhere")
    elsewhere.install("rocm-sdk-core", core_files())
    script = """
    mount --make-rprivate / && mount -t tmpfs none "$1" && cp -r "$2/." "$1" && shift 2 && exec "$@"
    """
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(site.core), str(elsewhere.core)]
    run = completed(
        [*command, sys.executable, "-m", "rocm_sdk", "init", "--check"], env=site.environment(), timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("0 reflinks and 2 copies instead") == 1
    assert (site.tree / "bin/hipcc").read_bytes() == core_files()["_rocm_sdk_core/bin/hipcc"]
    assert os.access(site.tree / "bin/hipcc", os.X_OK)
