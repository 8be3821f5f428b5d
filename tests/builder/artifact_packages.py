"""Packages of the artifacts of a ROCm build for tests: building them, and reading one."""

import subprocess
import sys
import zipfile
from pathlib import Path

from artifact_tree import ArtifactTree
from programs import completed

VERSION = "7.10.0"
Result = subprocess.CompletedProcess[str]


def build(tree: ArtifactTree, output: Path, *options: str, version: str = VERSION) -> Result:
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", "--artifact-dir", str(tree.root)]
    words = [*command, "--dest-dir", str(output), "--version", version, *options]
    return completed(words)


def wheel(dist: Path, name: str) -> zipfile.ZipFile:
    (path,) = dist.glob(f"{name}-{VERSION}-py3-none-*.whl")
    return zipfile.ZipFile(path)
