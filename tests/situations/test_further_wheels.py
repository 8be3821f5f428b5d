"""Wheels and clients of late 2026, in small: what `check` says of each, as a reading of their files says it."""

import subprocess
import sys
from pathlib import Path

import pytest
from checked_files import Call, codes, compile_library, document, wheel
from programs import completed
from sample_site import Site, clean_environment


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        values = clean_environment() | {"HOME": str(tmp_path)} | environment
        return completed([sys.executable, "-m", "rocm_sdk", *words], env=values)

    return run


def opening_library(path: Path, *names: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return compile_library(path, path.name, "".join(f'const char *n{i} = "{n}";' for i, n in enumerate(names)))


@pytest.mark.parametrize(
    "names",
    [
        ("libamdhip64-f1043337.so.7.2.70204", "libamdhip64.so", "libamd_comgr.so.3"),
        ("libhiprtc-0a1b2c3d.so.7", "libhiprtc.so", "libamdhip64.so.7"),
    ],
)
def test_a_copy_that_auditwheel_renamed(tmp_path: Path, site: Site, call: Call, names: tuple[str, str, str]) -> None:
    """vapoursynth-nlm-hip: its HIP has its own name among its constants, and opens comgr, which nothing brings."""
    copy, own, further = names
    for name in ("libamdhip64.so.7", "libhiprtc.so.7"):
        site.library(name)
    for name, is_told in ((copy, False), (copy.replace("-", "-x"), True)):
        library = opening_library(tmp_path / name, own, further)
        packed = wheel(tmp_path / "sample-1-py3-none-any.whl", {f"sample.libs/{name}": library})
        verdict = str(document(call, packed)["verdict"])
        assert further.rpartition(".")[0] in verdict
        assert (own in verdict) == is_told
        beside = document(call, packed, PYTHONPATH=str(site.path))
        notes = str([each["facts"] for each in beside["problems"] if each["code"] == "N-LIB-027"])  # type: ignore[attr-defined]
        assert (f"'{own}'" in notes) == is_told


@pytest.mark.parametrize("lacking", ["libamdhip64.so.7", "libgone.so.3"])
def test_a_part_that_lacks_what_the_module_lacks(tmp_path: Path, call: Call, lacking: str) -> None:
    """pennylane-lightning-amdgpu: its code puts the name of the part together; both need HIP, which is not here."""
    absent = compile_library(tmp_path / lacking, lacking)
    other = compile_library(tmp_path / "libother.so.9", "libother.so.9")
    module = compile_library(tmp_path / "_c.so", None, "void *PyInit__c(void) { return 0; }", (absent,))
    for needs, is_told in (((absent,), False), ((absent, other), True)):
        part = compile_library(tmp_path / "libpart.so", "libpart.so", needed=needs)
        verdict = document(
            call, wheel(tmp_path / "sample-1-py3-none-any.whl", {"a/_c.so": module, "a/libpart.so": part})
        )
        assert ("libpart.so does not load" in str(verdict["verdict"])) == is_told
        assert verdict["loads"] in (None, False)


@pytest.mark.parametrize("name", ["libamdhip64.so", "librccl.so"])
@pytest.mark.parametrize("has_module", [True, False])
def test_a_client_that_opens_a_library_in_python(
    tmp_path: Path, site: Site, call: Call, name: str, has_module: bool
) -> None:
    """hk-dsl: its modules need nothing of ROCm; its code in Python opens HIP, by the name that has no version."""
    site.library("libamdhip64.so.7")
    site.library("librccl.so.1")
    source = f"lib = ctypes.CDLL(path or '{name}')\nNAMES = ('libclang.so', \"libOpenCL.so\")\n"
    files: dict[str, Path | bytes] = {"pkg/run.py": b"# \xff\n" + source.encode()}
    if has_module:
        files["pkg/_c.so"] = compile_library(tmp_path / "_c.so", None, "void *PyInit__c(void) { return 0; }")
    packed = wheel(tmp_path / "sample-1-py3-none-any.whl", files)
    alone = document(call, packed)
    assert (alone["loads"], codes(alone)) == (True, [])
    assert str(alone["verdict"]).startswith(f"loads; it opens {name} by name, and no SDK is here")
    beside = document(call, packed, PYTHONPATH=str(site.path))
    (note,) = beside["problems"]  # type: ignore[misc]
    assert (note["code"], note["facts"]["name"]) == ("N-LIB-027", name)
    hip = compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7")
    needing = files | {"pkg/_n.so": compile_library(tmp_path / "_n.so", None, needed=(hip,))}
    assert "by name" not in str(document(call, wheel(tmp_path / "sample-1-py3-none-any.whl", needing))["verdict"])


def test_sources_without_end(tmp_path: Path, call: Call) -> None:
    """A few kilobytes that become gigabytes, and names that are nearly those of libraries."""
    files: dict[str, Path | bytes] = {f"pkg/a{number}.py": b"'libhip.so'" * (3 << 20) for number in range(2)}
    files["pkg/b.py"] = b"'libamdhip64.so'"  # behind what is read
    said = str(document(call, wheel(tmp_path / "sample-1-py3-none-any.whl", files))["verdict"])
    assert "it is pure Python" in said


@pytest.mark.parametrize("names", [("libc10.so", "libtorch_hip.so"), ("libtorch_cpu.so",), ("libc10.so", "libx.so")])
def test_libraries_of_torch_without_a_requirement(tmp_path: Path, call: Call, names: tuple[str, ...]) -> None:
    """sglang-kernel-rdna3: an extension for torch, and its metadata requires nothing."""
    needed = tuple(compile_library(tmp_path / name, name) for name in names)
    module = compile_library(tmp_path / "_c.so", None, "void *PyInit__c(void) { return 0; }", needed)
    verdict = document(call, wheel(tmp_path / "sample-1-py3-none-any.whl", {"pkg/_c.so": module}))
    (found,) = verdict["problems"]  # type: ignore[misc]
    assert found["code"] == "E-LIB-002"
    assert found["fix"].startswith("Find out" if "libx.so" in names else "Install torch, a build for")
