"""Simulated nodes of a cluster: each has mounts of its own, on which its ranks start together with all others.

A node is a process in its own name spaces of mounts and processes (node_process.py). When the node ends, or when its
starter ends in any way, so do its processes, and its mounts with them: no mount is ever seen outside.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from time import perf_counter_ns
from typing import Any, cast

from .observation import ProcessError
from .stage import SOURCES, Environment, compile_source, pkgconf

PROGRAMS = ("unshare", "setpriv", "squashfuse", "mksquashfs", "cc")
NOT_WAITED_FOR = ("release",)  # operations that nobody waits for, and NFSv3 does not have


class Place(Enum):
    """The place of SDK and loader; Python and its library are always local, and squashfuse mounts images."""

    TREE = "a tree on the server"
    SHARED_IMAGE = "an image on the server"
    NODE_IMAGE = "an image on each node"
    KERNEL_IMAGE = "an image on each node that the kernel mounts"
    LOCAL = "a directory on each node"


@dataclass(frozen=True)
class Server:
    """The answers of the server."""

    latency: int = 500  # microseconds for an operation
    bandwidth: int = 1_000_000_000  # bytes a second, of all nodes together
    timeout: int = 60  # seconds for which a node caches; 0: no caching

    def options(self, counters: Path, link: Path) -> str:
        """Return the options of a mount: `counters` is a new file for this mount, `link` the file of all mounts."""
        times = f"latency={self.latency},bandwidth={self.bandwidth},timeout={self.timeout}"
        return f"{times},counters={counters},link={link}"


@dataclass(frozen=True)
class Job:
    """A job: `ranks` on each of the nodes import the loader `module` and initialise with these libraries."""

    place: Place
    module: str
    nodes: int
    ranks: int
    shortnames: tuple[str, ...]
    server: Server = Server()
    waits_for_each: bool = False  # a rank of a node starts when the one before it has ended
    reads_ahead: bool = False  # read-ahead without a page list depends on the load of the machine

    def in_turn(self, ranks: int) -> Job:
        """Return the job with this number of ranks, one after the other."""
        return replace(self, ranks=ranks, waits_for_each=True)


@dataclass(frozen=True)
class Outcome:
    """The operations of the server, by kind, and the time until the last rank was ready."""

    asked: Counter[str]
    size: int  # bytes that the server sent
    seconds: float  # seconds from the start of all ranks to the last
    mapped: frozenset[str]  # files of SDK and loader in memory, below their tree

    @property
    def operations(self) -> int:
        """The number of operations of all kinds, reads too."""
        return self.asked.total()


@dataclass(frozen=True)
class NodePlan:
    """The work of a node.

    Paths are as the node sees them; an empty path, or an empty list, stands for none.
    """

    server: list[str]  # the command that mounts `shared`
    shared: str
    counters: str
    image_mount: list[str]  # the command that mounts `image_place`
    image_place: str
    tree: str
    rank: list[str]
    ranks: int
    waits_for_each: bool
    variables: dict[str, str]  # variables of the environment, beside the usual ones
    gate: int  # a descriptor at whose end all ranks start


def refusal() -> str | None:
    """Return the reason why no node can be simulated here, or None."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)}: not on this system: make setup"
    try:
        pkgconf("--libs", "fuse3 >= 3.12")
    except subprocess.CalledProcessError:
        return "libfuse 3.12 or later is not on this system: make setup"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse cannot be opened"
    done = subprocess.run([*apart(), "true"], capture_output=True, text=True, check=False)
    return f"name spaces are refused: {done.stderr.strip()}" if done.returncode else None


def refusal_of_kernel() -> str | None:
    """Return the reason why the kernel mounts no image here, or None."""
    if os.geteuid() != 0:
        return "only root may have it mount images"
    known = Path("/proc/filesystems").read_text(encoding="utf-8").split()
    return None if "squashfs" in known and Path("/dev/loop-control").exists() else "this kernel has no squashfs"


