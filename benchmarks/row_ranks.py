"""The row `ranks`: 1 to 64 ranks that start together, with SDK and loader on a file server or on each node.

Operations and bytes are requests to the server (shared_files.c), seconds are from the start of all ranks to the last
that is ready. All simulated nodes share this machine's processors, so the seconds of many nodes are longer than real
ones. Python and its library are local, and counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rocm_sdk_build.code.patchelf import Shape

from .cluster_cost import FileServer, cost_of, servers_for
from .figures import Figure, Target, figure, in_turn, ratio
from .observation import CannotMeasureError, ProcessError, observe_file_calls
from .simulated_nodes import Cluster, Job, Outcome, Place, Server, refusal, refusal_of_kernel
from .stage import SHORTNAMES, Stage

ESTABLISHED, OURS = "reference_loader", "rocm_sdk"
LAYOUT = {1: (1, 1), 4: (1, 4), 16: (2, 8), 64: (8, 8)}  # all ranks -> nodes, ranks on each
SMOKE_LAYOUT = {1: (1, 1), 2: (2, 1)}
SERVERS = {"cached": Server(), "not cached": Server(timeout=0)}
SHARED = (Place.TREE, Place.SHARED_IMAGE)
NODES, RANKS, SECONDS = 10_000, 8, 60.0


@dataclass(frozen=True)
class Way:
    """A loader, and the place of its SDK."""

    name: str
    module: str
    place: Place
    shape: Shape


WAYS = (
    Way("established loader", ESTABLISHED, Place.TREE, Shape.RPATH),
    Way("ours", OURS, Place.TREE, Shape.RPATH),
    Way("ours, libraries without RPATH", OURS, Place.TREE, Shape.NONE),
    Way("ours", OURS, Place.SHARED_IMAGE, Shape.RPATH),
    Way("ours", OURS, Place.NODE_IMAGE, Shape.RPATH),
    Way("ours, libraries without RPATH", OURS, Place.NODE_IMAGE, Shape.NONE),
    Way("ours", OURS, Place.KERNEL_IMAGE, Shape.RPATH),
    Way("ours", OURS, Place.LOCAL, Shape.RPATH),
)


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row.

    Raise CannotMeasureError where no node can be simulated.
    """
    if why := refusal():
        raise CannotMeasureError(why)
    return [*_python(stage), *_Row(stage).figures()]


def _python(stage: Stage) -> Iterator[Figure]:
    """Yield the figure of a rank's calls on its local Python before the SDK."""
    python = str(stage.environment(Shape.RPATH).python)
    words = [python, "-I", "-S", "-c", "print('interval', 0, 0, sep='\\t')"]
    seen = observe_file_calls(words, stage.directory / "python.strace")
    assert seen.file_calls is not None
    yield figure("calls on local files by the start of Python", "calls", [seen.file_calls.total()])


