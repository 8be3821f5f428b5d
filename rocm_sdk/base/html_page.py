"""The start of a page that a command writes: one look for all of them, and nothing from elsewhere."""

from __future__ import annotations

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem } table { border-collapse: collapse }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; overflow-wrap: anywhere }
"""


def page_start(title: str, style: str) -> str:
    """The text up to the content; `</main></body></html>` ends it. title: HTML. style: CSS beside that of all."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>'
        f"<style>{_STYLE}{style}</style></head><body><main>"
    )
