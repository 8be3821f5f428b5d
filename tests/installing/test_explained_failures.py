"""What `rocm-sdk install` says when the installer fails: public reports, and each wording of real installers."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from environments import empty_environment, environment_with_pip
from own_terminal import terminal_output
from package_index import write_wheel
from sample_devel import as_root, make_wheel
from sample_machine import machine_of

sys.path.append(str(Path(__file__).parent))  # modules beside this file are imported by name

from asked_server import Server, refusing_proxy, served, write_pages, write_sdk
from made_indexes import write_source_archive

from rocm_sdk.index.destination import Destination
from rocm_sdk.index.failure_reason import _SHORT, WORDINGS, explained
from rocm_sdk.index.request import Index

Run = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("installer", ["pip", "uv"])
SECRET = "s3cr3t"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    directory = tmp_path / "packages"
    directory.mkdir()
    return directory


@pytest.fixture
def server(packages: Path) -> Iterator[Server]:
    with served(packages) as found:
        yield found


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what earlier runs have fetched, and passwords and proxies of the machine."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache of uv"))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("NETRC", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def first(said: subprocess.CompletedProcess[str]) -> str:
    """Return the line with the cause."""
    return next(line for line in said.stderr.splitlines() if "finds no solution" in line or " failed: " in line)


def fix(said: subprocess.CompletedProcess[str]) -> str:
    return said.stderr.splitlines()[-1].removeprefix("  fix: ")


# ---- what the server answers


@both
@pytest.mark.parametrize(("lacking", "status"), [("filelock", 403), ("sympy", 403), ("filelock", 404)])
def test_a_requirement_that_the_server_forbids(  # noqa: PLR0917 - the form
    install: Run, packages: Path, server: Server, installer: str, lacking: str, status: int
) -> None:
    write_sdk(packages, lacking)
    write_pages(packages)
    server.missing = status
    said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=f"{server.root}/simple/")
    assert f"it has no {lacking}, which rocm-sdk-core requires" in first(said)
    assert fix(said) == f'put {lacking} on "$ROCM_SDK_INDEX": no other index is asked'


@both
@pytest.mark.parametrize(
    ("place", "family", "status", "asks"),
    [
        ("simple", "gfx110X-all", 403, False),
        ("rocm-next/whl", "v2/gfx103X-dgpu", 403, False),
        ("simple", "gfx110X-all", 403, True),
        ("simple", "gfx120X-all", 404, False),
    ],
)
def test_an_address_below_the_flat_index(  # noqa: PLR0917 - the form
    install: Run, packages: Path, server: Server, installer: str, place: str, family: str, status: int, *, asks: bool
) -> None:
    """The status 403 is no wish for a password. The address that the fix names has the packages."""
    write_sdk(packages)
    write_pages(packages, place)
    server.missing, server.asks = status, asks
    words = ("sdk", "--print", "--installer", installer)
    said = install(*words, status=1, ROCM_SDK_INDEX=f"{server.root}/{place}/{family}/")
    assert f"{server.root}/{place}/{family}/ has no project rocm" in first(said)
    assert "password" not in first(said) + fix(said)
    (above,) = re.findall(r"/simple/: (\S+) is the nearest one above that answers$", fix(said))
    assert "rocm[libraries" in install(*words, ROCM_SDK_INDEX=above).stdout


@pytest.mark.parametrize("asks", [True, False])
def test_nothing_above_answers(install: Run, packages: Path, server: Server, *, asks: bool) -> None:
    server.missing, server.asks, server.lists = 403, asks, False
    said = install("sdk", "--print", status=1, ROCM_SDK_INDEX=f"{server.root}/a/b/")
    assert ("is forbidden, or not there (403)" if asks else "has no project rocm (the server answers 403)") in first(
        said
    )
    assert server.asked[-4:] == ["/a/b/rocm/", "/a/b/", "/a/", "/"]
    assert list(packages.iterdir()) == []


def test_one_limit_for_all_questions(packages: Path, server: Server) -> None:
    server.pause, server.missing, server.lists = 0.9, 403, False
    place = f"{server.root}/a/b/c/d/e/f/g/h/simple/"
    destination = Destination("python", str(packages), 11, "pip", ("pip",), (), {})
    start = time.monotonic()
    error = explained(destination, Index(place, place, "stable", (10, 0)), "rocm", "ERROR", "ERROR")
    assert 0.9 < time.monotonic() - start < 2.5
    assert "has no project rocm (the server answers 403)" in error.message


@both
@pytest.mark.parametrize("listing", ["of the server", "a page"])
def test_a_page_of_wheels(install: Run, packages: Path, server: Server, installer: str, listing: str) -> None:
    wheels = packages / "whl/torch2.9"
    write_sdk(wheels)
    if listing == "a page":
        (wheels / "index.html").write_text("".join(f"<a href='{each.name}'>x</a>" for each in wheels.glob("*.whl")))
    said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=f"{server.root}/whl/torch2.9/")
    assert first(said).endswith("has no project rocm: it is a page of files, and no index:")
    assert "rocm-sdk-build index" in fix(said)


@both
@pytest.mark.parametrize(("product", "status"), [("torch", 404), ("torchvision", 403)])
def test_a_product_that_the_index_does_not_list(  # noqa: PLR0917 - the form
    install: Run, packages: Path, server: Server, installer: str, product: str, status: int
) -> None:
    write_sdk(packages)
    write_pages(packages)
    server.missing = status
    said = install(product, "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=f"{server.root}/simple/")
    assert f"{server.root}/simple/ does not list {product} (the server answers {status})" in first(said)
    assert "another stream (--rocm)" in fix(said)


@pytest.mark.parametrize("name", ["torch", "torch" * 10**5, "torch" + "," * 10**5])
def test_a_product_whose_page_never_ends(packages: Path, server: Server, name: str) -> None:
    """A name that the metadata of a wheel requires may be long, too."""
    server.pause = 9
    index = Index(f"{server.root}/simple/", "there", "stable", (10, 0))
    destination, start = Destination("python", str(packages), 11, "pip", ("pip",), (), {}), time.monotonic()
    words = f"that satisfies the requirement {name} (from versions: none)"
    assert explained(destination, index, "rocm", words, "ERROR").message.endswith("\nERROR")
    assert time.monotonic() - start < 3.5


# ---- passwords


@both
@pytest.mark.parametrize("user", ["user:right", "somebody:r@ght"])
def test_a_password(  # noqa: PLR0917 - the form
    install: Run, tmp_path: Path, packages: Path, server: Server, installer: str, user: str
) -> None:
    write_sdk(packages)
    write_pages(packages)
    server.user = user
    words, plain = ("sdk", "--print", "--installer", installer), f"{server.root}/simple/"
    said = install(*words, status=1, ROCM_SDK_INDEX=plain)
    assert first(said).endswith(": 127.0.0.1 asks for a password:")
    assert fix(said) == "put the right one into ~/.netrc"
    said = install(*words, status=1, ROCM_SDK_INDEX=plain.replace("://", f"://user:{SECRET}@"))
    assert "127.0.0.1 refuses the password that ROCM_SDK_INDEX has" in first(said)
    assert fix(said) == "put the right one into ROCM_SDK_INDEX"
    assert SECRET not in said.stderr
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login user password {SECRET}\n")
    said = install(*words, status=1, ROCM_SDK_INDEX=plain)
    assert "127.0.0.1 refuses the password that ~/.netrc has" in first(said)
    assert SECRET not in said.stderr
    name, _, password = user.partition(":")
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login {name} password {password}\n")
    assert "rocm[libraries" in install(*words, ROCM_SDK_INDEX=plain).stdout


@both
@pytest.mark.parametrize(("scheme", "user"), [("http", ""), ("http", f"user:{SECRET}@"), ("https", f"{SECRET}@")])
def test_a_proxy_that_wants_a_password(install: Run, packages: Path, installer: str, scheme: str, user: str) -> None:
    with refusing_proxy(packages) as proxy:
        via = proxy.root.replace("://", f"://{user}")
        index, words = f"{scheme}://index.invalid/simple/", ("sdk", "--dry-run", "--installer", installer)
        said = install(*words, status=1, ROCM_SDK_INDEX=index, **{f"{scheme}_proxy": via})
    does = f"refuses the password that {scheme}_proxy has" if user else "asks for a password"
    assert f"the proxy {proxy.root} {does}" in first(said)
    assert fix(said) == f"put the right one into {scheme}_proxy, as http://USER:PASSWORD@HOST:PORT"
    assert SECRET not in said.stderr


@both
@pytest.mark.parametrize("end", ["?token={}", "?{}", "#token={}", "?user=a@b&token={}", " {}"])
def test_an_address_with_a_query(install: Run, packages: Path, server: Server, installer: str, end: str) -> None:
    write_sdk(packages)
    write_pages(packages)
    address = f"{server.root}/simple/{end.format(SECRET)}"
    said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=address)
    assert "ROCM_SDK_INDEX has a query, a fragment or a blank" in said.stderr
    assert server.asked == []
    assert SECRET not in said.stderr + said.stdout


def test_a_query_of_what_is_no_address(install: Run) -> None:
    said = install("sdk", "--print", status=1, ROCM_SDK_INDEX=f"host/simple/?token={SECRET}")
    assert "names neither the address of a web server nor a directory" in said.stderr
    assert SECRET not in said.stderr


@both
def test_links_with_queries(install: Run, packages: Path, server: Server, python: Path, installer: str) -> None:
    """Signed addresses work, and are not quoted where their signature is refused."""
    write_sdk(packages)
    server.token = f"sig={SECRET}&expires=1"
    write_pages(packages, query=f"?{server.token}")
    words, variables = ("sdk", "--yes", "--installer", installer), {"ROCM_SDK_INDEX": f"{server.root}/simple/"}
    server.token = "another"
    said = install(*words, status=1, python=python, **variables)
    assert ".whl, for which the server answers 403" in first(said)
    assert SECRET not in said.stderr
    server.token = f"sig={SECRET}&expires=1"
    install(*words, status=None, python=python, **variables)
    assert list(python.parents[1].glob("lib/python3*/site-packages/rocm_sdk_core-10.0.0.dist-info"))


# ---- each wording of pip and uv


def _packaging(packages: Path, requirement: str, *versions: str) -> None:
    write_sdk(packages, requirement)
    for each in versions:
        write_wheel(packages, requirement.partition("=")[0].partition(">")[0], each)
    write_pages(packages)


def _other_tag(packages: Path, name: str = "packaging") -> None:
    _packaging(packages, f"{name}>=1", "2.0")
    page = packages / f"simple/{name}/index.html"
    page.write_text(page.read_text().replace("py3-none-any", "cp39-cp39-linux_x86_64"))
    wheel = packages / f"{name}-2.0-py3-none-any.whl"
    wheel.rename(packages / f"{name}-2.0-cp39-cp39-linux_x86_64.whl")


def _source(packages: Path, requirement: str) -> None:
    build = f'[build-system]\nrequires = ["{requirement}"]\nbuild-backend = "backend"\n'
    metadata = "Metadata-Version: 2.1\nName: rocm\nVersion: 10.0.0\n"
    write_source_archive(packages, "rocm-10.0.0", {"PKG-INFO": metadata.encode(), "pyproject.toml": build.encode()})
    write_pages(packages)


def _digest(packages: Path) -> None:
    write_sdk(packages)
    write_pages(packages, wrong="rocm_sdk_core")


def _large(packages: Path) -> None:
    core = write_sdk(packages)
    core.unlink()
    make_wheel(packages, "rocm-sdk-core", {"large_files/random.bin": os.urandom(1 << 20)}, "10.0.0")
    write_pages(packages)


def _sound(packages: Path) -> None:
    write_sdk(packages)
    write_pages(packages)


def _cut(packages: Path) -> None:
    core = write_sdk(packages)
    core.write_bytes(core.read_bytes()[:-300])
    write_pages(packages)


def _gone(packages: Path) -> None:
    core = write_sdk(packages)
    write_pages(packages)
    core.unlink()


# Installer, kind, how often it stands in the table before -> the index, the option, what is said.
CASES: dict[tuple[str, str, int], tuple[Callable[[Path], None], str, str]] = {
    ("pip", "digest", 0): (_digest, "--print", "rocm_sdk_core-10.0.0-py3-none-any.whl has another SHA-256"),
    ("uv", "digest", 0): (_digest, "--yes", "rocm-sdk-core==10.0.0 has another SHA-256"),
    ("pip", "space", 0): (_large, "--yes", "no space is left for "),
    ("uv", "space", 0): (_large, "--yes", "no space is left for "),
    ("pip", "rights", 0): (_sound, "--yes", "root may not write "),
    ("uv", "rights", 0): (_sound, "--yes", "root may not write "),
    ("pip", "build", 0): (lambda p: _source(p, "flit-core>=3"), "--print", "building rocm requires flit-core>=3"),
    ("uv", "build", 0): (lambda p: _source(p, "flit-core>=3"), "--print", "building rocm requires flit-core>=3"),
    ("pip", "lack", 0): (
        lambda p: _packaging(p, "sympy>=9", "1.0"),
        "--print",
        "no sympy>=9, which rocm-sdk-core requires: it has 1.0",
    ),
    ("pip", "lack", 1): (
        lambda p: _source(p, "rocm-sdk-loader"),
        "--print",
        "no rocm-sdk-loader, which the build of rocm requires",
    ),
    ("uv", "lack", 0): (lambda p: _packaging(p, "sympy"), "--print", "no sympy, which rocm-sdk-core requires"),
    ("uv", "lack", 1): (
        lambda p: _source(p, "rocm-sdk-loader"),
        "--print",
        "no rocm-sdk-loader, which the build of rocm requires",
    ),
    ("uv", "lack", 2): (
        _other_tag,
        "--print",
        "no packaging for this Python and system, which rocm-sdk-core requires: it has packaging 2.0 (cp39)",
    ),
    ("uv", "lack", 3): (
        lambda p: _packaging(p, "sympy==9", "1.0", "2.0"),
        "--print",
        "no sympy==9, which rocm-sdk-core requires: it has 1.0, 2.0",
    ),
    ("uv", "lack", 4): (
        lambda p: _packaging(p, "sympy>=9", "1.0"),
        "--print",
        "no sympy>=9, which rocm-sdk-core requires: it has 1.0",
    ),
    ("pip", "cut", 0): (_cut, "--print", "rocm_sdk_core-10.0.0-py3-none-any.whl is damaged or cut"),
    ("uv", "cut", 0): (_cut, "--yes", "rocm_sdk_core-10.0.0-py3-none-any.whl is damaged or cut"),
    ("pip", "refused", 0): (
        _gone,
        "--print",
        "names rocm_sdk_core-10.0.0-py3-none-any.whl, for which the server answers 404",
    ),
    ("uv", "refused", 0): (
        _gone,
        "--print",
        "names rocm_sdk_core-10.0.0-py3-none-any.whl, for which the server answers 404",
    ),
}
RUNS = [
    (row, way) for row in CASES for way in (("of Python", "of the tests") if row[0] == "pip" else ("of the tests",))
]


def rows() -> list[tuple[str, str, int]]:
    """Return the rows of the table as the cases name them."""
    kinds = [row[:2] for row in WORDINGS]
    return [(*kind, kinds[:place].count(kind)) for place, kind in enumerate(kinds)]


def row_of(installer: str, said: str) -> tuple[str, str, int] | None:
    """Return the row that counts for the words of an installer."""
    for row, (tool, _, words) in zip(rows(), WORDINGS, strict=True):
        for short, long in _SHORT.items():
            words = words.replace(short, long)  # noqa: PLW2901 - as the command does
        found = re.search(words, said, re.DOTALL) if tool == installer else None
        if found is not None and not found.groupdict().get("requirement", "").startswith("rocm-sdk-loader"):
            return row
    return None


def test_each_wording_is_tried() -> None:
    assert rows() == [*CASES]


@as_root
@pytest.mark.parametrize(
    ("row", "pip"), RUNS, ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else value
)
def test_a_wording(  # noqa: PLR0917 - the form
    install: Run,
    tmp_path: Path,
    packages: Path,
    server: Server,
    mounted: Callable[[Path, str], None],
    row: tuple[str, str, int],
    pip: str,
) -> None:
    """The real installer says it, and nothing of the package is installed."""
    make, option, cause = CASES[row]
    installer, kind, _ = row
    python = (environment_with_pip if pip == "of Python" else empty_environment)(tmp_path / "environment")
    (site,) = (tmp_path / "environment/lib").glob("python3*/site-packages")
    make(packages)
    variables = {"ROCM_SDK_INDEX": f"{server.root}/simple/"}
    if kind == "space":
        mounted(tmp_path / "small", "size=400k")
        variables |= {"TMPDIR": str(tmp_path / "small"), "UV_CACHE_DIR": str(tmp_path / "small/cache")}
    if kind == "rights":
        mounted(site / "rocm_sdk_core_files", "ro")
    said = install("sdk", option, "--installer", installer, status=1, python=python, **variables)
    assert cause in first(said)
    shown = re.sub(r"^rocm-sdk:   ", "", said.stderr, flags=re.MULTILINE)
    assert row_of(installer, shown) in {row, None if len(shown.splitlines()) > 7 else row}, "the last lines are shown"
    assert said.stderr.splitlines()[-1].startswith("  fix: ")
    assert not (site / "rocm_sdk_core_files/__init__.py").exists()


@both
@pytest.mark.parametrize(
    ("requirement", "versions"), [("mpmath<1.4,>=1.1", ("1.4.0",)), ("sympy!=1.13.1,>=1.13", ("1.9", "1.12"))]
)
def test_versions_that_do_not_fit(  # noqa: PLR0917 - the form
    install: Run, packages: Path, server: Server, installer: str, requirement: str, versions: tuple[str, ...]
) -> None:
    """The message names what is required, by whom, and what there is."""
    write_sdk(packages, requirement)
    name = re.split("[<!]", requirement)[0]
    for each in versions:
        write_wheel(packages, name, each)
    write_pages(packages)
    said = install("sdk", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=f"{server.root}/simple/")
    found = re.search(rf"it has no {name}\S* ?.*which rocm-sdk-core requires: it has (.*):$", first(said))
    assert found is not None, said.stderr
    assert sorted(found[1].split(", ")) == sorted(versions)


@both
@pytest.mark.parametrize(("whole", "release"), [("10.0.1", "10.0.2"), ("7.13.0", "7.14.0")])
def test_a_release_without_core(  # noqa: PLR0917 - the form
    install: Run, packages: Path, server: Server, installer: str, whole: str, release: str
) -> None:
    write_sdk(packages, release=whole)
    write_sdk(packages, release=release, core=False)
    write_pages(packages)
    words, variables = ("sdk", "--print", "--installer", installer), {"ROCM_SDK_INDEX": f"{server.root}/simple/"}
    said = install(*words, "--rocm", release, status=1, **variables)
    assert f"it has no rocm-sdk-core=={release}, which rocm requires: it has {whole}:" in first(said)
    assert f"=={whole}" in install(*words, **variables).stdout


@pytest.mark.parametrize("name", ["rocm_sdk_core", "rocm_sdk_device_gfx1100"])
@both
def test_another_digest(  # noqa: PLR0917 - the form
    install: Run, packages: Path, server: Server, python: Path, installer: str, name: str
) -> None:
    """Nothing of any package is installed. Once the page is in order, the same command installs."""
    write_sdk(packages)
    write_pages(packages, wrong=name)
    words, variables = ("sdk", "--yes", "--installer", installer), {"ROCM_SDK_INDEX": f"{server.root}/simple/"}
    said = install(*words, status=1, python=python, **variables)
    assert name.replace("_", "-") in first(said).replace("_", "-")
    assert "has another SHA-256 than its page of the index says, and nothing of it is installed" in first(said)
    assert fix(said) == "ask those who run the index to put the file and its page in order"
    (site,) = python.parents[1].glob("lib/python3*/site-packages")
    assert not list(site.glob("rocm*"))
    for page in packages.glob("simple/*/index.html"):
        page.unlink()
    write_pages(packages)
    install(*words, status=None, python=python, UV_NO_CACHE="1", **variables)
    assert list(site.glob(f"{name}-10.0.0.dist-info"))


def test_the_installation_at_a_terminal(tmp_path: Path, packages: Path, server: Server, python: Path) -> None:
    """The installer uv has its colours and bars there, and its words are understood all the same."""
    write_sdk(packages)
    write_pages(packages, wrong="rocm_sdk_core")
    machine = machine_of(tmp_path / "machine", "gfx1100")
    variables = {"ROCM_SDK_ROOTFS": str(machine.root), "ROCM_SDK_INDEX": f"{server.root}/simple/", "TERM": "xterm"}
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "CI"}}
    words = ["install", "sdk", "--yes", "--installer", "uv", "--python", str(python)]
    command = [sys.executable, "-m", "rocm_sdk", *words]
    environment = kept | variables | {"COLUMNS": "200"}
    shown = terminal_output(command, environment, status=1, streams=("stdin", "stdout", "stderr"))
    assert "\x1b[31merror" in shown
    plain = " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).split())
    assert "uv failed: rocm-sdk-core==10.0.0 has another SHA-256" in plain
