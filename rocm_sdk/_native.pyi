"""Types of the extension module. The public names are documented in rocm_sdk."""

from collections.abc import Iterable, Mapping
from ctypes import CDLL
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from .problems import Problem

# scripts/generated.py writes the codes, the sets of words and the results, from tables of csrc/.
# fmt: off
Code = Literal[
    "E-SDK-001", "E-PKG-001", "E-PKG-002", "E-PKG-003", "E-PKG-004", "W-PKG-005", "E-PKG-006", "W-PKG-007", "W-PKG-008",
    "N-PKG-009", "W-PKG-010", "E-PKG-011", "W-PKG-012", "E-PKG-013", "E-PKG-014", "E-PKG-015", "E-PKG-016", "E-PKG-017",
    "N-PKG-018", "W-PKG-019", "E-PKG-020", "E-PKG-021", "E-PKG-026", "E-FILE-001", "E-FILE-002", "E-FILE-003",
    "E-FILE-004", "E-FILE-005", "E-FILE-006", "E-FILE-007", "E-FILE-008", "E-LIB-001", "E-LIB-002", "E-LIB-003",
    "E-LIB-004", "E-LIB-005", "E-LIB-006", "E-LIB-007", "E-LIB-008", "E-LIB-009", "E-LIB-021", "E-LIB-022", "W-LIB-010",
    "W-LIB-011", "E-LIB-012", "W-LIB-013", "N-LIB-014", "E-LIB-015", "W-LIB-016", "E-LIB-017", "E-LIB-018", "N-LIB-019",
    "E-LIB-020", "N-LIB-021", "E-LIB-023", "E-LIB-024", "E-LIB-025", "W-LIB-026", "W-BIND-001", "E-API-001",
    "E-API-002", "E-API-003", "E-API-004", "E-API-005", "E-TOOL-001", "E-TOOL-002", "E-TOOL-003", "N-TOOL-004",
    "E-TOOL-005", "W-DEVEL-001", "E-DEVEL-002", "E-DEVEL-003", "E-DEVEL-004", "E-DEVEL-005", "N-DEVEL-006",
    "W-DEVEL-007", "E-DEVEL-008", "E-DEVEL-009", "E-DEVEL-010", "E-DEVEL-011", "N-DEVEL-012", "N-DEVEL-013",
    "E-GPU-002", "E-GPU-003", "E-GPU-004", "E-GPU-005", "E-GPU-006", "E-GPU-007", "E-GPU-008", "W-GPU-010", "N-GPU-011",
    "W-GPU-012", "W-GPU-013", "W-GPU-014", "W-GPU-015", "W-GPU-016", "W-GPU-017", "W-GPU-018", "W-GPU-019", "W-GPU-020",
    "W-GPU-021", "W-GPU-022", "W-GPU-023", "W-GPU-024", "W-GPU-025", "W-GPU-026", "W-GPU-027", "W-GPU-028", "W-GPU-029",
    "N-GPU-030", "W-GPU-031", "W-GPU-032", "E-CODE-001", "E-CODE-002", "N-CODE-003", "E-CODE-004", "W-CODE-005",
    "W-CODE-006", "E-CODE-007", "N-CODE-008", "N-CODE-009", "W-OCL-001", "W-ENV-001", "W-ENV-002", "W-ENV-003",
    "E-ENV-004", "W-ENV-005", "N-ENV-006", "E-ENV-007", "E-ENV-008", "W-ENV-009", "E-PROC-001", "W-PROC-002",
    "E-PROC-003", "E-PROC-004", "N-PROC-005", "E-CODE-010", "E-CODE-011", "E-CODE-012", "E-CODE-013", "E-CODE-014",
    "N-CODE-015", "W-CODE-016", "E-CODE-017", "E-TEST-001", "E-TEST-002", "E-PREFIX-001", "E-PREFIX-002",
    "E-PREFIX-003", "E-PREFIX-004", "E-PREFIX-005", "W-PREFIX-006", "E-PREFIX-007", "E-PREFIX-008", "E-PREFIX-009",
    "E-PREFIX-010", "W-DEVEL-015", "E-DEVEL-014", "E-CODE-019", "N-LIB-027", "W-LIB-028", "N-GPU-036", "W-GPU-035",
    "W-GPU-033", "W-CODE-018", "E-ENV-010", "E-ENV-011", "E-ENV-012", "E-ENV-013", "E-PKG-023", "E-PKG-024",
    "E-FILE-009", "E-PKG-025", "W-ENV-014", "W-ENV-015", "W-ENV-016", "W-GPU-034", "W-API-006", "W-PKG-027",
    "N-GPU-037", "W-GPU-038", "N-GPU-039", "W-GPU-040", "W-PKG-028", "E-PKG-029", "W-PKG-030", "W-LIB-029", "N-LIB-030",
    "W-FILE-010", "W-ENV-017", "N-PREFIX-011", "W-LIB-031", "W-LIB-032", "E-PKG-031", "E-PKG-032", "N-PKG-033",
    "W-DEVEL-016", "N-GPU-041", "W-TOOL-006"
]
# fmt: on

