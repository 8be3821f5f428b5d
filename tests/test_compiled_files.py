"""The store of what tests compile: equal work is done once, what differs is compiled, nothing spoils what is kept."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from compiled_files import compile_file

from rocm_sdk import _native

SHARED: tuple[str | Path, ...] = ("cc", "-shared", "-fPIC", "-Wl,--no-as-needed,--allow-shlib-undefined")
STDIN = ("-x", "c", "-", "-x", "none")
SOURCE = "int one(void) { return 1; }"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def kept(store: Path) -> list[Path]:
    return [*store.iterdir()] if store.exists() else []


def test_the_same_is_compiled_once(tmp_path: Path, store: Path) -> None:
    first = compile_file([*SHARED, *STDIN], tmp_path / "libone.so", SOURCE, store=store).read_bytes()
    (file,) = kept(store)
    assert first == file.read_bytes()
    file.write_bytes(b"what is in the store")
    second = compile_file([*SHARED, *STDIN], tmp_path / "elsewhere.so", SOURCE, store=store)
    assert second.read_bytes() == b"what is in the store"
    assert second.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("mode", ["r+b", "wb", "ab"])
def test_a_file_that_is_changed_in_place_does_not_spoil_the_store(tmp_path: Path, store: Path, mode: str) -> None:
    compile_one = partial(compile_file, [*SHARED, *STDIN], source=SOURCE, store=store)
    sound = compile_one(tmp_path / "first.so").read_bytes()
    for name in ("second.so", "third.so"):
        library = compile_one(tmp_path / name)
        assert library.read_bytes() == sound
        library.chmod(0o600)
        with library.open(mode) as file:
            file.write(b"damage")
    (file,) = kept(store)
    assert file.read_bytes() == sound
    assert file.stat().st_mode & 0o777 == 0o755


def test_whatever_differs_is_compiled(tmp_path: Path, store: Path) -> None:
    """Source, flag, the content of a file that is read, its name."""
    below, beside = tmp_path / "libbelow.so", tmp_path / "libbeside.so"
    compile_one = partial(compile_file, store=store)
    compile_one([*SHARED, *STDIN, "-Wl,-soname,libbelow.so"], below, SOURCE)
    compile_one([*SHARED, *STDIN, "-Wl,-soname,libbelow.so"], beside, SOURCE)
    assert below.read_bytes() == beside.read_bytes()
    needs_below = [*SHARED, *STDIN, below]
    compile_one([*SHARED, *STDIN, "-Wl,-soname,libbelow.so"], below, "int two;")
    made = [
        compile_one(command, tmp_path / "lib.so", source).read_bytes()
        for command, source in (
            ([*SHARED, *STDIN], SOURCE),
            ([*SHARED, *STDIN], "int two;"),
            ([*SHARED, "-g0", *STDIN], SOURCE),
            (needs_below, SOURCE),
            ([*SHARED, *STDIN, beside], SOURCE),
        )
    ]
    before = len(kept(store))
    compile_one([*SHARED, *STDIN, "-Wl,-soname,libother.so"], below, "int two;")
    made.append(compile_one(needs_below, tmp_path / "lib.so", SOURCE).read_bytes())
    assert len(kept(store)) == before + 2
    assert _native.inspect_library(str(tmp_path / "lib.so")).needed[0] == "libother.so"
    assert len(kept(store)) == 2 + 5 + 2
    assert made[0] != made[1] != made[3] != made[5]


def test_a_result_that_names_its_directory_is_not_kept(tmp_path: Path, store: Path) -> None:
    """A library without SONAME is needed by the path by which the linker was given it."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        nameless = compile_file([*SHARED, *STDIN], tmp_path / name / "libx.so", SOURCE, store=store)
        user = compile_file([*SHARED, *STDIN, nameless], tmp_path / name / "user.so", SOURCE, store=store)
        assert _native.inspect_library(str(user)).needed[0] == str(nameless)
    assert len(kept(store)) == 1


def test_what_a_word_names_is_not_in_the_key(tmp_path: Path, store: Path) -> None:
    """So nothing is kept, unless the file is said to be read."""
    script = tmp_path / "map"
    command = [*SHARED, *STDIN, f"-Wl,--version-script={script}"]
    for version in ("ONE", "TWO"):
        script.write_text(f"{version} {{ *; }};")
        library = compile_file(command, tmp_path / "lib.so", SOURCE, store=store)
        assert version.encode() in library.read_bytes()
    assert not kept(store)
    for version in ("ONE", "TWO", "ONE"):
        script.write_text(f"{version} {{ *; }};")
        library = compile_file(command, tmp_path / "lib.so", SOURCE, [script], store=store)
        assert version.encode() in library.read_bytes()
    assert len(kept(store)) == 2


def test_what_does_not_compile_leaves_nothing(tmp_path: Path, store: Path) -> None:
    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            compile_file([*SHARED, "-w", *STDIN], tmp_path / "lib.so", "#error", store=store)
    assert not kept(store)
    assert not (tmp_path / "lib.so").exists()


def test_processes_that_compile_the_same_at_once(tmp_path: Path, store: Path) -> None:
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from compiled_files import compile_file
for round in range(5):
    output = Path({str(tmp_path)!r}, sys.argv[1] + str(round))
    compile_file({[*SHARED, *STDIN]!r}, output, "int f(void) {{ return %d; }}" % round, store=Path({str(store)!r}))
"""
    processes = [subprocess.Popen([sys.executable, "-c", program, name]) for name in "abcd"]
    assert [process.wait() for process in processes] == [0] * 4
    assert len(kept(store)) == 5, "one file each, and nothing beside them"
    for number in range(5):
        assert len({(tmp_path / f"{name}{number}").read_bytes() for name in "abcd"}) == 1
