"""The place of a file that has no short name in the catalog: a tool, bitcode, a static library, headers."""

from typing import NamedTuple


class FileLocation(NamedTuple):
    """The place of a file of the SDK, or of a directory of headers.

    package is `core`, `libraries` or `devel`; found_via is `file name` or `directory name`.
    """

    name: str
    path: str
    package: str
    found_via: str
