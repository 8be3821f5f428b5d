"""The build of the source distributions of loader, rocm-sdk-build and variant provider.

The script also builds the wheels of the last two.

The same sources give the same bytes in every place and at every time. setuptools would put dates, owners and modes of
the files here into a source distribution, so that the script packs each distribution anew. Each wheel has a bill of
materials (PEP 770), which names the source distribution that the wheel was built from.

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
from sbom import sbom_text

ROOT = Path(__file__).resolve().parents[1]


def main(words: list[str]) -> int:
    """Build the distributions and print the paths of all files in the output directory."""
    output = Path(words[0] if words else ROOT / "build/wheels").absolute()
    output.mkdir(parents=True, exist_ok=True)
    os.umask(0o022)
    date = subprocess.check_output([ROOT / "scripts/source-date"], text=True).strip()
    for name in (".", "builder", "variant_provider"):
        with tempfile.TemporaryDirectory() as scratch:
            tree = pack(ROOT / name, output, Path(scratch), date)
            if name != ".":  # the wheels of the loader come from portable_wheels.py
                build("--wheel", tree, Path(scratch, "wheel"), Path(scratch), date)
                add_sbom(Path(scratch), output / f"{tree.name}.tar.gz", output, date)
    for path in sorted(output.iterdir()):
        print(path)
    return 0


def pack(source: Path, output: Path, scratch: Path, date: str) -> Path:
    """Write a source distribution; return the directory of its files, which is below `scratch`."""
    build("--sdist", source, scratch / "plain", scratch, date)
    (archive,) = (scratch / "plain").iterdir()
    shutil.unpack_archive(archive, scratch / "files")
    (tree,) = (scratch / "files").iterdir()
    write_plain_tar(output / archive.name, [(tree.name, tree)], int(date))
    return tree


def add_sbom(scratch: Path, archive: Path, output: Path, date: str) -> None:
    """Write the wheel in `scratch` to the output, with the source distribution in its SBOM.

    The wheel was built from that source distribution.
    """
    (wheel,) = (scratch / "wheel").iterdir()
    run(["wheel", "unpack", "--dest", str(scratch / "unpacked"), str(wheel)], date)
    (tree,) = (scratch / "unpacked").iterdir()
    (dist_info,) = tree.glob("*.dist-info")
    name, version, *_ = wheel.name.split("-")
    (dist_info / "sboms").mkdir()
    text = sbom_text(name.replace("_", "-"), version, "MIT", (), int(date), [archive])
    (dist_info / "sboms" / f"{name}.cdx.json").write_text(text, encoding="utf-8")
    run(["wheel", "pack", "--dest-dir", str(output), str(tree)], date)


def build(kind: str, source: Path, output: Path, scratch: Path, date: str) -> None:
    """Run `python -m build` with the tools that are installed here, which the caller has pinned."""
    base = scratch / "setuptools"
    base.mkdir(exist_ok=True)
    settings = (
        scratch / "paths.cfg"
    )  # else files that setuptools leaves among the sources become part of the next build
    settings.write_text(f"[egg_info]\negg_base = {base}\n[build]\nbuild_base = {base}\n", encoding="utf-8")
    words = ["build", "--no-isolation", kind, "--outdir", str(output), str(source)]
    run(words, date, DIST_EXTRA_CONFIG=str(settings))


def run(words: list[str], date: str, **variables: str) -> None:
    """Run `python -m ...` of this environment; if the command fails, print its output and exit."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        env={**os.environ, "SOURCE_DATE_EPOCH": date, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(words)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
