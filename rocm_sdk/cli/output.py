"""What the command writes for people. It may hold text of any file, so it is made harmless here.

Output for programs (a path, flags, JSON, a graph) is printed as it is, quoted for its reader.
"""

import sys


def tell(line: str) -> None:
    """Writes a line to stdout."""
    from rocm_sdk.problems.text import harmless  # here: most commands write nothing of the kind

    print(harmless(line), flush=True)


def tell_json(schema: int, **content: object) -> None:
    """Writes a document for programs, as docs/json.md describes it. schema: counted up when a meaning changes."""
    import json

    print(json.dumps({"schema": schema, **content}, indent=2))


def complain(message: str, fix: str | None = None) -> None:
    """Writes a message to stderr, and in a second line what to do."""
    from rocm_sdk.problems.text import harmless

    print(f"rocm-sdk: {harmless(message)}", file=sys.stderr)
    if fix is not None:
        complain_fix(fix)


def complain_fix(fix: str) -> None:
    """Writes to stderr what to do."""
    from rocm_sdk.problems.text import harmless

    print(f"  fix: {harmless(fix)}", file=sys.stderr)
