"""Programs that the self test starts: what they are allowed."""

import resource

import pytest

from rocm_sdk.base.starting import own_code
from rocm_sdk.doctor.children import run_program

SHOW_LIMIT = """
import resource, time
while resource.getrlimit(resource.RLIMIT_CORE)[0] > 1:
    time.sleep(0.01)
print(*resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_no_core_dump() -> None:
    """A crash is a result, not a reason to write gigabytes: one byte is the limit, whatever this process may write."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 1 << 20:
        pytest.skip("the hard limit of this process forbids core dumps already")
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        ended = run_program(own_code(SHOW_LIMIT), 10)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert (ended.status, ended.last_line) == (0, "1 1")
