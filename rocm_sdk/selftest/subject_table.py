"""The subjects of the self test. Imports next to nothing: `rocm-sdk explain` asks which test a code."""

from rocm_sdk.named_tuple import NamedTuple

TYPE_CHECKING = False  # for type checkers; importing typing takes longer than the table
if TYPE_CHECKING:
    from collections.abc import Mapping


class Subject(NamedTuple):
    """A row of SUBJECTS."""

    unit: str  # of its count
    needs_this_process: bool  # cannot check an installation elsewhere
    of_prefix: "bool | None"  # also tests a prefix that is to be packaged; None: tests nothing else
    code_words: tuple[str, ...]  # of the codes that it reports
    summary: str

    def may_report(self, code: str) -> bool:
        """Whether it reports problems of this code."""
        return code.split("-")[1] in self.code_words


# Name -> row. The module of the same name in subjects/ has check(installation, recorder, options).
# fmt: off
SUBJECTS: "Mapping[str, Subject]" = {
    "packages":    Subject("checks", False, False, ("PKG", "FILE"), "distributions and their versions"),
    "files":       Subject("checks", False, False, ("FILE",),       "the files that RECORD lists"),
    "libraries":   Subject("loaded", False, True,  ("LIB", "FILE", "PREFIX"), "each shared object, loaded alone"),
    "api":         Subject("checks", True,  False, ("API",),        "each shortname, preloaded in its own process"),
    "bindings":    Subject("checks", True,  False, ("BIND",),       "whether libraries would call their own functions"),
    "tools":       Subject("ran",    True,  True,  ("TOOL", "PREFIX"), "console scripts of packages, programs"),
    "devel":       Subject("checks", False, True,  ("DEVEL", "TOOL", "PREFIX"), "development tree, CMake, compiler"),
    "gpus":        Subject("found",  True,  False, ("GPU",),        "GPUs, their packages, and what HIP sees"),
    "opencl":      Subject("checks", True,  False, ("OCL",),        "whether OpenCL programs find AMD's driver"),
    "environment": Subject("checks", True,  False, ("ENV", "GPU"),  "variables that lead to other files or hide GPUs"),
    "prefix":      Subject("checks", False, None,  ("PREFIX", "LIB", "FILE"), "links, search paths, versions"),
}
# fmt: on
