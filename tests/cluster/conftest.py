"""A cluster of four nodes for the tests here, and an image of a sample SDK."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_closure import closure, write_sdk

# Modules beside this file are imported by name.
sys.path.append(str(Path(__file__).parent))

from slurm import Cluster, why_not


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Yield a started cluster.

    The nodes have a /tmp of their own, so their shared directory is elsewhere.
    """
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="slurm-") as directory:
        Path(directory).chmod(0o755)  # munged refuses a socket that others cannot reach
        made = Cluster(Path(directory), node_count=4, cpus=4)
        try:
            made.start()
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="session")
def sdk(cluster: Cluster) -> Path:
    """Return an installed SDK in the shared directory."""
    return write_sdk(cluster.directory / "site")


@pytest.fixture(scope="session")
def image(cluster: Cluster, sdk: Path) -> Path:
    """Return a closure of the SDK as an image in the shared directory."""
    path = cluster.directory / "sdk.squashfs"
    closure(sdk, "--library", "rocblas", "--gpu", "gfx90a", "--form", "squashfs", "--output", path)
    return path
