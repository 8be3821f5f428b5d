"""The row `slim`: keeping one target's code of the largest library, beside copying as much and reading that code."""

from __future__ import annotations

import subprocess
from pathlib import Path
from time import perf_counter

from sample_device_code import bundle, compressed, library, objects

from rocm_sdk import device_code
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.code.rewrite import NewCode, Rewritten, rewrite_file

from .figures import Figure, Target, figure, in_turn, ratio
from .stage import Stage

zstd = import_zstd()
TARGETS = ("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942")
KEEP = NewCode(("gfx1030",), check_loading=False)


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row: of the largest library, then of a library with compressed bundles."""
    directory = stage.directory / "slim"
    directory.mkdir()
    environment = stage.environment(Shape.NONE)
    if stage.has_sample_sdk:
        path = library(directory / "liblarge.so", [bundle(objects(*TARGETS))] * 3)
    else:
        path = environment.site / "_rocm_sdk_libraries/lib/librocsparse.so.0"
    return [*_plain(stage, path, directory), *_packed(stage, directory)]


def _plain(stage: Stage, path: Path, directory: Path) -> list[Figure]:
    output, copy = directory / "new.so", directory / "copy.so"
    made: list[Rewritten] = []

    def ours() -> float:
        output.unlink(missing_ok=True)
        made.append(rewrite_file(str(path), str(output), KEEP))
        return made[-1].seconds.writing

    def judge() -> float:
        copy.unlink(missing_ok=True)
        start = perf_counter()
        subprocess.run(["cp", "--reflink=never", str(output), str(copy)], check=True)
        _read_code(output)
        return perf_counter() - start

    runs = in_turn(stage.rounds(7), {"ours": ours, "judge": judge})
    last = made[-1]
    what = f"writing, {last.size_before / 1e6:.0f} -> {last.size / 1e6:.0f} MB, in times of cp and reading that code"
    return [
        ratio(what, runs["ours"], runs["judge"], Target("at most", 1.5)),
        figure("hashing the original, for the note", "ms", [each.seconds.hashing * 1e3 for each in made[1:]]),
        ratio(
            "verifying, without loading, in times of reading the new file and its code",
            [each.seconds.verifying for each in made[1:]],
            [_read_file(output) + _read_code(output) for _ in made[1:]],
        ),
    ]


def _packed(stage: Stage, directory: Path) -> list[Figure]:
    """Return the figures of compressed bundles, beside the time that libzstd alone takes for them."""
    size = 20_000 if stage.is_smoke else 2_000_000
    plain = bundle({name: _code(name, size) for name in objects(*TARGETS)})
    kept = bundle({name: _code(name, size) for name in objects(TARGETS[0])})
    packed = compressed(plain, 3)
    path = library(directory / "libpacked.so", [packed] * 8)
    options = {
        zstd.CompressionParameter.compression_level: 3,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }

    def ours() -> float:
        return rewrite_file(str(path), str(directory / "packed.so"), KEEP).seconds.writing

    def judge() -> float:
        start = perf_counter()
        for _ in range(8):
            zstd.decompress(packed[32:])
            zstd.compress(kept, options=options)
        return perf_counter() - start

    runs = in_turn(stage.rounds(7), {"ours": ours, "judge": judge})
    what = f"writing 8 compressed bundles of {len(plain) / 1e6:.0f} MB, in times of libzstd alone"
    return [ratio(what, runs["ours"], runs["judge"], Target("at most", 1.5))]


def _code(name: str, size: int) -> bytes:
    """Return code that is as compressible as real code: three quarters of it repeat within some kilobytes."""
    ((_, image),) = objects(name.rpartition("--")[2], size=size).items()
    piece = image[1024:2048]
    return b"".join(image[at : at + 1024] + piece * 3 for at in range(0, size // 4, 1024))[:size]


def _read_file(path: Path) -> float:
    start = perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return perf_counter() - start


def _read_code(path: Path) -> float:
    start = perf_counter()
    with path.open("rb", buffering=0) as file:
        for each in device_code(path).bundles:
            for image in each.images:
                file.seek(image.offset)
                file.read(image.size)
    return perf_counter() - start
