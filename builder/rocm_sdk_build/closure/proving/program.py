"""The program in the root of a proof, which loads and imports the closure's files, each in a separate process.

argv has a file with the wish (JSON). The program prints one line of JSON with the faults. The program stands alone, and
imports nothing of rocm-sdk-build, which is not in the root. It runs in isolated mode, so it imports no module of the
application, and its children cannot trace it.

A child stops once its load has returned: the files must be in its memory then. A process that ends before, with any
status, has loaded nothing.
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
_SHOWN = 2000  # letters of a child's output
_PAGE_LIST = "/tmp/rocm-sdk.pages"
_LIST_LIMIT = 1 << 20  # bytes; the reader takes no longer list
_SECONDS = 30.0  # time for a child to load a file
_SECONDS_OF_MODULES = 600.0  # time for a child to import packages, or to load all libraries
_STATUSES = range(64, 125)  # of a child that has done its work: code of the libraries does not know the right one

Wrong = dict[str, str]


def set_dumpable(value: int) -> None:
    """Set whether processes of the same user may read this one's memory and descriptors, and trace it (prctl(2))."""
    ctypes.CDLL(None).prctl(4, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)


class Try(NamedTuple):
    """The work of a child.

    `files` are in its memory afterwards. With `becomes` the child ends as another program, by status 0.
    """

    what: str
    action: Callable[[], object]
    files: Sequence[str] = ()
    seconds: float = _SECONDS
    becomes: bool = False


def in_child(each: Try) -> Wrong | None:
    """Return the fault if an action fails in a child; the output of a child that dies is the answer.

    The child has none of our descriptors, and its own process group. Processes that the child leaves running cannot
    hold anything open that we wait for.
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
    """Run the action, stop until the memory of this process has been looked at, and end by the secret status."""
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
    """Return the reason why a child has not loaded its files, or None if it has; the child has ended then."""
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
    """Return whether a process has a file in its memory, under this name or another one; True if there is no /proc."""
    if not os.path.isdir("/proc/self"):
        return True
    try:
        with open(f"/proc/{child}/maps", encoding="utf-8", errors="surrogateescape") as maps:
            found = {name for line in maps for name in line.rstrip("\n").split(maxsplit=5)[4:]}
        return not found.isdisjoint({os.path.realpath(path), str(os.stat(path).st_ino)})
    except OSError:  # the process does not allow a look
        return False


def preload(names: Sequence[str]) -> None:
    """Preload libraries, as a framework does."""
    import rocm_sdk

    rocm_sdk.preload_libraries(*names)


def libraries_of(names: Sequence[str]) -> list[str]:
    """Return the files of shortnames; [] if a library is missing, which a child will report."""
    import rocm_sdk

    try:
        return list(map(str, rocm_sdk.find_libraries(*names)))
    except rocm_sdk.RocmSdkError:
        return []


def load(path: str) -> None:
    """Load a file after what it needs; LD_BIND_NOW makes the linker look for every symbol."""
    import rocm_sdk

    rocm_sdk.preload_for(path)
    ctypes.CDLL(path, os.RTLD_NOW)


def import_extension(path: str) -> None:
    """Import an extension of no package, by its path."""
    import rocm_sdk

    rocm_sdk.preload_for(path)
    spec = importlib.util.spec_from_file_location(os.path.basename(path).partition(".")[0], path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def import_packages(names: Sequence[str], files: Sequence[str]) -> None:
    """Import packages, and then load each of their files: what a file needs may come with another package."""
    for name in names:
        importlib.import_module(name)
    for path in files:
        ctypes.CDLL(path, os.RTLD_NOW)


def self_test() -> list[Wrong]:
    """Return the errors that `rocm-sdk test` reports."""
    from rocm_sdk.base import processes

    command = processes.module_command("rocm_sdk", "test", "--target", CLOSURE, "--json")
    try:
        done = processes.run(command, seconds=_SECONDS_OF_MODULES)
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
    """Become the process that loads all libraries and writes the list of the pages that they touch.

    The process starts again, since LD_BIND_NOW, which would touch all symbols of all libraries, lasts as long as a
    process.
    """
    from rocm_sdk.base import processes
    from rocm_sdk.installed.page_list import VARIABLE, drop_libraries, load_command
    from rocm_sdk.installed.view import current

    installed = current()
    drop_libraries(installed)
    variables = {name: value for name, value in os.environb.items() if name != b"LD_BIND_NOW"}
    variables[VARIABLE.encode()] = _PAGE_LIST.encode()
    processes.become(load_command(installed), variables)


def recorded_pages() -> str:
    """Return the page list.

    Code of the libraries may have put something else there: OSError refuses anything but a file of limited size, and
    the process that started the proof judges the list.
    """
    descriptor = os.open(_PAGE_LIST, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a file")
        data = os.read(descriptor, _LIST_LIMIT + 1)
        if len(data) > _LIST_LIMIT:
            raise OSError("it has more than 1 MiB")
        return data.decode()
    finally:
        os.close(descriptor)


def main() -> None:
    """Try everything that the wish names, and print the faults."""
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
