"""The compatibility of code and GPUs, held against a model that is written from LLVM's and ROCm's rules."""

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rocm_sdk import targets

# Processors with a feature that can be chosen, and the processors of each generic target (LLVM's AMDGPUUsage).
XNACK = "801 810 900 902 904 906 908 909 90a 90c 940 941 942 950 1010 1011 1012 1013"
SRAMECC = "906 908 90a 940 941 942 950"
GENERIC = {
    "gfx9-generic": "900 902 904 906 909 90c",
    "gfx9-4-generic": "940 941 942 950",
    "gfx10-1-generic": "1010 1011 1012 1013",
    "gfx10-3-generic": "1030 1031 1032 1033 1034 1035 1036",
    "gfx11-generic": "1100 1101 1102 1103 1150 1151 1152 1153 1154",
    "gfx11-7-generic": "1170 1171 1172",
    "gfx12-generic": "1200 1201",
    "gfx12-5-generic": "1250 1251",
    "gfx13-generic": "1310",
}
GENERIC_XNACK = ("gfx9-generic", "gfx9-4-generic", "gfx10-1-generic")
GENERIC_SRAMECC = ("gfx9-4-generic",)
ALWAYS_XNACK = ("gfx1250", "gfx1250-strict", "gfx1251")

# Who runs whose code with the patches of the distributions: (code, GPUs)
VEGA, NAVI_1, NAVI_2 = "900 902 909 90c", "1010 1011 1012", "1030 1031 1032 1033 1034 1035 1036"
PATCHES = {
    "Debian": ((VEGA, VEGA), (NAVI_1, NAVI_1), (NAVI_2, NAVI_2)),
    "Solus": ((VEGA, VEGA + " 906"), ("1010", NAVI_1 + " 1013"), (NAVI_2, NAVI_2)),
}

PROCESSORS = [row.name for row in targets.table()]


def split(target: str) -> tuple[str, dict[str, str]]:
    processor, *features = target.split(":")
    return processor, {feature[:-1]: feature[-1] for feature in features}


def modes_of(processor: str) -> list[dict[str, str]]:
    """Return the modes that a GPU can be in."""
    names = [n for n, has in (("sramecc", SRAMECC), ("xnack", XNACK)) if processor.removeprefix("gfx") in has.split()]
    return [dict(zip(names, signs, strict=True)) for signs in product("+-", repeat=len(names))]


def target_of(processor: str, mode: dict[str, str]) -> str:
    return ":".join([processor, *(name + mode[name] for name in sorted(mode))])


def runs(code: str, processor: str, mode: dict[str, str]) -> str:
    """Return the way in which the GPU runs the code: "same", "generic", "SPIR-V", a name of PATCHES, or ""."""
    wanted_processor, wanted = split(code)
    if code == "amdgcnspirv":
        return "SPIR-V"
    has = mode | ({"xnack": "+"} if processor in ALWAYS_XNACK else {})
    short, wanted_short = processor.removeprefix("gfx"), wanted_processor.removeprefix("gfx")
    if wanted_processor == processor:
        how = "same"
    elif short in GENERIC.get(wanted_processor, "").split():
        how = "generic"
        if wanted_processor not in GENERIC_SRAMECC:
            has = {name: sign for name, sign in has.items() if name != "sramecc"}
    else:
        patches = [
            name
            for name, rows in PATCHES.items()
            if any(wanted_short in code.split() and short in gpus.split() for code, gpus in rows)
        ]
        how = "+".join(patches)
    return how if all(has.get(name) == sign for name, sign in wanted.items()) else ""


@st.composite
def codes(draw: st.DrawFn) -> str:
    processor = draw(st.sampled_from([*PROCESSORS, *GENERIC, "amdgcnspirv", "gfx1399"]))
    if processor == "amdgcnspirv":
        return processor
    features = draw(st.lists(st.sampled_from(("sramecc", "xnack")), unique=True))
    return ":".join([processor, *(name + draw(st.sampled_from("+-")) for name in features)])


FITS = {"exact": "same", "compatible": "same", "generic": "generic", "SPIR-V": "SPIR-V"}


@given(code=codes(), processor=st.sampled_from(PROCESSORS))
@example(code="gfx90a:xnack-", processor="gfx90a")
@example(code="gfx9-generic:xnack-", processor="gfx906")
def test_each_mode_of_a_gpu(code: str, processor: str) -> None:
    for mode in modes_of(processor):
        found = targets.compatibility(code, target_of(processor, mode), unofficial=True)
        how = "+".join(found.patches) if found.fit == "unofficial" else FITS.get(found.fit, "")
        assert how == runs(code, processor, mode)
        assert (found.sramecc, found.xnack) == (None, None)
        assert (found.misfit is None) == (found.fit != "none")
        official = targets.compatibility(code, target_of(processor, mode))
        assert official.fit == ("none" if found.fit == "unofficial" else found.fit)


