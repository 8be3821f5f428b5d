"""The verdicts of the product on random sets of files, compared with the acts of the dynamic linker."""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from linked_sets import (
    BROKEN,
    LOADS,
    NOT_FOUND,
    OF_SDK,
    File,
    LinkedSet,
    begins_as_elf,
    in_child,
    opens,
    says,
    started,
    starts,
)
from sample_site import CORE, LIBRARIES

Compare = Counter[str]


class DifferencesError(Exception):
    """The error for a product and a linker that do not agree."""


def compare_set(seed: int, directory: Path) -> Compare:
    """Make the set of a seed and compare each verdict on it. Raises DifferencesError; returns what was compared."""
    made = LinkedSet(seed, directory)
    counts, differences = json.loads(in_child(_compared, made))
    if differences:
        raise DifferencesError(f"seed {seed}:\n" + "\n".join(differences))
    return Counter(counts) + made.features


def _compared(made: LinkedSet) -> bytes:
    """Compare all files and directories of a set, in a child that sees the set's SDK."""
    sys.path.insert(0, str(made.site.path))
    os.environ.pop("ROCM_SDK_ROOT", None)
    comparison = _Comparison(made)
    for file in made.files:
        comparison.file(file)
    comparison.opened_before()
    for directory in sorted({file.path.parent for file in made.files}):
        comparison.whole(directory)
    return json.dumps([comparison.counts, comparison.differences]).encode()


