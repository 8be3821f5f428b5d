"""`rocm-sdk install` from an index of each shape: which packages it takes for which machines, and that they load."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from package_index import serve
from programs import completed
from sample_machine import machine_of

sys.path.append(str(Path(__file__).parent))  # modules beside this file are imported by name

from made_indexes import AMD, OWN, write_shape

Run = Callable[..., subprocess.CompletedProcess[str]]
INSTALLERS = ("pip", "uv")
pytestmark = pytest.mark.built_wheel


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Yield a function for the address of an index of a shape, which is made when it is first asked for."""
    directory = tmp_path_factory.mktemp("shapes")
    server = serve(directory)
    root = next(server).removesuffix("simple/")
    made: dict[str, str] = {}

    def address(shape: str) -> str:
        if shape not in made:
            place = write_shape(directory / shape.replace(" ", "-").replace(",", ""), shape)
            made[shape] = f"{root}{place.relative_to(directory)}/simple/"
        return made[shape]

    yield address
    next(server, None)


# Shape, GPUs of the machine, and the requirements; or what is said if there are none.
CASES: list[tuple[str, tuple[str, ...], str]] = [
    ("split", ("gfx1100",), "rocm[libraries,device-gfx1100]"),
    ("split", ("gfx942",) * 8, "rocm[libraries,device-gfx942]"),
    ("split", ("gfx942", "gfx1100"), "rocm[libraries,device-gfx942,device-gfx1100]"),
    ("split", ("gfx942", "gfx1201"), "rocm 7.1.2 has no package for gfx1201 (rocm-sdk-device-gfx1201)"),
    ("split for one", ("gfx942",) * 8, "rocm[libraries] rocm-sdk-device-gfx942"),
    ("split for one", ("gfx1100",), "rocm 7.1.2 has no package for gfx1100"),
    ("family", ("gfx1100",) * 8, "rocm[libraries]"),
    ("family", ("gfx1101", "gfx1103"), "rocm[libraries]"),
    ("family", ("gfx942", "gfx1100"), "has no code for gfx942: it has that for gfx110X-all"),
    ("prefix", ("gfx90a",) * 8, "rocm[libraries]"),
    ("prefix", ("gfx90a", "gfx1030"), "rocm[libraries]"),
    ("prefix", ("gfx1100",), "has no code for gfx1100: it has that for gfx90a, gfx942, gfx1030"),
    ("prefix", ("gfx1031",), "The code for gfx1030 is nearest"),
    ("prefix, split", ("gfx90a", "gfx1030"), "rocm[libraries,device-gfx90a,device-gfx1030]"),
    ("prefix, families", ("gfx90a",), "rocm[libraries]"),
    ("prefix, families", ("gfx1030",), "has no code for gfx1030: it has that for gfx90a"),
    ("closure", ("gfx90a",) * 8, "rocm[libraries]"),
    ("closure", ("gfx1201",), "has no code for gfx1201"),
    ("multi-arch", ("gfx942",) * 64, "rocm[libraries,device-gfx942]"),
    ("multi-arch", ("gfx1103",), "rocm 7.1.2 has no package for gfx1103"),
    ("one family", ("gfx1100", "gfx1101"), "rocm[libraries]"),
    ("one family", ("gfx1201",), "has no code for gfx1201: it has that for gfx110x-all"),
]
FIRST = {shape: (shape, gpus, words) for shape, gpus, words in reversed(CASES)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("installer", "case"), [*(("uv", case) for case in CASES), *(("pip", case) for case in FIRST.values())]
)
def test_what_it_takes(
    install: Run,
    tmp_path: Path,
    addresses: Callable[[str], str],
    installer: str,
    case: tuple[str, tuple[str, ...], str],
) -> None:
    shape, gpus, words = case
    root = str(machine_of(tmp_path / "other", *gpus).root)
    options = ("sdk", "--print", "--format", "requirements", "--installer", installer)
    said = install(*options, status=None, ROCM_SDK_ROOTFS=root, ROCM_SDK_INDEX=addresses(shape))
    if said.returncode == 0:
        version = said.stderr.partition("ROCm ")[2].partition(",")[0]
        assert said.stdout.splitlines()[1:] == [f"{each}=={version}" for each in words.split()]
    else:
        assert words in said.stderr
        assert said.stdout == ""


