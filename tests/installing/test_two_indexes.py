"""JAX of two indexes: AMD's has ROCm and the plug-ins, the public one jax, and ROCm's names with other content."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import environment_with_pip
from indexed_packages import Index, indexed
from programs import completed
from sample_devel import make_wheel
from sample_machine import machine_of

from rocm_sdk.index.choice import JAX
from rocm_sdk.index.request import choose_index, make_requirements
from rocm_sdk.installed.installer import index_of

Run = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("installer", ["pip", "uv"])
OF_ROCM = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1100")
PLUGINS = ("jax-rocm10-plugin", "jax-rocm10-pjrt")
OF_JAX = ("jaxlib", "ml-dtypes", "numpy", "opt-einsum", "scipy")


def write(directory: Path, name: str, version: str, *requires: str, extras: str = "") -> None:
    """Write a wheel whose file says which index it is from."""
    lines = [f"Provides-Extra: {each}\n" for each in filter(None, extras.split(","))]
    lines += [f"Requires-Dist: {each}\n" for each in requires]
    files = {f"{name.replace('-', '_')}_files/origin": directory.name.encode()}
    make_wheel(directory, name, files, version, "".join(lines))


def write_amd(directory: Path, *versions: str, label: str = "", major: int = 10) -> None:
    release = f"{major}.0.1" if major > 7 else f"{major}.14.0"
    core, libraries, device = OF_ROCM[1:]
    needs = (f"{core}=={release}", f'{libraries}=={release}; extra == "libraries"')
    needs += (f'{device}=={release}; extra == "device-gfx1100"',)
    write(directory, "rocm", release, *needs, extras="libraries,device-gfx1100")
    for name in OF_ROCM[1:]:
        write(directory, name, release)
    plugin, pjrt = (each.replace("10", str(major)) for each in PLUGINS)
    for version in versions:
        write(directory, plugin, f"{version}{label}", f"{pjrt}=={version}")
        write(directory, pjrt, f"{version}{label}")


def write_public(directory: Path, *versions: str) -> None:
    """Write JAX as the public index has it, and ROCm's names with higher versions, which anybody may have made."""
    for version in versions:
        write(directory, "jax", version, f"jaxlib=={version}", *OF_JAX[1:])
        write(directory, "jaxlib", version, "numpy")
    for name in OF_JAX[1:]:
        write(directory, name, "2.0")
    for name in (*OF_ROCM, "amd-torch-device-gfx1100", *PLUGINS):
        write(directory, name, "99.0", extras="libraries,device-gfx1100")


@pytest.fixture
def amd(tmp_path: Path) -> Iterator[Index]:
    with indexed(tmp_path / "amd") as found:
        yield found


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Index]:
    with indexed(tmp_path / "public") as found:
        yield found


@pytest.fixture
def here(install: Run, amd: Index, public: Index, tmp_path: Path) -> Run:
    """Return `install` with these indexes; the public one is the configured one of the installers."""
    places = {"ROCM_SDK_INDEX": amd.address, "PIP_INDEX_URL": public.address, "UV_DEFAULT_INDEX": public.address}
    own = {"UV_CACHE_DIR": str(tmp_path / "cache of uv"), "PIP_NO_CACHE_DIR": "1"}

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return install(*arguments, **places, **own, **options)

    return run


def origins(python: Path) -> dict[str, str]:
    """Return the index of each package that is installed."""
    (site,) = (python.parents[1] / "lib").glob("python3*/site-packages")
    return {
        each.parent.name.removesuffix("_files").replace("_", "-"): each.read_text() for each in site.glob("*/origin")
    }


def versions(python: Path) -> dict[str, str]:
    (site,) = (python.parents[1] / "lib").glob("python3*/site-packages")
    found = (each.name.removesuffix(".dist-info").split("-") for each in site.glob("*.dist-info"))
    return {name.replace("_", "-"): version for name, version in found}


RIGHT = dict.fromkeys((*OF_ROCM, *PLUGINS), "amd") | dict.fromkeys((JAX, *OF_JAX), "public")


