"""What the reports share."""

from command_fixtures import call, script, sdk

__all__ = ["call", "script", "sdk"]
