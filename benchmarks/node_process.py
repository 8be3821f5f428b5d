"""A simulated node: the first process of name spaces of its own, with the node's mounts and ranks.

usage: python -I node_process.py PLAN      PLAN: a JSON object with the fields of simulated_nodes.NodePlan

The program prints `waiting` when all ranks wait at the gate, then a JSON object: `ready`, when each rank was ready
(nanoseconds of CLOCK_MONOTONIC), `counts`, the operations of the file server, and `mapped`, the files of the tree that
are in the ranks' memory. When the program ends, the kernel ends all processes of the node and removes its mounts.
"""

import json
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECORD = struct.Struct("=24sQ")  # see shared_files.c
DEADLINE = 60.0  # seconds for a mount


def main() -> int:
    """Mount, run the ranks and print the report; return 0, or raise SystemExit if a mount or a rank fails."""
    plan = json.loads(sys.argv[1])
    if plan["server"]:
        mount(plan["server"], plan["shared"])
    before = counts(plan["counters"])
    if plan["image_mount"]:
        mount(plan["image_mount"], plan["image_place"])
    texts = run_in_turn(plan) if plan["waits_for_each"] else run_together(plan)
    facts = [line.split("\t") for text in texts for line in text.splitlines()]
    paths = [values[0] for name, *values in facts if name == "mapped"]
    report = {
        "ready": [int(values[0]) for name, *values in facts if name == "ready"],
        "counts": {name: count - before[name] for name, count in counts(plan["counters"]).items()},
        "mapped": sorted({path[len(plan["tree"]) + 1 :] for path in paths if path.startswith(f"{plan['tree']}/")}),
    }
    print(json.dumps(report))
    return 0


def run_together(plan: "dict[str, Any]") -> "list[str]":
    """Start all ranks together; return the output of each."""
    ranks = [start_rank(plan) for _ in range(plan["ranks"])]
    for rank in ranks:
        assert rank.stdout is not None
        if rank.stdout.readline() != "waiting\n":
            sys.exit("a rank ends before it starts")
    os.close(plan["gate"])
    print("waiting", flush=True)
    return [end_of(rank) for rank in ranks]


def run_in_turn(plan: "dict[str, Any]") -> "list[str]":
    """Start a rank at a time; return the output of each."""
    print("waiting", flush=True)
    os.read(plan["gate"], 1)
    return [end_of(start_rank(plan)) for _ in range(plan["ranks"])]


def start_rank(plan: "dict[str, Any]") -> "subprocess.Popen[str]":
    """Start a rank, which inherits the gate's descriptor, and whose standard output goes into a pipe."""
    return subprocess.Popen(
        plan["rank"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, pass_fds=[plan["gate"]]
    )


def end_of(rank: "subprocess.Popen[str]") -> str:
    """Return the output of a rank at its end.

    Raise SystemExit if the rank fails, whose standard error has the reason.
    """
    text, _ = rank.communicate()
    if rank.returncode:
        sys.exit(f"a rank ends with status {rank.returncode}")
    return text


def mount(command: "list[str]", place: str) -> None:
    """Start a server in the foreground, or have the kernel mount; return when the file system is there.

    Raise SystemExit if the mount fails.
    """
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    deadline = time.monotonic() + DEADLINE
    while not is_mounted(place):
        if server.poll() not in {None, 0} or time.monotonic() > deadline:
            sys.exit(f"{command[0]} does not mount {place}")
        time.sleep(0.002)


def is_mounted(place: str) -> bool:
    """Return whether the table of mounts has a place, since a look at the place would be an operation."""
    with Path("/proc/self/mountinfo").open(encoding="utf-8") as mounts:
        return any(line.split(" ")[4] == place for line in mounts)


def counts(path: str) -> "dict[str, int]":
    """Return the server's counter of each kind of operation, and of the `bytes` sent; {} without a file of counters."""
    records = RECORD.iter_unpack(Path(path).read_bytes()) if path else ()
    return {name.rstrip(b"\0").decode(): count for name, count in records}


if __name__ == "__main__":
    sys.exit(main())
