"""A private C header serves two files at least beside its own source, by names that it declares (docs/architecture.md).

A small pair of files with one user belongs into that user, a header with one declaration into the header of the module
that owns the matter.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from test_layers import INCLUDE, without_comments, write_tree

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"\b(?:rsdk|RSDK)_\w+\b")
# Headers that serve one file or none, and the reason of each.
ALONE = {
    "install/exported.h": "the compiler includes it in each file of the shared library",
    "programs/parts/awaited_device.h": "a part of a program, which has no other file",
    "sdk/python_path.h": "a limit of time that the tests choose",
}


def lonely_headers(csrc: Path) -> Iterator[str]:
    """Yield each private header of which no two files beside its own source use a name.

    A header declares the names that stand in it and in none of the headers that it includes, directly or through
    others. C files of tests are no users.
    """
    texts = {each: without_comments(each.read_text(encoding="utf-8")) for each in sorted(csrc.rglob("*.[ch]"))}
    names = {each: {*NAME.findall(text)} for each, text in texts.items()}

    def included(header: Path, seen: set[Path]) -> set[Path]:
        for _, target in INCLUDE.findall(texts[header]):
            for place in (csrc / target, csrc / "include" / target, header.parent / target):
                if place in texts and place not in seen:
                    seen.add(place)
                    included(place, seen)
        return seen

    for header in texts:
        name = header.relative_to(csrc).as_posix()
        if header.suffix == ".h" and not name.startswith("include/"):
            declared = names[header].difference(*(names[each] for each in included(header, {header}) - {header}))
            users = [each for each in texts if each.with_suffix(".h") != header and declared & names[each]]
            if len(users) < 2:
                yield name


def test_headers_serve_two_files() -> None:
    assert {*lonely_headers(ROOT / "csrc")} == ALONE.keys()


def test_a_header_that_serves_one_file(tmp_path: Path) -> None:
    """The second file includes the header, and uses only a name of another one."""
    tree = {
        "include/rocm_sdk/error.h": "int rsdk_fail(void);\n",
        "base/text.h": '#include "rocm_sdk/error.h"\nint rsdk_text_add(void); /* as rsdk_text_take */\n',
        "base/text.c": '#include "base/text.h"\nint rsdk_text_add(void) { return rsdk_fail(); }\n',
        "sdk/one.c": '#include "base/text.h"\nint one(void) { return rsdk_text_add(); }\n',
        "sdk/two.c": '#include "base/text.h"\nint two(void) { return rsdk_fail(); }\n',
    }
    assert list(lonely_headers(write_tree(tmp_path, tree))) == ["base/text.h"]
    (tmp_path / "sdk/two.c").write_text('#include "base/text.h"\nint two(void) { return rsdk_text_add(); }\n')
    assert list(lonely_headers(tmp_path)) == []
