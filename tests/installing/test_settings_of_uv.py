"""The settings of uv that lead to further indexes: our words beside the questions of uv."""

import os
import subprocess
from pathlib import Path

import pytest

from rocm_sdk.installed.installer import further_places

FURTHER = "http://127.0.0.1:9/further"  # nothing listens there
PROJECT = '[project]\nname = "x"\nversion = "1"\n'
LIST = f'extra-index-url = ["{FURTHER}"]\n'
MEMBER = '[project]\nname = "y"\nversion = "1"\n[tool.uv.sources]\nx = { workspace = true }\n'


@pytest.mark.parametrize(
    ("files", "is_asked"),
    [
        ({"a/uv.toml": LIST}, True),
        ({"a/uv.toml": LIST, "a/b/pyproject.toml": PROJECT}, True),
        ({"a/uv.toml": LIST, "a/b/pyproject.toml": PROJECT + "[tool.uv]\n"}, False),
        ({"a/b/uv.toml": LIST, "a/b/pyproject.toml": PROJECT + "[tool.uv]\n"}, True),
        ({"a/pyproject.toml": f"{PROJECT}[tool.uv]\n{LIST}", "a/b/pyproject.toml": PROJECT}, True),
        ({"a/pyproject.toml": f'{PROJECT}[tool.uv]\nindex = [{{ url = "{FURTHER}" }}]\n'}, True),
        ({"a/pyproject.toml": f'{PROJECT}[[tool.uv.index]]\nurl = "{FURTHER}"\n'}, True),
        ({"a/b/pyproject.toml": PROJECT}, False),
        ({"a/uv.toml": LIST, "a/b/pyproject.toml": PROJECT + "[tool.uvicorn]\nport = 1\n"}, True),
        ({"a/pyproject.toml": f"{PROJECT}  [ tool.uv ]\n  {LIST}"}, True),
        (
            {
                "a/pyproject.toml": f'{PROJECT}[tool.uv]\n{LIST}[tool.uv.workspace]\nmembers = ["b"]\n',
                "a/b/pyproject.toml": MEMBER,
            },
            True,
        ),
        (
            {
                "a/pyproject.toml": f'{PROJECT}[tool.uv]\nworkspace = {{ members = ["b"] }}\n{LIST}',
                "a/b/pyproject.toml": MEMBER,
            },
            True,
        ),
    ],
    ids=str,
)
def test_further_indexes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], *, is_asked: bool
) -> None:
    here = tmp_path / "a/b"
    here.mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (here / "requirements.in").write_text("no-such-package-of-this-test\n")
    monkeypatch.delenv("UV_NO_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(here)
    assert bool(further_places("uv", "")) == is_asked
    words = ["uv", "pip", "compile", "--quiet", "--default-index", "http://127.0.0.1:10/default", "requirements.in"]
    asked = subprocess.run(
        words, env=os.environ | {"UV_HTTP_RETRIES": "0"}, capture_output=True, text=True, check=False
    )
    assert asked.returncode != 0
    assert (FURTHER in asked.stderr) == is_asked, asked.stderr
