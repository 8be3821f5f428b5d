"""The examples for many machines, in docs/examples: their own lines make the packages of a sample build."""

import os
import random
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from artifact_tree import usual_tree
from programs import completed
from ruamel.yaml import YAML

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "docs/examples"
ARRAY, MATRIX = EXAMPLES / "build-array.sbatch", EXAMPLES / "build-matrix.yml"
PARTS = {"core", "libraries", "device-gfx942", "device-gfx1100", "profiler", "devel", "rocm"}
VERSION, FAMILIES = "7.10.0", "gfx942,gfx1100"
Result = subprocess.CompletedProcess[str]


class Machine:
    """A machine that runs lines in bash, with the command in PATH and stand-ins for work that a test does not do."""

    def __init__(self, directory: Path, **variables: str) -> None:
        self.directory, self.programs = directory, directory / "programs"
        self.programs.mkdir()
        scripts = sysconfig.get_path("scripts")
        path = f"{self.programs}:{scripts}:{os.environ['PATH']}"
        self.variables = {"PATH": path, "HOME": str(directory), "VERSION": VERSION, "FAMILIES": FAMILIES, **variables}

    def stand_in(self, name: str, text: str) -> None:
        (self.programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.programs / name).chmod(0o755)

    def run(self, *words: str | Path, cwd: Path | None = None, **variables: str) -> Result:
        environment = {**self.variables, **variables}
        place = cwd or self.directory
        return completed(words, env=environment, cwd=place)


