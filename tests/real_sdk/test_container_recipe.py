"""The recipe of docs/closure.md, as the page prints it: two stages on a Debian that debootstrap made."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample_closure
from programs import completed
from sample_closure import VERSION, write_sdk
from sample_devel import as_root
from system_programs import need

from rocm_sdk.base.value_text import size_text
from rocm_sdk.installed.record import read_record, record_text
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.wheels import writing
from rocm_sdk_build.closure.writing.forms.wheel_form import as_wheels

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "build/container-base"
PYTHON = "3.11"  # of Debian 12
CODE_SIZE = 5_000_000  # of each target in each library
APPLICATION = """\
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["hipsparse"])
print(rocm_sdk.locate("hipsparse").path)
"""

pytestmark = [as_root, pytest.mark.built_wheel, pytest.mark.long]


@pytest.fixture
def buildah(tmp_path: Path) -> Iterator[list[str]]:
    """Yield the command, with a storage of its own."""
    need("buildah", "debootstrap")
    possible = [ROOT / "scripts/debian-system", "possible"]
    done = completed(possible)
    if done.returncode:
        pytest.skip(f"no Debian system can be made here: {done.stderr.strip()}")
    storage = tmp_path / "storage"
    command = ["buildah", "--root", f"{storage}/root", "--runroot", f"{storage}/run", "--storage-driver"]
    has_overlay = subprocess.run([*command, "overlay", "info"], capture_output=True, check=False).returncode == 0
    command.append("overlay" if has_overlay else "vfs")  # which copies the whole image for each step
    yield command
    subprocess.run([*command, "rm", "--all"], capture_output=True, check=False)
    shutil.rmtree(storage, ignore_errors=True)


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the Containerfile, with all wheels."""
    directory = tmp_path / "context"
    directory.mkdir()
    monkeypatch.setattr(sample_closure, "CODE_SIZE", CODE_SIZE)
    sdk = write_sdk(tmp_path / "sdk")
    for record in sdk.glob("*.dist-info/RECORD"):
        record.write_text(record_text([row for row in read_record(str(record)).rows if not row.path.startswith("../")]))
    (tmp_path / "scratch").mkdir()
    as_wheels(sdk, directory / "wheels", tmp_path / "scratch", Wait("writing"))
    write_application(directory / "wheels")
    own = sorted((ROOT / "build/wheel").glob("*.whl"))
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
    command += ["--dest", str(directory / "wheels"), "--python-version", PYTHON, *map(str, own)]
    done = completed(command)
    if done.returncode:
        pytest.skip(f"pip cannot fetch what rocm-sdk-build requires: {done.stderr.strip().splitlines()[-1]}")
    page = (ROOT / "docs/closure.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^```dockerfile\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (directory / "Containerfile").write_text(recipe, encoding="utf-8")
    return directory


def write_application(directory: Path) -> None:
    files = {
        "application/__init__.py": "",
        "application/__main__.py": APPLICATION,
        "application/_rocm_init.py": APPLICATION.partition("print")[0],
        "application-1.0.dist-info/METADATA": (
            f"Metadata-Version: 2.4\nName: application\nVersion: 1.0\nRequires-Dist: rocm[libraries]=={VERSION}\n"
        ),
        "application-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with writing(directory / "application-1.0-py3-none-any.whl", "application-1.0.dist-info") as wheel:
        for name, text in files.items():
            with wheel.adding(name, len(text)) as member:
                member.write(text.encode())


def make_base() -> None:
    """Make a Debian with Python, once per machine."""
    if BASE.is_dir():
        return
    command = [ROOT / "scripts/debian-system", "make", BASE, "bookworm", "python3-venv,libelf1"]
    subprocess.run(command, check=True)
    for place in ("var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(BASE / place)


def size_of(run: Callable[..., str], image: str) -> int:
    """Return the bytes of the files of an image."""
    container = run("from", image)
    root = run("mount", container)
    size = sum(path.lstat().st_size for path in Path(root).rglob("*") if path.is_symlink() or path.is_file())
    run("rm", container)
    return size


@pytest.mark.timeout(600)
def test_the_recipe(buildah: list[str], context: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str | Path) -> str:
        done = completed([*buildah, *map(str, words)])
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    make_base()
    container = run("from", "scratch")
    run("add", "--quiet", container, BASE, "/")
    run("commit", "--quiet", "--rm", container, "base")
    words = ("bud", "--isolation", "chroot", "--layers=true", "--timestamp", "0", "--pull-never")
    options = ("--build-arg", "BASE=localhost/base", "--build-arg", "GPU=gfx942")
    told = run(*words, *options, "--target", "build", "--tag", "whole", context)
    assert "tried where nothing else is" in told
    run(*words, *options, "--tag", "small", context)
    container = run("from", "small")
    told = run("run", "--isolation", "chroot", container, "--", "/app/bin/python", "-m", "application")
    assert told == "/opt/rocm-sdk/_rocm_sdk_libraries/lib/libhipsparse.so.4"
    sizes = {name: size_of(run, name) for name in ("base", "whole", "small")}
    with capsys.disabled():
        print("".join(f"\nimage {name}: {size_text(size)}" for name, size in sizes.items()))
    assert sizes["small"] - sizes["base"] < (sizes["whole"] - sizes["base"]) / 4
