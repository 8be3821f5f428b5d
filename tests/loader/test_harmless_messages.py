"""Exceptions and warnings hold text of files: as texts they are harmless, their attributes are exact."""

import ast
import inspect
import os
import pickle
from pathlib import Path

import pytest
from sample_site import Site, run_python

from rocm_sdk import errors

PACKAGE = Path(__file__).resolve().parents[2] / "rocm_sdk"
EVIL = "\x1b]0;title\x07\u202e\x9b31m\n\u200b"
SHOWN = "\\x1b]0;title\\x07\\u202e\\x9b31m\\n\\u200b"


def is_harmless(text: str) -> bool:
    return all(each.isprintable() or each == "\n" for each in text)


def classes(base: type) -> list[type]:
    return [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, base)]


@pytest.mark.parametrize("kind", classes(errors.RocmSdkError))
def test_an_exception(kind: type[errors.RocmSdkError]) -> None:
    fresh = kind(f"a{EVIL}", f"b{EVIL}", f"/c{EVIL}")
    for error in (fresh, pickle.loads(pickle.dumps(fresh))):
        assert str(error) == f"a{SHOWN} [{kind.code}]\n  fix: b{SHOWN}"
        assert (error.message, error.fix, error.path) == (f"a{EVIL}", f"b{EVIL}", f"/c{EVIL}")


@pytest.mark.parametrize("kind", classes(errors.RocmSdkWarning))
def test_a_warning(kind: type[errors.RocmSdkWarning]) -> None:
    assert str(kind(EVIL)) == str(pickle.loads(pickle.dumps(kind(EVIL)))) == SHOWN


def test_each_warning_is_one_of_ours() -> None:
    """Another class would print its text as it is."""
    found = 0
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"warnings.warn", "warn"}:
                assert getattr(errors, ast.unparse(node.args[1]).rpartition(".")[2]).__mro__[1] in {
                    errors.RocmSdkWarning,
                    UserWarning,
                }, path
                found += 1
    assert found >= 4


# An SDK in a directory of this name is enough to have it in every message.
NAMES = {"controls": EVIL.encode(), "no UTF-8": b"\x9b31m\xff", "surrogates": b"\xed\xb2\x80"}


@pytest.fixture(params=NAMES.values(), ids=NAMES)
def hostile_site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    return Site(Path(os.fsdecode(os.fsencode(tmp_path) + b"/site" + request.param)))


CALLS = {
    "a damaged library": "rocm_sdk.preload_libraries('roctx64')",
    "a library that is not there": "rocm_sdk.preload_libraries('amdhip64')",
    "damaged metadata": "open(SITE + '/rocm_sdk_core/_dist_info.py', 'w').close(); rocm_sdk.load_plan('roctx64')",
    "no development package": "rocm_sdk._devel.get_devel_root()",
    "no topology": "os.makedirs(SITE + '/sys/class/kfd/kfd/topology'); rocm_sdk.gpus(root=SITE)",
    "another version": "rocm_sdk.initialize_process(check_version='1.*', fail_on_version_mismatch=False)",
    "a conflict": "rocm_sdk.preload_libraries('rocm_smi64')",
    "the version": "rocm_sdk.initialize_process(check_version='1.*', fail_on_version_mismatch=True)",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_python_prints(hostile_site: Site, call: str) -> None:
    """Nobody catches the exception, and warnings are shown: the interpreter writes both."""
    site = hostile_site
    other = site.path.parent / "other"
    site.write("rocm_sdk_core/_dist_info.py", "__version__ = '7.10\x1b[31m'\n")
    (site.path / "_rocm_sdk_core/lib").mkdir(parents=True, exist_ok=True)
    (site.path / "_rocm_sdk_core/lib/libroctx64.so.4").write_bytes(b"\x7fELF\x1b")
    other.mkdir()
    loaded = site.library("librocm_smi64.so.7")
    (other / loaded.name).write_bytes(loaded.read_bytes())
    site.library("librocm_smi64.so.7", "int other;")
    code = f"import ctypes, os, rocm_sdk, rocm_sdk._devel; SITE = {str(site.path)!r}\n"
    code += f"ctypes.CDLL({str(other / loaded.name)!r}); {call}"
    run = run_python(code, check=False, PYTHONPATH=str(site.path), ROCM_SDK_VERBOSE="1", PYTHONUTF8="1")
    assert is_harmless(run.stderr), run.stderr
    assert run.stderr.strip()
