"""Puts the C library's table of targets into the page about GPUs, where it says `<!-- the table of targets -->`."""

from sphinx.application import Sphinx

from rocm_sdk import targets

_PLACE = "<!-- the table of targets -->"
_HEAD = (
    "| target | product | class | EF_AMDGPU_MACH | xnack | sramecc | generic | sub-family | families |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


def table() -> str:
    """Return the table in Markdown, one target per line."""
    return _HEAD + "".join(
        f"| {row.name} | {row.product} | {row.gpu_class} | 0x{row.mach:02X} | {row.xnack} |"
        f" {'yes' if row.sramecc else 'no'} | {row.generic or '-'} | {row.sub_family or '-'} |"
        f" {', '.join(row.families) or '-'} |\n"
        for row in targets.table()
    )


def _put_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = source[0].replace(_PLACE, table())


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.connect("source-read", _put_in)
    return {"parallel_read_safe": True}
