"""ROCM_SDK_REPORT: each process writes once what it has loaded, and its load does not depend on that."""

import json
import os
import re
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from other_user import OtherUser, program_with_rights, variables_of_program
from sample_site import CORE, LIBRARIES, Site, clean_environment, run_interpreter
from system_calls import traced

LOAD = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['hipsparse'])"
HOST = socket.gethostname()
WITH_ID, WITHOUT_ID = ("-Wl,--build-id",), ("-Wl,--build-id=none",)


@pytest.fixture
def sdk(site: Site) -> Site:
    comgr = site.library("libamd_comgr.so.3", flags=WITHOUT_ID)
    hip = site.library("libamdhip64.so.7", needed=(comgr,), flags=WITH_ID)
    site.library("libhipsparse.so.4", needed=(hip,), package=LIBRARIES, flags=WITH_ID)
    return site


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Return an empty directory."""
    (tmp_path / "reports").mkdir()
    return tmp_path / "reports"


def report_of(sdk: Site, directory: Path, code: str = LOAD, **variables: str) -> dict[str, Any]:
    sdk.run(code, ROCM_SDK_REPORT=f"{directory}/%n-%t.json", **variables)
    (path,) = directory.iterdir()
    document: dict[str, Any] = json.loads(path.read_text())
    path.unlink()
    return document


def build_id_of(path: Path) -> str:
    notes = subprocess.run(["readelf", "--notes", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"Build ID: ([0-9a-f]+)", notes)[0]


def test_what_it_says(sdk: Site, reports: Path) -> None:
    document = report_of(
        sdk, reports, SLURMD_NODENAME="node7", SLURM_PROCID="12", SLURM_NTASKS="16", TOKEN="secret", ROCM_TOKEN=""
    )
    assert (document["schema"], document["of"], document["version"]) == (3, "rank", "7.10.0")
    node = document["node"]
    assert (node["host"], node["name"], node["task"], node["tasks"]) == (HOST, "node7", "12", "16")
    assert (node["kernel"], node["environment"]["PYTHONPATH"]) == (os.uname().release, str(sdk.path))
    assert "TOKEN" not in node["environment"]
    assert node["environment"]["ROCM_TOKEN"] is None
    core, libraries = sdk.path / CORE / "lib", sdk.path / LIBRARIES / "lib"
    found = {each["name"]: each for each in document["libraries"]}
    assert {name: each["path"] for name, each in found.items()} == {
        "libhipsparse.so.4": str(libraries / "libhipsparse.so.4"),
        "libamdhip64.so.7": str(core / "libamdhip64.so.7"),
        "libamd_comgr.so.3": str(core / "libamd_comgr.so.3"),
    }
    for path in (libraries / "libhipsparse.so.4", core / "libamdhip64.so.7"):
        assert found[path.name]["build_id"] == build_id_of(path)
    assert found["libamd_comgr.so.3"]["build_id"] is None
    assert found["libhipsparse.so.4"]["shortname"] == "hipsparse"
    assert document["problems"] == []
    assert document["microseconds"] > 0


def test_once_for_a_process_and_its_children(sdk: Site, reports: Path) -> None:
    code = f"{LOAD}\nimport os\nrocm_sdk.preload_libraries('amdhip64')\n"
    code += "if os.fork():\n    os.wait()\nelse:\n    rocm_sdk.preload_libraries('amd_comgr')\n"
    found = report_of(sdk, reports, code)
    assert [each["name"] for each in found["libraries"] if each["shortname"]] == ["libhipsparse.so.4"]


def test_off_by_default_and_before_anything_is_loaded(sdk: Site, reports: Path) -> None:
    sdk.run(LOAD, ROCM_SDK_REPORT="")
    sdk.run("import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=[])", ROCM_SDK_REPORT=f"{reports}/x")
    assert not [*reports.iterdir()]


def test_a_load_that_fails(sdk: Site, reports: Path) -> None:
    (sdk.path / CORE / "lib/libamdhip64.so.7").write_text("cut")
    code = f"try:\n    {LOAD}\nexcept rocm_sdk.RocmSdkError as error:\n    print(error.code)"
    document = report_of(sdk, reports, code)
    (problem,) = document["problems"]
    assert problem["code"] == sdk.output(code)
    assert (problem["severity"], "libamdhip64.so.7" in problem["title"]) == ("error", True)


def test_an_sdk_that_is_not_there(sdk: Site, reports: Path) -> None:
    """A load that fails before a library is looked for has a report, too, with the exception's code."""
    code = f"try:\n    {LOAD}\nexcept Exception as error:\n    print(error.code)"
    (problem,) = report_of(sdk, reports, code, ROCM_SDK_ROOT=str(reports / "gone"))["problems"]
    assert problem["code"] == sdk.output(code, ROCM_SDK_ROOT=str(reports / "gone"))
    assert str(reports / "gone") in problem["cause"]


def calls_of(sdk: Site, record: Path, **variables: str) -> Counter[str]:
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path)} | variables
    lines = traced([sys.executable, "-c", LOAD], "all", record, environment)
    return Counter(found[1] for line in lines if (found := re.match(r"\d+ +(\w+)\(", line)))