def apart() -> list[str]:
    """Return the beginning of a command that runs in name spaces of its own, and is killed with its starter."""
    own_user = ["unshare", "--user", "--map-root-user"] if os.geteuid() else []
    dies_too = ["setpriv", "--pdeathsig", "KILL"]
    return [*own_user, *dies_too, "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


@dataclass(frozen=True)
class Cluster:
    """The nodes that have the SDK and the loaders of an environment's site-packages; files go into `directory`."""

    environment: Environment
    directory: Path

    @cached_property
    def server(self) -> Path:
        """The program of shared_files.c."""
        flags = [*pkgconf("--cflags", "fuse3"), *pkgconf("--libs", "fuse3"), "-pthread"]
        return compile_source(SOURCES / "shared_files.c", self.directory / "shared_files", flags)

    @cached_property
    def image(self) -> Path:
        """The image of all of site-packages as squashfs, in a directory of its own."""
        image = self.directory / "images" / "image"
        image.parent.mkdir()
        command = ["mksquashfs", str(self.environment.site), str(image), "-comp", "zstd", "-no-progress", "-quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return image

    def run(self, job: Job) -> Outcome:
        """Run a job; return its outcome.

        Raise ProcessError if a node or a rank fails.
        """
        with tempfile.TemporaryDirectory(prefix="job-", dir=self.directory) as scratch:
            nodes: list[_Node] = []
            gate, key = (os.fdopen(end, mode, buffering=0) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
            with gate, key:
                try:
                    for number in range(job.nodes):
                        place = Path(scratch, str(number))
                        nodes.append(_Node(self._plan(job, place, gate.fileno()), place))
                    for node in nodes:
                        node.wait_for_ranks()
                    start = perf_counter_ns()
                    key.close()
                    results = [node.result() for node in nodes]
                finally:
                    for node in nodes:
                        node.end()
        return _summed_up(results, start)

    def _plan(self, job: Job, scratch: Path, gate: int) -> NodePlan:
        is_shared = job.place in {Place.TREE, Place.SHARED_IMAGE}
        is_image = job.place in {Place.SHARED_IMAGE, Place.NODE_IMAGE, Place.KERNEL_IMAGE}
        place = {name: scratch / name for name in ("shared", "image")}
        for directory in place.values():
            directory.mkdir(parents=True)
        source = self.image.parent if is_image else self.environment.site
        tree = place["image"] if is_image else place["shared"] if is_shared else source
        options = job.server.options(scratch / "counters", self.directory / "link")
        command = [str(self.server), "-o", options, str(source), str(place["shared"])]
        by_kernel = job.place is Place.KERNEL_IMAGE
        program = ["mount", "-t", "squashfs", "-o", "loop,ro"] if by_kernel else ["squashfuse", "-f"]
        image_words = [str((place["shared"] if is_shared else source) / "image"), str(place["image"])]
        python = [str(self.environment.python), "-I", "-S", str(SOURCES / "measured_process.py")]
        return NodePlan(
            server=command if is_shared else [],
            shared=str(place["shared"]),
            counters=str(scratch / "counters") if is_shared else "",
            image_mount=[*program, *image_words] if is_image else [],
            image_place=str(place["image"]),
            tree=str(tree),
            rank=[*python, "start_together", str(gate), str(tree), job.module, *job.shortnames],
            ranks=job.ranks,
            waits_for_each=job.waits_for_each,
            variables={} if job.reads_ahead else {"ROCM_SDK_READ_AHEAD": "0"},
            gate=gate,
        )


class _Node:
    """A running node."""

    def __init__(self, plan: NodePlan, scratch: Path) -> None:
        command = [*apart(), sys.executable, "-I", str(SOURCES / "node_process.py"), json.dumps(asdict(plan))]
        self._complaints = scratch / "stderr"
        with self._complaints.open("wb") as complaints:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                pass_fds=[plan.gate],
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", **plan.variables},
            )

    def wait_for_ranks(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "waiting\n":
            raise self._failure()

    def result(self) -> dict[str, Any]:
        text, _ = self._process.communicate()
        if self._process.returncode:
            raise self._failure()
        return cast("dict[str, Any]", json.loads(text))

    def end(self) -> None:
        """Kill the node if it still runs."""
        self._process.kill()
        with self._process:
            pass

    def _failure(self) -> ProcessError:
        return ProcessError(f"a simulated node fails: {self._complaints.read_text(errors='replace').strip()}")


def _summed_up(results: Sequence[dict[str, Any]], start: int) -> Outcome:
    asked = Counter[str]()
    for result in results:
        asked.update(result["counts"])
    size = asked.pop("bytes", 0)
    last = max(ready for result in results for ready in result["ready"])
    mapped = frozenset(path for result in results for path in result["mapped"])
    counted = Counter({kind: number for kind, number in asked.items() if kind not in NOT_WAITED_FOR})
    return Outcome(counted, size, (last - start) / 1e9, mapped)
