"""`rocm-sdk check --html`: the verdicts as one page."""

from pathlib import Path

from checked_files import Call, compile_library, wheel
from sample_device_code import bundle, library, objects
from sample_site import CORE, Site
from written_page import Page

GPUS = ("--gpu", "gfx1030,gfx1100")


def test_it_says_what_the_command_says(call: Call, sdk: Site, tmp_path: Path) -> None:
    hip = sdk.path / CORE / "lib/libamdhip64.so.7"
    path = library(tmp_path / "libapp.so", [bundle(objects("gfx1030", "gfx942"))], hip)
    gone = compile_library(tmp_path / "gone/libgone.so.3", "libgone.so.3")
    other = compile_library(tmp_path / "libother.so", None, "", (gone,))
    page = tmp_path / "check.html"
    said = call("check", str(path), str(other), *GPUS, "--html", str(page))
    assert (said.returncode, said.stderr) == (1, "")
    assert said.stdout == call("check", str(path), str(other), *GPUS).stdout, "the page is beside the lines"
    text = page.read_text(encoding="utf-8")
    read = Page(text)
    assert (read.open, read.wrong) == ([], [])
    assert read.asked_for == ["a href=#subject0", "a href=#subject1"]
    shown = "".join(read.text)
    assert "0 of 2 work, 2 do not" in shown
    assert "Checked against ROCm SDK 7.10.0, for gfx1030, gfx1100." in shown
    for line in said.stdout.splitlines():
        head, _, rest = line.strip().partition(": ")
        assert head in (str(path), str(other), "fix", "E-CODE-001", "E-LIB-002")
        assert head in shown or head == "fix"
        assert rest.rpartition(": ")[2] in shown
    assert "exact code for gfx1030" in shown
    assert "gfx942200 bytes" in shown


def test_the_installed_sdk(call: Call, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    said = call("check", "--gpu", "gfx942", "--json", "--html", str(page))
    assert said.returncode == 0
    assert "<h1>SDK: works</h1>" in page.read_text(encoding="utf-8")


def test_names_that_would_be_markup(call: Call, sdk: Site, tmp_path: Path) -> None:
    """Names of the file, of a wheel's member and of a needed library; names of users are masked."""
    hip = sdk.path / CORE / "lib/libamdhip64.so.7"
    gone = compile_library(tmp_path / "gone/libg.so", "lib<script>alert(1)</script>\x1b[31m.so")
    inner = compile_library(tmp_path / "libinner.so", None, "", (hip, gone))
    path = wheel(tmp_path / 'a"><b>-1-py3-none-any.whl', {"a/lib<i>\x1b.so": inner})
    page = tmp_path / "check.html"
    call("check", str(path), *GPUS, "--html", str(page), HOME=str(tmp_path))
    text = page.read_text(encoding="utf-8")
    read = Page(text)
    assert (read.open, read.wrong, read.asked_for) == ([], [], ["a href=#subject0"])
    assert "\x1b" not in text
    assert "lib<script>alert(1)</script>" in "".join(read.text)
    assert str(tmp_path) not in text
    assert '<HOME>/a"><b>-1-py3-none-any.whl' in "".join(read.text)


def test_a_page_that_cannot_be_written(call: Call, tmp_path: Path) -> None:
    page = tmp_path / "absent/check.html"
    said = call("check", "--gpu", "gfx942", "--html", str(page))
    assert said.returncode == 1
    assert said.stdout.startswith("SDK: loads"), "the work is done, and said"
    assert f"cannot write {page}: No such file or directory\n  fix: mkdir -p -- {page.parent}\n" in said.stderr
    assert call("check", "--gpu", "gfx942", "--html", "/dev/full").returncode == 1


def test_a_long_name_is_said_once(call: Call, tmp_path: Path) -> None:
    """The line names the wheel; its problems say "it"."""
    gone = compile_library(tmp_path / "gone/libamdhip64.so.5", "libamdhip64.so.5")
    inner = compile_library(tmp_path / "libinner.so", None, "", (gone,))
    path = wheel(tmp_path / "a_long_name-1.0-cp312-cp312-linux_x86_64.whl", {"a/libinner.so": inner})
    lines = call("check", str(path), *GPUS).stdout.splitlines()
    assert lines[0].startswith(f"{path}: does not load")
    problems = [line for line in lines[1:] if not line.startswith("  fix:")]
    assert problems
    assert not any(path.name in line for line in problems)
    assert any(": it was built for ROCm" in line for line in problems)
