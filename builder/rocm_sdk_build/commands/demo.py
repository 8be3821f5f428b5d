"""The command `demo`: an SDK's wheels in an environment, which preloads their libraries and shows that they work."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError

from .options import add_cache, add_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rocm_sdk_build.code.patchelf import Shape
    from rocm_sdk_build.demo.environment import Environment

# The libraries that the demonstration shows if the release has them: Debian's package -> shortname.
LIBRARIES = {
    "libamd-comgr": "amd_comgr",
    "libamdhip64": "amdhip64",
    "libhiprtc": "hiprtc",
    "librocm-smi64": "rocm_smi64",
    "libhiprand": "hiprand",
    "libhipsparse": "hipsparse",
    "librocblas": "rocblas",
}
SAMPLE_NAMES: tuple[str, ...] = ("libamd-comgr", "libamdhip64", "librocm-smi64", "libhiprand", "libhipsparse")
SHAPES = {
    "none": "none (no library says where others are)",
    "rpath": "rpath (DT_RPATH, as in AMD's wheels)",
    "runpath": "runpath (DT_RUNPATH)",
}
_PROCESS = Path(__file__).parents[1] / "demo/process.py"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the SDK and the directory."""
    add_shape(command, "none")
    command.add_argument(
        "--sample", action="store_true", help="use tiny libraries compiled from C instead of Debian's ROCm"
    )
    command.add_argument(
        "--loader", type=Path, metavar="WHEEL", help="wheel of rocm-sdk-loader (the loader that runs here)"
    )
    command.add_argument("--directory", type=Path, metavar="DIR", help="for wheels and environment (build/demo)")
    add_cache(command)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration and print its results.

    Raise PackagingError or OSError if something fails.
    """
    from rocm_sdk.base.value_text import quoted_for_shell
    from rocm_sdk_build.code.patchelf import Shape
    from rocm_sdk_build.demo.environment import Environment
    from rocm_sdk_build.demo.sample import write_sample_wheels
    from rocm_sdk_build.demo.table import user_code
    from rocm_sdk_build.output.own_loader import own_loader

    if options.directory is None:
        _refuse_directory_of_another()
    options.directory = options.directory or Path("build/demo")
    loader = options.loader or own_loader(options.directory / "loader")
    shape = Shape(options.shape)
    why_sample = "asked for" if options.sample else _why_no_debian()
    if why_sample:
        print(f"{why_sample}: a small sample SDK, compiled from C, is used instead of Debian's ROCm")
        names: tuple[str, ...] = SAMPLE_NAMES
        packages = write_sample_wheels(shape, options.directory / "sample-wheels")
    else:
        names, packages = _debian_wheels(options, shape)
    environment = Environment(options.directory / "venv")
    _announce("virtual environment with these wheels")
    environment.install([*(path for path in packages if path.suffix == ".whl"), loader])
    (selector,) = (path for path in packages if path.suffix != ".whl")
    major = selector.name.removeprefix("rocm-").partition(".")[0]
    check, shortnames = f"{major}.*", [LIBRARIES[name] for name in names]
    plan = _in_environment(environment, "plan", check, shortnames)
    loaded = _in_environment(environment, "load", check, shortnames)
    cmake = environment.run(environment.python.with_name("rocm-sdk"), "path", "--cmake").strip()
    _print_result(plan, loaded, cmake, shape, _site(environment), sample=bool(why_sample))
    print("\nThe code that loads it:")
    print("\n".join(f"  {line}" for line in user_code(shortnames, check)))
    print("\nTo go on in this environment:")
    print(f"  {quoted_for_shell(str(environment.python.with_name('rocm-sdk')))} tree {shortnames[-1]}")
    return 0


def _debian_wheels(options: argparse.Namespace, shape: Shape) -> tuple[tuple[str, ...], list[Path]]:
    """Return the names in LIBRARIES that this system's release has, and the packages of an SDK with them."""
    from rocm_sdk_build.building import prefix
    from rocm_sdk_build.building.debian import Source, build_wheels, release_of_source
    from rocm_sdk_build.inputs.debian_packages import offered
    from rocm_sdk_build.packages.wish import Wish

    source = Source(options.cache)
    release = release_of_source(source)
    names = tuple(name for name in LIBRARIES if name in offered(release))
    _announce(f"SDK wheels from the ROCm packages of {release} (the first run downloads and unpacks them)")
    output = options.directory / "wheels"
    wish = Wish((), output, "", deflate=False, is_checked=False, size_limit=None, shape=shape, dist=output)
    source = source._replace(names=names)
    return names, build_wheels(source, prefix.PrefixWish(wish), keeps_unpacked=True)


def _refuse_directory_of_another() -> None:
    """Raise PackagingError in a directory of another user, whose build/ may hold the interpreter that would run."""
    if Path().stat().st_uid not in {0, os.geteuid()}:
        raise PackagingError(
            f"{Path.cwd()} belongs to another user, and what is in its directory build would run",
            "go to a directory of yours, or name one: --directory DIR",
        )


def _why_no_debian() -> str:
    """Return the reason why the packages are not available; "" if they probably are."""
    import platform

    from rocm_sdk.base.processes import find_program

    if find_program("apt-get") is None:
        return "apt is not on PATH"
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return "this system does not say that it is Debian"
    return "" if system["ID"] == "debian" else f"this is {system['NAME']}, not Debian"


def _announce(what: str) -> None:
    print(f"{what} ...", flush=True)


def _in_environment(environment: Environment, action: str, check: str, shortnames: Sequence[str]) -> Any:
    import json

    return json.loads(environment.run(_PROCESS, action, check, *shortnames).splitlines()[-1])


def _site(environment: Environment) -> Path:
    (site,) = environment.python.parent.parent.glob("lib/python*/site-packages")
    return site


def _print_result(plan: Any, loaded: Any, cmake: str, shape: Shape, site: Path, *, sample: bool) -> None:
    import platform

    from rocm_sdk_build.demo.table import library_table

    origin = "sample libraries" if sample else "Debian's ROCm"
    print(f"\nSDK {loaded['version']} of {origin}, shape {SHAPES[shape.value]}")
    print(f"preloaded by rocm_sdk {loaded['loader_version']} in Python {platform.python_version()}")
    print(f"site-packages: {site}\n")
    print("\n".join(library_table(plan, loaded, site)))
    print("\nThe libraries work:")
    print("\n".join(f"  {proof}" for proof in loaded["proofs"]))
    print("\nTo build with the SDK (`rocm-sdk path --cmake` extracts the development tree at its first call):")
    print(f"  cmake -DCMAKE_PREFIX_PATH={cmake} ...")
