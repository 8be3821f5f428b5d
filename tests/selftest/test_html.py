"""`rocm-sdk test --html`: one page that needs nothing else, looked at in a browser where there is one."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ended import assert_failed, succeeded
from rocm_sdk.doctor.report.problem_section import problem_section
from sample_report import install
from sample_site import CORE, Site, run_interpreter
from written_page import Page

from rocm_sdk.base.value_text import is_words
from rocm_sdk.problems import problem


@pytest.fixture
def page(sdk: Site, tmp_path: Path) -> Path:
    """Return the report about a damaged library, with a name that would be markup."""
    damaged = sdk.path / CORE / "lib/libamdhip64.so.7"
    damaged.write_bytes(damaged.read_bytes()[:100])
    (sdk.path / CORE / "lib/lib<b>bold&.so").write_bytes(b"nothing")
    install(sdk)
    path = tmp_path / "report.html"
    result = run_interpreter(
        "-m",
        "rocm_sdk",
        "test",
        "--only",
        "files,libraries",
        "--html",
        str(path),
        check=False,
        PYTHONPATH=str(sdk.path),
        HOME=str(sdk.path),
        ROCM_SECRET="shown",
    )
    assert result.returncode == 1, result.stderr
    return path


def test_it_needs_nothing_else(page: Path, sdk: Site) -> None:
    text = page.read_text(encoding="utf-8")
    read = Page(text)
    assert (read.open, read.wrong, read.asked_for) == ([], [], [])
    assert "://" not in text.replace("https://repo.amd.com/rocm/whl-multi-arch/", "")
    shown = "".join(read.text)
    assert " is damaged (and 1 more)" in shown
    assert "libamdhip64.so.7" in shown
    assert "lib<b>bold&.so" in shown
    assert "ROCM_SECRET" in shown  # variables of ROCm are part of a report
    assert str(sdk.path) not in text
    assert "<HOME>" in shown
    assert not list(page.parent.glob("*.partial"))


def test_a_user_who_is_called_as_an_element_is(sdk: Site, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    words = ("-m", "rocm_sdk", "test", "--only", "files", "--html", str(path))
    run_interpreter(*words, PYTHONPATH=str(sdk.path), USER="main", LOGNAME="table", ROCM_PATH="/home/main/table")
    read = Page(path.read_text(encoding="utf-8"))
    assert (read.open, read.wrong) == ([], [])
    assert "/home/<USER>/<USER>" in "".join(read.text)


def test_a_page_that_cannot_be_written(sdk: Site, tmp_path: Path) -> None:
    path = tmp_path / "absent/report.html"
    result = run_interpreter(
        "-m", "rocm_sdk", "test", "--only", "files", "--html", str(path), check=False, PYTHONPATH=str(sdk.path)
    )
    assert_failed(result, 1, f"cannot write {path}: No such file or directory\n  fix: mkdir -p -- {path.parent}\n")


def test_in_a_browser(page: Path, tmp_path: Path) -> None:
    """The browser shows the problems, and a picture of the page has more than one colour."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium: apt-get install chromium")
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    dom = succeeded([*common, "--dump-dom", page.as_uri()], env=environment, timeout=120)
    assert " is damaged (and 1 more)" in dom.stdout
    assert "lib&lt;b&gt;bold&amp;.so" in dom.stdout
    picture = tmp_path / "page.png"
    subprocess.run(
        [*common, f"--screenshot={picture}", "--window-size=1000,1400", page.as_uri()],
        env=environment,
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert picture.stat().st_size > 20_000


def test_a_missing_library_is_in_the_tree(sdk: Site, tmp_path: Path) -> None:
    """Below the library that needs it; a fix that is a sentence does not look like a command."""
    install(sdk)
    (sdk.path / CORE / "lib/libamdhip64.so.7").unlink()
    path = tmp_path / "report.html"
    words = ("-m", "rocm_sdk", "test", "--only", "files,libraries", "--html", str(path))
    result = run_interpreter(*words, check=False, PYTHONPATH=str(sdk.path))
    assert result.returncode == 1, result.stderr
    text = path.read_text(encoding="utf-8")
    assert '<li class="error">libamdhip64.so.7: missing</li>' in text
    assert not re.search("<code>[A-Z][a-z]", text)


def test_a_sentence_is_no_command() -> None:
    sentence = problem("E-CODE-001", target="gfx1100", subject="app")
    assert sentence.fix is not None
    assert is_words(sentence.fix)
    assert "<code>" not in "".join(problem_section(sentence))
    command = sentence._replace(fix="rocm-sdk init")
    assert "<dd><code>rocm-sdk init</code></dd>" in "".join(problem_section(command))
