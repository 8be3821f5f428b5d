"""The subjects of the self test. Imports next to nothing: `rocm-sdk explain` asks which test a code."""

from rocm_sdk.named_tuple import NamedTuple

TYPE_CHECKING = False  # for type checkers; importing typing takes longer than the table
if TYPE_CHECKING:
    from collections.abc import Mapping


class Subject(NamedTuple):
    """A row of SUBJECTS."""

    unit: str  # of its count
    needs_this_process: bool  # cannot check an installation elsewhere
    code_words: tuple[str, ...]  # of the codes that it reports
    summary: str

    def may_report(self, code: str) -> bool:
        """Whether it reports problems of this code."""
        return code.split("-")[1] in self.code_words


INDEX = "index"  # the one subject that asks a network, and runs only if it is asked for

# Name -> row. The module of the same name in subjects/ has check(installation, recorder, options).
# fmt: off
SUBJECTS: "Mapping[str, Subject]" = {
    "packages":    Subject("checks", False, ("PKG", "FILE"),  "distributions and their versions"),
    "files":       Subject("checks", False, ("FILE",),        "the files that RECORD lists"),
    "index":       Subject("compared", False, ("INDEX",),  "with --index-digests: RECORD against wheels of an index"),
    "libraries":   Subject("loaded", False, ("LIB", "FILE"),  "each shared object, loaded in a process of its own"),
    "api":         Subject("checks", True,  ("API",),         "each shortname, preloaded in a process of its own"),
    "bindings":    Subject("checks", True,  ("BIND",),        "whether each library would call its own functions"),
    "tools":       Subject("ran",    True,  ("TOOL",),        "console scripts of the packages"),
    "devel":       Subject("checks", False, ("DEVEL", "TOOL"), "the development tree, CMake packages, the compiler"),
    "gpus":        Subject("found",  True,  ("GPU",),         "GPUs, their packages, and what HIP sees"),
    "opencl":      Subject("checks", True,  ("OCL",),         "whether OpenCL programs find AMD's driver"),
    "environment": Subject("checks", True,  ("ENV", "GPU"),   "variables that lead to other files or hide GPUs"),
}
# fmt: on
