"""Whether a parent may have left a variable that leads somewhere. Imports nothing: commands ask at their start."""

from rocm_sdk._native import inherited_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container


def may_lead_out(variables: "Container[str]") -> bool:
    """Whether one of the table is set whose value leads to a file or directory. variables: the names of those set."""
    return any(name in variables for name, kind, *_ in inherited_variables() if kind != "switch")
