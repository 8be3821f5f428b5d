"""A fix that several problems share is said once in a report."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .problem import Problem


class SaidFixes:
    """The fixes that a report has said, each with the code of its problem."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}

    def __call__(self, found: "Problem") -> "str | None":
        """Return the fix of a problem, or in its place whose it is if it was said; None if there is none."""
        if found.fix is None:
            return None
        if (code := self._codes.get(found.fix)) is not None:
            return f"by hand: that of {code} above"
        self._codes[found.fix] = found.code
        return found.fix
