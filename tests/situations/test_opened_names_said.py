"""The openers of a name without version that no file has, and the words of check FILE, tree, test and the builder."""

import json
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from build_command import build_command
from programs import completed
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library, run_interpreter

from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.building.wish import Wish
from rocm_sdk_build.inputs.rules import read_rules

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Call = Callable[..., subprocess.CompletedProcess[str]]
PLAIN = "a plain dlopen finds nothing"
# Name -> what answers, where the file with a version is there.
ANSWERS = {
    "libamd_smi.so": "`rocm-sdk run` answers, and a process in which rocm_sdk has loaded amd_smi",
    "libhipsparse.so": "nothing answers, unless ROCM_SDK_UNVERSIONED_NAMES=1",
    "libhsa-runtime64.so": "`rocm-sdk run` answers, and a process in which rocm_sdk has loaded rccl",
}


@pytest.fixture
def sdk(site: Site) -> Site:
    """Return an SDK whose libraries have names with a version; RCCL opens a name without one."""
    hsa = site.library("libhsa-runtime64.so.1")
    site.library("libamdhip64.so.7", needed=(hsa,))
    site.library("libamd_smi.so.26")
    site.library("librccl.so.1", opens("libhsa-runtime64.so"), package=LIBRARIES)
    site.library("libhipsparse.so.4", package=LIBRARIES)
    return site


@pytest.fixture
def call(sdk: Site) -> Call:
    """Return a function that runs `rocm-sdk` with the words; keywords are environment variables."""

    def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = clean_environment() | {"PYTHONPATH": str(sdk.path)} | environment
        return completed([SCRIPT, *words], env=variables)

    return run


def opens(name: str) -> str:
    """Return the source of a library that opens another by name."""
    return f'#include <dlfcn.h>\nvoid *opened(void) {{ return dlopen("{name}", RTLD_NOW); }}'


def is_found_by_a_plain_dlopen(binding: Path, **environment: str) -> bool:
    """Return whether the judge, the linker, finds the name in a process that has loaded nothing else."""
    code = f"import ctypes; own = ctypes.CDLL({str(binding)!r}); own.opened.restype = ctypes.c_void_p"
    return "True" in run_interpreter("-c", f"{code}; print(bool(own.opened()))", **environment).stdout


@pytest.mark.parametrize("name", ANSWERS)
def test_check_and_tree(call: Call, tmp_path: Path, name: str) -> None:
    binding = compile_library(tmp_path / "binding.so", None, opens(name))
    assert not is_found_by_a_plain_dlopen(binding)
    said = call("check", binding)
    text = " ".join(said.stdout.split())
    assert f"{binding}: loads" in text
    assert f"N-LIB-027: it opens {name}, and no file has that name: there is {name}." in text
    assert f"{PLAIN}; {ANSWERS[name]}" in text
    (note,) = json.loads(call("check", "--json", binding).stdout)["verdicts"][0]["problems"]
    assert (note["code"], note["severity"], note["facts"]["name"]) == ("N-LIB-027", "note", name)
    drawn = call("tree", binding)
    steps = json.loads(call("tree", "--json", binding).stdout)["steps"]
    if name == "libhipsparse.so":
        assert len(steps) == 1, "nothing is drawn as found"
        assert f"{binding} may open {name} by name: there is {name}.4: {PLAIN}; {ANSWERS[name]}" in drawn.stderr
    else:
        assert [each["method"] for each in steps] == ["read", "answered"]
        assert ANSWERS[name] in steps[1]["answer"]
        assert f"answered: {binding} may open {name} by name; there is {name}." in drawn.stdout


@pytest.mark.parametrize("place", ["RUNPATH", "LD_LIBRARY_PATH"])
def test_a_link_answers(call: Call, sdk: Site, tmp_path: Path, place: str) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links/libamd_smi.so").symlink_to(sdk.path / CORE / "lib/libamd_smi.so.26")
    flags = (f"-Wl,-rpath,{tmp_path}/links",) if place == "RUNPATH" else ()
    binding = compile_library(tmp_path / "binding.so", None, opens("libamd_smi.so"), flags=flags)
    environment = {"LD_LIBRARY_PATH": f"{tmp_path}/links"} if place == "LD_LIBRARY_PATH" else {}
    assert is_found_by_a_plain_dlopen(binding, **environment)
    assert "N-LIB-027" not in call("check", binding, **environment).stdout
    assert [each["method"] for each in json.loads(call("tree", "--json", binding, **environment).stdout)["steps"]] == [
        "read",
        "named",
    ]


def test_a_package_of_pure_python(call: Call, sdk: Site) -> None:
    """The package amdsmi has no library: its Python opens the name."""
    sdk.write("amdsmi-7.0.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: amdsmi\nVersion: 7.0.2\n")
    sdk.write("amdsmi-7.0.2.dist-info/RECORD", "amdsmi/__init__.py,,\n")
    sdk.write("amdsmi/__init__.py")
    text = " ".join(call("check", "amdsmi").stdout.split())
    assert f"opens libamd_smi.so, and no file has that name: there is libamd_smi.so.26: {PLAIN}" in text


def test_the_self_test_names_what_the_sdk_opens(call: Call) -> None:
    said = call("test", "--only", "libraries", "--json")
    notes = [each for each in json.loads(said.stdout)["problems"] if each["code"] == "N-LIB-027"]
    assert said.returncode == 0
    assert [each["title"] for each in notes] == ["librccl.so.1 opens libhsa-runtime64.so, and no file has that name"]
    assert ANSWERS["libhsa-runtime64.so"] in notes[0]["cause"]


def test_the_builder_names_what_packages_open(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts", kpack=False)
    library = tree.place("rocprofiler-systems_lib_generic", "lib/librocprof-sys.so.1")
    library.unlink()
    compile_library(library, "librocprof-sys.so.1", opens("libamdhip64.so"))
    dist = tmp_path / "dist"
    families = "gfx110X-all,gfx94X-dcgpu"
    build(Wish([tree.root], dist, "7.10.0", linux_families=families, is_checked=False, dist=dist), read_rules())
    done = build_command("check", dist, "--json")
    assert done.returncode == 0, done.stdout
    opened = json.loads(done.stdout)["opened"][-1]  # the package has the library under its name without version, too
    assert (Path(opened["opener"]).name, opened["name"]) == ("librocprof-sys.so.1", "libamdhip64.so")
    assert opened["answer"].endswith("a process in which rocm_sdk has loaded amdhip64")
    text = build_command("check", dist).stdout
    assert "librocprof-sys.so.1 opens libamdhip64.so, and no package has it: there is libamdhip64.so.7" in text
