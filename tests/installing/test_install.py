"""`rocm-sdk install`: what pip and uv are asked, what is read back, and what is printed and run."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import empty_environment
from package_index import serve, write_wheel
from programs import completed
from sample_machine import machine_of

from rocm_sdk.index.choice import works
from rocm_sdk.index.destination import Destination
from rocm_sdk.index.install_errors import InstallRefusedError
from rocm_sdk.index.installer_answer import _packages_of_pip, run_installer
from rocm_sdk.index.request import choose_index, make_requirements
from rocm_sdk.installed.other_distributions import versions_in
from rocm_sdk_build.output.index import write_index

Run = Callable[..., subprocess.CompletedProcess[str]]
INSTALLERS = ("pip", "uv")

# GPUs by node, as in the trees of the other tests -> the packages' targets.
MACHINES = {
    "data centre": (("gfx942",), ("gfx942",)),
    "two of one kind": (("gfx90a", "gfx90a"), ("gfx90a",)),
    "discrete, then integrated": (("gfx1100", "gfx1036"), ("gfx1100", "gfx1036")),
    "integrated, then discrete": (("gfx1036", "gfx1100"), ("gfx1036", "gfx1100")),
    "integrated": (("gfx1151",), ("gfx1151",)),
    "owner of another name": (("gfx1250",), ("gfx1250",)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "way"),
    [
        *((machine, ("uv", "whl_next")) for machine in MACHINES.values()),
        *((next(iter(MACHINES.values())), ("pip", shape)) for shape in ("whl_next", "whl")),
        ([*MACHINES.values()][1], ("uv", "whl")),
    ],
)
def test_each_machine(
    install: Run,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    machine: tuple[tuple[str, ...], tuple[str, ...]],
    way: tuple[str, str],
) -> None:
    gpus, targets = machine
    installer, shape = way
    root = machine_of(tmp_path / "other", *gpus).root
    index = request.getfixturevalue(shape)
    options = ("torch", "torchvision", "--print", "--format", "requirements", "--installer", installer)
    said = install(*options, ROCM_SDK_ROOTFS=str(root), ROCM_SDK_INDEX=index)
    devices = ",".join(f"device-{target}" for target in targets)
    sdk, product = (f"libraries,{devices}", f"[{devices}]") if shape == "whl_next" else ("libraries", "")
    assert said.stdout.splitlines() == [
        f"--index-url {index}",
        f"rocm[{sdk}]==10.0.1",
        f"torch{product}==2.12.0+rocm10.0.1",
        f"torchvision{product}==2.12.0+rocm10.0.1",
    ]
    for node, gpu in enumerate(gpus, 1):
        assert f"node {node}: {gpu}" in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("installer", INSTALLERS)
def test_the_printed_command_installs_just_that(install: Run, python: Path, installer: str, whl_next: str) -> None:
    command = install("torch", "--print", "--installer", installer, python=python).stdout
    subprocess.run(["bash", "-c", command], env=os.environ | {"ROCM_SDK_INDEX": whl_next}, check=True)
    site = next((python.parent.parent / "lib").glob("python3*/site-packages"))
    found = {path.name.removesuffix(".dist-info") for path in site.glob("*.dist-info")}
    assert {each for each in found if not each.startswith(("pip", "setuptools"))} == {
        "filelock-3.20.0",
        "rocm-10.0.1",
        "rocm_sdk_core-10.0.1",
        "rocm_sdk_libraries-10.0.1",
        "rocm_sdk_device_gfx1100-10.0.1",
        "torch-2.12.0+rocm10.0.1",
        "amd_torch_device_gfx1100-2.12.0+rocm10.0.1",
    }


@pytest.mark.slow
def test_it_installs_checks_and_leaves_what_works(install: Run, python: Path) -> None:
    refused = install("torch", status=1, python=python)
    assert "nobody can answer here" in refused.stderr
    before = sorted(python.parent.parent.rglob("*"))
    shown = install("torch", "--dry-run", python=python)
    assert shown.stdout == refused.stdout, "all commands, the check included"
    assert "check --gpu gfx1100" in shown.stdout
    assert sorted(python.parent.parent.rglob("*")) == before
    installed = install("torch", "--rocm", "10.0.0", "--yes", python=python, status=None)
    assert "Successfully installed" in installed.stdout
    assert "check --gpu gfx1100" in installed.stdout
    assert "there is nothing to check" in installed.stdout  # the packages are empty
    assert "already has all of it, of ROCm 10.0.0" in install("torch", python=python).stdout
    assert "has all of it" not in install("torchvision", status=1, python=python).stdout
    asked = install("torch", "--rocm", "nightly", "--dry-run", python=python, status=None).stdout
    assert "already has all of it" not in asked, "what is installed does not say of which stream it is"
    upgraded = install("torch", "--upgrade", "--print", python=python)
    assert "rocm[libraries,device-gfx1100]==10.0.1" in upgraded.stdout


RECORDS_ITS_PLACE = """
import json, os, sys
with open({!r}, "a") as file:
    print(json.dumps([os.getcwd(), os.listdir(), {{name: os.environ.get(name) for name in {!r}}}]), file=file)
