"""Docstrings and comments say who does what: a noun is the subject of a sentence, and no reader has to look it up."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ("rocm_sdk", "builder", "scripts", "benchmarks", "variant_provider")
BEGINNINGS = ("What", "Those", "That", "It", "Its", "One", "These", "They", "Whether")
BEGINNING = re.compile(rf"(?:{'|'.join(BEGINNINGS)})\b")
PHRASES = (
    r"\bthose of\b",
    r"\bthat of\b",
    r"\bbut for\b",
    r"\bby hand:",
    r"\bwhat\b[^.,;]{0,40}\bis no\b",
)
PHRASE = re.compile("|".join(PHRASES), re.IGNORECASE)
SHOWN = {"benchmarks/budgets.py"}  # its docstring is the help of a program
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
C_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*(.*?)\*/', re.DOTALL)


def faults(words: str) -> list[str]:
    """Return the forbidden beginning and phrases of a text."""
    return [found[0] for found in (BEGINNING.match(words), PHRASE.search(words)) if found]


def texts_of_python(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring and comment."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and (words := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), words
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def texts_of_c(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each comment."""
    text = path.read_text(encoding="utf-8")
    for found in C_TOKEN.finditer(text):
        if found[1] is not None:
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"\s*\n\s*\*?\s*", " ", found[1]).strip()


@pytest.mark.parametrize("directory", PYTHON)
def test_a_python_text_has_a_noun_as_its_subject(directory: str) -> None:
    paths = [path for path in sorted((ROOT / directory).rglob("*.py")) if str(path.relative_to(ROOT)) not in SHOWN]
    assert paths
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {fault}: {words.splitlines()[0]}"
        for path in paths
        for line, words in texts_of_python(path)
        for fault in faults(words)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_c_comment_has_a_noun_as_its_subject() -> None:
    paths = [path for suffix in ("c", "h") for path in sorted((ROOT / "csrc").rglob(f"*.{suffix}"))]
    assert paths
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {fault}: {words[:80]}"
        for path in paths
        for line, words in texts_of_c(path)
        for fault in faults(words)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("words", ["Those of a problem.", "It is.", "Files but for links", "what is no file"])
def test_a_text_that_is_refused(words: str) -> None:
    assert faults(words)


def test_a_text_that_is_not_refused() -> None:
    assert not faults("Return the facts of a problem. Italian is a language, and thatch a roof.")
