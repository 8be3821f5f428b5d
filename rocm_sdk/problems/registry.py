"""The C library's table of problems (csrc/diagnosis/code_table.c)."""

from rocm_sdk._native import problem_fixes, problem_table
from rocm_sdk.base.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import Code, FixProof, Severity


class Fix(NamedTuple):
    """A step that helps, with words instead of facts."""

    system: str  # "Debian, Ubuntu"; "" for all others
    proof: "FixProof"  # whether a test runs it, or why none does
    text: str
    is_command: bool  # the text is a shell command; otherwise it is a sentence


class Entry(NamedTuple):
    """A kind of problem. Texts are templates that name facts in braces."""

    code: "Code"
    severity: "Severity"
    title: str  # what is wrong with what
    cause: str
    about: str  # for its page: what it means, how it comes about
    sample: str  # facts that the title and the cause name, one per line: NAME=VALUE
    repair: str | None  # the name of what `rocm-sdk test --fix` does about it

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """The fixes of the problem, on each system."""
        return tuple(map(Fix._make, problem_fixes(self.code)))

    @property
    def cause_has_facts(self) -> bool:
        """True if the cause says something about this case; else it is always the same, and the page has it."""
        return "{" in self.cause


# In the order of the subjects' words and the numbers.
ENTRIES: "dict[str, Entry]" = {
    row[0]: Entry._make(row) for row in sorted(problem_table(), key=lambda row: row[0].split("-")[1:])
}

# Codes of earlier releases -> words that name the codes that replace them.
ALIASES = {"W-GPU-001": "W-GPU-010 to W-GPU-026 and E-GPU-004: each obstacle to a GPU has a code of its own"}