print('{{"install": []}}')
"""


def test_pip_starts_in_an_empty_directory(install: Run, tmp_path: Path) -> None:
    """The children of pip import from the current directory.

    Places that pip's variables name stay the same.
    """
    environment = tmp_path / "environment"
    empty_environment(environment)
    (site,) = (environment / "lib").glob("python3*/site-packages")
    (site / "pip").mkdir()
    (site / "pip/__init__.py").write_text("")
    given = {
        "PIP_CERT": "my certificates/all.pem",
        "PIP_CONSTRAINT": "first.txt https://example.org/second.txt",
        "TMPDIR": ".",
        "PIP_CLIENT_CERT": "~/own.pem",
    }
    program = RECORDS_ITS_PLACE.format(str(tmp_path / "ran"), [*given])
    (site / "pip/__main__.py").write_text(program)
    install("--print", python=Path("environment/bin/python"), status=None, **given)
    seen = [json.loads(line) for line in (tmp_path / "ran").read_text().splitlines()]
    assert seen
    for _, _, variables in seen:
        assert Path(variables.pop("TMPDIR")).parent == tmp_path
    for place, names, variables in seen:
        assert names == []
        assert not Path(place).exists()
        assert variables == {
            "PIP_CERT": f"{tmp_path}/my certificates/all.pem",
            "PIP_CONSTRAINT": f"{tmp_path}/first.txt https://example.org/second.txt",
            "PIP_CLIENT_CERT": "~/own.pem",
        }


def test_no_place_for_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the missing place, and does not say that pip is missing."""
    (tmp_path / "gone").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    destination = Destination(sys.executable, str(tmp_path), 13, "pip", (sys.executable,), (), {})
    with pytest.raises(InstallRefusedError, match=f"none can be made: .*{tmp_path}/gone") as refused:
        run_installer([sys.executable, "-c", "pass"], destination, None, None)
    assert refused.value.fix == "TMPDIR names another place"


@pytest.mark.slow
def test_an_older_version_is_not_taken_without_a_word(install: Run, python: Path) -> None:
    install("torch", "--yes", python=python, status=None)
    said = install("torch", "--rocm", "10.0.0", "--print", python=python)
    assert "rocm 10.0.1 is replaced by the older 10.0.0" in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("installer", INSTALLERS)
def test_an_incomplete_release_means_its_newest(install: Run, installer: str) -> None:
    for wanted, found in (("10.0", "10.0.1"), ("10", "10.0.1"), ("10.0.0", "10.0.0")):
        said = install("torch", "--print", "--installer", installer, "--rocm", wanted)
        assert f"+rocm{found}" in said.stdout


@pytest.mark.slow
@pytest.mark.parametrize("installer", INSTALLERS)
@pytest.mark.parametrize(
    ("gpu", "fix"),
    [
        ("gfx1103", "the code for gfx11-generic runs on gfx1103: --gpu gfx11-generic"),
        ("gfx1032", "The code for gfx1030 is nearest, and only runtimes with distributions' patches try it"),
        ("gfx1201", "try --rocm nightly, and take ROCM_SDK_INDEX away: env -u ROCM_SDK_INDEX COMMAND"),
        ("gfx1201,gfx1100", "or leave this GPU out: --gpu gfx1100"),
    ],
)
def test_a_gpu_that_nothing_serves(install: Run, installer: str, gpu: str, fix: str) -> None:
    said = install("torch", "--print", "--installer", installer, "--gpu", gpu, status=1)
    assert f"has no package for {gpu.partition(',')[0]}" in said.stderr
    assert fix in said.stderr
    assert said.stdout == ""


