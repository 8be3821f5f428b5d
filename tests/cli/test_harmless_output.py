"""Text of files on a terminal: whatever a package's files say, it obeys nothing. Output for programs is exact."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ended import succeeded
from sample_devel import DevelSite, core_files
from sample_device_code import bundle, objects
from sample_device_code import library as library_with_code
from sample_site import clean_environment

from rocm_sdk.base.value_text import harmless, one_line

ROOT = Path(__file__).resolve().parents[2]
EVIL = "\x9b31m\u202e\x1b]0;title\x07\u2066\u200b"
COMMANDS = [
    ["version"],
    ["info"],
    ["targets"],
    ["targets", "--installed"],
    ["targets", "--check"],
    ["targets", "--missing"],
    ["targets", "--cmake"],
    ["gpus"],
    ["check-gpu", "--gpu", "gfx1030"],
    ["check-gpu", "--gpu", "gfx1031", "--unofficial"],
    ["check-gpu", "--gpu", "gfx\x1b[31m"],
    ["check-gpu", "--gpu", "gfx1030", "--sdk", "x\x1b[31m"],
    ["info", "--sizes"],
    ["info", "--build-id"],
    ["info", "--build-id", "./x\x1b[31m"],
    ["code", "{site}"],
    ["tree"],
    ["init"],
    ["init", "--check"],
    ["path", "amdhip64"],
    ["path", "--root"],
    ["path", "hip\x1b[31m"],
    ["test"],
    ["test", "-v", "--deep"],
    ["store", "verify", "--store", "x\x1b[31m"],
]


def is_harmless(text: str) -> bool:
    return all(each.isprintable() or each == "\n" for each in text)


@pytest.fixture(params=[EVIL, "\udc9b", "a\u2028b"], ids=["controls", "byte", "line separator"])
def hostile_site(request: pytest.FixtureRequest, tmp_path: Path) -> DevelSite:
    """Return an SDK whose version, metadata and names of files hold characters that a terminal obeys."""
    evil = request.param
    raw = evil.encode("utf-8", "surrogateescape")
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    files = core_files() | {
        "rocm_sdk_core/_dist_info.py": b"__version__ = '7.10" + raw + b"'\nDEFAULT_TARGET_FAMILY = 'gfx" + raw + b"'\n",
        "_rocm_sdk_core/share/therock/dist_info.json": b'{"dist_amdgpu_targets": "gfx942;' + raw + b'"}',
    }
    site.install("rocm-sdk-core", files)
    name = os.fsencode(site.path) + b"/rocm_sdk_x" + raw.replace(b"/", b"") + b"-1" + raw + b".dist-info"
    Path(os.fsdecode(name)).mkdir()
    Path(os.fsdecode(name + b"/METADATA")).write_bytes(b"Name: rocm-sdk-x" + raw + b"\nVersion: 1" + raw + b"\n")
    Path(os.fsdecode(name + b"/RECORD")).write_bytes(b"_rocm_sdk_core/lib/lib" + raw.replace(b"\n", b"") + b".so.1,,\n")
    library = os.fsencode(site.core) + b"/lib/libamdhip64.so.7" + raw
    Path(os.fsdecode(library)).write_bytes(b"\x7fELF" + raw)
    target = f"hipv4-amdgcn-amd-amdhsa--gfx{evil}".encode("utf-8", "surrogateescape").decode("latin-1")
    code = library_with_code(site.path / "code.so", [bundle({**objects("gfx1030"), target: b"x"})]).read_bytes()
    Path(os.fsdecode(os.fsencode(site.core) + b"/lib/librocrand" + raw + b".so.1")).write_bytes(code)
    (site.core / "lib/libmore.so").write_bytes(code)
    return site


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_writes_it(hostile_site: DevelSite, words: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "rocm_sdk", *(word.replace("{site}", str(hostile_site.core)) for word in words)],
        env=hostile_site.environment(PYTHONUTF8="1", PYTHONWARNINGS="ignore"),
        capture_output=True,
        check=False,
        timeout=120,
    )
    stdout, stderr = (text.decode("utf-8", "surrogateescape") for text in (run.stdout, run.stderr))
    assert "Traceback" not in stderr, stderr
    assert is_harmless(stderr), stderr
    if words[0] != "path":
        assert is_harmless(stdout), stdout


def test_version_in_a_command_substitution(hostile_site: DevelSite) -> None:
    """A shell gets a version or nothing."""
    run = hostile_site.command("version", check=False, env=hostile_site.environment(PYTHONUTF8="1"))
    assert (run.returncode, run.stdout) == (1, "")
    assert "is not a version" in run.stderr or "damaged" in run.stderr or "_dist_info.py" in run.stderr


def test_what_programs_read_is_exact(tmp_path: Path) -> None:
    """A path is printed byte for byte, and JSON has the text that the file has."""
    site = DevelSite(tmp_path / "site\x1b[31m")
    site.install_sdk()
    site.command("init", "--quiet")
    assert site.command("path", "--root").stdout == f"{site.tree}\n"
    sh = '. /dev/stdin; printf %s "$ROCM_PATH"'
    env = site.command("env").stdout
    shell = succeeded(["sh", "-c", sh], input=env, env=clean_environment())
    assert shell.stdout == str(site.tree)
    facts = json.loads(site.command("info", "--json").stdout)
    assert str(site.core) in {package["directory"] for package in facts["packages"]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain \u00e4\u4e2d", "plain \u00e4\u4e2d"),
        ("\x9b31m", "\\x9b31m"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202eabc\u2069", "\\u202eabc\\u2069"),
        ("\udc80\x7f\0\ud800", "\\x80\\x7f\\x00\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_harmless(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_one_line() -> None:
    assert one_line(" a\n  b\x1b ") == "a b\\x1b"


# Where the command prints: its functions for people, and output for programs, which is exact.
PRINTING = {
    "base/namespaces": 1,
    "base/reporter": 1,
    "cli/__init__": 1,
    "cli/compiler_flags": 1,
    "cli/completion": 1,
    "cli/env": 2,
    "cli/explain": 5,
    "cli/gpus": 1,
    "cli/info/__init__": 1,
    "cli/init": 2,
    "cli/path": 3,
    "cli/store": 1,
    "cli/targets": 3,
    "cli/test": 6,
    "cli/merged_reports": 1,
    "cli/tree/__init__": 2,
    "cli/version": 1,
    "terminal/output": 5,
    "terminal/progress": 1,
}


def test_there_is_one_place() -> None:
    """A new print in the command is either for people, and belongs into `output`, or for programs, and is listed."""
    found: dict[str, int] = {}
    for path in (file for part in ("base", "cli", "terminal") for file in (ROOT / "rocm_sdk" / part).rglob("*.py")):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        count = sum(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)
        if count:
            found[path.relative_to(ROOT / "rocm_sdk").with_suffix("").as_posix()] = count
    assert found == PRINTING
