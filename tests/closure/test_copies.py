"""The way of unchanged files into a closure: by copies or links, and with the digests of RECORD."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from other_user import OtherUser
from own_mounts import need_mounts
from programs import completed
from sample_closure import VERSION, closure
from sample_devel import as_root
from sample_site import CORE, LIBRARIES, clean_environment

from rocm_sdk.fit.code.note import parse_history
from rocm_sdk.installed.record import digest_text, read_record, record_text
from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.code.bundles import read_code

WORDS = ("--library", "hipsparse", "--gpu", "gfx1030")
HIP = f"{CORE}/lib/libamdhip64.so.7"
SPARSE = f"{LIBRARIES}/lib/librocsparse.so.1"
FALSE_DIGEST = "sha256=" + "A" * 43


@pytest.fixture
def own(sdk: Path, tmp_path: Path) -> Path:
    """Return an SDK that a test may change.

    The RECORDs are the last files that were written, as installers leave them.
    """
    site = Path(shutil.copytree(sdk, tmp_path / "own/site", symlinks=True))
    for record in site.glob("*.dist-info/RECORD"):
        record_again(record)
    return site


def record_again(record: Path, **digests: str) -> None:
    """Write RECORD anew, later than all other files."""
    time.sleep(0.02)  # more than the kernel's clock for times of files takes for a tick
    rows = [row._replace(digest=digests.get(Path(row.path).name, row.digest)) for row in read_record(str(record)).rows]
    record.write_text(record_text(rows))


def record_of(site: Path, name: str) -> Path:
    (info,) = site.glob(f"{name}-{VERSION}*.dist-info")
    return info / "RECORD"


def digests_in(site: Path, name: str) -> dict[str, str]:
    return {row.path: row.digest for row in read_record(str(record_of(site, name))).rows}


def true_digest(path: Path) -> str:
    return digest_text(sha256_of(path))


def test_a_digest_of_record_is_not_computed_again(own: Path, tmp_path: Path) -> None:
    """A digest in RECORD of an unchanged file is copied, even a false one.

    The digest of a file that loses code is computed.
    """
    record_again(record_of(own, "rocm_sdk_core"), **{"libamdhip64.so.7": FALSE_DIGEST})
    record_again(record_of(own, "rocm_sdk_libraries"), **{"librocsparse.so.1": FALSE_DIGEST})
    closure(own, *WORDS, "--output", tmp_path / "out")
    assert digests_in(tmp_path / "out", "rocm_sdk_core")[HIP] == FALSE_DIGEST
    assert digests_in(tmp_path / "out", "rocm_sdk_libraries")[SPARSE] == true_digest(tmp_path / "out" / SPARSE)


def test_the_note_of_a_file_that_loses_code(own: Path, tmp_path: Path) -> None:
    """The note has the digest of the original from RECORD, and the true one if the original has changed since."""
    record_again(record_of(own, "rocm_sdk_libraries"), **{"librocsparse.so.1": FALSE_DIGEST})
    closure(own, *WORDS, "--output", tmp_path / "false")
    assert digest_in_note(tmp_path / "false" / SPARSE) == "0" * 64
    os.utime(own / SPARSE)
    closure(own, *WORDS, "--output", tmp_path / "true")
    assert digest_in_note(tmp_path / "true" / SPARSE) == sha256_of(own / SPARSE).hexdigest()


def digest_in_note(path: Path) -> str:
    with path.open("rb") as file:
        code = read_code(file.fileno(), str(path))
    assert code.history is not None
    return parse_history(code.history, str(path)).sha256


@pytest.mark.parametrize("hidden", [False, True], ids=["as it comes", "with the old time"])
def test_a_file_that_changed_after_installation(own: Path, tmp_path: Path, hidden: bool) -> None:
    """With the size that RECORD has, and even with the time that it had: its digest is computed."""
    time.sleep(0.02)
    facts = (own / HIP).stat()
    data = bytearray((own / HIP).read_bytes())
    data[24] ^= 1  # the entry point, which a library has no use for
    (own / HIP).write_bytes(data)
    if hidden:
        os.utime(own / HIP, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    closure(own, *WORDS, "--output", tmp_path / "out")
    told = digests_in(tmp_path / "out", "rocm_sdk_core")[HIP]
    assert told == true_digest(tmp_path / "out" / HIP) == true_digest(own / HIP)
    assert told != digests_in(own, "rocm_sdk_core")[HIP]


@pytest.mark.parametrize("digest", ["", "md5=AAAA", "sha256=short", FALSE_DIGEST + "A", "sha256=" + "é" * 43])
def test_a_digest_that_is_none(own: Path, tmp_path: Path, digest: str) -> None:
    record_again(record_of(own, "rocm_sdk_core"), **{"libamdhip64.so.7": digest})
    closure(own, *WORDS, "--output", tmp_path / "out")
    assert digests_in(tmp_path / "out", "rocm_sdk_core")[HIP] == true_digest(own / HIP)


# ---- links


@pytest.mark.slow
def test_hard_links_only_where_they_are_asked_for(own: Path, tmp_path: Path) -> None:
    closure(own, *WORDS, "--output", tmp_path / "copies")
    assert not (tmp_path / "copies" / HIP).samefile(own / HIP)
    closure(own, *WORDS, "--link-mode", "hardlink", "--output", tmp_path / "links")
    assert (tmp_path / "links" / HIP).samefile(own / HIP)
    assert not (tmp_path / "links" / SPARSE).samefile(own / SPARSE)
    (record,) = (tmp_path / "links").glob("rocm_sdk_core-*.dist-info/RECORD")
    assert record.stat().st_nlink == 1
    compared = subprocess.run(["diff", "-r", tmp_path / "copies", tmp_path / "links"], check=False)
    assert compared.returncode == 0


@pytest.mark.parametrize("more", [("--form", "wheels"), ("--form", "oci")], ids=lambda more: more[-1])
def test_links_for_a_directory_alone(own: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Other forms give files the modes that they have everywhere, and would change the modes of the SDK's files."""
    done = closure(own, *WORDS, *more, "--link-mode", "hardlink", "--output", tmp_path / "out", check=False)
    assert done.returncode == 2
    assert "--link-mode belongs to --form site" in done.stderr


