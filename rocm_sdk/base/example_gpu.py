"""The fix where a GPU has to be named, and there is none: the user's own words again, with a place for its name."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLE_GPU = "gfx1151"


def with_gpu(typed: "Sequence[str]") -> str:
    """Return the fix: the command that was typed, with a GPU in the place of what was named. typed: its words."""
    from rocm_sdk.base.value_text import quoted_for_shell

    behind = zip(["", *typed], typed, strict=False)  # each word with the one before it
    others = [word for before, word in behind if "--gpu" not in (before, word.partition("=")[0])]
    words = " ".join(map(quoted_for_shell, others))
    return f"name it: rocm-sdk {words} --gpu GPU  # its target or product, such as {EXAMPLE_GPU} or MI300X"
