"""Closures as images: the same bytes whatever the machine, and an SDK that works where they are mounted."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from other_user import OtherUser
from own_mounts import need_mounts
from programs import completed
from sample_closure import PROVED, closure, errors_of
from sample_devel import as_root
from sample_site import CORE, LIBRARIES, clean_environment, run_interpreter
from system_programs import need

from rocm_sdk.base import processes
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.closure.writing.forms.table import writer_of

pytestmark = pytest.mark.long

WORDS = ("--library", "rocblas", "--tool", "hipcc", "--gpu", "gfx90a", "--no-proof")
PROGRAMS = {"squashfs": "mksquashfs", "erofs": "mkfs.erofs"}
PRELOADS = "import rocm_sdk; rocm_sdk.preload_libraries('rocblas'); print(rocm_sdk.locate('rocblas').path)"


@pytest.fixture(scope="module")
def site(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site") / "site"
    closure(sdk, *WORDS, "--output", output)
    return output


class Told(Wait):
    """A record of the reports about the reading of a directory."""

    def __init__(self, total: int | None = None) -> None:
        super().__init__("reading", total)
        self.steps: dict[str, int] = {}
        self.reached: list[int] = []

    def step(self, name: str = "", amount: int = 1) -> None:
        super().step(name, amount)
        self.steps[name] = amount

    def reach(self, done: int) -> None:
        super().reach(done)
        self.reached.append(self._done)


def write(form: str, site: Path, directory: Path, told: Told | None = None) -> Path:
    """Write a form of a copy of the directory; `told` gets the reports about reading it."""
    shutil.copytree(site, directory / "site", symlinks=True)
    (directory / "scratch").mkdir()
    writer_of(form, None)(directory / "site", directory / "output", directory / "scratch", told or Told())
    return directory / "output"


def bytes_of(output: Path) -> dict[str, bytes]:
    files = [output] if output.is_file() else sorted(path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output)): path.read_bytes() for path in files}


@pytest.mark.parametrize("form", ["squashfs", "erofs", "oci", "wheels"])
def test_the_same_bytes(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Whatever the umask, the time zone, the date of sources, the order and times of files."""
    need(*([PROGRAMS[form]] if form in PROGRAMS else []))
    (tmp_path / "a").mkdir()
    first = bytes_of(write(form, site, tmp_path / "a"))
    other = tmp_path / "other"
    for path in sorted(site.rglob("*"), reverse=True):
        target = other / path.relative_to(site)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            shutil.copyfile(path, target, follow_symlinks=False)
        if not path.is_symlink():
            target.chmod(0o700 if path.is_dir() or path.stat().st_mode & 0o100 else 0o600)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    if form != "wheels":  # of which the variable sets the dates
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1234567890")
    (tmp_path / "b").mkdir()
    before = os.umask(0o077)
    try:
        second = bytes_of(write(form, other, tmp_path / "b"))
    finally:
        os.umask(before)
    assert first == second
    if form != "wheels":
        assert (tmp_path / "b/output").stat().st_mode & 0o777 == 0o644


# ---- mounted


