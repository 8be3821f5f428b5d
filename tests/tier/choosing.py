"""The choice of the rows of the first tier: cases that reach most for their processor seconds, within a limit."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from reach import Case
from tiers import FIRST, Row, names

LIMIT = 380.0  # processor seconds of the cases, before rows of tests, files and directories bring others
CHEAP = 0.15  # seconds: a test brings its cheapest case where that takes no longer
ROW = 0.15  # seconds that a row less in the table may cost
COLD = "real_sdk/"  # of minutes and gigabytes, which the first case on a machine pays for all
KILLS, REACHES = "kills", "reaches"


def chosen_cases(cases: Mapping[str, Case], kept: Collection[str], limit: float = LIMIT) -> set[str]:
    """Return the cases of the tier: the kept ones, the cheapest of each test, and what reaches most for its time."""
    tests: dict[str, list[Case]] = defaultdict(list)
    warm = [case for case in cases.values() if not case.name.startswith(COLD)]
    for case in warm:
        tests[test_of(case.name)].append(case)
    cheapest = (min(each, key=lambda case: case.seconds) for each in tests.values())
    chosen = {*kept} & {*cases}
    seconds = sum(cases[name].seconds for name in chosen)
    reached = 0
    for name in chosen:
        reached |= cases[name].reached
    for case in sorted(cheapest, key=lambda case: case.seconds):
        if case.name not in chosen and case.seconds <= CHEAP and seconds + case.seconds <= limit:
            chosen.add(case.name)
            seconds += case.seconds
            reached |= case.reached
    return chosen | {case.name for case in _by_gain(warm, reached, limit - seconds)}


def _by_gain(cases: Iterable[Case], reached: int, left: float) -> Iterator[Case]:
    """Yield the case that reaches most new elements for its seconds, while seconds are left and a case reaches more."""
    waiting = [(-_gain(case, reached), case.name, case) for case in cases]
    heapify(waiting)
    while waiting:
        _, name, case = heappop(waiting)
        gain = _gain(case, reached)
        if waiting and -gain > waiting[0][0]:  # what a case gains never grows
            heappush(waiting, (-gain, name, case))
        elif gain > 0 and case.seconds <= left:
            left -= case.seconds
            reached |= case.reached
            yield case


def _gain(case: Case, reached: int) -> float:
    return (case.reached & ~reached).bit_count() / max(case.seconds, 0.003)


def test_of(case: str) -> str:
    """Return the test of a case: its name without parameters."""
    path, _, name = case.partition("::")
    return f"{path}::{name.partition('[')[0]}"


def rows_of(
    chosen: Collection[str], cases: Mapping[str, Case], by_hand: Sequence[Row], kills: Collection[str]
) -> list[Row]:
    """Return the rows of the chosen cases: of files and tests where little else is in them, else of cases."""
    named = {row.name for row in by_hand}
    taken = {above for row in by_hand if row.tier == FIRST for above in names(row.name)}  # no row is in another
    left = {case for case in chosen if named.isdisjoint(names(case))}
    rows = list(by_hand)
    for level in (directory_of, file_of, test_of):
        members: dict[str, list[str]] = defaultdict(list)
        for case in cases:
            members[level(case)].append(case)
        now: dict[str, list[str]] = defaultdict(list)
        for case in sorted(left):
            now[level(case)].append(case)
        for name, inside in now.items():
            if name in taken:
                continue
            more = sum(cases[case].seconds for case in members[name] if case not in chosen)
            saved = len(inside) if level is test_of else len({test_of(case) for case in inside})
            if more <= ROW * (saved - 1) or len(members[name]) == len(inside):
                rows.append(_row(name, members[name], cases, kills))
                left -= {*inside}
    rows += [_row(case, [case], cases, kills) for case in left]
    return rows


def directory_of(case: str) -> str:
    """Return the directory of a case below tests/, or the file where there is none."""
    return file_of(case).partition("/")[0]


def file_of(case: str) -> str:
    """Return the file of a case."""
    return case.partition("::")[0]


def _row(name: str, inside: Sequence[str], cases: Mapping[str, Case], kills: Collection[str]) -> Row:
    why = KILLS if any(case in kills for case in inside) else REACHES
    return Row(FIRST, why, round(sum(cases[case].seconds for case in inside), 2), name)
