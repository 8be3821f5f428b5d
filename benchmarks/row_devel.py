"""The row `devel`: extracting a development tree, beside tarfile.extractall on the same file system; and later calls.

Every extraction has a directory of its own, and all go together at the end: many file systems are still busy with a
removal long after it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import random
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, difference, figure, in_turn, ratio
from .observation import observe, run_timed
from .stage import Stage

TREE = "_rocm_sdk_devel"
LIBRARIES = "_rocm_sdk_libraries"
VERSION = "1.0"
MEMORY = Path("/dev/shm")
SPACE = 12_000_000_000  # bytes, for all the trees of a full run

# `filter` came to Python 3.10 and 3.11 in a patch release (Debian 12 has an earlier one).
EXTRACT = """
import sys, tarfile
how = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
with tarfile.open(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2], **how)
"""
RECONCILE = """
import sys, time
sys.path.insert(0, sys.argv[1])
from rocm_sdk._devel import _reconcile_device_links
begin = time.perf_counter_ns()
made = _reconcile_device_links(sys.argv[1], sys.argv[2], sys.argv[3])
end = time.perf_counter_ns()
assert made == 0
print("interval", begin, end, sep="\\t")
"""


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row; extraction to memory is measured too where /dev/shm has more than SPACE free."""
    python = stage.environment(Shape.NONE).python
    figures = _expansions(stage, python, stage.directory, "disk", Target("at most", 1.0))
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > SPACE:
        figures += _expansions(stage, python, MEMORY, "tmpfs", Target("at most", 0.75))
    return figures + _calls(stage, python)


def _expansions(stage: Stage, python: Path, parent: Path, where: str, target: Target) -> list[Figure]:
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        archive = Path(directory, "_devel.tar")
        files = 500 if stage.is_smoke else 50_000
        _write_archive(archive, files)
        runs: dict[str, Callable[[], float]] = {
            "ours": partial(_expand, python, archive),
            "tarfile": partial(_extract, python, archive),
        }
        seconds = in_turn(stage.rounds(5), runs)
    what = f"extracting {files:,} files on {where}"
    return [
        figure(what, "s", seconds["ours"]),
        ratio(f"{what}, beside tarfile.extractall", seconds["ours"], seconds["tarfile"], target),
    ]


def _expand(python: Path, archive: Path) -> float:
    """Return the seconds that `rocm-sdk init` takes, including the wait for the disk."""
    site = Path(tempfile.mkdtemp(dir=archive.parent))
    (site / "rocm_sdk_devel").mkdir()
    (site / "rocm_sdk_devel/_devel.tar").hardlink_to(archive)
    _install(site, "rocm-sdk-devel", {"rocm_sdk_devel/__init__.py": b""}, archive)
    os.sync()
    return run_timed([str(python), "-m", "rocm_sdk", "init", "--quiet"], PYTHONPATH=str(site))


def _extract(python: Path, archive: Path) -> float:
    target = tempfile.mkdtemp(dir=archive.parent)
    os.sync()
    return run_timed([str(python), "-c", EXTRACT, str(archive), target])


def _calls(stage: Stage, python: Path) -> list[Figure]:
    """Return the time of a call after the extraction, with 5 device packages of 2,000 links each."""
    with tempfile.TemporaryDirectory(dir=stage.directory) as directory:
        site = Path(directory, "site")
        shutil.copytree(stage.environment(Shape.NONE).site, site, copy_function=os.link, symlinks=True)
        _remove_development_package(site)
        archive = site / "rocm_sdk_devel/_devel.tar"
        archive.parent.mkdir()
        _write_archive(archive, 100)
        _install(site, "rocm-sdk-devel", {"rocm_sdk_devel/__init__.py": b""}, archive)
        for target in ("gfx900", "gfx906", "gfx90a", "gfx942", "gfx1100"):
            _install_device(site, target, 20 if stage.is_smoke else 2_000)
        run_timed([str(python), "-m", "rocm_sdk", "init", "--quiet"], PYTHONPATH=str(site))
        reconcile = [str(python), "-I", "-c", RECONCILE, str(site), str(site / TREE), VERSION]
        script = str(python.with_name("rocm-sdk"))
        seconds = in_turn(
            stage.rounds(41),
            {
                "reconcile": lambda: observe(reconcile).seconds,
                "root": partial(run_timed, [str(python), script, "path", "--root"], PYTHONPATH=str(site)),
                "nothing": partial(run_timed, [str(python), "-c", "pass"], PYTHONPATH=str(site)),
            },
        )
    ms = {name: [value * 1e3 for value in values] for name, values in seconds.items()}
    return [
        figure("reconciling 10,000 device links with nothing to do", "ms", ms["reconcile"], Target("at most", 2.0)),
        difference("`rocm-sdk path --root` over `python -c pass`", "ms", ms["root"], ms["nothing"]),
        ratio("`rocm-sdk path --root` beside `python -c pass`", ms["root"], ms["nothing"], Target("at most", 1.25)),
    ]


def _remove_development_package(site: Path) -> None:
    for path in [*site.glob("rocm_sdk_devel*"), *site.glob(f"{TREE}*")]:
        shutil.rmtree(path)


def _write_archive(path: Path, files: int) -> None:
    """Write an archive with files of 8 KiB on average, a hundred in a directory."""
    chance = random.Random(1)
    content = chance.randbytes(1 << 20)
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo(f"{TREE}/__init__.py"))
        for number in range(files):
            member = tarfile.TarInfo(f"{TREE}/include/directory_{number // 100:04}/header_{number:06}.h")
            member.size = min(int(chance.expovariate(1 / 8192)), 1 << 18)
            start = chance.randrange(1 << 19)
            archive.addfile(member, io.BytesIO(content[start : start + member.size]))


def _install_device(site: Path, target: str, count: int) -> None:
    names = [f"lib/rocblas/library/{target}_{number}.co" for number in range(count)]
    links = [{"relpath": name, "target": f"../../../../{LIBRARIES}/{name}"} for name in names]
    manifest = json.dumps({"version": VERSION, "links": links}, indent=2).encode()
    files = {f"{LIBRARIES}/{name}": b"device code" for name in names}
    _install(site, f"rocm-sdk-device-{target}", files | {f"{LIBRARIES}/.devel_links/{target}.json": manifest})


def _install(site: Path, name: str, files: dict[str, bytes], archive: Path | None = None) -> None:
    """Write a package as pip does, RECORD too; `archive` is there already."""
    information = f"{name.replace('-', '_')}-{VERSION}.dist-info"
    files[f"{information}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION}\n".encode()
    rows = [f"{path},," for path in (*files, f"{information}/RECORD")]
    if archive is not None:
        rows.append(f"rocm_sdk_devel/_devel.tar,sha256={_digest(archive)},")
    for path, data in {**files, f"{information}/RECORD": "\n".join(rows).encode()}.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while data := file.read(1 << 20):
            digest.update(data)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
