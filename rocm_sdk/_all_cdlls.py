"""The preloaded libraries as ctypes.CDLL objects, by shortname: `rocm_sdk._ALL_CDLLS`.

Programs read the mapping and clear it. The extension keeps its own record of handles. A CDLL object is created, and
ctypes imported, when an entry is read.
"""

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING

from ._native import LoadedLibrary, _preloaded

if TYPE_CHECKING:
    from ctypes import CDLL


class CdllsByShortname(MutableMapping[str, "CDLL"]):
    """A mapping that behaves as a dictionary.

    Removing an entry unloads nothing; the next preload of the library adds it again.
    """

    def __init__(self, record: "dict[str, LoadedLibrary | CDLL]") -> None:
        self._record = record

    def __getitem__(self, shortname: str) -> "CDLL":
        entry = self._record[shortname]
        if isinstance(entry, LoadedLibrary):
            from ctypes import CDLL

            entry = CDLL(entry.location.path, handle=entry.handle)
            self._record[shortname] = entry
        return entry

    def __setitem__(self, shortname: str, library: "CDLL") -> None:
        self._record[shortname] = library

    def __delitem__(self, shortname: str) -> None:
        del self._record[shortname]

    def __iter__(self) -> Iterator[str]:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)

    def __repr__(self) -> str:
        return repr(dict(self))


ALL_CDLLS = CdllsByShortname(_preloaded)
