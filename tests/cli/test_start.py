"""The modules that a command imports before it answers: none takes longer than the answer."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_site import CORE, Site, run_interpreter

Call = Callable[..., subprocess.CompletedProcess[str]]

# Modules that Python itself does not import at its start, and that the answers of most commands do not need.
HEAVY = frozenset(
    (
        "argparse",
        "collections",
        "contextlib",
        "functools",
        "importlib",
        "json",
        "operator",
        "pathlib",
        "re",
        "shutil",
        "subprocess",
        "tempfile",
        "typing",
        "warnings",
        "zipfile",
    )
)

# How the packages were installed is a part of what is told: sysconfig says where, and from 3.12 on imports threading.
TELLING = (
    HEAVY
    - {"importlib", "operator", "warnings"}
    - ({"collections", "functools"} if sys.version_info >= (3, 12) else set())
)

# Call -> what it must not import. FILE is a library.
FORBIDDEN = {
    (): HEAVY,
    ("version",): HEAVY,
    ("targets",): HEAVY,
    ("targets", "--missing"): HEAVY - {"collections", "contextlib", "functools"},  # for importlib.util
    ("path", "--core"): HEAVY,
    ("path", "--root"): HEAVY,
    ("path", "amdhip64"): HEAVY,
    ("path", "amdhip"): TELLING,  # there is none
    ("list",): TELLING,
    ("gpus",): TELLING,
    ("gpus", "--arch"): TELLING,
    ("env",): HEAVY,
    ("code", "FILE"): HEAVY,
    ("check-gpu",): TELLING,
    ("check-gpu", "--gpu", "gfx942"): HEAVY,
    ("explain",): HEAVY,
    ("explain", "E-CODE-004"): HEAVY | {"rocm_sdk.errors"},  # no subject of the self test reports it
    ("explain", "E-ENV-007"): frozenset({"argparse", "zipfile"}),
    ("info",): frozenset({"argparse"}),
}

PROGRAM = """if True:
    import sys
    before = set(sys.modules)
    from {module} import main
    main(sys.argv[1:])
    print("before:", *before)
    print("imported:", *(sys.modules.keys() - before))
"""


@pytest.mark.parametrize("words", FORBIDDEN, ids=" ".join)
def test_nothing_heavy_is_imported(call: Call, sdk: Site, devel_tree: Path, words: tuple[str, ...]) -> None:
    assert call("init", "--quiet").returncode == 0
    assert devel_tree.is_dir()
    file = str(sdk.path / CORE / "lib/libamdhip64.so.7")
    imported = imported_by("rocm_sdk.cli", HEAVY, *(file if word == "FILE" else word for word in words), site=sdk)
    assert sorted(FORBIDDEN[words] & imported) == []


def imported_by(module: str, heavy: frozenset[str], *words: str, site: Site) -> set[str]:
    """Return the modules that a call of a module's function `main` imports, and the import of that module before it."""
    done = run_interpreter("-c", PROGRAM.format(module=module), *words, check=False, PYTHONPATH=str(site.path))
    assert done.returncode == 0, done.stderr
    *_, before, imported = done.stdout.splitlines()
    assert not heavy & {*before.split()}, "the interpreter's own start hides what the command imports"
    assert module in imported.split()
    return {*imported.split()}


# Prints how often garbage was looked for while the command ran, and whether what is there in the end is passed over.
COLLECTIONS = """
import gc, sys
from {module} import main
sys.argv, before = ["command", *{words}], sum(each["collections"] for each in gc.get_stats())
try:
    main({given})
finally:
    print(sum(each["collections"] for each in gc.get_stats()) - before, gc.get_freeze_count() > 0, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("module", "words"), [("rocm_sdk.__main__", ["list", "--json"]), ("rocm_sdk_build.__main__", ["closure", "--help"])]
)
def test_garbage_is_hardly_looked_for(sdk: Site, module: str, words: list[str]) -> None:
    """Imported modules are none, and what is left goes with the process. Who calls the function decides himself."""

    def found(given: str) -> tuple[int, str]:
        code = COLLECTIONS.format(module=module, words=words, given=given)
        done = run_interpreter("-c", code, PYTHONPATH=str(sdk.path))
        collections, is_frozen = done.stderr.splitlines()[-1].split()
        return int(collections), is_frozen

    collections, is_frozen = found("")
    assert collections <= 2
    assert is_frozen == "True"
    collections, is_frozen = found(repr(words))
    assert is_frozen == "False"


TYPES = """
from rocm_sdk import _native
_native.compatibility("gfx942", "gfx942", None, False)
print(*sorted(name for name in vars(_native) if name[0].isupper()))
before = _native.Coverage
print(_native.Bindings.__name__, _native.Coverage is before)
"""


def test_types_of_gpu_code_are_made_without_the_others(sdk: Site) -> None:
    """Types of bindings, and of a library's needs of the system, are made when one of them is asked for."""
    made, others = run_interpreter("-c", TYPES, PYTHONPATH=str(sdk.path)).stdout.splitlines()
    assert {"Compatibility", "Coverage", "DeviceCode", "DeviceImage", "LibraryCoverage"} <= {*made.split()}
    assert not {"Binding", "Bindings", "Gpu", "LibraryFacts"} & {*made.split()}
    assert others == "Bindings True"
