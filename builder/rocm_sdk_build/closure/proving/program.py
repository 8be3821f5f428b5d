"""Runs in the root of a proof: loads and imports what the closure is for, each in a process of its own.

argv: a file with the wish (JSON). Prints one line of JSON: what is wrong. It is a program of its own, which imports
nothing of rocm-sdk-build: that is not in the root. It runs in isolated mode, so that no module of the application is
imported in it, and its children cannot trace it.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial

CLOSURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "closure")
_SHOWN = 2000  # letters of what a child says
_PAGE_LIST = "/tmp/rocm-sdk.pages"
_LIST_LIMIT = 1 << 20  # bytes; the reader takes no longer one

Wrong = dict[str, str]


def set_dumpable(value: int) -> None:
    """Whether processes of the same user may read this one's memory and descriptors, and trace it (prctl(2))."""
    ctypes.CDLL(None).prctl(4, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)


def in_child(what: str, action: Callable[[], object]) -> Wrong | None:
    """What is wrong if an action fails in a child; what it prints is the answer if it dies.

    The child has no descriptor of ours, and is in a group of its own. What it leaves running can hold nothing open that
    is waited for.
    """
    with tempfile.TemporaryFile() as log:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setpgid(0, 0)
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                os.closerange(3, os.sysconf("SC_OPEN_MAX"))
                set_dumpable(1)
                action()
                status = 0
            except BaseException as error:  # noqa: BLE001, RUF100  whatever it is, it is the answer
                text = str(getattr(error, "message", "") or error or type(error).__name__)
                os.write(2, text.encode(errors="replace")[-_SHOWN:])
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        size = os.fstat(log.fileno()).st_size
        told = os.pread(log.fileno(), _SHOWN, max(0, size - _SHOWN)).decode(errors="replace").strip()
    if status == 0:
        return None
    ended = f"ends with signal {status & 127}" if status & 127 else ""
    return {"what": what, "why": " ".join(filter(None, (ended, told))) or f"status {os.waitstatus_to_exitcode(status)}"}


def preload(names: Sequence[str]) -> None:
    """As a framework does it."""
    import rocm_sdk

    rocm_sdk.preload_libraries(*names)


def load(path: str) -> None:
    """A file behind what it needs; LD_BIND_NOW makes the linker look for every symbol."""
    import rocm_sdk

    rocm_sdk.preload_for(path)
    ctypes.CDLL(path, os.RTLD_NOW)


def import_extension(path: str) -> None:
    """An extension of no package, by its path."""
    import rocm_sdk

    rocm_sdk.preload_for(path)
    spec = importlib.util.spec_from_file_location(os.path.basename(path).partition(".")[0], path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def import_packages(names: Sequence[str], files: Sequence[str]) -> None:
    """Packages, and then each file of them: what a file needs may come with another package."""
    for name in names:
        importlib.import_module(name)
    for path in files:
        ctypes.CDLL(path, os.RTLD_NOW)


def self_test() -> list[Wrong]:
    """The errors that `rocm-sdk test` has."""
    from rocm_sdk.base import starting

    done = starting.run(starting.module_command("rocm_sdk", "test", "--target", CLOSURE, "--json"))
    try:
        problems = json.loads(done.stdout)["problems"]
    except (ValueError, KeyError):
        return [{"what": "rocm-sdk test", "why": done.stderr.strip()[-_SHOWN:] or f"exit status {done.returncode}"}]
    return [
        {"what": f"rocm-sdk test: {each['code']} {each['title']}", "why": each["cause"], "code": each["code"]}
        for each in problems
        if each["severity"] == "error"
    ]


# ---- the page list


def record_pages() -> None:
    """Becomes the process that loads all libraries and writes which pages they touch.

    It begins anew: LD_BIND_NOW, by which all symbols of all libraries would be touched, holds for as long as a process.
    """
    from rocm_sdk.base import starting
    from rocm_sdk.installed.installation import current
    from rocm_sdk.installed.page_list import VARIABLE, drop_libraries, load_command

    installed = current()
    drop_libraries(installed)
    variables = {name: value for name, value in os.environb.items() if name != b"LD_BIND_NOW"}
    variables[VARIABLE.encode()] = _PAGE_LIST.encode()
    starting.become(load_command(installed), variables)


def recorded_pages() -> str:
    """The list. What code of the libraries has put into its place is refused, or is judged by who started the proof."""
    descriptor = os.open(_PAGE_LIST, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is no file")
        data = os.read(descriptor, _LIST_LIMIT + 1)
        if len(data) > _LIST_LIMIT:
            raise OSError("it has more than 1 MiB")
        return data.decode()
    finally:
        os.close(descriptor)


def main() -> None:
    """Tries all that the wish names."""
    set_dumpable(0)
    with open(sys.argv[1], encoding="utf-8") as file:
        wish = json.load(file)
    sys.path[:0] = wish["search_path"]
    names, modules = wish["preloads"], wish["modules"]
    packages = [name for name in modules if not name.startswith("/")]
    behind = set(wish["behind"]) if packages else set()
    tries: list[tuple[str, Callable[[], object]]] = []
    tries += [("the preloaded libraries", partial(preload, names))] if names else []
    tries += [(name, partial(preload, [name])) for name in wish["libraries"]]
    tries += [(path, partial(load, f"{CLOSURE}/{path}")) for path in wish["paths"]]
    tries += [(path, partial(load, path)) for path in wish["files"] if path not in modules and path not in behind]
    tries += [(f"import {name}", partial(import_extension, name)) for name in modules if name not in packages]
    if packages:
        tries.append((f"import {', '.join(packages)}", partial(import_packages, packages, sorted(behind))))
    wrong = [found for what, action in tries if (found := in_child(what, action)) is not None]
    wrong += self_test()
    pages = None
    if wish["records_pages"] and not wrong:
        what = "the page list"
        wrong += [found] if (found := in_child(what, record_pages)) is not None else []
        try:
            pages = recorded_pages()
        except (OSError, ValueError) as error:
            wrong += [{"what": what, "why": str(error)}] if not wrong else []
    print(json.dumps({"wrong": wrong, "pages": pages}))


if __name__ == "__main__":
    main()
