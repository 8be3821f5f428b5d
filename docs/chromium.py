"""The browser that looks at pages, and draws pictures of them for the documentation, where there is one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

COLOUR_SCHEMES = {"light": "1", "dark": "0"}  # and what Chromium's setting calls them
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60


def find_chromium() -> str | None:
    """Return the program, or None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def draw(page: Path, picture: Path, scheme: str, size: tuple[int, int]) -> bool:
    """Draws the upper part of a page into a PNG; whether there is a Chromium. Raises if one is there and fails."""
    browser = find_chromium()
    if browser is None:
        return False
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                f"--blink-settings=preferredColorScheme={COLOUR_SCHEMES[scheme]}",
                *(f"--user-data-dir={profile}", f"--screenshot={picture}"),
                *(f"--window-size={size[0]},{size[1]}", page.resolve().as_uri()),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=_SECONDS,
        )
    if not picture.is_file():
        raise FileNotFoundError(f"{browser} drew no picture of {page}")
    return True
