"""Reports about printed commands that installers refuse: each fix of the table resolves, wherever the SDK came from.

AMD's index is a copy on this machine, in place of the address in the command; so is the public one, which has
placeholders.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from environments import UV, environment_with_pip, installer_command
from programs import completed
from sample_devel import DevelSite, make_wheel
from sample_site import clean_environment
from sdk_environment import QuietHandler, write_index
from web_server import serving

from rocm_sdk.problems import ENTRIES
from rocm_sdk.problems.problem import install_fix, problem

VERSION, OTHER = "7.10.0", "7.11.0"
TREE = "a tree"
TORCH = "amd-torch-device-gfx1100"
NO_CONFIGURATION = {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
AMD = ("https://repo.amd.com/rocm/whl-multi-arch/", "https://stable.repo.amd.com/rocm/whl-next/")
PACKAGES = ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx1100")
DEVICE = f"rocm-sdk-device-gfx1100=={VERSION}"
AGAIN = ("--force-reinstall", "--ignore-installed", "--reinstall-package")


class Wish(NamedTuple):
    """The packages that a fix is to install."""

    requirement: str
    brings: tuple[str, ...]
    distribution: str | None = None
    selector: str | None = None  # what would choose it, where it was built again: W-PKG-010


WISHES = (
    Wish(f"rocm-sdk-core=={VERSION}", ("rocm-sdk-core",), "rocm-sdk-core"),
    Wish(f"rocm-sdk-libraries=={OTHER}", ("rocm-sdk-libraries",), "rocm-sdk-libraries"),
    Wish(DEVICE, ("rocm-sdk-device-gfx1100",), "rocm-sdk-device-gfx1100"),
    Wish(f"rocm[libraries,devel]=={VERSION}", ("rocm-sdk-devel", "rocm-sdk-libraries")),
    Wish(DEVICE, ("rocm-sdk-device-gfx1100",), None, f"rocm[libraries,device]=={VERSION}"),
    Wish(f"{TORCH}==2.12.0+rocm{VERSION}", (TORCH,), TORCH),
)


def write_release(directory: Path, version: str, *, with_selector: bool) -> None:
    for name in PACKAGES:
        headers = "Requires-Dist: rocm-sdk-loader[devel]\n" if name == "rocm-sdk-devel" else ""
        make_wheel(directory, name, {f"{name.replace('-', '_')}_files/__init__.py": b""}, version, headers)
    if with_selector:
        extras = {"libraries": "libraries", "devel": "devel", "device": "device-gfx1100"}
        need = "Provides-Extra: {0}\nRequires-Dist: rocm-sdk-{1}=={2}; extra == '{0}'\n"
        needs = "".join(need.format(each, package, version) for each, package in extras.items())
        make_wheel(directory, "rocm", {"rocm_selector/__init__.py": b""}, version, needs)


class Places(NamedTuple):
    """The places of packages: all of AMD's at `amd`, and placeholders at `public`.

    A release without the packages that build a selector is in `directory` and at `served`. A source tree of core is in
    `tree`.
    """

    directory: Path
    tree: Path
    amd: str
    public: str
    served: str


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    folder = tmp_path_factory.mktemp("places")
    directory, amd, public = (folder / each for each in ("dist", "amd", "public"))
    write_release(directory, VERSION, with_selector=False)
    (directory / f"rocm-{VERSION}.tar.gz").write_bytes(b"its build needs the loader")
    for version in (VERSION, OTHER):
        write_release(amd, version, with_selector=True)
    make_wheel(amd, "rocm-sdk-loader", {"rocm_sdk_loader/__init__.py": b""}, "1.0", "Provides-Extra: devel\n")
    make_wheel(amd, TORCH, {"torch_device/__init__.py": b""}, f"2.12.0+rocm{VERSION}")
    for name in (*PACKAGES, "rocm"):
        make_wheel(public, name, {f"{name.replace('-', '_')}_placeholder/__init__.py": b""}, "0.1.0")
    write_index(amd, folder / "simple-amd")
    write_index(public, folder / "simple-public")
    tree = write_tree(folder / TREE, directory / f"rocm_sdk_core-{VERSION}-py3-none-any.whl")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    with serving(server):
        address = f"http://127.0.0.1:{server.server_port}"
        yield Places(directory, tree, f"{address}/simple-amd/", f"{address}/simple-public/", f"{address}/dist/")


def write_tree(directory: Path, wheel: Path) -> Path:
    """Write a source tree, whose build takes a wheel that is there."""
    directory.mkdir()
    backend = f"""
