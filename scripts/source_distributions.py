"""Builds the source distributions of loader, rocm-sdk-build and variant provider, and the wheels of the last two.

The same sources give the same bytes, wherever and whenever that is: setuptools would put dates, owners and modes of the
files here into a source distribution, so that it is packed anew.

usage: source_distributions.py [DIRECTORY]      default: build/wheels
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from plain_tar import write_plain_tar

ROOT = Path(__file__).resolve().parents[1]


def main(words: list[str]) -> int:
    """Builds them and prints their paths."""
    output = Path(words[0] if words else ROOT / "build/wheels").absolute()
    output.mkdir(parents=True, exist_ok=True)
    date = subprocess.check_output([ROOT / "scripts/source-date"], text=True).strip()
    for name in (".", "builder", "variant_provider"):
        with tempfile.TemporaryDirectory() as scratch:
            tree = pack(ROOT / name, output, Path(scratch), date)
            if name != ".":  # the wheels of the loader come from portable_wheels.py
                build("--wheel", tree, output, Path(scratch), date)
    for path in sorted(output.iterdir()):
        print(path)
    return 0


def pack(source: Path, output: Path, scratch: Path, date: str) -> Path:
    """Writes a source distribution; returns its files, in a directory below `scratch`."""
    build("--sdist", source, scratch / "plain", scratch, date)
    (archive,) = (scratch / "plain").iterdir()
    shutil.unpack_archive(archive, scratch / "files")
    (tree,) = (scratch / "files").iterdir()
    write_plain_tar(output / archive.name, [(tree.name, tree)], int(date))
    return tree


def build(kind: str, source: Path, output: Path, scratch: Path, date: str) -> None:
    """Runs `python -m build` with what is installed here, which the caller has pinned."""
    base = scratch / "setuptools"
    base.mkdir(exist_ok=True)
    settings = (
        scratch / "paths.cfg"
    )  # else files that setuptools leaves among the sources become part of the next build
    settings.write_text(f"[egg_info]\negg_base = {base}\n[build]\nbuild_base = {base}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", kind, "--outdir", str(output), str(source)],
        env={**os.environ, "SOURCE_DATE_EPOCH": date, "DIST_EXTRA_CONFIG": str(settings)},
        umask=0o022,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {kind} of {source}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
