"""The command `rocm-sdk` as its users call it: from shells, with $(...)."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from ended import assert_refused
from programs import completed
from sample_site import CORE, Site, clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Result = subprocess.CompletedProcess[str]


def call(site: Path, *words: str, module: bool = False) -> Result:
    command = [sys.executable, "-m", "rocm_sdk"] if module else [str(SCRIPT)]
    return completed([*command, *words], env=clean_environment() | {"PYTHONPATH": str(site)})


@pytest.fixture
def sdk(site: Site) -> Site:
    site.library("libamdhip64.so.7")
    site.write(
        f"{CORE}/share/therock/dist_info.json",
        '{"dist_amdgpu_targets": "gfx942;gfx1100", "absent_libraries": ["rccl"]}',
    )
    return site


@pytest.mark.parametrize("module", [False, True])
@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["version"], "7.10.0"),
        (["targets"], "gfx942;gfx1100"),
        (["path", "amdhip64"], f"SITE/{CORE}/lib/libamdhip64.so.7"),
    ],
)
def test_answers_are_one_line_on_stdout(sdk: Site, words: list[str], answer: str, module: bool) -> None:
    result = call(sdk.path, *words, module=module)
    assert (result.returncode, result.stdout, result.stderr) == (0, answer.replace("SITE", str(sdk.path)) + "\n", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["path", "hiprtc"], "libhiprtc.so*"),
        (["path", "rccl"], "absent (declared)"),
    ],
)
def test_no_answer_is_status_1_and_said_on_stderr(sdk: Site, words: list[str], said: str) -> None:
    assert_refused(call(sdk.path, *words), 1, said)


@pytest.mark.parametrize("words", [["path"], ["nonsense"], ["version", "nonsense"]])
def test_wrong_usage_is_status_2(sdk: Site, words: list[str]) -> None:
    assert_refused(call(sdk.path, *words), 2, "see: rocm-sdk")


def test_without_an_sdk(tmp_path: Path) -> None:
    for words in (["version"], ["targets"], ["path", "amdhip64"]):
        result = call(tmp_path, *words)
        assert_refused(result, 1, " install --upgrade --index-url https://stable.repo.amd.com/rocm/whl-next/ ")


def test_an_sdk_that_does_not_name_its_targets(site: Site) -> None:
    assert_refused(call(site.path, "targets"), 1, "dist_info.json")


@pytest.mark.parametrize("command", ["version", "targets", "path"])
def test_help_has_an_example(sdk: Site, command: str) -> None:
    result = call(sdk.path, command, "--help")
    assert result.returncode == 0
    assert "example: " in result.stdout
    assert "rocm-sdk " in result.stdout.partition("example: ")[2]


def test_a_reader_that_goes_away_is_no_traceback(sdk: Site) -> None:
    process = subprocess.Popen(
        [str(SCRIPT), "version"],
        env=clean_environment() | {"PYTHONPATH": str(sdk.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert "Traceback" not in process.communicate()[1]
