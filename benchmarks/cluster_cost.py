"""What the start of a job costs a file server, from what one node costs it. `docs/cluster-cost.md` has the formulas."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .simulated_nodes import Outcome


@dataclass(frozen=True)
class NodeCost:
    """The cost of one node whose kernel keeps what it has read."""

    first: int  # operations of the first rank, but for reads: names, attributes, opens, listings
    further: int  # the same of a rank that starts when another is ready
    listings: int  # operations that list directories, of the first rank: ranks that start together repeat them
    reads: int
    size: int  # bytes

    def questions(self, ranks: int) -> tuple[int, int]:
        """Operations but for reads, the least and the most."""
        least = self.first + (ranks - 1) * self.further
        return least, least + (ranks - 1) * self.listings

    def operations(self, nodes: int, ranks: int) -> int:
        """The most operations of that many nodes with that many ranks each."""
        return nodes * (self.questions(ranks)[1] + self.reads)

    def bytes_sent(self, nodes: int) -> int:
        return nodes * self.size


@dataclass(frozen=True)
class FileServer:
    """What one server can do in a second."""

    operations: int = 50_000
    bandwidth: int = 5_000_000_000  # bytes


def cost_of(one: Outcome, two: Outcome) -> NodeCost:
    """From a rank that is alone on its node, and from two of which the second starts when the first is ready."""
    first, further = questions_of(one), questions_of(two) - questions_of(one)
    repeats = two.asked["readdir"] > one.asked["readdir"]  # then listings are among those of the further rank
    return NodeCost(first, further, 0 if repeats else one.asked["readdir"], one.asked["read"], one.size)


def questions_of(outcome: Outcome) -> int:
    """The operations that are no reads."""
    return outcome.operations - outcome.asked["read"]


def servers_for(cost: NodeCost, nodes: int, ranks: int, seconds: float, server: FileServer) -> int:
    """How many servers let all ranks start within that time."""
    by_operations = cost.operations(nodes, ranks) / (server.operations * seconds)
    by_bytes = cost.bytes_sent(nodes) / (server.bandwidth * seconds)
    return max(1, math.ceil(max(by_operations, by_bytes)))
