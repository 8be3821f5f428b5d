"""Types of the extension module. The public names are documented in rocm_sdk."""

from ctypes import CDLL
from os import PathLike
from typing import Any, NamedTuple, TypedDict

from rocm_sdk.problems import Problem

loader_version: str
_preloaded: dict[str, LoadedLibrary | CDLL]

class LibraryLocation(NamedTuple):
    shortname: str | None
    path: str | None
    soname: str | None
    package: str
    found_via: str

class LoadedLibrary(NamedTuple):
    location: LibraryLocation
    handle: int
    already_loaded: bool
    seconds: float

class LoadStep(NamedTuple):
    shortname: str | None
    path: str
    soname: str | None
    method: str
    requested: bool
    rtld_global: bool
    reason: str
    members: tuple[str, ...]
    needed: tuple[str, ...]
    outside: tuple[str, ...]
    missing: tuple[str, ...]

class LoadPlan(NamedTuple):
    steps: tuple[LoadStep, ...]
    missing: tuple[str, ...]

class Gpu(NamedTuple):
    target: str
    processor: str
    real_processor: str
    known: bool
    overridden: bool
    sramecc: bool | None
    xnack: bool | None
    xnack_guessed: bool
    gpu_class: str
    name: str
    node: int
    hsa_node: int | None
    gpu_id: int
    unique_id: int
    uuid: str
    hive_id: int
    pci_address: str
    vendor_id: int
    device_id: int
    render_node: str | None
    compute_units: int
    xcc_count: int
    partition: int
    partition_count: int
    memory: int
    hip_index: int | None
    opencl_index: int | None
    usable: bool
    why_not: str | None

class Target(NamedTuple):
    name: str
    major: int
    minor: int
    stepping: int
    mach: int
    xnack: str
    sramecc: bool
    gpu_class: str
    product: str
    families: tuple[str, ...]
    generic: str | None
    sub_family: str | None
    family: str | None
    package_owner: str

class LibraryFacts(NamedTuple):
    soname: str | None
    needed: tuple[str, ...]
    rpath: str | None
    runpath: str | None
    newest_glibc: str | None
    executable_stack: bool
    text_relocations: bool
    static_tls: bool
    damages: tuple[str, ...]

class _SdkFacts(TypedDict):
    version: str | None
    nonce: str
    default_family: str | None
    kpack_split: bool
    available_families: tuple[str, ...]
    linux_families: tuple[str, ...]
    windows_families: tuple[str, ...]

def locate(shortname: str, /) -> LibraryLocation: ...
def locate_all(*shortnames: str) -> list[LibraryLocation]: ...
def load_plan(*shortnames: str, rtld_global: bool = True) -> LoadPlan: ...
def preload_libraries(
    *shortnames: str, rtld_global: bool = True, unversioned_names: bool = False
) -> tuple[LoadedLibrary, ...]: ...
def preload_and_tell_version(
    shortnames: tuple[str, ...], rtld_global: bool, unversioned_names: bool, /
) -> str | None: ...
def preload_for(*paths: str | bytes | PathLike[Any], rtld_global: bool = True) -> tuple[LoadedLibrary, ...]: ...
def loaded_libraries() -> tuple[LoadedLibrary, ...]: ...
def sdk_version() -> str: ...
def sdk_facts() -> _SdkFacts: ...
def built_targets() -> str: ...
def package_directory(name: str, /) -> str: ...
def catalog() -> tuple[tuple[str, str, str, str, str, bool, bool], ...]: ...
def packages() -> tuple[tuple[str, str, str, str, bool], ...]: ...
def gpus(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[Gpu, ...]: ...
def check_gpu_access(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[Problem, ...]: ...
def survey_gpus(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[tuple[Gpu, ...], tuple[Problem, ...]]: ...
def gpu_processors(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[str, ...]: ...
def choose_family(families: tuple[str, ...], /) -> tuple[str | None, str | None]: ...
def target(name: str, /) -> Target: ...
def targets() -> tuple[Target, ...]: ...
def expand_targets(names: str, /) -> tuple[str, ...]: ...
def families_of(target: str, /) -> tuple[str, ...]: ...
def target_id(name: str, /) -> str: ...
def inspect_library(path: str | bytes | PathLike[Any], /) -> LibraryFacts: ...
def host_packages() -> tuple[tuple[str, str, str, str, str, str], ...]: ...
