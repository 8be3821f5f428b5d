"""What installed frameworks need without a DT_NEEDED entry or a requirement, and an SDK may not have.

Each is judged by the text of the framework's own module, because AMD's builds patch installed copies, and versions say
less. Sources: triton/backends/amd/driver.py of 3.9.0, jaxlib/plugin_support.py, the metadata of jax-rocm10-plugin
0.12.0, amdsmi/amdsmi_wrapper.py of 7.0.2; of AMD's TransformerEngine, what AMD says of its import.
"""

from __future__ import annotations

import json
import os
import re

from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from importlib.metadata import Distribution

    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem

_LIMIT = 1 << 22  # bytes of a module
_HIP = "libamdhip64.so"
_TRITONS = ("triton", "triton-rocm", "pytorch-triton-rocm")  # all with the package triton
_SECONDS = 20.0


def _find(name: str) -> Distribution | None:
    """Return the distribution of this name that an import would use; None if it is not installed."""
    from rocm_sdk.installed import other_distributions  # here: its imports take long

    return other_distributions.find(name)


def _text(found: Distribution | None, path: str) -> str:
    """Return the text of an installed module; "" if it is not there."""
    try:
        text = read_beginning(str(found.locate_file(path)), _LIMIT) if found is not None else b""
    except (OSError, ValueError):
        return ""
    return text.decode(errors="replace")


# ---- triton, which runs only with the HIP that rocm_sdk returns


def refused_hip(
    installed: Installed, path: str, source: str, removal: str | None = None, *, variables: Mapping[str, str]
) -> Problem | None:
    """Return the problem that triton refuses a process's HIP; None if it does not, or does not check.

    source: what brings the HIP in. removal: how to leave it out. variables: the environment of the process.
    """
    chosen = variables.get("TRITON_LIBHIP_PATH", "")
    found, ours = next(filter(None, map(_find, _TRITONS)), None), installed.locations.get("amdhip64")
    driver = _text(found, "triton/backends/amd/driver.py")
    is_asking = "rocm_sdk" in driver and "samefile" in driver
    if not is_asking or (os.path.basename(chosen).startswith(_HIP) and os.path.isfile(chosen)):
        return None
    try:
        if found is None or ours is None or ours.path is None or os.path.samefile(path, ours.path):
            return None
    except OSError:
        return None
    facts = {"version": found.version, "library": path, "other": ours.path, "source": source, "removal": removal}
    return problem("W-LIB-031", path, None, **facts)


def _triton(installed: Installed) -> Iterator[Problem]:
    refused = (refused_hip(installed, *each, variables=os.environ) for each in _hips_of_others(installed))
    found = next(filter(None, refused), None)
    yield from (found,) if found is not None else ()


def _hips_of_others(installed: Installed) -> Iterator[tuple[str, str, str]]:
    """Yield each HIP that would be loaded before the SDK's: path, what brings it in, and how to leave it out."""
    for path in entries_of("LD_PRELOAD", os.environ.get("LD_PRELOAD", "")):
        if os.path.basename(path).startswith(_HIP):
            yield path, "LD_PRELOAD brings it in", "unset LD_PRELOAD  # or take it out of the list"
    torch = _find("torch")
    for file in (torch.files or ()) if torch is not None else ():
        if file.name.startswith(_HIP):
            yield str(file.locate()), "torch brings it in", "rocm-sdk install torch  # a torch that uses the SDK's"
    ours = installed.locations.get("amdhip64")
    for directory in entries_of("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", "")):
        path = os.path.join(directory, os.path.basename(ours.path or _HIP) if ours is not None else _HIP)
        if os.path.isfile(path):
            way = "unset LD_LIBRARY_PATH  # or take the directory out of it"
            yield path, "LD_LIBRARY_PATH brings it in, for what asks for it first", way


# ---- JAX


