"""The neighbours, as they are released: AMD's bindings, torch, its ways to start processes, a notebook's kernel.

Neighbours that have to be downloaded are skipped where that is impossible; a run in which none was tried fails.
"""

import ast
import json
import os
import re
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from debian_sdk import rocm
from ended import succeeded
from fetched_packages import BUILD, install, install_torch, tag
from linker_bindings import compare, debugging, linker_bindings
from programs import completed
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library, run_python

from rocm_sdk._dist_info import ALL_LIBRARIES

pytestmark = pytest.mark.slow

BINDINGS = (
    "rocm-bindings-core==10.0.0.0.1.2",
    "rocm-bindings-hip==10.0.0.0.1.2",
    "rocm-bindings-libraries==10.0.0.0.1.2",
)

KERNEL = ("ipykernel==7.4.0",)
AMDSMI = ("amdsmi==7.0.2",)  # AMD's, which has no library of its own and opens libamd_smi.so

# The names that torch's builds preload (packaging specification, section 8).
NAMES_OF_TORCH = (
    *("amd_comgr", "amd_smi", "amdhip64", "hiprtc", "hipblas", "hipfft", "hiprand", "hipsparse", "hipsparselt"),
    *("hipsolver", "hipblaslt", "miopen", "hipdnn", "rocm_sysdeps_liblzma", "rocm-openblas", "rocm_smi64"),
    *("rocprofiler-sdk", "rocprofiler-sdk-roctx", "roctracer64", "roctx64", "rccl", "hipfile"),
)

tried: set[str] = set()


def installed(name: str, *requirements: str, alone: bool = True) -> Path:
    directory = BUILD / f"{name}-{tag()}"
    if problem := install(directory, *requirements, alone=alone):
        pytest.skip(f"{name} cannot be installed for this Python: {problem}")
    tried.add(name)
    return directory


@pytest.fixture(scope="module")
def bindings() -> Path:
    return installed("bindings", *BINDINGS)


@pytest.fixture(scope="module")
def torch() -> Path:
    directory, problem = install_torch()
    if problem:
        pytest.skip(f"no CPU build of torch can be installed for this Python: {problem}")
    tried.add("torch")
    return directory


@pytest.fixture(scope="module")
def kernel() -> Path:
    return installed("ipykernel", *KERNEL, alone=False)


@pytest.fixture(scope="module")
def amdsmi() -> Path:
    return installed("amdsmi", *AMDSMI)


def torch_with_hook(torch: Path, directory: Path, names: tuple[str, ...], version: str) -> Path:
    """Return a directory with torch, whose `_rocm_init.py` is as in a build for ROCm."""
    package = directory / "torch"
    package.mkdir()
    for entry in (torch / "torch").iterdir():
        (package / entry.name).symlink_to(entry)
    (package / "_rocm_init.py").write_text(
        "\ndef initialize():\n    import rocm_sdk\n    rocm_sdk.initialize_process(\n"
        f"        preload_shortnames={[*names]!r},\n        check_version={version!r})\n"
    )
    return directory


@pytest.fixture
def whole_site(site: Site) -> Site:
    """Return an SDK that has every library of the catalog."""
    for entry in ALL_LIBRARIES.values():
        package = LIBRARIES if entry.package.logical_name == "libraries" else CORE
        name = entry.so_pattern.replace("[-.]", ".").replace("*", ".1", 1).replace("*", "").replace("..", ".")
        site.library(name, package=package, directory=entry.posix_relpath)
    return site


def test_bindings_call_what_we_preloaded(debian_sdk: Callable[[str], Path], bindings: Path) -> None:
    """Without RPATHs: the bindings ask find_libraries for the file, and its dependencies are in the process already."""
    program = """
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hiprand"])
from rocm.bindings import hip, hiprand
print(hip.hipRuntimeGetVersion())
print(hip.hipGetDeviceCount())
print(hiprand.hiprandGetVersion())
"""
    result = run_python(program, PYTHONPATH=f"{debian_sdk('none')}:{bindings}")
    version, devices, random_version = result.stdout.splitlines()
    assert rocm().hip_version in version
    assert "hipErrorNoDevice" in devices or "hipSuccess" in devices
    assert rocm().rocrand_version in random_version


