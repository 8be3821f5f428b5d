"""A Slurm of several nodes on one machine. All that it has is in one directory: configuration, keys, state and logs.

Each slurmd has a mount namespace and a host name of its own, and a /tmp of its own. munged listens at a socket of the
directory, and the ports are free ones. Nothing of a Slurm that the machine may have is used.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from own_mounts import refusal
from sample_site import clean_environment

PROGRAMS = ("slurmctld", "slurmd", "munged", "srun", "sbatch", "sbcast", "scancel", "scontrol", "sinfo", "squeue")
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"
_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={directory}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool/%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=2
MailProg=/bin/true
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Return the reason why a cluster cannot be made here, "" if it can."""
    if os.geteuid() != 0:
        return "a cluster needs root"
    if missing := [name for name in PROGRAMS if _program(name) is None]:
        return f"Slurm is not installed (make setup): {', '.join(missing)}"
    if said := refusal("unshare --mount --uts"):
        return f"nothing can be mounted here: {said}"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse: {error.strerror}"
    return ""


class Cluster:
    """A running cluster; `run` and `submit` are its users."""

    def __init__(self, directory: Path, node_count: int, cpus: int) -> None:
        self.directory = directory
        self.nodes = [f"node{number}" for number in range(1, node_count + 1)]
        self._cpus = cpus
        self._processes: list[subprocess.Popen[bytes]] = []
        self.environment = clean_environment() | {"SLURM_CONF": str(directory / "slurm.conf")}
        self.environment["PATH"] += f":{_SYSTEM_PATH}"

    def start(self) -> None:
        """Start the daemons, and wait until all nodes are idle."""
        for name in ("munge", "state", "spool"):
            (self.directory / name).mkdir(mode=0o755)
        self._start_munge()
        (self.directory / "slurm.conf").write_text(self._configuration())
        self._start("slurmctld", "-D")
        for node in self.nodes:
            prepare = f"hostname {node} && mount -t tmpfs -o mode=1777 tmpfs /tmp && exec slurmd -D -N {node}"
            self._start("unshare", "--mount", "--uts", "sh", "-c", prepare)
        self._await(self._is_idle)

    def run(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm as a user types it."""
        return subprocess.run(
            [*map(str, words)],
            env=self.environment | variables,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def submit(self, *words: str | Path, **variables: str) -> str:
        """Submit a job by sbatch, and return its number."""
        done = self.run("sbatch", "--parsable", "--output=%j.out", *words, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def output(self, job: str) -> str:
        """Return the text that a job printed on both streams so far, "" before any."""
        path = self.directory / f"{job}.out"
        return path.read_text() if path.exists() else ""

    def state(self, job: str) -> str:
        """Return the state of a job: COMPLETED, FAILED, ..."""
        words = self.run("scontrol", "show", "job", job).stdout.split()
        return next(word.partition("=")[2] for word in words if word.startswith("JobState="))

    def finish(self, job: str) -> str:
        """Wait for the end of a job, and return its state."""
        self._await(lambda: self.state(job) not in {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"})
        self._await(self._is_idle)
        return self.state(job)

    def stop(self) -> None:
        """End all processes, by force after some seconds."""
        self.run("scontrol", "shutdown")
        end = time.monotonic() + 5
        while time.monotonic() < end and any(process.poll() is None for process in self._processes):
            time.sleep(0.1)
        for process in self._processes:
            process.kill()
            process.wait()
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.directory / "munge/pid").read_text()), signal.SIGKILL)

    def _is_idle(self) -> bool:
        return self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(len(self.nodes))

    def _start_munge(self) -> None:
        place = self.directory / "munge"
        key = place / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        words = [f"--{name}-file={place / name}" for name in ("key", "pid", "log", "seed")]
        done = self.run("munged", *words, f"--socket={place / 'socket'}")
        assert done.returncode == 0, done.stderr

    def _configuration(self) -> str:
        with contextlib.ExitStack() as stack:  # all are open at once, so they are different ones
            sockets = [stack.enter_context(socket.socket()) for _ in ("controller", *self.nodes)]
            for each in sockets:
                each.bind(("127.0.0.1", 0))
            ports = [each.getsockname()[1] for each in sockets]
        nodes = [
            f"NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs={self._cpus} RealMemory=4000"
            for name, port in zip(self.nodes, ports[1:], strict=True)
        ]
        host = socket.gethostname().partition(".")[0]
        return _CONFIGURATION.format(host=host, port=ports[0], directory=self.directory, nodes="\n".join(nodes))

    def _start(self, *words: str) -> None:
        with (self.directory / "daemons.out").open("ab") as output:
            process = subprocess.Popen(
                words, env=self.environment, cwd=self.directory, stdout=output, stderr=subprocess.STDOUT
            )
        self._processes.append(process)

    def _await(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, (self.directory / "slurmctld.log").read_text()[-4000:]
            time.sleep(0.1)


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:{_SYSTEM_PATH}")
