"""The table of `make mutants` fits the sources: each text is there once, and each test exists."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from source_copy import refresh
from tiers import is_defined

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the table, whose modules import each other as a program's modules do."""
    monkeypatch.syspath_prepend(ROOT / "tests/mutants")
    return importlib.import_module("table")


def test_a_killed_run_leaves_no_stale_objects(tmp_path: Path) -> None:
    """An object that was compiled of a mutation is older than the source that comes back."""
    refresh(tmp_path)
    source = tmp_path / "csrc/base/path.c"
    before = source.read_bytes()
    source.write_bytes(before.replace(b"{", b"{ /* a mutation */", 1))
    (tmp_path / "path.o").touch()
    refresh(tmp_path)
    assert source.read_bytes() == before
    assert source.stat().st_mtime_ns >= (tmp_path / "path.o").stat().st_mtime_ns
    kept = (tmp_path / "csrc/base/path.h").stat().st_mtime_ns
    refresh(tmp_path)
    assert (tmp_path / "csrc/base/path.h").stat().st_mtime_ns == kept, "what is the same is not compiled again"


def test_each_row_fits_the_sources(table: ModuleType) -> None:
    rows = table.MUTATIONS
    assert len(rows) > 10
    for row in rows:
        assert (ROOT / row.file).read_text(encoding="utf-8").count(row.before) == 1, row
        assert row.after != row.before, row
        assert row.tests, row
        for test in row.tests:
            assert is_defined(test.removeprefix("tests/")) or (ROOT / f"tests/c/{test}.c").is_file(), row