@pytest.fixture(scope="module")
def images(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with an image of each kind whose program is there."""
    directory = tmp_path_factory.mktemp("images")
    for form, program in PROGRAMS.items():
        if shutil.which(program) is not None:
            done = closure(sdk, *WORDS, "--form", form, "--output", directory / form)
            assert f" as {form}" in done.stdout.splitlines()[0]
    return directory


_MOUNTED = """
mount -t "$1" -o loop,ro "$2" "$3" || exit 77
shift 3; exec "$@"
"""
_TEST = """
import json, subprocess, sys
sys.path.insert(0, sys.argv[2])
from sample_closure import errors_of
from pathlib import Path
print(json.dumps(errors_of(Path(sys.argv[1]))))
"""


@as_root
@pytest.mark.parametrize("form", PROGRAMS)
def test_the_kernel_mounts_it(images: Path, tmp_path: Path, form: str) -> None:
    need(PROGRAMS[form])
    need_mounts()
    if f"\t{form}\n" not in Path("/proc/filesystems").read_text(encoding="utf-8"):
        pytest.skip(f"this kernel has no {form}")
    script = f"{PRELOADS}\n{_TEST}"
    words = [sys.executable, "-c", script, str(tmp_path), str(Path(__file__).parents[1])]
    done = completed(
        ["unshare", "--mount", "sh", "-c", _MOUNTED, "sh", form, str(images / form), str(tmp_path), *words],
        env=clean_environment() | {"ROCM_SDK_ROOT": str(tmp_path)},
    )
    if done.returncode == 77:
        pytest.skip(f"no image can be mounted here: {done.stderr.strip()}")
    assert done.stdout == f"{tmp_path}/{LIBRARIES}/lib/librocblas.so.5\n[]\n", done.stderr


@contextmanager
def mounting(image: Path, place: Path) -> Iterator[Path]:
    """Yield the mount point of a squashfs image, mounted by squashfuse."""
    need("mksquashfs", "squashfuse", "fusermount3")
    place.mkdir()
    done = completed(["squashfuse", image, place])
    if done.returncode:
        pytest.skip(f"squashfuse cannot mount here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["fusermount3", "-u", place], check=True)


@pytest.fixture
def mounted(images: Path, tmp_path: Path) -> Iterator[Path]:
    with mounting(images / "squashfs", tmp_path / "mounted") as place:
        yield place


def test_loads_from_an_image_read_ahead(sdk: Path, tmp_path: Path) -> None:
    need("mksquashfs")
    words = (PROVED, "--library", "rocblas", "--record-pages", "--form", "squashfs")
    closure(sdk, *words, "--output", tmp_path / "image")
    with mounting(tmp_path / "image", tmp_path / "mounted") as place:
        done = run_interpreter("-c", PRELOADS, ROCM_SDK_ROOT=str(place), ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1")
    assert f"reading ahead as {place}/{CORE}/lib/rocm-sdk.pages says (" in done.stderr


def test_squashfuse_mounts_it(mounted: Path) -> None:
    assert errors_of(mounted) == []
    environment = clean_environment() | {"ROCM_SDK_ROOT": str(mounted)}
    told = subprocess.check_output([sys.executable, "-c", PRELOADS], env=environment, text=True)
    assert told == f"{mounted}/{LIBRARIES}/lib/librocblas.so.5\n"


_AS_OTHER = """
import subprocess, sys
done = subprocess.run(["squashfuse", sys.argv[1], sys.argv[2]], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
subprocess.run([sys.executable, "-c", sys.argv[3]])
subprocess.run(["fusermount3", "-u", sys.argv[2]], check=True)
"""


def test_squashfuse_mounts_it_for_others(images: Path, other_user: OtherUser, open_directory: Path) -> None:
    """Where users may open /dev/fuse."""
    need("mksquashfs", "squashfuse", "fusermount3")
    place = open_directory / "mounted"
    place.mkdir()
    os.chown(place, 65534, 65534)
    shutil.copy(images / "squashfs", open_directory / "image")
    done = other_user.run("-c", _AS_OTHER, open_directory / "image", place, PRELOADS, ROCM_SDK_ROOT=str(place))
    # In a root without a table of mounts the user cannot unmount it; nobody else can look into it, not even root.
    subprocess.run(["umount", "-l", place], capture_output=True, check=False)
    if "/dev/fuse" in done.stderr:
        pytest.skip(f"ordinary users may not mount here: {done.stderr.strip()}")
    assert done.stdout == f"{place}/{LIBRARIES}/lib/librocblas.so.5\n", done.stderr


# ---- what goes wrong


@pytest.mark.parametrize("form", PROGRAMS)
def test_a_program_that_is_missing(sdk: Path, tmp_path: Path, form: str) -> None:
    """A missing program is told before the work begins."""
    done = closure(sdk, *WORDS, "--form", form, "--output", tmp_path / "out", check=False, PATH="/nonexistent")
    package = {"squashfs": "squashfs-tools", "erofs": "erofs-utils"}[form]
    assert done.stderr == (
        f"rocm-sdk-build: {PROGRAMS[form]}: not found\n"
        f"  fix: install it: apt-get install {package}, or dnf install {package}\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["oci", "wheels"])
def test_what_is_read_is_told(site: Path, tmp_path: Path, form: str) -> None:
    told = Told()
    write(form, site, tmp_path, told)
    files = {path.name: path.stat().st_size for path in site.rglob("*") if path.is_file() and not path.is_symlink()}
    assert {**files, **told.steps} == files
    assert sum(told.steps.values()) > 0.9 * sum(files.values())


@pytest.mark.parametrize("form", PROGRAMS)
def test_what_a_program_reads_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Bytes that compress badly: the program takes long enough to be looked at."""
    need(PROGRAMS[form])
    monkeypatch.setattr(processes, "_SECONDS_BETWEEN", 0.01)
    site = tmp_path / "of"
    site.mkdir()
    for name in "abc":
        (site / name).write_bytes(random.Random(name).randbytes(1_000_000))
    told = Told(3_000_000)
    write(form, site, tmp_path, told)
    assert told.reached == sorted(told.reached)
    assert 1_000_000 < told.reached[-1] <= 3_000_000


_FULL = """
import sys
from pathlib import Path
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.closure.writing.forms.table import writer_of
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.scratch import scratch_directory
form, site, place = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
try:
    with scratch_directory(place) as scratch:
        writer_of(form, None)(site, place / "out", scratch, Wait("writing"))
except (PackagingError, OSError) as error:
    print([path.name for path in place.iterdir()], str(error).replace("\\n", " "))
"""


@as_root
@pytest.mark.parametrize("form", ["squashfs", "erofs", "oci", "wheels"])
def test_a_full_disk(site: Path, tmp_path: Path, form: str) -> None:
    need(*([PROGRAMS[form]] if form in PROGRAMS else []))
    need_mounts()
    script = 'mount -t tmpfs -o size=40k none "$1" && shift && exec "$@"'
    words = [sys.executable, "-c", _FULL, form, str(site), str(tmp_path)]
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path), *words]
    done = completed(command, env=clean_environment())
    assert done.stdout.startswith("[] "), done.stdout + done.stderr
    assert "No space left" in done.stdout


