"""A measured process whose files are all cold: the files lie on a file server that was mounted for the process.

usage: python -I cold_process.py PLAN      PLAN: a JSON object with `server`, the command that mounts it, `place`,
                                           where, `counters`, its file of counts, `command`, the measured process

The program runs in name spaces of its own, so the mount is gone when it ends. The program prints the output of the
measured process, then a line for each kind of operation: `asked`, its name, how often the server was asked.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from node_process import counts, mount


def main() -> int:
    """Mount the server, run the measured process and print the operations; return the exit status of that process."""
    plan = json.loads(sys.argv[1])
    mount(plan["server"], plan["place"])
    before = counts(plan["counters"])
    done = subprocess.run(plan["command"], stdin=subprocess.DEVNULL, check=False)
    for name, count in counts(plan["counters"]).items():
        print("asked", name, count - before[name], sep="\t", flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
