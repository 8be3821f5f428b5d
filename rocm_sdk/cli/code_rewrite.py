"""`rocm-sdk code FILE... --output PLACE`: new files with less code, or with the code in another container."""

import os

from .output import complain, succeeds, tell

TYPE_CHECKING = False  # for type checkers; importing typing takes longer than listing does
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.rewriting.rewrite import Rewritten, Wish
    from rocm_sdk.rewriting.trees import RewrittenTree


def add_rewrite_arguments(parser: "ArgumentParser") -> None:
    """What the new files are to hold, and where they go."""
    group = parser.add_argument_group("new files", "the files that are given are never changed")
    group.add_argument(
        "--keep",
        metavar="TARGETS",
        help="only the code that these GPUs run: `machine`, or targets and families separated by commas",
    )
    group.add_argument(
        "--also-unofficial",
        action="store_true",
        help="with --keep: also code that only runtimes with patches of distributions try on them",
    )
    form = group.add_mutually_exclusive_group()
    form.add_argument("--compress", action="store_true", help="the code in compressed bundles")
    form.add_argument("--decompress", action="store_true", help="the code in bundles that are not compressed")
    group.add_argument(
        "--retarget",
        metavar="TARGET:TARGET",
        action="append",
        default=[],
        help="offer the code of the first target for the second too, which has the same instructions (unofficial)",
    )
    group.add_argument("--extract", metavar="DIR", help="each code object in a file of its own")
    group.add_argument("--output", metavar="PLACE", help="the new file; with several files, a directory")
    group.add_argument("--dry-run", action="store_true", help="tell the sizes, write nothing")
    group.add_argument("--force", action="store_true", help="even if a file becomes more than four times as large")
    group.add_argument(
        "--no-load",
        action="store_true",
        help="do not load new libraries to check them: loading runs their constructors",
    )


def is_asked_for(options: "Namespace") -> bool:
    """Whether new files are wanted."""
    return bool(options.extract or options.keep or options.compress or options.decompress or options.retarget)


def misuse(options: "Namespace") -> str | None:
    """What is wrong with the options, if anything."""
    others = ("also_unofficial", "output", "dry_run", "force", "no_load")
    if not is_asked_for(options):
        given = next((name for name in others if getattr(options, name)), None)
        return f"--{given.replace('_', '-')} needs --keep, --compress, --decompress or --retarget" if given else None
    if options.extract:
        changes = options.keep or options.compress or options.decompress or options.retarget
        return "--extract does not go with what makes new libraries" if changes or options.output else None
    if options.json:
        return "--json lists code; it does not go with --keep, --compress, --decompress or --retarget"
    if options.also_unofficial and not options.keep:
        return "--also-unofficial needs --keep"
    if not options.output and not options.dry_run:
        return "say where the new file goes: --output FILE, or a directory with several files"
    if len(options.files) > 1 and options.output and not os.path.isdir(options.output):
        return f"--output must be a directory that exists, because there are several files: {options.output}"
    return None


def rewrite_all(options: "Namespace") -> int:
    """Writes each file; status 1 if one cannot be rewritten."""
    from functools import partial

    from rocm_sdk.errors import RocmSdkError
    from rocm_sdk.rewriting.retarget import parse_pair
    from rocm_sdk.rewriting.rewrite import Wish

    if options.extract:
        done = [succeeds(name, partial(_extract, name, options.extract)) for name in options.files]
        return 0 if all(done) else 1
    try:
        gpus = _gpus(options.keep) if options.keep else ()
        pairs = tuple(map(parse_pair, options.retarget))
    except RocmSdkError as error:
        complain(error.message, error.fix)
        return 1
    compressed = True if options.compress else False if options.decompress else None
    wish = Wish(gpus, options.also_unofficial, compressed, pairs, options.force, not options.no_load)
    place = None if options.dry_run else options.output
    done = [succeeds(name, partial(_rewrite, name, place, wish)) for name in options.files]
    return 0 if all(done) else 1


def _rewrite(name: str, place: "str | None", wish: "Wish") -> None:
    from rocm_sdk.rewriting.rewrite import rewrite_file

    base = os.path.basename(os.path.normpath(name))
    output = os.path.join(place, base) if place is not None and os.path.isdir(place) else place
    if os.path.isdir(name) or name.endswith(".whl"):
        from rocm_sdk.rewriting.trees import rewrite_directory, rewrite_wheel

        _tell_tree((rewrite_directory if os.path.isdir(name) else rewrite_wheel)(name, output, wish))
    else:
        from rocm_sdk.rewriting.owners import checks_of

        check = checks_of(output) if output is not None and os.path.exists(output) else None
        _tell(rewrite_file(name, output, wish))
        if check is not None:
            complain(f"{output} took the place of an installed file: {check} will tell that it differs")


def _extract(name: str, directory: str) -> None:
    from rocm_sdk.rewriting.extract import extract_code
    from rocm_sdk.value_text import size_text

    for made in extract_code(name, directory):
        tell(f"{made.path}   {size_text(made.size)}")


def _gpus(selection: str) -> tuple[str, ...]:
    """The targets of a list, or of this machine: there without features, because their modes can be changed."""
    from rocm_sdk import _native, targets
    from rocm_sdk.errors import EmptySelectionError

    if selection != "machine":
        found = targets.expand(selection)
        if not found:
            raise EmptySelectionError(f"--keep {selection!r} names no target", "name some: gfx942,gfx110X-all")
        return found
    names = tuple(dict.fromkeys(gpu.processor for gpu in _native.gpus() if gpu.processor != "unknown"))
    if not names:
        raise EmptySelectionError("no GPU of this machine is known", "name the targets: --keep gfx942")
    return names


def _tell_tree(made: "RewrittenTree") -> None:
    from rocm_sdk.value_text import counted, size_text

    sizes = f"{size_text(made.size_before)} -> {size_text(made.size)}"
    end = "" if made.output else ", nothing written"
    tell(f"{made.output or made.path}   {sizes}, {counted(len(made.rewritten), 'file')} rewritten{end}")
    for each in made.rewritten:
        tell(f"  {each.path}   {size_text(each.size_before)} -> {size_text(each.size)}{_check_of(each)}")
        _tell_targets(each, "    ")
    for left in made.left:
        tell(f"  left as it is: {left.path}: {left.why}")


def _tell(made: "Rewritten") -> None:
    from rocm_sdk.value_text import counted, size_text

    bundles = counted(made.bundle_count, "bundle")
    sizes = f"{size_text(made.size_before)} -> {size_text(made.size)}"
    if made.output is None:
        tell(f"{made.path}   {sizes}, {bundles}, nothing written")
    else:
        tell(f"{made.output}   {sizes}, {bundles}{_check_of(made)}")
    _tell_targets(made, "  ")


def _check_of(made: "Rewritten") -> str:
    return ", verified" if made.loaded else f", verified, not loaded: {made.remark}"


def _tell_targets(made: "Rewritten", indent: str) -> None:
    if made.dropped:
        tell(f"{indent}kept: {', '.join(made.kept)}   dropped: {', '.join(made.dropped)}")
