"""The options for new files that `rocm-sdk code` and `rocm-sdk-build code` both have."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

_OPTIONS: "dict[str, dict[str, Any]]" = {
    "--keep": {
        "metavar": "TARGETS",
        "help": "only the code that these GPUs run: `machine`, or targets and families separated by commas",
    },
    "--also-unofficial": {
        "action": "store_true",
        "help": "with --keep: also code that only runtimes with patches of distributions try on them",
    },
    "--exact": {
        "action": "store_true",
        "help": "with --keep: no generic code for a GPU that has code of its own in the same bundle",
    },
    "--compress": {"action": "store_true", "help": "the code in compressed bundles"},
    "--decompress": {"action": "store_true", "help": "the code in bundles that are not compressed"},
    "--retarget": {
        "metavar": "TARGET:TARGET",
        "action": "append",
        "default": [],
        "help": "offer the code of the first target for the second too, which has the same instructions (unofficial)",
    },
    "--extract": {"metavar": "DIR", "help": "write each code object to a separate file"},
    "--output": {"metavar": "PLACE", "help": "the new file; with several files, a directory"},
    "--dry-run": {"action": "store_true", "help": "print the sizes, write nothing"},
    "--force": {
        "action": "store_true",
        "help": "even if a file becomes more than four times as large, or a bundle 256 times",
    },
    "--no-load": {
        "action": "store_true",
        "help": "do not load new libraries to check them: loading runs their constructors",
    },
}
_FORM = ("--compress", "--decompress")  # at most one of them


def add_rewrite_arguments(parser: "ArgumentParser") -> None:
    """Add the options for the content of the new files, and for their place."""
    group = parser.add_argument_group("new files", "the files that are given are never changed")
    form = group.add_mutually_exclusive_group()
    for option, settings in _OPTIONS.items():
        (form if option in _FORM else group).add_argument(option, **settings)


def words_of(options: "Namespace") -> list[str]:
    """Return the options and files as words of a command line."""
    words = []
    for option in _OPTIONS:
        value = getattr(options, option[2:].replace("-", "_"))
        if value is True:
            words.append(option)
        elif isinstance(value, str):
            words.append(f"{option}={value}")
        elif value:
            words += [f"{option}={each}" for each in value]
    return [*words, "--", *options.files]


def is_asked_for(options: "Namespace") -> bool:
    """Return whether new files are wanted."""
    return bool(options.extract or options.keep or options.compress or options.decompress or options.retarget)


def misuse(options: "Namespace") -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    others = ("also_unofficial", "exact", "output", "dry_run", "force", "no_load")
    if not is_asked_for(options):
        given = next((name for name in others if getattr(options, name)), None)
        return f"--{given.replace('_', '-')} needs --keep, --compress, --decompress or --retarget" if given else None
    if options.extract:
        changes = options.keep or options.compress or options.decompress or options.retarget
        return "--extract does not go with what makes new libraries" if changes or options.output else None
    if getattr(options, "json", False):
        return "--json lists code; it does not go with --keep, --compress, --decompress or --retarget"
    for name in ("also_unofficial", "exact"):
        if getattr(options, name) and not options.keep:
            return f"--{name.replace('_', '-')} needs --keep"
    if not options.output and not options.dry_run:
        return "say where the new file goes: --output FILE, or a directory with several files"
    if len(options.files) > 1 and options.output and not os.path.isdir(options.output):
        return f"--output must be a directory that exists, because there are several files: {options.output}"
    return None
