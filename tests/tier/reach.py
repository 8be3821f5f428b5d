"""The results of a measured run: for each case its processor seconds, and the elements that it reached.

An element is a number: of a branch or a line of Python, as in the maps of `recorder.py`, or of a block of C, which is
a place of the source (`places.tsv`), so that a program and the extension have the same ones, and a later build too.
"""

import base64
import json
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_C = 1 << 20  # the first element of C
BINARIES = ("rocm_sdk", "rocm_sdk/doctor", *(f"build/c/reach/{place}" for place in ("tests/c", "tests/embed")))


class Case(NamedTuple):
    """A case of a measured run; `reached` has a bit for each element."""

    name: str
    seconds: float
    reached: int


class Run:
    """A measured run that has ended, by the binaries that it used."""

    def __init__(self, directory: Path, root: Path) -> None:
        self.directory = directory
        self.root = root
        self.places = read_places(directory)
        self.blocks: dict[str, list[int]] = {}  # module -> the element of each block

    def keep(self) -> None:
        """Add what the workers wrote to the cases that earlier runs measured; a later row of a case counts."""
        with (self.directory / "cases.jsonl").open("a", encoding="utf-8") as kept:
            for file in [*self.directory.glob("cases-*.jsonl")]:
                for line in file.read_text(encoding="utf-8").splitlines():
                    row = json.loads(line)
                    reached = bits(element for part in row["reach"].items() for element in self._elements(*part))
                    row["reach"] = base64.b85encode(zlib.compress(_to_bytes(reached))).decode()
                    kept.write(json.dumps(row) + "\n")
                file.unlink()
        text = "".join(f"{element}\t{place}\n" for place, element in self.places.items())
        (self.directory / "places.tsv").write_text(text, encoding="utf-8")

    def _elements(self, module: str, text: str) -> Iterator[int]:
        positions = (found.start() for found in re.finditer(b"\1", zlib.decompress(base64.b85decode(text))))
        if not module:
            return positions
        blocks = self._blocks_of(module)
        return (blocks[position - 1] for position in positions)

    def _blocks_of(self, module: str) -> list[int]:
        """Return the element of each block of a module, which its debug information places."""
        if module not in self.blocks:
            addresses = (self.directory / "blocks" / module).read_bytes()
            files = (path for place in BINARIES for path in (self.root / place).glob("*"))
            binary = next(path for path in files if path.name.replace(".", "-") == module)
            command = ["llvm-symbolizer", "--no-inlines", "--functions=none", f"--obj={binary}"]
            text = subprocess.run(command, input=addresses, capture_output=True, check=True).stdout.decode()
            places = [re.sub(r"^.*?/(?=csrc/|tests/)", "", place) for place in text.split("\n") if place]
            self.blocks[module] = [self.places.setdefault(each, _C + len(self.places)) for each in places]
        return self.blocks[module]


class Measured:
    """The cases of all measured runs."""

    def __init__(self, directory: Path) -> None:
        rows = [line.split("\t") for line in (directory / "files.tsv").read_text(encoding="utf-8").splitlines()]
        self.bases = {name: int(base) for base, _, name in rows}
        self.places = read_places(directory)
        self.cases: dict[str, Case] = {}
        with (directory / "cases.jsonl").open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                reached = int.from_bytes(zlib.decompress(base64.b85decode(row["reach"])), "little")
                self.cases[row["case"]] = Case(row["case"], row["seconds"], reached)

    def reaching(self, file: str, lines: range) -> set[str]:
        """Return the cases that reach a line of a file, or of C a block that begins there."""
        wanted = bits(self._of_lines(file, lines))
        return {case.name for case in self.cases.values() if case.reached & wanted}

    def _of_lines(self, file: str, lines: range) -> Iterator[int]:
        name = file.removeprefix("builder/").removeprefix("variant_provider/")
        if name in self.bases:
            yield from (self.bases[name] + line for line in lines)
        for place, element in self.places.items():
            path, line, _ = place.rsplit(":", 2)
            if path == file and int(line) in lines:
                yield element


def read_places(directory: Path) -> dict[str, int]:
    """Return the element of each place of C that a run has met."""
    file = directory / "places.tsv"
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    return {place: int(element) for element, place in rows}


def _to_bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def bits(numbers: Iterable[int]) -> int:
    """Return the number that has these bits."""
    known = [*numbers]
    found = bytearray((max(known, default=0) >> 3) + 1)
    for number in known:
        found[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(found, "little")
