"""The store of builds: equal wishes are built once, a test that writes into its copy changes no other."""

import os
import shutil
import subprocess
from multiprocessing import get_context
from pathlib import Path

import pytest
import stored_builds
from programs import completed
from stored_builds import stored


def make(directory: Path) -> None:
    (directory / "bin").mkdir(parents=True)
    (directory / "bin/tool").write_text("tool")
    (directory / "bin/tool").chmod(0o755)
    (directory / "link").symlink_to("bin/tool")
    os.utime(directory / "bin/tool", (1, 1))
    with (directory.parents[1] / "made").open("a") as log:
        log.write("x")


def ask(place: Path) -> None:
    stored(place / "sdk", "wish", make, place.parent / "store")


def times(directory: Path) -> int:
    return (directory / "made").stat().st_size


def test_workers_build_it_once_and_get_copies_of_their_own(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    with get_context("fork").Pool(3) as pool:
        pool.map(ask, places)
    assert times(tmp_path) == 1
    for place in places:
        assert (place / "sdk/link").read_text() == "tool"
        assert (place / "sdk/bin/tool").stat().st_mode & 0o777 == 0o755
        assert (place / "sdk/bin/tool").stat().st_mtime == 1
    (places[0] / "sdk/bin/tool").write_text("changed")
    assert (places[1] / "sdk/bin/tool").read_text() == "tool"
    ask(tmp_path / "d")
    assert (tmp_path / "d/sdk/bin/tool").read_text() == "tool"


def test_another_wish_or_source_is_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store"
    stored(tmp_path / "a/sdk", ("wish", 1), make, store)
    stored(tmp_path / "b/sdk", ("wish", 2), make, store)
    assert times(tmp_path) == 2
    monkeypatch.setattr(stored_builds, "_digest_of_builders", lambda: "another builder")
    stored(tmp_path / "c/sdk", ("wish", 2), make, store)
    assert times(tmp_path) == 3


def test_what_fails_is_not_kept_and_what_is_old_goes(tmp_path: Path) -> None:
    def fail(directory: Path) -> None:
        directory.mkdir(parents=True)
        raise OSError("full")

    store = tmp_path / "store"
    for _ in range(2):
        with pytest.raises(OSError, match="full"):
            stored(tmp_path / f"a{_}/sdk", "wish", fail, store)
    stored(tmp_path / "b/sdk", "old", make, store)
    (old,) = (each for each in store.iterdir() if each.is_dir())
    os.utime(old, (1, 1))
    stored(tmp_path / "c/sdk", "new", make, store)
    assert not old.exists()


# ---- tests/stored_compiler, with a cc that says how often it runs


def compile_with(directory: Path, *words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    cc = directory / "bin/cc"
    if not cc.exists():
        cc.parent.mkdir()
        cc.write_text(f'#!/bin/sh\necho "$@" >>{directory}/runs\nexec /usr/bin/gcc "$@"\n')
        cc.chmod(0o755)
        (directory / "tests").mkdir()
        shutil.copy(Path(stored_builds.__file__).with_name("stored_compiler"), directory / "tests")
    environment = {**os.environ, "PATH": f"{cc.parent}:{os.environ['PATH']}"}
    command = [directory / "tests/stored_compiler", *words]
    return completed(command, cwd=cwd, env=environment)


def test_a_program_is_compiled_once(tmp_path: Path) -> None:
    source, runs = tmp_path / "a.c", tmp_path / "runs"
    source.write_text("int main(void) { return VALUE; }")
    for target, value, expected in (("one", 3, 1), ("two", 3, 1), ("three", 4, 2)):
        assert compile_with(tmp_path, f"-DVALUE={value}", source, "-o", tmp_path / target).returncode == 0
        assert subprocess.run([tmp_path / target], check=False).returncode == value
        assert len([each for each in runs.read_text().splitlines() if "-E" not in each]) == expected
    source.write_text("int main(void) { return VALUE + 1; }")
    assert compile_with(tmp_path, "-DVALUE=3", source, "-o", tmp_path / "four").returncode == 0
    assert subprocess.run([tmp_path / "four"], check=False).returncode == 4
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o755


def test_an_object_has_what_its_headers_have(tmp_path: Path) -> None:
    """In any directory; the program is linked anew."""
    runs = tmp_path / "runs"
    for place, value, expected in (("one", 3, 2), ("two", 3, 3), ("three", 4, 5)):
        here = tmp_path / place
        here.mkdir()
        (here / "a.h").write_text(f"#define VALUE {value}\n")
        (here / "a.c").write_text('#include "a.h"\nint main(void) { return VALUE; }')
        words = ("-g", f"-I{here}", f"-ffile-prefix-map={here}=.", "-c", "a.c", "-o", here / "a.o")
        assert compile_with(tmp_path, *words, cwd=here).returncode == 0
        assert compile_with(tmp_path, here / "a.o", "-o", here / "a").returncode == 0
        assert subprocess.run([here / "a"], check=False).returncode == value
        assert len([each for each in runs.read_text().splitlines() if "-E" not in each]) == expected
    assert (tmp_path / "one/a.o").read_bytes() == (tmp_path / "two/a.o").read_bytes()


def test_what_cannot_be_compiled_is_said_each_time(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("this is no C")
    for _ in range(2):
        done = compile_with(tmp_path, tmp_path / "a.c", "-o", tmp_path / "a")
        assert (done.returncode, "error" in done.stderr, (tmp_path / "a").exists()) == (1, True, False)
    assert compile_with(tmp_path, "--version").stdout.startswith("gcc")
