"""Small faults that no test may miss: where a silent one would write outside a tree, lose a file or bind wrongly."""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """A text of a file (which has it once), what stands there instead, and the tests of which one must fail."""

    file: str
    before: str
    after: str
    tests: tuple[str, ...]


_RULES = ("tests/devel/test_archive_rules.py", "tests/devel/test_hostile_archives.py")
_LINKS = ("tests/devel/test_device_links.py",)
_ORDER = ("tests/devel/test_durability.py",)
_LOCK = ("tests/devel/test_lock.py",)
_ADOPT = ("tests/adoption/test_durability.py",)
_ARCHIVE_RULES = "rocm_sdk/devel/archive_rules.py"

# fmt: off
MUTATIONS = (
    # what an archive may hold
    Mutation(_ARCHIVE_RULES, "if ups > depth + 1 or", "if ups > depth + 2 or", _RULES),
    Mutation(_ARCHIVE_RULES, "if ups <= depth:", "if ups <= depth + 1:", _RULES),
    Mutation(_ARCHIVE_RULES, 'if "" in parts or ".." in rest or', 'if "" in parts or', _RULES),
    Mutation(_ARCHIVE_RULES, 'if "" in parts or ".." in rest or', 'if ".." in rest or', _RULES),
    Mutation(_ARCHIVE_RULES, "or len(rest) < 2:", "or len(rest) < 1:", _RULES),
    Mutation(_ARCHIVE_RULES, 'return "\\0" not in text', "return True", _RULES),
    # the order of the steps
    Mutation("rocm_sdk/devel/extract.py", 'disk first."""\n    sync_file_system(site)\n', 'disk first."""\n', _ORDER),
    Mutation("rocm_sdk/devel/extract.py", "sync_file_system(site)\n        replace_directory", "replace_directory", _ORDER),
    Mutation("rocm_sdk/devel/replace.py", "        os.fsync(descriptor)\n        return temporary", "        return temporary", _ORDER),
    Mutation("rocm_sdk/devel/update.py", "    sync_file_system(workspace.site)\n", "", _ORDER),
    Mutation("rocm_sdk/devel/device_links.py", "        if stale:\n", "        if not stale:\n", _ORDER),
    Mutation("rocm_sdk/devel/store_directory.py", "            sync_directory(directory)", "            pass", _ORDER),
    Mutation("rocm_sdk/devel/store.py", "        sync_file_system(self.directory)\n", "", _ORDER),
    Mutation("rocm_sdk/devel/lock.py", "return os.path.samestat(os.fstat(descriptor), os.stat(path))", "return True", _LOCK),
    Mutation("rocm_sdk/devel/lock.py", "os.register_at_fork(after_in_child=_close_inherited)", "", _LOCK),
    Mutation("rocm_sdk/adoption/adopt.py", "            os.fsync(file.fileno())\n", "", _ADOPT),
    Mutation("rocm_sdk/adoption/adopt.py", "fcntl.flock(descriptor, fcntl.LOCK_EX)", "pass", _ADOPT),
    # programs that may crash
    Mutation("rocm_sdk/selftest/children.py", "resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (1, 1))", "pass",
             ("tests/selftest/test_children.py",)),
    # the linker's search
    Mutation("csrc/loader/linker_search.c", "entry.flags == OWN_CACHE_FLAGS && entry.hwcap == 0 &&", "entry.flags == OWN_CACHE_FLAGS &&",
             ("test_linker_search",)),
    Mutation("csrc/loader/linker_search.c",
             "offset < search->cache_size && memchr(search->cache + offset, '\\0', search->cache_size - offset) != NULL",
             "offset < search->cache_size", ("test_linker_search",)),
    # the ELF reader
    Mutation("csrc/elf/elf_file.c", "if (r->result->version_needs.count >= VERSION_NEEDS_LIMIT) {", "if (false) {",
             ("tests/loader/test_inspect.py",)),
    # scopes
    Mutation("csrc/loader/preloader.c", "dlopen(group->path, RTLD_NOW | RTLD_LOCAL) != NULL", "dlopen(group->path, RTLD_NOW | RTLD_GLOBAL) != NULL",
             ("test_load_failures",)),
    Mutation("csrc/loader/preloader.c", "(step->view.is_global ? RTLD_GLOBAL : RTLD_LOCAL)", "(step->view.is_global ? RTLD_GLOBAL : RTLD_GLOBAL)", ("test_preload",)),
)
# fmt: on
