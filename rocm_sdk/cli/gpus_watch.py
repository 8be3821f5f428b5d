"""The command `rocm-sdk gpus --watch`, which prints a line for each change on the GPUs of this machine.

The command reads what `rocm-sdk gpus` and `gpus --health` read, and wakes no GPU.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.value_text import size_text
from rocm_sdk.fit.in_use import gpu_processes, used_memory
from rocm_sdk.terminal.output import tell

_OF_MEMORY = "memory"  # a check whose text changes with each allocation; memory is watched by itself
_LEAST_SHARE = 100  # memory that is taken or freed is said from a hundredth of the GPU's on


class Change(NamedTuple):
    """A change on a GPU or on the machine."""

    node: int | None  # None: the machine
    what: str  # "GPU", "usable", "memory", "process", or a check of --health
    before: str | None  # None: it was not there
    now: str | None  # None: it is gone

    @property
    def text(self) -> str:
        """The text for people."""
        place = "machine" if self.node is None else f"node {self.node}"
        if self.before is None:
            return f"{place}: {self.what}: {self.now}"
        return f"{place}: {self.what}: {self.now if self.now is not None else 'gone'} (before: {self.before})"


# Node, what the entry is about, which of several -> the words about it.
State = Mapping[tuple[int | None, str, str], str]


class Watch:
    """The last look at the GPUs. The first look is at the construction."""

    def __init__(self, gpus: Sequence[_native.Gpu], *, is_json: bool) -> None:
        self._is_json = is_json
        self._state, self._memory = state(gpus), _memory(gpus)
        self._nodes = [gpu.node for gpu in gpus]

    def go_on(self, seconds: float) -> int:
        """Say each change until Ctrl-C, which is its usual end. Return status 0."""
        if self._is_json:
            print(json.dumps({"time": _now(), "watched": self._nodes}), flush=True)
        try:
            while True:
                time.sleep(seconds)
                gpus, _, _ = _native.survey_gpus()
                now = state(gpus)
                for change in (*changes(self._state, now), *_changes_of_memory(self._memory, _memory(gpus))):
                    _say(change, is_json=self._is_json)
                self._state = now
        except KeyboardInterrupt:
            return 0


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _say(change: Change, *, is_json: bool) -> None:
    now = _now()
    if is_json:
        print(json.dumps({"time": now, **change._asdict()}), flush=True)
    else:
        tell(f"{now[11:19]}  {change.text}")


def state(gpus: Sequence[_native.Gpu]) -> State:
    """Return what is watched, except memory."""
    found: dict[tuple[int | None, str, str], str] = {}
    for gpu in gpus:
        found[gpu.node, "GPU", ""] = f"{gpu.processor} {gpu.name}, {gpu.pci_address}"
        found[gpu.node, "usable", ""] = "yes" if gpu.usable else f"no, {gpu.why_not}"
    for check, node, condition, text, problem in _native.gpu_health():
        if check != _OF_MEMORY:
            found[node, check, ""] = f"{condition}, {text}{f' [{problem.code}]' if problem is not None else ''}"
    for each in gpu_processes(gpus):
        found[each.node, "process", str(each.process)] = f"{each.process}{f' {each.name}' if each.name else ''}"
    return found


def changes(before: State, now: State) -> Iterator[Change]:
    """Yield the differences, by node; of a GPU that has gone or come nothing else is said."""
    lone = {node for node, what, _ in before.keys() ^ now.keys() if what == "GPU"}
    for key in sorted(before.keys() | now.keys(), key=lambda each: (each[0] is None, each[0] or 0, *each[1:])):
        node, what, _ = key
        if before.get(key) != now.get(key) and (what == "GPU" or node not in lone):
            yield Change(node, what, before.get(key), now.get(key))


def _memory(gpus: Sequence[_native.Gpu]) -> dict[int, tuple[int, int]]:
    """Return node -> the bytes that are taken of how many."""
    return {gpu.node: (used, gpu.memory) for gpu in gpus if (used := used_memory(gpu)) is not None}


def _changes_of_memory(said: dict[int, tuple[int, int]], now: Mapping[int, tuple[int, int]]) -> Iterator[Change]:
    """Yield the changes of memory that are worth a line, since the last one that was said."""
    for node, (used, size) in now.items():
        before, _ = said.setdefault(node, (used, size))
        if abs(used - before) * _LEAST_SHARE >= max(size, 1):
            said[node] = (used, size)
            yield Change(node, "memory", f"{size_text(before)} used", f"{size_text(used)} used")
