"""Situations: statements of an index about the installed packages."""

from sample_site import CORE
from sdk_environment import Environment
from situations import METADATA, Situation, by_hand

_ASKED = "--index-digests {index}"


def _rewritten(environment: Environment) -> None:
    """Change a file, and RECORD with it."""
    record = environment.site / METADATA["core"] / "RECORD"
    name = f"{CORE}/bin/rocm-smi"
    (environment.site / name).write_text("#!/bin/sh\n")
    lines = [line for line in record.read_text().splitlines() if not line.startswith(name)]
    record.write_text("\n".join([*lines, f"{name},,10"]) + "\n")


ROWS = (
    Situation("the packages are those of the index", None, "", words=_ASKED),
    Situation("a file was changed, and RECORD with it", "E-INDEX-001", "rocm-sdk-core", _rewritten, words=_ASKED),
    Situation(
        "the server of the index is not there",
        "E-INDEX-005",
        "127.0.0.1:9",
        words="--index-digests http://127.0.0.1:9/simple/",
        is_tried=False,
    ),
    by_hand(
        "the index that was asked has nothing",
        "E-INDEX-006",
        "in place of {index}nothing/",
        words="--index-digests {index}nothing/",
    ),
)
