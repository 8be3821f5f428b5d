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
from rocm_sdk.doctor.nodes import reading
from rocm_sdk.doctor.nodes.host_list import BadHostListError, hosts
from rocm_sdk.doctor.nodes.reading import NodeReport, Unreadable, names_of_reports, read_reports

HOST = socket.gethostname()


def rocm_sdk(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_interpreter("-m", "rocm_sdk", *map(str, words), check=False, **variables)


@pytest.fixture
def sdk(site: Site) -> Site:
    site.library("libamdhip64.so.7")
    install(site)
    return site


def write_report(sdk: Site, directory: Path, node: str, **variables: str) -> dict[str, Any]:
    words = ("test", "--only", "packages", "--json", "--node", "--output", f"{directory}/%n-%t.json")
    done = rocm_sdk(*words, PYTHONPATH=str(sdk.path), SLURMD_NODENAME=node, **variables)
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    document: dict[str, Any] = json.loads((directory / f"{node}-0.json").read_text())
    return document


def test_nodes_that_differ(sdk: Site, tmp_path: Path) -> None:
    for node in ("node1", "node2", "node3"):
        write_report(sdk, tmp_path, node)
    other = write_report(sdk, tmp_path, "node4", HSA_XNACK="1")
    other["node"]["driver"], other["node"]["kernel"] = "6.14.14", "6.2.0-old"
    other["version"] = "7.9.0"
    (tmp_path / "node4-0.json").write_text(json.dumps(other))
    (tmp_path / "cut.json").write_text((tmp_path / "node1-0.json").read_text()[:200])
    (tmp_path / "empty.json").touch()
    (tmp_path / "foreign.json").write_text('{"schema": 2}')
    (tmp_path / "notes.txt").write_text("not a report")
    done = rocm_sdk("test", "--merge", tmp_path, "--expect", "node[1-5]", "--html", tmp_path / "page.html")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:3] == ["4 reports in 2 groups of equal outcome", "", "1 node: node4"]
    assert {
        "  SDK: 7.9.0, and not 7.10.0",
        "  driver: 6.14.14, and not none",
        f"  kernel: 6.2.0-old, and not {os.uname().release}",
        "  variable HSA_XNACK: 1, and not none",
        "3 nodes (the largest group): node1, node2, node3",
        "not readable: empty.json: it is empty",
        "not readable: foreign.json: it is no report of `rocm-sdk test --json` or ROCM_SDK_REPORT",
        "without a report: node5",
    } <= set(lines)
    assert any(line.startswith("not readable: cut.json: it is cut or no JSON") for line in lines)
    page = (tmp_path / "page.html").read_text()
    assert '<li class="other"><a href="#group' in page  # what differs is one step away
    assert '">node4</a></li>' in page
    assert "node5 (no report)" in page
    assert not re.search(r"</h2>(?:<h2|</main)", page), "a heading has something below it"
    found = json.loads(rocm_sdk("test", "--merge", tmp_path, "--json").stdout)
    assert [group["nodes"] for group in found["groups"]] == [["node4"], ["node1", "node2", "node3"]]
    assert {"what": "SDK", "norm": "7.10.0", "value": "7.9.0"} in found["groups"][0]["differences"]


def test_equal_nodes(sdk: Site, tmp_path: Path) -> None:
    write_report(sdk, tmp_path, "a", ROCR_VISIBLE_DEVICES="0")
    write_report(sdk, tmp_path, "b", ROCR_VISIBLE_DEVICES="1")
    done = rocm_sdk("test", "--merge", tmp_path, SLURM_JOB_NODELIST="a,b")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "2 reports in 1 group of equal outcome")
    absent = rocm_sdk("test", "--merge", tmp_path, SLURM_JOB_NODELIST="[a-b]")
    assert (absent.returncode, "SLURM_JOB_NODELIST" in absent.stderr) == (2, True)


def test_equal_nodes_with_an_error(sdk: Site, tmp_path: Path) -> None:
    document = write_report(sdk, tmp_path, "a")
    document["problems"] = [{"code": "E-LIB-002", "severity": "error", "title": f"on {HOST}", "cause": "x", "fix": ""}]
    for node in ("a", "b"):
        document["node"] |= {"name": node}
        (tmp_path / f"{node}-0.json").write_text(json.dumps(document))
    done = rocm_sdk("test", "--merge", tmp_path)
    assert done.returncode == 1
    assert f"  error: E-LIB-002 on {HOST}" in done.stdout


