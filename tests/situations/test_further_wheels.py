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
    ("copy", "own", "further"),
    [
        ("libamdhip64-f1043337.so.7.2.70204", "libamdhip64.so", "libamd_comgr.so.3"),
        ("libhiprtc-0a1b2c3d.so.7", "libhiprtc.so", "libamdhip64.so.7"),
    ],
)
def test_a_copy_that_auditwheel_renamed(
    tmp_path: Path, site: Site, call: Call, copy: str, own: str, further: str
) -> None:
    """vapoursynth-nlm-hip: its HIP has its own name among its constants, and opens comgr, which nothing brings."""
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
        verdict = document(call, wheel(tmp_path / "sample-1-py3-none-any.whl", {"a/_c.so": module, "a/libpart.so": part}))
        assert ("libpart.so does not load" in str(verdict["verdict"])) == is_told
        assert verdict["loads"] in (None, False)
