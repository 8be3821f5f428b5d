"""The writer of all text that is generated from tables, for a Python that has rocm_sdk.

usage: python scripts/generated.py [--check] [--tables]

| generated | from |
|---|---|
| `rsdk_code` in csrc/include/rocm_sdk/code.h, `Code` in rocm_sdk/_native.pyi | csrc/diagnosis/code_table.c |
| the types of results in rocm_sdk/_native.pyi | csrc/python/result_types.c, functions and tables that name values |
| the types of results in docs/api.md | csrc/python/result_types.c, of the package that is imported |
| the commands and options in docs/man/rocm-sdk.1 | the table of its commands, and their parsers |
| the commands and options in builder/man/rocm-sdk-build.1 | the table of its commands, and their parsers |

With --check the script writes nothing, and fails where a file differs. With --tables it writes the text from tables of
C alone, for which no package need be built: a new code is a row, and the extension is built of what the row says.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TABLE = "csrc/diagnosis/code_table.c"
RESULTS = "csrc/python/result_types.c"
WIDTH, INDENT = 120, " " * 4  # of the stub
HEADER, STUB = "csrc/include/rocm_sdk/code.h", "rocm_sdk/_native.pyi"
API = "docs/api.md"
MANUAL = "docs/man/rocm-sdk.1"
BUILD_MANUAL = "builder/man/rocm-sdk-build.1"
ALIASES = {  # types with a name, by the function or the table of their words
    "BindingVerdict": "rsdk_binding_verdict_name",
    "DetectionSource": "rsdk_detection_source_name",
    "FixProof": "proofs",
    "KernelTableKind": "kernel_table_kinds",
    "Severity": "severities",
}

_ROW = re.compile(r"^    ROW\((\d+), ([EWN]), ([A-Z]+), (\d{3}), ", re.MULTILINE)
_TYPE = re.compile(r'\{"rocm_sdk\.(\w+)", "[^"]*", (\w+)\}')
_FIELD = re.compile(r'^    FIELD\("(\w+)", *"([^"]*)", (.*?")\),$', re.MULTILINE | re.DOTALL)
_WORDS = re.compile(r"\{(\w+)(?: without ([^}]*))?\}")
_MARKUP, _ESCAPED = re.compile(r"[|<*]"), r"\\\g<0>"
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Region(NamedTuple):
    """A part of a file between two lines, which stay, and the text that belongs there."""

    file: str
    first: str
    last: str
    content: str


def regions_of_tables() -> Iterator[Region]:
    """Yield every region that is generated from tables of C."""
    yield Region(HEADER, "typedef enum rsdk_code {\n", "} rsdk_code;\n", _enumerators())
    words = ", ".join(f'"{name}"' for name in _codes().values())
    yield Region(
        STUB, "Code = Literal[\n", "]\n", f"{fill(words, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)}\n"
    )
    yield Region(STUB, "# The results:\n", "# The functions:\n", "".join(_types()))


def regions_of_parsers() -> Iterator[Region]:
    """Yield every region that is generated from the parsers of the commands."""
    from rocm_sdk.cli.commands import COMMANDS as OWN_COMMANDS
    from rocm_sdk.cli.commands import GROUPS
    from rocm_sdk.cli.parser import make_parser
    from rocm_sdk_build.commands.table import COMMANDS
    from rocm_sdk_build.commands.table import make_parser as make_build_parser

    groups = [
        (f".SS {group} ({words})\n", *_commands({name: OWN_COMMANDS[name] for name in names}))
        for group, (words, names) in GROUPS.items()
    ]
    yield Region(MANUAL, ".SH COMMANDS\n", ".SH OPTIONS\n", "".join(text for group in groups for text in group))
    yield Region(MANUAL, ".SH OPTIONS\n", ".SH EXIT STATUS\n", "".join(_manual(make_parser())))
    yield Region(BUILD_MANUAL, ".SH COMMANDS\n", ".SH OPTIONS\n", "".join(_commands(COMMANDS)))
    yield Region(BUILD_MANUAL, ".SH OPTIONS\n", ".SH EXIT STATUS\n", "".join(_manual(make_build_parser())))


def regions_of_results() -> Iterator[Region]:
    """Yield the region that is generated from the public types of results."""
    import rocm_sdk

    types = {name: getattr(rocm_sdk, name) for name in sorted(rocm_sdk.__all__)}
    texts = (_page_of_type(name, kind) for name, kind in types.items() if hasattr(kind, "n_fields"))
    yield Region(API, "<!-- types of results -->\n", "\n<!-- end of types of results -->\n", "".join(texts))


# ---- codes ----


@cache
def _codes() -> dict[int, str]:
    """Return the name of each code by its value, in the order of the values.

    Raise SystemExit unless the values are 1 to the number of codes, each once.
    """
    rows = _ROW.findall(_text(TABLE))
    names = {int(value): "-".join(parts) for value, *parts in rows}
    if len(names) != len(rows) or sorted(names) != list(range(1, len(rows) + 1)):
        raise SystemExit(f"{TABLE}: the values of the codes are not 1 to {len(rows)}, each once")
    return dict(sorted(names.items()))


def _enumerators() -> str:
    lines = [f"{INDENT}RSDK_NO_CODE = 0, /* in an rsdk_error: the code of its status */\n"]
    for _, group in groupby(_codes().items(), key=lambda each: each[1].split("-")[1]):
        text = ", ".join(f"RSDK_{name.replace('-', '_')}={value}" for value, name in group)  # fill breaks at blanks
        text = fill(text, WIDTH - 10, initial_indent=INDENT, subsequent_indent=INDENT)
        lines.append(f"{text.replace('=', ' = ')},\n")
    return "".join([*lines, f"{INDENT}RSDK_CODE_COUNT = {len(_codes()) + 1}\n"])


# ---- types ----


def _types() -> Iterator[str]:
    text = _text(RESULTS)
    for name, source in ALIASES.items():
        words = ", ".join(f'"{word}"' for word in _words_of(source))
        line = f"{name}: TypeAlias = Literal[{words}]\n"
        yield (
            line
            if len(line) <= WIDTH + 1
            else line.replace("[", "[\n    ").replace(", ", ",\n    ").replace("]", ",\n]")
        )
    for name, table in _TYPE.findall(text):
        body = text.partition(f"static const field {table}[] = {{\n")[2].partition("\n};\n")[0]
        yield f"\nclass {name}(NamedTuple):\n"
        for field, kind, rest in _FIELD.findall(body):
            yield f"    {field}: {_python_type(f'{name}.{field}', kind, rest)}\n"
    yield "\n"


def _python_type(field: str, kind: str, rest: str) -> str:
    found = _WORDS.search(kind)
    if found is None:
        return kind.replace("'", '"')
    words = {*_words_of(found[1])} - {found[2]}
    documented = [word for word in re.findall(r"'([^']*)'", "".join(_STRING.findall(rest))) if word in words]
    if {*documented} != words:
        raise SystemExit(f"{RESULTS}: the documentation of {field} does not name {words - {*documented}}")
    return _WORDS.sub(_literal(documented), kind)


def _literal(words: list[str]) -> str:
    return "Literal[" + ", ".join(f'"{word}"' for word in words) + "]"


@cache
def _words_of(name: str) -> list[str]:
    """Return the words of a function that names values, or of a table of names, in their order.

    Raise SystemExit if the C sources have no function or table with that name.
    """
    for path in sorted((ROOT / "csrc").rglob("*.c")):
        text = path.read_text(encoding="utf-8")
        body = text.partition(f"\nconst char *{name}(")[2].partition("\n}\n")[0]
        returned = re.search(r"return .*?(\w+)\[", body)
        table = rf"const char \*const {returned[1] if returned else name}\[\w*\] = \{{(.*?)\}};"
        if found := re.findall(table, body if "names[]" in body else text, re.DOTALL):
            return [*dict.fromkeys(_STRING.findall("".join(found)))]
    raise SystemExit(f"csrc: there is no function or table {name}")


def _page_of_type(name: str, kind: type[tuple[object, ...]]) -> str:
    """Return the table of the fields of a type that C makes."""
    words = {field: getattr(kind, field).__doc__ for field in kind.__match_args__}  # type: ignore[attr-defined]
    rows = "".join(f"| `{field}` | {_MARKUP.sub(_ESCAPED, each)} |\n" for field, each in words.items())
    return f"\n### {name}\n\n{kind.__doc__}\n\n| field | what it is |\n|---|---|\n{rows}"


# ---- the manual ----


def _commands(summaries: Mapping[str, str]) -> Iterator[str]:
    for name, summary in summaries.items():
        yield f".TP\n.B {_roff(name)}\n{_roff(f'{summary[0].upper()}{summary[1:]}.')}\n"


def _manual(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the arguments and options of a program in roff.

    The options of the program come first, then the options of its commands, and once the options of every command.
    """
    yield from _options(parser, "")
    yield ".SS Every command\n"
    for action in _common():
        yield f".TP\n{_synopsis(action)}\n{_roff(_sentence(action))}\n"


