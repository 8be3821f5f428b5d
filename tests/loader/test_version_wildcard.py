"""The wildcard of `check_version` against the established rule: all but `*` is literal, and the whole text must fit."""

import re

from hypothesis import given
from hypothesis import strategies as st

from rocm_sdk import _matches_wildcard


@given(text=st.text(alphabet="17.0a+", max_size=8), wildcard=st.text(alphabet="17.0a+**", max_size=8))
def test_it_is_a_regular_expression_in_disguise(text: str, wildcard: str) -> None:
    expected = re.fullmatch(re.escape(wildcard).replace(r"\*", ".*"), text) is not None
    assert _matches_wildcard(text, wildcard) is expected