@pytest.mark.slow
def test_the_nearest_can_be_asked_for(install: Run) -> None:
    assert "torch[device-gfx11-generic]==" in install("torch", "--print", "--gpu", "gfx11-generic").stdout


# ---- the traps


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """Return a directory like the public index: newer torch for CUDA, placeholders; as an index and as files."""
    directory = tmp_path / "public"
    directory.mkdir()
    write_wheel(directory, "torch", "2.99.0", extras="device-gfx1100")
    write_wheel(directory, "rocm", "0.1.0", extras="libraries,device-gfx1100")
    write_wheel(directory, "rocm-sdk-core", "99.0.0")
    write_wheel(directory, "filelock", "99.0.0")
    write_index(directory)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("way", ["variable", "file", "find-links"])
def test_pip_looks_at_no_further_place(install: Run, python: Path, public: Path, way: str, whl_next: str) -> None:
    address = f"file://{public}/simple"
    variables = {"PIP_CONFIG_FILE": str(public / "pip.conf")}
    if way == "variable":
        variables["PIP_EXTRA_INDEX_URL"] = address
    (public / "pip.conf").write_text(
        {
            "variable": "",
            "file": f"[global]\nextra-index-url =\n    {address}\n",
            "find-links": f"[install]\nfind-links = {public}\n",
        }[way]
    )
    plain = subprocess.run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--ignore-installed",
            "--index-url",
            whl_next,
            "torch[device-gfx1100]",
        ],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{public}/" in plain.stdout, "without help it takes something from there"
    said = install("torch", "--print", "--installer", "pip", python=python, **variables)
    assert "torch[device-gfx1100]==2.12.0+rocm10.0.1" in said.stdout
    assert "pip is told to ignore" in said.stderr
    command = said.stdout
    subprocess.run(["bash", "-c", command], env=os.environ | variables | {"ROCM_SDK_INDEX": whl_next}, check=True)
    assert list(python.parent.parent.glob("lib/python3*/site-packages/filelock-3.20.0.dist-info"))


def run_what_uv_is_told(install: Run, python: Path, whl_next: str, variables: dict[str, str]) -> None:
    """Run the printed command where the variables set what it must tell uv to ignore."""
    said = install("torch", "--print", "--installer", "uv", python=python, **variables)
    assert "torch[device-gfx1100]==2.12.0+rocm10.0.1" in said.stdout
    assert "uv is told to ignore" in said.stderr
    subprocess.run(["bash", "-c", said.stdout], env=os.environ | variables | {"ROCM_SDK_INDEX": whl_next}, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["variable", "file"])
def test_uv_looks_at_no_further_place(install: Run, python: Path, public: Path, way: str, whl_next: str) -> None:
    address = f"file://{public}/simple"
    variables = {"UV_EXTRA_INDEX_URL": address}
    if way == "file":
        (public / "uv.toml").write_text(f'[[index]]\nurl = "{address}"\n')
        variables = {"UV_CONFIG_FILE": str(public / "uv.toml"), "UV_NO_CONFIG": "0"}
    run_what_uv_is_told(install, python, whl_next, variables)
    assert list(python.parent.parent.glob("lib/python3*/site-packages/filelock-3.20.0.dist-info"))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["variable", "file"])
@pytest.mark.parametrize("backend", ["cpu", "rocm6.4"])
def test_the_back_end_of_torch_that_uv_takes(  # noqa: PLR0917 - the form
    install: Run, tmp_path: Path, python: Path, whl_next: str, way: str, backend: str
) -> None:
    variables = {"UV_TORCH_BACKEND": backend}
    if way == "file":
        (tmp_path / "uv.toml").write_text(f'[pip]\ntorch-backend = "{backend}"\n')
        variables = {"UV_CONFIG_FILE": str(tmp_path / "uv.toml"), "UV_NO_CONFIG": "0"}
    run_what_uv_is_told(install, python, whl_next, variables)
    assert list(python.parents[1].glob("lib/python3*/site-packages/torch-2.12.0+rocm10.0.1.dist-info"))


