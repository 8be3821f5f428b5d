"""A copy of the sources below build/, which `make mutants` changes and `make tier` measures."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def refresh(directory: Path) -> None:
    """Copy the files that git knows or would take, and remove files that are gone.

    Copied files are dated now: make compiles again the files that a killed run has compiled of another text.
    """
    names = _names(ROOT, "--cached", "--others", "--exclude-standard")
    for name in names:
        source, target = ROOT / name, directory / name
        if source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(source, target, follow_symlinks=False)
        elif source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for top in ("builder", "csrc", "rocm_sdk", "tests"):
        for target in [*(directory / top).rglob("*.py"), *(directory / top).rglob("*.[ch]")]:
            if target.relative_to(directory).as_posix() not in names:
                target.unlink()


def _names(directory: Path, *options: str) -> frozenset[str]:
    command = ["git", "ls-files", "-z", *options]
    names = subprocess.run(command, cwd=directory, capture_output=True, check=True).stdout.decode().split("\0")
    return frozenset(name for name in names if (directory / name).is_file())