@cache
def _common() -> list[argparse.Action]:
    from rocm_sdk.terminal.output_options import add_output_options

    parser = argparse.ArgumentParser(add_help=False)
    add_output_options(parser)
    return parser._actions


def _options(parser: argparse.ArgumentParser, command: str) -> Iterator[str]:
    """Yield the arguments and options of a command in roff, then the ones of its subcommands.

    Options that every command has are left out.
    """
    without = {"help", *(each.dest for each in _common())}
    actions = [each for each in parser._actions if each.dest not in without]
    commands = [each for each in actions if isinstance(each, argparse._SubParsersAction)]
    shown = [each for each in actions if each not in commands and each.help != argparse.SUPPRESS]
    if shown and command:
        yield f".SS {_roff(command)}\n"
    for action in shown:
        yield f".TP\n{_synopsis(action)}\n{_roff(_sentence(action))}\n"
    for action in commands:
        for name, inner in action.choices.items():
            yield from _options(inner, f"{command} {name}".strip())


def _synopsis(action: argparse.Action) -> str:
    """Return a synopsis such as `--format FORM` in roff: the names bold, the value in italics."""
    formatter = argparse.HelpFormatter("")
    default = action.dest.upper() if action.option_strings else action.dest
    value = "" if action.nargs == 0 else formatter._format_args(action, default)
    names = ", ".join(f"\\fB{_roff(name)}\\fP" for name in action.option_strings)
    return " ".join(filter(None, [names, value and f"\\fI{_roff(value)}\\fP"]))