def _damaged(tmp_path: Path, kind: str) -> None:
    """Write an index with a fault."""
    release = "0.1.0" if kind == "placeholder" else "10.0.0"
    extras = "device-gfx1100" if kind == "extra" else "libraries,device-gfx1100"
    needed = (f"rocm-sdk-core=={release}",) if kind != "two releases" else ("rocm-sdk-core==10.0.1",)
    device = f'rocm-sdk-device-gfx1100=={release}; extra == "device-gfx1100"'
    write_wheel(tmp_path, "rocm", release, (*needed, device), extras)
    write_wheel(tmp_path, "rocm-sdk-core", "10.0.1" if kind == "two releases" else release)
    write_wheel(tmp_path, "rocm-sdk-device-gfx1100", release)
    version = {"another ROCm": "2.12.0+rocm9.9.9", "no ROCm": "2.12.0"}.get(kind, f"2.12.0+rocm{release}")
    write_wheel(
        tmp_path,
        "torch",
        version,
        (f'amd-torch-device-gfx1100=={version}; extra == "device-gfx1100"',),
        "device-gfx1100",
    )
    write_wheel(tmp_path, "amd-torch-device-gfx1100", version)


@pytest.mark.slow
@pytest.mark.parametrize("installer", INSTALLERS)
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("placeholder", "is an empty package"),
        ("extra", "rocm has no extra libraries"),
        ("two releases", "rocm-sdk-core 10.0.1 is of another release than rocm 10.0.0"),
        ("another ROCm", "2.12.0+rocm9.9.9 is built for another ROCm than 10.0.0"),
        ("no ROCm", "torch 2.12.0 is not built for ROCm"),
    ],
)
def test_what_the_installer_chose_is_read_back(
    install: Run, tmp_path: Path, installer: str, kind: str, words: str
) -> None:
    directory = tmp_path / "damaged"
    directory.mkdir()
    _damaged(directory, kind)
    _write_pages(directory)
    pages = serve(directory)
    address = next(pages)
    said = install("torch", "--print", "--installer", installer, status=1, ROCM_SDK_INDEX=address)
    next(pages, None)  # the server ends
    assert words in said.stderr


def _write_pages(directory: Path) -> None:
    """Write plain pages: `rocm-sdk-build index` refuses an SDK with such faults."""
    for wheel in directory.glob("*.whl"):
        project = directory / "simple" / wheel.name.partition("-")[0].replace("_", "-")
        project.mkdir(parents=True, exist_ok=True)
        with (project / "index.html").open("a") as page:
            page.write(f'<a href="../../{wheel.name}">{wheel.name}</a>\n')


# ---- forms


def test_a_project_of_uv_is_locked(install: Run, tmp_path: Path, whl_next: str) -> None:
    """Behind an explicit index uv finds rocm[libraries] only if each package is a direct dependency with a source."""
    project = tmp_path / "project"
    project.mkdir()
    text = install("torch", "--print", "--installer", "uv", "--format", "pyproject").stdout
    (project / "pyproject.toml").write_text(text)
    locking = ["uv", "lock", "--no-config", "--python", sys.executable, "--default-index"]  # no other may be there
    subprocess.run([*locking, whl_next, "--quiet"], cwd=project, check=True)
    assert 'name = "amd-torch-device-gfx1100"' in (project / "uv.lock").read_text()
    text = re.sub(r'^    "(?!torch).*\n', "", text, flags=re.MULTILINE)  # torch alone is a direct dependency
    (project / "pyproject.toml").write_text(text)
    (project / "uv.lock").unlink()
    (tmp_path / "empty").mkdir()
    refused = completed([*locking, f"file://{tmp_path}/empty"], cwd=project)
    assert refused.returncode != 0
    assert "rocm" in refused.stderr


def test_an_interpreter_in_this_directory(install: Run, tmp_path: Path, shared_python: Path, whl_next: str) -> None:
    """The installer uv locks in another directory."""
    (tmp_path / "here").symlink_to(shared_python.parents[1])
    words = ("torch", "--print", "--installer", "uv", "--format", "uv.lock")
    assert LOCKED in install(*words, python=Path("here/bin/python"), UV_DEFAULT_INDEX=whl_next).stdout


LOCKED = 'name = "amd-torch-device-gfx1100"\nversion = "2.12.0+rocm10.0.1"\n'


@pytest.mark.parametrize("name", ["lock", "uv.lock"])
def test_locks_of_uv(install: Run, whl_next: str, name: str) -> None:
    said = install("torch", "--print", "--installer", "uv", "--format", name, UV_DEFAULT_INDEX=whl_next)
    assert LOCKED in said.stdout


