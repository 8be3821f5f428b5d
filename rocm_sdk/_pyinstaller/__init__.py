"""The hook for PyInstaller, found by the entry point `pyinstaller40`: a frozen program needs no options."""

import os


def get_hook_dirs() -> list[str]:
    """Return the directory of the hooks."""
    return [os.path.dirname(__file__)]
