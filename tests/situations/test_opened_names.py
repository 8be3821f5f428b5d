"""Names that libraries of ROCm open at run time: a request for the opener brings what it opens, by that name."""

import json
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from build_command import build_command
from command_fixtures import Call
from sample_site import CORE, DIST_INFO, LIBRARIES, Site, compile_library, run_interpreter

from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.wish import Wish

OPENS = """
#include <dlfcn.h>
void *opened(void) {{ return dlopen("{name}", RTLD_NOW); }}
int answer(void) {{
    void *found = opened();
    int (*own)(void) = found ? (int (*)(void))dlsym(found, "own") : 0;
    return own ? own() : 0;
}}
"""
OWN = "int own(void) { return 42; }"
OPENERS = {
    "amdhip64": "libhsa-runtime64.so.1",  # which it needs
    "hiprtc": "libhiprtc.so.7",
    "hsa-runtime64": "libhsa-runtime64.so.1",
    "rccl": "librccl.so.1",
    "rocprofiler-register": "librocprofiler-register.so.0",
    "rocsolver": "librocsolver.so.0",
}
# Number in the table of names, requested name, opened file, name by which it or what it needs opens it, a variable,
# version of the SDK, and whether it is found.
ROWS = """\
1  hsa-runtime64        librocdxg.so.1                 librocdxg.so                 rootfs=wsl             10.0.0 found
1  amdhip64             librocdxg.so.1                 librocdxg.so                 rootfs=wsl             10.0.0 found
1  hsa-runtime64        librocdxg.so.1                 librocdxg.so                 rootfs=none            10.0.0 not
2  hsa-runtime64        librocdxg.so.1                 librocdxg.so.1               rootfs=wsl             10.2.0 found
4  hsa-runtime64        libhsa-amd-aqlprofile64.so.1   libhsa-amd-aqlprofile64.so   -                      7.10.0 found
7  hiprtc               libamdhip64.so.7               libamdhip64.so               -                      7.1.0  found
9  rocprofiler-register librocprofiler-sdk.so.1        librocprofiler-sdk.so        ROCP_TOOL_LIBRARIES=/t 7.10.0 found
10 rocprofiler-register librocprofiler-sdk-attach.so.1 librocprofiler-sdk-attach.so ROCP_TOOL_ATTACH=1     7.10.0 found
10 rocprofiler-register librocprofiler-sdk-attach.so.1 librocprofiler-sdk-attach.so ROCP_TOOL_ATTACH=0     7.10.0 not
15 rccl                 libhsa-runtime64.so.1          libhsa-runtime64.so          -                      7.10.0 found
16 rccl                 libamd_smi.so.27               libamd_smi.so                RCCL_USE_AMD_SMI_LIB=1 10.0.0 found
16 rccl                 libamd_smi.so.27               libamd_smi.so                -                      10.0.0 not
21 rocsolver            librocsparse.so.1              librocsparse.so.1            -                      7.10.0 found
"""


def package_of(name: str) -> str:
    return LIBRARIES if name.startswith(("librccl", "librocsolver", "librocsparse")) else CORE


def site_of(path: Path, version: str, rpath: str = "none") -> Site:
    site = Site(path / "site", rpath=rpath)
    site.write("rocm_sdk_core/_dist_info.py", DIST_INFO.replace("7.10.0", version))
    return site


def answers(site: Site, shortname: str, path: Path, function: str = "answer", **variables: str) -> str:
    """Return the answer of a library that is opened once a name was preloaded."""
    program = f"""
        import ctypes, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=[{shortname!r}])
        print(ctypes.CDLL({str(path)!r}).{function}())
    """
    return site.output(program, **variables)


@pytest.mark.parametrize("rpath", ["none", "rpath"])
@pytest.mark.parametrize("row", [" ".join(line.split()) for line in ROWS.splitlines()])
def test_what_is_opened_by_that_name(tmp_path: Path, row: str, rpath: str) -> None:
    _, shortname, opened, name, variable, version, answer = row.split()
    site, opener = site_of(tmp_path, version, rpath), OPENERS[shortname]
    sources = {opened: OWN, opener: OPENS.format(name=name)}
    hsa = site.library("libhsa-runtime64.so.1", sources.pop("libhsa-runtime64.so.1", ""))
    site.library("libamdhip64.so.7", sources.pop("libamdhip64.so.7", ""), (hsa,))
    for soname, source in sources.items():
        needed = (hsa,) if soname == opener and opened == hsa.name else ()
        site.library(soname, source, needed, package_of(soname))
    (tmp_path / "wsl/dev").mkdir(parents=True)
    (tmp_path / "wsl/dev/dxg").touch()
    variable = variable.replace("rootfs=", f"ROCM_SDK_ROOTFS={tmp_path}/")
    variables = dict([variable.split("=")]) if variable != "-" else {}
    path = site.path / package_of(opener) / "lib" / opener
    assert answers(site, shortname, path, **variables) == ("42" if answer == "found" else "0")


