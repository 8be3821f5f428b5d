"""The promises of docs/promises.md: each difference from the recorded tables has a line in the changelog."""

import re
from functools import cache
from pathlib import Path

import pytest
from promised import __main__ as recording
from promised.changelog import demand, is_announced, newest_items
from promised.commands import exit_statuses, returned_statuses
from promised.present import PRESENT
from promised.tables import RECORDED, Difference, Table, differences, read_table, table_text

ROOT = Path(__file__).resolve().parent.parent


@cache
def present(name: str) -> Table:
    return PRESENT[name]()


def recorded(name: str) -> Table:
    return read_table(RECORDED / f"{name}.tsv")


@pytest.mark.parametrize("name", PRESENT)
def test_each_difference_has_a_line_in_the_changelog(name: str) -> None:
    items = newest_items((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    found = differences(recorded(name), present(name))
    missing = [demand(each) for each in found if not is_announced(each, items)]
    assert not missing, "\n".join(missing)


def test_the_page_names_each_table() -> None:
    page = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
    assert {f"{name}.tsv" for name in PRESENT} == set(re.findall(r"`(\w+\.tsv)`", page))
    assert {f"{name}.tsv" for name in PRESENT} == {path.name for path in RECORDED.iterdir()}


def unraised(was: Table, now: Table) -> list[str]:
    """Return the documents that lost or changed a key under the same schema."""
    found = [each for each in differences(was, now) if each.kind != "added" and not each.was.startswith("schema")]
    documents = {each.name.partition(" --json")[0] + " --json" for each in found if " --json " in each.name}
    return sorted(name for name in documents if was.get(name) == now.get(name))


def test_a_document_that_lost_a_key_has_a_new_schema() -> None:
    assert not unraised(recorded("json"), present("json"))
    was = {"rocm-sdk x --json": "schema 1", "rocm-sdk x --json a": "text"}
    assert unraised(was, {"rocm-sdk x --json": "schema 1"}) == ["rocm-sdk x --json"]
    assert unraised(was, was | {"rocm-sdk x --json a": "number"}) == ["rocm-sdk x --json"]
    assert not unraised(was, {"rocm-sdk x --json": "schema 2"})
    assert not unraised(was, was | {"rocm-sdk x --json b": "text"})


def test_the_tables_have_what_there_is() -> None:
    """A reader that finds nothing would find no difference."""
    symbols = (ROOT / "csrc/install/symbols").read_text(encoding="ascii").split()
    assert all("(" in present("c")[name] for name in symbols)
    assert present("c")["rsdk_sdk_options.search_path"] == "at 0: const char *const *search_path"
    assert present("c")["rsdk_status.RSDK_OK"] == "0"
    assert present("python")["rocm_sdk.find_headers"] == "(name: str, *, extract: bool=True) -> FileLocation"
    assert present("python")["rocm_sdk.locate"].startswith("(shortname: ")
    assert present("python")["rocm_sdk.LibraryLocation.path"] == "str | None"
    assert {"rocm_sdk._devel.get_devel_root", "rocm_sdk._dist_info.ALL_LIBRARIES"} <= present("python").keys()
    assert present("commands")["rocm-sdk path --tool"] == "NAME"
    assert present("commands")["rocm-sdk store action"] == "{prune,verify}"
    assert present("commands")["rocm-sdk-build prefix --output"] == "DIR required"
    assert present("codes")["E-LIB-002"] == "error"
    assert present("json")["rocm-sdk tree --json steps[].path"] == "text"
    assert {"ROCM_SDK_ROOT", "ROCM_SDK_LIBRARY_"} <= present("variables").keys()


def test_the_table_of_exit_statuses_has_those_that_commands_return() -> None:
    table = exit_statuses()
    returned = returned_statuses()
    assert returned["rocm-sdk check"] >= {0, 1, 2}
    for command, numbers in returned.items():
        for number in numbers:
            assert f"rocm-sdk {number}" in table or f"{command} {number}" in table, (
                f"docs/commands.md: {command} {number}"
            )


CHANGELOG = """# Changelog

## [Unreleased]

### Added

- `rocm-sdk path --header|--tool NAME`, and
  `Gpu.uuid` in Python.

### Changed

- `find_tool` takes `extract`.

## [0.1.0]

### Removed

- `find_headers`
"""


@pytest.mark.parametrize(
    ("difference", "announced"),
    [
        (Difference("rocm-sdk path --tool", None, "NAME"), True),
        (Difference("rocm-sdk path --bin", None, "flag"), False),
        (Difference("rocm-sdk list --tool", None, "NAME"), False),
        (Difference("rocm-sdk path --tool", "NAME", None), False),
        (Difference("rocm_sdk.Gpu.uuid", None, "str"), True),
        (Difference("rocm_sdk.Gpu.uuid", "str", "bytes"), False),
        (Difference("rocm_sdk.find_tool", "(name)", "(name, extract)"), True),
        (Difference("rocm_sdk.find_tool", "(name)", None), True),
        (Difference("rocm_sdk.find_headers", "(name)", None), False),
    ],
    ids=str,
)
def test_which_lines_are_about_a_difference(difference: Difference, announced: bool) -> None:
    assert is_announced(difference, newest_items(CHANGELOG)) is announced


def test_what_a_demand_says() -> None:
    told = demand(Difference("rocm-sdk tree --json steps[].path", "text", None))
    assert told == (
        "rocm-sdk tree --json steps[].path is removed (text): write a line with `steps` and `path` below"
        " `### Removed` in the newest section of CHANGELOG.md"
    )
    assert "(was '1', is '2')" in demand(Difference("rsdk_status.RSDK_OK", "1", "2"))


def test_something_that_comes_or_goes_as_a_whole_is_one_difference() -> None:
    parts = {"rocm-sdk new": "command", "rocm-sdk new --x": "flag", "rocm-sdk newer": "command"}
    assert [each.name for each in differences({}, parts)] == ["rocm-sdk new", "rocm-sdk newer"]
    assert [each.name for each in differences(parts, {})] == ["rocm-sdk new", "rocm-sdk newer"]
    assert [each.name for each in differences(parts, parts | {"rocm-sdk new --x": "NAME"})] == ["rocm-sdk new --x"]
    assert [each.name for each in differences({"rocm-sdk new": "command"}, parts)] == [
        "rocm-sdk new --x",
        "rocm-sdk newer",
    ]


@pytest.mark.parametrize("text", ["name without a tab\n", "\tno name\n", "a\tx\na\ty\n"])
def test_a_table_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.tsv").write_text(text)
    with pytest.raises(ValueError, match=r"x\.tsv:[12]: "):
        read_table(tmp_path / "x.tsv")


def test_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command refuses to record as long as a line is missing, and then writes the tables that it compares."""
    now = {"rocm_sdk.find_tool": "(name, extract)"}
    monkeypatch.setattr(recording, "RECORDED", tmp_path)
    monkeypatch.setattr(recording, "PRESENT", {"python": lambda: now})
    monkeypatch.setattr(recording, "CHANGELOG", tmp_path / "CHANGELOG.md")
    old = "rocm_sdk.find_headers\t(name)\nrocm_sdk.find_tool\t(name)\n"
    (tmp_path / "python.tsv").write_text(old)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    assert recording.main([]) == 1
    assert "find_headers is removed" in capsys.readouterr().err
    assert (tmp_path / "python.tsv").read_text() == old
    (tmp_path / "CHANGELOG.md").write_text(
        CHANGELOG.replace("- `find_tool`", "- `find_headers` is gone.\n- `find_tool`")
    )
    assert recording.main(["--check"]) == 1
    assert "make promises" in capsys.readouterr().err
    assert recording.main([]) == 0
    assert (tmp_path / "python.tsv").read_text() == table_text(now)
    assert recording.main(["--check"]) == 0
    assert recording.main(["--wrong"]) == 2


def test_a_changelog_without_sections() -> None:
    with pytest.raises(ValueError, match="no section"):
        newest_items("# Changelog\n")
