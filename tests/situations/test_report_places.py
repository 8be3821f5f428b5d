"""The places of reports: a file gets its name when it is complete; a pipe, terminal or device is written to."""

import os
import pty
import stat
import sys
import threading
from pathlib import Path

import pytest

from rocm_sdk.doctor.report.complete_file import complete_file

CONTENT = b"a report\n"


def write(path: Path) -> None:
    with complete_file(str(path)) as file:
        file.write(CONTENT)


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    write(fifo)
    reader.join(10)
    assert read == [CONTENT]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


def test_a_link_to_a_terminal_is_written_through(tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    (tmp_path / "link").symlink_to(os.ttyname(terminal))
    write(tmp_path / "link")
    shown = CONTENT.replace(b"\n", b"\r\n")
    with os.fdopen(controller, "rb", closefd=False) as screen:  # the kernel may pass a line on in pieces
        assert screen.read(len(shown)) == shown
    assert (tmp_path / "link").is_symlink()
    os.close(controller)
    os.close(terminal)


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_standard_stream(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Earlier output of the stream comes first, also if the stream is a file; pytest's is one."""
    stream = getattr(sys, name)
    (tmp_path / "link").symlink_to(f"/dev/{name}")
    stream.write("before, ")
    write(tmp_path / "link")
    stream.write("after\n")
    stream.flush()
    assert getattr(capfd.readouterr(), name[3:]) == f"before, {CONTENT.decode()}after\n"
    assert (tmp_path / "link").is_symlink()
    assert Path(f"/dev/{name}").is_symlink()


def test_a_descriptor_that_is_a_file(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        write(Path(f"/dev/fd/{file.fileno()}"))
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("target", ["of somebody else", None])
def test_a_file_is_not_written_through_a_link(tmp_path: Path, target: str | None, *, replaces: bool) -> None:
    """In a directory that others may write, somebody else may have made it."""
    precious, link = tmp_path / "target", tmp_path / "x.json"
    if target is not None:
        precious.write_text(target)
    link.symlink_to(precious)
    with complete_file(str(link), replaces=replaces) as file:
        file.write(CONTENT)
    assert (link if replaces else tmp_path / "x.1.json").read_bytes() == CONTENT
    assert link.is_symlink() != replaces
    assert (precious.read_text() if precious.exists() else None) == target


def test_what_was_planted_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("of somebody else")
    (tmp_path / "x.html.partial").symlink_to("target")
    (tmp_path / "x.html").write_text("before")
    write(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_bytes() == CONTENT
    assert (tmp_path / "target").read_text() == "of somebody else"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "x.html", "x.html.partial"]
    assert (tmp_path / "x.html").stat().st_mode & 0o777 == 0o644


def test_nothing_stays_of_one_that_fails(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("before")
    with pytest.raises(ZeroDivisionError), complete_file(str(tmp_path / "x.html")) as file:
        file.write(CONTENT)
        raise ZeroDivisionError
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]
