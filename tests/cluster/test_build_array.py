"""The job array of the documentation on a real Slurm: each task makes a package, the last job checks them all."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from artifact_tree import usual_tree
from slurm import Cluster

SCRIPT = Path(__file__).resolve().parents[2] / "docs/examples/build-array.sbatch"
VERSION, FAMILIES = "7.10.0", "gfx942,gfx1100"


def files_of(dist: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for pattern in ("*.whl", "*.tar.gz") for path in dist.glob(pattern)}


def test_the_packages_of_an_array_are_those_of_one_run(cluster: Cluster) -> None:
    artifacts, dist, whole = (cluster.directory / name for name in ("artifacts", "dist", "whole"))
    usual_tree(artifacts)
    words = ["artifacts", str(artifacts), "--version", VERSION, "--output", str(whole)]
    words += ["--linux-amdgpu-families", FAMILIES, "--no-check"]
    subprocess.run([sys.executable, "-m", "rocm_sdk_build", *words], check=True, stdout=subprocess.DEVNULL)
    variables = {"ARTIFACTS": str(artifacts), "DIST": str(dist), "VERSION": VERSION, "FAMILIES": FAMILIES}
    path = f"{sysconfig.get_path('scripts')}:{cluster.environment['PATH']}"
    done = cluster.run("bash", SCRIPT, "submit", PATH=path, **variables)
    assert done.returncode == 0, done.stderr
    last = done.stdout.split()[-1]
    assert cluster.finish(last) == "COMPLETED", [path.read_text() for path in cluster.directory.glob("rocm-sdk-*.log")]
    assert (
        f"{dist}: rocm {VERSION}, 8 packages: compared by requirements, RECORD, artifacts, "
        "the development tree: complete" in (cluster.directory / f"rocm-sdk-{last}.log").read_text()
    )
    assert (dist / "simple/rocm-sdk-device-gfx942/index.html").exists()
    assert files_of(dist) == files_of(whole)
