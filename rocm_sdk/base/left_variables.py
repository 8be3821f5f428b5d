"""A look for variables of a parent that lead somewhere. The module imports nothing: commands ask at their start."""

from rocm_sdk._native import inherited_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container


def may_lead_out(variables: "Container[str]") -> bool:
    """Return whether a variable of the table is set whose value leads to a file or directory.

    variables: the names of the variables that are set.
    """
    return any(name in variables for name, kind, *_ in inherited_variables() if kind != "switch")
