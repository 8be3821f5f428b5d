"""The store of compiled files of the tests: each result is made once, and lies in build/compiled by its inputs.

A result is copied to where a test wants it, never linked: a test may change its library in place, and root may write a
file that is read-only.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

STORE = Path(__file__).resolve().parent.parent / "build/compiled"

# Variables that change what a compiler makes.
VARIABLES = ("COMPILER_PATH", "CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "SOURCE_DATE_EPOCH")


def compile_file(
    command: Sequence[str | Path], output: Path, source: str = "", reads: Sequence[Path] = (), store: Path = STORE
) -> Path:
    """Run a compiler, whose standard input is `source`, or copy its earlier result of the same inputs.

    Each file that it reads is a word of the command of its own, a Path, or one of `reads`. Other words, and the source,
    name no file of a test; where they do, or where the result names a directory of a test, it is not kept.
    """
    files = [*(word for word in command if isinstance(word, Path)), *reads]
    directories = {str(directory) for path in (output, *files) for directory in (path.parent, path.parent.resolve())}
    key = _key(command, source, files, (tempfile.gettempdir(), *directories))
    output.unlink(missing_ok=True)
    if key is None or not (store / key).is_file():
        subprocess.run([*map(str, command), "-o", str(output)], input=source, text=True, cwd="/", check=True)
        content = output.read_bytes()
        if key is not None and not any(os.fsencode(directory) in content for directory in directories):
            _keep(output, store, key)
    else:
        shutil.copy(store / key, output)
    return output


def _key(command: Sequence[str | Path], source: str, files: Sequence[Path], private: Sequence[str]) -> str | None:
    """Return the name of the result in the store, or None where the result depends on more than the key can tell."""
    words = [_digest(word) if isinstance(word, Path) else word for word in command]
    texts = [*words, source]
    for path in sorted(files, key=lambda path: len(str(path)), reverse=True):
        texts = [text.replace(str(path), _digest(path)) for text in texts]
    if any(place in text for text in texts for place in private):
        return None
    settings = [f"{name}={os.environ.get(name)}" for name in VARIABLES]
    return hashlib.sha256(
        "\0".join([*identity(shutil.which(texts[0]) or texts[0]), *settings, *texts]).encode()
    ).hexdigest()


def _digest(path: Path) -> str:
    return f"{path.name}:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@cache
def identity(compiler: str) -> list[str]:
    """Return the version of the compiler at this path, and the files that work with it."""
    version = subprocess.run([compiler, "-v"], capture_output=True, text=True, check=True).stderr
    return [version, *_facts_of_files(compiler)]


def _facts_of_files(compiler: str) -> Iterator[str]:
    asked = ["-print-prog-name=cc1", "-print-prog-name=as", "-print-prog-name=ld", "-print-file-name=crti.o"]
    found = [subprocess.check_output([compiler, question], text=True).strip() for question in asked]
    for name in (compiler, *found, "ld.lld"):
        if place := shutil.which(name, mode=os.F_OK):
            facts = Path(place).stat()
            yield f"{place} {facts.st_size} {facts.st_mtime_ns}"


def _keep(file: Path, store: Path, key: str) -> None:
    """Keep a result as a whole or not at all, whoever else keeps the same."""
    store.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=store)
    with os.fdopen(descriptor, "wb") as target:
        target.write(file.read_bytes())
        os.fchmod(descriptor, file.stat().st_mode & 0o777)
        os.fsync(descriptor)
    Path(partial).replace(store / key)