import shutil
def build_wheel(directory, *_):
    shutil.copy({str(wheel)!r}, directory)
    return {wheel.name!r}
build_editable = build_wheel
"""
    (directory / "backend.py").write_text(backend)
    table = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    (directory / "pyproject.toml").write_text(f'{table}[project]\nname = "rocm-sdk-core"\nversion = "{VERSION}"\n')
    return directory


# Name -> installer, the source from which core was installed, and whether the installer's record of it stays.
ORIGINS = {
    "a directory of wheels": ("pip", "directory", True),
    "uv, a directory of wheels": ("uv", "directory", True),
    "an address": ("pip", "address", True),
    "uv, an address": ("uv", "address", True),
    "AMD's index": ("pip", "amd", True),
    "an index of ours": ("pip", "configured", True),
    "no record of where": ("pip", "directory", False),
    "uv, AMD's index": ("uv", "amd", True),
    "uv, an index of ours": ("uv", "configured", True),
    "uv, no record of where": ("uv", "directory", False),
    "a source tree": ("pip", "tree", True),
    "an editable source tree": ("pip", "editable", True),
    "uv, an editable source tree": ("uv", "editable", True),
}


class Environments:
    """An environment that is filled from each origin in turn. Each command runs once."""

    def __init__(self, folder: Path, places: Places) -> None:
        self.places = places
        self.python = environment_with_pip(folder / "venv")
        (self.site,) = (folder / "venv").glob("lib/python*/site-packages")
        self._seen: dict[tuple[str, bool], set[str]] = {}

    def fill(self, installer: str, source: str, *, keeps_record: bool) -> None:
        """Install core alone: the rest is lacking."""
        for each in self.site.glob("rocm_sdk*"):
            shutil.rmtree(each)
        name = f"rocm_sdk_core-{VERSION}-py3-none-any.whl"
        sources = {
            "directory": [str(self.places.directory / name)],
            "address": [self.places.served + name],
            "tree": [str(self.places.tree)],
            "editable": ["--editable", str(self.places.tree)],
        }
        words = sources.get(source, ["--index-url", self.places.amd, f"rocm-sdk-core=={VERSION}"])
        command = [*installer_command(installer, self.python, "install"), "--no-deps", *words]
        done = completed(command, env=clean_environment() | NO_CONFIGURATION)
        assert done.returncode == 0, done.stderr
        if not keeps_record:
            (note,) = self.site.glob("*/direct_url.json")
            note.unlink()

    def resolved(self, fix: str, *, is_configured: bool) -> set[str]:
        """Return the packages that a command would install, by the installer itself."""
        if (fix, is_configured) not in self._seen:
            index = self.places.amd if is_configured else self.places.public
            environment = clean_environment() | NO_CONFIGURATION | {"PIP_INDEX_URL": index, "UV_INDEX_URL": index}
            command = fix.replace(AMD[0], self.places.amd).replace(AMD[1], self.places.amd)
            self._seen[fix, is_configured] = would_install(command, environment)
        return self._seen[fix, is_configured]


def would_install(fix: str, environment: dict[str, str]) -> set[str]:
    is_of_uv = fix.startswith("uv ")
    asking = ["--dry-run"] if is_of_uv else ["--dry-run", "--quiet", "--report", "-"]
    done = completed([*shlex.split(fix), *asking], env=environment)
    assert done.returncode == 0, f"{fix}\n{done.stderr}"
    if is_of_uv:
        lines = (line.strip() for line in done.stderr.splitlines())
        return {re.split("==| @", line[2:])[0].strip() for line in lines if line.startswith(("+ ", "~ "))}
    return {each["metadata"]["name"] for each in json.loads(done.stdout)["install"]}


def fixes_of(wish: Wish, site: Path) -> set[str]:
    """Return every command of an installer that the table can print for a wish.

    A package of this version that is there needs no installation: the reports are of commands that replace it. A
    selector is not installed again in the place of what it brings.
    """
    facts = {"requirement": wish.requirement, "distribution": wish.distribution, "selector": wish.selector}
    found = set()
    for code, entry in ENTRIES.items():
        if (code == "W-PKG-010") == (wish.selector is not None) and any(" install " in fix.text for fix in entry.fixes):
            fix = problem(code, None, str(site), version=wish.requirement.partition("==")[2], **facts).fix or ""
            parts = fix.partition("  # ")[0].split(" && ")
            found |= {each for each in parts if " install " in each and each.startswith(("uv ", str(site.parents[2])))}
    if wish.selector is not None:
        return found
    names = (wish.requirement.partition("==")[0], *wish.brings, TREE)
    again = {each: any(option in each for option in AGAIN) for each in found if any(name in each for name in names)}
    is_there = wish.brings == ("rocm-sdk-core",)
    return {
        each for each, is_again in again.items() if (is_again or not is_there) and (wish.distribution or not is_again)
    }


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory, places: Places) -> Environments:
    return Environments(tmp_path_factory.mktemp("environments"), places)


@pytest.mark.slow
@pytest.mark.parametrize("name", ORIGINS)
def test_fixes_resolve(name: str, environments: Environments, monkeypatch: pytest.MonkeyPatch) -> None:
    installer, source, keeps_record = ORIGINS[name]
    for each in [each for each in os.environ if each.startswith(("PIP_", "UV_", "ROCM_SDK_"))]:
        monkeypatch.delenv(each)
    for each, value in NO_CONFIGURATION.items():
        monkeypatch.setenv(each, value)
    monkeypatch.setenv("PATH", str(Path(UV).parent), prepend=os.pathsep)
    environments.fill(installer, source, keeps_record=keeps_record)
    places, is_configured = environments.places, source == "configured"
    if is_configured:
        monkeypatch.setenv("PIP_INDEX_URL", places.amd)
    option = "--editable " if source == "editable" else ""
    of_core = {"tree": f" '{places.tree}'", "editable": f" {option}'{places.tree}'"}
    of_core["address"] = f"'rocm-sdk-core @ {places.served}"
    for wish in WISHES:
        fixes = fixes_of(wish, environments.site)
        assert fixes, wish
        if source == "directory" and keeps_record and wish.selector is not None:
            assert all(f"--no-deps --find-links {places.directory} " in each for each in fixes), fixes
        if wish.distribution == "rocm-sdk-core" and source in of_core:
            assert all(of_core[source] in each for each in fixes), fixes
        for fix in fixes:
            assert environments.resolved(fix, is_configured=is_configured) >= set(wish.brings), fix


def test_packages_of_torch_come_from_where_torch_came_from(tmp_path: Path) -> None:
    """Both came from directories of wheels, and each directory has packages of its own."""
    site = DevelSite(tmp_path / "site-packages")
    for name, version, device in (("rocm-sdk-core", VERSION, ""), ("torch", f"2.12.0+rocm{VERSION}", TORCH)):
        site.install(name, {f"{name}/__init__.py": b""}, version)
        wheel = make_wheel(tmp_path / f"of {name}", name, {}, version)
        if device:
            make_wheel(wheel.parent, device, {}, version)
        note = site.record(name, version).with_name("direct_url.json")
        note.write_text(json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    fix = install_fix(f"{TORCH}==2.12.0+rocm{VERSION}", str(site.path))
    assert f"--find-links '{tmp_path}/of torch' " in fix
    fix = install_fix(f"{TORCH}==2.13.0+rocm{VERSION}", str(site.path))
    assert f"--index-url {AMD[0]} " in fix
