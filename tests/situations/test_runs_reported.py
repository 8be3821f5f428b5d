"""What people reported of files that do not load, or load with the wrong library: what `check` says of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import command_fixtures
import pytest
from checked_files import Call, codes, compile_library, document, wheel
from compiled_files import compile_file
from sample_site import CORE, Site
from test_misfits import versioned

from rocm_sdk.fit.verdicts import process_trial
from rocm_sdk.fit.verdicts.subject import Against, open_subject

sdk = command_fixtures.sdk  # without RPATHs: nothing leads to its libraries
GPU = ("--gpu", "gfx1030")
BESIDE = "-Wl,-rpath,$ORIGIN"
SURE = "-Wl,-z,now"


class Asked(NamedTuple):
    """The words of `check`, and the variables."""

    words: tuple[str | Path, ...]
    variables: Mapping[str, str] = MappingProxyType({})


Make = Callable[[Path, Site], Asked]


class Case(NamedTuple):
    """A case: how it is made, whether it loads, the codes, what the answer says, and what it does not say."""

    make: Make
    loads: bool | None
    codes: tuple[str, ...]
    says: tuple[str, ...]
    not_said: tuple[str, ...] = ()


def hip_of(sdk: Site) -> Path:
    return sdk.path / CORE / "lib/libamdhip64.so.7"


def without_libraries(sdk: Site) -> None:
    for each in sdk.path.glob("*/lib/*.so.*"):
        each.unlink()


def program(path: Path, needed: tuple[Path, ...], *flags: str) -> Path:
    words = ["cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed,--allow-shlib-undefined", *needed, *flags]
    return compile_file(words, path, "int main(void) { return 0; }")


def nobody_preloads(place: Path, sdk: Site) -> Asked:
    return Asked((compile_library(place / "_C.so", None, "", tuple(sdk.path.glob("*/lib/librocsparse.so.1"))),))


def path_for_a_name(place: Path, _: Site) -> Asked:
    built = compile_library(place / "build/libz.so", None)
    path = compile_library(place / "libtool.so", None, "", (built,))
    built.unlink()
    return Asked((path,))


def not_linked(place: Path, sdk: Site) -> Asked:
    sdk.library("libhiprtc.so.7", "int hiprtcVersion(void) { return 0; }")
    source = "int hiprtcVersion(void); int f(void) { return hiprtcVersion(); }"
    return Asked((compile_library(place / "ext.so", None, source, (hip_of(sdk),), (SURE,)),))


def only_rocm_by_a_variable(place: Path, sdk: Site) -> Asked:
    name, source = "librocblas.so.5", "int older(void) { return 0; }"
    new = versioned(place / "new" / name, name, "ROCBLAS_9", source + "int newer(void) { return 0; }")
    old = versioned(place / "old" / name, name, "ROCBLAS_9", source)
    path = compile_library(place / "p.so", None, "int newer(void); int f(void) { return newer(); }", (new,), (SURE,))
    new.unlink()
    without_libraries(sdk)
    return Asked((path,), {"LD_LIBRARY_PATH": str(old.parent)})


def only_by_a_variable(place: Path, _: Site) -> Asked:
    smi = compile_library(place / "rocm/lib/librocm_smi64.so.8", "librocm_smi64.so.8")
    return Asked(("--sdk", place / "rocm", program(place / "smi", (smi,))))


def by_a_variable_alone(place: Path, _: Site) -> Asked:
    smi = compile_library(place / "rocm/lib/libamd_smi.so.27", "libamd_smi.so.27")
    return Asked((program(place / "smi", (smi,)),), {"LD_LIBRARY_PATH": str(smi.parent)})


def two_hips(place: Path, sdk: Site) -> Asked:
    own = compile_library(place / "libamdhip64.so", "libamdhip64.so")
    torch = compile_library(place / "libtorch_hip.so", "libtorch_hip.so", "", (own,), (BESIDE,))
    other = compile_library(place / "libamdhip64.so.6", "libamdhip64.so.6")
    without_libraries(sdk)
    return Asked((program(place / "app", (torch, other), BESIDE),))


def name_of_development(place: Path, _: Site) -> Asked:
    source = '#include <dlfcn.h>\nvoid *f(void) { return dlopen("libgone_numa.so", RTLD_NOW); }'
    return Asked((compile_library(place / "libshmem.so", None, source),))


def bundle_without_number(place: Path, sdk: Site) -> Asked:
    compile_library(place / "torch/libamdhip64.so", "libamdhip64.so")
    path = compile_library(place / "ext.so", None, "", (hip_of(sdk),), (f"-Wl,-rpath,{place}/torch",))
    without_libraries(sdk)
    return Asked((path,))


def of_a_library_below(place: Path, sdk: Site) -> Asked:
    old = compile_library(place / "old/libamdhip64.so.6", "libamdhip64.so.6")
    mpi = compile_library(place / "libmpi_gtl.so.1", "libmpi_gtl.so.1", "", (old,))
    old.unlink()
    return Asked((program(place / "app", (mpi, hip_of(sdk)), BESIDE),))


def renamed(place: Path, _: Site) -> Asked:
    old = compile_library(place / "old/libhip_hcc.so.3", "libhip_hcc.so.3")
    return Asked((compile_library(place / "libstream.so", None, "", (old,)),))


def newer_system(place: Path, sdk: Site) -> Asked:
    new = versioned(place / "new/libstdc++.so.6", "libstdc++.so.6", "GLIBCXX_3.4.97", "int newer(void) { return 0; }")
    source = "int newer(void); int f(void) { return newer(); }"
    return Asked((compile_library(place / "jit.so", None, source, (new, hip_of(sdk))),))


def archive(place: Path, _: Site) -> Asked:
    path = place / "libclstatic.so"
    path.write_bytes(b"!<arch>\n")
    return Asked((path,))


def broken_build(place: Path, sdk: Site) -> Asked:
    source = "int _Z9ncclOwnedi(int); int ncclInit(void) { return _Z9ncclOwnedi(1); }"
    below = compile_library(place / "librccl.so.2", "librccl.so.2", source, (hip_of(sdk),), (SURE,))
    return Asked((compile_library(place / "t.so", None, "", (below,), (BESIDE,)),))


CASES = (
    Case(nobody_preloads, True, (), ("loads in a process that has called rocm_sdk (rocsparse)",)),
    Case(path_for_a_name, False, ("E-LIB-002",), ("that is a path", "--replace-needed"), ("package of Python",)),
    Case(not_linked, True, (), ("called rocm_sdk (amdhip64, hiprtc)",)),
    Case(only_rocm_by_a_variable, False, ("E-LIB-020",), ("needs newer of librocblas", "a build of p.so"), ("unset",)),
    Case(only_by_a_variable, True, (), ("rocm/lib; alone it does not find librocm_smi64.so.8",)),
    Case(bundle_without_number, None, (), ("no SDK is here for libamdhip64.so.7",)),
    Case(of_a_library_below, False, ("E-LIB-024",), ("libmpi_gtl.so.1 was built for",), ("build of app",)),
    Case(renamed, False, ("E-LIB-002",), ("libhip_hcc.so.3", "it is part of ROCm"), ("without a number",)),
    Case(newer_system, False, ("E-LIB-020",), ("it needs GLIBCXX_3.4.97", "has at most GLIBCXX_3.4"), ("install --",)),
    Case(archive, False, ("E-LIB-006",), ("it is a static library",)),
    Case(broken_build, False, ("E-LIB-020",), ("ncclOwned(int), which none of its libraries has",), ("install --",)),
)


# What is answered from too little so far.
OPEN = (
    Case(by_a_variable_alone, True, (), ("loads with LD_LIBRARY_PATH",)),
    Case(two_hips, True, ("W-LIB-026",), ("libamdhip64.so.6",)),
    Case(name_of_development, True, (), ("libgone_numa.so",)),
)


@pytest.mark.parametrize(
    "case",
    [*CASES, *(pytest.param(each, marks=pytest.mark.xfail(reason="it is not said")) for each in OPEN)],
    ids=lambda case: case.make.__name__,
)
def test_the_answer(call: Call, tmp_path: Path, sdk: Site, case: Case) -> None:
    asked = case.make(tmp_path, sdk)
    found = document(call, *asked.words, *GPU, **asked.variables)
    text = f"{found['verdict']} {found['problems']}"
    assert (found["loads"], tuple(codes(found))) == (case.loads, case.codes), text
    assert [each for each in case.says if each not in text] == [], text
    assert [each for each in case.not_said if each in text] == [], text


def test_what_another_package_has_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The torch that is there is of another kind than the extension was built with, and lacks one of two libraries."""
    here, gone = (compile_library(tmp_path / name, name) for name in ("libc11.so", "libc11_hip.so"))
    scatter = compile_library(tmp_path / "scatter.so", None, "", (gone, here))
    gone.unlink()
    monkeypatch.setattr(process_trial, "_of_other_distributions", {here.name: str(here)}.get)
    with open_subject(str(wheel(tmp_path / "sample-1-py3-none-any.whl", {"scatter/scatter.so": scatter}))) as subject:
        (row,) = process_trial.try_files(subject, Against(())).files
    assert [each.name for each in row.unfound] == ["libc11_hip.so"]
