"""What a check finds in the surroundings of an SDK: OpenCL, tools, places of comgr, variables, a topology."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from other_user import OtherUser, open_directory
from sample_device_code import bundle, library, objects
from sample_machine import Machine, machine_of
from sample_report import command, install, run_test
from sample_site import CORE, Site, compile_library

import rocm_sdk
from rocm_sdk.cli import main
from rocm_sdk.fit.comgr_places import place_problems
from rocm_sdk.installed.view import current

# ---- OpenCL


def test_drivers_of_opencl(sdk: Site, tmp_path: Path) -> None:
    """With an ICD loader where the system's linker would find it."""
    compile_library(tmp_path / "libOpenCL.so.1", "libOpenCL.so.1")
    driver = sdk.library("libamdocl64.so.2")
    install(sdk)
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    variables = {"OCL_ICD_VENDORS": str(vendors), "LD_LIBRARY_PATH": str(tmp_path)}

    def test(text: str | None) -> list[str]:
        if text is not None:
            (vendors / "amdocl64.icd").write_text(text)
        said = run_test(sdk.path, "--only", "opencl", **variables)
        assert said.codes <= {"W-OCL-001"}
        return [each["cause"] + each["fix"] for each in said.problems]

    (none,) = test(None)
    assert f"{vendors} names are: none" in none
    assert "rocm-sdk env --opencl" in none
    assert "/gone/libamdocl64.so, which does not exist" in test("/gone/libamdocl64.so\n")[0]
    assert test(f"{driver}\n") == []
    assert "are: libamdocl64.so, which does not exist" in test("libamdocl64.so\n")[0]
    compile_library(tmp_path / "libamdocl64.so", "libamdocl64.so")
    assert test("libamdocl64.so\n") == []


def test_drivers_that_this_user_may_not_list(other_user: OtherUser) -> None:
    with open_directory() as directory:
        site = Site(directory / "site-packages")
        site.library("libamdhip64.so.7")
        site.library("libamdocl64.so.2")
        compile_library(directory / "libOpenCL.so.1", "libOpenCL.so.1")
        (directory / "vendors").mkdir(mode=0o700)
        paths = {"PYTHONPATH": str(site.path), "LD_LIBRARY_PATH": str(directory)}
        words = ("-m", "rocm_sdk", "test", "--only", "opencl", "--json")
        result = other_user.run(*words, OCL_ICD_VENDORS=str(directory / "vendors"), **paths)
    (found,) = json.loads(result.stdout)["problems"]
    assert (found["code"], found["path"]) == ("W-OCL-001", "libOpenCL.so.1")
    assert "are: unknown (Permission denied)" in found["cause"]


# ---- tools


def test_programs_start_or_do_not(sdk: Site) -> None:
    scripts = {
        "hipconfig": "echo HIP 7.10.0",
        "rocminfo": "echo there is no driver >&2; exit 1",  # as the real one does without a GPU
        "hipcc": "sleep 60",
        "rocm_agent_enumerator": "echo \"FileNotFoundError: '/sys/class/kfd'\" >&2; exit 1",  # as ROCm 5.2's does, too
        "rocm-smi": "kill -SEGV $$",
        "rocgdb": "echo rocgdb: no such option; exit 2",
        "offload-arch": None,
    }
    metadata = sdk.path / "rocm_sdk_core-7.10.0.dist-info"
    rows = "".join(f"bin/{name},,\n" for name in scripts)
    (metadata / "RECORD").write_text((metadata / "RECORD").read_text() + rows)
    entry_points = "".join(f"{name} = rocm_sdk_core._cli:main\n" for name in scripts)
    (metadata / "entry_points.txt").write_text(f"[console_scripts]\n{entry_points}")
    for name, body in scripts.items():
        if body is not None:
            sdk.write(f"bin/{name}", f"#!/bin/sh\n{body}\n").chmod(0o755)
    begin = time.monotonic()
    said = run_test(sdk.path, "--only", "tools", "--seconds", "2")
    assert time.monotonic() - begin < 30
    found = {each["path"].rpartition("/")[2]: (each["code"], each["cause"]) for each in said.problems}
    assert "SIGSEGV" in found["rocm-smi"][1]
    assert found == {
        "hipcc": ("E-TOOL-003", "the program ran for more than 2 s"),
        "rocm-smi": ("E-TOOL-001", found["rocm-smi"][1]),
        "rocgdb": ("E-TOOL-001", "exit status 2: rocgdb: no such option"),
        "offload-arch": ("E-TOOL-002", f"{sdk.path}/bin/offload-arch is not there"),
    }
    assert said.subject("tools")["count"] == len(scripts)


def test_a_list_of_a_framework_that_nobody_can_parse(sdk: Site) -> None:
    sdk.write("torch/__init__.py")
    path = sdk.write("torch/_rocm_init.py", "-" * 100_000 + "1")
    said = run_test(sdk.path, "--only", "bindings")
    words = f"the libraries that torch preloads: {path}: its expressions are nested too deeply"
    assert words in str(said.subject("bindings"))
    assert "E-TEST-001" not in said.codes


# ---- GPUs


