"""comgr writes temporary files and a cache while a program runs: in a container with a read-only root it cannot."""

from collections.abc import Callable
from pathlib import Path

import pytest
from other_user import open_directory
from sample_device_code import bundle, library, objects
from sample_report import install, run_test
from sample_site import CORE, Site

from rocm_sdk.cli import main
from rocm_sdk.fit.comgr_places import place_problems
from rocm_sdk.installed.view import current

TEMPORARY, CACHE = "W-ENV-014", "W-ENV-015"


@pytest.fixture
def comgr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return an SDK with a comgr that has a cache, which is the installed one."""
    site = Site(tmp_path / "site-packages")
    site.library("libamd_comgr.so.3")
    monkeypatch.syspath_prepend(str(site.path))
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR", "AMD_COMGR_CACHE", "AMD_COMGR_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return site


def found() -> dict[str, tuple[str, str]]:
    """Return the place and the cause of each problem by its code."""
    return {each.code: (str(each.path), each.cause) for each in place_problems(current())}


def test_the_usual_places(comgr: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found() == {}
    monkeypatch.setenv("TEMP", str(tmp_path / "none"))
    assert found() == {TEMPORARY: (str(tmp_path / "none"), f"{tmp_path}/none: there is no such directory")}
    monkeypatch.setenv("TMP", str(tmp_path))  # which comes first
    assert found() == {}
    monkeypatch.setenv("TMPDIR", "")  # LLVM takes it as it is
    assert list(found()) == [TEMPORARY]
    (comgr.path / CORE / "lib/libamd_comgr.so.3").unlink()
    assert found() == {}, "nothing compiles"


def test_the_cache(comgr: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not/made/yet"))
    assert found() == {}
    (tmp_path / "file").touch()
    monkeypatch.setenv("AMD_COMGR_CACHE_DIR", str(tmp_path / "file/cache"))
    assert found() == {CACHE: (str(tmp_path / "file/cache"), f"{tmp_path}/file/cache: {tmp_path}/file is no directory")}
    monkeypatch.setenv("AMD_COMGR_CACHE", "0")
    assert found() == {}
    monkeypatch.delenv("AMD_COMGR_CACHE")
    (comgr.path / CORE / "lib/libamd_comgr.so.3").rename(comgr.path / CORE / "lib/libamd_comgr.so.2")
    assert found() == {}, "this one has no cache"


def test_directories_of_others(report_of_other_user: Callable[..., str]) -> None:
    with open_directory() as directory:
        site = Site(directory / "site-packages")
        site.library("libamd_comgr.so.3")
        install(site)
        output = report_of_other_user(site, "--only", "environment", TMPDIR="/usr", AMD_COMGR_CACHE_DIR="/usr/comgr")
    assert TEMPORARY in output
    assert CACHE in output
    assert "/usr/comgr: this user may not write to /usr" in output


def test_check_and_test_say_it(
    comgr: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = {"TMPDIR": str(tmp_path / "gone")}
    monkeypatch.setenv("TMPDIR", gone["TMPDIR"])
    app = library(tmp_path / "app.so", [bundle(objects("gfx1030"))])
    assert main(["check", str(app), "--gpu", "gfx1030"]) == 0, "it runs where the variable is another one"
    cause = f"{TEMPORARY}: ROCm has no place for its temporary files: {gone['TMPDIR']}: there is no such directory"
    assert cause in capsys.readouterr().out
    main(["check", str(comgr.library("libplain.so.1")), "--gpu", "gfx1030"])
    assert TEMPORARY not in capsys.readouterr().out, "it has no code that comgr could be asked for"
    install(comgr)
    problem = run_test(comgr.path, "--only", "environment", **gone).only(TEMPORARY)
    assert problem["fix"] == "Set TMPDIR to a directory that this user may write to"
