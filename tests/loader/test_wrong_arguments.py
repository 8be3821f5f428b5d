"""Functions of the extension with arguments of any type: an exception that says what is wrong, or an answer."""

import pytest
from sample_site import Site

CALLS = """
import os, random, sys, warnings
from rocm_sdk import _native

warnings.simplefilter("ignore")
draw = random.Random(os.environ["SEED"])


class OwnError(Exception):
    pass


class Hostile:
    def __fspath__(self):
        return draw.choice(["/bin/true", b"/nowhere", "a\\0b", ""])

    def __index__(self):
        return draw.choice([-1, 0, 5, 2**70])

    def __iter__(self):
        raise OwnError

    def __bool__(self):
        raise OwnError

    def __eq__(self, other):
        raise OwnError

    __hash__ = None


sdk = _native.open_sdk()
functions = [getattr(place, name) for place in (_native, sdk) for name in dir(place) if not name.startswith("_")]
keywords = ("every", "fallback", "files", "new_process", "overrides", "root", "rtld_global", "unversioned_names")
called = 0
for _ in range(3000):
    values = [
        *(None, True, 0, 1, -1, 2**31, 2**63, -(2**70), 1.5, float("nan"), object(), int, range(3), Hostile()),
        *("", b"", "amdhip64", "gfx942:xnack+", "gfx94X-dcgpu", "x" * 70000, "\\ud800", "a\\0b", "/bin/true"),
        *(b"/bin/true", "machine", "7.10.0", "rocm==7.10.0", "E-LIB-001", "/", os.getpid(), b"\\x7fELF" + bytes(60)),
        *([], (), {}, ["amdhip64"], ("amdhip64",), ("gfx942", "gfx9999"), (1,), ((),), (("a", "b"),)),
        *({"amdhip64": "/bin/true"}, {"amdhip64": None}, {1: 2}),
    ]
    function = draw.choice(functions)
    words = draw.choices(values, k=draw.choice((0, 1, 1, 1, 2, 2, 3, 5)))
    named = {name: draw.choice(values) for name in keywords if draw.random() < 0.08}
    try:
        function(*words, **named)
    except SystemError as error:
        sys.exit(f"{function.__name__}{words} {named}: {error}")
    except Exception:
        pass
    called += 1
print(called)
"""


@pytest.mark.parametrize("seed", range(3))
def test_nothing_ends_the_process(site: Site, seed: int) -> None:
    assert site.output(CALLS, SEED=str(seed)) == "3000"
