"""The files of a wheel that `rocm-sdk check` unpacks, their place, and their removal."""

import os
import resource
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest
from checked_files import Call, compile_library, wheel
from own_mounts import need_mounts
from programs import completed
from sample_devel import as_root
from sample_site import clean_environment

from rocm_sdk.fit.verdicts import Question, judge
from rocm_sdk.fit.verdicts.subject import open_subject
from rocm_sdk.installed import installer
from rocm_sdk.installed.installer import installation_facts
from rocm_sdk.installed.view import current

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
SCRATCH = "rocm-sdk-check-"
GPU = ("--gpu", "gfx1030")


@as_root
def test_a_wheel_without_room(tmp_path: Path) -> None:
    need_mounts()
    app = compile_library(tmp_path / "app.so", None, "char room[200000] = {1};")
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {"sample/app.so": app})
    place = tmp_path / "small"
    place.mkdir()
    script = 'mount -t tmpfs -o size=100k small "$0" && exec "$@"'
    said = completed(
        ["unshare", "--mount", "sh", "-c", script, place, SCRIPT, "check", path, *GPU],
        env=clean_environment() | {"TMPDIR": str(place)},
    )
    assert said.returncode == 1
    why = f"the members that are read take more bytes than {place} has; TMPDIR names another place"
    assert why in said.stderr
    assert str(path) in said.stderr


def test_what_is_not_read_is_not_written(tmp_path: Path) -> None:
    """A wheel of modules, objects, archives and databases: its libraries, code and tables are unpacked alone."""
    so = compile_library(tmp_path / "app.so", None)
    path = wheel(
        tmp_path / "sample-1-py3-none-any.whl",
        {
            "x/app.so": so,
            "x/program": so,
            "x/kernels.co": b"code",
            "x/library/TensileLibrary.dat": b"table",
            "x/share/miopen/db/gfx942.kdb": b"database",
            "x/module.py": b"x = 1\n" * 100,
            "x/object.o": so,
            "x/static.a": b"!<arch>\n" + bytes(100),
            "x/aotriton.images/amd-gfx942/flash/one.aks2": b"image",
            "x/text.so": b"INPUT(libx.so.1)",
        },
    )
    with open_subject(str(path)) as subject:
        root = Path(subject.directories[0])
        found = {str(each.relative_to(root)): each.stat().st_size for each in root.rglob("*") if each.is_file()}
        assert found == {
            "x/app.so": so.stat().st_size,
            "x/program": so.stat().st_size,
            "x/kernels.co": 4,
            "x/library/TensileLibrary.dat": 5,
            "x/share/miopen/db/gfx942.kdb": 0,
        }
        assert subject.files == (str(root / "x/app.so"), str(root / "x/program"))
        assert [each.name for each in (root / "x/aotriton.images").iterdir()] == ["amd-gfx942"]
        assert list((root / "x/aotriton.images/amd-gfx942").iterdir()) == []


def test_two_members_of_one_name(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "sample-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.co", b"one")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("x.co", b"two")
    assert f"{path}/x.co: another member is in its place [E-CODE-004]" in call("check", str(path), *GPU).stderr
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.co", b"one")
        archive.writestr("x.co/y.co", b"two")
    assert f"{path}/x.co/y.co: another member is in its place [E-CODE-004]" in call("check", str(path), *GPU).stderr


def test_no_place_for_scratch(tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {"x.py": b""})
    # The interpreter itself takes no TMPDIR in which it cannot write.
    program = (
        "import tempfile, sys; tempfile.tempdir = sys.argv.pop(1); from rocm_sdk.cli import main; sys.exit(main())"
    )
    done = completed([sys.executable, "-c", program, tmp_path / "full", "check", path])
    assert done.returncode == 1
    assert f"{path}: cannot read: a directory in {tmp_path}/full cannot be made: " in done.stderr
    assert "TMPDIR names another place [E-FILE-007]" in done.stderr


MANY = 20_000


@pytest.mark.slow
def test_a_wheel_of_many_members(tmp_path: Path) -> None:
    """10,000 members a second, of which a few are read. In processor time: other tests run beside it."""
    path = tmp_path / "sample-1-py3-none-any.whl"
    so = compile_library(tmp_path / "app.so", None).read_bytes()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(MANY):
            archive.writestr(f"x/aotriton.images/amd-gfx11xx/d{number}/x", b"image")
            archive.writestr(f"x/d{number}/module.py", b"x = 1\n" * 20)
        archive.writestr("x/app.so", so)
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = completed([SCRIPT, "check", path, *GPU])
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.startswith(f"{path}: loads; no GPU code of its own; on ")
    assert end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime < 2 * MANY / 10_000


