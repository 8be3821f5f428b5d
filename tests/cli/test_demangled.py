"""Names of symbols as in the source. Judge: c++filt."""

import subprocess
import sys

import pytest

from rocm_sdk.cli import demangled as module
from rocm_sdk.cli.demangled import demangled

NAMES = (
    "_Z5scalePKfPfi",
    "_ZN7rocprim6detail16transform_kernelINS_14default_configEfPfEEvT1_",
    "_ZN12_GLOBAL__N_16vectorIiLi4EED1Ev",
    "_Z1fSt6vectorIiSaIiEE",
    "_Zno",
)
BOMB = "_Z1fI" + "1aI" * 30 + "i" + "E" * 30 + "".join(f"NS_{c}E" for c in "ABCDEF") + "Evv"


def test_as_cxxfilt() -> None:
    told = subprocess.check_output(["c++filt", *NAMES], text=True).splitlines()
    assert demangled(NAMES) == dict(zip(NAMES, told, strict=True))
    assert "rocprim::detail::transform_kernel<rocprim::default_config" in told[1]


def test_what_is_not_mangled() -> None:
    assert demangled(["scale", "main", "_Z\x1b[31m", "_Z" + "1" * 5000]) == {}


@pytest.mark.parametrize("name", [BOMB, "_Z" + "I" * 4000, "_Z1f" + "P" * 3990 + "i", "_Z1fDv" + "9" * 3000 + "_i"])
def test_hostile_names_harm_nobody(name: str) -> None:
    made = demangled([name, "_Z5scalePKfPfi"])
    assert made is None or made["_Z5scalePKfPfi"] == "scale(float const*, float*, int)"


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PROGRAM", module._PROGRAM.replace("libstdc++.so.6", "libstdc++.so.99"))
    assert demangled(NAMES) is None


def test_a_frozen_program_does_not_start_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert demangled(["_Z1fv"]) is None
