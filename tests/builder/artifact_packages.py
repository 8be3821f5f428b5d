"""Packages of the artifacts of a ROCm build for tests: building them, and reading one."""

import subprocess
import zipfile
from pathlib import Path

from artifact_tree import ArtifactTree
from build_command import build_command

VERSION = "7.10.0"
Result = subprocess.CompletedProcess[str]


def build(tree: ArtifactTree, output: Path, *options: str, version: str = VERSION) -> Result:
    words = ["--artifact-dir", tree.root, "--dest-dir", output, "--version", version, *options]
    if "--loader" not in options:
        words.append("--no-loader")
    return build_command("artifacts", *words)


def wheel(dist: Path, name: str) -> zipfile.ZipFile:
    (path,) = dist.glob(f"{name}-{VERSION}-py3-none-*.whl")
    return zipfile.ZipFile(path)