def test_bindings_fail_without_us(debian_sdk: Callable[[str], Path], bindings: Path) -> None:
    """So that the test above shows something."""
    program = "from rocm.bindings import hip\nprint(hip.hipRuntimeGetVersion())"
    result = run_python(program, check=False, PYTHONPATH=f"{debian_sdk('none')}:{bindings}")
    assert result.returncode != 0


def test_import_torch_brings_the_libraries_in(debian_sdk: Callable[[str], Path], torch: Path, tmp_path: Path) -> None:
    """A CPU torch imports `torch._rocm_init` like every other, and calls its initialize()."""
    names = ("amd_comgr", "amd_smi", "amdhip64", "hiprand", "hipsparse", "hipblaslt")
    torch_with_hook(torch, tmp_path, names, rocm().version)
    program = """
import torch, rocm_sdk
names = (library.location.shortname for library in rocm_sdk.loaded_libraries())
print(torch.__version__, *(name for name in names if name in ("amd_comgr", "amdhip64", "hiprand", "hipsparse")))
import ctypes
version = ctypes.c_int()
hip = ctypes.CDLL(str(rocm_sdk.find_libraries("amdhip64")[0]))
print(hip.hipRuntimeGetVersion(ctypes.byref(version)), version.value, torch.ones(3).sum().item())
"""
    result = run_python(program, PYTHONPATH=f"{tmp_path}:{debian_sdk('none')}:{torch}")
    first, second = result.stdout.splitlines()
    assert first.split()[1:] == ["amd_comgr", "amdhip64", "hiprand", "hipsparse"]
    assert second == "0 50221153 3.0"


def test_import_torch_with_all_its_names(whole_site: Site, torch: Path, tmp_path: Path) -> None:
    torch_with_hook(torch, tmp_path, NAMES_OF_TORCH, "7.10.0")
    program = """
import warnings
import rocm_sdk
warnings.simplefilter("error", rocm_sdk.RocmSdkWarning)
import torch
print(*(library.location.shortname for library in rocm_sdk.loaded_libraries() if library.requested))
"""
    result = run_python(program, PYTHONPATH=f"{tmp_path}:{whole_site.path}:{torch}")
    assert result.stdout.split() == [*NAMES_OF_TORCH]


SMI = """
int rsmi_init(void) {{ return {number}; }} int rsmi_count(void) {{ return {number}; }}
int {name}_asks(void) {{ return 10 * rsmi_init() + rsmi_count(); }}
"""


def add_both_smi(site: Site, more: str = "") -> None:
    """Add rocm_smi64 with one device, and amd_smi, which contains its functions, with two; rccl needs the former."""
    rocm_smi = site.library("librocm_smi64.so.7", SMI.format(number=1, name="smi"))
    site.library("libamd_smi.so.26", SMI.format(number=2, name="amdsmi") + more)
    site.library(
        "librccl.so.1", "int smi_asks(void); int rccl_asks(void) { return smi_asks(); }", (rocm_smi,), LIBRARIES
    )


def test_torch_finds_both_smi_libraries(whole_site: Site, torch: Path, tmp_path: Path) -> None:
    """amd_smi by dlsym(RTLD_DEFAULT), rccl and rocm_smi64 by DT_NEEDED, though both are not global."""
    add_both_smi(whole_site)
    rccl = whole_site.path / LIBRARIES / "lib/librccl.so.1"
    needing = compile_library(
        tmp_path / "libtorch_hip.so",
        "libtorch_hip.so",
        "int rccl_asks(void); int ask(void) { return rccl_asks(); }",
        (rccl,),
    )
    torch_with_hook(torch, tmp_path, NAMES_OF_TORCH, "7.10.0")
    program = f"""
import torch, ctypes
process = ctypes.CDLL(None)
print(process.amdsmi_asks(), ctypes.CDLL({str(needing)!r}).ask(), hasattr(process, "rccl_asks"))
"""
    result = run_python(program, PYTHONPATH=f"{tmp_path}:{whole_site.path}:{torch}")
    assert result.stdout.split() == ["22", "11", "False"]


