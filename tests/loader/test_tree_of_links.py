"""A ROCm of many read-only prefixes, as a store of Nix has it: a tree of links makes one of them for the loader."""

import json
from pathlib import Path

import pytest
from installed_rocm import Prefix
from other_user import become_possible, open_directory

PROGRAM = """
import json, os, rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["rocrand", "hiprand"])
with open("/proc/self/maps", encoding="utf-8") as maps:
    mapped = sorted({line.split()[-1] for line in maps if "/store/" in line})
located = rocm_sdk.locate("rocrand")
print(json.dumps({"mapped": mapped, "path": located.path, "found_via": located.found_via}))
"""
NAMES = {  # prefix: file, and the prefixes that it needs
    "rocr": ("libhsa-runtime64.so.1.18", ()),
    "comgr": ("libamd_comgr.so.3.0", ()),
    "clr": ("libamdhip64.so.7.1.2", ("rocr",)),
    "rocrand": ("librocrand.so.1.1", ("clr",)),
    "hiprand": ("libhiprand.so.1.1", ("rocrand",)),
}


def make_store(store: Path, *, has_search_paths: bool) -> None:
    """Make the prefixes, which nobody may write."""
    made: dict[str, Path] = {}
    for name, (file, needs) in NAMES.items():
        rpath = ":".join(f"{store}/{each}/lib" for each in needs)
        flags = (f"-Wl,--enable-new-dtags,-rpath,{rpath}",) if needs and has_search_paths else ()
        made[name] = Prefix(store / name).library(f"lib/{file}", *(made[each] for each in needs), flags=flags)
    for path in sorted(store.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o555 if path.is_dir() else 0o444)


def join(store: Path, tree: Path) -> None:
    for path in store.rglob("*"):
        if not path.is_dir():
            target = tree / path.relative_to(store / path.relative_to(store).parts[0])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)


@pytest.mark.slow
@pytest.mark.parametrize("has_search_paths", [True, False], ids=["runpath", "none"])
def test_libraries_of_many_prefixes_load_once_from_their_own(has_search_paths: bool) -> None:
    with become_possible() as user, open_directory() as directory:
        store, tree = directory / "store", directory / "tree"
        make_store(store, has_search_paths=has_search_paths)
        try:
            join(store, tree)
            done = user.run("-c", PROGRAM, ROCM_SDK_FALLBACK=f"prefix:{tree}")
            assert (done.returncode, done.stderr) == (0, "")
            said = json.loads(done.stdout)
            assert said["mapped"] == sorted(f"{store}/{name}/lib/{file}" for name, (file, _) in NAMES.items())
            assert said["path"].startswith(f"{tree}/lib/librocrand.so.1")
            assert said["found_via"] == "fallback"
            tested = user.run("-m", "rocm_sdk", "test", "--sdk", tree, "--json")
            codes = {each["code"] for each in json.loads(tested.stdout)["problems"]}
            assert codes == (set() if has_search_paths else {"W-PREFIX-006"})
            assert tested.returncode == 0
        finally:
            for path in [path for path in store.rglob("*") if path.is_dir()]:
                path.chmod(0o755)