@as_root
@pytest.mark.parametrize("mode", ["copy", "hardlink"])
@pytest.mark.parametrize("room", ["64m", "80k"])
def test_another_file_system(own: Path, tmp_path: Path, mode: str, room: str) -> None:
    """Files that can be neither linked nor cloned are copied.

    A disk that becomes full has nothing of the closure.
    """
    need_mounts()
    place = tmp_path / "place"
    place.mkdir()
    before = {path: path.stat().st_nlink for path in own.rglob("*") if path.is_file()}
    script = f'mount -t tmpfs -o size={room} none "$0" && "$@"; echo "status $?"; ls -A "$0"; sha256sum "$0/out/{HIP}"'
    words = (*WORDS, "--no-proof", "--link-mode", mode, "--output", str(place / "out"))
    command = ["unshare", "--mount", "sh", "-c", script, str(place), sys.executable, "-m", "rocm_sdk_build", "closure"]
    variables = clean_environment() | {"PYTHONPATH": str(own)}
    done = completed([*command, *words], env=variables)
    if room == "64m":
        assert sha256_of(own / HIP).hexdigest() in done.stdout, done.stderr
    else:
        assert done.stdout == "status 1\n"
        assert "No space left on device" in done.stderr
        assert ".rocm-sdk-build-" not in done.stderr
    assert {path: path.stat().st_nlink for path in before} == before


@pytest.mark.parametrize("lacking", ["", ":error=EXDEV"], ids=["copy_file_range", "without it"])
def test_the_kernel_copies_where_it_can(own: Path, tmp_path: Path, lacking: str) -> None:
    """FICLONE is tried first, then copy_file_range; where that fails, the command reads and writes."""
    words = (sys.executable, "-m", "rocm_sdk_build", "closure", *WORDS, "--no-proof", "--output", tmp_path / "out")
    tracing = ["strace", "-f", "-o", str(tmp_path / "calls"), "-e", "trace=ioctl,copy_file_range"]
    tracing += ["-e", f"inject=copy_file_range{lacking}"] if lacking else []
    variables = clean_environment() | {"PYTHONPATH": str(own)}
    subprocess.run([*tracing, *words], env=variables, check=True, capture_output=True)
    calls = (tmp_path / "calls").read_text()
    assert 0 < calls.index("FICLONE") < calls.index("copy_file_range(")
    assert (tmp_path / "out" / HIP).read_bytes() == (own / HIP).read_bytes()


def test_files_of_another_user(sdk: Path, open_directory: Path, other_user: OtherUser) -> None:
    """Files of another user are copied where the kernel protects them from links."""
    site = Path(shutil.copytree(sdk, open_directory / "site", symlinks=True))
    place = open_directory / "place"
    place.mkdir()
    place.chmod(0o777)
    words = ("-m", "rocm_sdk_build", "closure", *WORDS, "--no-proof", "--link-mode", "hardlink")
    done = other_user.run(*words, "--output", place / "out", PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    is_protected = Path("/proc/sys/fs/protected_hardlinks").read_text().strip() == "1"
    assert (place / "out" / HIP).samefile(site / HIP) is not is_protected
    assert (place / "out" / HIP).read_bytes() == (site / HIP).read_bytes()
