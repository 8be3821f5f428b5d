"""The job script of the documentation on a real Slurm: ranks load from an image on their node, and one is different."""

import json
import os
import re
import shutil
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from sample_site import CORE, compile_library
from slurm import Cluster

SCRIPT = Path(__file__).resolve().parents[2] / "docs/examples/start-from-image.sbatch"
SIZE = ("--nodes=4", "--ntasks=16")
LOAD = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['rocblas'])"
# The rest that a job leaves on a node: its files, mounts.
LEFT = "ls -d /tmp/rocm-sdk-* 2>/dev/null; grep -c ' /tmp/rocm-sdk-' /proc/mounts; true"


def variables(reports: Path) -> dict[str, str]:
    packages = sysconfig.get_path("purelib")
    root = str(Path(__file__).resolve().parents[2])
    return {"ROCM_SDK_REPORT": f"{reports}/%n-%t.json", "PYTHONPATH": f"{packages}:{root}"}


@pytest.fixture
def reports(cluster: Cluster) -> Path:
    directory = cluster.directory / "reports"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    return directory


def assert_clean(cluster: Cluster) -> None:
    done = cluster.run("srun", *SIZE[:1], "--ntasks=4", "--ntasks-per-node=1", "sh", "-c", LEFT)
    assert (done.stdout.split(), done.returncode) == (["0"] * 4, 0), done.stderr


def merge(cluster: Cluster, reports: Path) -> tuple[int, list[str]]:
    done = cluster.run(sys.executable, "-m", "rocm_sdk", "test", "--merge", reports, "--expect", "node[1-4]")
    return done.returncode, done.stdout.splitlines()


def test_sixteen_ranks_and_one_that_is_different(cluster: Cluster, image: Path, reports: Path) -> None:
    other = compile_library(
        cluster.directory / "libamdhip64.so.7", "libamdhip64.so.7", "int hipGetVersion(void) { return 8; }"
    )
    program = cluster.directory / "program"
    program.write_text(
        f'#!/bin/sh\n[ "$SLURM_PROCID" != 5 ] || export ROCM_SDK_LIBRARY_amdhip64={other}\n'
        f'exec {sys.executable} -c "{LOAD}"\n'
    )
    program.chmod(0o755)
    job = cluster.submit(*SIZE, SCRIPT, image, program, **variables(reports))
    assert cluster.finish(job) == "COMPLETED", cluster.output(job)
    documents = [json.loads(path.read_text()) for path in sorted(reports.iterdir())]
    assert len(documents) == 16
    assert {each["node"]["name"] for each in documents} == {"node1", "node2", "node3", "node4"}
    assert {each["node"]["host"] for each in documents} == {"node1", "node2", "node3", "node4"}
    place = f"/tmp/rocm-sdk-{job}/sdk/{CORE}/lib/libhsa-runtime64.so.1"
    assert sum(place in {library["path"] for library in each["libraries"]} for each in documents) >= 15
    status, lines = merge(cluster, reports)
    assert status == 1
    assert lines[0] == "16 reports in 2 groups of equal outcome"
    assert lines[2].startswith("1 rank: node")
    assert lines[2].endswith(" task 5")
    assert any(line.startswith(f"  library libamdhip64.so.7: {other}") for line in lines)
    assert not any(line.startswith("without a report") for line in lines)
    assert_clean(cluster)


def test_a_program_that_fails(cluster: Cluster, image: Path) -> None:
    job = cluster.submit(*SIZE, SCRIPT, image, "sh", "-c", 'test -d "$ROCM_SDK_ROOT/_rocm_sdk_core" && exit 7')
    assert cluster.finish(job) == "FAILED"
    assert "Exited with exit code 7" in cluster.output(job)
    assert_clean(cluster)


def test_a_job_that_is_cancelled(cluster: Cluster, image: Path) -> None:
    """Steps get SIGTERM, and nothing can be started any more."""
    ready = cluster.directory / "ready"
    job = cluster.submit(*SIZE, SCRIPT, image, "sh", "-c", f"touch {ready}; sleep 60")
    end = time.monotonic() + 30
    while not ready.exists():
        assert time.monotonic() < end, cluster.output(job)
        time.sleep(0.1)
    assert cluster.run("scancel", job).returncode == 0
    assert cluster.finish(job) == "CANCELLED"
    assert_clean(cluster)


