"""The table of the observations that each cause explains, one row per line.

The module imports next to nothing: `rocm-sdk explain` prints the table.
"""

from rocm_sdk.base.named_tuple import NamedTuple

# The ways to establish a cause.
LOOKED, TRIED, COMPARED = "looked", "tried", "compared"

# The relations between an observation and the cause that explains it.
ANY, BELOW, NAME, INIT_FILE, DISTRIBUTION, ENTRY = "any", "below", "name", "init file", "distribution", "entry"
CHILD, VARIABLE, LIBRARY, MOUNT, FIX, SONAME = "child", "variable", "library", "mount", "fix", "soname"
MOVED, FACTS, LINKED = "moved", "facts", "linked"

HOW = {
    LOOKED: "`rocm-sdk test` checks for this.",
    TRIED: "`rocm-sdk test` runs what failed again, without this and with this alone.",
    COMPARED: "`rocm-sdk test` compares the files with RECORD.",
}
# The subjects of the observations.
RELATIONS = {
    ANY: "the installation",
    BELOW: "files in the directory",
    NAME: "a file of the same name",
    INIT_FILE: "its __init__.py, or the directory whose __init__.py it is",
    DISTRIBUTION: "the same distribution",
    ENTRY: "the entry of a search path that leads to the file",
    CHILD: "a program that fails for this reason",
    VARIABLE: "the same variable",
    LIBRARY: "what loads the library",
    MOUNT: "programs on the same file system",
    FIX: "a problem with the same fix",
    SONAME: "the name that the file says",
    MOVED: "the place where the files are now",
    LINKED: "links to the file, or into the directory",
    FACTS: "packages whose facts are compared with the file or directory",
}


class Row(NamedTuple):
    """A cause, and the observations that follow from it."""

    code: str
    how: str
    relation: str
    explains: "tuple[str, ...]"  # codes


_OF_CHILDREN = (
    *("E-LIB-001", "E-LIB-002", "E-LIB-004", "E-LIB-007", "E-LIB-008", "E-LIB-009", "E-LIB-018", "E-LIB-020"),
    *("E-LIB-025", "E-API-002", "E-API-003", "E-API-005", "E-TOOL-001", "E-TOOL-002", "E-TOOL-003"),
    *("E-TEST-001", "E-DEVEL-005", "E-GPU-003", "E-PREFIX-010"),
)
_OF_VARIABLES = (
    *("W-ENV-001", "W-ENV-002", "N-ENV-006", "E-ENV-007", "E-ENV-008", "W-ENV-014", "W-ENV-015", "W-ENV-016"),
    "W-GPU-033",
)
# The states of a package's files.
_OF_STATES = ("E-FILE-001", "E-FILE-002", "E-FILE-003", "E-FILE-008", "E-PKG-002", "E-PKG-013", "E-PKG-016")

# Problems with a file or directory that this user may not read.
_OF_PERMISSIONS = ("E-FILE-001", "E-PKG-001", "E-PKG-003", "E-PKG-013", "E-TOOL-001", "E-TOOL-002")

# Problems with the files and packages in something that is not a directory.
_OF_DIRECTORIES = ("E-FILE-001", "E-PKG-003", "E-TOOL-001", "E-TOOL-002", "W-PKG-019")

