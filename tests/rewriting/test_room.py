"""New files on a small file system: the room is looked for before anything is written, and nothing is left."""

import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_mounts import mounted
from programs import completed
from sample_devel import as_root
from sample_device_code import bundle, compressed, objects
from sample_site import clean_environment

from rocm_sdk import RewriteError
from rocm_sdk_build.code.rewrite import NewCode
from rocm_sdk_build.code.trees import rewrite_wheel
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.packages.trampoline import write_stub

KEEP = NewCode(("gfx1030",), check_loading=False)
ROOM = 1 << 20


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    with mounted(place, "-t", "tmpfs", "-o", f"size={ROOM}", "none"):
        yield place


def make_wheel(directory: Path, size: int) -> Path:
    """Make a wheel whose members have so many bytes."""
    path = directory / "pkg-1.0-py3-none-any.whl"
    code = bundle(objects("gfx1030", "gfx942"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pkg/kernels.co", code)
        archive.writestr("pkg-1.0.dist-info/RECORD", "")
        archive.writestr("pkg/rest", bytes(size - len(code)))
    return path


@as_root
@pytest.mark.parametrize("taken", [0, ROOM // 2], ids=["empty", "half full"])
def test_the_members_of_a_wheel_need_room_twice(small: Path, tmp_path: Path, taken: int) -> None:
    """As they were, and as they become."""
    (small / "taken").write_bytes(bytes(taken))
    free = os.statvfs(small)
    room = free.f_bavail * free.f_frsize
    wheel = make_wheel(tmp_path, room // 2 + 1)
    with pytest.raises(
        RewriteError, match=r"its members take more than the [0-9]+ bytes that are free for them, twice"
    ):
        rewrite_wheel(str(wheel), str(small / wheel.name), KEEP)
    assert [path.name for path in small.iterdir()] == ["taken"]
    wheel = make_wheel(tmp_path, room // 2 - 100_000)
    rewrite_wheel(str(wheel), str(small / wheel.name), KEEP)
    assert sorted(path.name for path in small.iterdir()) == [wheel.name, "taken"]


@as_root
def test_code_that_is_decompressed_needs_room(small: Path, tmp_path: Path) -> None:
    """Of the kept code alone. The rest is not written."""
    for number, (kept, dropped) in enumerate(((ROOM + 1, 1), (ROOM // 4, ROOM + 1))):
        entries = {"gfx1030": bytes(kept), "gfx942": bytes(dropped)}
        path = tmp_path / f"{number}.co"
        path.write_bytes(
            compressed(bundle({f"hipv4-amdgcn-amd-amdhsa--{name}": data for name, data in entries.items()}), 3)
        )
        words = ["code", str(path), "--keep", "gfx1030", "--output", str(small / "new.co")]
        done = completed([sys.executable, "-m", "rocm_sdk", *words], env={**clean_environment(), "TMPDIR": str(small)})
        if number == 0:
            cause = f"{path} cannot be rewritten: its code takes {kept} bytes when it is decompressed"
            assert f"{cause}, more than the disk has" in done.stderr
            assert (done.returncode, [*small.iterdir()]) == (1, [])
        else:
            assert (done.returncode, [each.name for each in small.iterdir()]) == (0, ["new.co"]), done.stderr


def test_a_program_for_a_link(small: Path, tmp_path: Path) -> None:
    """The compiler's failure is not taken for one of the compiler."""
    write_stub(tmp_path / "stub", "../bin/tool")
    (small / "other").write_bytes(bytes(ROOM - 8192))
    with pytest.raises(OSError, match="No space left on device"):
        write_stub(small / "stub", "../bin/tool")


def test_pages_of_packages(small: Path) -> None:
    """The error names the directory; the system's names none."""
    with zipfile.ZipFile(small / "rocm_sdk_core-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("rocm_sdk_core-1.0.dist-info/METADATA", "Name: rocm-sdk-core\nVersion: 1.0\n")
    (small / "other").write_bytes(bytes(ROOM - (small / "rocm_sdk_core-1.0-py3-none-any.whl").stat().st_size - 4096))
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_index(small)
    assert caught.value.filename == str(small)
    assert len(list(small.iterdir())) == 2
