"""`rocm-sdk-build index`: pages that pip and uv install from."""

import gzip
import hashlib
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from artifact_tree import usual_tree
from ended import assert_failed, assert_refused
from environments import UV, environment_with_pip
from other_user import OtherUser
from packaging.requirements import Requirement
from programs import completed
from stored_builds import stored
from system_calls import traced

from rocm_sdk import loader_version
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.new_file import OutputRefusedError
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.extras import LOADER_FIX
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.output.package_files import find_packages
from rocm_sdk_build.packages.wish import Wish

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
    assert json.loads((tmp_path / "simple/index.json").read_text()) == {
        "meta": {"api-version": "1.1"},
        "projects": [{"name": "rocm-sdk-core"}, {"name": "rocm-sdk-devel"}],
    }
    assert pages[-1] == tmp_path / "links.html"
    flat = {text: str(link["href"]).partition("#") for text, link in Links(pages[-1]).found.items()}
    assert {text: unquote(href) for text, (href, _, _) in flat.items()} == {
        one.name: one.name,
        two.name: f"gfx94X-dcgpu/{two.name}",
    }
    assert all(digest == sha256((tmp_path / unquote(href)).read_bytes()) for href, _, digest in flat.values())
    for page, wheel in zip(pages[1:-1], (one, two), strict=True):
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
    """Packages that went are gone from the pages; files that somebody else left there stay."""
    make_wheel(tmp_path, "one", "1.0")
    gone = make_wheel(tmp_path, "two", "1.0")
    write_index(tmp_path)
    gone.unlink()
    (tmp_path / ".simple.partial").mkdir()
    make_wheel(tmp_path / ".hidden", "three", "1.0")
    assert [page.parent.name for page in write_index(tmp_path)[:-1]] == ["simple", "one"]
    found = sorted(path.name for path in (tmp_path / "simple").iterdir() if not path.name.startswith("."))
    assert found == ["index.html", "index.json", "one"]
    assert (tmp_path / ".simple.partial").exists()


def test_the_index_is_there_all_the_time(tmp_path: Path) -> None:
    """A server gives its pages meanwhile, and kill -9 leaves one of the two."""
    make_wheel(tmp_path, "one", "1.0")
    write_index(tmp_path)
    make_wheel(tmp_path, "two", "1.0")
    make_wheel(tmp_path, "rocm_sdk_core", "1.0")
    words = [sys.executable, "-m", "rocm_sdk_build", "index", str(tmp_path)]
    calls = [line for line in traced(words, "rename,renameat,renameat2", tmp_path / "calls") if '/simple"' in line]
    assert len(calls) == 1
    assert "RENAME_EXCHANGE" in calls[0]
    assert (tmp_path / "simple/two/index.html").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".rocm-sdk")]


def test_what_the_user_has_there(tmp_path: Path) -> None:
    """Only what an earlier run has written is replaced."""
    wheel = make_wheel(tmp_path, "one", "1.0")
    (tmp_path / "simple").mkdir()
    (tmp_path / "simple/page.html").write_text("of the user")
    with pytest.raises(PackagingError, match="simple: is in the way: it was not made by an earlier run"):
        write_index(tmp_path)
    (tmp_path / "simple").rename(tmp_path / "elsewhere")
    (tmp_path / "simple").symlink_to("elsewhere")
    with pytest.raises(PackagingError, match="simple: is in the way: it is not a directory"):
        write_index(tmp_path)
    (tmp_path / "simple").unlink()
    write_index(tmp_path)
    (tmp_path / "simple/one/page.html").write_text("of the user")
    with pytest.raises(PackagingError, match=r"simple: is in the way: it has one/page\.html, which no earlier run"):
        write_index(tmp_path)
    (tmp_path / "simple/one/page.html").unlink()
    metadata = wheel.with_name(f"{wheel.name}.metadata")
    metadata.unlink()
    metadata.symlink_to("elsewhere/page.html")
    with pytest.raises(OutputRefusedError, match="symbolic link"):
        write_index(tmp_path)
    metadata.unlink()
    (tmp_path / "links.html").unlink()
    (tmp_path / "links.html").symlink_to("elsewhere/page.html")
    with pytest.raises(OutputRefusedError, match="symbolic link"):
        write_index(tmp_path)
    assert (tmp_path / "elsewhere/page.html").read_text() == "of the user"
    if os.geteuid() == 0:
        os.chown(tmp_path / "simple", 65534, 65534)
        with pytest.raises(PackagingError, match=r"simple: is in the way: it belongs to nobody \(user 65534\)"):
            write_index(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_a_package_that_is_no_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "one-1.0-py3-none-any.whl")
    with pytest.raises(PackagingError, match=r"one-1\.0-py3-none-any\.whl: is not a file"):
        write_index(tmp_path)


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackagingError, match="no packages"):
        write_index(tmp_path)
    odd = tmp_path / "odd.whl"
    odd.write_bytes(b"")
    with pytest.raises(PackagingError, match=r"odd\.whl: is not called as packages are"):
        write_index(tmp_path)
    damaged = odd.rename(tmp_path / "one-1.0-py3-none-any.whl")
    with pytest.raises(PackagingError, match="is damaged: no usable zip file"):
        write_index(tmp_path)
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("one/__init__.py", "")
    with pytest.raises(PackagingError, match="has no METADATA"):
        write_index(tmp_path)
    assert not (tmp_path / "simple").exists()


