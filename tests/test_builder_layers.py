"""The layers of the builder: its imports from the loader, and the imports of its folders from each other."""

import pytest
from test_layers import ROOT, cycles, folder_cycles, imported_modules, python_needs

BUILDER = ROOT / "builder/rocm_sdk_build"
NEEDS = python_needs(BUILDER, "rocm_sdk_build")


@pytest.mark.slow
def test_builder_layers() -> None:
    """No two files depend on each other; of the loader only modules with public names are used, and none of cli."""
    assert list(cycles(NEEDS)) == []
    assert list(folder_cycles(NEEDS)) == []
    for source in BUILDER.rglob("*.py"):
        for module in imported_modules(source, ROOT / "rocm_sdk", folder=()):
            assert not [name for name in module if name.startswith("_") or name == "cli"], f"{source}: {module}"


def test_the_loader_knows_nothing_of_the_builder() -> None:
    """The loader starts it as a process."""
    sources = (ROOT / "rocm_sdk").rglob("*.py")
    assert [each.name for each in sources if "rocm_sdk_build" in each.read_text()] == ["build_command.py"]


# The folders of the builder, from the lowest up; what lies beside them is the order of it all, and above them.
BUILDER_FOLDERS = ("base", "code", "inputs", "packages", "output", "checking", "building", "closure")


def test_folders_of_the_builder() -> None:
    for name, others in NEEDS.items():
        folder = name.partition("/")[0]
        if folder in BUILDER_FOLDERS:
            allowed = {"__init__", *BUILDER_FOLDERS[: BUILDER_FOLDERS.index(folder) + 1]}
            assert {other.partition("/")[0] for other in others} <= allowed, name


# The same for the parts of closure/.
CLOSURE_PARTS = ("__init__", "source_sdk", "choosing", "writing", "proving", "closure", "report")


def test_parts_of_closure() -> None:
    for name, others in NEEDS.items():
        if name.startswith("closure/"):
            part = CLOSURE_PARTS.index(name.split("/")[1])
            for other in others:
                assert not other.startswith("closure/") or CLOSURE_PARTS.index(other.split("/")[1]) <= part, name