@given(code=codes(), processor=st.sampled_from(PROCESSORS))
@example(code="gfx90a:xnack-", processor="gfx90a")
@example(code="gfx942:sramecc+:xnack+", processor="gfx942")
def test_a_gpu_in_an_unknown_mode(code: str, processor: str) -> None:
    """The result names the modes in which the code runs, all of them and no other."""
    found = targets.compatibility(code, processor, unofficial=True)
    demands = {"sramecc": found.sramecc, "xnack": found.xnack}
    for mode in modes_of(processor):
        is_met = all(demands[name] in (None, sign == "+") for name, sign in mode.items())
        assert bool(runs(code, processor, mode)) == (found.fit != "none" and is_met)


@given(code=codes(), processor=st.sampled_from(PROCESSORS))
def test_exact_means_that_no_feature_is_left_open(code: str, processor: str) -> None:
    for mode in modes_of(processor):
        found = targets.compatibility(code, target_of(processor, mode))
        named = split(code)[1]
        assert (found.fit == "exact") == (runs(code, processor, mode) == "same" and set(mode) <= set(named))


@pytest.mark.parametrize(
    ("version", "fit", "misfit"), [(None, "generic", None), (1, "generic", None), (0, "none", "generic version")]
)
def test_the_version_of_a_generic_target(version: int | None, fit: str, misfit: str | None) -> None:
    found = targets.compatibility("gfx11-generic", "gfx1151", generic_version=version)
    assert (found.fit, found.misfit) == (fit, misfit)


@pytest.mark.parametrize(
    ("code", "gpu", "misfit"),
    [
        ("gfx90a:xnack-", "gfx90a:sramecc+:xnack+", "xnack"),
        ("gfx90a:xnack+", "gfx90a:sramecc+:xnack-", "xnack"),
        ("gfx90a:sramecc-", "gfx90a:sramecc+:xnack-", "sramecc"),
        ("gfx1030:xnack-", "gfx1030", "xnack"),
        ("gfx900:xnack+", "gfx90c:xnack-", "xnack"),
        ("gfx9-generic:xnack+", "gfx906:sramecc+:xnack-", "xnack"),
        ("gfx9-generic:sramecc+", "gfx906:sramecc+:xnack-", "sramecc"),
        ("gfx9-4-generic:sramecc-", "gfx942:sramecc+:xnack-", "sramecc"),
        ("gfx1250", "gfx1250-strict", "processor"),
        ("gfx12-5-generic", "gfx1250-strict", "processor"),
        ("gfx11-generic", "gfx11", "processor"),
        ("gfx11", "gfx1100", "processor"),
        ("gfx1100", "gfx1101", "processor"),
        ("gfx1399", "gfx1398", "processor"),
    ],
)
def test_why_code_does_not_run(code: str, gpu: str, misfit: str) -> None:
    found = targets.compatibility(code, gpu, unofficial=True)
    assert (found.fit, found.misfit) == ("none", misfit)


def test_an_override_is_the_target_that_rocm_presents() -> None:
    """HSA_OVERRIDE_GFX_VERSION=10.3.0 presents a gfx1031 as gfx1030, and code for gfx1030 is asked for."""
    assert targets.compatibility("gfx1030", "gfx1031").fit == "none"
    assert targets.compatibility("gfx1030", "gfx1030").fit == "exact"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        ":",
        "gfx942:",
        "gfx942:xnack",
        "gfx942:xnack+:xnack+",
        "gfx942:other+",
        "gfx94",
        "gfx9422",
        "mach-0x7f",
        ":xnack+",
    ],
)
def test_what_is_no_target(bad: str) -> None:
    assert targets.compatibility(bad, "gfx942", unofficial=True).misfit == "processor"
    assert targets.compatibility("gfx942", bad, unofficial=True).misfit == "processor"


def test_arguments_of_a_wrong_kind() -> None:
    with pytest.raises(TypeError):
        targets.compatibility("gfx942", 942)  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        targets.compatibility("gfx942", "gfx942", generic_version=-1)
    with pytest.raises(ValueError):
        targets.compatibility("gfx942\0", "gfx942")
