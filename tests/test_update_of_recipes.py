"""packaging/update: the recipes get the version and the digests of a source distribution that an index has."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_index import serve
from programs import completed
from ruamel.yaml import YAML
from test_recipes import RECIPES, versions_of

ARCHIVE = b"what a release has"
NAME = "rocm_sdk_loader-7.8.9.tar.gz"
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    shutil.copytree(RECIPES, tmp_path / "packaging")
    return tmp_path / "packaging"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the address of an index, and the page of the project, whose digest is right."""
    root = tmp_path / "served"
    page = root / "simple/rocm-sdk-loader/index.html"
    page.parent.mkdir(parents=True)
    (root / NAME).write_bytes(ARCHIVE)
    page.write_text(f'<a href="../../{NAME}#sha256={SHA256}">{NAME}</a>')
    server = serve(root)
    yield next(server), page
    next(server, None)


def update(recipes: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1800000000"} | variables
    command = [sys.executable, str(recipes / "update"), *words]
    return completed(command, env=environment)


def contents(recipes: Path) -> dict[str, bytes]:
    return {str(path.relative_to(recipes)): path.read_bytes() for path in recipes.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["index", "directory"])
def test_all_recipes_move(recipes: Path, served: tuple[str, Path], tmp_path: Path, kind: str) -> None:
    before = contents(recipes)
    done = update(recipes, "7.8.9", served[0] if kind == "index" else str(tmp_path / "served"))
    assert (done.returncode, done.stderr) == (0, "")
    assert versions_of(recipes) == {"7.8.9"}
    source = YAML(typ="safe").load(recipes / "conda/recipe.yaml")["source"]
    assert source["sha256"] == SHA256
    assert source["url"].endswith("/rocm_sdk_loader-${{ version }}.tar.gz")
    assert f'version("7.8.9", sha256="{SHA256}")' in (recipes / "spack/package.py").read_text()
    manifest = (recipes / "gentoo/dev-python/rocm-sdk-loader/Manifest").read_text().split()
    assert manifest[:3] == ["DIST", NAME, str(len(ARCHIVE))]
    assert manifest[3::2] == ["BLAKE2B", "SHA512"]
    assert manifest[4::2] == [hashlib.blake2b(ARCHIVE).hexdigest(), hashlib.sha512(ARCHIVE).hexdigest()]
    assert "> - 7.8.9-1\n- New version.\n\n* " in (recipes / "rpm/rocm-sdk-loader.spec").read_text()
    assert "Fri, 15 Jan 2027 08:00:00 +0000" in (recipes / "debian/changelog").read_text()
    after = contents(recipes)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {name for name in changed if name in after} == {
        line.removeprefix("packaging/") for line in done.stdout.splitlines()
    }
    again = update(recipes, "7.8.9", str(tmp_path / "served"))
    assert again.returncode == 0
    assert contents(recipes) == after


@pytest.mark.parametrize(
    "fault", ["version", "absent", "other digest", "no digest", "yanked", "nothing answers", "recipe", "date", "size"]
)
def test_nothing_changes(recipes: Path, served: tuple[str, Path], fault: str) -> None:
    address, page = served
    text = page.read_text()
    words = {
        "version": (["7.8"], "'7.8' is no version"),
        "absent": (["7.8.8", address], "has no rocm_sdk_loader-7.8.8.tar.gz"),
        "other digest": (["7.8.9", address], f"its SHA-256 is not the one of the index, which names {'0' * 64}"),
        "no digest": (["7.8.9", address], "is not the one of the index, which names none"),
        "yanked": (["7.8.9", address], "has no rocm_sdk_loader-7.8.9.tar.gz that is not yanked"),
        "nothing answers": (["7.8.9", "http://127.0.0.1:9/"], "Connection refused"),
        "recipe": (["7.8.9", address], "package.py: 2 lines are like "),
        "size": (["7.8.9", str(page.parent)], "it has more than 64 MB"),
        "date": (["7.8.9", address], "SOURCE_DATE_EPOCH=today is no number of seconds"),
    }
    if fault == "other digest":
        page.write_text(text.replace(SHA256, "0" * 64))
    elif fault == "no digest":
        page.write_text(text.replace(f"#sha256={SHA256}", ""))
    elif fault == "yanked":
        page.write_text(text.replace("<a ", '<a data-yanked="broken" '))
    elif fault == "recipe":
        with (recipes / "spack/package.py").open("a") as file:
            file.write('\n    version("1")\n')
    elif fault == "size":
        with (page.parent / "rocm_sdk_loader-7.8.9.tar.gz").open("wb") as file:
            file.truncate((64 << 20) + 1)
    before = contents(recipes)
    done = update(recipes, *words[fault][0], **({"SOURCE_DATE_EPOCH": "today"} if fault == "date" else {}))
    assert done.returncode == (2 if fault in {"version", "date"} else 1)
    assert words[fault][1] in done.stderr
    assert "\n  fix: " in done.stderr
    assert contents(recipes) == before
