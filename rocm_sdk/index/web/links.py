"""The links of a page of HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from .server import TooLargeError, WebError

PAGE_LIMIT = 1 << 23  # bytes
LINK_LIMIT = 20_000


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = next((value for name, value in attrs if name == "href"), None)  # the first one counts
        if tag == "a" and address:
            self.found.append(address)


def links_of(page: bytes, address: str) -> list[str]:
    """Return the address of each link that has one, as it is on the page.

    Raise WebError if there are too many, or for a damaged page.
    """
    parser = _Links()
    try:
        parser.feed(page.decode("utf-8", errors="replace"))
    except AssertionError as error:  # of html.parser
        raise WebError(f"{address}: its HTML is damaged, so that its links cannot be read") from error
    if len(parser.found) > LINK_LIMIT:
        raise TooLargeError(f"{address}: has {len(parser.found)} links, more than the limit of {LINK_LIMIT}")
    return parser.found
