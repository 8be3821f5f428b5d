"""The names of users."""

from __future__ import annotations

import pwd


def user_name(uid: int) -> str:
    """Return the name of a user, or words with the number of a user who has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def owner_or_root(uid: int) -> str:
    """Return who may change the mode of a file that the user with this number owns."""
    return user_name(uid) if uid == 0 else f"{user_name(uid)} or root"
