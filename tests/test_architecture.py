"""The list of layers in docs/architecture.md has the directories that there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## Layers\n")[2].partition("\n## ")[0]
PARENTS = {"builder/": "builder/rocm_sdk_build", "rocm_sdk/": "rocm_sdk", "csrc/": "csrc"}
APART = {
    "include",
    "install",
    "_pyinstaller",
    "__pycache__",
}  # no layers: docs/architecture.md describes them elsewhere


def listed(parent: str) -> set[str]:
    """Return the directories of the list: `cli/` in the lines below `rocm_sdk/`, and `csrc/elf/` itself."""
    below = re.search(rf"^    {parent} .*\n((?:      .*\n)*)", LAYERS, re.MULTILINE)
    lines = below[1] if below else ""
    names = re.findall(r"^      (\w+)/ |; (\w+)/$", lines, re.MULTILINE)
    return {*re.findall(rf"^    {parent}(\w+)/ ", LAYERS, re.MULTILINE), *(own or last for own, last in names)}


@pytest.mark.parametrize("parent", PARENTS)
def test_the_layers_are_the_directories(parent: str) -> None:
    directories = {each.name for each in (ROOT / PARENTS[parent]).iterdir() if each.is_dir()}
    assert listed(parent) == directories - APART
