"""The directive `run`: a command with what it prints on the sample machine, when the page is built.

    ```{run}
    :status: 1
    rocm-sdk test
    ```

Each page has a machine, an SDK and a home directory of its own, in which its commands run one after the other. A
command with another exit status than `status` (0) fails the build. `hidden` shows nothing: for what must happen before.
`no-gpus` runs it on a machine without GPUs. `before` is what happened in the same shell,
and is not shown; `shows` is a word that the output must have, whatever the status. `$site`, `$core` and `$machine` are
directories of the sample, `$docs` and `$tests` those of the project.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from sample_documentation import environment, write_machine, write_site

_DOCS = Path(__file__).resolve().parent
_HOME = "/home/me"  # what pages call the directory
_WIDTH = "84"  # columns that a page has room for
_SECONDS = 120


class _World:
    """What the commands of all pages find; a copy for each page."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="docs-"))
        self._pristine = self._directory / "pristine"
        self._pages: dict[str, Path] = {}

    def home(self, page: str) -> Path:
        if not self._pages:
            write_site(_site(self._pristine))
            write_machine(self._pristine / "machine")
            (self._pristine / "machine-without-gpus").mkdir()
        if page not in self._pages:
            self._pages[page] = self._directory / str(len(self._pages))
            shutil.copytree(self._pristine, self._pages[page], symlinks=True)
        return self._pages[page]

    def run(self, page: str, command: str, machine: str, before: str) -> tuple[int, str]:
        """Return the exit status and both streams, in which the directory has the name that pages use."""
        home = self.home(page)
        variables = environment(_site(home), home / machine)
        site = _site(home).relative_to(home)
        variables |= {"site": str(site), "core": f"{site}/_rocm_sdk_core", "machine": str(home / machine)}
        variables |= {"docs": str(_DOCS), "tests": str(_DOCS.parent / "tests")}
        variables |= {"COLUMNS": _WIDTH, "NO_COLOR": "1", "HOME": str(home), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["bash", "-c", f"{before}\n{command}"],
            env=variables,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        return done.returncode, re.sub(r"[ \t]+$", "", self.anonymous(page, done.stdout), flags=re.MULTILINE)

    def anonymous(self, page: str, text: str) -> str:
        """Return a text with the names that pages use for directories of the building machine."""
        text = text.replace(str(self.home(page)), _HOME).replace(sys.prefix, f"{_HOME}/venv")
        return text.replace(str(_DOCS.parent), f"{_HOME}/rocm_sdk")

    def remove(self) -> None:
        shutil.rmtree(self._directory)


def _site(home: Path) -> Path:
    return home / "venv/lib/python3/site-packages"


class _Run(SphinxDirective):
    has_content = True
    option_spec = {  # noqa: RUF012 - docutils
        "before": str,
        "shows": str,
        "status": int,
        "hidden": directives.flag,
        "no-gpus": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        command = "\n".join(self.content)
        machine = "machine-without-gpus" if "no-gpus" in self.options else "machine"
        world: _World = self.env.app.real_output_world  # type: ignore[attr-defined]
        status, output = world.run(self.env.docname, command, machine, self.options.get("before", ""))
        wanted = self.options.get("shows")
        if wanted not in output if wanted else status != self.options.get("status", 0):
            raise self.error(f"{command}\nexit status {status}:\n{output}")
        if "hidden" in self.options:
            return []
        self.env.note_reread()  # what it prints depends on the program
        typed = "".join(f"$ {line}\n" for line in self.content)
        return [self._block(typed + output)]

    def _block(self, text: str) -> nodes.Node:
        block = nodes.literal_block(text.rstrip("\n"), text.rstrip("\n"), language="console")
        self.set_source_info(block)
        return block


def _remove(app: Sphinx, _error: Exception | None) -> None:
    app.real_output_world.remove()  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.real_output_world = _World()  # type: ignore[attr-defined]
    app.add_directive("run", _Run)
    app.connect("build-finished", _remove)
    return {"parallel_read_safe": False}
