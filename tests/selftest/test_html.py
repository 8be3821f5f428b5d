"""`rocm-sdk test --html`: one page that needs nothing else, looked at in a browser where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_report import install
from sample_site import CORE, Site, clean_environment

# Elements without an end tag, and those whose end tag HTML lets one omit.
VOID = {"meta", "tr", "th", "td", "dt", "dd"}


class Page(HTMLParser):
    """Collects what a page asks for, its text, and tags that do not fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.asked_for: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked_for += [f"{tag} {name}={value}" for name, value in attrs if name in {"src", "href", "action"}]
        if tag in {"script", "link", "iframe", "img"}:
            self.asked_for.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def page(sdk: Site, tmp_path: Path) -> Path:
    """The report about a damaged library, with a name that would be markup."""
    damaged = sdk.path / CORE / "lib/libamdhip64.so.7"
    damaged.write_bytes(damaged.read_bytes()[:100])
    (sdk.path / CORE / "lib/lib<b>bold&.so").write_bytes(b"nothing")
    install(sdk)
    path = tmp_path / "report.html"
    result = subprocess.run(
        [sys.executable, "-m", "rocm_sdk", "test", "--only", "files,libraries", "--html", str(path)],
        env=clean_environment() | {"PYTHONPATH": str(sdk.path), "HOME": str(sdk.path), "ROCM_SECRET": "shown"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1, result.stderr
    return path


def test_it_needs_nothing_else(page: Path, sdk: Site) -> None:
    text = page.read_text(encoding="utf-8")
    read = Page(text)
    assert (read.open, read.wrong, read.asked_for) == ([], [], [])
    assert "://" not in text.replace("https://repo.amd.com/rocm/whl-multi-arch/", "")
    shown = "".join(read.text)
    assert "libamdhip64.so.7 is damaged" in shown
    assert "lib<b>bold&.so" in shown
    assert "ROCM_SECRET" in shown  # variables of ROCm are part of a report
    assert str(sdk.path) not in text
    assert "<HOME>" in shown
    assert not list(page.parent.glob("*.partial"))


def test_a_page_that_cannot_be_written(sdk: Site, tmp_path: Path) -> None:
    path = tmp_path / "absent/report.html"
    result = subprocess.run(
        [sys.executable, "-m", "rocm_sdk", "test", "--only", "files", "--html", str(path)],
        env=clean_environment() | {"PYTHONPATH": str(sdk.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert f"cannot write {path}: No such file or directory" in result.stderr


def test_in_a_browser(page: Path, tmp_path: Path) -> None:
    """The browser shows the problems, and a picture of the page has more than one colour."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium: apt-get install chromium")
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    dom = subprocess.run(
        [*common, "--dump-dom", page.as_uri()], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert "libamdhip64.so.7 is damaged" in dom.stdout
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
