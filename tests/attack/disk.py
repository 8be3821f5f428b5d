"""The model of a disk after a power cut: a program's system calls, replayed up to any point, and the losses there.

The calls are recorded by strace. A file is an inode, a directory maps names to inodes. Changes of a call are pending
until a sync covers them: data and mode of a file until fsync of the file, a name until fsync of its directory (for a
rename, the target's directory), everything until syncfs. A power cut keeps any part of the pending changes: a change of
names happened or not, a file has its data, none, a part or zeros in its place. A rename is not torn, and dates of files
are the dates at the end: two things that file systems with a journal promise.

Notes of the product hold inode numbers, sizes and dates of files. In a replayed file they belong to the replayed files:
otherwise each note would look outdated, and nothing would depend on it.
"""

from __future__ import annotations

import copy
import hashlib
import os
import random
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

CALLS = (
    "open,openat,creat,mkdir,mkdirat,write,pwrite64,writev,pwritev,ftruncate,truncate,rename,renameat,renameat2,link,"
    "linkat,symlink,symlinkat,unlink,unlinkat,rmdir,fsync,fdatasync,syncfs,sync,chmod,fchmod,fchmodat,copy_file_range,"
    "sendfile,ioctl"
)
FULL, NONE, PART, ZEROS = "full", "none", "part", "zeros"
LOST = (NONE, PART, ZEROS)
FILE, DIRECTORY, LINK = "file", "directory", "link"
EXHAUSTIVE = 64  # states of one point: all of them where there are no more

_ESCAPED = re.compile(r"(?:\\x[0-9a-f]{2})+")
_IDENTITY = re.compile(rb"\b(\d+)([ ,])(\d+)[ ,](\d{19})\b")
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(.*)$", re.DOTALL)
_SKIPPED_IOCTLS = ("TCGETS", "TIOCGWINSZ", "FIOCLEX", "FICLONE")


class Content(NamedTuple):
    """The data and the mode of a file."""

    data: bytes = b""
    mode: int = 0o644


class Inode:
    """A file, directory or symbolic link. `synced` is what is on the disk of a file, `now` what programs read."""

    def __init__(self, kind: str, content: Content, text: str = "") -> None:
        self.kind = kind
        self.now = self.synced = content
        self.text = text


class Change(NamedTuple):
    """Names that change together: (directory, name, inode or None), and the directory whose sync makes it last."""

    names: tuple[tuple[int, str, int | None], ...]
    directory: int


class State(NamedTuple):
    """The state after a power cut: the entries of each directory, and the rest of files that were not synced.

    `undone` are the changes of names that did not happen.
    """

    entries: dict[int, dict[str, int]]
    contents: dict[int, str]
    undone: list[Change]


