"""Packages are proven before they appear; whatever ends a build, no half package is in `dist`."""

import os
import platform
import random
import re
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from programs import completed

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.trial_installation import prove
from rocm_sdk_build.packages.wish import Wish

pytestmark = pytest.mark.slow

VERSION = "7.10.0"
KILLS = int(os.environ.get("ROCM_SDK_TEST_KILLS", "100"))


@pytest.fixture
def tree(tmp_path: Path) -> ArtifactTree:
    return usual_tree(tmp_path / "artifacts")


def start(tree: ArtifactTree, output: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", "--artifact-dir", str(tree.root)]
    words = [*command, "--dest-dir", str(output), "--version", VERSION, "--no-loader", *options]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_library_that_does_not_load_stops_the_build(tree: ArtifactTree, tmp_path: Path) -> None:
    gone = tree.library("core-hip_lib_generic", "lib/libgone.so.1", "libgone.so.1")
    tree.library("core-hip_lib_generic", "lib/libneeds.so.1", "libneeds.so.1", flags=("-Wl,--no-as-needed", str(gone)))
    gone.unlink()
    done = start(tree, tmp_path / "out")
    _, told = done.communicate()
    assert done.returncode == 1
    assert "the packages do not work where they are installed" in told
    assert "libneeds.so.1" in told
    assert "libgone.so.1" in told
    assert "\n  cause: no table here says which package has it\n" in told
    assert told.endswith("  # rocm-sdk explain E-LIB-002\n")
    assert not (tmp_path / "out/dist").exists()
    made = build(Wish([tree.root], tmp_path / "out", VERSION, is_checked=False), read_rules())
    assert all(path.exists() for path in made)


def test_wheels_that_are_not_what_record_says(tree: ArtifactTree, tmp_path: Path) -> None:
    made = build(Wish([tree.root], tmp_path / "out", VERSION), read_rules())
    (core,) = (path for path in made if path.name.startswith("rocm_sdk_core"))
    prove([core], tmp_path / "good")
    with zipfile.ZipFile(core) as archive:
        members = {each: archive.read(each) for each in archive.infolist()}
    changed = tmp_path / core.name
    for number, (name, told) in enumerate(
        (("rocm_sdk_core/__init__.py", "is not what RECORD says"), ("extra.py", "RECORD does not list its files"))
    ):
        with zipfile.ZipFile(changed, "w") as archive:
            for member, data in members.items():
                archive.writestr(member, b"#" if member.filename == name else data)
            if name == "extra.py":
                archive.writestr(name, b"")
        with pytest.raises(PackagingError, match=told):
            prove([changed], tmp_path / str(number))
    twin = tmp_path / core.name.replace("rocm_sdk_core", "other")
    twin.write_bytes(core.read_bytes())
    with pytest.raises(PackagingError, match="both have"):
        prove([core, twin], tmp_path / "twins")


@pytest.mark.parametrize("kpack", [True, False])
def test_what_others_say_of_the_wheels(tmp_path: Path, kpack: bool) -> None:
    """The checker of wheels finds nothing else than known properties of device wheels and profilers.

    Device wheels have no module (W010): their directory belongs to the libraries package. Profilers' libraries are
    there under two names (W002), of which one looks as if it were an extension module's (W004).
    """
    tree = usual_tree(tmp_path / "artifacts", kpack)
    tree.file("core-hip_doc_generic", "share/doc/hip/LICENSE.md", "MIT")
    made = [str(path) for path in build(Wish([tree.root], tmp_path, VERSION, is_checked=False), read_rules())]
    wheels = [path for path in made if path.endswith(".whl")]
    judge = str(Path(sys.executable).with_name("check-wheel-contents"))
    for path in wheels:
        ignored = "W002,W004" if "/rocm_profiler-" in path else "W010"
        done = completed([judge, "--ignore", ignored, path])
        assert (done.returncode, done.stdout) == (0, f"{path}: OK\n")
    command = [sys.executable, "-m", "twine", "check", "--strict", *made]
    done = completed(command)
    assert (done.returncode, done.stdout.count("PASSED")) == (0, len(made)), done.stdout


def test_wheels_alone(tree: ArtifactTree, tmp_path: Path) -> None:
    """Wheels are proven as far as this is possible without the others, and without loading."""
    made = build(Wish([tree.root], tmp_path / "out", VERSION, is_checked=False), read_rules())
    (device,) = (path for path in made if path.name.startswith("rocm_sdk_device_gfx942"))
    prove([device], tmp_path / "device")
    (core,) = (path for path in made if path.name.startswith("rocm_sdk_core"))
    foreign = tmp_path / f"{core.name.removesuffix(f'{platform.machine()}.whl')}ppc64le.whl"
    foreign.write_bytes(core.read_bytes())
    prove([foreign], tmp_path / "foreign")


def test_the_limit_of_the_index(tree: ArtifactTree, tmp_path: Path) -> None:
    large = tree.file("blas_lib_generic", "lib/large.dat", b"")
    large.write_bytes(random.Random(1).randbytes(1_500_000))
    told = start(tree, tmp_path / "out", "--size-limit", "1", "--no-check").communicate()[1]
    limit = r"the index takes files of at most 1\.0 MB \(--size-limit; PyPI: 100 MB\)\n"
    assert re.fullmatch(rf"rocm_sdk_libraries-7\.10\.0-\S+\.whl has 1\.5 MB; {limit}", told), told
    for wide in ("none", "2"):
        assert start(tree, tmp_path / "out", "--size-limit", wide, "--no-check").communicate()[1] == ""
    assert "invalid _size value" in start(tree, tmp_path / "out", "--size-limit", "-1").communicate()[1]


BUILD_AGAIN_AND_AGAIN = """
import os, signal, sys, time
from pathlib import Path
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.packages.wish import Wish
from rocm_sdk_build.inputs.rules import read_rules
wish, rules = Wish([Path(sys.argv[1])], Path(sys.argv[2]), sys.argv[3], is_checked=False), read_rules()
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        build(wish, rules)
        os._exit(0)
    if line.strip():
        time.sleep(float(line))
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Builder:
    """A process that starts builds which are killed, without the time that Python needs to start."""

    def __init__(self, tree: ArtifactTree, output: Path) -> None:
        command = [sys.executable, "-c", BUILD_AGAIN_AND_AGAIN, str(tree.root), str(output), VERSION]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def build(self, seconds: float | None = None) -> None:
        """Run a build, which is killed after this time in seconds, or ends if it is None."""
        self.stdin.write(f"{seconds or ''}\n")
        self.stdin.flush()
        assert self.stdout.readline() == "ended\n"

    def end(self) -> None:
        self.stdin.close()
        assert self.process.wait() == 0
        self.stdout.close()


def killed(tree: ArtifactTree, output: Path, seed: int, expected: dict[str, bytes]) -> None:
    """Kill runs, each of which leaves whole packages alone; then let a run end."""
    builder, chance = Builder(tree, output), random.Random(seed)
    begin = time.monotonic()
    builder.build()
    seconds = time.monotonic() - begin
    for _ in range(KILLS // 2):
        builder.build(chance.uniform(0, 1.1) * seconds)
        for path in (output / "dist").glob("*"):
            assert path.read_bytes() == expected[path.name], path.name
    builder.end()
    process = start(tree, output)
    assert process.communicate()[1] == ""
    assert {path.name: path.read_bytes() for path in (output / "dist").iterdir()} == expected
    assert [path.name for path in output.iterdir()] == ["dist"]


@pytest.mark.long
def test_killed_at_any_point(tmp_path: Path) -> None:
    """Of a tree without commands: compiling them takes most of the time of a small build."""
    tree = ArtifactTree(tmp_path / "artifacts")
    tree.overlay(kpack=True)
    hip = tree.library("core-hip_lib_generic", "lib/libamdhip64.so.7", "libamdhip64.so.7")
    tree.library("blas_lib_generic", "lib/librocblas.so.5", "librocblas.so.5", hip)
    for target in ("gfx942", "gfx1100"):
        tree.file(f"blas_lib_{target}", f"lib/{target}.co", random.Random(target).randbytes(3 << 20))
    tree.file("prim_dev_generic", "include/rocprim/rocprim.hpp", "#pragma once\n" * 100_000)
    tree.library("rocprofiler-systems_lib_generic", "lib/librocprof-sys.so.1", "librocprof-sys.so.1")
    whole = start(tree, tmp_path / "whole")
    assert whole.communicate()[1] == ""
    expected = {path.name: path.read_bytes() for path in (tmp_path / "whole/dist").iterdir()}
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(killed, tree, tmp_path / f"out{n}", n, expected) for n in range(2)]
        for run in runs:
            run.result()


def test_two_builds_at_once(tree: ArtifactTree, tmp_path: Path) -> None:
    builds = [start(tree, tmp_path / "out") for _ in range(2)]
    assert [process.communicate()[1] for process in builds] == ["", ""]
    assert [process.returncode for process in builds] == [0, 0]
    for path in (tmp_path / "out/dist").glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["dist"]
