"""How values appear: sizes in decimal units, never rounded to nothing; words of commands as shells read them."""

import shlex

import pytest

from rocm_sdk.base.value_text import counted, quoted_for_shell, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (18_432, "18.4 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (7_240_000, "7.2 MB"),
        (999_999_999, "1.0 GB"),
        (192 << 30, "206.2 GB"),
        (4_000_000_000_000, "4000.0 GB"),
    ],
)
def test_size_text(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    "word", ["", "/opt/rocm-7.2/lib", "a b", "it's", "$(id)", "gfx942;gfx1100", "ä", "a\nb", "~", "a=b"]
)
def test_words_are_quoted_as_by_shlex(word: str) -> None:
    assert quoted_for_shell(word) == shlex.quote(word)


def test_one_thing_is_not_several() -> None:
    assert [counted(count, "file") for count in (0, 1, 2, 2000)] == ["0 files", "1 file", "2 files", "2,000 files"]
