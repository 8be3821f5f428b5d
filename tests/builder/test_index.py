"""`rocm-sdk-build index`: pages that pip and uv install from."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from artifact_tree import usual_tree
from packaging.requirements import Requirement

from rocm_sdk_build.artifacts.build import Wish, build
from rocm_sdk_build.artifacts.rules import read_rules
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.index import write_index

ROOT = Path(__file__).resolve().parents[2]
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"


def make_wheel(directory: Path, name: str, version: str, metadata: str = METADATA) -> Path:
    path = directory / f"{name}-{version}-py3-none-any.whl"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}-{version}.dist-info/METADATA", metadata.format(name=name, version=version))
    return path


class Links(HTMLParser):
    """The attributes of the links of a page, by their texts."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: dict[str, dict[str, str | None]] = {}
        self.attributes: dict[str, str | None] | None = None
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes = dict(attrs) if tag == "a" else None

    def handle_data(self, data: str) -> None:
        if self.attributes is not None and data.strip():
            self.found[data] = self.attributes

    def handle_endtag(self, tag: str) -> None:
        del tag
        self.attributes = None


def sha256(data: bytes) -> str:
    return f"sha256={hashlib.sha256(data).hexdigest()}"


def test_pages(tmp_path: Path) -> None:
    one = make_wheel(tmp_path, "rocm_sdk_core", "7.10.0a20260811+bkc.20260813")
    two = make_wheel(tmp_path / "gfx94X-dcgpu", "rocm_sdk_devel", "7.10.0")
    pages = write_index(tmp_path)
    assert pages[0] == tmp_path / "simple/index.html"
    assert {text: link["href"] for text, link in Links(pages[0]).found.items()} == {
        "rocm-sdk-core": "rocm-sdk-core/",
        "rocm-sdk-devel": "rocm-sdk-devel/",
    }
    for page, wheel in zip(pages[1:], (one, two), strict=True):
        ((text, link),) = Links(page).found.items()
        assert text == wheel.name
        address, _, digest = str(link["href"]).partition("#")
        assert "+" not in address
        assert (page.parent / unquote(address)).resolve() == wheel
        assert digest == sha256(wheel.read_bytes())
        metadata = wheel.with_name(f"{wheel.name}.metadata").read_bytes()
        assert metadata == zipfile.ZipFile(wheel).read(zipfile.ZipFile(wheel).namelist()[0])
        assert link["data-core-metadata"] == link["data-dist-info-metadata"] == sha256(metadata)
        document = json.loads(page.with_name("index.json").read_text())
        (file,) = document["files"]
        assert document["meta"] == {"api-version": "1.1"}
        assert document["name"] == page.parent.name
        assert (file["filename"], file["url"], file["size"]) == (wheel.name, address, wheel.stat().st_size)
        assert f"sha256={file['hashes']['sha256']}" == digest
        assert f"sha256={file['core-metadata']['sha256']}" == sha256(metadata)


def test_again(tmp_path: Path) -> None:
    """What went is gone from the pages; an index that was left half-written does not matter."""
    make_wheel(tmp_path, "one", "1.0")
    gone = make_wheel(tmp_path, "two", "1.0")
    write_index(tmp_path)
    gone.unlink()
    (tmp_path / ".simple.partial").mkdir()
    make_wheel(tmp_path / ".hidden", "three", "1.0")
    assert [page.parent.name for page in write_index(tmp_path)] == ["simple", "one"]
    assert sorted(path.name for path in (tmp_path / "simple").iterdir()) == ["index.html", "one"]
    assert not (tmp_path / ".simple.partial").exists()


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackagingError, match="no packages"):
        write_index(tmp_path)
    odd = tmp_path / "odd.whl"
    odd.write_bytes(b"")
    with pytest.raises(PackagingError, match=r"odd\.whl: is not called as packages are"):
        write_index(tmp_path)
    damaged = odd.rename(tmp_path / "one-1.0-py3-none-any.whl")
    with pytest.raises(PackagingError, match="no readable wheel"):
        write_index(tmp_path)
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("one/__init__.py", "")
    with pytest.raises(PackagingError, match="has no METADATA"):
        write_index(tmp_path)
    assert not (tmp_path / "simple").exists()


def resolved(
    directory: Path, installer: str, index: Path, extras: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What the installer would install of `rocm[extras]`, from this index alone."""
    python = str(directory / "bin/python")
    uv = str(Path(sys.executable).with_name("uv"))
    command = {
        "pip": [python, "-m", "pip", "install", "--dry-run", "--no-cache-dir", "--disable-pip-version-check"],
        "uv": [uv, "pip", "install", "--dry-run", "--no-cache", "--no-python-downloads", "--python", python],
    }[installer]
    variables = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", **environment}
    words = [*command, "--index-url", index.as_uri(), f"rocm[{extras}]"]
    return subprocess.run(words, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with all packages of an SDK."""
    directory = tmp_path_factory.mktemp("index")
    wish = Wish([usual_tree(directory / "artifacts").root], directory, "7.10.0")
    build(wish, read_rules())
    for path in (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl"):
        shutil.copy(path, directory / "dist")
    write_index(directory / "dist")
    return directory / "dist"


@pytest.mark.built_wheel
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_every_extra_resolves_in_the_index(site: Path, tmp_path: Path, installer: str) -> None:
    venv.create(tmp_path / "venv", with_pip=installer == "pip")
    program = "import json, tarfile, sys; print(tarfile.open(sys.argv[1]).extractfile(sys.argv[2]).read().decode())"
    archive = str(site / "rocm-7.10.0.tar.gz")
    text = subprocess.check_output([sys.executable, "-c", program, archive, "rocm-7.10.0/selector.json"], text=True)
    extras = json.loads(text)["extras"]
    assert {
        "libraries",
        "device",
        "devel",
        "profiler",
        "device-all",
        "device-gfx942",
        "device-gfx1100",
    } == extras.keys()
    done = resolved(tmp_path / "venv", installer, site / "simple", ",".join(extras), ROCM_SDK_TARGET_FAMILY="gfx942")
    assert done.returncode == 0, done.stderr
    told = (done.stdout + done.stderr).lower().replace("_", "-")
    needed = [each.replace("{family}", "gfx942") for own in extras.values() for each in own]
    for each in ["rocm-sdk-core", "rocm-sdk-loader", *needed]:
        assert Requirement(each).name in told, told