def test_four_calls_on_files(sdk: Site, reports: Path, tmp_path: Path) -> None:
    """And none that reads: no package, no library, nothing of the system's."""
    calls_of(sdk, tmp_path / "trace")  # writes what Python keeps compiled
    without = calls_of(sdk, tmp_path / "trace")
    more = calls_of(sdk, tmp_path / "trace", ROCM_SDK_REPORT=f"{reports}/%p.json")
    more.subtract(without)
    quiet = {"getrandom", "brk", "mmap", "munmap", "futex", "uname", "getpid", "mprotect", "madvise", "rt_sigaction"}
    assert {name: count for name, count in more.items() if count > 0 and name not in quiet} == {
        "openat": 1,
        "write": 1,
        "close": 1,
        "renameat2": 1,
    }


COST = """
import time, rocm_sdk
start = time.process_time_ns()
rocm_sdk.preload_libraries("hipsparse")
print(time.process_time_ns() - start)
"""


def test_at_most_a_millisecond(sdk: Site, reports: Path) -> None:
    times = {
        name: min(int(sdk.output(COST, ROCM_SDK_REPORT=name and f"{reports}/%p.json")) for _ in range(7))
        for name in ("", "on")
    }
    print(times)
    assert len([*reports.iterdir()]) == 7
    assert times["on"] - times[""] < 1_000_000


FAULTS = {
    "no such directory": ("{directory}/none/%t.json", "No such file or directory"),
    "a letter that stands for nothing": ("{directory}/%x.json", "%x stands for nothing"),
    "a directory that is a file": ("/proc/self/exe/%t.json", "Not a directory"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_report_that_cannot_be_written_does_not_matter(sdk: Site, reports: Path, case: str) -> None:
    pattern, words = FAULTS[case]
    name = pattern.format(directory=reports)
    (said,) = sdk.run(LOAD, ROCM_SDK_REPORT=name).stderr.splitlines()
    assert f"no report: ROCM_SDK_REPORT={name}: " in said
    assert words in said
    assert not [*reports.iterdir()]


def test_a_full_disk_leaves_nothing(sdk: Site, reports: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    said = sdk.run(limit + LOAD, "-B", ROCM_SDK_REPORT=f"{reports}/%t.json").stderr
    assert "no report: " in said and said.endswith(": File too large\n")
    assert not [*reports.iterdir()]


def test_links_and_names_of_others(sdk: Site, reports: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (reports / "0.json").symlink_to(outside)
    (reports / "0.1.json").symlink_to(tmp_path / "gone")
    sdk.run(LOAD, ROCM_SDK_REPORT=f"{reports}/%t.json")
    assert outside.read_text() == "mine"
    assert not (tmp_path / "gone").exists()
    assert json.loads((reports / "0.2.json").read_text())["of"] == "rank"


@pytest.mark.parametrize("fault", ["error=EINVAL", "error=ENOSYS", "signal=KILL"])
def test_file_systems_that_cannot_rename_so_and_a_kill(sdk: Site, reports: Path, fault: str) -> None:
    """NFS cannot rename without replacing; a rank that is killed leaves no file that looks like a report."""
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path), "ROCM_SDK_REPORT": f"{reports}/%t.json"}
    for _ in range(2):
        strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject=renameat2:{fault}"]
        subprocess.run([*strace, sys.executable, "-c", LOAD], env=environment, check=False)
    found = sorted(reports.glob("*.json"))
    assert [path.name for path in found] == ([] if fault == "signal=KILL" else ["0.1.json", "0.json"])
    assert all(json.loads(path.read_text()) for path in found)


def test_the_name_of_an_unfinished_file_holds_no_secret(sdk: Site, reports: Path) -> None:
    """A killed process leaves the name for good; glibc makes the stack's canary of AT_RANDOM."""
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path), "ROCM_SDK_REPORT": f"{reports}/%t.json"}
    secret = """
import ctypes
libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_void_p
print(ctypes.string_at(libc.getauxval(ctypes.c_ulong(25)), 16)[::-1].hex(), flush=True)
"""
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=renameat2:signal=KILL"]
    command = [*strace, sys.executable, "-c", secret + LOAD]
    said = subprocess.run(command, env=environment, check=False, stdout=subprocess.PIPE, text=True).stdout.strip()
    (left,) = reports.iterdir()
    assert left.name.endswith(".partial") and len(said) == 32
    assert said[:14] not in left.name and said[16:30] not in left.name


def test_a_rename_that_fails_leaves_no_empty_file(sdk: Site, reports: Path) -> None:
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path), "ROCM_SDK_REPORT": f"{reports}/%t.json"}
    faults = [word for fault in ("renameat2:error=EINVAL", "rename:error=EIO") for word in ("-e", f"inject={fault}")]
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", *faults]
    subprocess.run([*strace, sys.executable, "-B", "-c", LOAD], env=environment, check=True)
    assert not [*reports.iterdir()]


