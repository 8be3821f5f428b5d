"""The workflows of GitHub run nothing of their own: each line is a task of make, or a script of the repository.

Some steps run only there: the actions (their inputs are checked by `make lint`), trusted publishing, attestations, and
gh.
"""

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
# The variables that GitHub sets, and that `env` of a workflow takes from it.
VARIABLES = {"GITHUB_REF_NAME": "v1.2.3", "VERSION": "3.12", "RUN": "7", "ROCM_SDK_CI_SINCE": "HEAD~1"}


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return found


def steps() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each step, with the name of its job and the job."""
    for path in WORKFLOWS:
        for name, job in document(path)["jobs"].items():
            yield from ((f"{path.stem}: {name}", job, step) for step in job["steps"])


LINES = [
    pytest.param(line, {**job.get("env", {}), **step.get("env", {})}, id=f"{name}: {line}")
    for name, job, step in steps()
    for line in step.get("run", "").splitlines()
]


def test_there_are_all_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "fuzz", "release", "test", "wheels"]
    assert len(LINES) >= 10


@pytest.mark.parametrize(("line", "environment"), LINES)
def test_what_a_step_runs(line: str, environment: dict[str, str]) -> None:
    """The program make knows the task and all that it needs; a script is there and is one."""
    assert "${{" not in line, "GitHub would put text into the command: name it in env"
    assert environment.keys() <= {*VARIABLES, "GH_TOKEN"}
    words = shlex.split(line)
    while words[0].startswith(("sudo", "--preserve-env=")):
        words = words[1:]
    if words[0] == "make":
        task = next(word for word in words[1:] if "=" not in word)
        shown = subprocess.check_output(["make", "-s", "help"], cwd=ROOT, text=True)
        assert f"  make {task} " in shown, f"make help does not list {task}"
        command = line.replace("make ", "make -n ", 1).removeprefix("sudo ")
        own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        result = completed(["bash", "-c", command], cwd=ROOT, env={**own, **VARIABLES})
        assert result.returncode == 0, result.stderr
        assert result.stdout.strip()
    else:
        script = ROOT / words[0]
        assert os.access(script, os.X_OK), f"{script} is no program"
        subprocess.run(["bash", "-n", str(script)], check=True)


def test_actions_have_a_commit() -> None:
    """A tag can be moved. The version stands behind it, for readers and for dependabot; one action has one commit."""
    commits: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for line in path.read_text(encoding="utf-8").splitlines():
            if "uses:" in line:
                match = re.search(r"uses: ([\w/-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$", line)
                assert match, f"{path.name}: {line.strip()}"
                commits.setdefault(match[1], set()).add(match[2] + match[3])
    assert "pypa/gh-action-pypi-publish" in commits
    assert [name for name, found in commits.items() if len(found) > 1] == []


def test_rights() -> None:
    """None but what a job says; a checkout leaves no token behind."""
    for path in WORKFLOWS:
        assert document(path)["permissions"] == {}, path.name
    for name, job, step in steps():
        assert "permissions" in job, name
        assert job["timeout-minutes"] <= 350, name
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, name
    writing = {
        (name, right)
        for name, job, _ in steps()
        for right, value in job["permissions"].items()
        if value == "write" and name.startswith("release")
    }
    assert {right for name, right in writing if name == "release: pypi"} == {"id-token"}
    assert "release: make" not in {name for name, _ in writing}


def test_the_pythons_are_those_of_the_package() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wanted = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    matrix = document(ROOT / ".github/workflows/test.yml")["jobs"]["pythons"]["strategy"]["matrix"]["python"]
    assert matrix == wanted


def test_a_report_is_asked_for() -> None:
    text = (ROOT / ".github/ISSUE_TEMPLATE/problem.yml").read_text(encoding="utf-8")
    assert "rocm-sdk test --report report.zip" in text
    assert {item["id"] for item in YAML(typ="safe").load(text)["body"] if item["type"] == "textarea"} == {
        "happens",
        "report",
    }


# --- scripts/publish-release, with a gh that says what it was given ---


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
