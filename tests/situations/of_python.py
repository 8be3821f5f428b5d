"""Situations: things that Python finds first, before or beside the installed packages."""

import shutil
from pathlib import Path

from sample_site import CORE, LIBRARIES
from sdk_environment import Environment
from situations import METADATA, Situation, by_hand, on, set_variable


def _module(environment: Environment, name: str, text: str) -> None:
    path = environment.root / "mine" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _second_sdk(environment: Environment) -> None:
    other = environment.root / "other"
    other.mkdir()
    for name in (CORE, METADATA["core"], "rocm_sdk_core"):
        shutil.copytree(environment.site / name, other / name)


def _moved_apart(environment: Environment) -> None:
    other = environment.root / "other"
    other.mkdir()
    for name in (LIBRARIES, METADATA["libraries"], "rocm_sdk_libraries"):
        shutil.move(environment.site / name, other / name)


def _moved_environment(environment: Environment) -> None:
    """Let a script name an interpreter that is gone."""
    script = environment.root / "bin/rocm-smi"
    lines = script.read_text().splitlines(keepends=True)
    script.write_text("".join(["#!/nowhere/venv/bin/python\n", *lines[1:]]))


def links_to_cache(environment: Environment) -> None:
    """Replace files by links to a cache, as uv does with --link-mode symlink."""
    cache = environment.root / "cache"
    cache.mkdir()
    for path in sorted((environment.site / LIBRARIES).rglob("*")):
        if path.is_file():
            kept = cache / path.name
            path.rename(kept)
            path.symlink_to(kept)


def _stale(environment: Environment) -> None:
    """Make an unchecked .pyc of a module of core that differs from the source."""
    import py_compile

    place = environment.site / "rocm_sdk_core/_cli.py"
    before = place.read_text()
    place.write_text("raise RuntimeError('of another release')\n")
    # py_compile of the environment's own interpreter version
    py_compile.compile(str(place), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    place.write_text(before)


_MINE = "export PYTHONPATH={root}/mine:$PYTHONPATH"

# fmt: off
ROWS = (
    Situation("a module mine.py in PYTHONPATH", None, "", lambda e: _module(e, "mine.py", "raise 1"), (_MINE,)),
    by_hand("subprocess.py in PYTHONPATH", "E-ENV-013", "subprocess.py", lambda e: _module(e, "subprocess.py", ""), (_MINE,)),
    Situation("sitecustomize talks", None, "", lambda e: _module(e, "sitecustomize.py", "print('a word')"), (_MINE,)),
    Situation("sitecustomize raises", None, "", lambda e: _module(e, "sitecustomize.py", "raise ValueError"), (_MINE,)),
    Situation("a .pth file raises", None, "", on("x.pth", Path.write_text, "import nowhere\n")),
    Situation("a second SDK comes later in PYTHONPATH", "W-PKG-005", "other", _second_sdk, ("export PYTHONPATH=$PYTHONPATH:{site}:{root}/other",)),
    Situation("libraries were moved to another directory", "E-PKG-004", "other, rocm-sdk-core in ", _moved_apart, ("export PYTHONPATH=$PYTHONPATH:{root}/other",)),
    Situation("PYTHONWARNINGS=error", None, "", lines=set_variable("PYTHONWARNINGS", "error")),
    Situation("PYTHONDEVMODE, PYTHONOPTIMIZE and PYTHONSAFEPATH", None, "", lines=("export PYTHONDEVMODE=1 PYTHONOPTIMIZE=2 PYTHONSAFEPATH=1",)),
    Situation("conda's variables", None, "", lines=("export CONDA_PREFIX={root} CONDA_DEFAULT_ENV=base CONDA_SHLVL=1",)),
    Situation("a script names an interpreter that is gone", "E-FILE-002", "rocm-smi", _moved_environment),
    Situation("files are links to a cache", None, "", links_to_cache),
    Situation("the cache to which files are links was emptied", "E-FILE-009", "11 more", lambda e: (links_to_cache(e), shutil.rmtree(e.root / "cache"))),
    Situation("a stale .pyc of core", "E-ENV-013", "_cli", _stale),
    Situation("rocm-profiler without core", "E-PKG-011", "rocm-profiler", lambda e: (e.install("rocm-profiler==7.10.0"), e.uninstall("rocm-sdk-core"))),
    Situation("core says that it is of another build", "E-PKG-016", "does not fit the core package", lambda e: (e.site / "rocm_sdk_libraries/_dist_info.py").write_text((e.site / "rocm_sdk_libraries/_dist_info.py").read_text().replace("DEFAULT_TARGET_FAMILY = 'gfx942'", "DEFAULT_TARGET_FAMILY = 'gfx90a'"))),
)
# fmt: on
