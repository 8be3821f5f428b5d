"""The row `cold`: initialize_process where nothing of the SDK is in memory, with and without a page list.

Each run is compared with a bare loop of dlopen over the same files, from a file server that was mounted anew
(shared_files.c), and from the disk after its cache was dropped, where that is allowed. A small SDK has its own
libraries on the server; their needs of a system, LLVM for example, are on the disk. The row also compares the requests
of a node of several ranks with a page list to the requests of one rank.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, figure, in_turn, ratio
from .load_order import dlopen_order
from .observation import CannotMeasureError, Observation, ProcessError, complete, observe
from .simulated_nodes import NOT_WAITED_FOR, Cluster, Job, Outcome, Place, Server, apart, refusal
from .stage import SHORTNAMES, SOURCES, Environment, Stage

# Microseconds an operation -> at most as many times as long, with a page list and without.
LATENCIES = {2000: (0.2, 0.5), 500: (0.28, 0.6), 200: (0.36, 0.7)}
SMALL_LATENCY, SMALL = 2000, 0.38
OPERATIONS = 40  # more than the loop's: look-ups, attributes, opens and listings
DISK, DISK_WITHOUT = 0.65, 1.02
BYTES, BYTES_WITHOUT = 1.0, 1.5
RANKS, NODE_BYTES = 8, 1.01
CACHES = Path("/proc/sys/vm/drop_caches")
LIST = "_rocm_sdk_core/lib/rocm-sdk.pages"
OF_A_SYSTEM = "_rocm_sdk_core/lib/rocm_sysdeps/lib"
READ_OR_NOT_WAITED_FOR = ("read", "bytes", *NOT_WAITED_FOR)

Command = Callable[[Path], list[str]]  # function of the SDK's place
Measure = Callable[[Command], Observation]


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row.

    Raise CannotMeasureError where no file server can be mounted.
    """
    if why := refusal():
        raise CannotMeasureError(why)
    environment = stage.environment(Shape.NONE if stage.is_smoke else Shape.RPATH)
    directory = stage.directory / "cold"
    directory.mkdir()
    row = _Row(stage, environment, directory)
    figures = [*row.from_servers(), *row.from_disk(), *row.of_a_node()]
    return figures if stage.has_sample_sdk else [*figures, *row.of_small_sdk()]


