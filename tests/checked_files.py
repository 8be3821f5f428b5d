"""Files for `rocm-sdk check`, and what it says of them."""

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

from sample_site import compile_library as compile_into

Call = Callable[..., subprocess.CompletedProcess[str]]


def compile_library(
    path: Path, soname: str | None, source: str = "", needed: tuple[Path, ...] = (), flags: tuple[str, ...] = ()
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return compile_into(path, soname, source, needed, flags)


def wheel(path: Path, files: dict[str, Path | bytes], requires: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, bytes) else content.read_bytes())
        lines = [
            "Metadata-Version: 2.1",
            "Name: sample",
            "Version: 1",
            *([f"Requires-Dist: {requires}"] if requires else []),
        ]
        archive.writestr("sample-1.dist-info/METADATA", "\n".join(lines) + "\n\nText.\n")
    return path


def document(call: Call, *words: str | Path, **environment: str) -> dict[str, object]:
    said = call("check", *map(str, words), "--json", **environment)
    (verdict,) = json.loads(said.stdout)["verdicts"]
    assert said.returncode == {True: 0, False: 1, None: 3}[verdict["works"]]
    return dict(verdict)


def codes(verdict: dict[str, object]) -> list[str]:
    problems = verdict["problems"]
    assert isinstance(problems, list)
    return [each["code"] for each in problems]