def test_a_program_that_fails(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of the program are shown, with help."""
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin/mksquashfs", "echo damaged >&2; exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    (tmp_path / "a").mkdir()
    with pytest.raises(PackagingError, match="mksquashfs fails: damaged"):
        write("squashfs", site, tmp_path / "a")
    assert not (tmp_path / "a/output").exists()


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_killed_run(sdk: Path, tmp_path: Path) -> None:
    """Nothing has the name of the output; the program ends, and the next run removes what is left."""
    need("mksquashfs")
    (tmp_path / "bin").mkdir()
    waits = 'echo part >"$2"; echo $$ >"$STARTED.new"; mv "$STARTED.new" "$STARTED"; while :; do sleep 0.05; done'
    program(tmp_path / "bin/mksquashfs", waits)
    place = tmp_path / "place"
    place.mkdir()
    environment = clean_environment() | {"PYTHONPATH": str(sdk), "STARTED": str(tmp_path / "started")}
    environment["PATH"] = f"{tmp_path}/bin:{environment['PATH']}"
    words = ["-m", "rocm_sdk_build", "closure", *WORDS, "--form", "squashfs", "--output", str(place / "out")]
    with subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
    running = Path("/proc", (tmp_path / "started").read_text().strip())
    while running.exists() and "State:\tZ" not in (running / "status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert [path.name.startswith(".rocm-sdk-build-") for path in place.iterdir()] == [True]
    closure(sdk, *WORDS, "--form", "squashfs", "--output", place / "out")
    assert [path.name for path in place.iterdir()] == ["out"]
