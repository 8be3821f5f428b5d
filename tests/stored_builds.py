"""The store of builds that several tests start from: SDKs, wheels, pip, each built once.

A build lies in build/built, by its inputs. A test gets a copy, in which it may write. The name of a build is a digest
of the wish, of the code that builds (the loader, the builder, modules of the tests), of the interpreter and of the
compiler: a changed source makes another build.
"""

import fcntl
import hashlib
import inspect
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from compiled_files import identity

import rocm_sdk
import rocm_sdk_build

TESTS = Path(__file__).resolve().parent
STORE = TESTS.parent / "build/built"
_KEPT = 24 * 60 * 60  # seconds since a build was last used


def stored(directory: Path, wish: object, make: Callable[[Path], object], store: Path = STORE) -> Path:
    """Make this directory by `make`, or by a copy of its earlier result of an equal wish; return the directory.

    The result names neither the directory nor another one of a test.
    """
    source = Path(inspect.getsourcefile(make) or "").parent
    words = (repr(wish), make.__qualname__, _digest_of(source), _digest_of_builders())
    build = store / hashlib.sha256("\0".join(words).encode()).hexdigest()
    store.mkdir(parents=True, exist_ok=True)
    with build.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not build.exists():
            partial = build.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            make(directory)
            _copy(directory, partial)
            partial.rename(build)
            _forget(store)
        else:
            os.utime(build)
            _copy(build, directory)
    return directory


def _copy(source: Path, target: Path) -> None:
    """Copy with the times of files; blocks are shared where the file system can."""
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


def _forget(store: Path) -> None:
    """Remove builds that no test has used for long."""
    for build in store.iterdir():
        if build.is_dir() and build.stat().st_mtime < time.time() - _KEPT:
            shutil.rmtree(build, ignore_errors=True)


@cache
def _digest_of_builders() -> str:
    packages = [Path(str(module.__file__)).parent for module in (rocm_sdk, rocm_sdk_build)]
    texts = [*(_digest_of(package, "**/*") for package in packages), _digest_of(TESTS), sys.version, sys.prefix]
    return "\0".join([*texts, *identity(shutil.which("cc") or "cc")])


@cache
def _digest_of(directory: Path, pattern: str = "*.py") -> str:
    """Return a digest of the files in a directory, and of their names."""
    digest = hashlib.sha256()
    for path in sorted(_files(directory, pattern)):
        digest.update(f"{path.relative_to(directory)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(directory: Path, pattern: str) -> Iterator[Path]:
    return (path for path in directory.glob(pattern) if path.is_file() and path.suffix != ".pyc")
