"""An index that takes connections and says nothing: the installer gives it up, and the command says what it waits for.

The limits are what the variables of the installers say; where a user has set none, they have a limit of ours.
"""

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from own_terminal import terminal_output
from package_index import write_wheel
from sample_machine import machine_of
from web_server import serving

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]
INSTALLERS = ("pip", "uv")
SILENCE = 60.0  # seconds without a byte after which nothing waits any more
MARGIN = 8.0  # of them: pauses between tries, and what this command asks the index itself
OURS = {"pip": ("PIP_DEFAULT_TIMEOUT", "PIP_RETRIES"), "uv": ("UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES")}
OF_USERS = (*OURS["pip"], *OURS["uv"], "PIP_TIMEOUT", "UV_REQUEST_TIMEOUT", "HTTP_TIMEOUT")
TITLE = "asking {} for the versions that {} has"


@pytest.fixture(autouse=True)
def _no_limits_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the limits of the machine that runs the tests."""
    for name in (*OF_USERS, "PIP_DISABLE_PIP_VERSION_CHECK"):
        monkeypatch.delenv(name, raising=False)


def _short(installer: str, seconds: int) -> dict[str, str]:
    limit, tries = OURS[installer]
    return {limit: str(seconds), tries: "1"}


@contextmanager
def _silent(answer: bytes, pause: float = 0, then: bytes = b"") -> Iterator[tuple[int, list[str]]]:
    """Yield the port of a server that answers and falls silent, and the requests that the server gets.

    The server takes connections, sends `answer`, and then nothing, or single bytes of `then` with a pause in seconds
    between them.
    """
    requests: list[str] = []
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                requests.append(connection.recv(1 << 16).decode().splitlines()[0])
                connection.sendall(answer)
                for position in range(len(then)):
                    connection.sendall(then[position : position + 1])
                    if ended.wait(pause):
                        return
            except (OSError, IndexError):  # the client has closed it
                return
            if not then:
                ended.wait()

    def accept() -> None:
        while not ended.is_set():
            try:
                threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
            except OSError:
                continue
            threads[-1].start()

    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listener.getsockname()[1], requests
        finally:
            ended.set()
            accepting.join()
            for thread in threads:
                thread.join()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize("installer", INSTALLERS)
@pytest.mark.parametrize("answer", [b"", HEAD % 1000, (HEAD % 1000)[:30]], ids=["nothing", "a head", "half a head"])
def test_a_silent_index_is_given_up(install: Run, installer: str, answer: bytes) -> None:
    """Two tries, and nothing besides: pip does not ask the same index for a newer pip, which would be silent, too."""
    with _silent(answer) as (port, requests):
        start = time.monotonic()
        variables = {"ROCM_SDK_INDEX": f"http://127.0.0.1:{port}/simple/", **_short(installer, 3)}
        said = install("sdk", "--print", "--installer", installer, status=1, **variables)
        seconds = time.monotonic() - start
    assert seconds < 3 * 2 + MARGIN, requests
    assert not [each for each in requests if "/pip/" in each], requests
    assert f"{installer} finds no solution" in said.stderr


@pytest.mark.parametrize("installer", INSTALLERS)
def test_a_slow_index_is_not_cut(install: Run, installer: str) -> None:
    page = b"<!doctype html><a href='rocm-1.txt'>rocm</a>"
    with _silent(HEAD % len(page), 0.15, page) as (port, requests):
        variables = {"ROCM_SDK_INDEX": f"http://127.0.0.1:{port}/simple/", **_short(installer, 2)}
        start = time.monotonic()
        install("sdk", "--print", "--installer", installer, status=1, **variables)
        assert time.monotonic() - start > 0.15 * len(page)
    pages = [each for each in requests if "/rocm/" in each]
    assert len(pages) == 2, "the installer has read the page to its end, and this command has asked once"


class _Stalling(SimpleHTTPRequestHandler):
    """A server that answers for pages, and is silent where a file is asked for."""

    ended = threading.Event()

    def do_GET(self) -> None:
        if ".whl" in self.path:
            self.ended.wait()
        else:
            super().do_GET()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *arguments: object) -> None:
        del arguments


@pytest.mark.parametrize("installer", INSTALLERS)
def test_silent_files_are_given_up(install: Run, tmp_path: Path, installer: str) -> None:
    for version in ("10.0.0", "10.0.1"):
        wheel = write_wheel(tmp_path, "rocm", version)
        (tmp_path / "simple/rocm").mkdir(parents=True, exist_ok=True)
        with (tmp_path / "simple/rocm/index.html").open("a") as page:
            page.write(f'<a href="../../{wheel.name}">{wheel.name}</a>')
    _Stalling.ended.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Stalling, directory=str(tmp_path)))
    with serving(server):
        variables = {"ROCM_SDK_INDEX": f"http://127.0.0.1:{server.server_port}/simple/", **_short(installer, 3)}
        start = time.monotonic()
        try:
            install("sdk", "--print", "--installer", installer, status=1, **variables)
        finally:
            _Stalling.ended.set()
        assert time.monotonic() - start < 3 * 2 + MARGIN


def _recording(directory: Path, target: str) -> tuple[Path, Path]:
    """Make a program that writes its variables and then becomes another one; return it, and the file that it writes."""
    directory.mkdir()
    program, written = directory / Path(target).name, directory / "variables"
    program.write_text(f"#!/bin/sh\n{{ env; echo; }} >> '{written}'\nexec '{target}' \"$@\"\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, written


def _values(written: Path, *names: str) -> set[tuple[str, ...]]:
    """Return the values of variables in each process, without processes that had none."""
    blocks = [
        dict(line.split("=", 1) for line in each.split("\n")) for each in written.read_text().split("\n\n") if each
    ]
    return {tuple(each[name] for name in names if name in each) for each in blocks} - {()}


@pytest.mark.parametrize("installer", INSTALLERS)
@pytest.mark.parametrize("form", ["--print", "--yes"], ids=["question", "installation"])
def test_the_limit_of_those_who_set_none(install: Run, tmp_path: Path, python: Path, installer: str, form: str) -> None:
    """All tries together are silent for less than the limit.

    A limit that a user has set counts.
    """
    real = str(python) if installer == "pip" else str(shutil.which("uv"))
    program, written = _recording(tmp_path / "recording", real)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    chosen = program if installer == "pip" else python
    install("sdk", form, "--installer", installer, python=chosen, PATH=path, status=None)
    limit = OURS[installer][0]
    found = _values(written, *OURS[installer])
    assert len(found) == (1 if form == "--print" else 2), "one for the question, one for the installation"
    assert all(float(seconds) * (int(number) + 1) <= SILENCE - MARGIN for seconds, number in found)
    written.unlink()
    install("sdk", form, "--upgrade", "--installer", installer, python=chosen, PATH=path, status=None, **{limit: "99"})
    assert _values(written, limit) == {("99",)}


@pytest.mark.parametrize("section", ["global", "install"])
def test_the_limit_of_a_file_of_pip(install: Run, tmp_path: Path, shared_python: Path, section: str) -> None:
    configuration = tmp_path / "own.conf"
    configuration.write_text(f"[{section}]\ntimeout = 99\nretries = 7\n")
    program, written = _recording(tmp_path / "recording", str(shared_python))
    install("sdk", "--print", "--installer", "pip", python=program, PIP_CONFIG_FILE=str(configuration))
    assert _values(written, *OURS["pip"]) == set()


@pytest.mark.parametrize("installer", INSTALLERS)
def test_what_is_waited_for_is_said(tmp_path: Path, shared_python: Path, installer: str) -> None:
    """From the first second on, on a terminal; the index has its name, and a password is not shown."""
    machine = machine_of(tmp_path / "machine", "gfx1100")
    with _silent(b"") as (port, _):
        variables = os.environ | {
            "ROCM_SDK_ROOTFS": str(machine.root),
            "ROCM_SDK_INDEX": f"http://user:secret@127.0.0.1:{port}/simple/",
            "TERM": "xterm",
            "CI": "",
            "COLUMNS": "120",
            **_short(installer, 4),
        }
        command = [sys.executable, "-m", "rocm_sdk", "install", "sdk", "--print", "--installer", installer]
        text = terminal_output([*command, "--python", str(shared_python)], variables, status=1, streams=("stderr",))
    title = TITLE.format(installer, f"http://127.0.0.1:{port}/simple/")
    assert title in text
    assert "00:01" in text.partition(title)[2]
    assert "secret" not in text