_Overrides: TypeAlias = Mapping[str, str | PathLike[str]] | None

loader_version: str
_C_API: object  # a capsule: csrc/include/rocm_sdk/capsule.h
_preloaded: dict[str, LoadedLibrary | CDLL]

# The results:
BindingVerdict: TypeAlias = Literal[
    "meant",
    "nothing",
    "missing",
    "lazy",
    "unknown",
    "vague",
    "weak",
    "c++-runtime",
    "c-library",
    "same-source",
    "taken-over",
    "other-function",
    "other-object",
]
DetectionSource: TypeAlias = Literal["KFD", "amdgpu", "PCI id"]
FixProof: TypeAlias = Literal["words", "tried", "elsewhere", "hardware"]
KernelTableKind: TypeAlias = Literal["index", "table", "targets"]
Severity: TypeAlias = Literal["error", "warning", "note"]

class LibraryLocation(NamedTuple):
    shortname: str | None
    path: str | None
    soname: str | None
    package: str | None
    found_via: str

class LoadedLibrary(NamedTuple):
    location: LibraryLocation
    handle: int | None
    already_loaded: bool | None
    seconds: float | None
    requested: bool

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
    names: tuple[tuple[str, str], ...]
    brought_by: tuple[str, ...]

class LoadPlan(NamedTuple):
    steps: tuple[LoadStep, ...]
    missing: tuple[str, ...]

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
    marketing_name: str | None
    hip_processors: int

class Section(NamedTuple):
    name: str
    offset: int
    size: int

class Damage(NamedTuple):
    code: Code
    message: str
    detail: str

class DeviceImage(NamedTuple):
    target: str
    id: str | None
    object_target: str | None
    format: Literal["code object", "bitcode", "SPIR-V", "empty", "unknown", "unread"]
    version: int
    generic_version: int
    offset: int
    size: int

class DeviceBundle(NamedTuple):
    container: Literal["none", "bundle", "compressed bundle", "offload binary", "kpack archive"]
    section: str | None
    member: str | None
    offset: int
    size: int
    plain_size: int
    version: int
    compression: Literal["zlib", "zstd"] | None
    images: tuple[DeviceImage, ...]

class DeviceTarget(NamedTuple):
    target: str
    size: int
    image_count: int

class DeviceCode(NamedTuple):
    path: str
    size: int
    kind: str
    targets: tuple[DeviceTarget, ...]
    bundles: tuple[DeviceBundle, ...]
    compressed_count: int
    stored_size: int
    plain_size: int
    removed: bool
    kernel_name: str | None
    kpack_paths: tuple[str, ...]
    history: str | None

class Compatibility(NamedTuple):
    fit: Literal["exact", "compatible", "generic", "SPIR-V", "unofficial", "none"]
    misfit: Literal["processor", "sramecc", "xnack", "generic version"] | None
    patches: tuple[str, ...]
    sramecc: bool | None
    xnack: bool | None

