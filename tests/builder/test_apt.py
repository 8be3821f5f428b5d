"""Packages that apt cannot install: packages stand against them, or apt fails. Real apt runs on a small Debian."""

import os
import shutil
from pathlib import Path

import pytest
from small_debian import Archive

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.apt import Apt, UnmetError


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """Return an archive where one package excludes another, and one needs an absent package."""
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system")
    archive = Archive(tmp_path / "archive")
    archive.add("one", (), {}, more={"Conflicts": "two"})
    for name, depends in (("two", ()), ("three", ("gone",)), ("four", ())):
        archive.add(name, depends, {})
    archive.publish()
    monkeypatch.setenv("APT_CONFIG", str(archive.apt_conf))
    return archive


@pytest.mark.usefixtures("few")
def test_packages_that_cannot_be_installed_together(tmp_path: Path) -> None:
    apt = Apt(tmp_path / "state")
    apt.update()
    assert apt.together(["four", "one", "two", "three"]) == ["four", "one"]
    assert apt.together([]) == []
    assert [package.name for package in apt.closure(["four", "one"], ())] == ["four", "one"]
    for roots, cause in ((["one", "two"], "one : Conflicts: two"), (["four", "three"], "three : Depends: gone but ")):
        with pytest.raises(UnmetError) as refused:
            apt.closure(roots, ())
        message = str(refused.value)
        assert message.startswith(f"apt cannot install {', '.join(roots)} together: apt-get: ")
        assert cause in message
        assert "sources" in refused.value.fix


def test_an_apt_that_can_install_nothing(few: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason of apt is told at once: no package is left out, and apt is not started for each of them."""
    apt = Apt(tmp_path / "state")
    apt.update()
    with few.apt_conf.open("a") as settings:
        settings.write('APT::Solver "gone";\n')
    starts = tmp_path / "starts"
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "apt-get").write_text(f'#!/bin/sh\necho >> {starts}\nexec {shutil.which("apt-get")} "$@"\n')
    (programs / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(PackagingError, match="external solver 'gone'") as refused:
        apt.together(["four", "one", "two", "three"])
    assert not isinstance(refused.value, UnmetError)
    assert len(starts.read_text()) == 2
