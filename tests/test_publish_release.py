"""The program `scripts/publish-release`, with a gh that says what it was given."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from programs import completed

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """Return a directory with dist/ and gh."""
    files = {"index/a.whl": "a", "more/objects.tar.gz": "o", "notes.md": "n\n", "tag.txt": "rocm_sdk 1.2.3\n\ntext\n"}
    for name, text in files.items():
        path = tmp_path / "dist" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sums = [(tmp_path / "dist" / name) for name in ("index/a.whl", "more/objects.tar.gz")]
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sums)
    (tmp_path / "dist/more/SHA256SUMS").write_text("".join(lines))
    gh = tmp_path / "bin/gh"
    gh.parent.mkdir()
    gh.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    gh.chmod(0o755)
    return tmp_path


def publish(dist: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{dist}/bin:{os.environ['PATH']}"}
    command = [str(ROOT / "scripts/publish-release"), *words]
    return completed(command, cwd=dist, env=environment)


def test_the_page_of_a_release(dist: Path) -> None:
    done = publish(dist, "v1.2.3")
    assert done.returncode == 0, done.stderr
    given = done.stdout.split("\n")[:-1]
    assert given[:4] == ["release", "create", "v1.2.3", "--verify-tag"]
    assert given[-3:] == ["dist/index/a.whl", "dist/more/SHA256SUMS", "dist/more/objects.tar.gz"]


@pytest.mark.parametrize(
    ("name", "text", "tag", "said"),
    [
        ("index/a.whl", "b", "v1.2.3", "a.whl: FAILED"),
        ("index/b.whl", "b", "v1.2.3", "files that SHA256SUMS does not name"),
        ("notes.md", "n", "v1.2.4", "dist/ is that of rocm_sdk 1.2.3, not of v1.2.4"),
        ("tag.txt", None, "v1.2.3", "no dist/tag.txt: make release VERSION=1.2.3"),
    ],
)
def test_a_page_that_is_refused(dist: Path, name: str, text: str | None, tag: str, said: str) -> None:
    path = dist / "dist" / name
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_text(text)
    done = publish(dist, tag)
    assert (done.returncode, said in done.stdout + done.stderr) == (1, True), done.stdout + done.stderr
    assert "release\ncreate" not in done.stdout