class GpuCoverage(NamedTuple):
    gpu: str
    verdict: Literal["exact", "compatible", "generic", "compiled at first use", "best effort", "none", "not needed"]
    lack: Literal["processor", "mode", "generic version", "index", "archive", "kernels", "unnamed"] | None
    covered: int
    total: int
    uncovered_modes: tuple[str, ...]
    detail: str | None
    database: bool | None
    tables: Literal["tuned", "fallback", "none"] | None
    missing_table: str | None
    late: int

class LibraryCoverage(NamedTuple):
    name: str
    files: tuple[str, ...]
    size: int
    stored_size: int
    plain_size: int
    compressed_count: int
    targets: tuple[DeviceTarget, ...]
    gpus: tuple[GpuCoverage, ...]

class CoveredTarget(NamedTuple):
    target: str
    size: int
    image_count: int
    used: bool

class CoverageFault(NamedTuple):
    path: str
    code: Code
    message: str

class Coverage(NamedTuple):
    libraries: tuple[LibraryCoverage, ...]
    targets: tuple[CoveredTarget, ...]
    faults: tuple[CoverageFault, ...]
    file_count: int

class Binding(NamedTuple):
    library: str
    symbol: str
    version: str | None
    bound_to: str | None
    instead: str | None
    verdict: BindingVerdict

class BindingPair(NamedTuple):
    library: str
    bound_to: str
    reference_count: int
    counts: dict[BindingVerdict, int]
    examples: tuple[str, ...]
    verdict: BindingVerdict

class Bindings(NamedTuple):
    pairs: tuple[BindingPair, ...]
    reference_count: int
    references: tuple[Binding, ...]
    missing: tuple[str, ...]

class HostNeed(NamedTuple):
    name: str
    place: Literal["bundled", "SDK", "other version", "RPATH", "system", "beside", "other release", "nowhere"]
    path: str | None

class Unfound(NamedTuple):
    needing: str
    name: str
    place: Literal["bundled", "SDK", "other version", "RPATH", "system", "beside", "other release", "nowhere"]
    path: str | None
    fault: str | None
    fault_code: Code | None
    absent: tuple[str, ...]

class HostLack(NamedTuple):
    needing: str
    name: str | None
    version: str | None
    library: str | None
    definer: str | None

class HostFile(NamedTuple):
    path: str
    soname: str | None
    is_program: bool
    is_module: bool
    fault: str | None
    fault_code: Code | None
    needs: tuple[HostNeed, ...]
    unfound: tuple[Unfound, ...]
    unfound_alone: tuple[str, ...]
    by_shortnames: bool
    by_files: bool
    by_run: bool
    directories: tuple[str, ...]
    own_hip: str | None
    outside_hip: str | None
    borrowed: str | None
    lacks: tuple[HostLack, ...]
    lack_count: int
    audited: str | None
    audit: str | None
    back_end: str | None
    is_for_rocm: bool
    variant_group: int | None

class OtherRelease(NamedTuple):
    file: str
    name: str
    present: str
    built_for: str
    sdk: str | None
    more: str

class HostFiles(NamedTuple):
    files: tuple[HostFile, ...]
    preloaded: tuple[str, ...]
    first_release: str | None
    last_release: str | None
    built_for: str | None
    requirement: str | None
    opened: tuple[HostNeed, ...]
    other_release: OtherRelease | None

class LibraryFacts(NamedTuple):
    soname: str | None
    needed: tuple[str, ...]
    rpath: str | None
    runpath: str | None
    newest_glibc: str | None
    version_needs: tuple[tuple[str, str], ...]
    executable_stack: bool
    text_relocations: bool
    static_tls: bool
    build_id: str | None
    opened: tuple[str, ...]
    damages: tuple[Damage, ...]
    sections: tuple[Section, ...]

# The functions:

class _SdkFacts(TypedDict):
    root: str | None
    fallback: str | None
    version: str | None
    nonce: str
    default_family: str | None
    kpack_split: bool
    available_families: tuple[str, ...]
    linux_families: tuple[str, ...]
    windows_families: tuple[str, ...]