def test_a_copy_with_other_bytes(cluster: Cluster, image: Path) -> None:
    """A wrapper of sbcast changes the file of one node after the copy, which itself is right."""
    tools = cluster.directory / "tools"
    tools.mkdir()
    sbcast = shutil.which("sbcast", path=cluster.environment["PATH"])
    change = """srun --overlap --nodes=1 --ntasks=1 --nodelist=node3 sh -c 'printf x >>"$1"' - "$2\""""
    (tools / "sbcast").write_text(f'#!/bin/sh\n{sbcast} "$@" && {change}\n')
    (tools / "sbcast").chmod(0o755)
    path = f"{tools}:{cluster.environment['PATH']}"
    job = cluster.submit(*SIZE, SCRIPT, image, "touch", cluster.directory / "never", PATH=path)
    assert cluster.finish(job) == "FAILED"
    assert f"node3: /tmp/rocm-sdk-{job}/image is not the image" in cluster.output(job)
    assert not (cluster.directory / "never").exists()
    assert_clean(cluster)


@pytest.mark.parametrize("kind", ["directory", "link"])
def test_a_name_that_is_taken_is_left_alone(cluster: Cluster, image: Path, kind: str) -> None:
    """Another user may have made it before: nothing goes through it, and nothing of his is removed."""
    last = cluster.submit("--nodes=1", "--wrap", "true")
    cluster.finish(last)
    job = str(int(last) + 2)
    theirs = cluster.directory / f"theirs-{kind}"
    theirs.mkdir()
    (theirs / "file").write_text("mine")
    place = f"/tmp/rocm-sdk-{job}"
    put = f"mkdir {place} && chown 65534 {place}" if kind == "directory" else f"ln -s {theirs} {place}"
    on_node = ("srun", "--nodes=1", "--nodelist=node2", "sh", "-c")
    cluster.run(*on_node, put)
    assert cluster.submit(*SIZE, SCRIPT, image, "touch", cluster.directory / "never") == job
    assert cluster.finish(job) == "FAILED"
    assert f"node2: cannot make {place}\n" in cluster.output(job)
    assert [path.name for path in theirs.iterdir()] == ["file"]
    assert not (cluster.directory / "never").exists()
    assert cluster.run(*on_node, f"ls -d {place} && rm -r {place}").stdout == f"{place}\n"
    assert_clean(cluster)


@pytest.mark.usefixtures("image")
def test_without_fuse(cluster: Cluster, reports: Path) -> None:
    """The commands of the page."""
    page = (SCRIPT.parents[1] / "cluster.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    train = cluster.directory / "train.py"
    train.write_text(LOAD)
    script = cluster.directory / "unpack.sh"
    script.write_text(f"#!/bin/bash\nset -e\n{block.replace(' python ', f' {sys.executable} ')}")
    job = cluster.submit(*SIZE, script, **variables(reports))
    assert cluster.finish(job) == "COMPLETED", cluster.output(job)
    documents = [json.loads(path.read_text()) for path in reports.iterdir()]
    places = {library["path"] for each in documents for library in each["libraries"]}
    assert len(documents) == 16
    assert places
    assert all(place.startswith(f"/tmp/sdk-{job}/") for place in places)


def test_wrong_usage(cluster: Cluster, image: Path) -> None:
    job = cluster.submit("--nodes=1", SCRIPT, image)
    assert cluster.finish(job) == "FAILED"
    assert cluster.output(job) == "usage: sbatch start-from-image.sbatch IMAGE PROGRAM [ARGUMENT...]\n"
    job = cluster.submit("--nodes=1", SCRIPT, cluster.directory / "gone", "true")
    assert cluster.finish(job) == "FAILED"
    assert "gone: No such file" in cluster.output(job)


def test_the_cluster_leaves_nothing(cluster: Cluster) -> None:
    """The mounts of the cluster are in namespaces of its nodes, and its files are in its directory."""
    assert str(cluster.directory) not in Path("/proc/mounts").read_text()
    assert "/tmp/rocm-sdk-" not in Path("/proc/mounts").read_text()
    assert os.uname().nodename not in cluster.nodes