@pytest.mark.parametrize(
    ("shortname", "opener", "plug_in"),
    [
        ("miopen", "libMIOpen.so.1", "libMIOpenCKGroupedConv_gfx1100.so"),
        ("hipdnn", "libhipdnn_backend.so.1", "hipdnn_plugins/engines/librocke_plugin.so"),
        ("hipdnn", "libhipdnn_backend.so.1", "hipdnn_plugins/heuristics/libguess.so"),
    ],
)
def test_what_a_plug_in_needs(tmp_path: Path, shortname: str, opener: str, plug_in: str) -> None:
    """19, 20: the opener finds a plug-in by its path; nothing leads from the plug-in to another package."""
    site = site_of(tmp_path, "7.14.0")
    kpack = site.library("librocm_kpack.so.0", OWN)
    place, _, name = f"lib/{plug_in}".rpartition("/")
    path = site.library(name, "int own(void); int plugged(void) { return own(); }", (kpack,), LIBRARIES, place)
    site.library(opener, package=LIBRARIES)
    assert answers(site, shortname, path, "plugged") == "42"
    plan = f"import rocm_sdk; print(rocm_sdk.load_plan({shortname!r}, new_process=True).steps[1].soname)"
    assert site.output(plan) == "librocm_kpack.so.0"
    path.write_text("damaged")
    assert site.output(f"import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=[{shortname!r}])") == ""


@pytest.mark.parametrize("file", ["librocm_smi64.so.1", "libroctx64.so.4"])
def test_names_that_programs_open(tmp_path: Path, file: str) -> None:
    """33 to 36: JAX, Slurm, btop and LIKWID open librocm_smi64.so; Triton's Proton libroctx64.so, if it is there."""
    site = Site(tmp_path / "site")
    site.library(file, OWN)
    name = file[:-2]
    program = f"""
        import ctypes, os, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=[{name[3:-3]!r}])
        print(ctypes.CDLL({name!r}, mode=os.RTLD_NOW | os.RTLD_NOLOAD).own())
    """
    assert site.output(program) == "42"


@pytest.mark.parametrize("before", ["", "rocm_sdk.preload_libraries('amd_smi', unversioned_names=False)"])
@pytest.mark.parametrize("own", [False, True], ids=["the SDK's", "its own"])
def test_preload_for_brings_what_bindings_open(tmp_path: Path, before: str, own: bool) -> None:
    """24: bindings need no library of ROCm: they open one by a name that only preloading answers to.

    A binding whose own RUNPATH leads to a library of that name opens its own.
    """
    site = Site(tmp_path / "site")
    site.library("libamd_smi.so.26", OWN)
    if own:
        compile_library(tmp_path / "libamd_smi.so", "libamd_smi.so", OWN.replace("42", "7"))
    flags = ("-Wl,-rpath,$ORIGIN",)
    binding = compile_library(tmp_path / "binding.so", None, OPENS.format(name="libamd_smi.so"), (), flags)
    program = f"""
        import ctypes, rocm_sdk
        {before}
        rocm_sdk.preload_for({str(binding)!r})
        print(ctypes.CDLL({str(binding)!r}).answer(), "libamd_smi.so.26" in open("/proc/self/maps").read())
    """
    assert site.output(program) == f"{7 if own else 42} {not own or bool(before)}"


# ---- the openers of a name without version that no file has, and the words of check FILE, tree, test and the builder


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


def opens(name: str) -> str:
    """Return the source of a library that opens another by name."""
    return f'#include <dlfcn.h>\nvoid *opened(void) {{ return dlopen("{name}", RTLD_NOW); }}'


def is_found_by_a_plain_dlopen(binding: str | Path, **environment: str) -> bool:
    """Return whether the judge, the linker, finds the name in a process that has loaded nothing else."""
    code = f"import ctypes; own = ctypes.CDLL({str(binding)!r}); own.opened.restype = ctypes.c_void_p"
    return "True" in run_interpreter("-c", f"{code}; print(bool(own.opened()))", **environment).stdout


@pytest.mark.parametrize("name", ANSWERS)
def test_check_and_tree(call: Call, tmp_path: Path, name: str) -> None:
    binding = str(compile_library(tmp_path / "binding.so", None, opens(name)))
    assert not is_found_by_a_plain_dlopen(binding)
    text = " ".join(call("check", binding).stdout.split())
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
    binding = str(compile_library(tmp_path / "binding.so", None, opens("libamd_smi.so"), flags=flags))
    environment = {"LD_LIBRARY_PATH": f"{tmp_path}/links"} if place == "LD_LIBRARY_PATH" else {}
    assert is_found_by_a_plain_dlopen(binding, **environment)
    assert "N-LIB-027" not in call("check", binding, **environment).stdout
    steps = json.loads(call("tree", "--json", binding, **environment).stdout)["steps"]
    assert [each["method"] for each in steps] == ["read", "named"]


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


@pytest.mark.slow
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