def _jax(_installed: Installed) -> Iterator[Problem]:
    plugins = [
        name for name in ("jax-rocm10-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin") if _find(name) is not None
    ]
    if not plugins:
        return
    plugin = plugins[0]
    names = ("jax", "jaxlib", plugin, plugin.replace("plugin", "pjrt"))
    versions = {name: found.version for name in names if (found := _find(name)) is not None}
    support = _text(_find("jaxlib"), "jaxlib/plugin_support.py")
    if support and plugin.replace("-", "_") not in support:
        known = ", ".join(dict.fromkeys(re.findall(r"jax_rocm\d+_plugin", support))) or "none of ROCm"
        facts = {"distribution": plugin, "version": versions["jaxlib"], "wanted": versions[plugin], "known": known}
        yield problem("E-PKG-031", None, None, **facts)
    elif len({version for name, version in versions.items() if name != "jaxlib"}) > 1:
        said = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "jaxlib")
        yield problem("E-PKG-032", None, None, detail=said, distribution=plugin)
    found = _find(plugin)
    extras = found.metadata.get_all("Provides-Extra") or () if found is not None else ()
    if "with-rocm" in extras:
        yield problem("N-PKG-033", None, None, distribution=plugin, version=versions[plugin])


# ---- TransformerEngine, whose import makes the development tree


def _transformer_engine(installed: Installed) -> Iterator[Problem]:
    text = _text(_find("transformer-engine"), "transformer_engine/common/__init__.py")
    is_elsewhere = os.environ.get("ROCM_PATH") or any(map(os.path.isdir, ("/opt/rocm", "/opt/rocm/core")))
    if "rocm_sdk" not in text or is_elsewhere or installed.core is None:
        return
    if installed.distribution("rocm-sdk-devel") is None:
        requirement = f"rocm-sdk-devel=={installed.version}"
        facts = {"detail": "rocm-sdk-devel is not installed", "requirement": requirement}
        yield problem("W-DEVEL-016", None, installed.site, **facts)
    elif not os.path.isdir(f"{installed.site}/_rocm_sdk_devel/lib") and not os.access(
        installed.site, os.W_OK | os.X_OK
    ):
        detail = f"this user may not write to {installed.site}"
        yield problem("W-DEVEL-016", None, installed.site, detail=detail)


# ---- amdsmi of the public index

_BOUND = re.compile(r"_libraries\['libamd_smi\.so'\]\.(amdsmi_\w{1,128})")
_ASK = """
import ctypes, json, sys
import rocm_sdk
(loaded,) = rocm_sdk.find_libraries("amd_smi")
rocm_sdk.preload_libraries("amd_smi")
library = ctypes.CDLL(str(loaded))
print(json.dumps([name for name in json.loads(sys.argv[1]) if not hasattr(library, name)]))
"""


def _amdsmi(installed: Installed) -> Iterator[Problem]:
    found, ours = _find("amdsmi"), installed.locations.get("amd_smi")
    names = list(dict.fromkeys(_BOUND.findall(_text(found, "amdsmi/amdsmi_wrapper.py"))))
    if not names or found is None or ours is None or ours.path is None:
        return
    from rocm_sdk.base.processes import own_code, run

    try:
        done = run(own_code(_ASK, json.dumps(names)), seconds=_SECONDS)
        absent = [str(name) for name in json.loads(done.stdout)]
    except (OSError, ValueError):
        return  # that the library does not load is reported for the library
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        facts = {"version": found.version, "library": os.path.basename(ours.path), "name": ", ".join(absent[:3]) + more}
        yield problem("W-LIB-032", ours.path, None, **facts)


_DEMANDS: dict[str, Callable[[Installed], Iterator[Problem]]] = {
    "triton": _triton,
    "jax": _jax,
    "transformer-engine": _transformer_engine,
    "amdsmi": _amdsmi,
}
_PARTS = {"jaxlib": "jax", "jax-rocm10-plugin": "jax", "jax-rocm10-pjrt": "jax", "jax-rocm7-plugin": "jax"}
_PARTS |= dict.fromkeys(_TRITONS, "triton")


def framework_problems(installed: Installed, names: Iterable[str] = tuple(_DEMANDS)) -> Iterator[Problem]:
    """Yield what installed frameworks ask for but do not get. names: the distributions to check."""
    for name in names:
        demand = _DEMANDS.get(_PARTS.get(name, name))
        if demand is not None and installed.is_current:
            try:
                yield from demand(installed)
            except RocmSdkError:
                continue  # what the SDK itself lacks is reported for the SDK
