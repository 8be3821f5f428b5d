"""Indexes of synthetic packages, in the shapes of AMD's indexes, on a web server."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sample_devel import make_wheel
from web_server import serving

from rocm_sdk_build.output.index import write_index

TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1036", "gfx1100", "gfx1102", "gfx1151", "gfx1250", "gfx11-generic")
RELEASES = ("10.0.0", "10.0.1")


def write_wheel(directory: Path, name: str, version: str, requires: tuple[str, ...] = (), extras: str = "") -> Path:
    """Write a wheel with an empty module; `extras` are names, with `,` between."""
    lines = [f"Provides-Extra: {each}\n" for each in filter(None, extras.split(","))]
    lines += [f"Requires-Dist: {each}\n" for each in requires]
    files = {f"{name.replace('-', '_')}_files/__init__.py": b""}
    return make_wheel(directory, name, files, version, "".join(lines))


def write_product(
    directory: Path, name: str, version: str, device: str, requires: tuple[str, ...], *, split: bool
) -> None:
    """Write a product and its packages for targets: extras (whl-next), or all of them come along (whl)."""
    packages = [(target, f"{device}{target}=={version}") for target in TARGETS]
    for target in TARGETS:
        write_wheel(directory, f"{device}{target}", version)
    if split:
        wanted = tuple(f'{package}; extra == "device-{target}"' for target, package in packages)
        extras = ",".join(f"device-{target}" for target in TARGETS)
    else:
        wanted, extras = tuple(package for _, package in packages), ""
    extras = f"libraries,{extras}" if name == "rocm" else extras
    write_wheel(directory, name, version, (*requires, *wanted), extras.strip(","))


def write_packages(directory: Path, *, split: bool) -> None:
    write_wheel(directory, "filelock", "3.20.0")
    for release in RELEASES:
        for each in ("rocm-sdk-core", "rocm-sdk-libraries"):
            write_wheel(directory, each, release)
        sdk = (f"rocm-sdk-core=={release}", f'rocm-sdk-libraries=={release}; extra == "libraries"')
        write_product(directory, "rocm", release, "rocm-sdk-device-", sdk, split=split)
        for name in ("torch", "torchvision"):
            needed = (f"rocm[libraries]=={release}", "filelock")
            write_product(directory, name, f"2.12.0+rocm{release}", f"amd-{name}-device-", needed, split=split)
        for name in ("jax-rocm10-plugin", "jax-rocm10-pjrt"):
            write_wheel(directory, name, "0.10.0")
    write_wheel(directory, "jax", "0.10.0")


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        del arguments


def serve(directory: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(directory)))
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/simple/"


def index_of(directory: Path, *, split: bool) -> Iterator[str]:
    write_packages(directory, split=split)
    write_index(directory)
    yield from serve(directory)
