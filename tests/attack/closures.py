"""Attacks `rocm-sdk-build closure`: kills it (SIGKILL) at random moments, in each form, with its proof.

The application leaves a process that would run for minutes. A killed run leaves no process and no mount. The next one
leaves what an undisturbed one leaves: the same output, and no scratch directory.

usage: python tests/attack/closures.py [--rounds N] [--seed S] [--form NAME]

A third of N kills are tried in each form.
"""

import argparse
import ctypes
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compiled_files import compile_file
from sample_closure import write_distribution, write_sdk
from sample_site import clean_environment

_PR_SET_CHILD_SUBREAPER = 36
SECONDS = 10  # until what a killed process has left must be gone
FORMS = {"site": None, "wheels": None, "oci": None, "squashfs": "mksquashfs", "erofs": "mkfs.erofs"}
WORDS = ("--library", "hipsparse", "--gpu", "gfx1030", "--for", "lingers")
LINGERS = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
    os._exit(0)
"""


class Victim:
    """A command that is killed, again and again."""

    def __init__(self, command: list[str], place: Path, environment: dict[str, str]) -> None:
        self.command, self.place = command, place
        place.mkdir(exist_ok=True)
        self.temporary = place.parent / f"{place.name}-tmp"
        self.temporary.mkdir()
        self.environment = environment | {"TMPDIR": str(self.temporary)}

    def start(self) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(self.command, env=self.environment, stdin=quiet, stdout=quiet, stderr=quiet)

    def undisturbed(self) -> float:
        """Run the command without a kill, and return the seconds that it takes."""
        start = time.monotonic()
        done = subprocess.run(self.command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"{self.command}: {done.stderr}")
        return time.monotonic() - start

    def killed(self, delay: float) -> str:
        """Return the wrong state after a kill in words, "" if all is well."""
        process = self.start()
        time.sleep(delay)
        process.kill()
        process.wait()
        left = orphans()
        wrong = [f"processes stay: {left}"] if left else []
        if str(self.place.parent) in Path("/proc/self/mountinfo").read_text():
            wrong.append("a mount stays")
        return "; ".join(wrong)


def orphans() -> list[str]:
    """End the processes whose parents were killed, which are ours now, and return their command lines."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return []
        time.sleep(0.01)
    found = []
    for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200])
            os.kill(int(pid), 9)
    return found or ["unknown"]


def write_application(site: Path) -> None:
    """Install a package that leaves a process when it is imported."""
    (site / "lingers").mkdir(parents=True)
    (site / "lingers/__init__.py").write_text(LINGERS)
    compile_file(["cc", "-shared", "-fPIC", "-x", "c", "-"], site / "lingers/liblingers.so", "int lingers;")
    write_distribution(site, "lingers", "1.0", ("lingers",))


def attack_form(form: str, sdk: Path, place: Path, kills: int, chance: random.Random) -> int:
    """Kill a command that writes a form, and return the number of failures."""
    output = place / form / "out"
    words = ["closure", *WORDS, "--form", form, "--output", str(output)]
    environment = clean_environment() | {"PYTHONPATH": f"{sdk}:{place}/application"}
    victim = Victim([sys.executable, "-m", "rocm_sdk_build", *words], output.parent, environment)

    def clean() -> str:
        """Run the command after kills, and return the leftovers that it does not remove, in words; "": none.

        A complete output is removed before: the command would leave it.
        """
        remove(output)
        victim.undisturbed()
        found = [path.name for path in (*output.parent.iterdir(), *victim.temporary.iterdir()) if path != output]
        return f"directories stay: {found}" if found else "" if digest(output) == wanted else "another output"

    seconds = victim.undisturbed()
    wanted = digest(output)
    return attack(form, victim, seconds, kills, chance, lambda: remove(output), clean)


def attack(  # noqa: PLR0917
    name: str,
    victim: Victim,
    seconds: float,
    kills: int,
    chance: random.Random,
    prepare: Callable[[], None],
    clean: Callable[[], str],
) -> int:
    """Kill the victim at random times, and return the number of failures; the next command follows the last kill."""
    failures = 0
    for number in range(kills):
        prepare()
        delay = chance.uniform(0, seconds)
        wrong = victim.killed(delay)
        if not wrong and number == kills - 1:
            wrong = clean()
        if wrong:
            failures += 1
            print(f"{name}, killed after {delay:.3f} s of {seconds:.3f}: {wrong}", flush=True)
    print(f"{name}: {kills} kills, {failures} with something left", flush=True)
    return failures


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def digest(path: Path) -> str:
    """Return a digest of all files of an output."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    names = "\n".join(str(each.relative_to(path)) for each in files)
    return hashlib.sha256(names.encode() + b"".join(each.read_bytes() for each in files)).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--form", action="append", choices=[*FORMS], help="default: all of them")
    options = parser.parse_args()
    os.umask(0o022)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    kills, failures = max(1, options.rounds // 3), 0
    with tempfile.TemporaryDirectory(prefix="rocm-sdk-closures-") as directory:
        place = Path(os.path.realpath(directory))
        place.chmod(0o755)
        sdk = write_sdk(place / "sdk")
        write_application(place / "application")
        for form in options.form or FORMS:
            chance = random.Random(f"{options.seed}.{form}")
            if (program := FORMS[form]) is not None and shutil.which(program, path=f"{os.defpath}:/sbin") is None:
                print(f"{form}: not tried, {program} is not installed")
                continue
            failures += attack_form(form, sdk, place, kills, chance)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