def test_a_directory_whose_name_begins_with_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(tmp_path / ".hidden", "one", "1.0")
    write_index(tmp_path / ".hidden")
    (tmp_path / ".hidden/below").mkdir()
    monkeypatch.chdir(tmp_path / ".hidden/below")
    write_index(Path(".."))
    assert (tmp_path / ".hidden/simple/one/index.html").exists()
    with pytest.raises(PackagingError, match="no packages"):
        write_index(tmp_path)


@pytest.mark.parametrize(
    "command", [["index"], ["promote", "--version", "1.1", "--output", "/tmp"]], ids=["index", "promote"]
)
def test_a_directory_that_another_user_keeps_to_himself(
    other_user: OtherUser, open_directory: Path, command: list[str]
) -> None:
    """The command is refused: packages of such a directory were left out without a word."""
    make_wheel(open_directory, "rocm_sdk_core", "1.1rc1")
    make_wheel(open_directory / "below", "rocm_sdk_libraries", "1.1rc1")
    (open_directory / "below").chmod(0o700)
    done = other_user.run("-m", "rocm_sdk_build", *command, open_directory)
    assert_refused(done, 1, f"{open_directory}/below: Permission denied\n  fix: let this user read it, or keep the")


def test_other_names_of_a_directory(tmp_path: Path) -> None:
    """The packages of a directory with several names are listed once, below its own name."""
    (tmp_path / "dist").mkdir()
    make_wheel(tmp_path / "dist/v2", "one", "2")
    (tmp_path / "dist/latest").symlink_to("v2")
    (tmp_path / "dist/loop").symlink_to(".")
    make_wheel(tmp_path / "elsewhere", "two", "1")
    (tmp_path / "dist/other").symlink_to("../elsewhere")
    found = [str(each.path.relative_to(tmp_path)) for each in find_packages(tmp_path / "dist")]
    assert found == ["dist/v2/one-2-py3-none-any.whl", "dist/other/two-1-py3-none-any.whl"]


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    directory = Path(os.fsdecode(os.fsencode(tmp_path) + b"/x\xff"))
    make_wheel(directory, "one", "1.0")
    write_index(tmp_path)
    assert "../../x%FF/one-1.0-py3-none-any.whl" in (tmp_path / "simple/one/index.html").read_text()


def test_a_marker_that_cannot_be_compared(tmp_path: Path) -> None:
    needs = METADATA + 'Requires-Dist: rocm-sdk-loader; os_name ~= "posix"\n'
    make_wheel(tmp_path, "rocm_sdk_core", "1.0", needs)
    with pytest.raises(PackagingError, match=r"rocm_sdk_core.*METADATA: is damaged"):
        write_index(tmp_path)


