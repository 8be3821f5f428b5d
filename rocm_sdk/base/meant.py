"""The one wording for the names that a user may have meant."""

from rocm_sdk._native import nearest_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, names: "Iterable[str]", limit: int = 3) -> str:
    """Return a question with the names that are similar to `name`; "" if there are none."""
    return question(nearest_names(name, tuple(names), limit))


def question(near: "Iterable[str]") -> str:
    """Return the question whether one of these was meant; "" for none."""
    text = " or ".join(near)
    return f"did you mean {text}?" if text else ""
