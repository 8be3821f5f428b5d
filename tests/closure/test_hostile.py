"""Closures of installations that are damaged or were made to do harm; and of users without rights."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import pytest
from deep_directories import deep_directory
from ended import assert_failed
from other_user import USER, OtherUser, has_user_namespaces
from sample_closure import PROVED, VERSION, closure, names_in, write_application, write_distribution
from sample_site import CORE, LIBRARIES, clean_environment

from rocm_sdk.installed.distributions import Distribution
from rocm_sdk_build.closure.source_sdk import _package_of

INFO = f"rocm_sdk_libraries-{VERSION}.dist-info"


@pytest.fixture
def own(sdk: Path, tmp_path: Path) -> Path:
    """Return a copy of the SDK that a test changes."""
    return Path(shutil.copytree(sdk, tmp_path / "own/site", symlinks=True))


def refused(own: Path, output: Path, *words: str | Path) -> str:
    done = closure(own, "--library", "hipsparse", *words, "--output", output, check=False)
    assert done.returncode == 1, done.stdout
    assert not output.exists()
    assert [path.name for path in output.parent.iterdir()] == ["own"]
    assert "Traceback" not in done.stderr
    return done.stderr


def add_row(own: Path, row: str) -> None:
    with (own / INFO / "RECORD").open("a", encoding="utf-8") as file:
        file.write(f"{row}\n")


def test_a_row_that_leads_out(own: Path, tmp_path: Path) -> None:
    add_row(own, "/etc/passwd,,")
    assert "RECORD lists '/etc/passwd', which is not a file of a package" in refused(own, tmp_path / "out")


def test_rows_of_scripts_are_not_files(own: Path, tmp_path: Path) -> None:
    add_row(own, "../../../../../../../../etc/passwd,,")
    closure(own, "--library", "hipsparse", "--output", tmp_path / "out")
    assert "passwd" not in names_in(tmp_path / "out")


def test_a_link_to_a_file_of_others(own: Path, tmp_path: Path) -> None:
    secret = tmp_path / "own/secret"
    secret.write_text("private")
    (own / LIBRARIES / "lib/secret.dat").symlink_to(secret)
    add_row(own, f"{LIBRARIES}/lib/secret.dat,sha256=AAAA,7")
    assert "the file behind the link is not the one of RECORD" in refused(own, tmp_path / "out")


def test_a_directory_that_is_a_link(own: Path, tmp_path: Path) -> None:
    (own / LIBRARIES / "lib").rename(tmp_path / "own/lib")
    (own / LIBRARIES / "lib").symlink_to(tmp_path / "own/lib")
    assert "a directory of its path is a symbolic link" in refused(own, tmp_path / "out")


def test_how_often_a_directory_is_looked_at(own: Path) -> None:
    """Once for all of its files: a package has thousands."""
    for number in range(100):
        (own / LIBRARIES / f"lib/{number}.dat").touch()
        add_row(own, f"{LIBRARIES}/lib/{number}.dat,,")
    distribution = Distribution(str(own / INFO))
    directories = {Path(row.path).parent for row in distribution.files}
    looks = []

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is os.path.realpath.__code__:
            looks.append(event)

    sys.setprofile(count)
    try:
        package = _package_of(str(own), distribution)
    finally:
        sys.setprofile(None)
    assert f"{LIBRARIES}/lib/99.dat" in package.files
    assert 0 < len(looks) <= 2 * len(directories) < 100


def test_a_relative_link_that_leads_out(own: Path, tmp_path: Path) -> None:
    (own / LIBRARIES / "lib/out.so").symlink_to("../../../../secret")
    add_row(own, f"{LIBRARIES}/lib/out.so,,")
    assert "the link leads out of the packages" in refused(own, tmp_path / "out")


def test_a_device_in_place_of_a_file(own: Path, tmp_path: Path) -> None:
    os.mkfifo(own / LIBRARIES / "lib/pipe.dat")
    add_row(own, f"{LIBRARIES}/lib/pipe.dat,,")
    assert "is neither a file nor a link" in refused(own, tmp_path / "out")


def test_a_damaged_library(own: Path, tmp_path: Path) -> None:
    library = own / LIBRARIES / "lib/librocsparse.so.1"
    library.write_bytes(library.read_bytes()[:200])
    assert "librocsparse.so.1" in refused(own, tmp_path / "out")


def test_metadata_of_another_version(own: Path, tmp_path: Path) -> None:
    metadata = own / INFO / "METADATA"
    metadata.write_text(metadata.read_text().replace(f"Version: {VERSION}", "Version: 1.0"))
    assert f"{INFO}: METADATA does not say" in refused(own, tmp_path / "out")


@pytest.mark.parametrize("text", ["def (", "-" * 100_000 + "1", "x" + ".x" * 100_000 + "(", "(" * 100_000, "\0"])
def test_a_list_of_libraries_that_is_no_python(own: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "own/app").mkdir()
    (tmp_path / "own/app/_rocm_init.py").write_text(text)
    message = refused(own, tmp_path / "out", "--for", tmp_path / "own/app")
    assert "_rocm_init.py: cannot be read as a list of libraries" in message
    assert len(message) < 1000


def test_a_list_is_not_run(own: Path, tmp_path: Path) -> None:
    (tmp_path / "own/app").mkdir()
    (tmp_path / "own/app/_rocm_init.py").write_text(
        f"open({str(tmp_path / 'own/was-run')!r}, 'w')\ninitialize(preload_shortnames=['rccl'])\n"
    )
    closure(own, "--for", tmp_path / "own/app", "--output", tmp_path / "out")
    assert not (tmp_path / "own/was-run").exists()
    assert "librccl.so.1" in names_in(tmp_path / "out")


def test_no_installed_packages(own: Path, tmp_path: Path) -> None:
    for info in own.glob("*.dist-info"):
        shutil.rmtree(info)
    assert "no RECORD lists its files" in refused(own, tmp_path / "out")


def test_a_library_that_an_override_replaces(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "own/libamdhip64.so.7"
    shutil.copy(own / CORE / "lib/libamdhip64.so.7", other)
    words = ("--library", "hipsparse", "--output", tmp_path / "out")
    done = closure(own, *words, check=False, ROCM_SDK_LIBRARY_amdhip64=str(other))
    assert "would be loaded in place of the SDK's" in done.stderr
    assert "fix: unset ROCM_SDK_LIBRARY_amdhip64\n" in done.stderr


@pytest.mark.slow
def test_links_of_an_installer(own: Path, tmp_path: Path) -> None:
    """The link mode `symlink` of uv makes each file an absolute link into a cache."""
    cache = tmp_path / "own/cache"
    cache.mkdir()
    for number, path in enumerate(sorted(path for path in own.rglob("*") if path.is_file() and not path.is_symlink())):
        path.rename(cache / str(number))
        path.symlink_to(cache / str(number))
    closure(own, PROVED, "--library", "rocblas", "--gpu", "gfx1030", "--output", tmp_path / "out")
    assert {"librocblas.so.5", "Kernels.so-000-gfx1030.hsaco"} <= names_in(tmp_path / "out")
    assert "Kernels.so-000-gfx942.hsaco" not in names_in(tmp_path / "out")
    links = [path for path in (tmp_path / "out").rglob("*") if path.is_symlink()]
    assert [str(path.readlink()) for path in links] == ["librocblas.so.5"]


@pytest.mark.slow
def test_rows_of_an_application_that_lead_out(sdk: Path, tmp_path: Path) -> None:
    """Files elsewhere that a RECORD of others names are not linked into the proof's root, where files are written."""
    site, outside = tmp_path / "app-site", tmp_path / "etc"
    (site / "app").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("private")
    (site / "app/__init__.py").write_text(
        "import os, rocm_sdk\nrocm_sdk.preload_libraries('hipsparse')\n"
        f"assert not os.path.exists({str(outside / 'secret')!r})\n"
    )
    write_application(site / "app", sdk, "libhipsparse.so.4")
    write_distribution(site, "app", "1.0", ("app",))
    with (site / "app-1.0.dist-info/RECORD").open("a") as record:
        record.write("../etc/secret,,\n")
    variables = {"PYTHONPATH": f"{sdk}:{site}"}
    done = closure(sdk, PROVED, "--for", "app", "--output", tmp_path / "out", **variables)
    assert "app imported" in done.stdout
    assert (outside / "secret").read_text() == "private"