def test_a_program_with_the_rights_of_another_writes_none(
    sdk: Site, other_user: OtherUser, open_directory: Path, tmp_path: Path
) -> None:
    """AT_SECURE is set where a program is set-user-ID: who starts it must not choose files that it writes."""
    open_directory.chmod(0o777)
    variables = variables_of_program(other_user, sdk.path) | {"ROCM_SDK_REPORT": f"{open_directory}/%t.json"}
    with program_with_rights(other_user, tmp_path, sdk.path) as (user, program):
        result = user.run("-B", "-c", LOAD, **variables)
        assert (result.returncode, [*open_directory.iterdir()]) == (0, []), result.stderr
        program.chmod(0o755)
        user.run("-B", "-c", LOAD, check=True, **variables)
        assert [path.name for path in open_directory.iterdir()] == ["0.json"]


def test_names_of_files_that_are_no_text(sdk: Site, reports: Path) -> None:
    document = report_of(sdk, reports, HIP_PATH='quote " \\ \n end', HSA_PATH=os.fsdecode(b"\xff"))
    environment = document["node"]["environment"]
    assert (environment["HIP_PATH"], environment["HSA_PATH"]) == ('quote " \\ \n end', "\udcff")


NOTE = """__asm__(".pushsection .note.hostile,\\"a\\",@note\\n.long %s\\n.popsection");"""
NOTES = {
    "a name of 4 GiB": "0xffffffff, 4, 3, 0x554e47",
    "data of 4 GiB": "4, 0xffffffff, 3, 0x554e47",
    "a build ID that ends behind the segment": "4, 20, 3, 0x554e47, 1",
    "a build ID of 80 bytes": "4, 80, 3, 0x554e47, " + ", ".join(["7"] * 20),
    "half a header": "4, 20",
    "empty notes": ", ".join(["0"] * 30),
}


@pytest.mark.parametrize("case", NOTES)
def test_notes_that_are_damaged(site: Site, reports: Path, case: str) -> None:
    path = site.library("libhipsparse.so.4", NOTE % NOTES[case], package=LIBRARIES, flags=WITHOUT_ID)
    (library,) = report_of(site, reports)["libraries"]
    assert (library["path"], library["build_id"]) == (str(path), None)


def test_an_index_with_a_password_is_left_out(sdk: Site, reports: Path) -> None:
    document = report_of(sdk, reports, ROCM_SDK_INDEX="https://me:secret@example.org/simple")
    assert "secret" not in json.dumps(document)


# ---- compared ----


def merged(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_interpreter("-m", "rocm_sdk", "test", "--merge", directory, *words, check=False)


def write_ranks(sdk: Site, directory: Path, tasks: range, node: str, **variables: str) -> None:
    for task in tasks:
        names = {"SLURMD_NODENAME": node, "SLURM_PROCID": str(task), "SLURM_NTASKS": "5"}
        sdk.run(LOAD, ROCM_SDK_REPORT=f"{directory}/%n-%t.json", **names, **variables)


def test_a_rank_that_loads_another_library(sdk: Site, reports: Path, tmp_path: Path) -> None:
    write_ranks(sdk, reports, range(2), "a")
    write_ranks(sdk, reports, range(2, 3), "b")
    other = sdk.library("libamdhip64.so.7", "int other;", flags=WITH_ID)
    write_ranks(sdk, reports, range(3, 4), "b")
    done = merged(reports, "--expect", "a,b")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:3] == ["4 reports in 2 groups of equal outcome", "", "1 rank: b task 3"]
    (difference,) = [line for line in lines if line.startswith("  ")]
    assert difference.startswith(f"  library libamdhip64.so.7: {other} (build ID {build_id_of(other)}), and not ")
    assert "3 ranks (the largest group): a, b task 2" in lines
    assert "without a report: task 4" in lines
    (tmp_path / "equal").mkdir()
    write_ranks(sdk, tmp_path / "equal", range(5), "a")
    done = merged(tmp_path / "equal")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "5 reports in 1 group of equal outcome")


def test_reports_of_ranks_beside_those_of_nodes(sdk: Site, reports: Path) -> None:
    """Each kind has its own norm."""
    write_ranks(sdk, reports, range(5), "a")
    words = ["test", "--only", "gpus", "--json", "--node", "--output", f"{reports}/%n.json"]
    code = f"import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main({words!r}))"
    for node in ("a", "b"):
        sdk.run(code, SLURMD_NODENAME=node, check=False)
    found = json.loads(merged(reports, "--json").stdout)["groups"]
    assert [(each["of"], each["is_norm"], each["reports"], each["nodes"]) for each in found] == [
        ("node", True, 2, ["a", "b"]),
        ("rank", True, 5, ["a"]),
    ]


def test_tasks_of_other_kinds(sdk: Site, reports: Path) -> None:
    write_ranks(sdk, reports, range(2), "a")
    path = reports / "a-0.json"
    document = json.loads(path.read_text())
    document["node"]["task"] = [1]
    path.write_text(json.dumps(document))
    done = merged(reports)
    assert done.stderr == ""
    assert "without a report: task 0, task 2" in done.stdout
