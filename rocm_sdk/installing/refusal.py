"""Why nothing is installed."""

from __future__ import annotations


class InstallRefusedError(Exception):
    """message says what is wrong with what, fix what to do about it."""

    def __init__(self, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class WrongWordError(InstallRefusedError):
    """A word of the command line stands for nothing, or goes with another one badly: wrong usage."""
