"""Docstrings, comments, messages, help and docs say who does what: a noun is the subject of a sentence.

No reader has to look up the noun in the sentence before.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocm_sdk.problems import ENTRIES

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ("rocm_sdk", "builder", "scripts", "benchmarks", "variant_provider")
BEGINNINGS = ("What", "Those", "That", "It", "Its", "One", "These", "They", "Whether")
BEGINNING = re.compile(rf"(?:{'|'.join(BEGINNINGS)})\b")
SHOWN_BEGINNING = re.compile(rf"(?:{'|'.join(BEGINNINGS[:-1])})\b")  # help may begin with "Whether"
LOWER_BEGINNING = re.compile(SHOWN_BEGINNING.pattern, re.IGNORECASE)  # a cause begins in lower case
PHRASES = (
    r"\bthose of\b",
    r"\bthat of\b",
    r"\bbut for\b",
    r"\bby hand:",
    r"\bwhat\b[^.,;]{0,40}\bis no\b",
)
PHRASE = re.compile("|".join(PHRASES), re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"[-*+] |\d+[.)] |[#|>:.]")  # the beginning of a line of Markdown or roff that begins a text
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


def faults_of_shown(text: str, beginning: re.Pattern[str] = SHOWN_BEGINNING) -> list[str]:
    """Return the forbidden beginnings and phrases of a text that users read. A question may begin with "What"."""
    sentences = [each for each in SENTENCE.split(text.strip()) if not each.rstrip("|* ").endswith("?")]
    found = [beginning.match(each) for each in sentences] + [PHRASE.search(each) for each in sentences]
    return [each[0] for each in found if each]


def is_text(value: str) -> bool:
    """Return whether a literal is for readers: words with blanks between."""
    return " " in value and any(map(str.isalpha, value))


def literals_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the value of each literal that is a text; {} for what an f-string fills in."""
    tree = ast.parse(text)
    skipped: set[int] = set()  # docstrings, and the parts of f-strings
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            skipped.update(map(id, ast.walk(node.body[0])))
        elif isinstance(node, ast.JoinedStr):
            parts = [each.value if isinstance(each, ast.Constant) else "{}" for each in node.values]
            skipped.update(id(each) for each in node.values)
            yield node.lineno, " ".join("".join(map(str, parts)).split())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, " ".join(node.value.split())