class Disk:
    """The directory `root` as it was when the object was made, on which calls are replayed."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.inodes: dict[int, Inode] = {}
        self.pending: list[Change] = []
        self.unsynced: set[int] = set()
        self.applied = 0
        self._now: dict[int, dict[str, int]] = {}
        self._synced: dict[int, dict[str, int]] = {}
        self._dates: dict[int, int] = {}
        self._identities: dict[tuple[int, int, int], int] = {}
        known: dict[int, int] = {}
        self._read(self.root, known)
        self._synced = {number: dict(names) for number, names in self._now.items()}

    # ---- what is there before, and afterwards

    def _read(self, path: str, known: dict[int, int]) -> int:
        facts = os.lstat(path)
        if facts.st_ino in known:
            return known[facts.st_ino]
        number = known[facts.st_ino] = self._new(_kind(facts), _content(path, facts), _text(path, facts))
        self._note_identity(number, facts)
        if stat.S_ISDIR(facts.st_mode):
            for inner in sorted(Path(path).iterdir()):
                self._now[number][inner.name] = self._read(str(inner), known)
        return number

    def _note_identity(self, number: int, facts: os.stat_result) -> None:
        self._dates[number] = facts.st_mtime_ns
        self._identities[facts.st_ino, facts.st_size, facts.st_mtime_ns] = number

    def replayed(self, lines: list[str]) -> Disk:
        """Return the same disk after all calls.

        The dates of files are learned, and compared with the files that the program left.
        """
        after = copy.deepcopy(self)
        for line in lines:
            after.replay(line)
        after._compare()
        self._dates, self._identities = after._dates, after._identities
        return after

    def _compare(self) -> None:
        for path, number in self._walk(0, self.root, self._now):
            facts = os.lstat(path)
            self._note_identity(number, facts)
            found = self.inodes[number]
            if found.kind == FILE and found.now != _content(path, facts):
                raise AssertionError(f"{path}: the replay has another content or mode")
        found_paths = {path for path, _ in self._walk(0, self.root, self._now)}
        real = {self.root} | {str(path) for path in Path(self.root).rglob("*")}
        if found_paths != real:
            raise AssertionError(f"the replay has other files: {sorted(found_paths ^ real)}")

    def _walk(self, number: int, path: str, entries: Mapping[int, dict[str, int]]) -> Iterator[tuple[str, int]]:
        yield path, number
        for name, inner in sorted(entries.get(number, {}).items()):
            yield from self._walk(inner, f"{path}/{name}", entries)

    # ---- the calls

    def replay(self, line: str) -> bool:
        """Replay a line of the record, and return whether it changed something."""
        match = _CALL.match(line)
        if match is None or int(match[3]) < 0:
            return False
        name, arguments = match[1], _split(match[2])
        handler = getattr(self, f"_{name}", None)
        is_data = name in {"write", "pwrite64", "writev", "pwritev"}
        places = [each for each in arguments[: 1 if is_data else None] if self._is_inside(each)]
        if handler is None:
            if places and not (name == "ioctl" and any(word in match[2] for word in _SKIPPED_IOCTLS)):
                raise AssertionError(f"the model has no {line[:200]}")
            return False
        if not places and name != "sync":
            return False
        before = self.applied
        handler(*arguments)
        return self.applied > before

    def _is_inside(self, argument: str) -> bool:
        path = _path(argument)
        return path == self.root or path.startswith(f"{self.root}/")

    def _open(self, path: str, flags: str, mode: str = "0644") -> None:
        if "O_CREAT" not in flags and "O_TRUNC" not in flags:
            return
        parent, name = self._place(path)
        found = self._now[parent].get(name)
        if found is None:
            number = self._new(FILE, Content(b"", int(mode, 8) & ~0o022))
            self._change(Change(((parent, name, number),), parent))
        elif "O_TRUNC" in flags:
            self._write_content(found, b"")

    def _openat(self, directory: str, path: str, flags: str, mode: str = "0644") -> None:
        self._open(_joined(directory, path), flags, mode)

    def _mkdir(self, path: str, _mode: str) -> None:
        parent, name = self._place(path)
        self._change(Change(((parent, name, self._new(DIRECTORY, Content())),), parent))

    def _mkdirat(self, directory: str, path: str, mode: str) -> None:
        self._mkdir(_joined(directory, path), mode)

    def _write(self, file: str, data: str, _size: str) -> None:
        number = self._inode(file)
        self._write_content(number, self.inodes[number].now.data + _bytes(data))

    def _pwrite64(self, file: str, data: str, _size: str, offset: str) -> None:
        number = self._inode(file)
        before, at, new = self.inodes[number].now.data, int(offset), _bytes(data)
        self._write_content(number, before[:at].ljust(at, b"\0") + new + before[at + len(new) :])

    def _ftruncate(self, file: str, size: str) -> None:
        number = self._inode(file)
        self._write_content(number, self.inodes[number].now.data[: int(size)].ljust(int(size), b"\0"))

    def _fchmod(self, file: str, mode: str) -> None:
        number = self._inode(file)
        if self.inodes[number].kind == FILE:
            self._put(number, self.inodes[number].now._replace(mode=int(mode, 8)))

    def _rename(self, old: str, new: str) -> None:
        source, target = self._place(old), self._place(new)
        number = self._now[source[0]][source[1]]
        if self._now[target[0]].get(target[1]) != number:  # two names of one file stay as they are
            self._change(Change(((*source, None), (*target, number)), target[0]))

    def _renameat(self, old_directory: str, old: str, new_directory: str, new: str) -> None:
        self._rename(_joined(old_directory, old), _joined(new_directory, new))

    def _renameat2(self, old_directory: str, old: str, new_directory: str, new: str, flags: str) -> None:
        if "RENAME_EXCHANGE" not in flags:
            self._renameat(old_directory, old, new_directory, new)
            return
        source, target = self._place(_joined(old_directory, old)), self._place(_joined(new_directory, new))
        one, other = self._now[source[0]][source[1]], self._now[target[0]][target[1]]
        self._change(Change(((*source, other), (*target, one)), target[0]))

    def _link(self, old: str, new: str) -> None:
        parent, name = self._place(new)
        self._change(Change(((parent, name, self._inode(old)),), parent))

    def _linkat(self, old_directory: str, old: str, new_directory: str, new: str, _flags: str) -> None:
        self._link(_joined(old_directory, old), _joined(new_directory, new))

    def _symlink(self, text: str, path: str) -> None:
        parent, name = self._place(path)
        number = self._new(LINK, Content(), _bytes(text).decode())
        self._change(Change(((parent, name, number),), parent))

    def _symlinkat(self, text: str, directory: str, path: str) -> None:
        self._symlink(text, _joined(directory, path))

    def _unlink(self, path: str) -> None:
        parent, name = self._place(path)
        self._change(Change(((parent, name, None),), parent))

    _rmdir = _unlink

    def _unlinkat(self, directory: str, path: str, _flags: str) -> None:
        self._unlink(_joined(directory, path))

    def _fsync(self, file: str) -> None:
        number = self._inode(file)
        self.applied += 1
        if self.inodes[number].kind == FILE:
            self.inodes[number].synced = self.inodes[number].now
            self.unsynced.discard(number)
            return
        for change in self.pending:
            if change.directory == number:
                _apply(change, self._synced)
        self.pending = [change for change in self.pending if change.directory != number]

    _fdatasync = _fsync

    def _syncfs(self, _file: str) -> None:
        self.applied += 1
        for change in self.pending:
            _apply(change, self._synced)
        self.pending = []
        for number in self.unsynced:
            self.inodes[number].synced = self.inodes[number].now
        self.unsynced = set()

    # ---- pieces of the calls

    def _new(self, kind: str, content: Content, text: str = "") -> int:
        number = len(self.inodes)
        self.inodes[number] = Inode(kind, content, text)
        if kind == DIRECTORY:
            self._now[number] = {}
            self._synced[number] = {}
        return number

    def _change(self, change: Change) -> None:
        _apply(change, self._now)
        self.pending.append(change)
        self.applied += 1

    def _write_content(self, number: int, data: bytes) -> None:
        self._put(number, self.inodes[number].now._replace(data=data))

    def _put(self, number: int, content: Content) -> None:
        self.inodes[number].now = content
        self.unsynced.add(number)
        self.applied += 1

    def _inode(self, argument: str) -> int:
        path = _path(argument)
        if path == self.root:
            return 0
        parent, name = self._place(argument)
        return self._now[parent][name]

    def _place(self, argument: str) -> tuple[int, str]:
        """Return the directory and the name that a path stands for.

        The program has no symbolic link on the way to a name.
        """
        *parents, last = os.path.relpath(_path(argument), self.root).split("/")
        number = 0
        for part in parents:
            number = self._now[number][part]
        return number, last

    # ---- what a power cut leaves

    def states(self, chance: random.Random, samples: int) -> Iterator[State]:
        """Yield states at this point: all of them where they are few, else plain ones, each loss alone and a sample."""
        files = sorted(self.unsynced)
        if (1 << len(self.pending)) * (len(LOST) + 1) ** len(files) <= EXHAUSTIVE:
            for bits in range(1 << len(self.pending)):
                kept = [bool(bits >> i & 1) for i in range(len(self.pending))]
                for number in range((len(LOST) + 1) ** len(files)):
                    ways = (FULL, *LOST)
                    digits = [ways[number // 4**i % 4] for i in range(len(files))]
                    yield self._state(kept, dict(zip(files, digits, strict=True)))
            return
        everything = [True] * len(self.pending)
        for way in (FULL, *LOST):
            yield self._state(everything, dict.fromkeys(files, way))
        yield self._state([False] * len(self.pending), dict.fromkeys(files, NONE))
        for i in range(len(self.pending)):
            yield self._state([j != i for j in range(len(self.pending))], dict.fromkeys(files, FULL))
        for file in files:
            for way in LOST:
                yield self._state(everything, dict.fromkeys(files, FULL) | {file: way})
        for _ in range(samples):
            names, data = chance.choice((0.1, 0.5, 0.9, 1.0)), chance.choice((0.1, 0.5, 0.9, 1.0))
            kept = [chance.random() < names for _ in self.pending]
            yield self._state(kept, {file: FULL if chance.random() < data else chance.choice(LOST) for file in files})

    def _state(self, kept: list[bool], contents: dict[int, str]) -> State:
        entries = {number: dict(names) for number, names in self._synced.items()}
        for is_kept, change in zip(kept, self.pending, strict=True):
            if is_kept:
                _apply(change, entries)
        return State(entries, contents, [each for is_kept, each in zip(kept, self.pending, strict=True) if not is_kept])

    def lost(self, state: State) -> str:
        """Return the losses of a state, for people."""
        names = ["/".join(name for _, name, _ in change.names) for change in state.undone]
        files = [f"{number}: {way}" for number, way in state.contents.items() if way != FULL]
        return f"changes of names: {names or 'none'}; data of inodes: {files or 'none'}"

    def key(self, state: State, is_rubbish: Callable[[str], bool]) -> bytes:
        """Return a key that is equal for equal states; of paths that are rubbish only the presence counts."""
        digest = hashlib.sha256()
        names: dict[int, str] = {}
        for path, number in self._walk(0, "", state.entries):
            parts = path.split("/")
            rubbish = next((i for i in range(1, len(parts) + 1) if is_rubbish("/".join(parts[1:i]))), None)
            if rubbish is not None and rubbish < len(parts):
                continue
            first = names.setdefault(number, path)
            digest.update(f"{path}\0{first}\0".encode())
            if rubbish is None and first == path and number != 0:
                content = self._left(number, state.contents)
                digest.update(content.data + f"\0{content.mode}\0{self.inodes[number].text}\0".encode())
        return digest.digest()

    def _left(self, number: int, contents: Mapping[int, str]) -> Content:
        """Return the rest of a file; inode numbers in it are still the recorded ones."""
        inode = self.inodes[number]
        way = contents.get(number, FULL)
        if way == FULL:
            return inode.now
        return inode.synced if way == NONE else Content(_cut(inode.now.data, way), inode.now.mode)

    def write(self, state: State, directory: Path) -> None:
        """Make the state in an absent directory."""
        paths: dict[int, str] = {}
        notes: list[int] = []
        for path, number in self._walk(0, str(directory), state.entries):
            inode = self.inodes[number]
            if inode.kind == DIRECTORY:
                Path(path).mkdir()
            elif inode.kind == LINK:
                Path(path).symlink_to(inode.text)
            elif number in paths:
                os.link(paths[number], path)
            else:
                content = self._left(number, state.contents)
                _write(path, content, self._dates.get(number, 0))
                if self._names_inodes(inode.now.data) or self._names_inodes(content.data):
                    notes.append(number)
            paths.setdefault(number, path)
        for number in notes:
            self._write_note(number, state.contents, paths)

    def _names_inodes(self, data: bytes) -> bool:
        return any(self._identity(match) in self._identities for match in _IDENTITY.finditer(data))

    def _identity(self, match: re.Match[bytes]) -> tuple[int, int, int]:
        return int(match[1]), int(match[3]), int(match[4])

    def _write_note(self, number: int, contents: Mapping[int, str], paths: Mapping[int, str]) -> None:
        def translated(match: re.Match[bytes]) -> bytes:
            found = paths.get(self._identities.get(self._identity(match), -1))
            return match[0] if found is None else b"%d" % os.lstat(found).st_ino + match[0][len(match[1]) :]

        inode, way = self.inodes[number], contents.get(number, FULL)
        source = inode.synced if way == NONE else inode.now
        data = _IDENTITY.sub(translated, source.data)
        _write(
            paths[number],
            Content(data if way in {FULL, NONE} else _cut(data, way), source.mode),
            self._dates.get(number, 0),
        )


def readable(line: str) -> str:
    """Return a line of the record for people."""
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("\\x", "")).decode(errors="replace"), line)


def record(command: list[str], to: Path, env: Mapping[str, str], cwd: Path) -> list[str]:
    """Record the calls of a command, a line each, with all data; raise AssertionError if the command fails."""
    if shutil.which("strace") is None:
        raise AssertionError("strace is needed: make setup")
    strace = ["strace", "-f", "-y", "-xx", "-s", str(1 << 26), "-e", "signal=none", "-e", f"trace={CALLS}"]
    strace += ["-o", str(to)]
    run = subprocess.run([*strace, *command], env=env, cwd=cwd, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise AssertionError(f"{command} failed:\n{run.stdout}{run.stderr}")
    return to.read_text(encoding="ascii").splitlines()


def _apply(change: Change, entries: dict[int, dict[str, int]]) -> None:
    for directory, name, number in change.names:
        if number is None:
            entries[directory].pop(name, None)
        else:
            entries[directory][name] = number


def _cut(data: bytes, way: str) -> bytes:
    if way == ZEROS:
        return bytes(len(data))
    middle = len(data) // 2
    line = data.rfind(b"\n", 0, middle)  # a part of a list that looks like a whole one
    return data[: line if line > 0 else middle]


def _write(path: str, content: Content, date: int) -> None:
    with open(path, "wb") as file:  # noqa: PTH123 - faster, and there are thousands
        file.write(content.data)
        os.fchmod(file.fileno(), content.mode)
    os.utime(path, ns=(date, date))


def _kind(facts: os.stat_result) -> str:
    return DIRECTORY if stat.S_ISDIR(facts.st_mode) else LINK if stat.S_ISLNK(facts.st_mode) else FILE


def _content(path: str, facts: os.stat_result) -> Content:
    if not stat.S_ISREG(facts.st_mode):
        return Content()
    return Content(Path(path).read_bytes(), stat.S_IMODE(facts.st_mode))


def _text(path: str, facts: os.stat_result) -> str:
    return str(Path(path).readlink()) if stat.S_ISLNK(facts.st_mode) else ""


def _split(arguments: str) -> list[str]:
    """Return the arguments of a call: texts are hexadecimal, so none has a comma or a bracket."""
    return [part.strip() for part in re.split(r",(?![^\[{]*[\]}])", arguments)]


def _bytes(argument: str) -> bytes:
    if not argument.startswith('"') or not argument.endswith('"'):
        raise AssertionError(f"no text: {argument[:100]}")
    return bytes.fromhex(argument[1:-1].replace("\\x", ""))


def _path(argument: str) -> str:
    """Return the path of a text or of a descriptor (`3</path>`), "" for anything else."""
    text = argument
    if "<" in argument:
        text = argument[argument.index("<") + 1 : argument.rindex(">")]
    elif argument.startswith('"'):
        text = argument[1:-1]
    elif not argument.startswith("/"):
        return ""
    text = readable(text)
    return os.path.normpath(text) if text.startswith("/") else ""


def _joined(directory: str, path: str) -> str:
    name = _bytes(path).decode()
    return name if name.startswith("/") else f"{_path(directory)}/{name}"