def test_amdsmi_uses_the_sdks_library(whole_site: Site, torch: Path, amdsmi: Path, tmp_path: Path) -> None:
    """The package opens libamd_smi.so, which no wheel has, and finds two devices: after `import torch` too."""
    wrapper = (amdsmi / "amdsmi/amdsmi_wrapper.py").read_text()
    functions = {*re.findall(r"_libraries\['libamd_smi.so'\]\.(amdsmi_\w+)", wrapper)} - {"amdsmi_get_socket_handles"}
    source = "".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(functions))
    count = "int amdsmi_get_socket_handles(unsigned *count, void **all) { *count = rsmi_count(); return 0; }\n"
    add_both_smi(whole_site, source + count)
    torch_with_hook(torch, tmp_path, NAMES_OF_TORCH, "7.10.0")
    ask = "import amdsmi; print(amdsmi.amdsmi_init(), len(amdsmi.amdsmi_get_socket_handles()))"
    for before in ("import torch", "import rocm_sdk; rocm_sdk.preload_libraries('rocm_smi64', 'amd_smi')"):
        result = run_python(f"{before}; {ask}", PYTHONPATH=f"{tmp_path}:{whole_site.path}:{torch}:{amdsmi}")
        assert result.stdout.split() == ["None", "2"], result.stderr


DISTRIBUTED = """
import sys
import torch, torch.distributed as distributed
import rocm_sdk
distributed.init_process_group("gloo")
number = torch.ones(1) * (distributed.get_rank() + 1)
distributed.all_reduce(number)
loaded = sum(library.requested for library in rocm_sdk.loaded_libraries())
with open(f"{sys.argv[1]}/rank-{distributed.get_rank()}", "w") as file:
    print(number.item(), loaded, rocm_sdk.check_process(), file=file)
distributed.destroy_process_group()
"""


