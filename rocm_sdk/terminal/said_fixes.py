"""A fix that several problems share is said once in a report."""


class SaidFixes:
    """The fixes that a report has said, each with the code of its problem."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}

    def of(self, code: str, fix: str | None) -> str | None:
        """Return the fix of a problem, or in its place whose it is if it was said; None if there is none."""
        if fix is None:
            return None
        if (said_for := self._codes.get(fix)) is not None:
            return f"by hand: that of {said_for} above"
        self._codes[fix] = code
        return fix