def literals_of_c(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the value of each literal, with the ones that follow it."""
    found = [each for each in C_TOKEN.finditer(text) if each[0].startswith('"')]
    start = 0
    while start < len(found):
        end = start + 1
        while end < len(found) and not text[found[end - 1].end() : found[end].start()].strip():
            end += 1
        value = "".join(each[0][1:-1] for each in found[start:end]).replace("\\n", " ")
        yield text.count("\n", 0, found[start].start()) + 1, value
        start = end


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the words of each paragraph, item, heading and cell of Markdown or roff, without code."""
    text = FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    line, words = 0, ""
    for number, each in enumerate([*text.splitlines(), ""], 1):
        found = BLOCK.match(each.lstrip())
        if found or not each.strip():
            yield line, words
            words = ""
        if found and found[0] == "|":
            yield from ((number, cell.strip()) for cell in each.split("|"))
        elif each.strip():
            line = line if words else number
            words = f"{words} {each.lstrip().removeprefix(found[0] if found else '').lstrip('#> ')}".strip()


def files(*patterns: str) -> list[Path]:
    """Return the files of the repository that fit patterns; each pattern must have some."""
    found = [sorted(ROOT.glob(pattern)) for pattern in patterns]
    assert all(found), patterns
    return [path for each in found for path in each]


def wrong_texts(paths: list[Path], texts: Callable[[str], Iterator[tuple[int, str]]]) -> list[str]:
    """Return a line for each fault of texts for users."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {fault}: {text[:80]}"
        for path in paths
        for line, text in texts(path.read_text(encoding="utf-8"))
        for fault in faults_of_shown(text)
    ]


def texts_of(literals: Callable[[str], Iterator[tuple[int, str]]]) -> Callable[[str], Iterator[tuple[int, str]]]:
    """Return a function that yields the literals that are texts."""
    return lambda text: (each for each in literals(text) if is_text(each[1]))


@pytest.mark.parametrize("directory", PYTHON)
def test_a_python_text_has_a_noun_as_its_subject(directory: str) -> None:
    paths = sorted((ROOT / directory).rglob("*.py"))
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


def test_a_literal_of_python_has_a_noun_as_its_subject() -> None:
    paths = files(*(f"{directory}/**/*.py" for directory in (*PYTHON, "docs")))
    wrong = wrong_texts(paths, texts_of(literals_of_python))
    assert not wrong, "\n".join(wrong)


def test_a_literal_of_c_has_a_noun_as_its_subject() -> None:
    paths = files("csrc/**/*.c", "csrc/**/*.h", "builder/**/*.c", "builder/**/*.h")
    wrong = wrong_texts(paths, texts_of(literals_of_c))
    assert not wrong, "\n".join(wrong)


def test_a_text_of_a_code_has_a_noun_as_its_subject() -> None:
    """Causes and placeholders begin in lower case."""
    path = ROOT / "csrc/diagnosis/code_table.c"
    found = [each for each in literals_of_c(path.read_text(encoding="utf-8")) if is_text(each[1])]
    assert len(found) > len(ENTRIES)
    wrong = [f"{line}: {text}" for line, text in found if faults_of_shown(text, LOWER_BEGINNING)]
    assert not wrong, "\n".join(wrong)


def test_a_sentence_of_the_docs_has_a_noun_as_its_subject() -> None:
    paths = files("*.md", "docs/*.md", "builder/*.md", "docs/man/*", "builder/man/*")  # docs/codes is made of the table
    wrong = wrong_texts([path for path in paths if path.name != "CHANGELOG.md"], paragraphs)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("words", ["Those of a problem.", "It is.", "Files but for links", "what is no file"])
def test_a_text_that_is_refused(words: str) -> None:
    assert faults(words)


def test_a_text_that_is_not_refused() -> None:
    assert not faults("Return the facts of a problem. Italian is a language, and thatch a roof.")


@pytest.mark.parametrize(
    ("literals", "text"),
    [
        (literals_of_python, 'fail("It is gone")'),
        (literals_of_python, 'fail("the file is gone. They say so")'),
        (literals_of_python, "fail(f'{name}: the name is not that of a file')"),
        (literals_of_python, 'help = ("Check the files. "\n"These are read.")'),
        (literals_of_c, 'fail("It is gone");'),
        (literals_of_c, 'fail("the file is gone. " /* why */\n "Its package is there");'),
        (literals_of_c, 'fail("all of " "them, " "but for links");'),
        (paragraphs, "# What is lost"),
        (paragraphs, "The file is gone.\nIt was there."),
        (paragraphs, "- The file\n  is gone. One was there."),
        (paragraphs, "| file | those of the package |"),
        (paragraphs, ".B file\nThe file is gone. These are left."),
    ],
)
def test_a_shown_text_that_is_refused(literals: Callable[[str], Iterator[tuple[int, str]]], text: str) -> None:
    assert any(faults_of_shown(words) for _, words in literals(text))


@pytest.mark.parametrize(
    ("literals", "text"),
    [
        (literals_of_python, '"""It is a docstring."""\nfail("Whether it is gone")'),
        (literals_of_c, '/* It is a comment. */ fail("Items are gone", "It\'s");'),
        (paragraphs, "## What is lost?\nThe file.\n```text\nIt is output.\n```\nItems."),
    ],
)
def test_a_shown_text_that_is_not_refused(literals: Callable[[str], Iterator[tuple[int, str]]], text: str) -> None:
    assert not [found for _, words in literals(text) if is_text(words) for found in faults_of_shown(words)]
