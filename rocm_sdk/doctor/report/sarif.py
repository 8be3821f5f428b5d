"""The problems as SARIF, as code hosts and editors read results of checks. Source: OASIS, SARIF 2.1.0, section 3."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_from_bytes

from rocm_sdk import _native
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import ENTRIES, Problem

_VERSION = "2.1.0"
_SCHEMA = f"https://docs.oasis-open.org/sarif/sarif/v{_VERSION}/errata01/os/schemas/sarif-schema-{_VERSION}.json"
_BASE = "SITE"  # the name of the directory that paths are relative to


def as_sarif(installation: Installed, problems: Sequence[Problem], *, interrupted: bool = False) -> str:
    """Return a log with one run: a rule for each code that was found, a result for each problem."""
    codes = sorted({found.code for found in problems})
    run = {
        "tool": {
            "driver": {
                "name": "rocm-sdk test",
                "semanticVersion": _native.loader_version,
                "rules": [_rule(code) for code in codes],
            }
        },
        "invocations": [{"executionSuccessful": not interrupted}],
        "originalUriBaseIds": {_BASE: {"uri": f"file://{_quoted(installation.site.rstrip('/'))}/"}},
        "results": [_result(found, codes.index(found.code), installation.site) for found in problems],
    }
    return json.dumps({"$schema": _SCHEMA, "version": _VERSION, "runs": [run]}, indent=2) + "\n"


def _rule(code: _native.Code) -> dict[str, Any]:
    """Return the general facts of a code. The levels of SARIF have the names of our severities."""
    entry = ENTRIES[code]
    return {
        "id": code,
        "fullDescription": {"text": entry.about},
        "help": {"text": f"rocm-sdk explain {code}"},
        "defaultConfiguration": {"level": entry.severity},
    }


def _result(found: Problem, rule: int, site: str) -> dict[str, Any]:
    sentences = [found.title, found.cause, f"fix: {found.fix}" if found.fix else ""]
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": found.severity,
        "message": {"text": "\n".join(filter(None, sentences))},
    }
    if found.path is not None and os.path.isabs(found.path):
        result["locations"] = [{"physicalLocation": {"artifactLocation": _place(found.path, site)}}]
    return result


def _place(path: str, site: str) -> dict[str, str]:
    """Return the place of a file: relative to the tested directory if it is in it."""
    relative = os.path.relpath(path, site)
    if relative == ".." or relative.startswith("../"):
        return {"uri": f"file://{_quoted(path)}"}
    return {"uri": _quoted(relative), "uriBaseId": _BASE}


def _quoted(path: str) -> str:
    """Return a path as part of a URI, whatever its bytes are."""
    return quote_from_bytes(os.fsencode(path), safe="/~")