def files_of(dist: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for pattern in ("*.whl", "*.tar.gz") for path in dist.glob(pattern)}


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, bytes]:
    """Return the files that one run makes of `artifacts`."""
    tree = usual_tree(tmp_path / "artifacts")
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", str(tree.root), "--version", VERSION]
    command += ["--output", str(tmp_path / "whole"), "--linux-amdgpu-families", FAMILIES, "--no-check"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return files_of(tmp_path / "whole")


# ---- a job array of Slurm ----


@pytest.fixture
def cluster(tmp_path: Path, whole: dict[str, bytes]) -> Machine:
    assert len(whole) == len(PARTS) + 1, "the loader is beside them"
    (tmp_path / "blanks in its name").mkdir()
    dist = tmp_path / "blanks in its name/dist"
    return Machine(tmp_path, ARTIFACTS=str(tmp_path / "artifacts"), DIST=str(dist))


def test_a_job_array(cluster: Machine, whole: dict[str, bytes]) -> None:
    """`submit` asks for what the tasks need; each task makes a package, in any order; the last job makes the index."""
    cluster.stand_in("sbatch", f'printf "%s\\n" "$*" >>{cluster.directory}/asked; echo 17')
    submitted = cluster.run("bash", ARRAY, "submit")
    assert (submitted.returncode, submitted.stderr) == (0, "")
    assert "all in one run" in submitted.stdout
    first, last = (cluster.directory / "asked").read_text().splitlines()
    assert first.startswith("--parsable --array=0-6 --mem=")
    assert last == f"--dependency=afterok:17 --cpus-per-task=1 {ARRAY} finish"
    dist = Path(cluster.variables["DIST"])
    rows = [line.split() for line in (dist / ".packages").read_text().splitlines()]
    assert {name for name, _ in rows} == PARTS
    (most,) = {word for word in first.split() if word.startswith("--mem=")}
    assert most == f"--mem={max(int(memory) for _, memory in rows)}M"
    numbers = list(range(len(rows)))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        done = cluster.run("bash", ARRAY, SLURM_ARRAY_TASK_ID=str(number), SLURM_CPUS_PER_TASK="2")
        files = 2 if rows[number][0] == "rocm" else 1  # the loader is beside the selector, which requires it
        assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", files)
    finished = cluster.run("bash", ARRAY, "finish")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert (
        f"{dist}: rocm {VERSION}, 8 packages: compared by requirements, RECORD, artifacts, "
        "the development tree: complete\n" in finished.stdout
    )
    assert (dist / "simple/rocm-sdk-device-gfx942/index.html").exists()
    assert files_of(dist) == whole


def test_a_job_array_that_goes_wrong(cluster: Machine) -> None:
    dist = Path(cluster.variables["DIST"])
    told = cluster.run("bash", ARRAY, SLURM_ARRAY_TASK_ID="0")
    assert (told.returncode, told.stderr) == (1, f"{dist}/.packages is not there: bash {ARRAY} submit makes it\n")
    cluster.stand_in("sbatch", "exit 1")
    assert cluster.run("bash", ARRAY, "submit").returncode == 1
    told = cluster.run("bash", ARRAY, SLURM_ARRAY_TASK_ID="7")
    assert (told.returncode, told.stderr) == (1, f"{dist}/.packages has no line 8\n")
    assert cluster.run("bash", ARRAY, SLURM_ARRAY_TASK_ID="0").returncode == 0
    unfinished = cluster.run("bash", ARRAY, "finish")
    assert (unfinished.returncode, (dist / "simple").exists()) == (1, False)
    assert "--only rocm" in unfinished.stdout
    for words in ((), ("submitt",)):
        told = cluster.run("bash", ARRAY, *words)
        assert (told.returncode, told.stderr) == (2, f"usage: bash {ARRAY} submit\n")
    told = cluster.run("bash", ARRAY, "submit", ARTIFACTS="")
    assert (told.returncode, told.stderr.startswith("ARTIFACTS is not set")) == (2, True)


def test_a_task_that_fails_leaves_no_plan(cluster: Machine) -> None:
    """A list that is cut off would lead tasks to other packages."""
    shutil.rmtree(Path(cluster.variables["ARTIFACTS"], "base_lib_generic"))
    told = cluster.run("bash", ARRAY, "submit")
    assert told.returncode == 1
    assert "therock_manifest.json: not found" in told.stderr
    assert not Path(cluster.variables["DIST"], ".packages").exists()


# ---- a matrix of GitHub ----


def test_the_workflow_is_one() -> None:
    """By the schema that the checker brings with it."""
    command = [Path(sysconfig.get_path("scripts"), "check-jsonschema"), "--builtin-schema", "vendor.github-workflows"]
    done = completed([*command, MATRIX])
    assert (done.returncode, done.stderr) == (0, "")


def test_the_workflow_makes_packages(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """Each runner has a directory of its own, and gets what others made from where they put it."""
    workflow = YAML(typ="safe").load(MATRIX)
    assert workflow["env"] == {
        name: f"${{{{ inputs.{name.lower()} }}}}" for name in ("ARTIFACTS", "VERSION", "FAMILIES")
    }
    machine = Machine(tmp_path, ARTIFACTS=str(tmp_path / "artifacts"))
    for program in ("make", "pip"):
        machine.stand_in(program, "exit 0")
    job = workflow["jobs"]["package"]
    assert job["env"] == {"PACKAGE": "${{ matrix.package }}"}
    packages = job["strategy"]["matrix"]["package"]
    assert set(packages) == PARTS
    assert workflow["on"]["workflow_dispatch"]["inputs"]["families"]["default"] == FAMILIES
    kept = tmp_path / "kept"
    kept.mkdir()
    for package in packages:
        runner = tmp_path / "runners" / package
        runner.mkdir(parents=True)
        lines = steps(job)
        told = [machine.run("bash", "-eo", "pipefail", "-c", each, cwd=runner, PACKAGE=package) for each in lines]
        assert [(each.returncode, each.stderr) for each in told] == [(0, "")] * 3
        assert f"{package} is made of " in told[1].stdout
        uploaded = job["steps"][-1]["with"]["path"].split()
        for path in (found for pattern in uploaded for found in runner.glob(pattern)):
            shutil.move(path, kept)
    runner = tmp_path / "runners/index"
    shutil.copytree(kept, runner / "dist")
    last = workflow["jobs"]["index"]
    assert last["needs"] == "package"
    told = [machine.run("bash", "-eo", "pipefail", "-c", each, cwd=runner) for each in steps(last)]
    assert [(each.returncode, each.stderr) for each in told] == [(0, "")] * 3
    assert told[1].stdout.endswith(": complete\n")
    assert (runner / "dist/simple/rocm/index.html").exists()
    assert files_of(runner / "dist") == whole


def steps(job: dict[str, Any]) -> list[str]:
    """Return the lines that the job runs.

    Values come in variables: whoever starts the job must not be able to add commands.
    """
    found = [step["run"] for step in job["steps"] if "run" in step]
    assert not [each for each in found if "${{" in each]
    return found
