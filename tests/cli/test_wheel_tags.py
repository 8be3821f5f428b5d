"""The fit of a wheel's name to this Python and this system, against the library of PyPA that installers use."""

import sys

from packaging.tags import parse_tag, sys_tags

from rocm_sdk.fit.verdicts.tags import misfit

HERE = {str(tag) for tag in sys_tags()}
WORDS = [
    f"{python}-{abi}-{platform}"
    for python in (
        *("py2", "py3", "py30", "py39", "py3x", "cp27", "cp36", "cp3"),
        *(f"{kind}3{sys.version_info.minor + step}" for kind in ("py", "cp") for step in (-1, 0, 1)),
    )
    for abi in ("none", "abi3", *(f"cp3{sys.version_info.minor + step}{end}" for step in (0, 1) for end in ("", "t")))
    for platform in (
        *("any", "linux_x86_64", "linux_aarch64", "manylinux1_x86_64", "manylinux2014_x86_64", "manylinux_2_5_x86_64"),
        *("manylinux_2_17_aarch64", "manylinux_2_28_x86_64", "manylinux_9_0_x86_64", "musllinux_1_2_x86_64"),
        *("win_amd64", "macosx_11_0_arm64", "manylinux2014_aarch64"),
    )
]


def test_each_tag_that_installers_take() -> None:
    refused = [tag for tag in HERE if misfit(f"a-1-{tag}.whl") is not None]
    assert refused == []


def test_what_is_said_is_what_installers_do() -> None:
    takes = {word: not HERE.isdisjoint(map(str, parse_tag(word))) for word in WORDS}
    assert {True, False} == {*takes.values()}
    assert {word: misfit(f"sample-1-{word}.whl") is None for word in WORDS} == takes