@both
@pytest.mark.parametrize(
    ("plugins", "jax", "label", "taken"),
    [
        (("0.11.1", "0.12.0"), ("0.11.0", "0.11.1", "0.12.0"), "", "0.12.0"),
        (("0.11.2", "0.12.1", "0.13.0"), ("0.11.2", "0.12.0", "0.12.2"), "+rocm10.0.1", "0.11.2"),
    ],
)
def test_each_package_is_of_its_index(  # noqa: PLR0917 - the form
    here: Run,
    amd: Index,
    public: Index,
    python: Path,
    installer: str,
    plugins: tuple[str, ...],
    jax: tuple[str, ...],
    label: str,
    taken: str,
) -> None:
    write_amd(amd.wheels, *plugins, label=label)
    write_public(public.wheels, *jax)
    planned = here("jax", "--dry-run", "--installer", installer, python=python)
    first, second, *_ = planned.stdout.splitlines()
    assert f"jax-rocm10-plugin=={taken}{label} jax-rocm10-pjrt=={taken}{label}" in first
    assert "$ROCM_SDK_INDEX" in first
    assert second.endswith(f"{public.address} jax=={taken}")
    assert origins(python) == {}
    done = here("jax", "--yes", "--installer", installer, python=python, status=None)
    assert origins(python) == RIGHT, done.stdout + done.stderr
    found = versions(python)
    assert {found[name].partition("+")[0] for name in (JAX, *PLUGINS)} == {taken}
    assert not [path for path, _ in public.asked if re.search(r"rocm|amd-", path)]
    again = here("jax", "--dry-run", "--installer", installer, python=python)
    assert "nothing is changed" in again.stdout
    printed = here("jax", "--print", "--installer", installer, python=python).stdout
    other = environment_with_pip(python.parents[2] / "other")
    variables = {"ROCM_SDK_INDEX": amd.address, "UV_CACHE_DIR": str(python.parents[2] / "cache of uv")}
    command = printed.replace(str(python), str(other))
    subprocess.run(["bash", "-e", "-c", command], env=os.environ | variables | {"PIP_NO_CACHE_DIR": "1"}, check=True)
    assert origins(other) == RIGHT


@both
@pytest.mark.parametrize(
    ("plugins", "jax", "words"),
    [
        (("0.10.2",), ("0.10.2", "0.12.0"), "jaxlib 0.10.2, and the first that knows the plug-in of ROCm 10 is 0.11.1"),
        (("0.11.0", "0.12.0"), ("0.11.0",), "jaxlib 0.11.0, and the first that knows the plug-in of ROCm 10 is 0.11.1"),
        (("0.12.0",), ("0.11.1",), "have no version in common at"),
        (("0.12.2", "0.12.0"), ("0.12.1", "0.11.9"), "have no version in common at"),
    ],
)
def test_no_version_that_runs(  # noqa: PLR0917 - the form
    here: Run,
    amd: Index,
    public: Index,
    installer: str,
    plugins: tuple[str, ...],
    jax: tuple[str, ...],
    words: str,
) -> None:
    write_amd(amd.wheels, *plugins)
    write_public(public.wheels, *jax)
    refused = here("jax", "--print", "--installer", installer, status=1)
    assert words in refused.stderr
    assert refused.stdout == ""
    assert "Traceback" not in refused.stderr


def test_an_older_rocm_whose_plugin_all_know(here: Run, amd: Index, public: Index) -> None:
    write_amd(amd.wheels, "0.10.2", major=7)
    write_public(public.wheels, "0.10.2")
    assert "jax==0.10.2" in here("jax", "--print", "--installer", "uv", "--rocm", "7.14").stdout


@both
def test_an_index_with_all_of_it(here: Run, amd: Index, public: Index, installer: str) -> None:
    """A mirror of both has one call, with one version, though each package has newer ones."""
    write_amd(amd.wheels, "0.11.2", "0.12.0")
    write_public(public.wheels, "0.12.0")
    for version in ("0.11.2", "0.12.1"):
        write(amd.wheels, "jax", version, f"jaxlib=={version}")
        write(amd.wheels, "jaxlib", version)
    (line,) = here("jax", "--print", "--installer", installer).stdout.splitlines()
    assert line.endswith(" jax==0.11.2 jax-rocm10-plugin==0.11.2 jax-rocm10-pjrt==0.11.2")
    assert public.asked == []


@both
def test_the_second_call_fails(here: Run, amd: Index, public: Index, python: Path, installer: str) -> None:
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.12.0")
    looks = []

    def change(row: dict[str, Any]) -> None:
        """Give a wrong digest to the installation: pip looks at files when it is asked, too."""
        if row["filename"].startswith("scipy"):
            looks.append(row)
            if installer == "uv" or len(looks) > 1:
                row["hashes"] = {"sha256": "0" * 64}

    public.change = change
    done = here("jax", "--yes", "--installer", installer, python=python, status=1)
    *_, said, fix = done.stderr.splitlines()
    assert said.startswith("rocm-sdk: installed: rocm[libraries,device-gfx1100]==10.0.1, jax-rocm10-plugin==0.12.0, ")
    assert said.endswith("; lacking: jax==0.12.0")
    assert fix.endswith(f"{public.address} jax==0.12.0")
    assert set(origins(python)) == {*OF_ROCM, *PLUGINS}


@both
def test_what_the_public_index_would_bring(here: Run, amd: Index, public: Index, installer: str) -> None:
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.11.2")
    write(public.wheels, "jax", "0.12.0", "jaxlib", "rocm-sdk-core")
    refused = here("jax", "--print", "--installer", installer, status=1)
    assert "would bring rocm-sdk-core from" in refused.stderr


@pytest.mark.parametrize("form", ["requirements", "lock", "environment"])
def test_forms_of_one_index(here: Run, amd: Index, public: Index, form: str) -> None:
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.12.0")
    installer = "conda-pip" if form == "environment" else "uv"
    refused = here("jax", "--print", "--installer", installer, "--format", form, status=1)
    assert f"--format {form} cannot keep " in refused.stderr
    assert refused.stdout == ""


