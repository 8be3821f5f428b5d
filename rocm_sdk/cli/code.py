"""The command `rocm-sdk code`, which prints the GPU code that files hold, for which targets, and how large it is."""

import sys

from rocm_sdk.terminal.output import complain, complain_of, status_of, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk._native import DeviceCode

EXAMPLE = "rocm-sdk code librocsparse.so.0"

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_WIDTH = 100  # of the lines of targets
_NEARLY_TOO_LARGE = 7 << 28  # bytes of code; relocations reach 8 << 28


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the files, and the form of the output."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a library, program or object file, a static archive, a code object, an offload bundle, a kpack archive;"
        " or a directory, wheel, zip file or tar archive with such files in it, which is read without unpacking",
    )
    parser.add_argument("--json", action="store_true", help="all facts about each image, for programs")
    from rocm_sdk.fit.code.options import add_rewrite_arguments

    add_rewrite_arguments(parser)


def run(options: "Namespace") -> int:
    """Print the GPU code of each file, or make new files.

    Return status 1 if a file cannot be read, or none has GPU code.
    """
    from rocm_sdk.errors import RocmSdkError
    from rocm_sdk.fit.code.found_code import code_in
    from rocm_sdk.fit.code.options import is_asked_for, misuse

    wrong = misuse(options)
    if wrong is not None:
        complain(wrong)
        return 2
    if is_asked_for(options):
        return _rewrite_all(options)
    found: list[DeviceCode] = []
    status = 0
    for name in options.files:
        before = len(found)
        for code in code_in(name):
            if isinstance(code, RocmSdkError):
                complain_of(code)
                status = max(status, status_of(code, options.files))
            elif code.path == name or code.targets or code.kernel_name is not None:
                _tell(code, None if options.json else name, is_first=len(found) == before)
                found.append(code)
        if len(found) == before and not status:
            complain(f"{name}: no file with GPU code is in it")
    if options.json:
        import json

        json.dump({"schema": _SCHEMA, "files": [_document(code) for code in found]}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    return status or (0 if any(code.targets or code.kernel_name for code in found) else 1)


def _tell(code: "DeviceCode", name: str | None, *, is_first: bool) -> None:
    """Print the code of a file, and warn of code that is nearly too large.

    name: None for programs, which get everything at the end.
    """
    if name is not None:
        from rocm_sdk.base.value_text import size_text

        shown, indent = code.path, ""
        if code.path != name:
            if is_first:
                tell(name)
            shown, indent = code.path.removeprefix(f"{name.rstrip('/')}/"), "  "
        tell(f"{indent}{shown}   {size_text(code.size)}   {_summary(code)}")
        indent += "  "
        if code.kernel_name is not None:
            tell(f"{indent}{code.kernel_name} in {', '.join(code.kpack_paths)}")
        if code.history is not None:
            from rocm_sdk.fit.code.note import describe_history, read_history

            tell(f"{indent}rewritten: {describe_history(read_history(code.history))}")
        line = ""
        for target in code.targets:
            word = f"{target.target or 'unknown target'} {size_text(target.size)}"
            if line and len(line) + 3 + len(word) > _WIDTH:
                tell(f"{indent}{line}")
                line = ""
            line = f"{line}   {word}" if line else word
        if line:
            tell(f"{indent}{line}")
    if code.kind == "ELF file" and code.stored_size > _NEARLY_TOO_LARGE:
        from rocm_sdk.problems import problem

        warning = problem("W-CODE-005", code.path, found=code.stored_size)
        complain(f"{warning.title}: {warning.cause} [{warning.code}]", warning.fix)


def _summary(code: "DeviceCode") -> str:
    if not code.bundles:
        if code.kernel_name is not None:
            return "its code is in kpack archives"
        return "its GPU code was removed: a separated debug file?" if code.removed else "no GPU code"
    from rocm_sdk.base.value_text import counted, size_text

    kinds = {bundle.container for bundle in code.bundles}
    names = {"none": "code object", "offload binary": "offload record", "kpack archive": "kpack archive"}
    count = counted(len(code.bundles), names.get(kinds.pop(), "bundle") if len(kinds) == 1 else "bundle")
    if code.compressed_count == 0:
        return f"{count}, not compressed"
    which = "" if code.compressed_count == len(code.bundles) else f" {code.compressed_count}"
    return f"{count},{which} compressed: {size_text(code.stored_size)} hold {size_text(code.plain_size)}"


def _document(value: object) -> object:
    """Return a result type as a dictionary, with the result types in it."""
    fields = getattr(value, "__match_args__", None)
    if fields is not None:
        return {name: _document(getattr(value, name)) for name in fields}
    return [_document(item) for item in value] if isinstance(value, tuple) else value


def _rewrite_all(options: "Namespace") -> int:
    """Run rocm-sdk-build, and return its exit status; 1 if it is not installed. The loader only reads."""
    import signal

    from rocm_sdk.base.processes import run_shown
    from rocm_sdk.fit.code.build_command import NotInstalledError, build_command
    from rocm_sdk.fit.code.options import words_of
    from rocm_sdk.terminal.output import end_without_output
    from rocm_sdk.terminal.output_options import given_words

    try:
        command = build_command("code", *given_words(), *words_of(options))
    except NotInstalledError as error:
        complain(f"new files are not written: {error}", error.fix)
        return 1
    status = run_shown(command)
    if status == -signal.SIGPIPE:
        return end_without_output(BrokenPipeError())
    return status if status >= 0 else 128 - status
