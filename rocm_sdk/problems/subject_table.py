"""The subjects of the self test.

The module imports next to nothing: `rocm-sdk explain` asks which subject tests a code.
"""

from rocm_sdk.base.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Subject(NamedTuple):
    """A row of SUBJECTS."""

    unit: str  # of its count
    needs_this_process: bool  # cannot check an installation elsewhere
    codes: tuple[str, ...]  # reported for an installation: their middle word, or a single one; (): it tests none
    prefix_codes: tuple[str, ...]  # reported for a prefix that is to be packaged; (): it tests none
    summary: str

    def may_report(self, code: str, *, of_prefix: bool = False) -> bool:
        """Return whether the subject reports problems of this code."""
        codes = self.prefix_codes if of_prefix else self.codes
        return code in codes or code.split("-")[1] in codes


_OF_COVERAGE = ("E-CODE-001", "E-CODE-002", "N-CODE-003", "W-CODE-006", "E-CODE-007", "N-CODE-008", "W-CODE-018")
_OF_CHILDREN = ("E-ENV-010", "E-ENV-011", "E-ENV-012")  # causes of failed programs
_OF_LIBRARIES = ("LIB", "FILE", "N-CODE-015", "W-CODE-016", *_OF_CHILDREN)  # with notes of rewritten files
_OF_API = ("API", "E-FILE-003", *_OF_CHILDREN)
_OF_TOOLS = ("TOOL", "E-LIB-002", "E-LIB-004", *_OF_CHILDREN)
_OF_PACKAGES = ("PKG", "FILE", "W-LIB-031", "W-LIB-032", "W-DEVEL-016")  # with what frameworks ask for
_OF_PREFIX = ("PREFIX", "LIB", "FILE")

# Name -> row. The module of the same name in subjects/ has check(installation, recorder, options).
# fmt: off
SUBJECTS: "Mapping[str, Subject]" = {
    "packages":    Subject("checks", False, _OF_PACKAGES, (), "distributions and their versions"),
    "files":       Subject("checks", False, ("FILE", "W-PKG-019"), (), "the files that RECORD lists"),
    "libraries":   Subject("loaded", False, _OF_LIBRARIES, _OF_PREFIX, "each library, loaded alone"),
    "api":         Subject("checks", True,  _OF_API, (), "each shortname, preloaded in a process of its own"),
    "bindings":    Subject("checks", True,  ("BIND",), (), "whether each library would call its own functions"),
    "tools":       Subject("ran",    True,  _OF_TOOLS, ("TOOL", "PREFIX"), "programs"),
    "devel":       Subject("checks", False, ("DEVEL", "TOOL"), ("DEVEL", "TOOL", "PREFIX"), "tree, CMake, compiler"),
    "gpus":        Subject("found",  True,  ("GPU", *_OF_COVERAGE), (), "GPUs, their packages, and what HIP sees"),
    "opencl":      Subject("checks", True,  ("OCL",), (), "whether OpenCL programs find AMD's driver"),
    "environment": Subject("checks", True,  ("ENV", "GPU"), (), "variables that lead to other files or hide GPUs"),
    "prefix":      Subject("checks", False, (), _OF_PREFIX, "links, search paths, versions of a prefix"),
}
# fmt: on
