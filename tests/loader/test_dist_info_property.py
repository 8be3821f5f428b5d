"""The parser of `_dist_info.py` against Python itself: it finds what executing a text of that form would give."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_sdk import _native

WORDS = st.text(alphabet="abcxyzABC019_-+.", min_size=1, max_size=12)
LISTS = ("AVAILABLE_TARGET_FAMILIES", "LINUX_TARGET_FAMILIES", "WINDOWS_TARGET_FAMILIES")
FACTS = {
    "__version__": "version",
    "PY_PACKAGE_SUFFIX_NONCE": "nonce",
    "DEFAULT_TARGET_FAMILY": "default_family",
    "AVAILABLE_TARGET_FAMILIES": "available_families",
    "LINUX_TARGET_FAMILIES": "linux_families",
    "WINDOWS_TARGET_FAMILIES": "windows_families",
}
PREAMBLE = "".join(f"{name}: list[str] = []\n" for name in LISTS)


@st.composite
def literals(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> str:
    """Draw a string literal in one of the ways in which Python lets it be written."""
    word = draw(words)
    half = len(word) // 2
    escaped = "".join(f"\\x{ord(c):02x}" if draw(st.booleans()) else c for c in word)
    styles = (
        repr(word),
        f'"{word}"',
        f'"""{word}"""',
        f"r'{word}'",
        f"u'{escaped}'",
        f"({word[:half]!r} {word[half:]!r})" if word[half:] else repr(word),
    )
    style = draw(st.sampled_from(styles))
    return style[1:-1] if style.startswith("(") else style


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Draw a line or a block of a text: facts, and lines that must not be mistaken for facts."""
    kind = draw(st.sampled_from(["text", "list", "append", "noise"]))
    if kind == "text":
        name = draw(st.sampled_from([name for name in FACTS if name not in LISTS]))
        annotation = draw(st.sampled_from(["", ": str"]))
        return f"{name}{annotation} = {draw(literals())}"
    if kind == "list":
        items = ", ".join(draw(st.lists(literals(), max_size=3)))
        return f"{draw(st.sampled_from(LISTS))} = [\n    {items}  # ] not the end\n]"
    if kind == "append":
        return f"{draw(st.sampled_from(LISTS))}.append({draw(literals())})"
    word = draw(WORDS)
    noise = (
        f"# __version__ = {word!r}",
        f"other = '''\n__version__ = {word!r}\n'''",
        f"class Entry:\n    __version__ = {word!r}",
        f"def function():\n    __version__ = {word!r}\n    return __version__",
        f"if False:\n    AVAILABLE_TARGET_FAMILIES.append({word!r})",
        f"if False: __version__ = {word!r}; PY_PACKAGE_SUFFIX_NONCE = 'never'",
        f"x = {{'__version__': {word!r}}}; y = [1, -2.5e3]",
        "",
    )
    return draw(st.sampled_from(noise))


def executed(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names


@pytest.fixture(scope="module")
def module_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    (site / "rocm_sdk_core").mkdir()
    (site / "_rocm_sdk_core").mkdir()
    return site


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(lines=st.lists(statements(), max_size=12))
def test_it_finds_what_executing_gives(module_site: Path, lines: list[str]) -> None:
    text = PREAMBLE + "\n".join([*lines, "__version__ = '1.0'"])
    (module_site / "rocm_sdk_core/_dist_info.py").write_text(text)
    expected = executed(text)
    path = sys.path
    sys.path = [str(module_site)]
    try:
        facts = _native.sdk_facts()
    finally:
        sys.path = path
    for name, fact in FACTS.items():
        value = facts[fact]  # type: ignore[literal-required]
        default: Any = [] if name in LISTS else "" if fact == "nonce" else None
        found = list(value) if isinstance(value, tuple) else value
        assert found == expected.get(name, default), (name, text)
