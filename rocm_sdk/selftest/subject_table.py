"""The subjects of the self test. Imports next to nothing: `rocm-sdk explain` asks which test a code."""

from rocm_sdk.named_tuple import NamedTuple

TYPE_CHECKING = False  # for type checkers; importing typing takes longer than the table
if TYPE_CHECKING:
    from collections.abc import Mapping


class Subject(NamedTuple):
    """A row of SUBJECTS."""

    unit: str  # of its count
    needs_this_process: bool  # cannot check an installation elsewhere
    code_words: tuple[str, ...]  # of the codes that it reports of an installation; (): it tests none
    prefix_words: tuple[str, ...]  # of those that it reports of a prefix that is to be packaged; (): it tests none
    summary: str

    def may_report(self, code: str, *, of_prefix: bool = False) -> bool:
        """Whether it reports problems of this code."""
        return code.split("-")[1] in (self.prefix_words if of_prefix else self.code_words)


# Name -> row. The module of the same name in subjects/ has check(installation, recorder, options).
# fmt: off
SUBJECTS: "Mapping[str, Subject]" = {
    "packages":    Subject("checks", False, ("PKG", "FILE"),   (), "distributions and their versions"),
    "files":       Subject("checks", False, ("FILE",),         (), "the files that RECORD lists"),
    "libraries":   Subject("loaded", False, ("LIB", "FILE"),   ("LIB", "FILE", "PREFIX"), "each library, loaded alone"),
    "api":         Subject("checks", True,  ("API",),          (), "each shortname, preloaded in a process of its own"),
    "bindings":    Subject("checks", True,  ("BIND",),         (), "whether each library would call its own functions"),
    "tools":       Subject("ran",    True,  ("TOOL",),         ("TOOL", "PREFIX"), "console scripts and programs"),
    "devel":       Subject("checks", False, ("DEVEL", "TOOL"), ("DEVEL", "TOOL", "PREFIX"), "tree, CMake, compiler"),
    "gpus":        Subject("found",  True,  ("GPU",),          (), "GPUs, their packages, and what HIP sees"),
    "opencl":      Subject("checks", True,  ("OCL",),          (), "whether OpenCL programs find AMD's driver"),
    "environment": Subject("checks", True,  ("ENV", "GPU"),    (), "variables that lead to other files or hide GPUs"),
    "prefix":      Subject("checks", False, (), ("PREFIX", "LIB", "FILE"), "links, search paths, versions of a prefix"),
}
# fmt: on
