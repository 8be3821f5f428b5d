"""The table of problems, as the C library has it (csrc/diagnosis/code_table.c)."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from rocm_sdk._native import problem_aliases, problem_table

if TYPE_CHECKING:
    from rocm_sdk._native import Code

Severity = Literal["error", "warning", "note"]


class Fix(NamedTuple):
    """What to do, with words in place of facts."""

    system: str  # "Debian, Ubuntu"; "" for all others
    proof: Literal["words", "tried", "elsewhere", "hardware"]  # whether a test runs it, or why none does
    text: str


class Entry(NamedTuple):
    """A kind of problem. Texts are templates that name facts in braces."""

    code: "Code"
    severity: Severity
    title: str  # what is wrong with what
    cause: str
    about: str  # for its page: what it means, how it comes about
    fixes: tuple[Fix, ...]
    repair: str | None  # the name of what `rocm-sdk test --fix` does about it

    @property
    def cause_has_facts(self) -> bool:
        """Whether the cause says something of this case; else it is the same each time, and the page has it."""
        return "{" in self.cause


ENTRIES: "dict[str, Entry]" = {
    row[0]: Entry(*row[:5], tuple(Fix(*fix) for fix in row[5]), row[6]) for row in problem_table()
}

# Codes of earlier releases -> what took their place, as words.
ALIASES: dict[str, str] = dict(problem_aliases())
