"""The layers of the builder: its imports from the loader, and the imports of its folders from each other."""

import ast
from collections.abc import Iterator
from pathlib import Path

from test_layers import ROOT, cycles, folder_cycles, imported_modules, python_needs

# The seam between the two wheels: what rocm-sdk-build takes of the loader of its version, beside the public names of
# rocm_sdk, errors and targets, by the module that owns it. None: any name without an underscore.
SEAM: dict[str, set[str] | None] = {
    "__main__": {"as_process"},
    "_dist_info": {"ALL_LIBRARIES"},
    "_native": {
        *("HostFiles", "LibraryFacts", "catalog", "check_host_files", "compatibility", "device_code_of_part"),
        *("host_packages", "inspect_library", "installables"),
        *(
            "kernel_table_kind",
            "kernel_table_names",
            "nearest_names",
            "paged_files",
            "sdk_facts",
            "target_id",
            "target_in_name",
        ),
    },
    "base.files": {"read_beginning"},
    "base.moving": {"exchange", "move_to_free_name", "sync_file"},
    "base.namespaces": {
        *("CLONE_NEWIPC", "CLONE_NEWNET", "CLONE_NEWNS", "CLONE_NEWPID", "CLONE_NEWUSER", "CLONE_NEWUTS", "MS_BIND"),
        *("MS_NODEV", "MS_NOEXEC", "MS_NOSUID", "MS_RDONLY", "MS_REC", "MS_REMOUNT", "be_private"),
        *(
            "become_root_of_namespace",
            "call",
            "die_with_parent",
            "libc",
            "mount",
            "mounts",
            "prctl",
            "refuse",
            "unshare",
        ),
    },
    "base.locking": {"lock_within"},
    "base.own_wheels": {"install_command"},
    "base.scratch": {"removed_at_signals"},
    "fit.code.tar_reader": {"TarReader"},
    "fit.code.zip_file": {"DAMAGE", "open_zip"},
    "base.search_path": {"expanded"},
    "base.starting": {"PACKAGE_PARENT", "find_program", "module_command", "own_code", "run"},
    "base.value_text": {"counted", "harmless", "listed", "quoted_for_shell", "size_text"},
    "installed.walking": {"DEPTH_LIMIT", "refuse_deep", "walk"},
    "base.zstd": {"ZSTD_FIX", "ZSTD_INSTALL", "import_zstd"},
    "devel.absent": {"is_list_of_links", "links_listed", "path_in_tree", "told"},
    "devel.cmake.packages": {"check_packages"},
    "devel.device_links": {"LINKS"},
    "cli.info.debug_names": {"debug_name"},
    "fit.verdicts.host": {"other_release_problem"},
    "fit.verdicts.opened_names": {"OpenedName", "opened_names"},
    "fit.verdicts.variants": {"check_files"},
    "fit.verdicts.subject": {"Subject", "open_subject"},
    "errors": None,
    "fit.code.candidate": {"HEAD_SIZE", "is_candidate", "may_have_code"},
    "fit.code.note": {"NOTE_SECTION", "History", "Step", "parse_history"},
    "fit.code.options": {"add_rewrite_arguments", "is_asked_for", "misuse"},
    "fit.code.refusal": {"refusal"},
    "fit.code.run_time_compilation": {"compile_for"},
    "fit.comgr": {"cache_problem"},
    "fit.image_kinds": {"image_kind", "serves"},
    "index.web": None,
    "installed.catalog": {"fits", "linker_name"},
    "installed.distributions": {"Distribution", "sdk_distributions", "without_closure"},
    "installed.init_module": {"preload_names"},
    "installed.view": {"current"},
    "installed.page_list": {"PAGE_LIST", "VARIABLE", "drop_libraries", "load_command"},
    "installed.prefix": {"Prefix"},
    "installed.prefix_versions": {"release_of"},
    "installed.record": None,
    "targets": None,
    "terminal.completion": {"SHELLS", "Values", "script", "shortnames"},
    "terminal.output": {
        *("attempt", "complain", "complain_fix", "end_without_output", "explained"),
        *("fix_of_error", "flushed", "is_of_output", "remember_done", "status_of", "status_of_system_error"),
        *("tell", "tell_table"),
    },
    "terminal.output_options": {"add_output_options", "given", "open_standard_streams", "take_output_options"},
    "terminal.progress": {"Wait", "waiting", "with_progress"},
    "terminal.usage": {"HelpFormatter", "Parser", "epilog", "help_asked", "parse_words"},
}

_WHOLE = {("base", "scratch"), ("base", "starting"), ("fit", "code")}  # modules that are imported as such


