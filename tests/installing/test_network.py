"""Errors of an index that cannot be reached or lacks something, within seconds: a cause and a fix for each."""

import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from package_index import write_wheel
from web_server import serving

Run = Callable[..., subprocess.CompletedProcess[str]]
REFUSED = "http://127.0.0.1:9"  # nothing listens on the port `discard`
SECONDS = 3.0
pytestmark = pytest.mark.parametrize("installer", ["pip", "uv"])


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        del arguments


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int, int]]:
    """Yield a directory, and the ports of its servers.

    The first server has no encryption, and the second a certificate that nobody knows.
    """
    directory = tmp_path_factory.mktemp("served")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    words += ["-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run(words, cwd=directory, check=True, capture_output=True)
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(directory))) for _ in range(2)]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "certificate.pem", directory / "key.pem")
    servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True)
    with serving(servers[0]), serving(servers[1]):
        yield directory, *(server.server_port for server in servers)  # type: ignore[misc]


CASES = {
    "refused": (f"{REFUSED}/simple/", {}, "nothing answers at 127.0.0.1:9", "check ROCM_SDK_INDEX; the server may be"),
    "nothing there": ("http://127.0.0.1:{plain}/none/", {}, "has no project rocm", "as .../simple/"),
    "no TLS": ("https://127.0.0.1:{plain}/", {}, "does not speak TLS there", "its scheme and its port"),
    "certificate": ("https://127.0.0.1:{tls}/", {}, "is not trusted: self-signed certificate", "SSL_CERT_FILE"),
    "junk": ("junk", {}, "neither the address of a web server nor a directory: junk", "https://HOST/simple/"),
    "bad port": ("http://host:x/", {}, "neither the address of a web server nor a directory", "https://HOST/simple/"),
    "proxy": (
        "https://index.invalid/simple/",
        {"https_proxy": REFUSED},
        f"the proxy {REFUSED} does not connect to index.invalid: Connection refused",
        "check the variable https_proxy",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_way_to_the_index(
    install: Run, served: tuple[Path, int, int], installer: str, case: tuple[str, dict[str, str], str, str]
) -> None:
    address, variables, cause, fix = case
    index = address.format(plain=served[1], tls=served[2])
    start = time.monotonic()
    said = install("sdk", "--dry-run", "--installer", installer, status=1, ROCM_SDK_INDEX=index, **variables)
    assert time.monotonic() - start < SECONDS * 2, "the machine may be busy"
    first, fixed = said.stderr.splitlines()[0], said.stderr.splitlines()[-1]
    assert cause in first
    assert fix in fixed


@pytest.mark.slow
def test_what_only_the_installer_does_not_reach(install: Run, whl_next: str, installer: str) -> None:
    variables = {"pip": {"PIP_PROXY": REFUSED}, "uv": {"ALL_PROXY": REFUSED, "UV_NO_CACHE": "1"}}[installer]
    said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=whl_next, **variables)
    assert f"{installer} does not reach {whl_next}, which this command reaches" in said.stderr
    assert "look at its own settings" in said.stderr


def _index(directory: Path, *requires: str) -> Path:
    """Write an index of an SDK whose core has these requirements, and return the wheel of core."""
    directory.mkdir()
    needed = ("rocm-sdk-core==10.0.0", 'rocm-sdk-device-gfx1100==10.0.0; extra == "device-gfx1100"')
    write_wheel(directory, "rocm", "10.0.0", needed, "libraries,device-gfx1100")
    write_wheel(directory, "rocm-sdk-device-gfx1100", "10.0.0")
    core = write_wheel(directory, "rocm-sdk-core", "10.0.0", requires)
    for wheel in directory.glob("*.whl"):
        project = directory / "simple" / wheel.name.partition("-")[0].replace("_", "-")
        project.mkdir(parents=True)
        (project / "index.html").write_text(f'<a href="../../{wheel.name}">{wheel.name}</a>')
    return core


@pytest.mark.slow
def test_a_dependency_that_is_nowhere(install: Run, served: tuple[Path, int, int], installer: str) -> None:
    for name in ("packaging", "rocm-sdk-loader"):
        place = f"without-{name}-{installer}"
        _index(served[0] / place, name)
        index = f"http://127.0.0.1:{served[1]}/{place}/simple/"
        said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=index)
        assert f"it has no {name}, which rocm-sdk-core requires" in said.stderr
        assert ("rocm-sdk-build index" in said.stderr) == (name == "rocm-sdk-loader")


@pytest.mark.slow
def test_a_cut_wheel(install: Run, served: tuple[Path, int, int], installer: str) -> None:
    if installer == "uv":
        pytest.skip("uv finds METADATA in this wheel, which is cut behind it")
    core = _index(served[0] / f"cut-{installer}")
    core.write_bytes(core.read_bytes()[:300])
    index = f"http://127.0.0.1:{served[1]}/cut-{installer}/simple/"
    said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=index)
    assert "rocm_sdk_core-10.0.0-py3-none-any.whl is damaged or cut" in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name != "bad port"])
def test_what_is_printed_without_an_answer(
    install: Run, served: tuple[Path, int, int], installer: str, name: str
) -> None:
    """Where nothing answers, the command has no pinned versions, and that is said. An index that answers is judged."""
    address, variables, cause, fix = CASES[name]
    index = address.format(plain=served[1], tls=served[2])
    has_no_answer = name in ("refused", "proxy")
    status = 0 if has_no_answer else 1
    words = ("torch", "--rocm", "10.0", "--print", "--installer", installer)
    said = install(*words, status=status, ROCM_SDK_INDEX=index, **variables)
    assert cause in said.stderr
    assert fix in said.stderr.splitlines()[-1]
    assert ("the printed form has no pinned versions" in said.stderr) == has_no_answer
    if has_no_answer:
        printed = said.stdout.splitlines()[0]
        assert printed.endswith(
            """ "$ROCM_SDK_INDEX" 'rocm[libraries,device-gfx1100]==10.0.*' 'torch[device-gfx1100]'"""
        )
    else:
        assert said.stdout == ""


@pytest.mark.slow
def test_forms_without_an_answer(install: Run, installer: str) -> None:
    """A list of requirements needs none; a lock file is nothing without versions."""
    words = ("sdk", "--print", "--installer", installer, "--format")
    said = install(*words, "requirements", ROCM_SDK_INDEX=f"{REFUSED}/simple/")
    assert said.stdout == f"--index-url {REFUSED}/simple/\nrocm[libraries,device-gfx1100]\n"
    said = install(*words, "lock", status=1, ROCM_SDK_INDEX=f"{REFUSED}/simple/")
    assert said.stdout == ""
    assert "nothing answers at 127.0.0.1:9" in said.stderr
