"""The cost of a job's start for a file server, from the cost of a node; `docs/cold-starts.md` has the formulas."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .simulated_nodes import Outcome


@dataclass(frozen=True)
class NodeCost:
    """The cost of one node whose kernel keeps the bytes that it has read."""

    first: int  # operations of the first rank, except reads: names, attributes, opens, listings
    further: int  # operations of a rank that starts when another is ready, except reads
    listings: int  # operations of the first rank that list directories: ranks that start together repeat them
    reads: int
    size: int  # bytes

    def questions(self, ranks: int) -> tuple[int, int]:
        """Return the least and the most operations, except reads."""
        least = self.first + (ranks - 1) * self.further
        return least, least + (ranks - 1) * self.listings

    def operations(self, nodes: int, ranks: int) -> int:
        """Return the most operations of this number of nodes with this number of ranks each."""
        return nodes * (self.questions(ranks)[1] + self.reads)

    def bytes_sent(self, nodes: int) -> int:
        """Return the bytes that the server sends to this number of nodes; further ranks of a node need none."""
        return nodes * self.size


@dataclass(frozen=True)
class FileServer:
    """The capacity of one server in a second."""

    operations: int = 50_000
    bandwidth: int = 5_000_000_000  # bytes


def cost_of(one: Outcome, two: Outcome) -> NodeCost:
    """Return the cost of a node.

    `one` is the outcome of a rank that is alone on its node, and `two` the outcome of two ranks, of which the second
    starts when the first is ready.
    """
    first, further = questions_of(one), questions_of(two) - questions_of(one)
    repeats = two.asked["readdir"] > one.asked["readdir"]  # in this case the further rank's operations have listings
    return NodeCost(first, further, 0 if repeats else one.asked["readdir"], one.asked["read"], one.size)


def questions_of(outcome: Outcome) -> int:
    """Return the number of operations that are no reads."""
    return outcome.operations - outcome.asked["read"]


def servers_for(cost: NodeCost, nodes: int, ranks: int, seconds: float, server: FileServer) -> int:
    """Return the number of servers that let all ranks start within this time."""
    by_operations = cost.operations(nodes, ranks) / (server.operations * seconds)
    by_bytes = cost.bytes_sent(nodes) / (server.bandwidth * seconds)
    return max(1, math.ceil(max(by_operations, by_bytes)))
