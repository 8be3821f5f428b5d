"""The command `demo`: makes an SDK's wheels, installs them, preloads their libraries and shows that they work."""

from __future__ import annotations

import argparse
import json
import platform
import shutil
from pathlib import Path
from typing import Any

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.debian import build_wheels
from rocm_sdk_build.errors import PackagingError

from .environment import Environment
from .sample import write_sample_wheels
from .table import library_table, user_code

SHORTNAMES = ("amd_comgr", "amdhip64", "rocm_smi64", "hiprand", "hipsparse")
CHECK_VERSION = "5.*"
SHAPES = {
    Shape.NONE: "none (no library says where others are)",
    Shape.RPATH: "rpath (DT_RPATH, as in AMD's wheels)",
    Shape.RUNPATH: "runpath (DT_RUNPATH)",
}
_PROCESS = Path(__file__).with_name("process.py")


def run(options: argparse.Namespace) -> int:
    """Runs the demonstration and prints its results; PackagingError or OSError if something fails."""
    loader = options.loader or _built_loader()
    shape = Shape(options.shape)
    why_sample = "asked for" if options.sample else _why_no_debian()
    if why_sample:
        print(f"{why_sample}: a small sample SDK, compiled from C, is used instead of Debian's ROCm")
        packages = write_sample_wheels(shape, options.directory / "sample-wheels")
    else:
        _announce("SDK wheels from Debian's ROCm packages (the first run downloads 160 MB and unpacks 2 GB)")
        packages = build_wheels(options.cache, shape, options.directory / "wheels")
    environment = Environment(options.directory / "venv")
    _announce("virtual environment with these wheels")
    environment.install([*(path for path in packages if path.suffix == ".whl"), loader])
    plan = _in_environment(environment, "plan")
    loaded = _in_environment(environment, "load")
    cmake = environment.run(environment.python.with_name("rocm-sdk"), "path", "--cmake").strip()
    _print_result(plan, loaded, cmake, shape, _site(environment), sample=bool(why_sample))
    return 0


def _built_loader() -> Path:
    wheels = sorted(Path("build/wheel").glob("rocm_sdk_loader-*.whl"))
    if len(wheels) != 1:
        found = f"{len(wheels)} wheels" if wheels else "no wheel"
        raise PackagingError(
            f"build/wheel: {found} of rocm-sdk-loader here", "run `make demo` or `make wheel` in the source tree"
        )
    return wheels[0]


def _why_no_debian() -> str:
    """Why the packages are not available; empty if they probably are."""
    if shutil.which("apt-get") is None:
        return "apt is not on PATH"
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return "this system does not say that it is Debian"
    return "" if system["ID"] == "debian" else f"this is {system['NAME']}, not Debian"


def _announce(what: str) -> None:
    print(f"{what} ...", flush=True)


def _in_environment(environment: Environment, action: str) -> Any:
    return json.loads(environment.run(_PROCESS, action, CHECK_VERSION, *SHORTNAMES).splitlines()[-1])


def _site(environment: Environment) -> Path:
    (site,) = environment.python.parent.parent.glob("lib/python*/site-packages")
    return site


def _print_result(plan: Any, loaded: Any, cmake: str, shape: Shape, site: Path, *, sample: bool) -> None:
    origin = "sample libraries" if sample else "Debian's ROCm"
    print(f"\nSDK {loaded['version']} of {origin}, shape {SHAPES[shape]}")
    print(f"preloaded by rocm_sdk {loaded['loader_version']} in Python {platform.python_version()}")
    print(f"site-packages: {site}\n")
    print("\n".join(library_table(plan, loaded, site)))
    print("\nThey work:")
    print("\n".join(f"  {proof}" for proof in loaded["proofs"]))
    print("\nTo build with the SDK (`rocm-sdk path --cmake` extracts the development tree at its first call):")
    print(f"  cmake -DCMAKE_PREFIX_PATH={cmake} ...")
    print("\nThe code that loads it:")
    print("\n".join(f"  {line}" for line in user_code(SHORTNAMES, CHECK_VERSION)))
