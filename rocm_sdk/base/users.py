"""Names of users."""

from __future__ import annotations

import pwd


def user_name(uid: int) -> str:
    """The name of a user, or words with the number of one who has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def owner_or_root(uid: int) -> str:
    """Who may change the mode of a file that the user with this number owns."""
    return user_name(uid) if uid == 0 else f"{user_name(uid)} or root"