@pytest.mark.slow
def test_a_kill_leaves_nothing_that_stays(sdk: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "rocm_sdk_build", "closure", "--library", "rocblas", "--gpu", "gfx1030"]
    environment = clean_environment() | {"PYTHONPATH": str(sdk)}
    for delay in (0.3, 0.6, 1.0, 1.5):
        process = subprocess.Popen(
            [*words, "--output", str(tmp_path / "out")], env=environment, stdout=subprocess.DEVNULL
        )
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "out").exists() or (tmp_path / "out/rocm_sdk_core/_dist_info.py").exists()
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    closure(sdk, "--library", "hipsparse", "--output", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_a_user_without_rights(sdk: Path, open_directory: Path, other_user: OtherUser) -> None:
    """The proof runs as root of a namespace of the user's, where the system allows one."""
    site = Path(shutil.copytree(sdk, open_directory / "site", symlinks=True))
    place = open_directory / "place"
    place.mkdir()
    place.chmod(0o777)
    words = ("-m", "rocm_sdk_build", "closure", "--library", "hipsparse", "--gpu", "gfx1030", "--output", place / "out")
    done = other_user.run(*words, PYTHONPATH=str(site))
    if not has_user_namespaces():
        assert_failed(done, 1, "this system gives no namespaces to run its code in without privileges (unshare --user:")
        return
    assert done.returncode == 0, done.stderr
    assert "tried where nothing else is" in done.stdout
    assert (place / "out").stat().st_uid == USER


def test_the_same_bytes_elsewhere(sdk: Path, tmp_path: Path) -> None:
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    for name in ("one", "other"):
        closure(sdk, "--for", extension, "--gpu", "gfx942", "--output", tmp_path / name)
    compared = subprocess.run(["diff", "-r", tmp_path / "one", tmp_path / "other"], capture_output=True, check=False)
    assert compared.returncode == 0, compared.stdout


@pytest.mark.slow
def test_an_application_with_deep_directories(sdk: Path, tmp_path: Path) -> None:
    with deep_directory(tmp_path / "application", 1000) as deep:
        done = closure(sdk, "--for", deep, "--output", tmp_path / "out", check=False)
        assert_failed(done, 1, f"{deep}: cannot read: directories lie in each other more than 128 deep")
        assert "Traceback" not in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["application"]


def test_a_deep_row(own: Path, tmp_path: Path) -> None:
    add_row(own, f"{LIBRARIES}/{'d/' * 1000}x,,")
    assert "which is more than 128 directories deep" in refused(own, tmp_path / "out")
