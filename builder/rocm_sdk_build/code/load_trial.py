"""The loading of a library in a process of its own, which reads where the wrappers of its code lead.

A library that loads can still have damaged code: HIP also registers a wrapper that leads to garbage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from rocm_sdk.base.processes import PACKAGE_PARENT, own_code, run

_SECONDS = 120
_ANSWER = "what the wrappers lead to: "  # start of the answer's line, since code of the library prints lines, too
# sys.argv: _ANSWER, library, library whose dependencies are loaded before, addresses of the wrappers' words.
_PROGRAM = """
import ctypes, json, os, sys
import rocm_sdk
from rocm_sdk.installed.readers import inspect_library
from rocm_sdk.base.search_path import expanded
mark, library, original, *places = sys.argv[1:]
def answer(document):
    print(f"\\n{mark}{json.dumps(document)}", flush=True)
try:
    rocm_sdk.preload_for(original)
except rocm_sdk.RocmSdkError:
    pass  # it is not in an SDK
# The new file has no place of its own yet: what the original finds beside itself is loaded before.
facts = inspect_library(original)
for directory in (facts.rpath or facts.runpath or "").split(":"):
    directory = expanded(directory, original)
    for name in facts.needed:
        if directory and os.path.exists(os.path.join(directory, name)):
            try:
                ctypes.CDLL(os.path.join(directory, name))
            except OSError:
                pass  # the library that needs it cannot be loaded either, and says why
class LinkMap(ctypes.Structure):
    _fields_ = [("address", ctypes.c_size_t)]
try:
    handle = ctypes.CDLL(library)
except OSError as error:
    answer({"refused": str(error)})
    raise SystemExit
dlinfo = ctypes.CDLL(None).dlinfo
dlinfo.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
link_map = ctypes.POINTER(LinkMap)()
if dlinfo(handle._handle, 2, ctypes.byref(link_map)) != 0:
    raise SystemExit("dlinfo fails")
base = link_map.contents.address
words = [ctypes.c_uint64.from_address(base + int(place)).value - base for place in places]
starts = [ctypes.string_at(base + word, 24).hex() for word in words]
answer({"words": words, "starts": starts})
"""


class Loaded(NamedTuple):
    """The result of loading a library."""

    refusal: str | None  # reason why the library does not load
    words: tuple[int, ...] = ()  # addresses in the wrappers, from the library's base address on
    starts: tuple[bytes, ...] = ()  # first bytes at these addresses


def load(library: str, original: str, places: Sequence[int]) -> Loaded:
    """Load `library` behind the dependencies of `original`; return the result.

    `places` are the addresses of the words to read.
    """
    command = own_code(_PROGRAM, _ANSWER, library, original, *map(str, places))
    path = os.pathsep.join(filter(None, [PACKAGE_PARENT, os.environ.get("PYTHONPATH", "")]))
    try:
        done = run(command, variables={"PYTHONPATH": path}, seconds=_SECONDS)
    except TimeoutError:
        return Loaded(f"loading takes longer than {_SECONDS} seconds")
    if done.returncode != 0:
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
        return Loaded(f"the process that loads it ends with {ended}: {done.stderr.strip()[-500:]}")
    answers = [line for line in done.stdout.splitlines() if line.startswith(_ANSWER)]
    if not answers:
        return Loaded("the process that loads it ends before it has answered")
    document = json.loads(answers[-1].removeprefix(_ANSWER))
    if "refused" in document:
        return Loaded(str(document["refused"]))
    return Loaded(None, tuple(document["words"]), tuple(map(bytes.fromhex, document["starts"])))
