"""The row `build`: tested wheels of a tree of artifacts with two targets, beside the established way.

The wheels are tested before they appear. In the established way, files are copied, patchelf writes search paths an
entry at a time, and zlib deflates on one processor.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from artifact_tree import STAGE, ArtifactTree, usual_tree

from rocm_sdk_build.code.patchelf import Shape, find_patchelf
from rocm_sdk_build.inputs.file_kind import Kind, look_at

from .figures import Figure, Target, figure, in_turn, ratio
from .observation import ProcessError
from .stage import Stage

VERSION = "7.10.0"
SEARCH = ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib")


class Run(NamedTuple):
    """The measurements of a build."""

    seconds: float
    libraries: int  # bytes of the wheel of the math libraries
    memory: int  # bytes


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row, with the memory of our build alone. Raise ProcessError if our build fails."""
    directory = stage.directory / "build"
    directory.mkdir()
    tree = _make_tree(stage, directory / "artifacts")
    size = sum(path.stat().st_size for path in tree.root.rglob("*") if path.is_file() and not path.is_symlink())
    runs = in_turn(
        stage.rounds(3),
        {"ours": lambda: _build(tree, directory / "ours"), "established": lambda: _build_as_before(tree, directory)},
    )
    ours, before = runs["ours"], runs["established"]
    what = f"wheels of {size / 1e6:.0f} MB, with their test"
    seconds = {name: [each.seconds for each in found] for name, found in runs.items()}
    return [
        figure(what, "s", seconds["ours"], Target("at most", 20)),
        figure("the established way, without a test", "s", seconds["established"]),
        ratio(f"{what}, in times of the established way", seconds["ours"], seconds["established"]),
        ratio(
            "the libraries wheel, in times of the established way",
            [each.libraries for each in ours],
            [each.libraries for each in before],
            None if stage.has_sample_sdk else Target("at most", 1),
        ),
        figure("memory", "MB", [each.memory / 1e6 for each in ours], Target("at most", 1000)),
    ]


def _make_tree(stage: Stage, root: Path) -> ArtifactTree:
    """Return an artifact tree with the SDK's libraries, beside a case of everything."""
    tree = usual_tree(root)
    site = stage.environment(Shape.RPATH).site
    for package, artifact in (("core", "core-hip_lib_generic"), ("libraries", "blas_lib_generic")):
        source = site / f"_rocm_sdk_{package}"
        for path in sorted(source.rglob("*.so*")):
            target = tree.place(artifact, path.relative_to(source).as_posix())
            target.unlink(missing_ok=True)
            os.link(path, target)
    return tree


def _build(tree: ArtifactTree, output: Path) -> Run:
    """Build with our command, in a process of its own."""
    shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", str(tree.root)]
    words = [*command, "--output", str(output), "--version", VERSION, "--no-loader"]
    start = perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - start
    if process.returncode:
        raise ProcessError(f"the build failed: {told}")
    (wheel,) = output.glob("rocm_sdk_libraries-*.whl")
    # Of the largest process, and no less than ours has: exec(2) keeps the peak of the program that it replaces.
    return Run(seconds, wheel.stat().st_size, usage.ru_maxrss * 1024)


def _build_as_before(tree: ArtifactTree, directory: Path) -> Run:
    """Make the wheels of core and libraries alone, which have nearly all of the files."""
    place = directory / "established"
    shutil.rmtree(place, ignore_errors=True)
    start = perf_counter()
    for name, prefix in (("core", "core-hip"), ("libraries", "blas")):
        stage = place / name
        shutil.copytree(tree.root / f"{prefix}_lib_generic" / STAGE, stage)
        for path in sorted(stage.rglob("*")):
            if path.is_file() and not path.is_symlink() and look_at(path).kind in (Kind.LIBRARY, Kind.PROGRAM):
                _set_search_path(path)
        with zipfile.ZipFile(place / f"{name}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(stage.rglob("*")):
                archive.write(path, path.relative_to(stage))
    return Run(perf_counter() - start, (place / "libraries.whl").stat().st_size, 0)


def _set_search_path(path: Path) -> None:
    patchelf = find_patchelf()[0]
    for directory in SEARCH:
        entry = f"$ORIGIN/../../_rocm_sdk_core/{directory}"
        subprocess.run([patchelf, "--add-rpath", entry, str(path)], check=True)
    told = subprocess.check_output([patchelf, "--print-rpath", str(path)], text=True)
    subprocess.run([patchelf, "--set-rpath", told.strip(), "--force-rpath", str(path)], check=True)
