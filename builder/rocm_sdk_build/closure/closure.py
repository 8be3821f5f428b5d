"""The order of the steps: roots, selection, writing, proof, form. The result appears when all steps are done."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import Coverage, coverage
from rocm_sdk.base.value_text import size_text
from rocm_sdk.terminal.output import complain
from rocm_sdk.terminal.progress import waiting
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.closure.choosing.proof_choice import LEAVE_OUT, UNSAFE, why_untried
from rocm_sdk_build.closure.choosing.roots import Roots, open_roots
from rocm_sdk_build.closure.choosing.selection import GpuChoice, Selection, select
from rocm_sdk_build.closure.choosing.trace import trace
from rocm_sdk_build.closure.proving.proof import Attempt, Proof, find_attempt, prove
from rocm_sdk_build.closure.writing.forms.table import writer_of
from rocm_sdk_build.closure.writing.forms.tree import size_of
from rocm_sdk_build.closure.writing.metadata import ClosureVersion, add_file
from rocm_sdk_build.closure.writing.site import Recipe, Site, write_site
from rocm_sdk_build.code.rewrite import NewCode

from .source_sdk import InstalledSdk

SITE = "closure"  # the new directory in a scratch directory


class Request(NamedTuple):
    """The request of the user."""

    output: Path
    command: str  # the command as the user typed it
    words: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    preloads: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    traced: tuple[str, ...] = ()  # a command that is run; the files that it uses are kept
    gpus: tuple[str, ...] = ()  # targets; (): all
    unofficial: bool = False
    exact: bool = False
    drops_code: bool = False
    form: str = "site"
    base: str | None = None  # the base image of the form oci
    keeps_version: bool = False
    may_link: bool = False  # unchanged files become hard links to the SDK's files
    proof: str | None = None  # a choice of `choosing.proof_choice`
    records_pages: bool = False  # the closure gets a page list


class Made(NamedTuple):
    """A closure that was written; sizes are in bytes."""

    request: Request
    roots: Roots
    selection: Selection
    site: Site
    proof: Proof | None
    size_before: int
    size: int  # size of the files
    output_size: int  # size of the image, the wheels, or the directory's files


def make_closure(request: Request) -> Made:
    """Write the closure; return it.

    Raise PackagingError, RocmSdkError or OSError if the closure cannot be made; then nothing of the output is left.
    """
    _refuse_output(request.output)
    write_output = writer_of(request.form, request.base)
    sdk = InstalledSdk()
    with open_roots(request.words, request.libraries, request.preloads, request.tools) as roots:
        selection = _selected(sdk, roots, request)
        with scratch_directory(request.output.absolute().parent) as scratch:
            attempt = _attempt_of(request, roots, scratch)
            site = _write_closure(sdk, selection, _recipe_of(request, roots), scratch / SITE)
            proof = prove(sdk, roots, selection, site, request.gpus, attempt) if attempt is not None else None
            if proof is not None and proof.page_list is not None:
                add_file(site.place, "rocm-sdk-core", proof.page_list.place, proof.page_list.text)
            title = f"writing the {request.form} {request.output.name}"
            with _refusing_another(request.output), waiting(title, size_of(site.place), size_text) as wait:
                output_size = write_output(site.place, request.output, scratch, wait)
    return Made(
        request,
        roots,
        selection,
        site,
        proof,
        sum(file.size for file in sdk.files.values()),
        sum(each.size for each in site.files),
        output_size,
    )


def _attempt_of(request: Request, roots: Roots, scratch: Path) -> Attempt | None:
    """Return how the closure is tried, or None if it is not tried.

    Raise PackagingError, before the closure is written, if this system has no way to try it.
    """
    if (why := why_untried(request.proof, roots)) is not None:
        if request.records_pages and request.proof == LEAVE_OUT:
            what = "--record-pages needs the proof, which --no-proof leaves out"
            raise WrongUsageError(what, "leave out --record-pages or --no-proof")
        if request.records_pages:
            raise WrongUsageError(f"--record-pages needs the proof: {why}", "--proof")
        return None
    named = ", ".join(each.name for each in roots.applications) or "the SDK's libraries"
    complain(f"the proof runs code of what you name: {named}")
    return find_attempt(scratch, may_be_unsafe=request.proof == UNSAFE, records_pages=request.records_pages)


def _refuse_output(output: Path) -> None:
    """Raise PackagingError if something has the name of the output.

    Raise OSError, before the work begins, if nothing can have the name.
    """
    try:
        os.lstat(output)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise
        return
    raise PackagingError(f"{output}: exists, and is not written over", "remove it, or name another place")


@contextmanager
def _refusing_another(output: Path) -> Iterator[None]:
    """Yield to a block that writes the output, and turn the error of a taken name into a PackagingError.

    The name was free at the start of the work: something, such as another closure, has taken it since.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR) or not os.path.lexists(output):
            raise
        raise PackagingError(
            f"{output}: has appeared meanwhile, and is not written over", "name another place"
        ) from error


def _traced(sdk: InstalledSdk, request: Request) -> dict[str, str]:
    if not request.traced:
        return {}
    with scratch_directory(Path(tempfile.gettempdir())) as scratch:
        return trace(sdk, request.traced, scratch)


def _selected(sdk: InstalledSdk, roots: Roots, request: Request) -> Selection:
    """Return the selection of the closure's files.

    Raise PackagingError for a library that nobody has.
    """
    choice = GpuChoice(request.gpus, request.unofficial, request.exact)
    with waiting("choosing what is needed"):
        selection = select(sdk, roots, choice, _traced(sdk, request))
    if selection.needed.missing:
        raise PackagingError(
            f"neither the SDK nor this system has {', '.join(selection.needed.missing)}",
            "install what provides it: rocm-sdk check says which package",
        )
    return selection


def _recipe_of(request: Request, roots: Roots) -> Recipe:
    """Return the recipe for files and packages."""
    wish = NewCode(
        request.gpus,
        request.unofficial,
        check_loading=False,  # the proof loads all files
        exact=request.exact,
        may_be_empty=request.drops_code,
    )
    version = ClosureVersion(request.gpus, request.keeps_version)
    requires = tuple(line for each in roots.applications for line in each.requires)
    return Recipe(wish, version, request.command, requires, may_link=request.may_link)


def _write_closure(sdk: InstalledSdk, selection: Selection, recipe: Recipe, place: Path) -> Site:
    """Write the new directory `place`; return the site.

    The errors are the same as for make_closure.
    """
    site = write_site(sdk, selection, recipe, place)
    gpus = recipe.wish.gpus
    if not gpus:
        return site
    with waiting("reading the GPU code"):
        code = coverage(gpus, site.place)
    _refuse_gpus_without_code(site, code, gpus)
    return site._replace(code=code)


def _refuse_gpus_without_code(site: Site, found: Coverage, gpus: tuple[str, ...]) -> None:
    """Raise PackagingError if no library has code for a GPU, although some have code for others.

    The application would fail on such a GPU.
    """
    having = {on.gpu for library in found.libraries for on in library.gpus if on.verdict not in ("none", "not needed")}
    others = sorted({target.target for library in found.libraries for target in library.targets})
    lost = any(each.dropped or each.has_no_code for each in site.files)
    if missing := [gpu for gpu in gpus if gpu not in having] if others or lost else []:
        what = f"there is code for {', '.join(others)}" if others else "all code was for other GPUs"
        raise PackagingError(f"nothing that is needed has code for {', '.join(missing)}: {what}", "rocm-sdk check-gpu")
