"""29: torch.cuda._utils asks find_libraries, and goes on with the library in the process where it knows the error."""

from collections.abc import Callable

import pytest
from sample_site import CORE, LIBRARIES, Site

from rocm_sdk import errors

# As torch: what it catches of find_libraries, and what it opens then.
ASK = """
import ctypes, rocm_sdk
rocm_sdk.preload_libraries("amdhip64")
{break_it}
try:
    print("asked", rocm_sdk.find_libraries({name!r})[0].name)
except (ImportError, IndexError) as error:
    print(type(error).__name__, ctypes.CDLL("libamdhip64.so").answer())
except Exception as error:
    print("ends with", type(error).__name__)
"""


def absent(site: Site) -> dict[str, str]:
    """Remove the file of a library."""
    (site.path / CORE / "lib/libhiprtc.so.7").unlink()
    return {}


def not_installed(site: Site) -> dict[str, str]:
    """Remove a package."""
    (site.path / LIBRARIES / "__init__.py").unlink()
    (site.path / LIBRARIES).rmdir()
    return {}


def damaged_override(site: Site) -> dict[str, str]:
    """Return a variable that names a file which is no library."""
    return {"ROCM_SDK_LIBRARY_hiprtc": str(site.write("libhiprtc.so.7", "text"))}


def absent_override(site: Site) -> dict[str, str]:
    """Return a variable that names a file which is not there."""
    return {"ROCM_SDK_LIBRARY_hiprtc": str(site.path / "libhiprtc.so.7")}


@pytest.mark.parametrize(
    ("prepare", "name", "answer"),
    [
        (lambda _site: {}, "hiprtc", "asked libhiprtc.so.7"),
        (absent, "hiprtc", "LibraryNotFoundError 7"),
        (not_installed, "rccl", "PackageNotInstalledError 7"),
        (lambda _site: {}, "nothing", "UnknownLibraryError 7"),
        (damaged_override, "hiprtc", "BadLibraryError 7"),
        (absent_override, "hiprtc", "LibraryNotFoundError 7"),
    ],
    ids=["there", "absent", "not installed", "unknown", "damaged override", "absent override"],
)
def test_what_torch_does(site: Site, prepare: Callable[[Site], dict[str, str]], name: str, answer: str) -> None:
    site.library("libamdhip64.so.7", "int answer(void) { return 7; }")
    site.library("libhiprtc.so.7")
    variables = prepare(site)
    break_it = f"import os; os.environ.update({variables!r})"
    assert site.output(ASK.format(break_it=break_it, name=name)) == answer


def test_the_types_of_the_established_loader_stay() -> None:
    assert issubclass(errors.LibraryNotFoundError, FileNotFoundError)
    assert issubclass(errors.BadLibraryError, OSError)
    assert issubclass(errors.PackageNotInstalledError, ModuleNotFoundError)