def is_of_seam(module: tuple[str, ...]) -> bool:
    """Return whether the builder may import a module: a public name of rocm_sdk, a row of SEAM or a name of one."""
    if (len(module) <= 1 and not "".join(module).startswith("_")) or module in _WHOLE:
        return True
    for end in range(1, len(module) + 1):
        owner, rest = ".".join(module[:end]), module[end:]
        if owner not in SEAM:
            continue
        names = SEAM[owner]
        if names is None:
            return not any(name.startswith("_") for name in rest)
        return bool(rest) and rest[0] in names
    return False


def private_imports(builder: Path) -> Iterator[str]:
    """Yield each import of the builder that is not of the seam, as "file: name"."""
    for source in sorted(builder.rglob("*.py")):
        for module in imported_modules(source, ROOT / "rocm_sdk", folder=()):
            if not is_of_seam(module):
                yield f"{source.relative_to(builder)}: {'.'.join(module)}"


def test_builder_layers() -> None:
    """The builder uses the seam, and all of it; the loader starts it as a process and knows nothing else of it."""
    needs = python_needs(ROOT / "builder/rocm_sdk_build", "rocm_sdk_build")
    assert list(cycles(needs)) == []
    assert list(folder_cycles(needs)) == []
    assert list(private_imports(ROOT / "builder/rocm_sdk_build")) == []
    sources = (ROOT / "builder/rocm_sdk_build").rglob("*.py")
    used = {".".join(found) for source in sources for found in imported_modules(source, ROOT / "rocm_sdk", folder=())}
    assert {f"{owner}.{name}" for owner, names in SEAM.items() for name in names or ()} <= used
    knows = {
        source.relative_to(ROOT / "rocm_sdk").as_posix()
        for source in (ROOT / "rocm_sdk").rglob("*.py")
        if "rocm_sdk_build" in source.read_text()
    }
    assert knows == {"fit/code/build_command.py"}


# The folders of the builder, from the lowest up; what lies beside them is the order of it all, and above them.
BUILDER_FOLDERS = ("files", "code", "inputs", "packages", "output", "building", "checking", "closure")


# The same for the parts of closure/, and how many imports the folders among them have of each other.
CLOSURE_PARTS = (
    *("__init__", "source_sdk", "choosing", "writing", "proving"),
    *("closure", "report"),
)


IMPORTS_OF_CLOSURE = 8


def test_folders_of_the_builder() -> None:
    needs = python_needs(ROOT / "builder/rocm_sdk_build", "rocm_sdk_build")
    for name, others in needs.items():
        folder = name.partition("/")[0]
        if folder in BUILDER_FOLDERS:
            allowed = {"errors", "__init__", *BUILDER_FOLDERS[: BUILDER_FOLDERS.index(folder) + 1]}
            assert {other.partition("/")[0] for other in others} <= allowed, name


def test_parts_of_closure() -> None:
    between = 0
    for name, others in python_needs(ROOT / "builder/rocm_sdk_build", "rocm_sdk_build").items():
        if not name.startswith("closure/"):
            continue
        part, *inside = name.split("/")[1:]
        for other, *below in (each.split("/")[1:] for each in others if each.startswith("closure/")):
            assert CLOSURE_PARTS.index(other) <= CLOSURE_PARTS.index(part), name
            between += bool(inside and below) and other != part
    assert between == IMPORTS_OF_CLOSURE


def test_a_command_of_the_builder_is_a_file_in_one_style() -> None:
    """Each has its row and the same two functions, and no other command is imported with it."""
    from rocm_sdk_build.commands.table import COMMANDS

    folder = ROOT / "builder/rocm_sdk_build/commands"
    stems = {name.replace("-", "_") for name in COMMANDS}
    assert {path.stem for path in folder.glob("*.py")} == {*stems, "__init__", "options", "table"}
    for stem in stems:
        source = folder / f"{stem}.py"
        functions = [node.name for node in ast.parse(source.read_text()).body if isinstance(node, ast.FunctionDef)]
        assert [name for name in functions if not name.startswith("_")] == ["add_arguments", "run"], stem
        modules = imported_modules(source, folder.parent, "rocm_sdk_build")
        assert {module[1] for module in modules if module[0] == "commands"} <= {"options", "table"}, stem


def test_a_private_import_of_the_builder(tmp_path: Path) -> None:
    lines = (
        *("from rocm_sdk import _native", "from rocm_sdk.devel.lock import x", "from rocm_sdk._native import locate"),
        *("import rocm_sdk.base.inside", "from rocm_sdk.base.zstd import _x", "from rocm_sdk.fit.code import _x"),
    )
    for line in lines:
        (tmp_path / "a.py").write_text(
            f"from rocm_sdk import gpus\nfrom rocm_sdk.fit.code.note import History\n{line}\n"
        )
        assert len(list(private_imports(tmp_path))) == 1, line