def _sparse() -> bytes:
    """Return a member of 2 GB that is a hole."""
    header = tarfile.TarInfo("rocm-1.0/selector.json")
    header.type, block = tarfile.GNUTYPE_SPARSE, bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[156:157] = tarfile.GNUTYPE_SPARSE
    block[483:495] = b"%011o\0" % (2 << 30)  # the real size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(1024)


def _leading_back() -> bytes:
    """Return a header whose size is negative, from which old releases of tarfile go back to the header."""
    header = tarfile.TarInfo("odd")
    header.size = -512
    return tarfile.TarInfo("first").tobuf() + header.tobuf(tarfile.GNU_FORMAT) + bytes(10240)


@pytest.mark.parametrize(
    "content", [_sparse(), lzma.compress(bytes(64 << 20)), _leading_back()], ids=["sparse", "xz", "negative"]
)
def test_a_selector_that_claims_much(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rocm-1.0.tar.gz").write_bytes(gzip.compress(content))
    ask = "import sys; from rocm_sdk_build.__main__ import main; sys.exit(main(sys.argv[1:]))"
    limited = ["prlimit", f"--as={1 << 30}", sys.executable, "-c", ask, "index", str(tmp_path)]
    done = completed(limited, timeout=60)
    assert_failed(done, 1, "rocm-1.0.tar.gz")
    assert "Traceback" not in done.stderr
    assert "MemoryError" not in done.stderr


def test_several_roots(tmp_path: Path) -> None:
    """Each root is listed with its wheels, where they are.

    A file in two roots is listed once; two different files of one name are refused.
    """
    own, other = tmp_path / "own", tmp_path / "other"
    for directory in (own, other):
        directory.mkdir()
    core = make_wheel(own, "rocm_sdk_core", "7.10.0")
    torch = make_wheel(other, "torch", "2.13.0")
    make_wheel(other / "below", "not_listed", "1.0")
    shutil.copy(core, other)
    pages = write_index(own, [other])
    assert [page.parent.name for page in pages] == ["simple", "rocm-sdk-core", "torch", "own"]
    (link,) = Links(pages[2]).found.values()
    assert link["href"] == f"../../../other/{torch.name}#{sha256(torch.read_bytes())}"
    assert torch.with_name(f"{torch.name}.metadata").exists()
    assert Links(pages[-1]).found[torch.name]["href"] == f"../other/{torch.name}#{sha256(torch.read_bytes())}"
    make_wheel(other, "rocm_sdk_core", "7.10.0", METADATA + "Summary: another\n")
    told = f"{core} and {other / core.name} are different"
    with pytest.raises(PackagingError, match=re.escape(told)) as found:
        write_index(own, [other])
    assert found.value.fix == "leave one of them out"
    with pytest.raises(PackagingError, match="there is no such directory"):
        write_index(own, [tmp_path / "gone"])
    with pytest.raises(PackagingError, match="is not a directory"):
        write_index(own, [core])


@pytest.mark.slow
def test_families_have_an_index_each(tmp_path: Path) -> None:
    """Their selectors have one name: the fix that is printed makes an index of one family."""
    artifacts = usual_tree(tmp_path / "artifacts", kpack=False)
    build(Wish([artifacts.root], tmp_path, "7.10.0", is_checked=False), read_rules())
    command = [sys.executable, "-m", "rocm_sdk_build", "index"]
    done = completed([*command, "dist"], cwd=tmp_path)
    fix = "rocm-sdk-build index dist/gfx94X-dcgpu --root dist"
    assert done.stderr.endswith(f"fix: an index for each: {fix}\n")
    done = completed([*command, *fix.split()[2:]], cwd=tmp_path)
    selector = "dist/gfx94X-dcgpu/rocm-7.10.0.tar.gz"
    assert (done.returncode, done.stderr) == (
        0,
        f"{selector}: requires rocm-sdk-loader>={loader_version}, which is not there: {LOADER_FIX}\n",
    )
    (tmp_path / "own").mkdir()
    make_wheel(tmp_path / "own", "rocm_sdk_loader", loader_version)
    words = [*command, *fix.split()[2:], "--root", "own"]
    done = completed(words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "dist/gfx94X-dcgpu/simple/rocm-sdk-libraries-gfx94x-dcgpu/index.html" in done.stdout.splitlines()


def test_extras_that_lead_to_nothing(site: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    shutil.copytree(site, dist)
    for name, extra in (("rocm_sdk_device_gfx1100", "device"), ("rocm_sdk_devel", "devel")):
        (gone,) = dist.glob(f"{name}-*.whl")
        kept = gone.rename(tmp_path / gone.name)
        needed = f"{name.replace('_', '-')}==7.10.0"
        told = f"{dist}/rocm-7.10.0.tar.gz: requires {needed} (extra {extra}"
        with pytest.raises(PackagingError, match=re.escape(told)):
            write_index(dist)
        write_index(dist, [tmp_path])
        kept.rename(gone)
    extra = "Provides-Extra: more\nRequires-Dist: {}; extra == 'more'\n"
    core = make_wheel(dist, "rocm_sdk_core", "1.0", METADATA + extra.replace("{}", "rocm-sdk-devel==9.0"))
    with pytest.raises(PackagingError, match=re.escape(f"{core.name}: requires rocm-sdk-devel==9.0 (extra more)")):
        write_index(dist)


def test_extras_of_other_systems(tmp_path: Path) -> None:
    """The packages that Windows alone needs are looked for nowhere."""
    wish = Wish([usual_tree(tmp_path / "artifacts").root], tmp_path, "7.10.0", is_checked=False)
    build(wish._replace(linux_families="gfx942,gfx1100", windows_families="gfx942,gfx1201"), read_rules())
    assert write_index(tmp_path / "dist")


@pytest.mark.slow
def test_find_links(site: Path, tmp_path: Path) -> None:
    """The flat page is enough for pip."""
    python = environment_with_pip(tmp_path / "venv")
    command = [str(python), "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
    words = [*command, "--find-links", (site / "links.html").as_uri(), "rocm-sdk-core", "rocm-sdk-libraries"]
    subprocess.run(words, env={**os.environ, "PIP_CONFIG_FILE": os.devnull}, check=True)
    assert list((tmp_path / "venv").glob("lib/python3*/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7"))


def resolved(
    directory: Path, installer: str, index: Path, extras: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Let the installer resolve `rocm[extras]` from this index alone, and return its run."""
    python = str(directory / "bin/python")
    command = {
        "pip": [python, "-m", "pip", "install", "--dry-run", "--no-cache-dir", "--disable-pip-version-check"],
        "uv": [UV, "pip", "install", "--dry-run", "--no-cache", "--no-python-downloads", "--python", python],
    }[installer]
    variables = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", **environment}
    words = [*command, "--index-url", index.as_uri(), f"rocm[{extras}]"]
    return completed(words, env=variables)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of an index with all packages of an SDK."""
    directory = stored(tmp_path_factory.mktemp("index") / "sdk", "all packages, checked", make_packages)
    for path in (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl"):
        shutil.copy(path, directory / "dist")
    write_index(directory / "dist")
    return directory / "dist"


def make_packages(directory: Path) -> None:
    directory.mkdir()
    build(Wish([usual_tree(directory / "artifacts").root], directory, "7.10.0"), read_rules())


@pytest.mark.slow
@pytest.mark.built_wheel
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_every_extra_resolves_in_the_index(site: Path, tmp_path: Path, installer: str) -> None:
    environment_with_pip(tmp_path / "venv")
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


def test_a_directory_without_an_sdk(tmp_path: Path) -> None:
    """A directory of temporary files, say: nothing of it is indexed."""
    make_wheel(tmp_path, "one", "1.0")
    done = completed([sys.executable, "-m", "rocm_sdk_build", "index", str(tmp_path)])
    assert_failed(done, 1, f"rocm-sdk-build: {tmp_path}: no package of a ROCm SDK is there; ")
    assert [path.suffix for path in tmp_path.iterdir()] == [".whl"]
    make_wheel(tmp_path / "sdk", "rocm_sdk_core", "1.0")
    again = completed([sys.executable, "-m", "rocm_sdk_build", "index", str(tmp_path), "--root", str(tmp_path / "sdk")])
    assert again.returncode == 0, again.stderr