def test_no_gpu(install: Run, tmp_path: Path, addresses: Callable[[str], str]) -> None:
    (tmp_path / "none/dev").mkdir(parents=True)
    variables = {"ROCM_SDK_ROOTFS": str(tmp_path / "none"), "ROCM_SDK_INDEX": addresses("prefix")}
    assert "name it: rocm-sdk install " in install("sdk", "--print", status=1, **variables).stderr
    assert "rocm[libraries]==" in install("sdk", "--print", "--gpu", "gfx942", "--installer", "uv", **variables).stdout


LOADS = """
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
print(next(each.location.path for each in rocm_sdk.loaded_libraries() if each.location.shortname == "amdhip64"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("installer", "shape"), [*(("uv", shape) for shape in OWN), ("pip", "prefix")])
def test_it_installs_and_loads(
    install: Run, python: Path, addresses: Callable[[str], str], installer: str, shape: str
) -> None:
    gpu = next(gpus[0] for name, gpus, words in CASES if name == shape and words.startswith("rocm["))
    variables = {"ROCM_SDK_INDEX": addresses(shape)}
    words = ("sdk", "--gpu", gpu, "--yes", "--installer", installer)
    said = install(*words, status=None, python=python, **variables)
    (site,) = python.parent.parent.glob("lib/python3*/site-packages")
    assert list(site.glob("rocm_sdk_core-*.dist-info")), said.stdout + said.stderr
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ROCM_"))}
    if shape == "closure":  # which requires no loader
        python, kept = Path(sys.executable), kept | {"ROCM_SDK_ROOT": str(site)}
    loaded = completed([str(python), "-c", LOADS], env=kept)
    assert loaded.stdout.startswith(str(site)), loaded.stderr
    again = install(*words, python=site.parents[2] / "bin/python", **variables)
    assert "already has all of it" in again.stdout


@pytest.mark.slow
@pytest.mark.parametrize("installer", INSTALLERS)
def test_a_directory(install: Run, python: Path, tmp_path: Path, installer: str) -> None:
    """The installer pip takes no path: the fix is the address of the directory, from which packages are installed."""
    place = write_shape(tmp_path / "an index", "prefix")
    words = ("sdk", "--gpu", "gfx942", "--yes", "--installer", installer)
    for named in (str(place.relative_to(tmp_path)), str(place), place.as_uri(), f"{place}/simple"):
        said = install(*words, status=1, python=python, ROCM_SDK_INDEX=named)
        assert said.stderr.splitlines()[-1] == f"  fix: export ROCM_SDK_INDEX={place.as_uri()}/simple"
    done = install(*words, status=None, python=python, ROCM_SDK_INDEX=said.stderr.rstrip().rpartition("=")[2])
    (site,) = python.parent.parent.glob("lib/python3*/site-packages")
    assert list(site.glob("rocm_sdk_core-*.dist-info")), done.stdout + done.stderr
    assert "only the installer reads a directory: the check after the installation finds out" in done.stderr


def test_a_directory_without_pages(install: Run, tmp_path: Path) -> None:
    (tmp_path / "dist/rocm").mkdir(parents=True)
    for named in ("dist", (tmp_path / "dist").as_uri()):
        said = install("sdk", "--gpu", "gfx942", status=1, ROCM_SDK_INDEX=named)
        assert f"names has no page of rocm: {tmp_path}/dist/rocm/index.html" in said.stderr
        assert said.stderr.endswith(f"fix: rocm-sdk-build index {tmp_path}/dist\n")
    gone = install("sdk", "--gpu", "gfx942", status=1, ROCM_SDK_INDEX=(tmp_path / "gone").as_uri())
    assert "neither the address of a web server nor a directory" in gone.stderr


def test_each_shape_is_tried() -> None:
    assert {shape for shape, _, _ in CASES} == OWN.keys() | AMD.keys()
