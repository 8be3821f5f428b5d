"""The files that both distributions have: the wheel carries copies of these, and adoption imports none of them."""

import io
import zipfile
from pathlib import Path

from test_layers import python_needs

ROOT = Path(__file__).resolve().parents[2]


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def copies(wheel: Path) -> dict[str, bytes]:
    with (
        zipfile.ZipFile(wheel) as archive,
        zipfile.ZipFile(io.BytesIO(archive.read("rocm_sdk/adoption/own_files.zip"))) as own_files,
    ):
        return {name: own_files.read(name) for name in own_files.namelist()}


def test_the_wheel_has_a_copy_of_each_shared_file(wheels: Path) -> None:
    (ours,) = wheels.glob("rocm_sdk_loader-*.whl")
    (theirs,) = wheels.glob("rocm-7.10.0-*.whl")
    found = copies(ours)
    assert found.keys() == names_in(ours) & names_in(theirs)
    assert found
    with zipfile.ZipFile(ours) as archive:
        assert all(archive.read(name) == content for name, content in found.items())


def test_adoption_imports_no_shared_file(wheels: Path) -> None:
    """Nor does what it imports, at any time."""
    (ours,) = wheels.glob("rocm_sdk_loader-*.whl")
    shared = {name.removeprefix("rocm_sdk/").removesuffix(".py") for name in copies(ours)}
    needs = python_needs(ROOT / "rocm_sdk")
    reached = {name for name in needs if name.startswith("adoption/")}
    assert reached
    pending = list(reached)
    while pending:
        new = needs.get(pending.pop(), set()) - reached
        reached |= new
        pending += new
    assert reached & shared == set()
    assert "installed/record" in reached
