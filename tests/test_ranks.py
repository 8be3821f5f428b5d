"""Many ranks on a file server, simulated: what is counted, and what the formulas of docs/cluster-cost.md foresee."""

import ast
import dataclasses
import importlib
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from programs import completed

from rocm_sdk_build.code.patchelf import Shape

SOURCES = Path(__file__).resolve().parents[1] / "benchmarks"
LAYOUTS = {4: (1, 4), 16: (2, 8), 64: (8, 8)}  # all ranks -> nodes, ranks on each
OURS, ESTABLISHED = "rocm_sdk", "reference_loader"


@pytest.fixture(scope="module")
def benchmarks(benchmarks_parent: Path) -> SimpleNamespace:
    """Return the modules of the benchmarks."""
    assert benchmarks_parent.is_dir()
    names = ("stage", "simulated_nodes", "cluster_cost", "observation")
    found = SimpleNamespace(**{name: importlib.import_module(f"benchmarks.{name}") for name in names})
    if why := found.simulated_nodes.refusal():
        pytest.skip(why)
    return found


@pytest.fixture(scope="module")
def cluster(benchmarks: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("cluster")
    stage = benchmarks.stage.make_stage(directory / "stage", is_smoke=True)
    return benchmarks.simulated_nodes.Cluster(stage.environment(Shape.RPATH), directory)


def job(  # noqa: PLR0917
    benchmarks: SimpleNamespace, place: str, nodes: int, ranks: int, module: str = OURS, timeout: int = 60
) -> Any:
    """Return a job whose server answers at once."""
    kinds = benchmarks.simulated_nodes
    server = kinds.Server(latency=0, bandwidth=0, timeout=timeout)
    return kinds.Job(kinds.Place[place], module, nodes, ranks, benchmarks.stage.SHORTNAMES, server)


# ---- the formulas


@pytest.mark.parametrize(("place", "module"), [("TREE", ESTABLISHED), ("TREE", OURS), ("SHARED_IMAGE", OURS)])
def test_what_is_foreseen_is_counted(benchmarks: SimpleNamespace, cluster: Any, place: str, module: str) -> None:
    alone = job(benchmarks, place, 1, 1, module)
    one, two = cluster.run(alone), cluster.run(alone.in_turn(2))
    cost = benchmarks.cluster_cost.cost_of(one, two)
    for count, on_each in LAYOUTS.values():
        seen = cluster.run(job(benchmarks, place, count, on_each, module))
        for kind in ("lookup", "open", "opendir"):
            further = two.asked[kind] - one.asked[kind]
            foreseen = count * (one.asked[kind] + (on_each - 1) * further)
            # Ranks of a node that ask at the same time may ask twice.
            assert seen.asked[kind] == pytest.approx(foreseen, rel=0.03, abs=2 * count)
        least, most = (count * number for number in cost.questions(on_each))
        # Attributes that were not kept yet are asked for by some of the ranks, and twice by those that ask at one time.
        assert least * 0.98 <= benchmarks.cluster_cost.questions_of(seen) <= most + 2 * count * on_each
        # Ranks that read a file at the same time split reads.
        assert seen.asked["read"] == pytest.approx(count * cost.reads, rel=0.25, abs=2 * count * on_each)
        assert seen.operations <= cost.operations(count, on_each) * 1.05
        assert seen.size == pytest.approx(cost.bytes_sent(count), rel=0.05)


@pytest.mark.parametrize("module", [ESTABLISHED, OURS])
def test_without_a_cache_each_rank_asks_for_all(benchmarks: SimpleNamespace, cluster: Any, module: str) -> None:
    alone = job(benchmarks, "TREE", 1, 1, module, timeout=0)
    one, two = cluster.run(alone), cluster.run(alone.in_turn(2))
    cost = benchmarks.cluster_cost.cost_of(one, two)
    assert (cost.further, cost.listings) == (cost.first, 0)
    for count, on_each in LAYOUTS.values():
        seen = cluster.run(job(benchmarks, "TREE", count, on_each, module, timeout=0))
        assert benchmarks.cluster_cost.questions_of(seen) == count * on_each * cost.first
        # The pages that the kernel reads ahead differ in number from one run to the next.
        assert count * one.size * 0.95 <= seen.size <= count * on_each * one.size * 1.05


def test_servers_for_a_large_cluster(benchmarks: SimpleNamespace) -> None:
    """Whichever needs more of them, operations or bytes."""
    kinds = benchmarks.cluster_cost
    cost = kinds.NodeCost(first=100, further=40, listings=10, reads=50, size=1_000_000)
    assert cost.questions(8) == (100 + 7 * 40, 100 + 7 * 50)
    assert cost.operations(1000, 8) == 500_000
    server = kinds.FileServer(operations=10_000, bandwidth=1_000_000_000)
    assert kinds.servers_for(cost, 1000, 8, 60.0, server) == 1
    assert kinds.servers_for(cost, 1000, 8, 10.0, server) == 5
    assert kinds.servers_for(cost, 1000, 8, 0.5, kinds.FileServer(10**9, 1_000_000_000)) == 2


# ---- the goals that are counts


@pytest.mark.parametrize("timeout", [60, 0])
def test_an_image_takes_a_tenth(benchmarks: SimpleNamespace, cluster: Any, timeout: int) -> None:
    image = cluster.run(job(benchmarks, "SHARED_IMAGE", 1, 16, timeout=timeout))
    tree = cluster.run(job(benchmarks, "TREE", 1, 16, ESTABLISHED, timeout))
    assert image.operations <= tree.operations / 10
    assert {path for path in image.mapped if path.startswith("_rocm_sdk_")} == {
        path for path in tree.mapped if path.startswith("_rocm_sdk_")
    }


# ---- the file server

_ASK = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from node_process import counts, mount
sources, options, place, counters = sys.argv[2:6]
for number in range(int(sys.argv[7])):
    where = f"{place}/{number}"
    os.mkdir(where)
    own = f"{options},counters={counters}{number}"
    mount([f"{place}/../shared_files", "-o", own, sources, where], where)
start = time.monotonic()
exec(sys.argv[6])
print(time.monotonic() - start)
print(counts(f"{counters}0"))
"""


def ask(  # noqa: PLR0917
    benchmarks: SimpleNamespace, cluster: Any, directory: Path, options: str, code: str, mounts: int = 1
) -> tuple[float, dict[str, int]]:
    """Run code with mounts of the directory `sources` below `place`.

    The result is the seconds that the code took, and the questions to the first mount.
    """
    assert cluster.server.is_file()
    (directory / "shared_files").symlink_to(cluster.server)
    (directory / "place").mkdir()
    paths = [str(directory / name) for name in ("place", "counters")]
    words = [sys.executable, "-c", _ASK, str(SOURCES), str(directory / "sources"), options, *paths, code, str(mounts)]
    command = [*benchmarks.simulated_nodes.apart(), *words]
    done = completed(command, timeout=60)
    assert done.returncode == 0, done.stderr
    seconds, asked = done.stdout.splitlines()
    return float(seconds), ast.literal_eval(asked)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a directory with 300,000 bytes in a file, a link, a directory."""
    place = tmp_path / "sources"
    (place / "directory").mkdir(parents=True)
    (place / "directory/file").write_bytes(bytes(range(250)) * 1200)
    (place / "link").symlink_to("directory/file")
    return tmp_path


READ_TWICE = """
for _ in range(2):
    with open(f"{place}/0/directory/file", "rb", buffering=0) as file:
        content = file.readall()
    assert content == bytes(range(250)) * 1200
    assert not os.path.exists(f"{place}/0/directory/none")
"""


def test_a_client_that_caches(benchmarks: SimpleNamespace, cluster: Any, sources: Path) -> None:
    """As with NFS: each open asks, bytes and names are kept, and that a name does not exist."""
    _, asked = ask(benchmarks, cluster, sources, "timeout=60", READ_TWICE)
    assert (asked["lookup"], asked["open"], asked["bytes"]) == (3, 2, 300_000)
    assert asked["readlink"] == asked["opendir"] == asked["readdir"] == 0


def test_a_client_that_does_not(benchmarks: SimpleNamespace, cluster: Any, sources: Path) -> None:
    _, asked = ask(benchmarks, cluster, sources, "timeout=0", READ_TWICE)
    assert (asked["lookup"], asked["open"], asked["bytes"]) == (2 * 4, 2, 600_000)


def test_links_and_listings(benchmarks: SimpleNamespace, cluster: Any, sources: Path) -> None:
    code = """
assert sorted(os.listdir(f"{place}/0")) == ["directory", "link"]
assert os.readlink(f"{place}/0/link") == "directory/file"
assert os.stat(f"{place}/0/link").st_size == 300_000
"""
    _, asked = ask(benchmarks, cluster, sources, "timeout=60", code)
    assert (asked["readlink"], asked["opendir"], asked["open"]) == (1, 1, 0)
    assert asked["readdir"] >= 1


def test_nothing_is_written(benchmarks: SimpleNamespace, cluster: Any, sources: Path) -> None:
    code = """
for write in (lambda: open(f"{place}/0/directory/file", "r+b"), lambda: os.mkdir(f"{place}/0/new")):
    try:
        write()
    except OSError as error:
        assert error.errno == 30, error
    else:
        raise AssertionError
"""
    ask(benchmarks, cluster, sources, "timeout=60", code)
    assert sorted(path.name for path in (sources / "sources").iterdir()) == ["directory", "link"]


def test_each_answer_takes_its_time(benchmarks: SimpleNamespace, cluster: Any, sources: Path) -> None:
    code = 'for number in range(20): assert not os.path.exists(f"{place}/0/{number}")'
    seconds, asked = ask(benchmarks, cluster, sources, "timeout=60,latency=5000", code)
    assert asked["lookup"] == 20
    assert seconds >= 20 * 0.005


def test_mounts_share_the_bandwidth(benchmarks: SimpleNamespace, cluster: Any, sources: Path) -> None:
    """Two clients get 600,000 bytes at 2 MB/s: each alone would have needed half of the time."""
    code = """
from threading import Thread
def read(number):
    with open(f"{place}/{number}/directory/file", "rb", buffering=0) as file:
        file.readall()
clients = [Thread(target=read, args=[number]) for number in range(2)]
[client.start() for client in clients], [client.join() for client in clients]
"""
    options = f"timeout=60,bandwidth=2000000,link={sources}/link"
    seconds, asked = ask(benchmarks, cluster, sources, options, code, mounts=2)
    assert asked["bytes"] == 300_000
    assert seconds >= 0.3


@pytest.mark.parametrize("name", ["counters", "link"])
def test_files_of_its_own_are_never_links(cluster: Any, sources: Path, name: str) -> None:
    """A file that another user may have put there stays as it is."""
    (sources / "precious").write_text("precious")
    (sources / name).symlink_to("precious")
    options = f"counters={sources}/counters,bandwidth=1,link={sources}/link"
    done = completed([cluster.server, "-o", options, sources / "sources", sources])
    assert done.returncode == 1
    assert done.stderr.startswith(f"shared_files: {sources / name}: ")
    assert (sources / "precious").read_text() == "precious"


@pytest.mark.parametrize("options", ["latency=1", "counters=x,bandwidth=1", "counters=x,nonsense=1"])
def test_options_that_are_missing_or_wrong(cluster: Any, sources: Path, options: str) -> None:
    words = [cluster.server, "-o", options, "sources", "."]
    done = completed(words, cwd=sources, timeout=20)
    assert done.returncode != 0
    assert "usage: shared_files " in done.stderr or "nonsense" in done.stderr


# ---- what stays


def processes_of(directory: Path) -> list[str]:
    """Return command lines that name the directory: of nodes, servers and ranks."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(directory) in words:
                found.append(words)
    return found


def require_nothing_left(directory: Path) -> None:
    deadline = time.monotonic() + 20
    while processes_of(directory) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(directory) == []
    assert str(directory) not in Path("/proc/self/mounts").read_text(encoding="utf-8")
    for device in Path("/sys/block").glob("loop*/loop/backing_file"):
        assert str(directory) not in device.read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["SHARED_IMAGE", "NODE_IMAGE", "KERNEL_IMAGE"])
def test_nothing_stays_of_a_job(benchmarks: SimpleNamespace, cluster: Any, place: str) -> None:
    if place == "KERNEL_IMAGE" and (why := benchmarks.simulated_nodes.refusal_of_kernel()):
        pytest.skip(why)
    seen = cluster.run(job(benchmarks, place, 2, 2))
    assert any(path.startswith("_rocm_sdk_") for path in seen.mapped)
    assert (seen.operations > 0) == (place == "SHARED_IMAGE")
    require_nothing_left(cluster.directory)
    assert list(cluster.directory.glob("job-*")) == []


def test_a_rank_that_fails_is_told(benchmarks: SimpleNamespace, cluster: Any) -> None:
    wrong = dataclasses.replace(job(benchmarks, "TREE", 2, 2), shortnames=("nonsense",))
    with pytest.raises(benchmarks.observation.ProcessError, match="unknown ROCm library name 'nonsense'"):
        cluster.run(wrong)
    require_nothing_left(cluster.directory)
    assert list(cluster.directory.glob("job-*")) == []


_STARTS = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from benchmarks.simulated_nodes import Cluster, Job, Place, Server
from benchmarks.stage import Environment
site, python, directory = map(Path, sys.argv[2:5])
slow = Server(latency=200_000, timeout=0)
print("starts", flush=True)
Cluster(Environment(python, site), directory).run(Job(Place.SHARED_IMAGE, "rocm_sdk", 2, 2, ("amdhip64",), slow))
"""


def test_nothing_stays_when_it_is_killed(benchmarks: SimpleNamespace, cluster: Any, tmp_path: Path) -> None:
    """Neither a process nor a mount, wherever it is killed."""
    modules = str(Path(benchmarks.stage.__file__).parents[1])
    for delay in (0.1, 0.6, 1.2):
        directory = tmp_path / str(delay)
        directory.mkdir()
        words = [modules, cluster.environment.site, cluster.environment.python, directory]
        command = [sys.executable, "-c", _STARTS, *map(str, words)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == "starts\n"
            deadline = time.monotonic() + 60
            while not any("node_process" in words for words in processes_of(directory)):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            time.sleep(delay)
            assert len(processes_of(directory)) > 1, "it is under way"
            run.send_signal(signal.SIGKILL)
        require_nothing_left(directory)
