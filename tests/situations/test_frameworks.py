"""Frameworks of November 2026: what their modules ask of an SDK, and what is said before it fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import completed
from sample_site import CORE, Site, clean_environment, compile_library

import rocm_sdk

# As triton 3.9 does it (triton/backends/amd/driver.py), in short.
DRIVER = """
import os
import rocm_sdk

def hip():
    if chosen := os.environ.get("TRITON_LIBHIP_PATH"):
        return chosen
    try:
        ours = str(rocm_sdk.find_libraries("amdhip64")[0])
    except (ImportError, ModuleNotFoundError, FileNotFoundError):
        return None
    with open("/proc/self/maps") as maps:
        loaded = [line.split()[-1] for line in maps if "/libamdhip64.so" in line]
    if loaded and not os.path.samefile(loaded[0], ours):
        raise RuntimeError(f"{loaded[0]} is loaded already")
    return ours
"""
RUN = "from triton.backends.amd import driver; print(driver.hip())"


def distribution(site: Site, name: str, version: str, files: dict[str, str], metadata: str = "") -> None:
    """Write an installed distribution."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    files = files | {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"}
    for path, text in files.items():
        site.write(path, text)
    site.write(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD")))


def said(site: Site, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    values = clean_environment() | {"PYTHONPATH": str(site.path)} | environment
    return completed([sys.executable, "-m", "rocm_sdk", *words], env=values)


def found(site: Site, *words: str, **environment: str) -> dict[str, dict[str, str]]:
    """Return the facts of the problems of a command, by code."""
    document = json.loads(said(site, *words, "--json", **environment).stdout)
    problems = document["verdicts"][0]["problems"] if words[0] == "check" else document["problems"]
    return {each["code"]: each["facts"] | {"fix": each["fix"]} for each in problems}


@pytest.fixture
def with_hip(tmp_path: Path) -> Site:
    site = Site(tmp_path / "site-packages", rpath="runpath")
    site.library("libamdhip64.so.7", "int hipInit(unsigned flags) { return flags; }")
    return site


# ---- triton


@pytest.fixture(params=["triton", "pytorch-triton-rocm"])
def with_triton(with_hip: Site, request: pytest.FixtureRequest) -> Site:
    """Return a site with a triton, which has one of several names."""
    files = {"triton/__init__.py": "", "triton/backends/__init__.py": "", "triton/backends/amd/__init__.py": ""}
    distribution(with_hip, request.param, "3.9.0", files | {"triton/backends/amd/driver.py": DRIVER})
    return with_hip


def name_of(site: Site) -> str:
    (info,) = site.path.glob("*triton*.dist-info")
    return info.name.partition("-")[0].replace("_", "-")


def other_hip(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return compile_library(directory / "libamdhip64.so.7", "libamdhip64.so.7", "int hipInit(int f) { return f + 1; }")


@pytest.mark.parametrize("way", ["LD_PRELOAD", "LD_LIBRARY_PATH", "torch"])
def test_a_hip_that_triton_refuses(with_triton: Site, tmp_path: Path, way: str) -> None:
    hip = other_hip(with_triton.path / "torch/lib" if way == "torch" else tmp_path / "other")
    variables = {"LD_PRELOAD": str(hip), "LD_LIBRARY_PATH": str(hip.parent)}
    environment = {way: variables[way]} if way in variables else {}
    first = "" if way == "LD_PRELOAD" else "import ctypes; ctypes.CDLL('libamdhip64.so.7', mode=256); "
    if way == "torch":
        distribution(with_triton, "torch", "2.14.1", {"torch/__init__.py": ""})
        (record,) = with_triton.path.glob("torch-*/RECORD")
        record.write_text(f"torch/lib/libamdhip64.so.7,,\n{record.read_text()}")
        first = f"import ctypes; ctypes.CDLL({str(hip)!r}, mode=256); "
    struck = with_triton.run(first + RUN, check=False, **environment)
    assert "RuntimeError" in struck.stderr
    facts = found(with_triton, "check", name_of(with_triton), **environment)["W-LIB-031"]
    ours = with_triton.path / CORE / "lib/libamdhip64.so.7"
    assert (facts["library"], facts["other"]) == (str(hip), str(ours))
    assert facts["source"].startswith(way)
    if way != "torch":
        assert facts["fix"].split("  #")[0] == f"unset {way}"
        assert "W-LIB-031" not in found(with_triton, "check", name_of(with_triton))
    chosen = environment | {"TRITON_LIBHIP_PATH": str(hip)}
    assert with_triton.output(first + RUN, **chosen) == str(hip)
    assert "W-LIB-031" not in found(with_triton, "check", name_of(with_triton), **chosen)
    said_by_test = found(with_triton, "test", "--only", "packages,environment", **environment)
    if way == "LD_LIBRARY_PATH":  # one cause is one problem
        assert "W-LIB-031" not in said_by_test
        assert "triton 3.9.0 does not run with another HIP" in said_by_test["W-ENV-001"]["more"]
    else:
        assert said_by_test["W-LIB-031"]["library"] == str(hip)


def test_the_same_file_by_another_name_is_not_refused(with_triton: Site, tmp_path: Path) -> None:
    linked = tmp_path / "linked/libamdhip64.so.7"
    linked.parent.mkdir()
    os.link(with_triton.path / CORE / "lib/libamdhip64.so.7", linked)
    environment = {"LD_LIBRARY_PATH": str(linked.parent)}
    with_triton.run(f"import ctypes; ctypes.CDLL('libamdhip64.so.7', mode=256); {RUN}", **environment)
    assert "W-LIB-031" not in found(with_triton, "check", name_of(with_triton), **environment)


def test_an_older_triton_does_not_compare(with_hip: Site, tmp_path: Path) -> None:
    distribution(with_hip, "triton", "3.7.0", {"triton/backends/amd/driver.py": "import os\n"})
    environment = {"LD_PRELOAD": str(other_hip(tmp_path / "other"))}
    assert "W-LIB-031" not in found(with_hip, "check", "triton", **environment)


@pytest.mark.parametrize("name", ["libamdhip64.so.7", "libamdhip64.so"])
def test_a_running_process_with_a_hip_that_triton_refuses(with_triton: Site, tmp_path: Path, name: str) -> None:
    hip = other_hip(tmp_path / "other")
    path = hip.rename(hip.with_name(name))
    code = f"import ctypes; ctypes.CDLL({str(path)!r}); import rocm_sdk; "
    code += "print(*(f'{each.code} {each.path}' for each in rocm_sdk.check_process()))"
    assert with_triton.output(code) == f"W-LIB-031 {path}"
    assert with_triton.output(code, TRITON_LIBHIP_PATH=str(path)) == ""


@pytest.mark.parametrize(
    ("damage", "kind"),
    [("ROCM_SDK_ROOT", ImportError), ("metadata", ImportError), ("ROCM_SDK_LIBRARY_amdhip64", OSError)],
)
def test_triton_falls_back_and_the_user_is_told(with_triton: Site, damage: str, kind: type[Exception]) -> None:
    """Triton takes another HIP in silence, for what it catches of find_libraries is not shown."""
    environment = {damage: "/nowhere"} if damage != "metadata" else {}
    if damage == "metadata":
        with_triton.write("rocm_sdk_core/_dist_info.py", "x = broken(\n")
    done = with_triton.run(RUN, **environment)
    assert done.stdout == "None\n"
    assert "RocmSdkWarning" in done.stderr
    assert ("rocm-sdk explain" if damage == "metadata" else f"unset {damage}") in done.stderr
    asked = "import rocm_sdk, warnings; warnings.simplefilter('ignore'); rocm_sdk.find_libraries('amdhip64')"
    assert kind.__name__ in with_triton.output(
        f"try:\n  {asked}\nexcept Exception as error:\n  print([each.__name__ for each in type(error).__mro__])",
        **environment,
    )


def test_no_sdk_is_no_warning(tmp_path: Path) -> None:
    empty = Site(tmp_path / "empty")
    for directory in ("rocm_sdk_core", CORE):
        for path in (empty.path / directory).iterdir():
            path.unlink()
        (empty.path / directory).rmdir()
    done = empty.run(
        "import rocm_sdk\ntry: rocm_sdk.find_libraries('amdhip64')\nexcept ImportError: print('ImportError')"
    )
    assert (done.stdout, done.stderr) == ("ImportError\n", "")


@pytest.mark.parametrize(
    "kind",
    [
        *("UnknownLibraryError", "PackageNotInstalledError", "LibraryNotFoundError", "LibraryAccessError"),
        *("BadLibraryError", "BadMetadataError", "EnvironmentOverrideError", "TopologyError"),
    ],
)
def test_what_find_libraries_raises(kind: str) -> None:
    assert issubclass(getattr(rocm_sdk, kind), (ImportError, FileNotFoundError))


# ---- JAX

SUPPORT = '_PLUGIN_MODULE_NAMES = {{"rocm": [{}]}}\n'


def with_jax(site: Site, support: str, versions: str = "0.12.0 0.12.0 0.12.0 0.11.1", metadata: str = "") -> Site:
    of_jax, of_plugin, of_pjrt, of_jaxlib = versions.split()
    distribution(site, "jax", of_jax, {"jax/__init__.py": ""})
    distribution(site, "jaxlib", of_jaxlib, {"jaxlib/plugin_support.py": SUPPORT.format(support)})
    distribution(site, "jax-rocm10-plugin", of_plugin, {"jax_rocm10_plugin/__init__.py": ""}, metadata)
    distribution(site, "jax-rocm10-pjrt", of_pjrt, {"jax_plugins/xla_rocm10/__init__.py": ""})
    return site


KNOWN = '"jax_rocm10_plugin", "jax_rocm7_plugin"'


@pytest.mark.parametrize("name", ["jax", "jaxlib", "jax-rocm10-plugin"])
def test_a_jaxlib_that_does_not_know_the_plugin(with_hip: Site, name: str) -> None:
    """The file counts, and not the version: AMD patches installed copies."""
    with_jax(with_hip, '"jax_rocm7_plugin", "jax_rocm60_plugin"')
    facts = found(with_hip, "check", name)["E-PKG-031"]
    assert facts["known"] == "jax_rocm7_plugin, jax_rocm60_plugin"
    assert "E-PKG-031" in found(with_hip, "test", "--only", "packages")
    with_hip.write("jaxlib/plugin_support.py", SUPPORT.format(KNOWN))
    assert "E-PKG-031" not in found(with_hip, "check", name)


@pytest.mark.parametrize("versions", ["0.12.0 0.12.0 0.11.1 0.12.0", "0.11.1 0.12.0 0.12.0 0.12.0"])
def test_jax_and_plugins_of_different_versions(with_hip: Site, versions: str) -> None:
    with_jax(with_hip, KNOWN, versions)
    detail = found(with_hip, "check", "jax")["E-PKG-032"]["detail"]
    assert "0.11.1" in detail
    assert "jaxlib" not in detail
    assert "E-PKG-032" in found(with_hip, "test", "--only", "packages")


def test_a_sound_jax(with_hip: Site) -> None:
    with_jax(with_hip, KNOWN)
    assert found(with_hip, "check", "jax").keys().isdisjoint({"E-PKG-031", "E-PKG-032", "N-PKG-033"})


def test_the_extra_whose_packages_are_nowhere(with_hip: Site) -> None:
    metadata = 'Provides-Extra: with-rocm\nRequires-Dist: amd_rocm_hip_runtime_instinct; extra == "with-rocm"\n'
    with_jax(with_hip, KNOWN, metadata=metadata)
    assert "jax-rocm10-plugin" in found(with_hip, "check", "jax")["N-PKG-033"]["distribution"]


# ---- TransformerEngine


def with_engine(site: Site, text: str = "import rocm_sdk\n") -> Site:
    distribution(
        site,
        "rocm-sdk-core",
        "7.10.0",
        {"rocm_sdk_core/_dist_info.py": (site.path / "rocm_sdk_core/_dist_info.py").read_text()},
    )
    distribution(site, "transformer-engine", "2.9.0", {"transformer_engine/common/__init__.py": text})
    return site


no_rocm = pytest.mark.skipif(Path("/opt/rocm").is_dir(), reason="this machine has /opt/rocm, which the import takes")


@no_rocm
def test_an_import_that_extracts_the_tree(with_hip: Site) -> None:
    with_engine(with_hip)
    assert "is not installed" in found(with_hip, "test", "--only", "packages")["W-DEVEL-016"]["detail"]
    assert "W-DEVEL-016" not in found(with_hip, "test", "--only", "packages", ROCM_PATH="/x")
    with_engine(with_hip, "import cudnn\n")  # NVIDIA's
    assert "W-DEVEL-016" not in found(with_hip, "test", "--only", "packages")


# ---- amdsmi

WRAPPER = """_libraries = {}
amdsmi_init = _libraries['libamd_smi.so'].amdsmi_init
amdsmi_old = _libraries['libamd_smi.so'].amdsmi_old
"""


@pytest.mark.parametrize("functions", ["int amdsmi_init(void) { return 0; }", "int amdsmi_init, amdsmi_old;"])
def test_functions_that_amdsmi_binds(with_hip: Site, functions: str) -> None:
    with_hip.library("libamd_smi.so.27", functions)
    distribution(with_hip, "amdsmi", "7.0.2", {"amdsmi/amdsmi_wrapper.py": WRAPPER})
    names = [facts["name"] for code, facts in found(with_hip, "check", "amdsmi").items() if code == "W-LIB-032"]
    assert names == ([] if "amdsmi_old" in functions else ["amdsmi_old"])


def test_the_codes_of_frameworks_are_asked_for_by_themselves(with_triton: Site, tmp_path: Path) -> None:
    environment = {"LD_PRELOAD": str(other_hip(tmp_path / "other"))}
    assert "W-LIB-031" in found(with_triton, "test", "--only", "W-LIB-031", **environment)