class _Comparison:
    """The comparisons of a set, and the differences."""

    def __init__(self, made: LinkedSet) -> None:
        from rocm_sdk.fit.verdicts import Question
        from rocm_sdk.installed.view import current

        self.made = made
        self.question = Question((), current())
        self.of_directory = Question((), current(), sdk=str(made.site.path))
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []
        self.alone: dict[Path, bool] = {}

    def expect(self, kind: str, detail: str, said: bool, done: bool) -> None:
        """Count a comparison of a kind: the product's statement, and the linker's act."""
        self.counts[f"{kind}: {'yes' if done else 'no'}"] += 1
        if said != done:
            self.differences.append(f"{kind}: said {said}, the linker: {done}; {detail}")

    def file(self, file: File) -> None:
        """Compare the verdict of `check FILE`, the warnings of preload_for, and the answer of `tree FILE`."""
        from rocm_sdk.fit.verdicts import judge

        verdict = judge(str(file.path), self.question)
        loading = verdict.loading
        words = f"{file.path.relative_to(self.made.directory)}: {verdict.line}"
        alone = self._loads(file)
        self.alone[file.path] = alone
        self.expect("alone", words, bool(verdict.loads) and not loading.is_aided, alone)
        if verdict.loads and loading.shortnames is not None:
            self.expect(
                "called", words, True, self._loads(file, _calling(loading.shortnames, file, loading.is_for_files))
            )
        if verdict.loads and loading.is_run:
            self.expect("run", words, True, self._loads_in_run(file))
        if verdict.loads is not True:
            if not file.is_program:
                self.expect("helped by preload_for", words, False, self._loads(file, _calling((), file, True)))
            self.expect("helped by run", words, False, self._loads_in_run(file))
        self._of_directory(file, alone=alone)
        self._tree(file)
        if not file.is_program:
            self._preload_for(file)

    def _of_directory(self, file: File, *, alone: bool) -> None:
        """Compare the verdict of `check --sdk DIR FILE`, and start the file with the LD_LIBRARY_PATH that it names."""
        from rocm_sdk.fit.verdicts import judge

        verdict = judge(str(file.path), self.of_directory)
        words = f"--sdk {file.path.relative_to(self.made.directory)}: {verdict.line}"
        directories = verdict.loading.directories
        self.expect("alone", words, bool(verdict.loads) and not verdict.loading.is_aided, alone)
        if verdict.loads and directories:
            self.expect("with directories", words, True, self._loads_with(file, *directories))
        if verdict.loads is not True:
            all_of_sdk = (str(self.made.site.path / package / "lib") for package in (CORE, LIBRARIES))
            self.expect("helped by directories", words, False, self._loads_with(file, *all_of_sdk))

    def _loads_with(self, file: File, *directories: str) -> bool:
        path = {"LD_LIBRARY_PATH": ":".join(directories)}
        return starts(file.path, **path) if file.is_program else says(self._opened_in(file, path)) == LOADS

    def _loads(self, file: File, before: Callable[[], object] | None = None) -> bool:
        if file.is_program:
            return starts(file.path)
        return in_child(_opened_after, before, file.path) == LOADS.encode()

    def _loads_in_run(self, file: File) -> bool:
        if file.is_program:
            return starts(file.path, **self._run_environment(str(file.path)))
        return says(self._opened_in_run(file)) == LOADS

    def _opened_in_run(self, file: File) -> str:
        return self._opened_in(file, self._run_environment(sys.executable))

    def _opened_in(self, file: File, variables: dict[str, str]) -> str:
        """Return the answer of dlopen in an interpreter that was started with variables."""
        code = "import sys; sys.path[:0] = [sys.argv[2]]\nimport linked_sets as l\nprint(l.opens(sys.argv[1]).decode())"
        words = [sys.executable, "-c", code, file.path, str(Path(__file__).parent)]
        return subprocess.run(
            words, env=os.environ | variables, capture_output=True, text=True, check=False
        ).stdout.strip()

    def _run_environment(self, program: str) -> dict[str, str]:
        """Return the variables in which the linker looks, of a program that `rocm-sdk run` starts."""
        from rocm_sdk.cli import run
        from rocm_sdk.installed.view import current

        found = run._planned_libraries(current())
        tools = run._tool_directories(current())
        directories = run._with_all_packages(found.directories, current(), program, tools)
        preloaded = {"LD_PRELOAD": ":".join(found.files)} if found.files else {}
        return {"LD_LIBRARY_PATH": ":".join(directories)} | preloaded

    def _preload_for(self, file: File) -> None:
        """Expect warnings of lacking libraries exactly where a dlopen behind preload_for does not find one."""
        warned, opened, raised = json.loads(in_child(_preloaded_and_opened, file.path))
        if raised:  # the SDK's own libraries do not load, which says nothing of the file
            self.counts["preload_for raises"] += 1
            return
        if says(opened) == BROKEN:
            self.counts["preload_for of what is broken"] += 1
            return
        self.expect(
            "preload_for warns", f"{file.path.name}: {warned}, {opened}", bool(warned), says(opened) == NOT_FOUND
        )

    def _tree(self, file: File) -> None:
        """Expect missing libraries exactly where the linker finds none in the process that serves the file best."""
        from rocm_sdk.cli.tree.files_tree import with_files
        from rocm_sdk.cli.tree.plan_tree import Tree

        tree, _ = with_files(Tree((), ()), [str(file.path)])
        if file.is_program:
            said = [started(file.path), started(file.path, **self._run_environment(str(file.path)))]
        else:
            preloaded = json.loads(in_child(_preloaded_and_opened, file.path))[1]
            said = [in_child(opens, file.path).decode(), preloaded, self._opened_in_run(file)]
        kinds = {says(each) for each in said}
        if not kinds <= {NOT_FOUND, BROKEN} or BROKEN not in kinds:
            self.expect("tree finds all", f"{file.path.name}: {tree.missing}", not tree.missing, kinds != {NOT_FOUND})

    def opened_before(self) -> None:
        """Compare the verdict on each library in a process that has opened others, for all to see."""
        from rocm_sdk import _native
        from rocm_sdk.fit.verdicts.variants import loads

        libraries = [file for file in self.made.files if not file.is_program]
        of_sdk = [self.made.site.path / package / "lib" / name for name, package in OF_SDK.items()]
        of_set = [file.path for file in libraries if self.alone[file.path]]
        first = self.made.more.choice([2 * of_sdk, of_set])
        for file in libraries:
            before, opened = json.loads(in_child(opened_behind, first, file.path))
            (row,) = _native.check_host_files((str(file.path),), (), loaded=tuple(before)).files
            words = f"{file.path} behind {before}: {opened}"
            self.expect("opened before", words, loads(row), opened == LOADS)
            self.counts["helped by what was opened"] += opened == LOADS and not self.alone[file.path]

    def whole(self, directory: Path) -> None:
        """Compare the verdict of `check DIR`, that all loads by itself, with the linker's on each file."""
        from rocm_sdk.fit.verdicts import judge

        verdict = judge(str(directory), self.question)
        files = [file for file in self.alone if file.parent == directory]
        done = all(self.alone[file] for file in files)
        others = [path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
        done = done and all(
            self._loads(File(path, None, path.name.startswith("program")))
            for path in others
            if path not in self.alone and begins_as_elf(path)
        )
        self.expect(
            "directory", f"{directory.name}: {verdict.line}", bool(verdict.loads) and not verdict.loading.is_aided, done
        )


def _calling(shortnames: tuple[str, ...], file: File, is_for_files: bool) -> Callable[[], object]:
    def call() -> None:
        import rocm_sdk

        if is_for_files:
            rocm_sdk.preload_for(str(file.path))
        else:
            rocm_sdk.initialize_process(preload_shortnames=list(shortnames))

    return call


def _opened_after(before: Callable[[], object] | None, path: Path) -> bytes:
    if before is not None:
        import warnings

        warnings.simplefilter("ignore")
        try:
            before()
        except Exception as error:  # the verdict is on the file: what the call itself fails of is another answer
            return f"{type(error).__name__}: {error}".encode()
    return opens(path)


def opened_behind(others: list[Path], path: Path) -> bytes:
    """Return the files that are mapped for other libraries, those that can be opened, and the answer to a last one."""
    mapped = _mapped()
    for each in others:
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(each), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    return json.dumps([sorted(_mapped() - mapped), (in_child(opens, path) or b"it died").decode()]).encode()


def _mapped() -> set[str]:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {words[5] for line in lines if len(words := line.split()) > 5 and words[5].startswith("/")}


def _preloaded_and_opened(path: Path) -> bytes:
    import warnings

    import rocm_sdk

    raised = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            rocm_sdk.preload_for(str(path))
        except rocm_sdk.RocmSdkError:
            raised = True
    return json.dumps(
        [[str(each.message) for each in caught], (in_child(opens, path) or b"it died").decode(), raised]
    ).encode()