class _Row:
    def __init__(self, stage: Stage, environment: Environment, directory: Path) -> None:
        self._stage = stage
        self._environment = environment
        self._cluster = Cluster(environment, directory)
        self._order = dlopen_order(environment)
        self._site = environment.site
        self._variables: tuple[str, ...] = ()

    def from_servers(self) -> Iterator[Figure]:
        for latency, (most, most_without) in list(LATENCIES.items())[-1 if self._stage.is_smoke else 0 :]:
            from_server = partial(self._from_server, Server(latency))
            what = f"server, {latency / 1000:g} ms an operation"
            seen = self._observe(from_server)
            yield from _figures(what, seen, most)
            yield _own_operations(what, seen)
            without = self._observe_without(from_server)
            yield _without_a_list(what, without, most_without)
            for found, name, words, bytes_most in (
                (seen, "list", "with a page list", BYTES),
                (without, "tables", "without", BYTES_WITHOUT),
            ):
                sent = {each: [_bytes(one) for one in found[each]] for each in (name, "loop")}
                yield ratio(f"{what}: bytes, {words}", sent[name], sent["loop"], Target("at most", bytes_most))

    def of_small_sdk(self) -> Iterator[Figure]:
        """Yield the figures of the SDK's own libraries, whose needs the system has."""
        small, system = self._cluster.directory / "small", self._site / OF_A_SYSTEM
        for package in self._site.glob("*rocm_sdk_*"):
            ignored = shutil.ignore_patterns("rocm_sysdeps")
            shutil.copytree(package, small / package.name, copy_function=os.link, ignore=ignored)
        self._site, self._variables = small, (f"LD_LIBRARY_PATH={system}",)
        what = f"small SDK, server, {SMALL_LATENCY / 1000:g} ms an operation"
        seen = self._observe(partial(self._from_server, Server(SMALL_LATENCY)))
        yield from _figures(what, seen, SMALL)
        yield _own_operations(what, seen)

    def from_disk(self) -> Iterator[Figure]:
        if os.access(CACHES, os.W_OK):
            yield from _figures("disk", self._observe(self._from_disk), DISK)
            yield _without_a_list("disk", self._observe_without(self._from_disk), DISK_WITHOUT)

    def of_a_node(self) -> Iterator[Figure]:
        """Yield the figures of ranks that start together, and each read ahead."""
        ranks = 2 if self._stage.is_smoke else RANKS
        with self._page_list():
            jobs = {many: Job(Place.TREE, "rocm_sdk", 1, many, SHORTNAMES, reads_ahead=True) for many in (1, ranks)}
            seen = in_turn(self._stage.rounds(5), {many: partial(self._cluster.run, job) for many, job in jobs.items()})
        what = f"with a page list, a node of {ranks} ranks in times of one rank"
        sent, reads = ([[count(each) for each in seen[many]] for many in (ranks, 1)] for count in (_sent, _reads))
        yield ratio(f"{what}: bytes that the server sends", *sent, Target("at most", NODE_BYTES))
        yield ratio(f"{what}: reads", *reads)

    def _commands(self) -> dict[str, Command]:
        """Return the measured processes as functions of the SDK's place."""
        return {"loop": self._loop, "none": partial(self._ours, "0"), "list": partial(self._ours, "")}

    def _ours(self, read_ahead: str, site: Path) -> list[str]:
        variables = [*self._variables, f"ROCM_SDK_ROOT={site}", f"ROCM_SDK_READ_AHEAD={read_ahead}"]
        return ["env", *variables, *self._environment.command("initialize", "rocm_sdk", *SHORTNAMES)]

    def _loop(self, site: Path) -> list[str]:
        order = (each.replace(f":{self._environment.site}/", f":{site}/") for each in self._order)
        return ["env", *self._variables, *self._environment.command("open_all", *order)]

    def _observe_without(self, measure: Measure) -> dict[str, list[Observation]]:
        commands = {"loop": self._loop, "tables": partial(self._ours, "")}
        return in_turn(self._stage.rounds(15), {name: partial(measure, each) for name, each in commands.items()})

    def _observe(self, measure: Measure) -> dict[str, list[Observation]]:
        with self._page_list():
            runs = {name: partial(measure, command) for name, command in self._commands().items()}
            seen = in_turn(self._stage.rounds(15), runs)
        if _sdk_files(seen["list"][0]) != _sdk_files(seen["loop"][0]):
            raise ProcessError("bare loop and initialize_process loaded different files")
        return seen

    @contextmanager
    def _page_list(self) -> Iterator[None]:
        """Yield while the page list lies beside the SDK; other rows measure without a list."""
        path = self._site / LIST
        python = self._environment.python
        command = [str(python), "-I", str(python.with_name("rocm-sdk")), "init", "--record-pages"]
        complete(["env", *self._variables, f"ROCM_SDK_ROOT={self._site}", *command])
        try:
            yield
        finally:
            path.unlink()

    def _from_server(self, server: Server, command: Command) -> Observation:
        with tempfile.TemporaryDirectory(prefix="cold-", dir=self._cluster.directory) as scratch:
            place, counters = Path(scratch, "sdk"), Path(scratch, "counters")
            place.mkdir()
            options = server.options(counters, self._cluster.directory / "link")
            plan = {
                "server": [str(self._cluster.server), "-o", options, str(self._site), str(place)],
                "place": str(place),
                "counters": str(counters),
                "command": command(place),
            }
            return observe([*apart(), sys.executable, "-I", str(SOURCES / "cold_process.py"), json.dumps(plan)])

    def _from_disk(self, command: Command) -> Observation:
        """Measure a command with a cold SDK; Python and the package are read before, so that the SDK alone is cold."""
        CACHES.write_text("3", encoding="ascii")
        for name in ("rocm_sdk", "bare_package"):
            observe(self._environment.command("import_module", name))
        return observe(command(self._site))


def _figures(what: str, seen: dict[str, list[Observation]], most: float) -> Iterator[Figure]:
    ms = {name: [each.seconds * 1e3 for each in found] for name, found in seen.items()}
    yield figure(f"{what}: bare loop of dlopen", "ms", ms["loop"])
    yield ratio(f"{what}: as many times as long, with a page list", ms["list"], ms["loop"], Target("at most", most))
    yield ratio(f"{what}: where nothing is read ahead", ms["none"], ms["loop"])


def _own_operations(what: str, seen: dict[str, list[Observation]]) -> Figure:
    """Return the figure of the operations that the server gets beyond the bare loop's, reads apart."""
    asked = {name: [_operations(each) for each in found] for name, found in seen.items()}
    more = [ours - loops for ours, loops in zip(asked["list"], asked["loop"], strict=True)]
    name = f"{what}: operations with a page list, beside the operations of the loop"
    return figure(name, "operations", more, Target("at most", OPERATIONS))


def _without_a_list(what: str, seen: dict[str, list[Observation]], most: float) -> Figure:
    ms = {name: [each.seconds * 1e3 for each in found] for name, found in seen.items()}
    return ratio(f"{what}: without a list", ms["tables"], ms["loop"], Target("at most", most))


def _sdk_files(observation: Observation) -> set[str]:
    """Return the files of the SDK in memory, from any place of the SDK."""
    return {path.partition("/_rocm_sdk_")[2] for path in observation.mapped_files if "/_rocm_sdk_" in path}


def _sent(outcome: Outcome) -> int:
    return outcome.size


def _reads(outcome: Outcome) -> int:
    return outcome.asked["read"]


def _bytes(observation: Observation) -> int:
    return _asked(observation)["bytes"]


def _operations(observation: Observation) -> int:
    return sum(count for name, count in _asked(observation).items() if name not in READ_OR_NOT_WAITED_FOR)


def _asked(observation: Observation) -> dict[str, int]:
    return {name: int(count) for name, count in observation.facts["asked"]}
