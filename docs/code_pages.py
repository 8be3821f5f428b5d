"""Writes the pages of the codes from the table of problems.

`codes/CODE.md` is written before Sphinx looks for pages. Lists are put in where a page says
`<!-- the list of codes -->`,
`<!-- the table of fixes -->` or `<!-- the graph of causes -->`.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from rocm_sdk.problems import ENTRIES, in_general
from rocm_sdk.problems.cause_table import RELATIONS, ROWS
from rocm_sdk.problems.code_page import page

_MARKUP = re.compile(r"[\\<>*_\[\]]")


def _write_pages(app: Sphinx) -> None:
    directory = Path(app.srcdir, "codes")
    directory.mkdir(exist_ok=True)
    for stale in {path.name for path in directory.glob("*.md")} - {f"{code}.md" for code in ENTRIES}:
        (directory / stale).unlink()
    examples = _examples()
    for code in ENTRIES:
        title, paragraphs = page(code, _escaped, _command_in_markdown)
        path, text = directory / f"{code}.md", "\n\n".join([f"# {title}", *paragraphs]) + f"\n{examples.pop(code)}"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    if examples:
        raise ExtensionError(f"code_examples.tsv has codes that there are not: {', '.join(examples)}")


def _examples() -> dict[str, str]:
    """For each code of the table, a section whose command runs when the page is built, and must show the code.

    A code that no command can show there has the reason, and a test that provokes it.
    """
    found = {}
    for line in Path(__file__).with_name("code_examples.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        code, machine, before, command = line.split("\t")
        if machine == "-":
            _check_test(code, command)
            text = f"No example is shown here: {before}. `{command}` provokes it."
        else:
            options = f":shows: {code}\n:before: . $docs/code_examples.sh; {before}\n"
            text = f"```{{run}}\n{options}{':no-gpus:' if machine == 'plain' else ''}\n{command}\n```"
        found[code] = f"\n## Example\n\n{text}\n"
    if missing := ENTRIES.keys() - found.keys():
        raise ExtensionError(f"code_examples.tsv lacks {', '.join(sorted(missing))}")
    return found


def _check_test(code: str, name: str) -> None:
    names = code, f"RSDK_{code.replace('-', '_')}"
    text = (Path(__file__).resolve().parent.parent / name).read_text(encoding="utf-8")
    if not any(each in text for each in names):
        raise ExtensionError(f"code_examples.tsv: {name} says nothing of {code}")


def _list() -> str:
    """Return a table with a line for each code: its title, and the first sentence of its page."""
    lines = ["| code | what is wrong | how it comes about |", "|---|---|---|"]
    for code, entry in ENTRIES.items():
        sentence = entry.about.partition(". ")[0].rstrip(".")
        lines.append(_row(_linked(code), _escaped(in_general(entry.code).title), f"{_escaped(sentence)}."))
    return "\n".join(lines)


def _fixes() -> str:
    """Return a table with a line for each fix."""
    lines = ["| code | cause | system | fix |", "|---|---|---|---|"]
    for code, entry in ENTRIES.items():
        cause = _escaped(in_general(entry.code).cause)
        for fix in entry.fixes:
            system = fix.system or ("elsewhere" if len({each.system for each in entry.fixes}) > 1 else "")
            shown = _command_in_markdown(fix.text) if fix.is_command else _escaped(fix.text)
            lines.append(_row(_linked(code), cause, system, shown))
    return "\n".join(dict.fromkeys(lines))


def _causes() -> str:
    """Return a table with a line for each cause and way to establish it, and what follows from it."""
    lines = ["| cause | established | explains |", "|---|---|---|"]
    for row in ROWS:
        followers = ", ".join(map(_linked, row.explains))
        title = _escaped(in_general(row.code).title)
        explains = f"{followers} of {_escaped(RELATIONS[row.relation])}"
        lines.append(_row(f"{_linked(row.code)} {title}", row.how, explains))
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Return a text in Markdown: what its author wrote in backticks stays code, and no other character is markup."""
    parts = text.split("`")
    parts[::2] = [_MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
    return "`".join(parts)


def _command_in_markdown(command: str) -> str:
    """Return a command in Markdown: code, which nothing may set in another way."""
    mark = "``" if "`" in command else "`"
    return f"{mark}{command}{mark}"


def _linked(code: str) -> str:
    return f"[{code}](codes/{code}.md)"


def _row(*cells: str) -> str:
    """Return a row of a table."""
    text = " | ".join(cell.replace("|", r"\|") for cell in cells)
    return f"| {text} |"


def _put_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = source[0].replace("<!-- the list of codes -->", _list())
    source[0] = source[0].replace("<!-- the table of fixes -->", _fixes())
    source[0] = source[0].replace("<!-- the graph of causes -->", _causes())


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.connect("builder-inited", _write_pages)
    app.connect("source-read", _put_in)
    return {"parallel_read_safe": True}
