"""The way in which the SDK was installed, read from traces of installers: the command of a fix follows from it."""

import json
import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import empty_environment
from other_user import OtherUser
from own_mounts import need_mounts
from programs import completed
from sample_devel import DevelSite, as_root, core_files

from rocm_sdk.installed import installer
from rocm_sdk.problems.problem import install_fix, reinstall_fix


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave out variables and files of installers; PATH has only the tools that a test puts there."""
    for name in os.environ:
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "machine"))
    monkeypatch.delenv("ROCM_SDK_INDEX", raising=False)
    files = installer._pip_files
    monkeypatch.setattr(
        installer, "_pip_files", lambda prefix: [each for each in files(prefix) if each != "/etc/pip.conf"]
    )


@pytest.fixture
def tool(tmp_path: Path) -> Callable[[str], None]:
    """Return a function that puts a program of this name into PATH."""

    def put(name: str) -> None:
        path = tmp_path / "tools" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)

    return put


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    """Return a virtual environment without pip, with the core package as pip leaves it."""
    environment = tmp_path / "my env"
    empty_environment(environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    found = DevelSite(packages)
    found.install("rocm-sdk-core", core_files(), "7.10.0+local.1")
    recorded_by(found, "pip")
    return found


@pytest.fixture
def uv_site(site: DevelSite, tool: Callable[[str], None]) -> DevelSite:
    """Return the environment with the package as uv leaves it, with uv in PATH."""
    recorded_by(site, "uv")
    tool("uv")
    return site


def recorded_by(site: DevelSite, name: str) -> None:
    (site.path / "rocm_sdk_core-7.10.0+local.1.dist-info/INSTALLER").write_text(f"{name}\n")


def environment_of(site: DevelSite) -> Path:
    return site.path.parents[2]


def fix(site: DevelSite) -> str:
    return reinstall_fix("rocm-sdk-core", str(site.path))


AMD = "--index-url https://repo.amd.com/rocm/whl-multi-arch/ "
WHAT = "rocm-sdk-core==7.10.0+local.1"


def test_pip(site: DevelSite) -> None:
    (site.path / "pip").mkdir()
    python = f"'{environment_of(site)}/bin/python'"
    assert fix(site) == f"{python} -m pip install --force-reinstall --no-deps {AMD}{WHAT}"


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
    """`--target` replaces directories that packages share, so that files go into theirs one by one."""
    site = DevelSite(tmp_path / "target")
    site.install("rocm-sdk-core", core_files())
    site.install("rocm-sdk-libraries", {"_rocm_sdk_libraries/__init__.py": b""})
    command = fix(site)
    assert command.startswith(f"d=$(mktemp -d {site.path}/.new.XXXXXX) && ")
    assert '-m pip install --target "$d" --no-deps ' in command
    assert ' rocm-sdk-core==7.10.0 && (tar -C "$d" -cf - . && mv "$d" "$d.read") | tar ' in command
    assert command.endswith(' -xf - && rm -r "$d.read"')


def test_a_directory_of_a_prefix(tmp_path: Path) -> None:
    """Without an interpreter of its own."""
    scheme = sysconfig.get_preferred_scheme("prefix")
    site = DevelSite(Path(sysconfig.get_path("purelib", scheme, {"base": str(tmp_path), "platbase": str(tmp_path)})))
    site.install("rocm-sdk-core", core_files())
    assert f"-m pip install --prefix {tmp_path} --ignore-installed --no-deps " in fix(site)


@pytest.fixture
def of_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DevelSite:
    """Return the packages of a system."""
    prefix = tmp_path / "usr"
    site = DevelSite(prefix / "lib/python3/dist-packages")
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python3").symlink_to(sys.executable)
    site.install("rocm-sdk-core", core_files())
    monkeypatch.setattr(installer, "_SYSTEM_PREFIXES", (str(prefix),))
    return site


def test_a_package_of_the_system(of_system: DevelSite) -> None:
    """The package manager of the system reinstalls the package, never pip."""
    assert installer.installation_facts(str(of_system.path))["installer"] == "system"
    assert "pip" not in fix(of_system).replace("dist-packages", "")


@pytest.mark.parametrize("recorded", ["pip", "uv"])
def test_what_pip_put_beside_the_systems_packages(of_system: DevelSite, recorded: str) -> None:
    """The package manager does not know it."""
    (of_system.path / "pip").mkdir()
    (of_system.path / "rocm_sdk_core-7.10.0.dist-info/INSTALLER").write_text(f"{recorded}\n")
    assert installer.installation_facts(str(of_system.path))["installer"] == "pip"


def test_a_virtual_environment_below_the_systems_prefix(site: DevelSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package manager does not know what is in it, whoever filled it."""
    (site.path / "pip").mkdir()
    recorded_by(site, "somebody")
    monkeypatch.setattr(installer, "_SYSTEM_PREFIXES", (str(environment_of(site)),))
    assert installer.installation_facts(str(site.path))["installer"] == "pip"
    (environment_of(site) / "pyvenv.cfg").unlink()
    assert installer.installation_facts(str(site.path))["installer"] == "system"


