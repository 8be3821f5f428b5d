"""Runs in the root of a proof: loads and imports what the closure is for, each in a process of its own.

argv: a file with the wish (JSON). Prints one line of JSON: what is wrong. It is a program of its own, which imports
nothing of rocm-sdk-build: that is not in the root. It runs in isolated mode, so that no module of the application is
imported in it, and its children cannot trace it.

A child stops once its load has returned: the files must be in its memory then. A process that ends before, with
whatever status, has loaded nothing.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import NamedTuple

CLOSURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "closure")
_SHOWN = 2000  # letters of what a child says
_PAGE_LIST = "/tmp/rocm-sdk.pages"
_LIST_LIMIT = 1 << 20  # bytes; the reader takes no longer one
_SECONDS = 30.0  # that a child may take to load a file
_SECONDS_OF_MODULES = 600.0  # and to import packages, or to load all libraries
_STATUSES = range(64, 125)  # of a child that has done what it was to do: code of the libraries does not know which

Wrong = dict[str, str]


def set_dumpable(value: int) -> None:
    """Whether processes of the same user may read this one's memory and descriptors, and trace it (prctl(2))."""
    ctypes.CDLL(None).prctl(4, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)


class Try(NamedTuple):
    """What a child does. files: what is in its memory afterwards. becomes: it ends as another program, by status 0."""

    what: str
    action: Callable[[], object]
    files: Sequence[str] = ()
    seconds: float = _SECONDS
    becomes: bool = False


def in_child(each: Try) -> Wrong | None:
    """What is wrong if an action fails in a child; what it prints is the answer if it dies.

    The child has no descriptor of ours, and is in a group of its own. What it leaves running can hold nothing open that
    is waited for.
    """
    secret = _STATUSES[os.urandom(1)[0] % len(_STATUSES)]
    with tempfile.TemporaryFile() as log:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        child = os.fork()
        if child == 0:
            _be_child(each.action, log.fileno(), secret)
        try:
            why = _fault_of(each, child, secret)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        size = os.fstat(log.fileno()).st_size
        told = os.pread(log.fileno(), _SHOWN, max(0, size - _SHOWN)).decode(errors="replace").strip()
    if why is None:
        return None
    return {
        "what": each.what,
        "why": told if told and why.startswith("status ") else " ".join(filter(None, (why, told))),
    }


def _be_child(action: Callable[[], object], log: int, secret: int) -> None:
    """Stops once the action has returned, until its memory has been looked at; ends by the secret status."""
    status = 1
    try:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        set_dumpable(1)
        action()
        os.kill(os.getpid(), signal.SIGSTOP)
        status = secret
    except BaseException as error:  # noqa: BLE001, RUF100  whatever it is, it is the answer
        text = str(getattr(error, "message", "") or error or type(error).__name__)
        os.write(2, text.encode(errors="replace")[-_SHOWN:])
    finally:
        os._exit(status)


def _fault_of(each: Try, child: int, secret: int) -> str | None:
    """Why a child has not loaded what it was to load; None: it has. It has ended then."""
    deadline = monotonic() + each.seconds
    lacking = list(each.files)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if not ended:
            left = deadline - monotonic()
            if left <= 0:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return f"did not end within {each.seconds:g} s"
            signal.sigtimedwait({signal.SIGCHLD}, left)
        elif os.WIFSTOPPED(status):
            lacking = [path for path in each.files if not _is_mapped(child, path)]
            os.kill(child, signal.SIGCONT)
        else:
            break
    if os.WIFSIGNALED(status):
        return f"ends with signal {os.WTERMSIG(status)}"
    code = os.waitstatus_to_exitcode(status)
    if code == secret and lacking:
        return f"the load has returned, and {lacking[0]} is not in the memory of its process"
    if code in {secret, 0}:
        return None if code == secret or each.becomes else "its process ended with status 0 before the load returned"
    return f"status {code}"


def _is_mapped(child: int, path: str) -> bool:
    """Whether a process has a file in its memory, under this name or another one; True where no /proc tells it."""
    if not os.path.isdir("/proc/self"):
        return True
    try:
        with open(f"/proc/{child}/maps", encoding="utf-8", errors="surrogateescape") as maps:
            found = {name for line in maps for name in line.rstrip("\n").split(maxsplit=5)[4:]}
        return not found.isdisjoint({os.path.realpath(path), str(os.stat(path).st_ino)})
    except OSError:  # it lets nobody look
        return False


def preload(names: Sequence[str]) -> None:
    """As a framework does it."""
    import rocm_sdk

    rocm_sdk.preload_libraries(*names)


def libraries_of(names: Sequence[str]) -> list[str]:
    """The files of shortnames; none of a library that a child will report as missing."""
    import rocm_sdk

    try:
        return list(map(str, rocm_sdk.find_libraries(*names)))
    except rocm_sdk.RocmSdkError:
        return []


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

    command = starting.module_command("rocm_sdk", "test", "--target", CLOSURE, "--json")
    try:
        done = starting.run(command, seconds=_SECONDS_OF_MODULES)
    except TimeoutError as error:
        return [{"what": "rocm-sdk test", "why": str(error)}]
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
    files = [path for path in wish["files"] if path not in modules and path not in behind]
    tries: list[Try] = []
    if names:
        tries.append(Try("the preloaded libraries", partial(preload, names), libraries_of(names)))
    tries += [Try(name, partial(preload, [name]), libraries_of([name])) for name in wish["libraries"]]
    for what, path in [*((each, f"{CLOSURE}/{each}") for each in wish["paths"]), *((each, each) for each in files)]:
        tries.append(Try(what, partial(load, path), [path]))
    tries += [
        Try(f"import {name}", partial(import_extension, name), [name]) for name in modules if name not in packages
    ]
    if packages:
        action = partial(import_packages, packages, sorted(behind))
        tries.append(Try(f"import {', '.join(packages)}", action, sorted(behind), _SECONDS_OF_MODULES))
    wrong = [found for each in tries if (found := in_child(each)) is not None]
    wrong += self_test()
    pages = None
    if wish["records_pages"] and not wrong:
        what = "the page list"
        recording = Try(what, record_pages, seconds=_SECONDS_OF_MODULES, becomes=True)
        wrong += [found] if (found := in_child(recording)) is not None else []
        try:
            pages = recorded_pages()
        except (OSError, ValueError) as error:
            wrong += [{"what": what, "why": str(error)}] if not wrong else []
    print(json.dumps({"wrong": wrong, "pages": pages}))


if __name__ == "__main__":
    main()