def test_torch_distributed_run(whole_site: Site, torch: Path, tmp_path: Path) -> None:
    torch_with_hook(torch, tmp_path, NAMES_OF_TORCH, "7.10.0")
    script = tmp_path / "work.py"
    script.write_text(DISTRIBUTED)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    result = completed(
        [*launcher, str(script), str(tmp_path)],
        env=clean_environment() | {"PYTHONPATH": f"{tmp_path}:{whole_site.path}:{torch}", "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert [(tmp_path / f"rank-{rank}").read_text() for rank in (0, 1)] == ["3.0 22 ()\n"] * 2


def test_workers_of_pytest(site: Site, tmp_path: Path) -> None:
    """The workers of pytest-xdist load what they need, and a failure of ours comes back as an error of the test."""
    site.library("libroctx64.so.4", "int mark(void) { return 42; }")
    (tmp_path / "test_work.py").write_text(
        "import ctypes, pytest, rocm_sdk\n"
        "@pytest.mark.parametrize('number', range(6))\n"
        "def test_work(number, worker_id):\n"
        "    assert worker_id in {'gw0', 'gw1'}\n"
        "    rocm_sdk.initialize_process(preload_shortnames=['roctx64'], check_version='7.*')\n"
        "    assert ctypes.CDLL('libroctx64.so.4').mark() == 42\n"
        "def test_missing():\n"
        "    rocm_sdk.find_libraries('hipsparse')\n"
    )
    command = [sys.executable, "-m", "pytest", "-n2", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    result = completed(
        [*command, "-W", "error", str(tmp_path)], cwd=tmp_path, env=clean_environment() | {"PYTHONPATH": str(site.path)}
    )
    assert "1 failed, 6 passed" in result.stdout, result.stdout
    assert "rocm_sdk.errors.LibraryNotFoundError: " in result.stdout


NOTEBOOK = """
import sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3")
try:
    for cell in sys.argv[1:]:
        said = []
        client.execute_interactive(cell, timeout=60, output_hook=lambda message: said.append(message["content"]))
        print([content.get("text") or content.get("data", {}).get("text/plain") or content.get("ename")
               for content in said if not {"execution_state", "code"} & content.keys()])
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def test_a_kernel_of_a_notebook(site: Site, kernel: Path, tmp_path: Path) -> None:
    site.library("libroctx64.so.4", "int mark(void) { return 42; }")
    cells = (
        "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['roctx64'])",
        "import ctypes; ctypes.CDLL('libroctx64.so.4').mark()",
        "rocm_sdk.initialize_process(check_version='6.*')",
        "rocm_sdk.find_libraries('hipsparse')",
        "len(rocm_sdk.loaded_libraries())",
    )
    spec = tmp_path / "jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python", "language": "python"}))
    result = completed(
        [sys.executable, "-c", NOTEBOOK, *cells],
        cwd=tmp_path,
        env=clean_environment() | {"PYTHONPATH": f"{site.path}:{kernel}", "JUPYTER_PATH": f"{tmp_path}/jupyter"},
    )
    assert result.returncode == 0, result.stderr
    answers = [ast.literal_eval(line) for line in result.stdout.splitlines()]
    assert answers[0] == []
    assert answers[1] == ["42"]
    assert len(answers[2]) == 1
    assert "The program was compiled against a ROCm version matching '6.*'" in answers[2][0]
    assert answers[3] == ["LibraryNotFoundError"]
    assert answers[4] == ["1"], "the error has loaded nothing, and the kernel goes on"


def test_virtual_environment_with_the_sdk_beside_an_editable_loader(
    debian_sdk: Callable[[str], Path], tmp_path: Path
) -> None:
    """The SDK and the loader reached through .pth files, as `pip install -e` leaves them."""
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    (site / "sdk.pth").write_text(f"{debian_sdk('none')}\n")
    import rocm_sdk

    (site / "loader.pth").write_text(f"{Path(rocm_sdk.__file__).parents[1]}\n")
    result = succeeded(
        [str(python), "-c", "import rocm_sdk; print(rocm_sdk.__version__, rocm_sdk.locate('amdhip64').path)"],
        env=clean_environment(),
    )
    assert result.stdout.split() == [rocm().version, f"{debian_sdk('none')}/_rocm_sdk_core/lib/libamdhip64.so.5"]


def test_neighbours_were_tried(request: pytest.FixtureRequest) -> None:
    """The last test of this file."""
    fixtures = {"bindings", "kernel", "torch"}
    here = [item for item in request.session.items if item.path == request.path]
    if not any(fixtures.intersection(getattr(item, "fixturenames", ())) for item in here):
        pytest.skip("no test of a neighbour that has to be downloaded was selected")
    assert tried, "none of AMD's bindings, torch and ipykernel could be installed"


def test_torch_binds_as_foreseen(torch: Path, debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """ROCm's libraries, and torch's own extension behind them: what the linker then does, to the last symbol."""
    (extension,) = (torch / "torch").glob("_C.cpython-*.so")
    names = ("amdhip64", "rocm_smi64", "amd_comgr", "hiprand", "hipsparse")
    foresee = f"""
import ctypes, json, rocm_sdk  # as below: ctypes brings libffi
found = rocm_sdk.bindings(*{names!r}, files=[{str(extension)!r}], every=True)
print(json.dumps([[*each[:4], each.verdict] for each in found.references]))
"""
    load = f"import ctypes, rocm_sdk; rocm_sdk.preload_libraries(*{names!r}); ctypes.CDLL({str(extension)!r})"
    path = f"{debian_sdk('none')}{os.pathsep}{torch}"
    references = json.loads(run_python(foresee, PYTHONPATH=path).stdout)
    run_python(load, PYTHONPATH=path, **debugging(tmp_path / "told"))
    counts = compare("foreseen", references, linker_bindings(tmp_path / "told"))
    assert counts["compared"] > 80_000
    assert not [each for each in references if each[4] in {"other-function", "other-object"}]
