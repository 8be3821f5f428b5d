"""Packages of an installed ROCm for tests: building them, and what is in them."""

import io
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

from build_command import build_command
from installed_rocm import Prefix

VERSION = "7.1.2"
Result = subprocess.CompletedProcess[str]
SHARED_LIBRARIES = {
    "lib/libhiprand.so.1",
    "lib/libhipsparselt.so.0",
    "lib/librocblas.so.5",
    "lib/librocrand.so.1",
    "lib/rocblas/library/TensileLibrary_fallback.co",
    "lib/rocblas/library/TensileManifest.txt",
    "share/miopen/db/miopen.db",
    "share/therock/libraries_dist_info.json",
}
OF_GFX90A = {
    "lib/rocblas/library/Kernels.so-000-gfx90a.hsaco",
    "lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco",
    "lib/rocblas/library/TensileLibrary_lazy_gfx90a.dat",
    "share/miopen/db/gfx90a68.db.txt",
}
OF_GFX1030 = {
    "lib/rocblas/library/Kernels.so-000-gfx1030.hsaco",
    "lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat",
}


def build(output: Path, *words: str | Path, lists: str = "", version: str = VERSION) -> Result:
    return build_command("prefix", *words, "--version", version, "--no-loader", "--output", output, given=lists)


def built(output: Path, *words: str | Path, lists: str = "") -> str:
    """Build packages, and return the standard error of the build, which works."""
    done = build(output, *words, lists=lists)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in output.iterdir() if path.name.startswith(".")) == []
    return done.stderr


def refused(output: Path, *words: str | Path, lists: str = "", version: str = VERSION, status: int = 1) -> str:
    """Return the standard error of a build that is refused, and leaves nothing behind."""
    done = build(output, *words, lists=lists, version=version)
    assert done.returncode == status, done
    assert "Traceback" not in done.stderr
    assert not output.exists() or not list(output.iterdir())
    return done.stderr


def wheel(dist: Path, name: str) -> zipfile.ZipFile:
    (path,) = dist.glob(f"{name}-{VERSION}-py3-none-*.whl")
    return zipfile.ZipFile(path)


def platform_files(dist: Path, name: str) -> set[str]:
    """Return the files that a wheel has below its platform directory."""
    names = (path.partition("/") for path in wheel(dist, name).namelist())
    return {path for directory, _, path in names if directory.startswith("_rocm") and path != "__init__.py"}


def development(dist: Path) -> dict[str, tarfile.TarInfo]:
    data = wheel(dist, "rocm_sdk_devel").read("rocm_sdk_devel/_devel.tar")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {each.name.removeprefix("_rocm_sdk_devel/"): each for each in archive}


def search_path(archive: zipfile.ZipFile, name: str, directory: Path) -> list[str]:
    told = subprocess.check_output(["readelf", "-d", archive.extract(name, directory)], text=True)
    (line,) = (line for line in told.splitlines() if "PATH)" in line)
    assert "(RPATH)" in line
    return line.partition("[")[2].rstrip("]").split(":")


def extras(dist: Path) -> set[str]:
    with tarfile.open(dist / f"rocm-{VERSION}.tar.gz") as archive:
        file = archive.extractfile(f"rocm-{VERSION}/selector.json")
        assert file is not None
        return set(json.load(file)["extras"])


def small(root: Path) -> Prefix:
    prefix = Prefix(root)
    prefix.library("lib/libamdhip64.so.7.1")
    prefix.library("lib/librocrand.so.1.1")
    return prefix
