"""Small indexes of each shape: those that `rocm-sdk-build` writes, with libraries that load, and AMD's layouts."""

import gzip
import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

from artifact_tree import usual_tree
from installed_rocm import usual_rocm
from package_index import write_wheel
from sample_closure import closure, write_sdk
from stored_builds import stored

from rocm_sdk_build.building import prefix
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.packages.wish import Wish

ROOT = Path(__file__).resolve().parents[2]
VERSION = "7.1.2"
# In place of AMD's setup.py: the wheel that it would make on this machine.
_PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
_BACKEND = """
import shutil

def build_wheel(directory, config_settings=None, metadata_directory=None):
    shutil.copy("{name}", directory)
    return "{name}"
"""


def _artifacts(directory: Path, *, kpack: bool, families: str | None = None) -> None:
    tree = usual_tree(directory / "artifacts", kpack=kpack)
    build(Wish([tree.root], directory, VERSION, linux_families=families, is_checked=False), read_rules())


def _prefix(directory: Path, *, families: str | None = None, is_split: bool = False) -> None:
    root = usual_rocm(directory / "rocm").root
    packages = Wish([root], directory / "out", VERSION, dist=directory / "dist", is_checked=False)
    prefix.build(prefix.PrefixWish(packages, families=families, is_split=is_split))


def _closure(directory: Path) -> None:
    sdk = write_sdk(directory / "site")
    words = ("--library", "rocblas", "--gpu", "gfx90a", "--form", "wheels", "--output", directory / "dist")
    closure(sdk, *words)


def _split_for_one(directory: Path) -> None:
    tree = usual_tree(directory / "artifacts")
    for path in tree.root.glob("*_gfx1100"):
        shutil.rmtree(path)
    build(Wish([tree.root], directory, VERSION, is_checked=False), read_rules())


def _sdk_of_amd(directory: Path, libraries: str, more: tuple[str, ...] = (), extras: str = "") -> None:
    """Write rocm as a source distribution of another packager, core and libraries."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("rocm-sdk-core", libraries):
        write_wheel(directory, name, VERSION)
    needed = (f"rocm-sdk-core=={VERSION}", f'{libraries}=={VERSION}; extra == "libraries"', *more)
    wheel = write_wheel(directory, "rocm", VERSION, needed, f"libraries{extras}")
    metadata = "".join(f"Provides-Extra: {each}\n" for each in f"libraries{extras}".split(","))
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: rocm\nVersion: {VERSION}\n{metadata}".encode(),
        "pyproject.toml": _PYPROJECT.encode(),
        "backend.py": _BACKEND.format(name=wheel.name).encode(),
        wheel.name: wheel.read_bytes(),
    }
    wheel.unlink()
    write_source_archive(directory, f"rocm-{VERSION}", files)


def write_source_archive(directory: Path, base: str, files: dict[str, bytes]) -> None:
    with gzip.open(directory / f"{base}.tar.gz", "wb") as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{base}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _multi_arch(directory: Path) -> None:
    targets = ("gfx942", "gfx1100")
    for target in targets:
        write_wheel(directory, f"rocm-sdk-device-{target}", VERSION)
    packages = tuple(f'rocm-sdk-device-{each}=={VERSION}; extra == "device-{each}"' for each in targets)
    _sdk_of_amd(directory, "rocm-sdk-libraries", packages, "".join(f",device-{each}" for each in targets))


def _one_family(directory: Path) -> None:
    _sdk_of_amd(directory, "rocm-sdk-libraries-gfx110x-all")


Make = Callable[[Path], None]

# Shape -> what makes its packages below a directory, and where they are then, the first with the pages.
OWN: dict[str, tuple[Make, tuple[str, ...]]] = {
    "split": (lambda directory: _artifacts(directory, kpack=True), ("dist",)),
    "split for one": (_split_for_one, ("dist",)),
    "family": (lambda directory: _artifacts(directory, kpack=False), ("dist/gfx110X-all", "dist")),
    "prefix": (_prefix, ("dist",)),
    "prefix, split": (lambda directory: _prefix(directory, is_split=True), ("dist",)),
    "prefix, families": (lambda directory: _prefix(directory, families="gfx103X-all,gfx90a"), ("dist/gfx90a", "dist")),
    "closure": (_closure, ("dist",)),
}
AMD: dict[str, tuple[Make, tuple[str, ...]]] = {
    "multi-arch": (_multi_arch, ("",)),
    "one family": (_one_family, ("",)),
}


def write_shape(directory: Path, shape: str, *, with_loader: bool = True) -> Path:
    """Make an index of a shape, and return the directory that has `simple/`.

    The files of the index are in `directory`.
    """
    make, places = (OWN | AMD)[shape]

    def make_packages(place: Path) -> None:
        place.mkdir(parents=True)
        make(place)

    stored(directory, shape, make_packages)
    first, *roots = (directory / place for place in places)
    if with_loader and shape in OWN:
        (loader,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
        shutil.copy(loader, first)
    write_index(first, roots)
    return first
