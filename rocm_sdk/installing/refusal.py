"""Why nothing is installed."""

from __future__ import annotations


class InstallRefusedError(Exception):
    """message says what is wrong with what, fix what to do about it, target for which GPU nothing is offered."""

    def __init__(self, message: str, fix: str | None = None, target: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.target = target


class UnreachedIndexError(InstallRefusedError):
    """Nothing can be asked of the index: there is no network, or nothing answers there."""


class WrongWordError(InstallRefusedError):
    """A word of the command line stands for nothing, or goes with another one badly: wrong usage."""
