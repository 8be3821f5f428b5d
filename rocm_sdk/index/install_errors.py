"""The errors that say why nothing is installed."""

from __future__ import annotations

OWN_ENVIRONMENT = "make an environment: python3 -m venv rocm && . rocm/bin/activate, and run the command again"


class InstallRefusedError(Exception):
    """The error for a refused installation.

    message says what is wrong with what, fix what to do about it, target for which GPU the index has nothing.
    """

    def __init__(self, message: str, fix: str | None = None, target: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.target = target


class UnreachedIndexError(InstallRefusedError):
    """The error for an index that cannot be asked: there is no network, or nothing answers there."""


class WrongWordError(InstallRefusedError):
    """The error for a word of the command line that means nothing, or does not go with another: wrong usage."""