class _DistInfo(TypedDict):
    version: str | None
    nonce: str
    default_family: str | None

class Sdk:
    def facts(self) -> _SdkFacts: ...
    def built_targets(self) -> str: ...
    def package_directory(self, name: str, /) -> str: ...
    def package_directories(self) -> dict[str, str]: ...
    def locate(self, shortname: str, /) -> LibraryLocation: ...
    def located(self) -> tuple[LibraryLocation | None, ...]: ...
    def failures(self) -> dict[str, str]: ...
    def bindings(
        self, *shortnames: str, files: Iterable[str | bytes | PathLike[Any]] = (), every: bool = False
    ) -> Bindings: ...

def open_sdk() -> Sdk: ...
def locate(shortname: str, /, *, overrides: _Overrides = None, fallback: str | None = None) -> LibraryLocation: ...
def locate_all(
    *shortnames: str, overrides: _Overrides = None, fallback: str | None = None
) -> list[LibraryLocation]: ...
def load_plan(
    *shortnames: str,
    files: Iterable[str | bytes | PathLike[Any]] = (),
    new_process: bool = False,
    rtld_global: bool | None = None,
    overrides: _Overrides = None,
    fallback: str | None = None,
) -> LoadPlan: ...
def preload_libraries(
    *shortnames: str,
    rtld_global: bool | None = None,
    unversioned_names: bool | None = None,
    overrides: _Overrides = None,
    fallback: str | None = None,
) -> tuple[LoadedLibrary, ...]: ...
def preload_and_tell_version(
    shortnames: tuple[str, ...],
    rtld_global: bool | None,
    unversioned_names: bool | None,
    overrides: _Overrides,
    fallback: str | None,
    /,
) -> str | None: ...
def preload_for(
    *paths: str | bytes | PathLike[Any],
    rtld_global: bool | None = None,
    overrides: _Overrides = None,
    fallback: str | None = None,
) -> tuple[LoadedLibrary, ...]: ...
def bindings(
    *shortnames: str,
    files: Iterable[str | bytes | PathLike[str]] = (),
    rtld_global: bool | None = None,
    every: bool = False,
    overrides: _Overrides = None,
    fallback: str | None = None,
) -> Bindings: ...
def plan_and_bindings(
    shortnames: tuple[str, ...] | None, files: tuple[str, ...], has_bindings: bool, /
) -> tuple[LoadPlan, Bindings | None, str]: ...
def process_bindings(pid: int = 0, *, every: bool = False) -> Bindings: ...
def stack_of_process(pid: int, /) -> tuple[tuple[str, str | None], ...]: ...
def origins_of_files(
    paths: tuple[str, ...], mapped: tuple[str, ...], preloaded: tuple[str, ...], library_path: tuple[str, ...], /
) -> tuple[tuple[str, str | None, str], ...]: ...
def preloaded_libraries() -> tuple[LoadedLibrary, ...]: ...
def paged_files(text: bytes, /) -> tuple[tuple[str, str, int, bytes, int, tuple[tuple[int, int], ...]], ...]: ...
def dist_info(path: str | bytes | PathLike[Any], /) -> _DistInfo: ...
def sdk_root() -> str | None: ...
def sdk_version() -> str | None: ...
def sdk_facts() -> _SdkFacts: ...
def built_targets() -> str: ...
def package_directory(name: str, /) -> str: ...
def catalog(version: str | None = None, /) -> tuple[tuple[str, str, str, str, str, bool], ...]: ...
def packages() -> tuple[tuple[str, str, str, str, bool], ...]: ...
def library_places() -> tuple[tuple[str, str | None], ...]: ...
def gpus(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[Gpu, ...]: ...
def check_gpu_access(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[Problem, ...]: ...
def survey_gpus(
    *, root: str | bytes | PathLike[Any] | None = None, refused: tuple[str, int] = ...
) -> tuple[tuple[Gpu, ...], tuple[Problem, ...], tuple[str | None, ...]]: ...
def runtime_rules(path: str | bytes | PathLike[Any], /) -> tuple[bool, bool, bool | None]: ...
def gpu_processors(*, root: str | bytes | PathLike[Any] | None = None) -> tuple[str, ...]: ...
def detect_gpus() -> tuple[tuple[str | None, str, DetectionSource, str], ...]: ...
def gpu_health(
    *, root: str | bytes | PathLike[Any] | None = None
) -> tuple[tuple[str, int | None, str, str, Problem | None], ...]: ...
def choose_gpus(words: str, layer: str, supported: tuple[str, ...], /) -> tuple[tuple[str, str | None], ...]: ...
def choose_family(families: tuple[str, ...], /) -> tuple[str | None, str | None, str | None]: ...
def target(name: str, /) -> Target: ...
def targets() -> tuple[Target, ...]: ...
def expand_targets(names: str, /) -> tuple[str, ...]: ...
def families_of(target: str, /) -> tuple[str, ...]: ...
def canonical_target(name: str, /) -> str: ...
def package_owner(name: str, /) -> str: ...
def compatibility(code: str, gpu: str, generic_version: int | None, unofficial: bool, /) -> Compatibility: ...
def target_id(name: str, /) -> str: ...
def target_in_name(name: str, /) -> str | None: ...
def inspect_library(path: str | bytes | PathLike[Any], takes_names: bool = False, /) -> LibraryFacts: ...
def begins_as_elf(head: bytes, /) -> bool: ...
def check_host_files(
    files: tuple[str, ...],
    libraries: tuple[str, ...],
    /,
    directories: tuple[str, ...] = (),
    loaded: tuple[str, ...] = (),
    beside: tuple[str, ...] = (),
    installed: bool = False,
    python: bool = False,
    unpacked: str | None = None,
    site: str | None = None,
) -> HostFiles: ...
def opened_names(
    files: tuple[str, ...], names: tuple[str, ...], /
) -> tuple[tuple[str | None, str, str | None], ...]: ...
def answered_names() -> tuple[tuple[str, str | None], ...]: ...
def device_code(path: str | bytes | PathLike[Any], /) -> DeviceCode: ...
def device_code_of_part(descriptor: int, start: int, size: int, name: str, /) -> DeviceCode: ...
def coverage(
    directories: tuple[str, ...], gpus: tuple[str, ...], unofficial: bool, spirv: bool = True, /
) -> Coverage: ...
def kernel_table_kind(name: str, /) -> KernelTableKind | None: ...
def kernel_table_names(path: str | bytes | PathLike[Any], /) -> tuple[tuple[str | None, str], ...]: ...
def report_name(pattern: str, /) -> str: ...
def report_has_variable(name: str, /) -> bool: ...
def inherited_variables() -> tuple[tuple[str, str, bool, str, str], ...]: ...
def report_shows_variable(name: str, /) -> bool: ...
def nearest_names(name: str, names: tuple[str, ...], limit: int = 3) -> tuple[str, ...]: ...
def problem_table() -> tuple[
    tuple[
        Code,
        Severity,
        str,
        str,
        str,
        str,
        str | None,
    ],
    ...,
]: ...
def problem_fixes(code: str, /) -> tuple[tuple[str, FixProof, str, bool], ...]: ...
def sdk_indexes() -> tuple[tuple[tuple[int, int], tuple[int, int], str, str, str], ...]: ...
def choose_index(request: str | None, /) -> tuple[tuple[int, int], tuple[int, int], str, str, str] | None: ...
def missing_library(name: str, is_of_system: bool, /) -> tuple[Code, str | None, dict[str, str]]: ...
def host_packages() -> tuple[tuple[str, str, str, str, str, str], ...]: ...
def soname_releases() -> tuple[tuple[str, tuple[int, int], tuple[int, int]], ...]: ...
def problem_texts(
    code: str, path: str | None, facts: dict[str, str], installation: dict[str, str], /
) -> tuple[str, str, str | None, bool]: ...
def explain_load(
    site: str, path: str, dlerror_text: str, fallback: str | None = None, /
) -> tuple[Code, str | None, dict[str, str]]: ...
