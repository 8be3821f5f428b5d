"""A look for inherited variables that lead somewhere. The module imports nothing: commands ask when they start."""

from rocm_sdk._native import inherited_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container


def may_lead_out(variables: "Container[str]") -> bool:
    """Return whether a variable is set that the table says may lead to a file or directory.

    variables: the names of the variables that are set.
    """
    return any(name in variables for name, kind, *_ in inherited_variables() if kind != "switch")
