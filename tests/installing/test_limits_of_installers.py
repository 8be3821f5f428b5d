"""An index that is hostile to pip and uv: pages without end, code that runs, packages of elsewhere, forms to log in."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # modules beside this file are imported by name

from asked_server import served, write_pages, write_sdk
from environments import UV
from made_indexes import AMD, write_source_archive
from package_index import write_wheel
from web_server import serving

from rocm_sdk.base.processes import run_shown
from rocm_sdk.index import installer_limits
from rocm_sdk.index.destination import Destination
from rocm_sdk.index.install_errors import InstallRefusedError
from rocm_sdk.index.installer_answer import ask
from rocm_sdk.index.request import Index, Requirement
from rocm_sdk_build.output.index import write_index

Run = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("installer", ["pip", "uv"])
ROCM = Requirement("rocm", (), "", "", "")


class _Endless(BaseHTTPRequestHandler):
    """A page that goes on for ever: as fast as it is read, or a link in a tenth of a second."""

    server: "_Server"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        try:
            while not self.server.ended.wait(self.server.pause):
                self.wfile.write(b'<a href="rocm-1.txt">rocm</a>\n' * (1 if self.server.pause else 50_000))
        except OSError:  # the client has closed it
            return

    def log_message(self, *arguments: object) -> None:
        del arguments


class _Server(ThreadingHTTPServer):
    pause = 0.0
    ended = threading.Event()


@pytest.fixture
def endless() -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Endless)
    server.ended = threading.Event()
    with serving(server):
        yield server
        server.ended.set()


def _index(server: ThreadingHTTPServer) -> Index:
    return Index(f"http://127.0.0.1:{server.server_port}/simple/", "HERE", "stable", (10, 0))


def _destination(python: Path, installer: str) -> Destination:
    command = (
        (UV, "pip", "install", "--python", str(python)) if installer == "uv" else (str(python), "-m", "pip", "install")
    )
    return Destination(str(python), str(python.parent), 11, installer, command, (), {})


@both
def test_memory_has_a_limit(
    endless: _Server, shared_python: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    monkeypatch.setattr(installer_limits, "MEMORY", 300_000_000)
    with pytest.raises(InstallRefusedError) as refused:
        ask((ROCM,), _destination(shared_python, installer), _index(endless))
    assert refused.value.message.startswith(f"{installer} at HERE took more than 300.0 MB of memory and was ended")
    assert refused.value.fix == "ask those who run the index, or take a mirror"


@both
def test_no_progress_has_a_limit(
    endless: _Server, shared_python: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    """A trickle keeps the installer's own limit from counting."""
    endless.pause = 0.1
    monkeypatch.setattr(installer_limits, "SECONDS", 3.0)
    with pytest.raises(InstallRefusedError, match=r"HERE wrote less than 1\.0 MB within 3 s and was ended"):
        ask((ROCM,), _destination(shared_python, installer), _index(endless))


HOLDS = (
    "import os, sys; held = os.urandom(200_000_000); print(os.getpid(), file=sys.stderr, flush=True); sys.stdin.read()"
)
STARTS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDS!r}])"


def test_children_count_and_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such are the interpreters of pip that installs for another one, and of one that builds."""
    monkeypatch.setattr(installer_limits, "MEMORY", 100_000_000)
    heard = bytearray()
    with pytest.raises(InstallRefusedError, match=r"took more than 100\.0 MB"):
        run_shown([sys.executable, "-c", STARTS], heard=heard, watch=installer_limits.watch_of("pip", "HERE"))
    stat = Path(f"/proc/{int(heard)}/stat") if heard.strip() else None
    assert stat is None or not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_work_that_writes_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever fetches large wheels writes them: the time does not count then."""
    monkeypatch.setattr(installer_limits, "SECONDS", 2.0)
    watch = installer_limits.watch_of("pip", "HERE")
    writing = (
        f"import time\nfor _ in range(40): open({str(tmp_path / 'x')!r}, 'wb').write(bytes(1 << 20)); time.sleep(0.1)"
    )
    assert run_shown([sys.executable, "-c", writing], heard=bytearray(), watch=watch) == 0


