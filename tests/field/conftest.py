"""What the reports share."""

from collections.abc import Callable, Iterator

import pytest
from command_fixtures import call, script, sdk
from waiting_programs import waiting_programs

__all__ = ["call", "program", "script", "sdk"]


@pytest.fixture
def program() -> Iterator[Callable[..., int]]:
    """Starts Python code that goes on until the end of the test; its process, once it has said that it is ready."""
    with waiting_programs() as start:
        yield start