class _Row:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        directory = stage.directory / "ranks"
        self._clusters = {}
        for shape in (Shape.RPATH, Shape.NONE):
            place = Path(directory, shape.value)
            place.mkdir(parents=True)
            self._clusters[shape] = Cluster(stage.environment(shape), place)

        has_kernel = refusal_of_kernel() is None
        self._ways = [way for way in WAYS if has_kernel or way.place is not Place.KERNEL_IMAGE]

    def figures(self) -> Iterator[Figure]:
        yield from self._table()
        yield from self._goals()
        yield from self._large_cluster()

    def _run(self, way: Way, nodes: int, ranks: int, server: Server, names: tuple[str, ...] = SHORTNAMES) -> Outcome:
        return self._clusters[way.shape].run(Job(way.place, way.module, nodes, ranks, names, server))

    def _table(self) -> Iterator[Figure]:
        for way in self._ways:
            for caching, server in SERVERS.items() if way.place in SHARED else [("cached", SERVERS["cached"])]:
                for ranks, (nodes, on_each) in (SMOKE_LAYOUT if self._stage.is_smoke else LAYOUT).items():
                    found = self._run(way, nodes, on_each, server)
                    what = f"{_title(way, caching)}, {ranks} ranks on {nodes} nodes"
                    if way.place in SHARED:
                        yield figure(f"{what}: asked", "operations", [found.operations])
                        yield figure(f"{what}: sent", "MB", [found.size / 1e6])
                    yield figure(f"{what}: the last is ready", "s", [found.seconds])

    def _goals(self) -> Iterator[Figure]:
        established, ours, _, shared_image, *_ = self._ways
        many = 4 if self._stage.is_smoke else 16
        for caching, server in SERVERS.items():
            for ranks in (1, many):
                theirs, own = (self._run(way, 1, ranks, server) for way in (established, ours))
                _require_same_files(theirs, own)
                what = f"ours in times of the established loader, {caching}, {ranks} ranks on a node"
                yield _quotient(f"{what}: both from the tree", own, theirs, Target("at most", 1.0))
                image = self._run(shared_image, 1, ranks, server)
                limit = Target("at most", 0.1) if ranks > 1 else None
                yield _quotient(f"{what}: ours from an image", image, theirs, limit)
            names = tuple(name for name in SHORTNAMES if name != "amd_comgr")
            theirs, own = (self._run(way, 1, 1, server, names) for way in (established, ours))
            what = f"ours in times of the established loader, {caching}, 1 rank, comgr not asked for"
            yield _quotient(f"{what}: both from the tree", own, theirs, Target("at most", 1.0))
        yield from self._last_of_many()

    def _last_of_many(self) -> Iterator[Figure]:
        """Yield the figures of the last rank on one node, so that no other nodes take processors away."""
        most = 4 if self._stage.is_smoke else 64
        runs = {way: partial(self._run, way, 1, most, Server()) for way in self._ways if way.place not in SHARED}
        seen = {way: [each.seconds for each in found] for way, found in in_turn(self._stage.rounds(5), runs).items()}
        *images, local = seen
        yield figure(f"the last of {most} ranks on a node, {_title(local, '')}", "s", seen[local])
        for way in images:
            what = f"the last of {most} ranks on a node, {_title(way, '')}, in times of a directory"
            yield ratio(what, seen[way], seen[local], Target("at most", 1.2))

    def _large_cluster(self) -> Iterator[Figure]:
        for way in self._ways:
            if way.place in SHARED:
                cluster, job = self._clusters[way.shape], Job(way.place, way.module, 1, 1, SHORTNAMES)
                cost = cost_of(cluster.run(job), cluster.run(job.in_turn(2)))
                title = _title(way, "cached")
                yield figure(f"{title}, a node's first rank: asked, except reads", "operations", [cost.first])
                most = cost.further + cost.listings
                yield figure(f"{title}, each further rank: asked, at most", "operations", [most])
                yield figure(f"{title}, a node: reads", "operations", [cost.reads])
                what = f"{title}, foreseen for {NODES} nodes with {RANKS} ranks"
                yield figure(f"{what}: asked", "million", [cost.operations(NODES, RANKS) / 1e6])
                yield figure(f"{what}: sent", "GB", [cost.bytes_sent(NODES) / 1e9])
                servers = servers_for(cost, NODES, RANKS, SECONDS, FileServer())
                yield figure(f"{what}: within {SECONDS:.0f} s", "servers", [servers])


def _title(way: Way, caching: str) -> str:
    return f"{way.name}, from {way.place.value}{f', {caching}' if way.place in SHARED else ''}"


def _quotient(what: str, over: Outcome, under: Outcome, target: Target | None = None) -> Figure:
    counts = f"{over.operations} to {under.operations} operations"
    return ratio(f"{what} ({counts})", [over.operations], [under.operations], target)


def _require_same_files(theirs: Outcome, ours: Outcome) -> None:
    """Raise ProcessError for ranks that ended with different libraries: they cannot be compared.

    Copies of the system's libraries are left out: each loader has loaded some of the system's own before.
    """
    libraries = {path for path in theirs.mapped ^ ours.mapped if path.startswith("_rocm_sdk_")}
    different = {path for path in libraries if "/rocm_sysdeps/" not in path}
    if different:
        raise ProcessError(f"the loaders loaded different files: {', '.join(sorted(different))}")