def test_a_sound_limit() -> None:
    """A wheel of 3 GB took 0.05 GB of both; a machine of 8 GB is not filled."""
    assert installer_limits.MEMORY > 1_000_000_000
    assert installer_limits.MEMORY <= 4_000_000_000
    assert os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2 >= installer_limits.MEMORY


# ---- code

_PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
_BACKEND = """
import os
open({ran!r}, "w").close()

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    os.mkdir(os.path.join(directory, "stranger-1.dist-info"))
    with open(os.path.join(directory, "stranger-1.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: stranger\\nVersion: 1\\n")
    return "stranger-1.dist-info"
"""


def _write_stranger(directory: Path, ran: Path, below: str) -> None:
    metadata, backend = b"Metadata-Version: 2.1\nName: stranger\nVersion: 1\n", _BACKEND.format(ran=str(ran)).encode()
    files = {"PKG-INFO": metadata, "pyproject.toml": _PYPROJECT.encode(), "backend.py": backend}
    write_source_archive(directory, "stranger-1", {below + name: content for name, content in files.items()})


@both
@pytest.mark.parametrize("form", ["page", "address", "#subdirectory=rocm_1", "#subdirectory=rocm_1/../rocm_1"])
def test_code_of_other_source_distributions_is_not_run(
    install: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installer: str, form: str
) -> None:
    packages, ran = tmp_path / "packages", tmp_path / "ran"
    packages.mkdir()
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    _write_stranger(packages, ran, "rocm_1/" if form.startswith("#") else "")
    with served(packages) as server:
        address = f"stranger @ {server.root}/stranger-1.tar.gz" + form * form.startswith("#")
        write_sdk(packages, "stranger" if form == "page" else address)
        write_pages(packages)
        words = ("sdk", "--dry-run", "--installer", installer)
        said = install(*words, status=1, ROCM_SDK_INDEX=f"{server.root}/simple/")
    assert not ran.exists()
    assert "stranger" in said.stderr


@both
def test_code_of_rocm_is_run(install: Run, tmp_path: Path, installer: str) -> None:
    make, _ = AMD["multi-arch"]
    make(tmp_path / "packages")
    write_index(tmp_path / "packages")
    index = f"file://{tmp_path}/packages/simple"
    said = install(
        "sdk",
        "--print",
        "--format",
        "lock" if installer == "uv" else "command",
        "--installer",
        installer,
        ROCM_SDK_INDEX=index,
    )
    assert "7.1.2" in said.stdout


def test_a_sitecustomize_of_the_user_counts(install: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    install("sdk", "--print", "--installer", "pip")
    assert (tmp_path / "ran").exists()


# ---- packages of elsewhere, and no packages


@both
def test_a_package_of_another_host(install: Run, tmp_path: Path, installer: str, python: Path) -> None:
    packages, others = tmp_path / "packages", tmp_path / "others"
    packages.mkdir()
    others.mkdir()
    wheel = write_wheel(others, "stranger", "1")
    with served(packages) as server, served(others) as other:
        write_sdk(packages, f"stranger @ {other.root.replace('127.0.0.1', 'localhost')}/{wheel.name}")
        write_pages(packages)
        for form in ("--dry-run", "--yes", "--print"):
            variables = {"ROCM_SDK_INDEX": f"{server.root}/simple/"}
            said = install("sdk", form, "--installer", installer, status=1, python=python, **variables)
            assert "stranger" in said.stderr
            if installer == "pip":
                assert f"stranger 1 would come from http://localhost:{other.server_port}/{wheel.name}" in said.stderr
                assert "  fix: ask those who run it to put stranger there" in said.stderr
    assert not list(python.parent.parent.glob("lib/python3*/site-packages/stranger*"))


FORM = '<html><form action="/login"><input name="user"><a href="/forgotten">Forgotten?</a></form></html>'


@both
def test_a_form_to_log_in(install: Run, tmp_path: Path, installer: str) -> None:
    (tmp_path / "pages/simple/rocm").mkdir(parents=True)
    (tmp_path / "pages/simple/rocm/index.html").write_text(FORM)
    with served(tmp_path / "pages") as server:
        said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=f"{server.root}/simple/")
        assert "its page of rocm has no link to a package:" in said.stderr
        assert "  fix: open that page: if it is a form to log in, the name" in said.stderr