def test_a_project_of_uv(here: Run, amd: Index, public: Index, tmp_path: Path) -> None:
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.12.0")
    words = ("jax", "--print", "--installer", "uv", "--format")
    project = here(*words, "pyproject").stdout
    (tmp_path / "project").mkdir()
    (tmp_path / "project/pyproject.toml").write_text(project)
    lock = ["uv", "lock", "--no-config", "--quiet", "--python", sys.executable, "--default-index", public.address]
    done = completed([*lock, "--cache-dir", str(tmp_path / "cache")], cwd=tmp_path / "project")
    assert done.returncode == 0, done.stderr
    for text in ((tmp_path / "project/uv.lock").read_text(), here(*words, "uv.lock").stdout):
        found = dict(re.findall(r'name = "(\S+)"\nversion = \S+\nsource = \{ registry = "(\S+)" \}', text))
        places = {name: "amd" if each.startswith(amd.root) else "public" for name, each in found.items()}
        assert places == RIGHT


@both
def test_a_password_of_the_public_index(install: Run, amd: Index, public: Index, installer: str) -> None:
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.12.0")
    address = public.address.replace("://", "://user:s3cr3t@")
    places = {"ROCM_SDK_INDEX": amd.address, "PIP_INDEX_URL": address, "UV_DEFAULT_INDEX": address}
    said = install("jax", "--print", "--installer", installer, **places)
    assert "s3cr3t" not in said.stdout + said.stderr
    variable = {"pip": "PIP_INDEX_URL", "uv": "UV_DEFAULT_INDEX"}[installer]
    assert said.stdout.splitlines()[1].endswith(
        f'index{"-url" if installer == "pip" else ""} "${variable}" jax==0.12.0'
    )


@pytest.mark.parametrize("answer", [b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * (9 << 20), b"HTTP/1.0 403 F\r\n\r\n", b"\xff"])
def test_a_page_of_jax_that_is_none(here: Run, amd: Index, public: Index, answer: bytes) -> None:
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.12.0")
    amd.raw["/simple/jax/"] = answer
    said = here("jax", "--print", "--installer", "uv", status=None)
    assert "Traceback" not in said.stderr
    assert said.returncode == (0 if b"403" in answer else 1)


def test_neither_index_answers(install: Run) -> None:
    nowhere = "http://127.0.0.1:9/simple/"
    said = install("jax", "--print", status=1, ROCM_SDK_INDEX=nowhere, PIP_INDEX_URL=nowhere)
    assert "nothing answers at 127.0.0.1:9" in said.stderr
    assert said.stdout == "", "without a network nothing tells which versions are the same"


def test_the_index_that_an_installer_asks_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert index_of("pip", str(tmp_path)) is index_of("uv", str(tmp_path)) is None
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    assert index_of("pip", str(tmp_path)) == "https://mirror.example/simple"


def test_an_integrated_gpu_that_nothing_serves(here: Run, amd: Index, public: Index, tmp_path: Path) -> None:
    """It is left out beside another one, as for torch."""
    write_amd(amd.wheels, "0.12.0")
    write_public(public.wheels, "0.12.0")
    machine = machine_of(tmp_path / "two", "gfx1100", "gfx1036")
    said = here("jax", "--print", "--installer", "uv", ROCM_SDK_ROOTFS=str(machine.root))
    assert "has no package for gfx1036" in said.stderr
    assert "device-gfx1100" in said.stdout


# ---- apex, which goes with torch


@both
@pytest.mark.parametrize(("torch", "apex"), [(("2.13.0", "2.14.0"), "1.14.0"), (("2.12.0", "2.13.1"), "1.13.0")])
def test_apex_goes_with_torch(here: Run, amd: Index, installer: str, torch: tuple[str, ...], apex: str) -> None:
    """Its metadata require no torch; the index has apex of each torch."""
    write_amd(amd.wheels)
    for version in torch:
        needs = (
            "rocm[libraries]==10.0.1",
            f'amd-torch-device-gfx1100=={version}+rocm10.0.1; extra == "device-gfx1100"',
        )
        write(amd.wheels, "torch", f"{version}+rocm10.0.1", *needs, extras="device-gfx1100")
        write(amd.wheels, "amd-torch-device-gfx1100", f"{version}+rocm10.0.1")
    for version in ("1.12.0", "1.13.0", "1.14.0"):
        write(amd.wheels, "apex", f"{version}+rocm10.0.1")
    said = here("apex", "--print", "--installer", installer, "--format", "requirements").stdout
    assert said.splitlines()[2:] == [f"apex=={apex}+rocm10.0.1", f"torch[device-gfx1100]=={torch[-1]}+rocm10.0.1"]


def test_a_wheel_of_torch_beside_apex(tmp_path: Path) -> None:
    wheel = tmp_path / "torch-2.13.0-py3-none-any.whl"
    wheel.write_bytes(b"")
    for things in (["apex", str(wheel)], [str(wheel), "apex"]):
        found = make_requirements(things, ("gfx1100",), None, choose_index(None))
        assert [each.file for each in found if each.name == "torch"] == [str(wheel)]
