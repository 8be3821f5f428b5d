"""The rules of compatibility beside the rules of AMD's comgr, which looks bundles through without a GPU."""

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from sample_site import clean_environment

from rocm_sdk import targets

pytestmark = pytest.mark.slow

# A program that prints, for each target of code, the GPUs for which comgr finds it in a bundle that holds nothing else.
# A question names a single GPU: comgr gives an entry to the first of several.
_PROGRAM = """
import ctypes, json, struct, sys
import rocm_sdk
rocm_sdk.preload_libraries("amd_comgr")
comgr = rocm_sdk._ALL_CDLLS["amd_comgr"]

class Data(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint64)]

class Info(ctypes.Structure):
    _fields_ = [("isa", ctypes.c_char_p), ("size", ctypes.c_size_t), ("offset", ctypes.c_uint64)]

comgr.amd_comgr_set_data.argtypes = [Data, ctypes.c_size_t, ctypes.c_char_p]
comgr.amd_comgr_lookup_code_object.argtypes = [Data, ctypes.POINTER(Info), ctypes.c_size_t]
count, name = ctypes.c_size_t(), ctypes.c_char_p()
assert comgr.amd_comgr_get_isa_count(ctypes.byref(count)) == 0
known = []
for i in range(count.value):
    assert comgr.amd_comgr_get_isa_name(ctypes.c_size_t(i), ctypes.byref(name)) == 0
    known.append(name.value.decode().removeprefix("amdgcn-amd-amdhsa--"))
question = json.load(sys.stdin)
gpus = [gpu for gpu in question["gpus"] if gpu.partition(":")[0] in known]
answer = {}
for code in question["codes"]:
    if code.partition(":")[0] not in known:
        continue
    entry = b"hipv4-amdgcn-amd-amdhsa--" + code.encode()
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 4096, 64, len(entry)) + entry
    bundle = head.ljust(4096, b"\\0") + bytes(64)
    data = Data()
    assert comgr.amd_comgr_create_data(16, ctypes.byref(data)) == 0
    assert comgr.amd_comgr_set_data(data, len(bundle), bundle) == 0
    answer[code] = []
    for gpu in gpus:
        info = Info(b"amdgcn-amd-amdhsa--" + gpu.encode(), 0, 0)
        assert comgr.amd_comgr_lookup_code_object(data, ctypes.byref(info), 1) == 0
        if info.size:
            answer[code].append(gpu)
json.dump({"gpus": gpus, "found": answer}, sys.stdout)
"""


def features_of(name: str) -> list[str]:
    row = targets.lookup(name)
    can_choose_xnack = row.xnack in ("of driver", "of process")
    return [feature for feature, has in (("sramecc", row.sramecc), ("xnack", can_choose_xnack)) if has]


def variants(name: str, signs: str) -> list[str]:
    """Return the target with each feature in each of the modes; '?' leaves a feature out."""
    features = features_of(name)
    return [
        ":".join([name, *(f + sign for f, sign in zip(features, modes, strict=True) if sign != "?")])
        for modes in product(signs, repeat=len(features))
    ]


def test_comgr_finds_the_code_that_we_say_runs(debian_sdk: Callable[[str], Path]) -> None:
    names = [row.name for row in targets.table()]
    question = {
        "codes": [each for name in names for each in variants(name, "?+-")],
        "gpus": [each for name in names for each in variants(name, "+-")],
    }
    variables = clean_environment() | {"PYTHONPATH": str(debian_sdk("none"))}
    output = subprocess.check_output(
        [sys.executable, "-c", _PROGRAM], text=True, env=variables, input=json.dumps(question)
    )
    answer = json.loads(output)
    assert len(answer["found"]) > 70
    assert len(answer["gpus"]) > 50
    for code, found in answer["found"].items():
        ours = [gpu for gpu in answer["gpus"] if targets.compatibility(code, gpu).fit in ("exact", "compatible")]
        assert ours == found, code