SHORT = Path("/bin/true").read_bytes()[:64]  # begins as a library, and is none


def test_what_fixes_need_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each broken library, all files beside it were listed, and the installer's settings read."""
    asked = []

    def counted(*words: object) -> dict[str, str]:
        asked.append(words)
        return installation_facts(*words)  # type: ignore[arg-type]

    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {f"x/{number}.so": SHORT for number in range(1000)})
    question = Question(("gfx1030",), current())
    monkeypatch.setattr(installer, "installation_facts", counted)
    verdict = judge(str(path), question)
    assert [each.code for each in verdict.problems] == ["E-LIB-006"]
    assert verdict.problems[0].cause.endswith(", and 999 more files")
    assert len(asked) <= 3


def test_faults_of_gpu_code_are_told_without_asking_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*words: object) -> dict[str, str]:
        asked.append(words)
        return installation_facts(*words)  # type: ignore[arg-type]

    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {f"x/{number}.co": SHORT for number in range(300)})
    monkeypatch.setattr(installer, "installation_facts", counted)
    verdict = judge(str(path), Question(("gfx1030",), current()))
    assert len(verdict.problems) == 300
    assert len(asked) <= 3


LIBRARIES, PLACES = 2048, 32_768


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("kind", ["libraries", pytest.param("files", marks=pytest.mark.slow), "directories"])
def test_the_most_that_is_unpacked_and_one_more(call: Call, tmp_path: Path, kind: str, more: int) -> None:
    """Nothing of a refused wheel is left."""
    place = tmp_path / "place"
    place.mkdir()
    deep = "/".join(["d"] * 99)
    names = {
        "libraries": [f"x/{number}.so" for number in range(LIBRARIES + more)],
        "files": [f"x/{number}.dat" for number in range(PLACES - 8 + more)],
        # 100 directories and a file each, and the rest in the first one
        "directories": [
            *(f"{number}/{deep}/x.dat" for number in range(PLACES // 801)),
            *(f"0/{deep}/{number}.dat" for number in range(PLACES % 801 + more)),
        ],
    }[kind]
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", dict.fromkeys(names, SHORT))
    said = call("check", str(path), *GPU, TMPDIR=str(place))
    wanted = {
        "libraries": "it has more than 2,048 libraries and programs",
        "files": "what is read of it takes as long as more than 32,768 files",
    }
    is_refused = f"{path}: {wanted.get(kind, wanted['files'])} [E-CODE-004]" in said.stderr
    assert is_refused == bool(more), said.stderr
    assert ("fix: unpack it and ask about the directory" in said.stderr) == bool(more)
    assert list(place.iterdir()) == []


def test_the_printed_fix_of_a_large_wheel(call: Call, tmp_path: Path) -> None:
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {f"x/{number}.so": SHORT for number in range(LIBRARIES + 1)})
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "unpacked")
    said = call("check", str(tmp_path / "unpacked"), *GPU)
    assert f"and {LIBRARIES} more files" in said.stdout


# ---- what is left


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a wheel whose check takes a while."""
    so = compile_library(tmp_path / "app.so", None).read_bytes()
    path = tmp_path / "large-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(2000):
            archive.writestr(f"x/lib{number}.so", so[:4096])
            archive.writestr(f"x/{number}.dat", so[:4096])
    return path


CHECK = ("check", *GPU)
INSTALL = ("install", "--print", "--gpu", "gfx1030")  # which looks at what the wheel is for


def begun(large: Path, place: Path, words: tuple[str, ...] = CHECK) -> subprocess.Popen[bytes]:
    """Start a check of the wheel, and return its process once it is at work."""
    place.mkdir(exist_ok=True)
    environment = clean_environment() | {"TMPDIR": str(place)}
    process = subprocess.Popen(
        [SCRIPT, *words, large], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not list(place.glob(f"{SCRATCH}*/files/x")):
        assert process.poll() is None
        time.sleep(0.001)
    return process


@pytest.mark.always
@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGHUP, INSTALL), (signal.SIGTERM, CHECK), (signal.SIGINT, CHECK)],
    ids=["SIGHUP install", "SIGTERM check", "SIGINT check"],
)
def test_a_signal_leaves_nothing(large: Path, tmp_path: Path, number: int, words: tuple[str, ...]) -> None:
    for pause in (0, 0.05, 0.2):
        process = begun(large, tmp_path / "place", words)
        time.sleep(pause)
        process.send_signal(number)
        status = process.wait(timeout=60)
        assert status == (130 if number == signal.SIGINT else -number)
        assert list((tmp_path / "place").iterdir()) == []


def test_a_check_in_another_thread(tmp_path: Path) -> None:
    """Only the main thread can take signals."""
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {"x.py": b""})
    program = """
