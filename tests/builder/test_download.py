"""Artifacts of a web server: wanted families alone are downloaded, once, and are refused where they are damaged."""

import http.server
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from programs import completed
from test_archives import pack
from web_server import serving

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.download import download


class Server:
    """A server of the directory `root`, and the requests to it."""

    def __init__(self, root: Path) -> None:
        self.root, self.asked = root, list[str]()
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_request(self, *_: object) -> None:
                asked.append(self.path)

            def log_error(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(root)))
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with packed artifacts, some of them as xz."""
    root = usual_tree(tmp_path / "served").root
    for number, directory in enumerate(sorted(root.iterdir())):
        pack(directory, ("zst", "xz")[number % 2])
    server = Server(root)
    with serving(server.server):
        yield server


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def artifacts_of(served: Server, output: Path) -> list[str]:
    """Return how a command begins that makes packages from a server."""
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", served.address]
    return [*command, "--no-loader", "--output", str(output)]


@pytest.mark.slow
def test_a_build_from_a_server(served: Server, tmp_path: Path) -> None:
    command = artifacts_of(served, tmp_path / "dist")
    families = ["--linux-amdgpu-families", "gfx942"]
    done = completed([*command, "--version", "7.10.0", *families])
    assert done.returncode == 0, done.stderr
    made = {Path(line).name.split("-")[0] for line in done.stdout.splitlines()}
    assert {"rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_device_gfx942", "rocm_sdk_devel", "rocm"} <= made
    assert "rocm_sdk_device_gfx1100" not in made
    assert not [path for path in served.asked if "gfx1100" in path]


@pytest.mark.slow
def test_what_one_package_needs_is_downloaded(served: Server, tmp_path: Path) -> None:
    """Artifacts that another run has downloaded for another package stay."""
    command = artifacts_of(served, tmp_path / "dist")
    command += ["--version", "7.10.0", "--linux-amdgpu-families", "gfx942,gfx1100", "--only"]
    stems: list[set[str]] = []
    for only in ("device-gfx942", "rocm"):
        served.asked.clear()
        done = completed([*command, only])
        assert (done.returncode, done.stderr) == (0, "")
        stems.append({path[1:].partition(".")[0] for path in served.asked if ".tar." in path})
    assert stems[0] == {"base_lib_generic", "blas_dev_generic", "blas_lib_generic", "blas_lib_gfx942"}
    assert stems[1] == {"base_lib_generic"}
    (place,) = (tmp_path / "dist/.artifacts/downloads").iterdir()
    assert {name.partition(".")[0] for name in names(place)} == stems[0]


@pytest.mark.parametrize("name", ["downloads", "hash"])
def test_a_link_in_place_of_a_directory(served: Server, tmp_path: Path, name: str) -> None:
    """The target of the link is neither removed nor replaced."""
    victim, directory = tmp_path / "victim", tmp_path / "out/.artifacts/downloads"
    place = download(served.address, directory, ())
    link = directory if name == "downloads" else place
    link.rename(victim)
    (victim / "file").write_text("of somebody else")
    link.symlink_to(victim)
    before = {path: path.stat().st_mtime_ns for path in sorted(victim.rglob("*"))}
    with pytest.raises(PackagingError, match=f"{link}: is not used: it is not a directory"):
        download(served.address, directory, ())
    assert {path: path.stat().st_mtime_ns for path in sorted(victim.rglob("*"))} == before


def test_what_is_here_is_not_downloaded_again(served: Server, tmp_path: Path) -> None:
    place = download(served.address, tmp_path / "kept", ())
    archives = {name for name in names(served.root) if not name.endswith(".sha256sum")}
    assert names(place) == archives
    served.asked.clear()
    first, second, *_ = sorted(archives)
    (place / first).write_bytes(b"damaged")
    (served.root / second).unlink()
    assert names(download(served.address, tmp_path / "kept", ())) == archives - {second}
    fetched = [path for path in served.asked if path.endswith((".zst", ".xz"))]
    assert fetched == [f"/{first}"], "the damaged one alone; what the page does not name any more is gone"


def test_without_digests_each_run_downloads(served: Server, tmp_path: Path) -> None:
    for path in served.root.glob("*.sha256sum"):
        path.unlink()
    for _ in range(2):
        served.asked.clear()
        place = download(served.address, tmp_path / "kept", ["gfx942"])
        assert len([path for path in served.asked if path.endswith((".zst", ".xz"))]) == len(names(place)) > 0


def test_what_is_wrong_is_named(served: Server, tmp_path: Path) -> None:
    archive = next(path for path in sorted(served.root.iterdir()) if path.name.endswith(".tar.zst"))
    sidecar = archive.with_name(f"{archive.name}.sha256sum")
    for text, message in (("no digest\n", "holds no SHA-256"), ("0" * 64 + "\n", "is not the file that its")):
        sidecar.write_text(text)
        with pytest.raises(PackagingError, match=message):
            download(served.address, tmp_path / "kept", ())
        assert not list((tmp_path / "kept").glob("*/*.partial"))
    with pytest.raises(PackagingError, match="links to no artifact for gfx950"):
        download(served.address, tmp_path / "kept", ["gfx950"])
    (served.root / "empty").mkdir()
    with pytest.raises(PackagingError, match="/empty/: links to no artifact"):
        download(f"{served.address}empty/", tmp_path / "kept", ())
    with pytest.raises(PackagingError, match="/nothing/: cannot be had: File not found"):
        download(f"{served.address}nothing/", tmp_path / "kept", ())


def test_a_server_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocm_sdk.index.web.server._PAUSE", 0.0)
    with pytest.raises(PackagingError, match=r"cannot be had: .*refused"):
        download("http://127.0.0.1:9/", tmp_path, ())
    assert not list(tmp_path.iterdir())