@pytest.mark.slow
def test_a_lock_of_pip(install: Run) -> None:
    said = install("torch", "--print", "--installer", "pip", "--format", "lock", python=Path(sys.executable))
    assert LOCKED in said.stdout


@pytest.mark.slow
def test_pip_before_it_had_locks(install: Run, shared_python: Path) -> None:
    """The pip that Python brings; a later Python has a later one."""
    version = subprocess.check_output([str(shared_python), "-m", "pip", "--version"], text=True).split()[1]
    said = install("torch", "--print", "--installer", "pip", "--format", "lock", status=None)
    assert ("pip has no `pip lock` before 25.1" in said.stderr) == (tuple(map(int, version.split(".")[:2])) < (25, 1))


@pytest.mark.slow
def test_an_environment_of_conda(install: Run, whl_next: str) -> None:
    text = install("torch", "--print", "--installer", "conda-pip").stdout
    assert f'      - "--index-url {whl_next}"\n      - "rocm[libraries,device-gfx1100]==10.0.1"\n' in text
    assert f"  - python=3.{sys.version_info[1]}\n" in text


@pytest.mark.parametrize(
    "options",
    [("pip", "pyproject"), ("pip", "uv.lock"), ("pip", "environment"), ("uv", "environment"), ("conda-pip", "lock")],
)
def test_other_pairs_are_refused(install: Run, options: tuple[str, str]) -> None:
    words = ("--print", "--installer", options[0], "--format", options[1])
    said = install("torch", *words, status=2, ROCM_SDK_INDEX="http://127.0.0.1:9/simple/")  # which is not asked
    assert f"--format {options[1]}" in said.stderr
    assert "conda-pip: environment" in said.stderr


# ---- what, where, from where


@pytest.mark.slow
@pytest.mark.parametrize("installer", INSTALLERS)
def test_jax_and_a_wheel(install: Run, tmp_path: Path, installer: str) -> None:
    said = install("jax", "--print", "--installer", installer, "--format", "requirements")
    assert said.stdout.splitlines()[2:] == ["jax==0.10.0", "jax-rocm10-plugin==0.10.0", "jax-rocm10-pjrt==0.10.0"]
    wheel = write_wheel(tmp_path, "torch", "2.12.0+rocm10.0.0", ("rocm[libraries]==10.0.0",), "device-gfx1100")
    said = install(wheel.name, "--print", "--installer", installer, status=1)
    assert "torch 2.12.0+rocm10.0.0 has no package for gfx1100" in said.stderr
    device = 'amd-torch-device-gfx1100==2.12.0+rocm10.0.0; extra == "device-gfx1100"'
    wheel = write_wheel(tmp_path, "torch", "2.12.0+rocm10.0.0", ("rocm[libraries]==10.0.0", device), "device-gfx1100")
    said = install(wheel.name, "--print", "--installer", installer, "--format", "requirements")
    assert said.stdout.splitlines()[1:] == [
        "rocm[libraries,device-gfx1100]==10.0.0",
        f"torch[device-gfx1100] @ file://{str(wheel).replace('+', '%2B')}",
    ]


@pytest.mark.slow
def test_streams_and_releases(install: Run) -> None:
    unknown = install("sdk", "--print", "--rocm", "6.4", status=1, ROCM_SDK_INDEX="")
    assert "no known index has it" in unknown.stderr
    for build in ("10.0.0a20260801", "10.0.1rc1", "weekly"):
        unknown = install("sdk", "--print", "--rocm", build, status=1, ROCM_SDK_INDEX="")
        assert f"--rocm {build}: no known index has it" in unknown.stderr
        assert "rc 10.0 to 10.0, rc 7.10 to 7.14, nightly 7.10 to 7.14, stable 7.10 to 7.14" in unknown.stderr
    asked = install("sdk", "--print", "--rocm", "6.4", status=1)  # the site's index may have it
    assert 'pip finds no solution at "$ROCM_SDK_INDEX"' in asked.stderr
    said = install("sdk", "--print", "--rocm", "nightly", "--installer", "uv")
    assert re.search(r"--prerelease allow", said.stdout)


