"""Reports of many nodes: their names, what they say of the node, and how they are compared."""

import json
import os
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ended import assert_failed
from sample_machine import machine_of
from sample_report import install
from sample_site import Site, run_interpreter

from rocm_sdk._native import report_name
from rocm_sdk.doctor.nodes import node_reports
from rocm_sdk.doctor.nodes.host_list import BadHostListError, hosts
from rocm_sdk.doctor.nodes.node_reports import NodeReport, Unreadable, names_of_reports, read_reports

HOST = socket.gethostname()
Document = dict[str, Any]


def rocm_sdk(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_interpreter("-m", "rocm_sdk", *map(str, words), check=False, **variables)


def merged(directory: Path, *words: str | Path, **variables: str) -> tuple[int, list[str]]:
    """Return the status and the lines of `test --merge`."""
    done = rocm_sdk("test", "--merge", directory, *words, **variables)
    assert "Traceback" not in done.stderr and "\x1b" not in done.stdout
    return done.returncode, (done.stdout or done.stderr).splitlines()


@pytest.fixture
def sdk(site: Site) -> Site:
    site.library("libamdhip64.so.7")
    install(site)
    return site


def write_report(sdk: Site, directory: Path, node: str, **variables: str) -> Document:
    words = ("test", "--only", "packages", "--json", "--node", "--output", f"{directory}/%n-%t.json")
    done = rocm_sdk(*words, PYTHONPATH=str(sdk.path), SLURMD_NODENAME=node, **variables)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return dict(json.loads((directory / f"{node}-0.json").read_text()))


@pytest.fixture
def document(sdk: Site, tmp_path: Path) -> Document:
    """Return a report; its file is removed."""
    found = write_report(sdk, tmp_path, "a")
    (tmp_path / "a-0.json").unlink()
    return found


def put(document: Document, path: Path, name: str, **more: Any) -> None:
    """Write a report of a node."""
    path.write_text(json.dumps(document | {"node": document["node"] | {"name": name}} | more))


def test_nodes_that_differ(document: Document, tmp_path: Path) -> None:
    """The page shows what differs at one step."""
    for node in ("node1", "node2", "node3"):
        put(document, tmp_path / f"{node}.json", node)
    environment = document["node"]["environment"] | {"HSA_XNACK": "1"}
    document["node"] |= {"driver": "6.14.14", "kernel": "6.2.0-old", "environment": environment}
    put(document, tmp_path / "node4.json", "node4", version="7.9.0")
    (tmp_path / "cut.json").write_text((tmp_path / "node1.json").read_text()[:200])
    (tmp_path / "empty.json").touch()
    (tmp_path / "foreign.json").write_text('{"schema": 3}')
    (tmp_path / "notes.txt").write_text("not a report")
    status, lines = merged(tmp_path, "--expect", "node[1-5]")
    assert (status, lines[:3]) == (1, ["4 reports in 2 groups of equal outcome", "", "1 node: node4"])
    assert {
        "  SDK: 7.9.0, and not 7.10.0",
        "  driver: 6.14.14, and not none",
        f"  kernel: 6.2.0-old, and not {os.uname().release}",
        "  variable HSA_XNACK: 1, and not none",
        "3 nodes (the largest group): node1, node2, node3",
        "not readable: empty.json: it is empty",
        "not readable: foreign.json: it is not a report of `rocm-sdk test --json` or ROCM_SDK_REPORT",
        "without a report: node5",
    } <= set(lines)
    assert any(line.startswith("not readable: cut.json: it is cut or no JSON") for line in lines)
    found = json.loads(rocm_sdk("test", "--merge", tmp_path, "--json").stdout)
    assert [group["nodes"] for group in found["groups"]] == [["node4"], ["node1", "node2", "node3"]]
    assert {"what": "SDK", "norm": "7.10.0", "value": "7.9.0"} in found["groups"][0]["differences"]


def test_equal_nodes(sdk: Site, tmp_path: Path) -> None:
    for number, node in enumerate("ab"):
        document = write_report(sdk, tmp_path, node, ROCR_VISIBLE_DEVICES=str(number))
    equal = "2 reports in 1 group of equal outcome"
    status, lines = merged(tmp_path, SLURM_JOB_NODELIST="a,b")
    assert (status, lines[0]) == (0, equal)
    status, (first, *_) = merged(tmp_path, SLURM_JOB_NODELIST="[a-b]")
    assert (status, "SLURM_JOB_NODELIST" in first) == (2, True)
    row = {"code": "E-LIB-002", "severity": "error", "title": f"on {HOST}", "cause": "x", "fix": ""}
    for node in "ab":
        put(document, tmp_path / f"{node}-0.json", node, problems=[row])
    status, lines = merged(tmp_path)
    assert (status, f"  error: E-LIB-002 on {HOST}" in lines) == (1, True)
    for node in "ab":  # the name of a host in a problem makes no difference
        document["node"]["host"] = f"host-of-{node}"
        row = {"code": "E-LIB-002", "severity": "error", "cause": f"nothing on host-of-{node}"}
        put(document, tmp_path / f"{node}-0.json", node, problems=[row])
    assert merged(tmp_path)[1][0] == equal


def test_what_a_report_says_of_its_node(sdk: Site, tmp_path: Path) -> None:
    node = write_report(sdk, tmp_path, "n7", HSA_XNACK="1", SECRET_TOKEN="hidden", ROCM_TOKEN="hidden")["node"]
    assert (node["host"], node["name"], node["kernel"]) == (HOST, "n7", os.uname().release)
    assert (node["environment"]["HSA_XNACK"], "SECRET_TOKEN" in node["environment"]) == ("1", False)
    assert node["environment"]["ROCM_TOKEN"] is None, "it is set, and its value may be a secret"
    assert set(node["record_digests"]) == {"rocm-sdk-core", "rocm-sdk-libraries"}
    masked = json.loads(rocm_sdk("test", "--only", "packages", "--json", PYTHONPATH=str(sdk.path)).stdout)["node"]
    assert masked["host"] == "<HOST>"


def test_the_firmware_of_gpus(sdk: Site, tmp_path: Path) -> None:
    """The firmware of processors, which have no cores for it, does not count."""
    for node, version in (("n1", 41), ("n2", 41), ("n3", 42)):
        machine = machine_of(tmp_path / node)
        machine.gpu(1, "gfx942", fw_version=version, sdma_fw_version=7)
        root = tmp_path / "root"
        root.unlink(missing_ok=True)
        root.symlink_to(machine.root)
        found = write_report(sdk, tmp_path, node, ROCM_SDK_ROOTFS=str(root))["node"]
        assert found["firmware"] == [{"fw_version": str(version), "sdma_fw_version": "7"}]
    _, lines = merged(tmp_path)
    (line,) = (each for each in lines if "firmware" in each)
    assert re.fullmatch(r"  firmware: .*42.*, and not .*41.*", line)


HOSTILE = {
    "a list": "[1, 2]",
    "deep": "[" * 100_000,
    "problems of another kind": '{"schema": 3, "problems": [1], "node": {"name": "x"}}',
    "no node": '{"schema": 3, "problems": []}',
    "another schema": '{"schema": 2, "problems": [], "node": {"name": "x"}}',
    "no text": "\xff\xfe",
}


def test_files_that_are_no_reports(document: Document, tmp_path: Path) -> None:
    """Also a pipe, values of other kinds, and control characters."""
    for name, text in HOSTILE.items():
        (tmp_path / f"{name}.json").write_text(text, encoding="latin-1")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("b", "c"):
        put(document, tmp_path / f"{name}.json", name)
    document["node"] |= {"gpus": [1, None], "firmware": {"x": 1}, "environment": [], "driver": "\x1b[2J", "host": 5}
    put(document, tmp_path / "a.json", "a", distributions="all", subjects={}, site=["x"])
    status, lines = merged(tmp_path)
    refused = {line.split(": ")[1].removesuffix(".json") for line in lines if line.startswith("not readable: ")}
    assert (status, refused) == (1, {*HOSTILE, "pipe"})
    (tmp_path / "none").mkdir()
    status, (first, *_) = merged(tmp_path / "none")
    assert (status, "has no reports" in first) == (2, True)
    assert "No such file" in merged(tmp_path / "gone")[1][0]
    assert_failed(rocm_sdk("test", "--json", "--only", "gpus", "--output", tmp_path / "gone/x.json"), 1, "cannot write")


# ---- what they cost

# Runs the command, and tells what it has cost.
MEASURE = """
import json, resource, subprocess, sys
subprocess.run([sys.executable, "-m", "rocm_sdk", "test", "--merge", *sys.argv[1:]])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def cheaply_merged(*words: str) -> str:
    """Return the output of `test --merge`: at most three seconds of processor time and 200 MB."""
    done = run_interpreter("-c", MEASURE, *words, check=False)
    assert not done.stderr
    text, _, last = done.stdout.rstrip().rpartition("\n")
    seconds, kibibytes = json.loads(last)
    assert (seconds < 3, kibibytes < 200_000) == (True, True), last
    return text


@pytest.mark.slow
def test_ten_thousand_reports(document: Document, tmp_path: Path) -> None:
    document["node"]["environment"] |= {f"ROCM_FILL_{number}": "x" * 60 for number in range(40)}
    (tmp_path / "all").mkdir()
    for number in range(10_000):
        document["node"] |= {"name": f"node{number:05}", "driver": "bad" if number == 77 else "6.14"}
        (tmp_path / f"all/{number:05}.json").write_text(json.dumps(document))
    lines = cheaply_merged(str(tmp_path / "all"), "--expect", "node[00000-09999]").splitlines()
    assert lines[2:4] == ["1 node: node00077", "  driver: bad, and not 6.14"]


@pytest.mark.slow
def test_hostile_reports_among_honest_ones(document: Document, tmp_path: Path) -> None:
    """A report that is too large is refused by its name; endless values, facts and problems fill no memory."""
    place, node = tmp_path / "all", document["node"]
    place.mkdir()
    for number in range(500):
        put(document, place / f"{number:03}.json", f"node{number:03}")
    for number in range(4):
        put(document, place / f"large{number}.json", "large", version=f"{number}" * (16 << 20))
    for number in range(60):
        put(document, place / f"long{number}.json", f"long{number}", version="\u20ac" * 160_000 + str(number))
    row = {"code": "E-LIB-002", "severity": "error", "title": "t"}
    put(document, place / "ill.json", "ill", problems=[row] * 5_000)
    put(document, place / "name.json", "n" * 256)
    for number in range(100):
        values = json.dumps(document | {"more": [[]] * 200_000}, separators=(",", ":"))
        (place / f"values{number}.json").write_text(values)
    document["node"] = node | {"environment": {f"V{number}": "x" for number in range(20_000)}}
    put(document, place / "many.json", "many")
    document["node"] = node | {"task": "0", "tasks": "999999"}
    put(document, place / "rank.json", "rank", of="rank")
    text = cheaply_merged(str(place), "--json")
    assert len(text) < 3 << 20
    found = json.loads(text)
    assert {each["file"]: each["why"] for each in found["unreadable"]} == {
        **{f"large{number}.json": "it is larger than 1048576 bytes" for number in range(4)},
        **{f"values{number}.json": "it has more than 32768 values" for number in range(100)},
        "name.json": "the name of its node or task has more than 255 letters",
    }
    groups = {group["nodes"][0]: group for group in found["groups"]}
    assert groups["node000"]["is_norm"]
    assert groups["long7"]["differences"][0]["value"].startswith("\u20ac" * 200 + "... (160001 letters, SHA-256 ")
    assert groups["long7"]["differences"] != groups["long8"]["differences"]
    assert len(groups["many"]["differences"]) == 100
    assert groups["many"]["untold"].startswith("it has more than 4096 facts, and those are compared; ")
    assert (len(groups["ill"]["errors"]), groups["ill"]["untold"]) == (100, "4,900 errors more")
    assert found["absent"][-1] == "989998 more tasks"


def test_reports_beyond_the_limit_of_all(document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        put(document, tmp_path / f"{name}.json", "x")
    names, size = names_of_reports(str(tmp_path)), (tmp_path / "a.json").stat().st_size
    monkeypatch.setattr(node_reports, "TOTAL_LIMIT", 2 * size)
    *others, last = read_reports(str(tmp_path), names)
    assert last == Unreadable("c.json", f"the reports before it have {2 * size} bytes, and all may have {2 * size}")
    assert [type(each) for each in others] == [NodeReport] * 2


# ---- names ----


def test_names_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMD_NODENAME", "rack/7")
    monkeypatch.setenv("SLURM_PROCID", "12")
    assert report_name("d/%n-%t-%p%%.json") == f"d/rack_7-12-{os.getpid()}%.json"
    monkeypatch.setenv("SLURMD_NODENAME", "..")
    assert report_name("%n") == "_.."
    with pytest.raises(ValueError, match="%x stands for nothing"):
        report_name("%x")


LISTS = {
    "": (),
    "a": ("a",),
    "a, b ,a": ("a", "b"),
    "n[1-3]": ("n1", "n2", "n3"),
    "n[08-10,12]x,login1": ("n08x", "n09x", "n10x", "n12x", "login1"),
    "r[1-2]n[1-2]": ("r1n1", "r1n2", "r2n1", "r2n2"),
}
WRONG = ("n[", "n]", "n[1", "n[a]", "n[3-1]", "n[]", "n[[1]]", "n[1-99999999999]", "a[0-9999]" * 3)


@pytest.mark.slow
def test_lists_of_hosts() -> None:
    assert {text: hosts(text) for text in LISTS} == LISTS
    for text in WRONG:
        with pytest.raises(BadHostListError):
            hosts(text)


HOSTILE_LISTS = {
    "digits": f"n[{'9' * 5000}]",
    "zeros": f"n[{'0' * 5000}1]",
    "digits of a range": f"n[1-{'9' * 5000}]",
    "brackets": "n" + "[1]" * 1500,
    "one name many times": ",".join(["n[1-1000000]"] * 1000),
    "long names": "n" * 60_000 + "[1-1000000]",
    "brackets in brackets": "[" * 60_000,
}
_WITHIN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))
from rocm_sdk.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("case", HOSTILE_LISTS)
def test_hostile_lists(tmp_path: Path, case: str) -> None:
    """A message of some words, in seconds, and 100 MB at most."""
    text, words = HOSTILE_LISTS[case], ["-c", _WITHIN, "test", "--merge", str(tmp_path)]
    for source, more, variables in (("--expect", [text], {}), ("SLURM_JOB_NODELIST", [], {"SLURM_JOB_NODELIST": text})):
        option = ["--expect"] if more else []
        done = run_interpreter(*words, *option, *more, check=False, **variables)
        assert (done.returncode, len(done.stderr) < 500, "Traceback" in done.stderr) == (2, True, False)
        assert done.stderr.startswith(f"rocm-sdk: {source}: ")
