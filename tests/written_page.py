"""A reader of the pages that commands write, which is none of ours."""

from html.parser import HTMLParser

# The tags of headings of columns.
HEADINGS = ('<th scope="col">', '<th scope="col" class="number">')
# Elements without an end tag, and those whose end tag HTML lets one omit.
VOID = {"meta", "tr", "th", "td", "dt", "dd"}


class Page(HTMLParser):
    """The requests of a page, its text, and tags that do not fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.asked_for: list[str] = []
        self.text: list[str] = []
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked_for += [f"{tag} {name}={value}" for name, value in attrs if name in {"src", "href", "action"}]
        if tag in {"script", "link", "iframe", "img"}:
            self.asked_for.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self.get_starttag_text() in HEADINGS:
            self.headings.append(data)
