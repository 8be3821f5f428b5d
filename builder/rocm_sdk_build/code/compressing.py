"""The compression of streams piece by piece, as clang compresses bundles.

zlib comes from the standard library, zstd from Python 3.14 or its backport.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from .compression import ZLIB, zstd_module

_LEVEL = 3  # level of zstd, as clang takes it


def compressed(plain: Iterable[bytes], size: int, method: int, path: str) -> Iterator[bytes]:
    """Yield `size` plain bytes, compressed as clang does it."""
    if method == ZLIB:
        compressor: Any = zlib.compressobj()
    else:
        module = zstd_module(path)
        parameters = module.CompressionParameter
        options = {parameters.compression_level: _LEVEL, parameters.enable_long_distance_matching: 1}
        compressor = module.ZstdCompressor(options=options)
        compressor.set_pledged_input_size(size)
    for piece in plain:
        yield compressor.compress(piece)
    yield compressor.flush()
