"""A command looks at the SDK once: how often it opens each library and each file of metadata."""

from pathlib import Path

import pytest
from compiled_files import compile_file
from sample_site import CORE, Site, clean_environment
from system_calls import opened

LIBRARIES = ("libamdhip64.so.7", "librocsparse.so.1", "libhipsparse.so.1")
COMPILER = "_rocm_sdk_core/lib/llvm/bin/clang"
METADATA = ("_dist_info.py", "dist_info.json", "libraries_dist_info.json", "METADATA", "RECORD")


@pytest.fixture
def packaged(sdk: Site) -> Site:
    """Return an SDK with the metadata of an installer, of which `rocm-sdk test` would not complain."""
    compiler = sdk.write(COMPILER)
    flags = [
        "-Wl,--no-as-needed,--allow-shlib-undefined,-rpath,$ORIGIN/../../../lib",
        sdk.path / CORE / "lib/libamdhip64.so.7",
    ]
    compile_file(["cc", "-x", "c", "-", "-x", "none", *flags], compiler, "int main(void) { return 0; }")
    for name, files in (("core", LIBRARIES[:1]), ("libraries", LIBRARIES[1:])):
        info = f"rocm_sdk_{name}-7.10.0.dist-info"
        sdk.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: rocm-sdk-{name}\nVersion: 7.10.0\n")
        listed = [f"_rocm_sdk_{name}/__init__.py", *(f"_rocm_sdk_{name}/lib/{each}" for each in files)]
        listed += ["rocm_sdk_core/_dist_info.py", "rocm_sdk_core/__init__.py"] if name == "core" else []
        listed += ["_rocm_sdk_core/share/therock/dist_info.json", COMPILER] if name == "core" else []
        sdk.write(f"{info}/RECORD", "".join(f"{each},,\n" for each in (*listed, f"{info}/METADATA", f"{info}/RECORD")))
    return sdk


# A command -> how often it opens a library, and a file of metadata, at the most.
BUDGETS = {
    "list": (1, 1),
    "list --json": (1, 1),
    "info": (0, 1),
    "version --json": (0, 1),
    "check": (2, 1),
    "check --gpu gfx942": (2, 1),
    "check-gpu --gpu gfx942": (1, 1),
    "targets --installed": (1, 1),
    "run true": (2, 2),  # the load plan looks for itself
    "tree hipsparse --bindings": (1, 1),
    "tree --bindings": (1, 1),
    # The subject `files` also looks at each file of a RECORD, the C library explains a failed load, and `tools` looks
    # whether the compilers of lib/llvm/bin find what they need: a library that they need is read once for all of them.
    "test": (4, 3),
}


@pytest.mark.parametrize("command", BUDGETS)
def test_opens(packaged: Site, script: Path, tmp_path: Path, command: str) -> None:
    """The files are opened within the budget of the command.

    The budget has nothing for failed openings, and nothing for programs that a test starts.
    """
    words = ["sh", "-c", 'exec "$0" "$@"', str(script), *command.split()]
    env = clean_environment() | {"PYTHONPATH": str(packaged.path)}
    found = opened(words, packaged.path, tmp_path / "calls", env, alone=True, status=None)
    of_library, of_metadata = BUDGETS[command]
    counts = {path: (count, of_library if ".so" in path else of_metadata) for path, count in found.items()}
    read = {path: count for path, count in counts.items() if Path(path).name in (*LIBRARIES, *METADATA)}
    assert {path: count for path, count in read.items() if count[0] > count[1]} == {}
    assert any(".so" in path for path in read) == (of_library > 0)
    assert "rocm_sdk_core/_dist_info.py" in read