def test_what_a_report_says_of_its_node(sdk: Site, tmp_path: Path) -> None:
    node = write_report(sdk, tmp_path, "n7", HSA_XNACK="1", SECRET_TOKEN="hidden", ROCM_TOKEN="hidden")["node"]
    assert (node["host"], node["name"], node["kernel"]) == (HOST, "n7", os.uname().release)
    assert node["environment"]["HSA_XNACK"] == "1"
    assert "SECRET_TOKEN" not in node["environment"]
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
    page = tmp_path / "page.html"
    said = rocm_sdk("test", "--merge", tmp_path, "--html", page).stdout
    (line,) = (each for each in said.splitlines() if "firmware" in each)
    assert re.fullmatch(r"  firmware: .*42.*, and not .*41.*", line)
    assert ">firmware</td>" in page.read_text()
    assert "Not told" not in page.read_text()


def test_the_name_of_a_host_in_a_problem_makes_no_difference(sdk: Site, tmp_path: Path) -> None:
    for node in ("n1", "n2"):
        found = write_report(sdk, tmp_path, node)
        found["node"]["host"] = f"host-of-{node}"
        found["problems"] = [{"code": "E-LIB-002", "severity": "error", "cause": f"nothing on host-of-{node}"}]
        (tmp_path / f"{node}-0.json").write_text(json.dumps(found))
    assert rocm_sdk("test", "--merge", tmp_path).stdout.startswith("2 reports in 1 group of equal outcome")


