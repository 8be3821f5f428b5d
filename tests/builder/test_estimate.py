"""`rocm-sdk-build artifacts --dry-run`: the memory and disk that it tells are compared with what runs take."""

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from artifact_tree import ArtifactTree, usual_tree
from programs import completed

from rocm_sdk_build.packages.costs import MB, Cost, Load, cost_of, cost_of_run

VERSION = "7.10.0"
PAGE = Path(__file__).resolve().parents[2] / "docs/packaging.md"
# docs/packaging.md states this margin: told is at least what a run takes, and at most this.
FACTOR, MORE = 1.5, 40 * MB


def command(root: Path, output: Path, *options: str) -> list[str]:
    words = [sys.executable, "-m", "rocm_sdk_build", "artifacts", "--no-loader", str(root), "--output", str(output)]
    return [*words, "--version", VERSION, "--linux-amdgpu-families", "gfx942,gfx1100", *options]


def run(root: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return completed(command(root, output, *options))


def estimates(root: Path, output: Path, *options: str) -> dict[str, Any]:
    done = run(root, output, *options, "--dry-run", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert not output.exists()
    document: dict[str, Any] = json.loads(done.stdout)
    return document


# ---- what is told ----


@pytest.mark.slow
@pytest.mark.parametrize("only", [(), ("--only", "core,device-gfx942,rocm")])
def test_what_would_be_made(tmp_path: Path, only: tuple[str, ...]) -> None:
    """The same files as a run makes, and nothing is written."""
    tree = usual_tree(tmp_path / "artifacts")
    document = estimates(tree.root, tmp_path / "out", *only)
    assert document.keys() == {"schema", "packages", "run"}
    files = {each["file"] for each in document["packages"]}
    names = [each["name"] for each in document["packages"]]
    text = run(tree.root, tmp_path / "out", *only, "--dry-run").stdout
    for each in document["packages"]:
        assert re.search(rf"^{each['name']} .* {re.escape(each['file'])}$", text, re.MULTILINE)
        assert f"{each['name']} is made of {', '.join(each['artifacts'])}\n" in text
        assert "base_lib_generic" in each["artifacts"]
        assert each["disk"] == each["wheel"] + max(each["staging"], each["installed"])
    assert "all in one run" in text
    assert run(tree.root, tmp_path / "out", *only, "--no-check").returncode == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    assert names[-1] == "rocm"
    assert document["run"]["wheel"] == sum(each["wheel"] for each in document["packages"])


@pytest.mark.slow
def test_families(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts", kpack=False)
    document = estimates(tree.root, tmp_path / "out")
    assert run(tree.root, tmp_path / "out", "--no-check").returncode == 0
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {each["file"] for each in document["packages"]} == found


def test_json_is_an_answer_of_a_dry_run(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    done = run(tree.root, tmp_path / "out", "--json")
    assert done.returncode == 2
    assert done.stderr == "rocm-sdk-build: --json is the form of the answer of --dry-run\n  fix: --dry-run --json\n"


def test_errors_are_those_of_a_run(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    done = run(tree.root, tmp_path / "out", "--only", "device-gfx950", "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--only device-gfx950: no package of this SDK is called so" in done.stderr


def test_the_documents_keys() -> None:
    section = PAGE.with_name("json.md").read_text().partition("## `rocm-sdk-build artifacts --dry-run --json`")[2]
    keys = set(re.findall(r"`(\w+)`", section.partition("\n## ")[0]))
    assert {"schema", "packages", "run", "name", "file", "artifacts", *Cost._fields, "disk"} <= keys


# ---- what a run takes ----


class Peak(NamedTuple):
    memory: int  # bytes of all processes together
    disk: int  # bytes below the output


def peak_of(root: Path, output: Path, *options: str) -> Peak:
    """Return the peak of a run, as `observed_run.py` keeps it, or as its processes together were seen to have it.

    On a busy machine less may be seen.
    """
    program = str(Path(__file__).with_name("observed_run.py"))
    words = command(root, output, *options)
    words[1:3] = [program, str(output)]
    seen = 0
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            seen = max(seen, sum(map(memory_of, family_of(process.pid))))
            time.sleep(0.01)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 0, said
    kept = Peak(**json.loads(said.splitlines()[-1]))
    return kept._replace(memory=max(seen, kept.memory))


def family_of(process: int) -> list[int]:
    found = [process]
    for each in found:
        for thread in threads_of(each):
            found += map(int, read(Path(f"/proc/{each}/task/{thread}/children")).split())
    return found


def threads_of(process: int) -> list[str]:
    try:
        return [thread.name for thread in Path(f"/proc/{process}/task").iterdir()]
    except OSError:  # it has ended
        return []


def memory_of(process: int) -> int:
    """Return the memory of a process in bytes.

    Pages that processes share are counted once; pages of files are not counted, unless they were changed.
    """
    text = read(Path(f"/proc/{process}/smaps_rollup"))
    return sum(int(size) * 1024 for size in re.findall(r"^Pss_Anon:\s+(\d+) kB", text, re.MULTILINE))


def read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended
        return ""


def one_large_file(tree: ArtifactTree) -> None:
    chance = random.Random(1)
    data = b"".join(chance.randbytes(1 << 20) for _ in range(100))
    tree.file("blas_lib_gfx942", "lib/rocblas/library/large_gfx942.dat", data)


def many_files(tree: ArtifactTree) -> None:
    for number in range(8000):
        tree.file("blas_lib_gfx942", f"lib/rocblas/library/{number % 8}/{number}_gfx942.dat", str(number))


def one_large_library(tree: ArtifactTree) -> None:
    """Add a library that is linked by lld, which leaves no room: patchelf changes it."""
    source = tree.root.parent / "large.s"
    source.write_text('.data\n.fill 8000000,8,0x1234567890abcdef\n.section .note.GNU-stack,"",@progbits\n')
    target = tree.place("core-hip_lib_generic", "lib/liblarge.so.1")
    flags = ["-nostdlib", "-fuse-ld=lld", "-Wl,-soname,liblarge.so.1"]
    subprocess.run(["gcc", "-shared", "-o", target, source, *flags], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fill", "part", "options"),
    [
        (one_large_file, "device-gfx942", ("--jobs", "1")),
        (one_large_file, "device-gfx942", ("--jobs", "2", "--no-wheel-compression")),
        (many_files, "device-gfx942", ("--jobs", "2")),
        (one_large_library, "core", ("--jobs", "2", "--no-check")),
        (None, "rocm", ()),
    ],
)
def test_what_is_told_is_what_a_run_takes(
    tmp_path: Path, fill: Callable[[ArtifactTree], None] | None, part: str, options: tuple[str, ...]
) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    if fill is not None:
        fill(tree)
    told = estimates(tree.root, tmp_path / "out", "--only", part, *options)["run"]
    taken = peak_of(tree.root, tmp_path / "out", "--only", part, *options)
    assert taken.memory <= told["memory"] <= FACTOR * taken.memory + MORE
    assert taken.disk <= told["disk"] <= FACTOR * taken.disk + MORE


def test_the_sum_of_a_run() -> None:
    """Wheels lie beside each other, staging directories follow each other, all are installed together."""
    found = cost_of_run([Cost(10, 5, 7, 100), Cost(20, 9, 30, 50)])
    assert (found, found.disk) == (Cost(30, 9, 37, 100), 67)
    assert cost_of(Load([1000]), jobs=1, deflates=True, is_checked=False).installed == 0
    plain, packed = (
        cost_of(Load([1000], compression=form), jobs=1, deflates=True, is_checked=False).memory
        for form in ("none", "xz")
    )
    assert packed - plain == 100 * MB
