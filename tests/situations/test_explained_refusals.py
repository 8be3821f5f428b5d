"""Reports about indexes that lack what a package requires, and about words of installers that say nothing of it."""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from environments import UV, empty_environment
from package_index import write_wheel
from programs import completed
from sample_machine import machine_of
from sample_site import clean_environment
from sdk_environment import QuietHandler, write_index
from web_server import serving

pytestmark = pytest.mark.slow

PROJECT = b"""
[build-system]
requires = ["setuptools>=70.2"]
build-backend = "setuptools.build_meta"
[project]
name = "rocm"
version = "10.0.0"
dynamic = ["dependencies", "optional-dependencies"]
"""
METADATA = b"Metadata-Version: 2.2\nName: rocm\nVersion: 10.0.0\nDynamic: Requires-Dist\nDynamic: Provides-Extra\n"


class Indexes(NamedTuple):
    """The places where tests put wheels, and the addresses that serve them."""

    folder: Path
    address: str

    def serve(self, name: str) -> str:
        write_index(self.folder / name, self.folder / f"simple-{name}")
        return f"{self.address}/simple-{name}/"


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexes]:
    folder = tmp_path_factory.mktemp("indexes")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    with serving(server):
        yield Indexes(folder, f"http://127.0.0.1:{server.server_port}")


Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Return a function that runs `rocm-sdk install --print` for an index, on a machine with a gfx1201."""
    machine = machine_of(tmp_path / "machine", "gfx1201")
    python = empty_environment(tmp_path / "environment")

    def run(index: str, *words: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in clean_environment().items() if not name.startswith(("PIP_", "UV_"))}
        own = {"ROCM_SDK_ROOTFS": str(machine.root), "ROCM_SDK_INDEX": index, "PIP_CONFIG_FILE": "/dev/null"}
        environment = kept | own | {"UV_NO_CONFIG": "1", "PATH": f"{Path(UV).parent}:{kept['PATH']}"}
        command = [sys.executable, "-m", "rocm_sdk", "install", *words, "--print", "--python", str(python)]
        return completed(command, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL)

    return run


def write_sdk(folder: Path, *targets: str) -> None:
    """Write an SDK with packages for targets."""
    needed = ["rocm-sdk-core==10.0.0", 'rocm-sdk-libraries==10.0.0; extra == "libraries"']
    needed += [f'rocm-sdk-device-{each}==10.0.0; extra == "device-{each}"' for each in targets]
    extras = ",".join(["libraries", *(f"device-{each}" for each in targets)])
    write_wheel(folder, "rocm", "10.0.0", tuple(needed), extras)
    for name in ("core", "libraries", *(f"device-{each}" for each in targets)):
        write_wheel(folder, f"rocm-sdk-{name}", "10.0.0")


@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("tag", ["cp35-cp35m-linux_x86_64", ""], ids=["another Python", "another version"])
def test_what_a_wheel_requires(indexes: Indexes, ask: Ask, tmp_path: Path, installer: str, tag: str) -> None:
    name = f"torch-{installer}-{tag}"
    write_sdk(indexes.folder / name, "gfx1201")
    version = "2.12.0+rocm10.0.0" if tag else "2.11.0+rocm10.0.0"
    torch = write_wheel(indexes.folder / name, "torch", version)
    if tag:
        torch.rename(torch.with_name(torch.name.replace("py3-none-any", tag)))
    vllm = write_wheel(tmp_path, "vllm", "0.20", ("torch==2.12.0",))
    said = ask(indexes.serve(name), str(vllm), "--installer", installer)
    assert said.returncode == 1
    if tag:
        cause = "it has no torch for this Python and system, which vllm requires: it has torch 2.12.0+rocm10.0.0 (cp35)"
        assert cause in said.stderr.splitlines()[0]
        assert "--python" in said.stderr.splitlines()[-1]
    elif installer == "pip":
        cause = "it has no torch==2.12.0, which vllm requires: it has 2.11.0+rocm10.0.0"
        assert cause in said.stderr.splitlines()[0]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_what_a_build_requires(indexes: Indexes, ask: Ask, installer: str) -> None:
    """The selector is a source distribution, and the index has no setuptools."""
    name = f"source-{installer}"
    folder = indexes.folder / name
    write_sdk(folder, "gfx1201")
    next(folder.glob("rocm-10*.whl")).unlink()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for file, text in (("pyproject.toml", PROJECT), ("PKG-INFO", METADATA)):
            info = tarfile.TarInfo(f"rocm-10.0.0/{file}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    (folder / "rocm-10.0.0.tar.gz").write_bytes(data.getvalue())
    said = ask(indexes.serve(name), "sdk", "--installer", installer)
    assert said.returncode == 1
    first, *_, last = said.stderr.splitlines()
    assert "building rocm requires setuptools>=70.2, which the index lacks" in first
    assert "put setuptools>=70.2 on" in last


def test_a_gpu_that_the_index_does_not_serve(indexes: Indexes, ask: Ask) -> None:
    """The fix asks for the same elsewhere: the site's index has one stream."""
    write_sdk(indexes.folder / "two", "gfx942", "gfx1100")
    said = ask(indexes.serve("two"), "sdk", "--gpu", "gfx1201")
    assert said.returncode == 1
    fix = said.stderr.splitlines()[-1]
    further = "try --rocm nightly, and take ROCM_SDK_INDEX away: env -u ROCM_SDK_INDEX COMMAND"
    assert fix.endswith(f"fix: this index has gfx1100 and gfx942; {further}")


# ---- the words of `rocm-sdk install` where no index answers, as on a machine behind a firewall


SILENT = "http://127.0.0.1:9/simple/"  # nothing listens on the port `discard`


def test_print() -> None:
    """The command, without versions, for a machine that has a network; stderr says what it is not."""
    words = ("install", "torch", "--gpu", "gfx1100", "--installer", "pip", "--print")
    environment = {**os.environ, "ROCM_SDK_INDEX": SILENT}
    done = completed([sys.executable, "-m", "rocm_sdk", *words], env=environment)
    assert done.returncode == 0, done.stderr
    assert (
        """ install --index-url "$ROCM_SDK_INDEX" 'rocm[libraries,device-gfx1100]' 'torch[device-gfx1100]'"""
        in done.stdout
    )
    first, second, fix = done.stderr.splitlines()
    assert first.endswith("nothing answers at 127.0.0.1:9: Connection refused")
    assert second.startswith("rocm-sdk: the printed form has no pinned versions: ")
    assert second.endswith(" packages for gfx1100")
    assert fix == "  fix: check ROCM_SDK_INDEX; the server may be down"
