"""Code with a second name. Judge: clang, which compiles the same kernel for the other target."""

from pathlib import Path

import pytest
from compiled_kernels import compiled_kernel
from sample_device_code import bundle, code_object, compressed, library

from rocm_sdk import RewriteError, UnknownTargetError, device_code
from rocm_sdk_build.code.extract import extract_code
from rocm_sdk_build.code.retarget import Pair, parse_pair
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

ID = "hipv4-amdgcn-amd-amdhsa--"


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_it_is_what_clang_makes_for_the_other_target(tmp_path: Path, packed: bool) -> None:
    code = bundle({ID + "gfx1030": compiled_kernel(tmp_path, "gfx1030"), ID + "gfx942": code_object(0x54C)})
    source = str(library(tmp_path / "libx.so", [compressed(code, 3) if packed else code]))
    output = str(tmp_path / "new.so")
    rewrite_file(source, output, NewCode(("gfx1030",), retarget=(Pair("gfx1030", "gfx1034"),)))
    assert [image.target for image in device_code(output).bundles[0].images] == ["gfx1030", "gfx1034"]
    found = {each.id: Path(each.path).read_bytes() for each in extract_code(output, str(tmp_path / "out"))}
    assert found == {ID + name: compiled_kernel(tmp_path, name) for name in ("gfx1030", "gfx1034")}


def test_older_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.co"
    path.write_bytes(bundle({ID + "gfx1030": compiled_kernel(tmp_path, "gfx1030", 3)}))
    with pytest.raises(RewriteError, match="not a code object of version 4 or newer"):
        rewrite_file(str(path), None, NewCode(retarget=(Pair("gfx1030", "gfx1031"),)))


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"amdgcn-amd-amdhsa--gfx1030", b"amdgcn-amd-amdhsa--gfx1035"), (b"\xadamdhsa.target", b"\xadamdhsa.tarjet")],
)
def test_code_that_contradicts_itself_is_refused(tmp_path: Path, before: bytes, after: bytes) -> None:
    content = compiled_kernel(tmp_path, "gfx1030")
    assert before in content
    path = tmp_path / "x.co"
    path.write_bytes(bundle({ID + "gfx1030": content.replace(before, after)}))
    with pytest.raises(RewriteError, match="does not name the target as it should"):
        rewrite_file(str(path), None, NewCode(retarget=(Pair("gfx1030", "gfx1031"),)))


def test_nothing_to_retarget(tmp_path: Path) -> None:
    path = tmp_path / "x.co"
    path.write_bytes(bundle({ID + "gfx942": code_object(0x54C)}))
    with pytest.raises(RewriteError, match="it has no code for gfx1030 without gfx1031"):
        rewrite_file(str(path), None, NewCode(retarget=(Pair("gfx1030", "gfx1031"),)))


@pytest.mark.parametrize(
    "pair", ["gfx1030:gfx1100", "gfx1100:gfx1101", "gfx900:gfx906", "gfx1030", "x:y", "gfx1030:gfx1030"]
)
def test_only_pairs_with_the_same_instructions(pair: str) -> None:
    with pytest.raises((RewriteError, UnknownTargetError)):
        parse_pair(pair)


def test_pairs() -> None:
    assert parse_pair("gfx1030:gfx1031") == Pair("gfx1030", "gfx1031")
    assert parse_pair("gfx900:gfx902") == Pair("gfx900", "gfx902")