# fmt: off
ROWS = (
    Row("E-ENV-004",  LOOKED,   ANY,       ("E-GPU-002",)),
    Row("E-ENV-010",  TRIED,    CHILD,     _OF_CHILDREN),
    Row("E-ENV-010",  TRIED,    VARIABLE,  _OF_VARIABLES),
    Row("E-ENV-008",  LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-ENV-011",  LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-ENV-012",  LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-ENV-012",  LOOKED,   BELOW,     ("W-ENV-014", "W-ENV-015")),
    Row("E-ENV-013",  LOOKED,   CHILD,     ("E-TOOL-001", "E-TOOL-002")),
    Row("E-ENV-013",  LOOKED,   ENTRY,     ("E-ENV-010",)),
    Row("E-FILE-001", LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-FILE-001", LOOKED,   NAME,      ("E-LIB-003",)),
    Row("E-FILE-002", LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-FILE-002", LOOKED,   FACTS,     ("E-PKG-016",)),
    Row("E-FILE-003", COMPARED, CHILD,     _OF_CHILDREN),
    Row("E-FILE-003", COMPARED, FACTS,     ("E-PKG-016",)),
    Row("E-FILE-004", LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-FILE-006", LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-FILE-007", LOOKED,   BELOW,     _OF_PERMISSIONS),
    Row("E-FILE-007", LOOKED,   DISTRIBUTION, ("E-PKG-024",)),
    Row("E-FILE-008", LOOKED,   MOVED,     ("W-PKG-019", "E-PKG-013", "E-PKG-024")),
    Row("E-FILE-008", LOOKED,   FACTS,     ("E-PKG-002",)),
    Row("E-FILE-009", LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-FILE-009", LOOKED,   BELOW,     _OF_DIRECTORIES),
    Row("E-FILE-009", LOOKED,   INIT_FILE, ("E-PKG-003",)),
    Row("E-FILE-009", LOOKED,   LINKED,    ("E-DEVEL-002",)),
    Row("E-LIB-006",  LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-LIB-012",  LOOKED,   CHILD,     _OF_CHILDREN),
    Row("E-LIB-007",  LOOKED,   LIBRARY,   ("E-API-002",)),
    Row("E-LIB-008",  LOOKED,   LIBRARY,   ("E-API-002",)),
    Row("E-LIB-009",  LOOKED,   LIBRARY,   ("E-API-002",)),
    Row("E-LIB-017",  LOOKED,   MOUNT,     ("E-TOOL-001",)),
    Row("E-PKG-001",  LOOKED,   ANY,       ("E-LIB-003",)),
    Row("E-PKG-003",  LOOKED,   INIT_FILE, ("E-FILE-001",)),
    Row("E-PKG-004",  LOOKED,   ANY,       ("E-LIB-003",)),
    Row("E-PKG-004",  LOOKED,   CHILD,     ("E-LIB-004",)),
    Row("E-PKG-011",  LOOKED,   ANY,       ("E-PKG-001", "E-LIB-003")),
    Row("E-PKG-013",  LOOKED,   ANY,       ("W-PKG-007", "W-PKG-019")),
    Row("E-PKG-013",  LOOKED,   DISTRIBUTION, ("E-PKG-024", "E-LIB-002")),
    Row("E-PKG-013",  LOOKED,   BELOW,     ("E-FILE-001", "E-FILE-002")),
    Row("E-PKG-017",  LOOKED,   ANY,       ("E-LIB-003",)),
    Row("E-PKG-023",  LOOKED,   ANY,       ("W-DEVEL-007",)),
    Row("E-PKG-024",  LOOKED,   ANY,       ("E-PKG-001", "E-LIB-003")),
    Row("E-PKG-025",  LOOKED,   ANY,       ("E-PKG-001", "E-LIB-003", "W-PKG-007")),
    Row("E-PKG-025",  LOOKED,   DISTRIBUTION, (*_OF_STATES, "E-DEVEL-002")),
    Row("W-LIB-010",  LOOKED,   BELOW,     ("W-PKG-019",)),
    Row("W-LIB-010",  LOOKED,   SONAME,    ("E-FILE-001",)),
    Row("W-PKG-019",  LOOKED,   BELOW,     ("W-LIB-016",)),
    Row("W-GPU-024",  LOOKED,   VARIABLE,  ("W-ENV-005",)),
    Row("W-GPU-016",  LOOKED,   FIX,       ("W-GPU-018",)),
    Row("W-GPU-017",  LOOKED,   FIX,       ("W-GPU-019",)),
)
# fmt: on

# Code of a problem that stands for many -> the code of each of them.
MADE_OF = {"E-FILE-008": "E-FILE-001"}


def rows_of(code: str) -> "tuple[Row, ...]":
    """Return the rows of a cause."""
    return tuple(row for row in ROWS if row.code == code)


def consequences(code: str) -> str:
    """Return what a cause explains, as lines of text: how it is established, and a list item for each relation.

    The text is empty for a code that explains nothing.
    """
    rows = rows_of(code)
    if not rows:
        return ""
    established = " ".join(dict.fromkeys(HOW[row.how] for row in rows))
    items = (f"- of {RELATIONS[row.relation]}: {', '.join(row.explains)}" for row in rows)
    return "\n".join([f"{established} These problems can follow from it, and are not reported apart:", *items])


def explains(code: str, relation: str) -> "frozenset[str]":
    """Return the codes that a cause of this code explains by a relation."""
    rows = (row for row in ROWS if (row.code, row.relation) == (code, relation))
    return frozenset(each for row in rows for each in row.explains)


def how_of(code: str, relation: str) -> str | None:
    """Return how a cause with this code, which explains something by a relation, is established.

    The result is None if it explains nothing by this relation.
    """
    return next((row.how for row in ROWS if (row.code, row.relation) == (code, relation)), None)


def codes_of(relation: str) -> "frozenset[str]":
    """Return the causes that explain something by a relation."""
    return frozenset(row.code for row in ROWS if row.relation == relation)