def test_a_topology_with_too_many_nodes(sdk: Site, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in range(1025):
        machine.cpu(node)
    root = str(machine.root)
    found = run_test(sdk.path, "--only", "gpus", ROCM_SDK_ROOTFS=root).only("E-GPU-007")
    assert found["title"] == f"the kernel's topology in {root}/sys/class/kfd/kfd/topology has more than 1024 nodes"
    with pytest.raises(rocm_sdk.errors.TopologyError, match="has more than 1024 nodes") as refused:
        rocm_sdk.gpus(root=root)
    assert refused.value.code == "E-GPU-007"


def test_an_obstacle_of_all_gpus_is_one_problem(sdk: Site, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", *["gfx942"] * 64)
    for path in (machine.root / "dev/dri").iterdir():
        path.unlink()
    said = run_test(sdk.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root))
    assert said.subject("gpus")["count"] == 64
    found = said.only("W-GPU-018")
    assert (found["title"], len(found["breaks"])) == ("a GPU has no render node", 64)
    result = command(sdk, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root))
    assert "  breaks   the GPU of node 1, the GPU of node 2, " in result.stdout
    assert " and 58 more      (-v lists them)\n" in result.stdout


def test_gpus_without_devices_are_not_hidden_by_variables(sdk: Site, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in range(1, 9):
        machine.gpu(node, "gfx942")
    shutil.rmtree(machine.root / "dev")
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    for variables in ({}, {"ROCR_VISIBLE_DEVICES": "0"}):
        assert "W-ENV-005" not in run_test(sdk.path, "--only", "environment", **root, **variables).codes
    for node in range(1, 9):
        machine.write(f"dev/dri/renderD{128 + node}")
    machine.write("dev/kfd")
    said = run_test(sdk.path, "--only", "environment", **root, ROCR_VISIBLE_DEVICES="0", HIP_VISIBLE_DEVICES="-1")
    found = said.only("W-ENV-005")
    assert "HIP_VISIBLE_DEVICES=-1" in found["cause"]
    assert found["fix"].startswith("unset HIP_VISIBLE_DEVICES  # or")


# ---- comgr writes temporary files and a cache while a program runs: in a container with a read-only root it cannot

TEMPORARY, CACHE = "W-ENV-014", "W-ENV-015"


@pytest.fixture
def comgr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a comgr that has a cache, of the SDK that is the installed one."""
    site = Site(tmp_path / "site-packages")
    monkeypatch.syspath_prepend(str(site.path))
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR", "AMD_COMGR_CACHE", "AMD_COMGR_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return site.library("libamd_comgr.so.3")


def found_places() -> dict[str, tuple[str, str]]:
    """Return the place and the cause of each problem by its code."""
    return {each.code: (str(each.path), each.cause) for each in place_problems(current())}


def test_the_usual_places(comgr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_places() == {}
    monkeypatch.setenv("TEMP", str(tmp_path / "none"))
    assert found_places() == {TEMPORARY: (str(tmp_path / "none"), f"{tmp_path}/none: there is no such directory")}
    monkeypatch.setenv("TMP", str(tmp_path))  # which comes first
    assert found_places() == {}
    monkeypatch.setenv("TMPDIR", "")  # LLVM takes it as it is
    assert list(found_places()) == [TEMPORARY]
    comgr.unlink()
    assert found_places() == {}, "nothing compiles"


def test_the_cache(comgr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not/made/yet"))
    assert found_places() == {}
    (tmp_path / "file").touch()
    place = str(tmp_path / "file/cache")
    monkeypatch.setenv("AMD_COMGR_CACHE_DIR", place)
    assert found_places() == {CACHE: (place, f"{place}: {tmp_path}/file is no directory")}
    monkeypatch.setenv("AMD_COMGR_CACHE", "0")
    assert found_places() == {}
    monkeypatch.delenv("AMD_COMGR_CACHE")
    comgr.rename(comgr.with_name("libamd_comgr.so.2"))
    assert found_places() == {}, "this one has no cache"


def test_directories_of_others(report_of_other_user: Callable[..., str]) -> None:
    with open_directory() as directory:
        site = Site(directory / "site-packages")
        site.library("libamd_comgr.so.3")
        install(site)
        output = report_of_other_user(site, "--only", "environment", TMPDIR="/usr", AMD_COMGR_CACHE_DIR="/usr/comgr")
    assert TEMPORARY in output and CACHE in output
    assert "/usr/comgr: this user may not write to /usr" in output


def test_check_and_test_say_it(
    comgr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone, site = str(tmp_path / "gone"), Site(comgr.parents[2])
    monkeypatch.setenv("TMPDIR", gone)
    app = library(tmp_path / "app.so", [bundle(objects("gfx1030"))])
    assert main(["check", str(app), "--gpu", "gfx1030"]) == 0, "it runs where the variable is another one"
    cause = f"{TEMPORARY}: ROCm has no place for its temporary files: {gone}: there is no such directory"
    assert cause in capsys.readouterr().out
    main(["check", str(site.library("libplain.so.1")), "--gpu", "gfx1030"])
    assert TEMPORARY not in capsys.readouterr().out, "it has no code that comgr could be asked for"
    install(site)
    problem = run_test(site.path, "--only", "environment", TMPDIR=gone).only(TEMPORARY)
    assert problem["fix"] == "Set TMPDIR to a directory that this user may write to"
    assert (site.path / CORE / "lib").is_dir()