@pytest.mark.slow
def test_a_password_is_not_printed(install: Run, whl_next: str) -> None:
    address = whl_next.replace("://", "://user:secret@")
    said = install("torch", "--print", "--installer", "uv", ROCM_SDK_INDEX=address)
    assert '"$ROCM_SDK_INDEX"' in said.stdout
    assert "secret" not in said.stdout + said.stderr
    said = install(
        "torch", "--print", "--format", "requirements", "--installer", "uv", status=1, ROCM_SDK_INDEX=address
    )
    assert "ROCM_SDK_INDEX has a password" in said.stderr
    said = install("torch", "--print", ROCM_SDK_INDEX="http://user:secret@127.0.0.1:9/simple/")
    assert "finds no solution" in said.stderr
    assert "secret" not in said.stdout + said.stderr


def fake_uv(directory: Path, script: str) -> str:
    """Return a PATH with a uv that does as the script says."""
    (directory / "bin").mkdir()
    (directory / "bin/uv").write_text(f"#!/bin/sh\n{script}\n")
    (directory / "bin/uv").chmod(0o755)
    return f"{directory}/bin:{os.environ['PATH']}"


def test_an_installer_that_prints_nothing(install: Run, tmp_path: Path) -> None:
    said = install("torch", "--print", "--installer", "uv", status=1, PATH=fake_uv(tmp_path, "exit 0"))
    assert "uv ended without an error, and did not say which version of rocm it would install" in said.stderr
    assert "it printed nothing" in said.stderr
    assert "Traceback" not in said.stderr


def test_an_installer_that_names_something_else(install: Run, tmp_path: Path) -> None:
    said = install("torch", "--print", "--installer", "uv", status=1, PATH=fake_uv(tmp_path, "echo numpy==1.0"))
    assert "its answer does not have it" in said.stderr


REPORTS = ("", "{}", "[]", "x", '{"install": 5}', '{"install": [{"metadata": {"name": 5}}]}', '{"install":' * 100_000)


@pytest.mark.parametrize("report", REPORTS, ids=range(len(REPORTS)))
def test_reports_of_pip_that_are_none(report: str) -> None:
    with pytest.raises(InstallRefusedError, match="the report of pip cannot be read"):
        _packages_of_pip(report)


@pytest.mark.parametrize("password", ["s3cret", "s3@cret", "s3:cret"])
def test_a_password_in_what_an_installer_says(install: Run, tmp_path: Path, password: str) -> None:
    """The installers pip and uv mask a password themselves, in most of their messages."""
    script = f'echo "error: failed to fetch https://user:{password}@127.0.0.1/simple/torch/" >&2; exit 2'
    said = install("torch", "--print", "--installer", "uv", status=1, PATH=fake_uv(tmp_path, script))
    assert "failed to fetch https://127.0.0.1/simple/torch/" in said.stderr
    assert "cret" not in said.stderr


def test_the_python_of_the_system_stays_as_it_is(install: Run) -> None:
    system = Path("/usr/bin/python3")
    if not list(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED")):
        pytest.skip("the system's Python is not marked as its own")
    said = install("torch", "--print", status=1, python=system)
    assert "belongs to the system" in said.stderr
    assert "python3 -m venv" in said.stderr


@pytest.mark.parametrize("requirement", ["amd-torch-device-gfx11==2.12.0+rocm10.0.1", "filelock"])
def test_a_required_package_that_is_gone(tmp_path: Path, requirement: str) -> None:
    """rocm-systems 10685: the package of a GPU requires the one of its family, which is not there."""
    lines = {
        "rocm": "Version: 10.0.1\n",
        "rocm-sdk-core": "Version: 10.0.1\n",
        "rocm-sdk-libraries": "Version: 10.0.1\n",
        "rocm-sdk-device-gfx1100": "Version: 10.0.1\n",
        "torch": "Version: 2.12.0+rocm10.0.1\n",
        "amd-torch-device-gfx1100": f"Version: 2.12.0+rocm10.0.1\nRequires-Dist: {requirement}\n",
    }

    def put(name: str, text: str) -> None:
        version = text.partition("Version: ")[2].partition("\n")[0]
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n{text}")

    for name, text in lines.items():
        put(name, text)
    asked = make_requirements(["torch"], ("gfx1100",), None, choose_index(None))

    def release() -> str | None:
        destination = Destination("python", str(tmp_path), 11, "pip", ("pip",), (), versions_in(str(tmp_path)))
        return works(asked, ("gfx1100",), destination)

    assert release() is None
    put(requirement.partition("=")[0], f"Version: {requirement.partition('==')[2] or '3.20'}\n")
    assert release() == "10.0.1"