HOSTILE = {
    "a list": "[1, 2]",
    "deep": "[" * 100_000,
    "problems of another kind": '{"schema": 2, "problems": [1], "node": {"name": "x"}}',
    "no node": '{"schema": 2, "problems": []}',
    "another schema": '{"schema": 3, "problems": [], "node": {"name": "x"}}',
    "no text": "\xff\xfe",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_files_that_are_no_reports(tmp_path: Path, case: str) -> None:
    (tmp_path / "x.json").write_text(HOSTILE[case], encoding="latin-1")
    done = rocm_sdk("test", "--merge", tmp_path)
    assert done.returncode == 1
    assert "not readable: x.json: " in done.stdout
    assert "Traceback" not in done.stderr


def test_values_of_other_kinds_and_control_characters(sdk: Site, tmp_path: Path) -> None:
    document = write_report(sdk, tmp_path, "a")
    write_report(sdk, tmp_path, "b")
    write_report(sdk, tmp_path, "c")
    document["node"] |= {"gpus": [1, None], "firmware": {"x": 1}, "environment": [], "driver": "\x1b[2J", "host": 5}
    document |= {"distributions": "all", "subjects": {}, "site": ["x"]}
    (tmp_path / "a-0.json").write_text(json.dumps(document))
    (tmp_path / "pipe.json").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe.json")
    done = rocm_sdk("test", "--merge", tmp_path)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "not readable: pipe.json" in done.stdout


# Runs the command, and tells what it has cost.
MEASURE = """
import json, resource, subprocess, sys
subprocess.run([sys.executable, "-m", "rocm_sdk", *sys.argv[1:]])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def test_ten_thousand_reports(sdk: Site, tmp_path: Path) -> None:
    """At most three seconds of processor time and 200 MB."""
    document = write_report(sdk, tmp_path, "a")
    document["node"]["environment"] |= {f"ROCM_FILL_{number}": "x" * 60 for number in range(40)}
    (tmp_path / "all").mkdir()
    for number in range(10_000):
        document["node"] |= {"name": f"node{number:05}", "driver": "bad" if number == 77 else "6.14"}
        (tmp_path / f"all/{number:05}.json").write_text(json.dumps(document))
    size = sum(path.stat().st_size for path in (tmp_path / "all").iterdir())
    words = ["test", "--merge", str(tmp_path / "all"), "--expect", "node[00000-09999]"]
    done = run_interpreter("-c", MEASURE, *words, check=False)
    *lines, last = done.stdout.splitlines()
    seconds, kibibytes = json.loads(last)
    print(f"{size / 1e6:.0f} MB: {seconds:.2f} s, {kibibytes} KiB")
    assert lines[2:4] == ["1 node: node00077", "  driver: bad, and not 6.14"]
    assert seconds < 3
    assert kibibytes < 200_000


def test_hostile_reports_among_honest_ones(sdk: Site, tmp_path: Path) -> None:
    """A report that is too large is refused by its name; endless values, facts and problems fill no memory or page."""
    document = write_report(sdk, tmp_path, "a")
    place = tmp_path / "all"
    place.mkdir()
    for number in range(500):
        document["node"] |= {"name": f"node{number:03}"}
        (place / f"{number:03}.json").write_text(json.dumps(document))
    for number in range(4):
        document["version"] = f"{number}" * (16 << 20)
        (place / f"large{number}.json").write_text(json.dumps(document))
    for number in range(60):
        document["node"] |= {"name": f"long{number}"}
        document["version"] = "\u20ac" * 160_000 + str(number)
        (place / f"long{number}.json").write_text(json.dumps(document))
    document["version"], fine = "7.10.0", dict(document["node"])
    many = {f"V{number}": "x" for number in range(20_000)}
    document["node"] = fine | {"name": "many", "environment": many}
    (place / "many.json").write_text(json.dumps(document))
    row = {"code": "E-LIB-002", "severity": "error", "title": "t"}
    document["node"], document["problems"] = fine | {"name": "ill"}, [row] * 5_000
    (place / "ill.json").write_text(json.dumps(document))
    document["problems"], document["node"] = [], fine | {"name": "n" * 256}
    (place / "name.json").write_text(json.dumps(document))
    for number in range(100):
        empty = json.dumps(document | {"node": fine, "more": [[]] * 200_000}, separators=(",", ":"))
        (place / f"values{number}.json").write_text(empty)
    document["node"] = fine | {"name": "rank", "task": "0", "tasks": "999999"}
    (place / "rank.json").write_text(json.dumps(document | {"of": "rank"}))
    page = tmp_path / "page.html"
    words = ["test", "--merge", str(place), "--html", str(page), "--json"]
    done = run_interpreter("-c", MEASURE, *words, check=False)
    assert not done.stderr
    text, _, last = done.stdout.rstrip().rpartition("\n")
    found = json.loads(text)
    seconds, kibibytes = json.loads(last)
    print(f"{seconds:.2f} s, {kibibytes} KiB, {len(text)} and {page.stat().st_size} bytes")
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
    assert seconds < 3
    assert kibibytes < 200_000
    assert len(text) + page.stat().st_size < 3 << 20


def test_reports_beyond_the_limit_of_all(sdk: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(sdk, tmp_path, "a")
    for name in ("b", "c"):
        (tmp_path / f"{name}.json").write_bytes((tmp_path / "a-0.json").read_bytes())
    names = names_of_reports(str(tmp_path))
    size = (tmp_path / "a-0.json").stat().st_size
    monkeypatch.setattr(reading, "TOTAL_LIMIT", 2 * size)
    *_, last = read_reports(str(tmp_path), names)
    assert last == Unreadable("c.json", f"the reports before it have {2 * size} bytes, and all may have {2 * size}")
    assert all(isinstance(each, NodeReport) for each in list(read_reports(str(tmp_path), names))[:2])


# ---- names ----


def test_names_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURMD_NODENAME", "rack/7")
    monkeypatch.setenv("SLURM_PROCID", "12")
    assert report_name("d/%n-%t-%p%%.json") == f"d/rack_7-12-{os.getpid()}%.json"
    monkeypatch.setenv("SLURMD_NODENAME", "..")
    assert report_name("%n") == "_.."
    with pytest.raises(ValueError, match="%x stands for nothing"):
        report_name("%x")


def test_a_directory_without_reports(tmp_path: Path) -> None:
    assert rocm_sdk("test", "--merge", tmp_path).returncode == 2
    assert "has no reports" in rocm_sdk("test", "--merge", tmp_path).stderr
    assert "No such file" in rocm_sdk("test", "--merge", tmp_path / "gone").stderr
    assert_failed(rocm_sdk("test", "--json", "--only", "gpus", "--output", tmp_path / "gone/x.json"), 1, "cannot write")


LISTS = {
    "": (),
    "a": ("a",),
    "a, b ,a": ("a", "b"),
    "n[1-3]": ("n1", "n2", "n3"),
    "n[08-10,12]x,login1": ("n08x", "n09x", "n10x", "n12x", "login1"),
    "r[1-2]n[1-2]": ("r1n1", "r1n2", "r2n1", "r2n2"),
}


@pytest.mark.parametrize("text", LISTS)
def test_lists_of_hosts(text: str) -> None:
    assert hosts(text) == LISTS[text]


@pytest.mark.parametrize(
    "text", ["n[", "n]", "n[1", "n[a]", "n[3-1]", "n[]", "n[[1]]", "n[1-99999999999]", "a[0-9999]" * 3]
)
def test_wrong_lists(text: str) -> None:
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


@pytest.mark.parametrize("case", HOSTILE_LISTS)
@pytest.mark.parametrize("source", ["--expect", "SLURM_JOB_NODELIST"])
def test_hostile_lists(tmp_path: Path, case: str, source: str) -> None:
    """A message of some words, in seconds, and 100 MB at most."""
    words = ["-c", _WITHIN, "test", "--merge", str(tmp_path)]
    words += ["--expect", HOSTILE_LISTS[case]] if source == "--expect" else []
    variables = {"SLURM_JOB_NODELIST": HOSTILE_LISTS[case]} if source != "--expect" else {}
    done = run_interpreter(*words, check=False, **variables)
    assert done.returncode == 2
    assert done.stderr.startswith(f"rocm-sdk: {source}: ")
    assert len(done.stderr) < 500
    assert "Traceback" not in done.stderr


_WITHIN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))
from rocm_sdk.cli import main
sys.exit(main())
"""
