"""The fix where a GPU has to be named, and there is none: the user's own words again, with a place for its name."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLE_GPU = "gfx1151"


def with_gpu(typed: "Sequence[str]") -> str:
    """Return the fix: the command that was typed, with a GPU in the place of what was named. typed: its words."""
    from rocm_sdk.base.value_text import quoted_for_shell

    if "--gpu" in typed:
        typed = [word for i, word in enumerate(typed) if "--gpu" not in typed[max(i - 1, 0) : i + 1]]
    words = " ".join(map(quoted_for_shell, typed))
    return f"name it: rocm-sdk {words} --gpu GPU  # its target or product, such as {EXAMPLE_GPU} or MI300X"
