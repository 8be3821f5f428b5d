"""The decision whether a closure is tried.

The proof runs code of the application: a stranger's code runs only if the user asks for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .roots import Roots

DO, UNSAFE, LEAVE_OUT = "do", "unsafe", "leave out"  # the user's choice; None: installed applications are tried


def why_untried(choice: str | None, roots: Roots) -> str | None:
    """Return the reason why a closure is not tried, or None if it is tried."""
    if choice == LEAVE_OUT:
        return "--no-proof"
    foreign = [each.name for each in roots.applications if each.kind != "distribution"]
    if choice is None and foreign:
        return f"{foreign[0]} is not an installed distribution, and the proof would run its code (--proof)"
    return None
