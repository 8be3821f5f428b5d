"""The answers that depend on the comgr that HIP will have: SPIR-V, and compressed code.

A stub answers as AMD's comgr does.
"""

import json
import shutil
from pathlib import Path

import pytest
from checked_files import Call, codes, document
from sample_device_code import bundle, compressed, library, objects
from sample_machine import machine_of
from sample_site import CORE, Site

# Of UNBUNDLE it gives what it was given last, or first, as a cache does that takes one bundle for another.
STUB = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct { uint64_t handle; } data;
static char *held[9], *result; static size_t sizes[9], size_of_result; static int count;
int amd_comgr_create_data(int kind, data *made) { made->handle = ++count; return 0; }
int amd_comgr_set_data(data of, size_t size, const char *bytes) {
    held[of.handle] = memcpy(malloc(size), bytes, size); sizes[of.handle] = size; return 0;
}
int amd_comgr_set_data_name(data of, const char *name) { return 0; }
int amd_comgr_create_data_set(data *set) { return 0; }
int amd_comgr_create_action_info(data *info) { return 0; }
int amd_comgr_data_set_add(data set, data of) { return 0; }
int amd_comgr_action_info_set_isa_name(data info, const char *isa) { return 0; }
int amd_comgr_action_info_set_logging(data info, _Bool on) { return 0; }
int amd_comgr_action_info_set_bundle_entry_ids(data info, const char *ids[], size_t n) { return 0; }
int amd_comgr_do_action(int action, data info, data given, data made) {
    static char log[] = "not supported: COMGR_DISABLE_SPIRV", code[128] = "\\x7f" "ELF\\x02\\x01\\x01\\x40\\x02";
    static const char header[] = {3, 0, 224, 0, 1};
    if (action == 19) { result = log; size_of_result = sizeof log; return !TRANSLATES; }
    memcpy(code + 16, header, sizeof header);
    code[48] = 0x36; code[52] = 64; code[54] = 56; code[58] = 64;
    memset(code + 64, MIXES ? 1 : count, 64);
    result = code; size_of_result = sizeof code; return 0;
}
int amd_comgr_action_data_count(data set, int kind, size_t *found) { *found = 1; return 0; }
int amd_comgr_action_data_get_data(data set, int kind, size_t index, data *of) { return 0; }
int amd_comgr_get_data(data of, size_t *size, char *bytes) {
    if (bytes) memcpy(bytes, result, size_of_result); else *size = size_of_result;
    return 0;
}
"""
GPU = ("--gpu", "gfx1030")
DEPENDS = "SPIR-V runs if the comgr that HIP has translates it, which is not known here"


def with_comgr(sdk: Site, *, translates: bool = False, mixes: bool = False) -> None:
    sdk.library("libamd_comgr.so.3", f"#define TRANSLATES {int(translates)}\n#define MIXES {int(mixes)}\n{STUB}")


@pytest.fixture
def spirv(tmp_path: Path) -> Path:
    """Return a library with SPIR-V alone."""
    module = bytes.fromhex("03022307") + bytes(60)
    return library(tmp_path / "libapp.so", [bundle({"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv": module})])


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return library(tmp_path / "libpacked.so", [compressed(bundle(objects("gfx1030")), 2)])


def test_spirv_and_a_translator(call: Call, sdk: Site, spirv: Path) -> None:
    with_comgr(sdk, translates=True)
    found = document(call, spirv, *GPU)
    assert found["works"] is True
    assert "runs on gfx1030; app: compiled at first use" in str(found["verdict"])


def test_spirv_without_a_translator(call: Call, sdk: Site, spirv: Path) -> None:
    with_comgr(sdk)
    found = document(call, spirv, *GPU)
    assert (found["works"], codes(found)) == (False, ["E-CODE-001"])
    assert "amdgcnspirv alone, which this comgr does not translate" in str(found["problems"])


def test_spirv_without_an_sdk_that_can_be_asked(call: Call, spirv: Path) -> None:
    """Without an SDK there is no comgr; and a comgr in a directory is not loaded, as nothing that is checked is."""
    for words in ((), ("--sdk", spirv.parent)):
        found = document(call, spirv, *words, *GPU)
        assert (found["works"], codes(found)) == (None, [])
        assert f"cannot tell whether it runs on gfx1030: {DEPENDS}" in str(found["verdict"])
    said = call("check-gpu", "--sdk", str(spirv.parent), *GPU)
    assert (said.returncode, DEPENDS in said.stdout, said.stderr) == (1, True, "")


def test_a_cache_that_mixes_bundles(call: Call, sdk: Site, packed: Path) -> None:
    with_comgr(sdk, mixes=True)
    found = document(call, packed, *GPU)
    assert (found["works"], codes(found)) == (True, ["W-CODE-018"])
    assert codes(document(call, packed, *GPU, AMD_COMGR_CACHE="0")) == [], "it is off"
    with_comgr(sdk)
    assert codes(document(call, packed, *GPU)) == []


def test_what_compresses_says_it(call: Call, sdk: Site, packed: Path, tmp_path: Path) -> None:
    with_comgr(sdk, mixes=True)
    said = call("code", "--compress", "--output", str(tmp_path / "new.so"), str(packed))
    assert said.returncode == 0
    assert "export AMD_COMGR_CACHE=0" in said.stderr


@pytest.mark.slow
def test_the_self_test_judges_as_check_does(call: Call, sdk: Site, spirv: Path, packed: Path, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", "gfx1030")
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    with_comgr(sdk, mixes=True)
    shutil.copy(packed, sdk.path / CORE / "lib/libpacked.so.1")
    told = json.loads(call("test", "--only", "W-CODE-018", "--json", **root).stdout)
    assert [each["code"] for each in told["problems"]] == ["W-CODE-018"]
    (sdk.path / CORE / "lib/libpacked.so.1").unlink()
    shutil.copy(spirv, sdk.path / CORE / "lib/libapp.so.1")
    for translates, expected in ((True, []), (False, ["E-GPU-002"])):
        with_comgr(sdk, translates=translates)
        told = json.loads(call("test", "--only", "E-GPU-002", "--json", **root).stdout)
        assert [each["code"] for each in told["problems"]] == expected
