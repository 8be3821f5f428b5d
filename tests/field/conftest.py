"""The fixtures of the reports."""

from collections.abc import Callable, Iterator

import pytest
from command_fixtures import call, script, sdk
from waiting_programs import waiting_programs

__all__ = ["call", "program", "script", "sdk"]


@pytest.fixture
def program() -> Iterator[Callable[..., int]]:
    """Yield a function that starts Python code, which goes on until the end of the test.

    The function returns the process, once the code has said that it is ready.
    """
    with waiting_programs() as start:
        yield start
