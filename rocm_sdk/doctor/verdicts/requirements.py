"""What a distribution says that it requires."""

from __future__ import annotations

from rocm_sdk.installed.distributions import normalised


def requirements(lines: list[str]) -> tuple[str, ...]:
    """The names of the distributions that values of Requires-Dist name without an extra."""
    plain = (line for line in lines if "extra ==" not in line and "extra==" not in line)
    return tuple(dict.fromkeys(normalised(_first_name(line)) for line in plain))


def _first_name(line: str) -> str:
    end = next((i for i, letter in enumerate(line) if not (letter.isalnum() or letter in "-_.")), len(line))
    return line[:end]