def test_the_directory_of_the_wheel_is_used(site: DevelSite, tmp_path: Path) -> None:
    (site.path / "pip").mkdir()
    wheel = tmp_path / "my wheels/rocm_sdk_core-7.10.0+local.1-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    note = site.path / "rocm_sdk_core-7.10.0+local.1.dist-info/direct_url.json"
    note.write_text(json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    assert f"--find-links '{wheel.parent}' {WHAT}" in fix(site)
    note.write_text(json.dumps({"url": wheel.as_uri().replace("file:", "https:"), "archive_info": {}}))
    assert AMD in fix(site), "it is of another machine"
    note.write_text(json.dumps({"url": wheel.parent.as_uri(), "dir_info": {}}))
    assert fix(site).endswith(f" '{wheel.parent}'"), "it is a source tree"
    note.write_text(json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    wheel.unlink()
    assert AMD in fix(site)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": 1}', '{"url": "file:///\\u0000"}', "[" * 100_000, "\udcff"])
def test_a_note_that_says_nothing(site: DevelSite, text: str) -> None:
    note = site.path / "rocm_sdk_core-7.10.0+local.1.dist-info/direct_url.json"
    note.write_text(text, errors="surrogateescape")
    assert AMD in fix(site)


Settings = tuple[dict[str, str], dict[str, str]]  # variables, and the texts of files

OWN = "https://user:secret@index/simple"


# Settings in the variables and files of pip -> whether they set an index that replaces the public one.
@pytest.mark.parametrize(
    ("settings", "is_set"),
    [
        (({"PIP_INDEX_URL": OWN}, {}), True),
        (({"PIP_INDEX_URL": "https://pypi.org/simple/"}, {"config/pip/pip.conf": f"[global]\nindex-url={OWN}"}), False),
        (({"PIP_EXTRA_INDEX_URL": OWN, "PIP_FIND_LINKS": "/wheels"}, {}), False),
        (({}, {"config/pip/pip.conf": f"[global]\nextra-index-url = {OWN}\nfind-links = /wheels\n"}), False),
        (({}, {"config/pip/pip.conf": f"[global]\nindex_url = {OWN}\n"}), True),
        (({}, {"config/pip/pip.conf": f"[global]\n# index-url = {OWN}\n"}), False),
        (({}, {"config/pip/pip.conf": f"[download]\nindex-url = {OWN}\n"}), False),
        (({}, {"home/.pip/pip.conf": f"[install]\nindex-url = {OWN}\n"}), True),
        (({}, {"machine/pip/pip.conf": f"[global]\nindex-url = {OWN}\n"}), True),
        (({}, {"my env/pip.conf": f"[global]\nindex-url = {OWN}\n"}), True),
        (({}, {"my env/pip.conf": "[global]\nindex-url = https://pypi.org/simple\n"}), False),
        (({"PIP_CONFIG_FILE": os.devnull}, {"config/pip/pip.conf": f"[global]\nindex-url = {OWN}\n"}), False),
        (({"PIP_CONFIG_FILE": "own.conf"}, {"own.conf": f"[global]\nindex-url = {OWN}\n"}), True),
        (({"UV_DEFAULT_INDEX": OWN}, {"uv.toml": f'index-url = "{OWN}"\n'}), False),  # uv's are not pip's
    ],
)
def test_an_index_that_pip_is_told(
    site: DevelSite,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    is_set: bool,
) -> None:
    """An index is not repeated: its address may hold credentials, and the installer reads it itself."""
    (site.path / "pip").mkdir()
    configure(tmp_path, monkeypatch, settings)
    assert ("index-url" not in fix(site)) is is_set


@pytest.mark.parametrize(
    ("settings", "is_set"),
    [
        (({"UV_DEFAULT_INDEX": OWN}, {}), True),
        (({"UV_DEFAULT_INDEX": f"own={OWN}"}, {}), True),
        (({"UV_DEFAULT_INDEX": "public=https://pypi.org/simple"}, {}), False),
        (({"UV_INDEX_URL": OWN}, {}), True),
        (({"UV_INDEX": OWN, "UV_EXTRA_INDEX_URL": OWN, "UV_FIND_LINKS": "/wheels", "PIP_INDEX_URL": OWN}, {}), False),
        (({}, {"config/uv/uv.toml": f'index-url = "{OWN}"\n'}), True),
        (({}, {"config/uv/uv.toml": f'[pip]\nindex-url = "{OWN}"\n'}), True),
        (({}, {"config/uv/uv.toml": f'[[index]]\nurl = "{OWN}"\n'}), False),
        (({}, {"config/uv/uv.toml": f'[[index]]\nurl = "{OWN}"\ndefault = true\n'}), True),
        (({}, {"uv.toml": f'[[index]]\ndefault = true  # ours\nurl = "{OWN}"\n'}), True),
        (({}, {"pyproject.toml": f'[[tool.uv.index]]\nurl = "{OWN}"\ndefault = true\n'}), True),
        (({}, {"pyproject.toml": f'[[tool.other.index]]\nurl = "{OWN}"\ndefault = true\n'}), False),
        (({"UV_NO_CONFIG": "1"}, {"uv.toml": f'index-url = "{OWN}"\n'}), False),
        (({"UV_CONFIG_FILE": "own.toml"}, {"own.toml": f'index-url = "{OWN}"\n'}), True),
        (({"UV_CONFIG_FILE": "own.toml"}, {"own.toml": "", "uv.toml": f'index-url = "{OWN}"\n'}), False),
    ],
)
def test_an_index_that_uv_is_told(
    uv_site: DevelSite,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    is_set: bool,
) -> None:
    configure(tmp_path, monkeypatch, settings)
    assert ("index-url" not in fix(uv_site)) is is_set


def configure(folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    variables, files = settings
    monkeypatch.chdir(folder)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_the_site_has_an_index_of_its_own(site: DevelSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_SDK_INDEX", "https://mirror/rocm/")
    monkeypatch.setenv("PIP_INDEX_URL", OWN)  # of everything else
    assert f" --index-url https://mirror/rocm/ {WHAT}" in fix(site)


def test_nothing_is_installed() -> None:
    command = install_fix("rocm-sdk-device-gfx942==7.10.0")
    assert " install " in command
    assert "rocm-sdk-device-gfx942==7.10.0" in command


@as_root
def test_a_read_only_file_system_is_said(tmp_path: Path) -> None:
    need_mounts()
    place = tmp_path / "site"
    place.mkdir()
    program = "import rocm_sdk.installed.installer, sys; print(rocm_sdk.installed.installer._obstacle(sys.argv[1]))"
    script = 'mount -t tmpfs -o ro none "$1" && exec "$2" -c "$3" "$1"'
    done = completed(
        ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh", place, sys.executable, program],
        env={**os.environ, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
    )
    assert done.stdout == f"{place} is on a read-only file system\n", done.stderr


def test_a_directory_of_another_user_is_said(other_user: OtherUser, open_directory: Path) -> None:
    """In a child, as the superuser may write everywhere."""
    program = "import rocm_sdk.installed.installer, sys; print(rocm_sdk.installed.installer._obstacle(sys.argv[1]))"
    result = other_user.run("-c", program, open_directory, check=True)
    assert result.stdout == f"{open_directory} belongs to root: run it as that user\n"
