"""Notes in a tree, manifests of device packages and RECORDs that someone changed: nothing outside is touched."""

import csv
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ended import assert_failed, assert_refused
from hostile_input import ENTRIES, TARGET
from sample_devel import DevelSite, device_files, sample_members


@pytest.fixture
def site(devel_site: DevelSite) -> DevelSite:
    """Return an extracted tree with the links of a device package; a file of someone else's is around it."""
    devel_site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    devel_site.command("init")
    for place in (devel_site.path.parent, devel_site.path):
        (place / "victim.txt").write_text("mine")
    return devel_site


def victims(site: DevelSite) -> list[str]:
    return [(place / "victim.txt").read_text() for place in (site.path.parent, site.path)]


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps(change(content) or content))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((name, TARGET) for name in ("../victim.txt", "../../victim.txt", "lib/../../victim.txt", "/victim.txt")),
        *((name, TARGET) for name in ("./a", "", "a//b")),
        *(("../victim.txt", text) for text in ("../../_rocm_sdk_core/bin/hipcc", "x")),
    ],
)
def test_device_links_that_name_other_files(site: DevelSite, name: str, text: str) -> None:
    name = name.replace("/victim", f"{site.path.parent}/victim") if name.startswith("/") else name
    edit(site.tree / ".rocm-sdk/device_links.json", lambda links: links.update({name: text}))
    site.command("init")
    assert victims(site) == ["mine", "mine"]


@pytest.mark.parametrize(
    "text", ['{"a": [1]}', "", "{", "[]", "null", "[" * 100_000, "\\udc80", '{"a": "' + "x" * 90 + '"}']
)
def test_device_links_that_are_none(site: DevelSite, text: str) -> None:
    (site.tree / ".rocm-sdk/device_links.json").write_text(text)
    assert "Traceback" not in site.command("init").stderr
    site.command("init", "--check")


def test_a_device_link_below_a_directory_that_became_a_link(site: DevelSite) -> None:
    """The package is removed; what its link has become is not followed."""
    outside = site.path.parent / "outside"
    (outside / "library").mkdir(parents=True)
    for path in (site.tree / "lib/rocblas/library").iterdir():
        (outside / "library" / path.name).write_text("mine")
    shutil.rmtree(site.tree / "lib/rocblas")
    (site.tree / "lib/rocblas").symlink_to(outside)
    for info in site.path.glob("rocm_sdk_device_gfx942-*"):
        shutil.rmtree(info)
    site.command("init")
    assert [path.read_text() for path in (outside / "library").iterdir()] == ["mine", "mine"]


@pytest.mark.parametrize("name", ENTRIES)
def test_manifests_with_other_entries(site: DevelSite, name: str) -> None:
    path = site.tree / ".rocm-sdk/manifest.json"
    edit(path, lambda content: content["entries"].append(ENTRIES[name]))
    assert_refused(site.command("init", check=False), 1, f"{path} is damaged: ", " install ", " rocm-sdk-devel==7.10.0")
    assert victims(site) == ["mine", "mine"]
    assert not (site.tree / "bin/new").exists()


@pytest.mark.parametrize(
    "text", ['{"format": 1, "archive": [1], "entries": []}', "", "[]", "null", "7", '{"format": 1}', "[" * 100_000]
)
def test_manifests_that_are_none(site: DevelSite, text: str) -> None:
    path = site.tree / ".rocm-sdk/manifest.json"
    path.write_text(text)
    assert_failed(site.command("init", check=False), 1, f"{path} is damaged: ")


def test_a_directory_of_the_tree_that_became_a_link(site: DevelSite) -> None:
    """Runtime links in it are not made elsewhere."""
    outside = site.path.parent / "outside"
    shutil.rmtree(site.tree / "bin")
    outside.mkdir()
    (outside / "hipcc").write_text("mine")
    (site.tree / "bin").symlink_to(outside)
    said = site.command("init").stderr
    assert "bin/hipcc" in said
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"hipcc": "mine"}


@pytest.mark.parametrize("name", ["device_links.json", "stamp"])
def test_notes_that_became_a_link(site: DevelSite, name: str) -> None:
    """The directory of the notes leads elsewhere: a file of this name there is not replaced."""
    outside = site.path.parent / "outside"
    (site.tree / ".rocm-sdk").rename(outside)
    (outside / name).write_text("mine")
    (site.tree / ".rocm-sdk").symlink_to(outside)
    result = site.command("init", check=False)
    assert_failed(result, 1, ".rocm-sdk")
    assert "Traceback" not in result.stderr
    assert (outside / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["device_links.json", "stamp", "manifest.json"])
def test_a_note_that_is_a_pipe(site: DevelSite, name: str) -> None:
    """Nobody waits for a writer."""
    (site.tree / ".rocm-sdk" / name).unlink()
    os.mkfifo(site.tree / ".rocm-sdk" / name)
    assert "Traceback" not in site.command("init", check=False, timeout=30).stderr


@pytest.mark.parametrize("name", ["../outside/.devel_links/x.json", "_rocm_sdk_libraries/link/.devel_links/x.json"])
def test_a_record_that_names_a_manifest_elsewhere(site: DevelSite, name: str) -> None:
    outside = site.path.parent / "outside"
    (outside / ".devel_links").mkdir(parents=True)
    links = {"links": [{"relpath": "bin/new", "target": TARGET.replace("../", "../../", 1)}]}
    (outside / ".devel_links/x.json").write_text(json.dumps(links))
    (site.path / "_rocm_sdk_libraries/link").symlink_to(outside)
    record = site.record("rocm-sdk-device-gfx942")
    with record.open("a", newline="") as file:
        csv.writer(file).writerow([name, "", ""])
    said = site.command("init").stderr
    assert f"{name} is damaged" in said
    assert not (site.tree / "bin/new").exists()


def test_a_tree_that_is_a_link(site: DevelSite) -> None:
    """Nothing is written where it leads, and a new installation makes a tree in its place."""
    outside = site.path / "torch"
    outside.mkdir()
    (outside / "__init__.py").write_text("mine")
    shutil.rmtree(site.tree)
    site.tree.symlink_to(outside)
    assert_failed(site.command("init", check=False), 1, " -m pip install ")
    assert [path.name for path in outside.iterdir()] == ["__init__.py"]
    site.install_devel(sample_members())
    site.command("init", "--check")
    assert not site.tree.is_symlink()
    assert (outside / "__init__.py").read_text() == "mine"


def test_a_stamp_with_names_that_no_file_has(site: DevelSite) -> None:
    stamp = site.tree / ".rocm-sdk/stamp"
    stamp.write_text(f"{stamp.read_text()}\n1 1 1\ta\0b\n1 1 1\t{'x' * 300}")
    assert site.command("path", "--root").stdout == f"{site.tree}\n"
    assert "\0" not in stamp.read_text()


@pytest.mark.parametrize("kind", ["file", "runtime", "directory", "link"])
def test_names_in_a_manifest_that_no_file_has(site: DevelSite, kind: str) -> None:
    path = site.tree / ".rocm-sdk/manifest.json"
    before = path.read_text()
    edit(path, lambda content: content["entries"].append(["bin/\udc80", kind, 0, 0, "", TARGET]))
    result = site.command("init", check=False)
    assert_refused(result, 1, f"{path} is damaged: ")
    path.write_text(before)
    edit(path, lambda content: content["entries"].append([f"bin/{'x' * 300}", kind, 0, 0, "", f"../{TARGET}"]))
    result = site.command("init", "--check", check=False)
    assert_refused(result, 1, "File name too long")
    assert "Traceback" not in result.stderr