def _sentence(action: argparse.Action) -> str:
    words = argparse.HelpFormatter("")._expand_help(action) if action.help else ""
    return " ".join(words.split())


def _roff(text: str) -> str:
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", "\\e").replace("-", "\\-"))


# ---- files ----


@cache
def _text(file: str) -> str:
    path = ROOT / file
    return path.read_text(encoding="utf-8") if path.exists() else ""


def generated(of_tables_alone: bool) -> dict[str, str]:
    """Return the content that each file is to have.

    Raise SystemExit if a file lacks the lines around a region.
    """
    files: dict[str, str] = {}
    others = () if of_tables_alone else (*regions_of_results(), *regions_of_parsers())
    for region in (*regions_of_tables(), *others):
        text = files.get(region.file, _text(region.file))
        before, first, rest = text.partition(region.first)
        _, last, after = rest.partition(region.last)
        if not first or not last:
            raise SystemExit(f"{region.file}: there are no lines {region.first!r} and {region.last!r}")
        files[region.file] = before + first + region.content + last + after
    return files


def main() -> int:
    """Write the files that differ; with --check compare the files only, and return 1 if one differs."""
    texts = generated(of_tables_alone="--tables" in sys.argv[1:])
    differing = {file: text for file, text in texts.items() if text != _text(file)}
    for file, text in differing.items():
        if "--check" in sys.argv[1:]:
            sys.stderr.writelines(difflib.unified_diff(_text(file).splitlines(True), text.splitlines(True), file, file))
        else:
            (ROOT / file).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / file).write_text(text, encoding="utf-8")
    if differing and "--check" in sys.argv[1:]:
        sys.stderr.write(f"{', '.join(differing)}: not what the tables say: make generate\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
