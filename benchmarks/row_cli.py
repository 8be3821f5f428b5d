"""Row `cli`: commands that scripts call in $(...), as pip installs them, beside an interpreter that does nothing."""

from __future__ import annotations

from rocm_sdk_build.site_tree import Shape

from .figures import Figure, Target, difference, in_turn, ratio
from .stage import Stage

COMMANDS = (("version",), ("targets",), ("path", "--core"))


def run(stage: Stage) -> list[Figure]:
    environment = stage.environment(Shape.NONE)
    # The sample SDK has no device code, hence no targets.
    commands = [words for words in COMMANDS if not (stage.has_sample_sdk and words == ("targets",))]
    calls = {" ".join(words): environment.script(*words) for words in commands}
    seconds = in_turn(stage.rounds(41), {"": environment.nothing(), **calls})
    ms = {name: [value * 1e3 for value in values] for name, values in seconds.items()}
    figures = []
    for name in calls:
        figures += [
            difference(f"`rocm-sdk {name}` over `python -c pass`", "ms", ms[name], ms[""]),
            ratio(f"`rocm-sdk {name}` beside `python -c pass`", ms[name], ms[""], Target("at most", 1.25)),
        ]
    return figures