import sys, threading
from rocm_sdk.cli import main
threading.Thread(target=lambda: print("status", main(["check", *sys.argv[1:]]))).start()
"""
    done = completed([sys.executable, "-c", program, path, *GPU])
    assert done.stdout.splitlines()[-1] == "status 3"
    assert not done.stderr


def test_a_signal_during_the_removal(large: Path, tmp_path: Path) -> None:
    process = begun(large, tmp_path / "place")
    process.send_signal(signal.SIGINT)
    for _ in range(20):
        time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)
    assert list((tmp_path / "place").iterdir()) == []


@pytest.mark.slow
def test_an_ignored_signal_stays_ignored(large: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    command = ["nohup", str(SCRIPT), "check", str(large), *GPU]
    environment = clean_environment() | {"TMPDIR": str(place)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not list(place.glob(f"{SCRATCH}*/files/x")):
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGHUP)
        assert process.wait() in (1, 3)


def test_the_next_run_removes_what_a_killed_one_left(large: Path, tmp_path: Path, call: Call) -> None:
    place = tmp_path / "place"
    process = begun(large, place)
    process.kill()
    process.wait()
    assert len(list(place.iterdir())) == 1
    (place / f"{SCRATCH}other").mkdir()
    (place / f"{SCRATCH}other/file").touch()  # of somebody else
    call("check", str(wheel(tmp_path / "sample-1-py3-none-any.whl", {"x.py": b""})), *GPU, TMPDIR=str(place))
    assert [path.name for path in place.iterdir()] == [f"{SCRATCH}other"]


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    ("sizes", "is_refused"),
    [([65], True), ([63], False), ([40, 40], True), ([20, 20, 20], False)],
    ids=["one", "a small one", "together", "small ones together"],
)
def test_what_a_few_bytes_become(call: Call, tmp_path: Path, sizes: list[int], is_refused: bool) -> None:
    """Zeros shrink a thousand times: 4 MB could become 4 GB, whose reading takes a minute."""
    path = wheel(
        tmp_path / "sample-1-py3-none-any.whl",
        {f"x/{number}.co": bytes(size * MEGABYTE) for number, size in enumerate(sizes)},
    )
    said = call("check", str(path), *GPU).stderr
    assert ("more than 256 times" in said) == is_refused, said
    assert ("unpack it and ask about the directory" in said) == is_refused
    assert ("[E-CODE-004]" in said) == is_refused
    if len(sizes) == 1 and is_refused:
        assert f"{path}/x/0.co: it unpacks to {sizes[0] * MEGABYTE} bytes" in said


def test_what_is_not_read_may_be_of_any_size(call: Call, tmp_path: Path) -> None:
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {"x/zeros.bin": bytes(65 * MEGABYTE)})
    assert call("check", str(path), *GPU).returncode == 3


def test_what_shrinks_as_code_does(call: Call, tmp_path: Path) -> None:
    """Above 64 MB, what shrinks 100 times is read."""
    part = os.urandom(10_000) + bytes(990_000)
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {"x/one.co": part * 70})
    assert "256 times" not in call("check", str(path), *GPU).stderr


@pytest.mark.parametrize("count", [10, 300])
def test_many_broken_libraries(call: Call, tmp_path: Path, count: int) -> None:
    """Libraries that are refused by their first bytes are counted.

    No files are made of many such libraries: the removal of the files alone took minutes.
    """
    files: dict[str, Path | bytes] = {f"x/lib{number:03}.so": b"\x7fELFno library" * 10 for number in range(count)}
    sound = compile_library(tmp_path / "app.so", None)
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", files | {"x/app.so": sound})
    said = call("check", str(path), *GPU)
    assert said.returncode == 1
    assert f"E-LIB-006: it is damaged: {path}/x/lib000.so: not an ELF file, and {count - 1} more files" in (
        said.stdout.replace(f"E-LIB-006: {path}/x/lib000.so is", "E-LIB-006: it is")
    )
    with open_subject(str(path)) as subject:
        names = [Path(each).name for each in subject.files]
    assert "app.so" in names
    assert len(names) == min(count, 64) + 1
