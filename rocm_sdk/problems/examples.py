"""The grouping of many problems with the same code and the same fix into one, with a count and examples."""

import os

from rocm_sdk.base.value_text import one_line

from .problem import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

EXAMPLES = 3


def one_of_many(problems: "Iterable[Problem]", limit: "Callable[[str], int]") -> list[Problem]:
    """Return the problems, the grouped ones first.

    limit: returns how many problems of a code are reported one by one.
    """
    alike: dict[tuple[str, str | None], list[Problem]] = {}
    for found in problems:
        alike.setdefault((found.code, found.fix), []).append(found)
    many = [each for each in alike.values() if len(each) > limit(each[0].code)]
    few = [found for each in alike.values() if len(each) <= limit(each[0].code) for found in each]
    return [*map(_example_of, many), *few]


def _example_of(alike: list[Problem]) -> Problem:
    first, *others = alike
    shown = [_other_than(first, each) for each in others[: EXAMPLES - 1]]
    more = " ..." if len(others) > len(shown) else ""
    return first._replace(
        title=f"{first.title} (and {len(others):,} more)",
        cause=f"{first.cause}; also {', '.join(shown)}{more}",
        facts={**first.facts, "count": f"{len(alike):,}"},
        breaks=tuple(dict.fromkeys(name for each in alike for name in each.breaks)),
    )


def _other_than(first: Problem, other: Problem) -> str:
    """Return the name of another problem of the same kind: its file, or its title if the file is the same."""
    if first.path is None or other.path is None or other.path == first.path:
        return other.title
    common = os.path.commonpath([os.path.dirname(os.path.abspath(each)) for each in (first.path, other.path)])
    return one_line(os.path.relpath(other.path, common))
