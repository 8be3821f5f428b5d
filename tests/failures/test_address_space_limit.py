"""The address space of the process is limited (`ulimit -v`): the files are intact, and nothing is to be reinstalled."""

import resource
import subprocess
import sys

from programs import completed
from sample_site import Site, clean_environment

MEGABYTE = 1 << 20
CALL = """
import resource, rocm_sdk
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 20), resource.RLIM_INFINITY))
try:
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
except rocm_sdk.LibraryLoadError as error:
    print(error.code, error.message, error.fix, sep="\\n")
"""


def test_the_limit_is_named(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7", "char large[64 << 20] = {1};")
    size = path.stat().st_size
    environment = clean_environment() | {"PYTHONPATH": str(linked_site.path)}
    done = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=True)
    code, message, fix = done.stdout.splitlines()
    assert code == "E-LIB-025"
    assert "libamdhip64.so.7 cannot be loaded: there is no memory for it" in message
    assert "the limit of the address space of this process is" in message
    assert "ulimit -v unlimited" in fix
    assert size > 64 * MEGABYTE


def test_an_import_without_memory() -> None:
    """With each limit the import works, or the error says nothing of an installation."""
    said = set()
    for limit in range(8, 20):

        def lower(size: int = limit * MEGABYTE) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        command = [sys.executable, "-c", "import rocm_sdk"]
        done = completed(command, preexec_fn=lower)
        if "no memory for the extension of rocm_sdk" in done.stderr:
            said.add("words")
        assert "make wheel" not in done.stderr
        assert "make develop" not in done.stderr
        assert "apt-get" not in done.stderr
    assert said == {"words"}
