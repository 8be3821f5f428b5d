"""How the SDK was installed, read from what installers leave: the command of a fix follows from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from other_user import OtherUser
from sample_devel import DevelSite, core_files

from rocm_sdk.installed import installer
from rocm_sdk.problems.fixes import install_fix, reinstall_fix


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither variables nor files of installers, and only the tools that a test puts into PATH."""
    for name in os.environ:
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(installer, "_pip_files", lambda: [str(tmp_path / "config/pip/pip.conf")])
    installer._has_index.cache_clear()


@pytest.fixture
def tool(tmp_path: Path) -> Callable[[str], None]:
    """`tool("uv")` puts a program of this name into PATH."""

    def put(name: str) -> None:
        path = tmp_path / "tools" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)

    return put


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    """A virtual environment without pip, with the core package as pip leaves it."""
    environment = tmp_path / "my env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    found = DevelSite(packages)
    found.install("rocm-sdk-core", core_files(), "7.10.0+local.1")
    recorded_by(found, "pip")
    return found


def recorded_by(site: DevelSite, name: str) -> None:
    (site.path / "rocm_sdk_core-7.10.0+local.1.dist-info/INSTALLER").write_text(f"{name}\n")


def environment_of(site: DevelSite) -> Path:
    return site.path.parents[2]


def fix(site: DevelSite) -> str:
    return reinstall_fix("rocm-sdk-core", str(site.path))


AMD = "https://repo.amd.com/rocm/whl-multi-arch/"
UNKNOWN = "--index-url <the index that you installed ROCm from> "
WHAT = "rocm-sdk-core==7.10.0+local.1"


def test_pip(site: DevelSite) -> None:
    (site.path / "pip").mkdir()
    python = f"'{environment_of(site)}/bin/python'"
    assert fix(site) == f"{python} -m pip install --force-reinstall --no-deps {UNKNOWN}{WHAT}  # AMD's index: {AMD}"


def test_uv_where_it_is(site: DevelSite, tool: Callable[[str], None]) -> None:
    recorded_by(site, "uv")
    python = f"'{environment_of(site)}/bin/python'"
    assert " -m ensurepip && " in fix(site)  # neither pip nor uv is here
    tool("pip")
    assert fix(site).startswith(f"pip --python {python} install --force-reinstall --no-deps ")
    tool("uv")
    assert fix(site).startswith(f"uv pip install --python {python} --no-deps --reinstall-package rocm-sdk-core ")


@pytest.mark.parametrize("name", ["Poetry 1.8.3", "pdm", "", "../../etc/passwd"])
def test_other_installers_have_no_command_of_their_own(site: DevelSite, tool: Callable[[str], None], name: str) -> None:
    recorded_by(site, name)
    tool("uv")
    assert fix(site).startswith("uv pip install --python ")


def test_pipx(site: DevelSite, tool: Callable[[str], None]) -> None:
    (environment_of(site) / "pipx_metadata.json").write_text("{}")
    tool("pipx")
    assert fix(site).startswith("pipx runpip 'my env' install --force-reinstall --no-deps ")


def test_conda(site: DevelSite) -> None:
    (environment_of(site) / "conda-meta").mkdir()
    recorded_by(site, "conda")
    assert (
        fix(site) == f"conda install --prefix '{environment_of(site)}' --force-reinstall rocm-sdk-core=7.10.0+local.1"
    )


def test_a_directory_of_no_environment(tmp_path: Path) -> None:
    """--target replaces directories that packages share, so that all packages are named."""
    site = DevelSite(tmp_path / "target")
    site.install("rocm-sdk-core", core_files())
    site.install("rocm-sdk-libraries", {"_rocm_sdk_libraries/__init__.py": b""})
    command = fix(site)
    assert f"-m pip install --target {site.path} --upgrade --no-deps " in command
    assert " rocm-sdk-core==7.10.0 rocm-sdk-libraries==7.10.0" in command


def test_a_package_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its package manager reinstalls it, never pip."""
    prefix = tmp_path / "usr"
    site = DevelSite(prefix / "lib/python3/dist-packages")
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python3").symlink_to(sys.executable)
    site.install("rocm-sdk-core", core_files())
    monkeypatch.setattr(installer, "_SYSTEM_PREFIXES", (str(prefix),))
    assert installer.installation_facts(str(site.path))["installer"] == "system"
    assert "pip" not in fix(site).replace("dist-packages", "")


def test_the_directory_of_the_wheel_is_used(site: DevelSite, tmp_path: Path) -> None:
    (site.path / "pip").mkdir()
    wheel = tmp_path / "my wheels/rocm_sdk_core-7.10.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    note = site.path / "rocm_sdk_core-7.10.0+local.1.dist-info/direct_url.json"
    note.write_text(json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    assert f"--find-links '{wheel.parent}' {WHAT}" in fix(site)
    wheel.unlink()
    assert UNKNOWN in fix(site)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": 1}', '{"url": "file:///\\u0000"}', "[" * 100_000, "\udcff"])
def test_a_note_that_says_nothing(site: DevelSite, text: str) -> None:
    note = site.path / "rocm_sdk_core-7.10.0+local.1.dist-info/direct_url.json"
    note.write_text(text, errors="surrogateescape")
    assert UNKNOWN in fix(site)


def test_an_index_of_the_configuration_is_not_repeated(
    site: DevelSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold credentials, and the installer reads it itself."""
    (site.path / "pip").mkdir()
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:secret@index/simple")
    assert "index-url" not in fix(site)
    monkeypatch.delenv("PIP_INDEX_URL")
    installer._has_index.cache_clear()
    assert UNKNOWN in fix(site)
    configuration = tmp_path / "config/pip/pip.conf"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("[global]\nextra-index-url = https://user:secret@index/simple\n")
    installer._has_index.cache_clear()
    assert "index-url" not in fix(site)


def test_nothing_is_installed() -> None:
    command = install_fix("rocm-sdk-device-gfx942==7.10.0")
    assert " install " in command
    assert "rocm-sdk-device-gfx942==7.10.0" in command


def test_a_directory_of_another_user_is_said(other_user: OtherUser, open_directory: Path) -> None:
    """In a child, as the superuser may write everywhere."""
    program = "import rocm_sdk.installed.installer, sys; print(rocm_sdk.installed.installer._obstacle(sys.argv[1]))"
    result = other_user.run("-c", program, open_directory, check=True)
    assert result.stdout == f"{open_directory} belongs to root: run it as that user\n"
