"""The keys of the JSON documents, with the kinds of their values: each command's answer about the sample SDK.

Null says nothing about a kind. Texts by name (`facts`) have names of their own, which are no keys: they are `*`.
Problems have the same keys everywhere. Which ones a document has depends on the machine, so their keys stand once.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from compiled_kernels import compiled_kernel
from sample_device_code import bundle, library, objects
from sample_documentation import environment, write_machine, write_site

from rocm_sdk.problems import problem

from .tables import Table

# The words of each call, with `{}` for a directory that has libblas.so, a library with GPU code, `kernel.elf`, a code
# object as clang makes it, and `reports`.
_CALLS = {
    "rocm-sdk version": "version",
    "rocm-sdk list": "list",
    "rocm-sdk path": "path amdhip64",
    "rocm-sdk path SHORTNAME SHORTNAME": "path amdhip64 hipsparse",
    "rocm-sdk init": "init --check",
    "rocm-sdk store prune": "store prune --store {}/store",
    "rocm-sdk store verify": "store verify --store {}/store",
    "rocm-sdk targets": "targets gfx942 --cmake",
    "rocm-sdk targets --installed": "targets --installed",
    "rocm-sdk targets --missing": "targets --missing",
    "rocm-sdk targets --check": "targets --check",
    "rocm-sdk explain": "explain",
    "rocm-sdk explain CODE": "explain E-LIB-002",
    "rocm-sdk env": "env --gpu discrete",
    "rocm-sdk tree": "tree hipsparse",
    "rocm-sdk tree --bindings": "tree hipsparse --bindings",
    "rocm-sdk info": "info",
    "rocm-sdk info --sizes": "info --sizes",
    "rocm-sdk gpus": "gpus",
    "rocm-sdk gpus --health": "gpus --health",
    "rocm-sdk test --merge": "test --merge {}/reports",
    "rocm-sdk test": "test --only packages,libraries",
    "rocm-sdk check": "check {}/libblas.so",
    "rocm-sdk check-gpu": "check-gpu --sdk {} --gpu gfx1030",
    "rocm-sdk code": "code {}/libblas.so",
    "rocm-sdk code --kernels": "code --kernels {}/kernel.elf",
    "rocm-sdk-build closure": "closure --library amdhip64 --gpu gfx942 --no-proof --output {}/small",
}
# Before them: what a call needs.
_PREPARED = ("init --store {}/store", "test --only packages --json --node --output {}/reports/%n-%t.json")

# Keys whose value has texts, lists and the like by name.
_BY_NAME = {"distributions", "environment", "facts", "parts", "prepend", "record_digests", "set", "unread"}
# Keys whose value is a list of problems, which may be empty.
_OF_PROBLEMS = {"differences", "here", "problems"}

_KINDS = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "object"}


def json_keys() -> Table:
    """Return the keys of all documents: `rocm-sdk tree --json steps[].path`."""
    table: Table = {f"problem {key}": "key" for key in problem("E-PKG-014").as_document()}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        variables = environment(write_site(place / "sample/site-packages"), write_machine(place / "machine"))
        library(place / "libblas.so", [bundle(objects("gfx1030", "gfx90a:xnack-", size=20_000))])
        compiled_kernel(place, "gfx1030")  # for which clang 14 and 19 say the same
        (place / "gfx1030.co").rename(place / "kernel.elf")  # no name that check-gpu looks at
        (place / "reports").mkdir()
        for words in _PREPARED:
            _answer("rocm-sdk", words, place, variables)
        for name, words in _CALLS.items():
            document = json.loads(_answer(name.partition(" ")[0], f"{words} --json", place, variables))
            schema = document.pop("schema")
            found: dict[str, set[str]] = {}
            _walk(document, "", found)
            command = f"{name} --json"
            table[command] = f"schema {schema}"
            table |= {f"{command} {path}": " or ".join(sorted(kinds)) or "null" for path, kinds in found.items()}
    return table


def _answer(program: str, words: str, place: Path, variables: dict[str, str]) -> str:
    command = [program, *words.format(*[place] * words.count("{}")).split()]
    done = subprocess.run(command, env=variables, cwd=place, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode not in {0, 1}:
        raise ValueError(f"{words}: {done.stderr}")
    return done.stdout


def _walk(value: object, path: str, found: dict[str, set[str]]) -> None:
    """Note the kinds of a value and of its parts."""
    is_problem = isinstance(value, dict) and {"code", "severity", "fix", "breaks"} <= value.keys()
    if path and value is not None:
        found.setdefault(path, set()).add("problem" if is_problem else _KINDS[type(value)])
    elif path:
        found.setdefault(path, set())
    if is_problem or path.rpartition(".")[2] in _OF_PROBLEMS:
        return
    if isinstance(value, dict):
        by_name = path.rpartition(".")[2].rstrip("[]") in _BY_NAME
        for key, each in value.items():
            _walk(each, f"{path}{'.' if path else ''}{'*' if by_name else key}", found)
    elif isinstance(value, list):
        for each in value:
            _walk(each, f"{path}[]", found)
