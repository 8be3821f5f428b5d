"""The browser that looks at pages, where there is one."""

from __future__ import annotations

import shutil

COLOUR_SCHEMES = ("light", "dark")
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the program, or None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)
