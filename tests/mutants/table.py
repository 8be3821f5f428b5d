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
_ARCHIVES, _NOTES, _STORES = (f"tests/devel/test_hostile_{name}.py" for name in ("archives", "notes", "stores"))
_ORDER = ("tests/devel/test_durability.py",)
_LOCK = ("tests/devel/test_lock.py",)
_ADOPT = ("tests/adoption/test_durability.py",)
_BUNDLES, _INSTALLER = "builder/rocm_sdk_build/code/bundles.py", "rocm_sdk/installed/installer.py"
_KPACK, _TREES = "builder/rocm_sdk_build/code/kpack.py", "builder/rocm_sdk_build/code/trees.py"
_FINISHED, _FINISHED_TESTS = "builder/rocm_sdk_build/output/finished.py", "tests/builder/test_finished.py"
_KPACK_LISTING = ("tests/device_code/test_host_files.py::test_where_a_kpack_archive_may_have_its_contents",)
_BUNDLE_LIMITS, _KPACK_CHECKS = ("tests/rewriting/test_bundle_limits.py",), ("tests/rewriting/test_kpack_checks.py",)
_ROOM, _BROKEN = ("tests/rewriting/test_room.py",), ("tests/builder/test_broken_downloads.py",)
_FACTS = (f"{_FINISHED_TESTS}::test_each_fact_of_a_file_counts",)
_FACTS_OF_INSTALLERS = ("tests/installation/test_installer_facts.py",)
_SERVERS, _WEB = ("tests/builder/test_hostile_servers.py",), "rocm_sdk/web/server.py"
_INDEX, _INDEX_TESTS = (
    "rocm_sdk/doctor/subjects/index.py",
    ("tests/selftest/test_index.py", "tests/selftest/test_hostile_index.py"),
)
_REMOTE, _PARTS = "rocm_sdk/web/remote_file.py", ("tests/selftest/test_remote_file.py",)
_VERDICTS, _BINDINGS = "csrc/loader/binding_verdict.c", ("tests/loader/test_bindings.py",)
_SPLIT, _SPLIT_TESTS = "builder/rocm_sdk_build/code/debug_split.py", ("tests/builder/test_split_debug.py",)
_CODE, _FILES, _INPUTS = (f"builder/rocm_sdk_build/{name}" for name in ("code", "files", "inputs"))
_CONTAINERS = tuple(
    f"tests/device_code/test_{name}.py" for name in ("bundles", "host_files", "damaged_records", "code_objects")
)
_KERNELS = ("tests/rewriting/test_kernels.py",)
_RECORDS = ("tests/device_code/test_damaged_records.py",)
_COVERAGE = "tests/device_code/test_coverage.py"
_CLOSURE, _CLOSURE_TESTS = "builder/rocm_sdk_build/closure", "tests/closure/test"
_PROOF, _PROOF_PROGRAM, _APPLICATION, _PROOF_ROOT, _HOST_FILES, _NAMESPACES = (
    f"{_CLOSURE}/proving/{name}.py" for name in ("proof", "program", "application", "root", "host_files", "namespaces")
)
_CHOICE, _ROOTS = f"{_CLOSURE}/choosing/proof_choice.py", f"{_CLOSURE}/choosing/roots.py"
_IN_PLACE, _ALSO, _JOURNAL = (f"{_CLOSURE}/in_place/{name}.py" for name in ("pruning", "also", "journal"))
_ATTACKS = (f"{_CLOSURE_TESTS}_proof_hostile.py::test_attacks_of_constructors",)
_STUCK = ("tests/test_c_suite.py::test_c[test_stuck_ahead]",)
_RELEASES = ("tests/cli/test_check_releases.py",)
_TRIED, _CAUSES = "tests/situations/test_tried_fixes.py", "tests/selftest/test_causes.py"
_NEXT_FILES, _READER = "csrc/loader/next_files.c", "csrc/loader/page_reader.c"
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
    Mutation("rocm_sdk/adoption/adopt.py", "            is_free = lock_within(descriptor, _LOCK_SECONDS)", "            pass", _ADOPT),
    # what may be written, removed and linked
    Mutation("rocm_sdk/base/inside.py", "_open(part, _DIRECTORY | os.O_NOFOLLOW,", "_open(part, _DIRECTORY,", ("tests/devel/test_inside.py",)),
    Mutation("rocm_sdk/devel/device_links.py", "        parts_of(path)\n    except", "        pass\n    except", ("tests/devel/test_hostile_notes.py",)),
    Mutation("rocm_sdk/devel/device_links.py", "is_device = distribution.name == DEVICE or", "is_device = distribution.name != DEVICE or", _LINKS),
    Mutation("rocm_sdk/devel/layout.py", "    if os.path.islink(tree):", "    if False:", (f"{_NOTES}::test_a_tree_that_is_a_link",)),
    Mutation("rocm_sdk/devel/manifest.py", "    if not is_text(entry.path):", "    if False:", (f"{_NOTES}::test_names_in_a_manifest_that_no_file_has",)),
    Mutation("rocm_sdk/devel/lock.py", "if os.fstat(descriptor).st_nlink == 1:", "if True:", _LOCK),
    Mutation("rocm_sdk/devel/lock.py", "if not stat.S_ISREG(os.fstat(descriptor).st_mode):", "if False:", _LOCK),
    Mutation("rocm_sdk/devel/store.py", "if not _is_sound(file, name, member.size):", "if False:",
             (f"{_STORES}::test_a_file_that_is_not_what_its_name_says",)),
    Mutation("rocm_sdk/devel/store.py", "os.fstat(file.fileno()), os.stat(path, follow_symlinks=False)", "os.fstat(file.fileno()), os.stat(path)",
             (f"{_STORES}::test_a_file_that_becomes_a_link_while_it_is_linked",)),
    Mutation("rocm_sdk/devel/store_directory.py", "& 0o022:", "& 0o002:", (f"{_STORES}::test_a_store_that_others_may_write",)),
    Mutation("rocm_sdk/devel/store_directory.py", "if owner not in {0, os.geteuid()}:", "if False:", (f"{_STORES}::test_a_store_that_another_user_can_change",)),
    Mutation("rocm_sdk/devel/link_file.py", "if not stat.S_ISREG(facts.st_mode) or (", "if (", (f"{_ARCHIVES}::test_a_link_into_a_package_must_lead_to_a_regular_file",)),
    Mutation("rocm_sdk/base/removing.py", "os.O_DIRECTORY | os.O_NOFOLLOW |", "os.O_DIRECTORY |", ("tests/devel/test_leftovers.py",)),
    # programs that may crash
    Mutation("rocm_sdk/doctor/children.py", "resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (1, 1))", "pass", ("tests/selftest/test_children.py",)),
    # the linker's search
    Mutation("csrc/loader/linker_search.c", "entry.flags == OWN_CACHE_FLAGS && entry.hwcap == 0 &&", "entry.flags == OWN_CACHE_FLAGS &&",
             ("test_linker_search",)),
    Mutation("csrc/loader/linker_search.c",
             "offset < search->cache_size && memchr(search->cache + offset, '\\0', search->cache_size - offset) != NULL",
             "offset < search->cache_size", ("test_linker_search",)),
    Mutation("csrc/loader/linker_search.c", "sizeof *variant_directories; i++)", "sizeof *variant_directories; i--)", ("test_linker_search",)),
    # the ELF reader
    Mutation("csrc/elf/elf_names.c", "if (r->result->version_needs.count >= VERSION_NEEDS_LIMIT) {", "if (false) {", ("tests/loader/test_inspect.py",)),
    Mutation("csrc/elf/elf_layout.c", "size <= outer_size && start - outer_start <= outer_size - size", "start - outer_start <= outer_size - size", ("test_elf_layout",)),
    Mutation("csrc/elf/elf_layout.c", "if (segment->p_filesz > segment->p_memsz) {", "if (false) {", ("test_elf_layout",)),
    Mutation("csrc/elf/elf_layout.c", "return load != NULL && section->sh_offset - load->p_offset != section->sh_addr - load->p_vaddr;", "return load != NULL && false;", ("test_elf_layout",)),
    Mutation("csrc/elf/elf_sections.c", "return offset <= r->size && size <= r->size - offset;",
             "return offset <= r->size || size <= r->size - offset;", ("test_elf_sections",)),
    Mutation("csrc/elf/elf_names.c", "r->result->has_text_relocations = true;", "r->result->has_text_relocations = false;", ("test_elf_file",)),
    # what a fix makes a shell do
    Mutation("csrc/diagnosis/problem.c", "} else if (has_control) {", "} else if (false) {", ("test_problem",)),
    Mutation("csrc/diagnosis/problem.c", "while (end > 0 && value[end - 1] == '\\n') {", "while (false) {", ("test_problem",)),
    Mutation("csrc/diagnosis/problem.c", "add_value(&text, c->installation->note);", 'rsdk_text_add(&text, "%s", c->installation->note);',
             ("test_problem",)),
    Mutation("csrc/diagnosis/problem.c", "add_word(text, rsdk_text_get(&requirement));", 'rsdk_text_add(text, "%s", rsdk_text_get(&requirement));',
             ("test_problem",)),
    Mutation("csrc/diagnosis/host_package.c", "if (name[strspn(name, plain)] != '\\0') {", "if (name[strspn(name, plain)] == '\\1') {",
             ("test_load_failures",)),
    # whose file it is
    Mutation("csrc/sdk/record.c", "if (q->relative != NULL || access(path, F_OK) != 0) {", "if (true) {", ("test_record",)),
    Mutation("csrc/sdk/record.c", "!has_any && strchr(site + 1, '/') != NULL;", "strchr(site + 1, '/') != NULL;", ("test_record",)),
    # what hides devices
    Mutation("csrc/gpu/visibility.c", "bool is_quoted = end - start > 1 &&", "bool is_quoted = end - start > 2 &&", ("test_gpu_visibility", "test_gpu_list")),
    Mutation("csrc/gpu/visibility.c", "selection.count = fault == RSDK_TOKEN_ABORTS ? 0 : selection.count;", "", ("test_gpu_visibility",)),
    Mutation("csrc/sdk/runtime_rules.c", "has_message && !has_others", "has_message", ("tests/gpu/test_runtime_rules.py",)),
    Mutation("csrc/gpu/override.c", "is_known &= strcmp(processor, unknown[i]) != 0;", "", ("test_gpu_overrides",)),
    Mutation("csrc/gpu/override.c", "is_too_large ? UINT64_MAX :", "false ? UINT64_MAX :", ("tests/gpu/test_visibility_property.py",)),
    Mutation("csrc/gpu/device_numbering.c", "real == NULL || real->major > 8", "real == NULL || real->major > 0", ("test_gpu_overrides",)),
    Mutation("csrc/gpu/visibility.c", "if (fault == RSDK_TOKEN_GOOD && is_chosen(", "if (fault == RSDK_TOKEN_GOOD || is_chosen(", ("test_gpu_visibility", "test_gpu_list")),
    # what runs on a GPU, and what an archive may claim
    Mutation("csrc/gpu/compatibility.c", "return sign == '\\0' || gpu == (sign == '+' ? ON : OFF);", "return sign == '\\0' || gpu != ABSENT;", ("tests/gpu/test_compatibility.py",)),
    Mutation("csrc/gpu/compatibility.c", "version < FIRST_GENERIC_VERSION ?", "version > RSDK_GENERIC_VERSION_UNKNOWN - 1 ?", ("tests/gpu/test_compatibility.py",)),
    Mutation("csrc/gpu/compatibility.c", "if ((row->patches & patches) != 0 && is_among(", "if ((row->patches | patches) != 0 && is_among(", ("tests/gpu/test_compatibility.py",)),
    Mutation("csrc/device_code/coverage_verdict.c", "fit = best < fit ? best : fit;", "fit = best > fit ? best : fit;", ("tests/device_code/test_coverage.py",)),
    Mutation("csrc/device_code/fits.c", "bundle[k].fit < fit->worst ?", "bundle[k].fit > fit->worst ?", ("tests/device_code/test_coverage.py",)),
    Mutation("csrc/device_code/archive_search.c", 'rsdk_arena_format(search->arena, "%.*s\\n%s", (int)length, id, target);',
             'rsdk_arena_format(search->arena, "%.*s\\n%s", (int)length * 0, id, target);', ("tests/device_code/test_coverage.py",)),
    Mutation("rocm_sdk/base/zip_file.py", "        _refuse_overlaps(path, archive.infolist())\n", "", ("tests/cli/test_code_in_archives.py",)),
    Mutation("rocm_sdk/base/zip_file.py", "    if listed > min(_LARGEST_DIRECTORY, end):", "    if False:", ("tests/cli/test_code_in_archives.py",)),
    Mutation("rocm_sdk/gpu_code/member.py", "    if size > _LARGEST:", "    if False:", ("tests/cli/test_code_in_archives.py",)),
    # what a server may change, and how much of it is read
    Mutation(_REMOTE, '            headers["If-Range"] = self._tag\n', "            pass\n", _PARTS),
    Mutation(_REMOTE, "        self._left -= len(answer.body)\n", "", _PARTS),
    Mutation(_REMOTE, " or self._size not in {0, size}:", ":", _PARTS),
    Mutation("rocm_sdk/web/wheels.py", ' or normalised(found[0].partition("-")[0]) != project:', ":", _INDEX_TESTS),
    Mutation("rocm_sdk/base/zip_file.py", "        if count > MEMBER_LIMIT:", "        if False:", ("tests/cli/test_code_in_archives.py",)),
    # what an installer may say
    Mutation("rocm_sdk/base/value_text.py", 'words[0].rpartition("@")[2] + text', "words[0] + text",
             ("tests/installing/test_install.py::test_a_password_in_what_an_installer_says",)),
    # which definition is the right one
    Mutation(_VERDICTS, "strncmp(a->path, b->path, directory) == 0) {", "true) {", _BINDINGS),
    Mutation(_VERDICTS, "           !defines(answers, guard);", "           answers != NULL;", _BINDINGS),
    Mutation(_VERDICTS, "COUNT_OF(cxx_names)) || binding != STB_GLOBAL)) {", "COUNT_OF(cxx_names)))) {", _BINDINGS),
    Mutation(_VERDICTS, "(begins_with_one_of(name, cxx_names, COUNT_OF(cxx_names)) || binding", "(begins_with_one_of(name, cxx_names, 0) || binding", _BINDINGS),
    Mutation(_VERDICTS, "(begins_with_one_of(name, cxx_names, COUNT_OF(cxx_names)) || binding != STB_GLOBAL)) {",
             "(begins_with_one_of(name, cxx_names, COUNT_OF(cxx_names)) || name != NULL)) {", _BINDINGS),
    Mutation("csrc/loader/symbol_lookup.c", "!is_unique(symbol) && symbol->st_shndx", "symbol->st_shndx", _BINDINGS),
    Mutation("csrc/loader/bindings.c", "memset(pair->examples, 0, are_findings ? 0 : sizeof pair->examples);", "", _BINDINGS),
    # what a library needs on each GPU, and what a table may have
    Mutation("csrc/device_code/code_survey.c", "fit->worst < t->worst ? fit->worst : t->worst;", "fit->worst > t->worst ? fit->worst : t->worst;", (_COVERAGE,)),
    Mutation("csrc/device_code/kernel_database.c", "return file->size <= PLAIN_LIMIT ? take(r) :", "return true ? take(r) :", ("tests/device_code/test_kernel_tables.py",)),
    # what a check leaves behind, and how deep it goes
    Mutation("rocm_sdk/base/scratch.py", "                finally:\n                    _remove(directory)\n", "                finally:\n                    pass\n",
             ("tests/cli/test_check_scratch.py::test_a_signal_leaves_nothing",)),
    Mutation("rocm_sdk/cli/check.py", "    with removed_at_signals():", "    if True:", ("tests/cli/test_check_scratch.py::test_a_signal_leaves_nothing",)),
    Mutation("rocm_sdk/base/walking.py", "    if depth > DEPTH_LIMIT:", "    if depth >= DEPTH_LIMIT:", ("tests/test_walking.py::test_the_limit",)),
    Mutation("rocm_sdk/doctor/verdicts/wheel.py", "        if len(parts) > DEPTH_LIMIT:", "        if False:", ("tests/cli/test_check.py::test_a_wheel_with_deep_directories",)),
    # what a name or a word stands for
    Mutation("csrc/sdk/record.c", 'strchr("-_.", *from) != NULL;', 'strchr("_.", *from) != NULL;', ("test_record",)),
    Mutation("csrc/sdk/record.c", 'strchr("-_.", *from) != NULL;', 'strchr("-_", *from) != NULL;', ("test_record",)),
    Mutation("csrc/sdk/record.c", "} else if (to == normal || to[-1] != '-') {", "} else {", ("test_record",)),
    Mutation("csrc/diagnosis/problem.c", "if (value[0] != '\\0' && value[strspn(value, plain)] == '\\0') {",
             "if (value[strspn(value, plain)] == '\\0') {", ("test_problem",)),
    Mutation("csrc/device_code/file_target.c", "strlen(target->name) > strlen(longest->name)", "false", ("test_names_of_files",)),
    # whose time it is
    Mutation("csrc/loader/preloader.c", "loaded->requested.items[loaded->requested.count - 1]].seconds", "loaded->requested.items[0]].seconds",
             ("test_preload",)),
    Mutation("csrc/loader/preloader.c", ".seconds += entry->seconds;", ".seconds += 0;", ("test_preload",)),
    Mutation("csrc/loader/preloader.c", "if (entry.handle != NULL || !entry.is_requested) {", "if (entry.handle != NULL) {", ("test_preload",)),
    Mutation("csrc/loader/preloader.c", "if (entry.handle != NULL || !entry.is_requested) {", "if (true) {", ("test_preload",)),
    # where the parts of containers may lie
    Mutation("csrc/device_code/kpack.c", "contents_at < HEADER_SIZE || contents_at >= extent->size", "contents_at >= extent->size", _KPACK_LISTING),
    Mutation("csrc/device_code/kpack.c", "contents_at < HEADER_SIZE || contents_at >= extent->size",
             "contents_at < HEADER_SIZE || contents_at > extent->size", _KPACK_LISTING),
    Mutation("csrc/device_code/offload_binary.c", "if (offset < r->entries || offset", "if (offset < r->entries && offset", _RECORDS),
    Mutation("csrc/device_code/offload_binary.c", "if (count > STRING_LIMIT) {", "if (count >= STRING_LIMIT) {", _RECORDS),
    Mutation("csrc/device_code/offload_binary.c", "    RSDK_TRY(rsdk_listing_count(listing, &r->extent, 0));\n", "", _RECORDS),
    Mutation("csrc/device_code/static_archive.c", "            RSDK_TRY(rsdk_listing_count(listing, &member, NAME_LIMIT));\n", "", _RECORDS),
    Mutation("csrc/device_code/host_elf.c", "size > HISTORY_LIMIT) {", "size >= HISTORY_LIMIT) {", _RECORDS),
    Mutation("csrc/device_code/host_elf.c", "header->elf_class != ELFCLASS64 || header", "header->elf_class != ELFCLASS64 && header", _RECORDS),
    Mutation("csrc/device_code/host_elf.c", "if (target[0] != '\\0') {", "if (target[0] == '\\0') {", _RECORDS),
    Mutation("csrc/device_code/decompression.c", "s->is_at_end = result == Z_STREAM_END;", "s->is_at_end = result != Z_STREAM_END;", ("tests/device_code/test_bundles.py::test_a_long_header",)),
    Mutation("csrc/device_code/bundle.c", "f->total <= f->header_size || ", "f->total < f->header_size || ", ("tests/device_code/test_bundles.py::test_damaged",)),
    Mutation("csrc/device_code/bundle.c", " || f->total > extent->size) {", " || f->total >= extent->size) {", ("tests/device_code/test_bundles.py::test_compressed",)),
    Mutation("csrc/device_code/bundle.c", "(f->plain_size - 1) / RATIO_LIMIT >= f->total", "false", _KERNELS),
    Mutation("csrc/device_code/bundle.c", "f->plain_size > LARGEST_PLAIN ||", "", _KERNELS),
    Mutation("csrc/device_code/bundle.c", "size == f.plain_size && memcmp(", "memcmp(", _KERNELS),
    Mutation("csrc/device_code/bundle.c", "memcmp(digest, f.hash, HASH_SIZE) == 0", "true", _KERNELS),
    Mutation("csrc/device_code/kernels.c", "if (count > r->left) {", "if (false) {", _KERNELS),
    Mutation("csrc/device_code/kernels.c", "if (p->depth == DEPTH_LIMIT) {", "if (p->depth > DEPTH_LIMIT) {", _KERNELS),
    Mutation("csrc/device_code/kernels.c", "bool is_key = p->is_map[p->depth] &&", "bool is_key = false &&", _KERNELS),
    Mutation("csrc/device_code/kernels.c", "name = is_name ? NULL : name;", "", _KERNELS),
    Mutation("csrc/device_code/kernels.c", "r->kernels.count <= KERNEL_LIMIT", "r->kernels.count < KERNEL_LIMIT", _KERNELS),
    Mutation("csrc/device_code/kernels.c", "size > NOTE_LIMIT - note_bytes", "false", _KERNELS),
    Mutation(_BUNDLES, "or count > _ENTRY_LIMIT:", "or count >= _ENTRY_LIMIT:", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "or count > _ENTRY_LIMIT:", "or False:", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "if id_size > _ID_LIMIT or", "if", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "len(name) < id_size or offset", "offset", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "or offset + length > size:", "or offset > size:", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "_LARGEST_BUNDLE = 16 << 30", "_LARGEST_BUNDLE = 17 << 30", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "            if position + len(piece) > size:\n                return None\n", "", _BUNDLE_LIMITS),
    Mutation(_BUNDLES, "if size > disk.f_bavail * disk.f_frsize:", "if False:", _ROOM),
    Mutation(_KPACK, "version != _VERSION or", "", _KPACK_CHECKS),
    Mutation(_KPACK, "not _BLOBS_AT <= start < size", "not start < size", _KPACK_CHECKS),
    Mutation(_KPACK, "not _BLOBS_AT <= start < size", "not _BLOBS_AT <= start <= size", _KPACK_CHECKS),
    Mutation(_KPACK, " or not have_same_bytes(", " or have_same_bytes is None and not have_same_bytes(", _KPACK_CHECKS),
    # what a new file is, and when
    Mutation("builder/rocm_sdk_build/files/new_file.py", "        if is_synced:\n            os.fsync(descriptor)\n", "", ("tests/rewriting/test_sync.py",)),
    Mutation("builder/rocm_sdk_build/files/new_file.py", "        sync_file(str(path))", "        pass", ("tests/builder/test_promotion.py",)),
    Mutation("rocm_sdk/base/moving.py", "_RENAME_NOREPLACE = 1", "_RENAME_NOREPLACE = 0", ("tests/builder/test_free_names.py",)),
    Mutation("rocm_sdk/base/moving.py", "os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW", "os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW", ("tests/builder/test_free_names.py",)),
    Mutation("rocm_sdk/doctor/verdicts/tags.py", "int(tag[3:]) <= minor))", "int(tag[3:]) == minor))", ("tests/cli/test_wheel_tags.py",)),
    Mutation("csrc/loader/bindings.c", "(opening->mode & RTLD_GLOBAL) != 0 || rsdk_linker_state_at(&b->state, root)->file.is_program", "(opening->mode & RTLD_GLOBAL) != 0", ("tests/cli/test_check_beside.py",)),
    Mutation("csrc/loader/host_check.c", "rsdk_linker_search_find(&c->search, &own, need->name", "rsdk_linker_search_find(&c->search, &(rsdk_load_chain){0}, need->name", ("tests/cli/test_check_beside.py",)),
    Mutation("builder/rocm_sdk_build/files/new_file.py", "mode = 0o666 if source", "mode = 0o600 if source", ("tests/rewriting/test_outputs.py",)),
    Mutation(_TREES, "no_room, copies=2)", "no_room)", _ROOM),
    Mutation(f"{_FILES}/members.py", "shutil.disk_usage(directory).free", "shutil.disk_usage(directory).total", _ROOM),
    Mutation(_TREES, "            os.chmod(output, tree.mode)", "            pass", ("tests/rewriting/test_outputs.py",)),
    Mutation(_TREES, "            os.chmod(each.path, each.mode)\n", "", ("tests/rewriting/test_outputs.py",)),
    Mutation(_TREES, "        os.utime(self.target, ns=made[0].times)\n", "", ("tests/rewriting/test_trees.py",)),
    # which download is tried again, which is kept
    Mutation(_WEB, "if answer.length:", "if False:", _BROKEN),
    Mutation(_WEB, "if error.code < 500:", "if error.code <= 500:", _BROKEN),
    Mutation(_WEB, "if done > limit:", "if done >= limit:", _SERVERS),
    # what an index says of packages
    Mutation(_INDEX, "elif mine.digest != row.digest:", "elif mine is not None and False:", _INDEX_TESTS),
    Mutation(_INDEX, "if mine is None:", "if False:", _INDEX_TESTS),
    Mutation(_INDEX, "if metadata != (", "if not metadata and not (", _INDEX_TESTS),
    Mutation(_INDEX, "if installed != file.sha256:", "if False:", _INDEX_TESTS),
    Mutation(_INDEX, "each.digests.get(file.name) != file.sha256]", "not each.digests]", _INDEX_TESTS),
    Mutation(_INDEX, "if wheel.sha256 and file.sha256 and wheel.sha256 != file.sha256:", "if False:", _INDEX_TESTS),
    Mutation(_INDEX, "    if not recorder.count:\n", "    if False:\n", _INDEX_TESTS),
    Mutation(_REMOTE, "if (start, end) != (first, last) or", "if", _INDEX_TESTS),
    # what taking debug information out may change
    Mutation(_SPLIT, "if _facts(before) != _facts(after):", "if False:", _SPLIT_TESTS),
    Mutation(_SPLIT, "range(HEADER.size, end, _CHUNK)", "range(end, end, _CHUNK)", _SPLIT_TESTS),
    Mutation(_SPLIT, "== _build_id(after) == _build_id(taken):", "== _build_id(after):", _SPLIT_TESTS),
    # which finished wheel is taken
    Mutation(_FINISHED, "if max(found.st_mtime, found.st_ctime) > limit:", "if found.st_ctime > limit:", (f"{_FINISHED_TESTS}::test_a_file_that_is_dated_ahead",)),
    Mutation(_FINISHED, "if max(found.st_mtime, found.st_ctime) > limit:", "if found.st_mtime > limit:", (f"{_FINISHED_TESTS}::test_a_file_in_place_of_another",)),
    Mutation(_FINISHED, "found.st_dev, found.st_ino, ", "found.st_ino, ", _FACTS),
    Mutation(_FINISHED, "found.st_ino, found.st_mode, ", "found.st_mode, ", _FACTS),
    Mutation(_FINISHED, "found.st_ino, found.st_mode, ", "found.st_ino, ", _FACTS),
    Mutation(_FINISHED, "found.st_size, *times", "*times", _FACTS),
    Mutation(_FINISHED, "(found.st_mtime_ns, found.st_ctime_ns)", "(found.st_ctime_ns,)", _FACTS),
    Mutation(_FINISHED, "(found.st_mtime_ns, found.st_ctime_ns)", "(found.st_mtime_ns,)", _FACTS),
    Mutation(_FINISHED, "found.st_mode, self._content(path, found)", "self._content(path, found)",
             (f"{_FINISHED_TESTS}::test_a_written_file_counts_by_its_content_and_mode",)),
    # whose command repairs an installation
    Mutation(_INSTALLER, ' or recorded in {"pip", "uv"}:', ":", _FACTS_OF_INSTALLERS),
    Mutation(_INSTALLER, "if os.path.exists(os.path.join(prefix, _ENVIRONMENT_FILE)) or", "if", _FACTS_OF_INSTALLERS),
    Mutation(_INSTALLER, 'url.scheme != "file" or', "", _FACTS_OF_INSTALLERS),
    Mutation(_INSTALLER, "if os.statvfs(site).f_flag & os.ST_RDONLY:", "if False:", _FACTS_OF_INSTALLERS),
    # what a proof tries, and with which rights
    Mutation(_PROOF, "    _compare_coverage(sdk, selection, site, gpus)\n", "", (f"{_CLOSURE_TESTS}_closure.py::test_the_proof_compares_the_code",)),
    Mutation(_PROOF, '    "LD_BIND_NOW": "1",\n', "", (f"{_CLOSURE_TESTS}_closure.py::test_the_proof_looks_for_every_symbol",)),
    Mutation(_APPLICATION, 'if current in done or current.startswith(("rocm-sdk-", "rocm-profiler")):', "if current in done:",
             (f"{_CLOSURE_TESTS}_closure.py::test_the_sdk_is_no_file_of_an_application",)),
    Mutation(_CHOICE, "if choice is None and foreign:", "if False:", (f"{_CLOSURE_TESTS}_proof_rights.py::test_code_of_others_runs_only_when_asked_for",)),
    Mutation(_NAMESPACES, "        die_with_parent()  # a change of the user clears it\n", "", (f"{_CLOSURE_TESTS}_proof_hostile.py::test_no_process_outlives_a_kill",)),
    Mutation(_NAMESPACES, '    die_with_parent()\n    if os.getppid() != plan["parent"]:', '    if os.getppid() != plan["parent"]:',
             (f"{_CLOSURE_TESTS}_proof_hostile.py::test_no_process_outlives_a_kill",)),
    Mutation(_NAMESPACES, "        _filter_calls()\n", "", _ATTACKS),
    Mutation(_NAMESPACES, '    call("capset", "capset", header, (ctypes.c_uint32 * 6)())\n', "", _ATTACKS),
    Mutation(_NAMESPACES, "        if point != f", "        if not point and point != f", _ATTACKS),
    Mutation(_NAMESPACES, "        os.setsid()\n", "", _ATTACKS),
    Mutation(_NAMESPACES, "            resource.RLIMIT_AS: memory,\n", "", _ATTACKS),
    Mutation(_NAMESPACES, "CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS, ", "CLONE_NEWIPC | CLONE_NEWUTS, ", _ATTACKS),
    Mutation(_NAMESPACES, "CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET", "CLONE_NEWPID | CLONE_NEWNET", _ATTACKS),
    Mutation(_NAMESPACES, "CLONE_NEWPID | CLONE_NEWIPC | ", "CLONE_NEWIPC | ", _ATTACKS),
    Mutation(_PROOF_PROGRAM, "    set_dumpable(0)\n", "", _ATTACKS),
    Mutation(_PROOF_PROGRAM, "        os.setpgid(0, 0)\n", "", _ATTACKS),
    Mutation(_PROOF_PROGRAM, "        os.dup2(log, 1)\n", "", _ATTACKS),
    Mutation(_PROOF_PROGRAM, "    if code in {secret, 0}:\n        return None if code == secret or each.becomes", "    if code in {secret, 0}:\n        return None if True",
             (f"{_CLOSURE_TESTS}_proof_program.py::test_an_early_end_is_no_load",)),
    Mutation(_PROOF_PROGRAM, "    if code == secret and lacking:", "    if False:",
             (f"{_CLOSURE_TESTS}_proof_program.py::test_what_is_not_in_memory_is_not_loaded",)),
    # what is not answered, and what is lost
    Mutation("csrc/loader/page_reader.c", " || is_needed(reader->inventory, name)) {", " || reader->options->file_count > 0) {", _STUCK),
    Mutation("csrc/loader/page_reader.c", "RSDK_READ_AHEAD_NEVER && left_behind == NULL;", "RSDK_READ_AHEAD_NEVER;", _STUCK),
    Mutation("csrc/diagnosis/code_table.c", '"{reinstall} && {removal|rm -r DIRECTORY}"', '"{removal|rm -r DIRECTORY} && {reinstall}"', ("tests/situations/test_only_copies.py::test_a_fix_loses_nothing",)),
    Mutation("rocm_sdk/doctor/file_faults.py", "if not os.path.lexists(name)", "if True",
             ("tests/selftest/test_subjects.py::test_what_is_in_the_way_goes_to_a_free_name",)),
    Mutation("csrc/programs/load_check.c", "ended->has_library && WEXITSTATUS(status) == ended->secret;", "true;",
             ("tests/selftest/test_load_check.py::test_a_forged_line_is_no_load",)),
    Mutation("rocm_sdk/doctor/run.py", "            if isinstance(error, SilentError):", "            if False:",
             ("tests/selftest/test_load_check.py::test_it_hangs_before_the_first_library",)),
    Mutation("csrc/diagnosis/rank_report.c", "rsdk_report_shows_variable(name) ? equals + 1 : NULL", "equals + 1", ("tests/loader/test_report.py::test_what_it_says",)),
    Mutation(_PROOF_ROOT, "and not is_ours", "", (f"{_CLOSURE_TESTS}_proof_rights.py::test_scratch_directories_are_of_no_tree",)),
    Mutation(_PROOF_ROOT, "return not self._for_others or mode", "return True or mode", (f"{_CLOSURE_TESTS}_proof_rights.py::test_files_that_only_root_may_read",)),
    Mutation(_PROOF_ROOT, "yield entry._replace(kind=stat.S_IFREG)", "yield entry",
             (f"{_CLOSURE_TESTS}_proof_rights.py::test_links_of_an_installer_to_an_application",)),
    Mutation(_NAMESPACES, "    os.umask(0o022)  # another", "    # another", (f"{_CLOSURE_TESTS}_proof_rights.py::test_root_who_makes_files_for_nobody_else",)),
    Mutation(_NAMESPACES, '    if not f"{os.path.realpath(directory)}/".startswith(f"{root}/"):', "    if False:",
             (f"{_CLOSURE_TESTS}_proof_rights.py::test_copies_stay_in_the_root",)),
    Mutation(_HOST_FILES, ' and "/" not in name]', "]", (f"{_CLOSURE_TESTS}_proof_rights.py::test_names_with_slashes_are_opened_in_the_proof_alone",)),
    # what a closure in place may change
    Mutation(_JOURNAL, "return now == row.old and _has_digest(journal, row)", "return now == row.old",
             (f"{_CLOSURE_TESTS}_in_place_limits.py::test_a_staged_file_that_is_damaged",)),
    Mutation(_IN_PLACE, "        refuse_changed(site, snapshot)\n        if not", "        if not",
             (f"{_CLOSURE_TESTS}_in_place_limits.py::test_something_is_installed_meanwhile",)),
    Mutation(_IN_PLACE, "    refuse_changed(site, snapshot)\n    exchange", "    exchange",
             (f"{_CLOSURE_TESTS}_in_place_limits.py::test_something_is_installed_before_the_exchange",)),
    Mutation(_ALSO, "frozenset({*choice.left_out, *links})", "frozenset(choice.left_out)",
             (f"{_CLOSURE_TESTS}_in_place_limits.py::test_a_link_to_what_goes_goes_too",)),
    Mutation(f"{_FILES}/members.py", "    if wrong := wrong_member(archive):", "    if wrong := archive.testzip():",
             (f"{_CLOSURE_TESTS}_closure.py::test_a_wheel_with_a_name_twice",)),
    Mutation(f"{_FILES}/members.py", "    if size * copies > free:", "    if size < 0:", (f"{_CLOSURE_TESTS}_closure.py::test_a_wheel_without_room",)),
    # where packages come from
    Mutation("rocm_sdk/installing/choice.py", 'origin.scheme == "file" and ours.scheme != "file"', 'origin.scheme == "file"', ("tests/installing/test_origins.py",)),
    Mutation("rocm_sdk/installing/choice.py", 'is_local = origin.scheme == "file" and ours.scheme != "file"', "is_local = False", ("tests/installing/test_origins.py",)),
    # scopes
    Mutation("csrc/loader/preloader.c", "dlopen(group->path, RTLD_NOW | RTLD_LOCAL) != NULL", "dlopen(group->path, RTLD_NOW | RTLD_GLOBAL) != NULL",
             ("test_load_failures",)),
    Mutation("csrc/loader/guard.c", "if (needed != NULL && needed->held_by != NULL && !needed->is_below_hip) {", "if (needed != NULL && needed->held_by != NULL) {", ("tests/loader/test_guard.py",)),
    Mutation("csrc/loader/guard.c", "edge->kind == RSDK_EDGE_LOADED || edge->kind == RSDK_EDGE_OUTSIDE", "edge->kind == RSDK_EDGE_OUTSIDE", ("tests/loader/test_guard.py",)),
    Mutation("csrc/elf/elf_dynsym.c", "symbol->st_shndx != SHN_UNDEF && ELF64_ST_VISIBILITY", "ELF64_ST_VISIBILITY", ("test_elf_file",)),
    Mutation("csrc/loader/plan.c", "(step->view.is_global ? RTLD_GLOBAL : RTLD_LOCAL)", "(step->view.is_global ? RTLD_GLOBAL : RTLD_GLOBAL)", ("test_preload",)),
    # names without version, and the libraries of all packages
    Mutation("csrc/loader/plan.c", "rsdk_plan_finds_by_itself(plan, opener, named, finds, error)", "rsdk_plan_finds_by_itself(plan, opener, path, finds, error)", ("tests/field/test_opened_names.py",)),
    Mutation("csrc/loader/plug_ins.c", "if (!finds) {", "if (finds) {", ("tests/field/test_opened_names.py",)),
    Mutation("csrc/sdk/dlopen_dependency.c", "access(path, R_OK | W_OK) == 0;", "true;", ("tests/field/test_opened_names.py",)),
    Mutation("rocm_sdk/cli/run_names.py", "return not facts.st_mode & writers or bool(facts.st_mode & stat.S_ISVTX)", "return True", ("tests/field/test_run_names.py",)),
    Mutation("rocm_sdk/cli/run_names.py", "if entry.name != word and entry.is_dir():", "if False:", ("tests/field/test_run_names.py",)),
    Mutation("rocm_sdk/installed/library_directories.py", "return None if has_other else self._private[name]", "return self._private[name]", ("tests/field/test_all_packages.py",)),
    Mutation("rocm_sdk/errors.py", "class LibraryNotFoundError(RocmSdkError, FileNotFoundError, IndexError):", "class LibraryNotFoundError(RocmSdkError, FileNotFoundError):",
             ("tests/field/test_torch_compile_kernel.py",)),
    Mutation("rocm_sdk/cli/tree/files_tree.py", "and (only is None or only.shortname is not None)", "", ("tests/field/test_opened_names_said.py",)),
    Mutation("rocm_sdk/gpu_support/wsl.py", "if path is None:", "if False:", ("tests/field/test_wsl.py",)),
    # one look at the SDK, and at the bus
    Mutation("csrc/loader/resolver.c", "inventory->keeps_all = true;", "inventory->keeps_all = false;", ("tests/loader/test_one_look.py",)),
    Mutation("csrc/loader/plan.c", "(purpose & RSDK_PLAN_KEEPS_SYMBOLS) != 0;", "false;", ("tests/loader/test_one_look.py",)),
    Mutation("csrc/python/binding_functions.c", "p->session.is_enough = plan_of(p)->lacks_packages;", "p->session.is_enough = false;", ("tests/loader/test_one_look.py",)),
    Mutation("csrc/gpu/pci_bus.c", 'strcmp(rsdk_path_name(driver), "amdgpu") != 0', "false", ("tests/gpu/test_health.py",)),
    # reading ahead
    Mutation(_NEXT_FILES, "next->given < RSDK_NEXT_FILES", "next->given <= RSDK_NEXT_FILES", ("test_next_files",)),
    Mutation(_NEXT_FILES, "while (sem_wait(&next->waiting) != 0) {\n        }", "(void)sem_wait(&next->waiting);", ("test_next_files",)),
    Mutation(_NEXT_FILES, "if (place < RSDK_NEXT_FILES) {", "if (place < RSDK_NEXT_FILES && next == NULL) {", ("test_next_files",)),
    Mutation("csrc/elf/elf_ahead.c", "(size - header->e_phoff) / sizeof", "size / sizeof", ("test_elf_ahead",)),
    Mutation("csrc/elf/elf_ahead.c", "header->e_phoff > size || ", "", ("test_elf_ahead",)),
    Mutation("csrc/elf/elf_ahead.c", " || header->e_phoff % _Alignof(ElfW(Phdr)) != 0", "", ("test_elf_ahead",)),
    Mutation(_READER, "(void)close(before);", "(void)before;", ("test_cold_files",)),
    Mutation(_READER, "taken >= COLD && taken >= reader->first_time / 2", "taken >= COLD", ("test_cold_files",)),
    Mutation(_READER, "taken >= COLD && taken >= reader->first_time / 2", "taken >= reader->first_time / 2", ("test_cold_files",)),
    Mutation(_READER, "SLOW_FILES = 2,", "SLOW_FILES = 1,", ("test_cold_files",)),
    Mutation(_READER, "SLOW = 300000,", "SLOW = 290000,", ("test_cold_files",)),
    Mutation("csrc/loader/page_list.c", "at[1] >= '0' && at[1] <= '9'", "at[1] > '0' && at[1] <= '9'", ("test_page_list",)),
    Mutation("csrc/loader/page_list.c", "at[1] >= '0' && at[1] <= '9'", "at[1] >= '0' && at[1] < '9'", ("test_page_list",)),
    Mutation("csrc/loader/page_recorder.c", "GAP_LIMIT = 8,", "GAP_LIMIT = 1,", ("test_page_recorder",)),
    Mutation("csrc/loader/page_recorder.c", "GAP_LIMIT = 8,", "GAP_LIMIT = 9,", ("test_page_recorder",)),

    # fixes that are tried, and what explains a failure
    Mutation("rocm_sdk/doctor/proving/keeper.py", '_set_read_only("/", _AT_RECURSIVE,', '_set_read_only("/", 0,', (f"{_TRIED}::test_other_file_systems_cannot_be_changed",)),
    Mutation("rocm_sdk/doctor/proving/fixes.py", "if worse := sorted(after.problems - before.problems):", "if worse := []:", (f"{_TRIED}::test_what_leaves_another_problem_is_no_fix",)),
    Mutation("rocm_sdk/doctor/proving/fixes.py", "return told, _loss(before, after) is not None", "return told, _loss(before, after) is None", (f"{_TRIED}::test_a_fix_that_helps_is_shown_when_it_was_tried",)),
    Mutation("rocm_sdk/doctor/proving/fixes.py", 'a copy may take {needed}", False', 'a copy may take {needed}", True', (f"{_TRIED}::test_without_room_a_fix_is_shown_untried",)),
    Mutation("rocm_sdk/doctor/proving/copies.py", 'startswith(f"{site}/")', 'startswith(f"{site}")', (f"{_TRIED}::test_nothing_is_changed_outside",)),
    Mutation("rocm_sdk/doctor/causes/finding.py", " and not (is_same and rank(found) < rank(fault))", "",
             ("tests/situations/test_situations.py::test_one_problem_with_its_cause_and_a_fix_that_works[a library of the package needs what no library has]",)),
    Mutation("rocm_sdk/doctor/causes/comparing.py", "self._left is not None and size > self._left", "False", (f"{_CAUSES}::test_how_much_is_compared",)),
    Mutation("rocm_sdk/doctor/causes/comparing.py", "size > self._left", "size >= self._left", (f"{_CAUSES}::test_how_much_is_compared",)),
    Mutation("rocm_sdk/gpu_support/ask_comgr.py", "own and not unfit", "own", ("tests/cli/test_check_gpu.py::test_unofficial_code_is_said_to_be",)),
    Mutation("rocm_sdk/terminal/progress.py", "_open[-1:] != [self]", "not _open", ("tests/cli/test_progress.py::test_the_innermost_is_shown_until_it_ends",)),
    Mutation("rocm_sdk/terminal/progress.py", "done if self.total is None else min(done, self.total)", "done", ("tests/cli/test_progress.py::test_no_more_is_done_than_there_is_to_do",)),

    # which releases files fit, and which of several libraries is loaded
    Mutation("csrc/sdk/built_for.c", "last = {7, 14}", "last = {7, 13}", ("test_names_of_files",)),
    Mutation("csrc/sdk/built_for.c", "is_empty(files->all) ? files->hip : files->all", "files->all", ("test_names_of_files",)),
    Mutation("csrc/sdk/built_for.c", "files->is_newer |= newest", "files->is_newer &= newest", ("test_names_of_files",)),
    Mutation("csrc/sdk/built_for.c", "compare(number, last) > 0 && compare", "compare(number, last) < 0 && compare", ("test_names_of_files",)),
    Mutation("csrc/loader/other_release.c", "found->others.list.count > 0 || is_apart(found)", "found->others.list.count > 0", ("test_host_check",)),
    Mutation("csrc/loader/host_check.c", "if (need->place != RSDK_PLACE_BUNDLED) {", "if (true) {", ("test_host_check",)),
    Mutation("csrc/loader/variants.c", "of->count < 2 || !of->has_rocm || of->is_needed", "of->count < 2 || !of->has_rocm", _RELEASES),
    Mutation("csrc/loader/variants.c", "if (at > name && !is_letter_or_digit(at[-1]) && !is_letter_or_digit(**end)) {", "if (at > name && !is_letter_or_digit(**end)) {", _RELEASES),
    Mutation("rocm_sdk/doctor/verdicts/variants.py", "if has_sdk and loading:", "if has_sdk:", _RELEASES),
    Mutation("rocm_sdk/doctor/verdicts/missing.py", "elif _is_known(facts) or not may_be_of_others:", "else:", _RELEASES),
    Mutation("rocm_sdk/doctor/verdicts/wheel_releases.py", "if one.last and other.first > one.last:", "if one.last and other.first < one.last:", ("tests/installing/test_wheel_releases.py",)),
    Mutation("rocm_sdk/doctor/verdicts/wheel_releases.py", "(label := _label_of(os.path.basename(wheel))) and _is_in(label, both)", "(label := _label_of(os.path.basename(wheel)))", ("tests/installing/test_wheel_releases.py",)),
)
# fmt: on


# The modules in which a silent fault hurts, and the tests that should notice one, quick ones first.
MODULES: dict[str, tuple[str, ...]] = {
    "rocm_sdk/devel/archive_rules.py": ("tests/devel/test_archive_rules.py", "tests/devel/test_hostile_archives.py"),
    "rocm_sdk/devel/archive.py": ("tests/devel/test_hostile_archives.py", "tests/devel/test_extraction.py"),
    "rocm_sdk/devel/device_links.py": ("tests/devel/test_device_links.py", "tests/devel/test_hostile_notes.py", *_ORDER),
    "rocm_sdk/devel/store.py": ("tests/devel/test_store.py", "tests/devel/test_hostile_stores.py", "tests/devel/test_foreign_directories.py"),
    "rocm_sdk/devel/store_directory.py": ("tests/devel/test_store.py", "tests/devel/test_foreign_directories.py", "tests/devel/test_hostile_stores.py", *_ORDER),
    "rocm_sdk/devel/tree_list.py": ("tests/devel/test_hostile_stores.py",),
    "rocm_sdk/devel/lock.py": _LOCK,
    "rocm_sdk/devel/link_file.py": ("tests/devel/test_device_links.py", "tests/devel/test_extraction.py", "tests/devel/test_overlay.py"),
    "rocm_sdk/devel/write_tree.py": ("tests/devel/test_extraction.py", "tests/devel/test_verify.py", "tests/devel/test_refusals.py"),
    "rocm_sdk/devel/replace.py": (*_ORDER, "tests/devel/test_leftovers.py", "tests/devel/test_extraction.py", "tests/devel/test_overlay.py"),
    "rocm_sdk/base/removing.py": ("tests/devel/test_leftovers.py",),
    "rocm_sdk/devel/manifest.py": ("tests/devel/test_verify.py", "tests/devel/test_hostile_notes.py"),
    "rocm_sdk/base/inside.py": ("tests/devel/test_inside.py", "tests/devel/test_hostile_notes.py"),
    "rocm_sdk/adoption/adopt.py": ("tests/adoption/test_adoption.py", "tests/adoption/test_hostile_names.py", *_ADOPT),
    "csrc/loader/linker_search.c": ("test_linker_search", "test_plan", "test_load_failures", "test_binding", "test_out_of_memory"),
    "csrc/loader/preloader.c": ("test_preload", "test_loaded_before", "test_load_failures", "test_binding", "test_out_of_memory"),
    **dict.fromkeys(("csrc/elf/elf_file.c", "csrc/elf/elf_names.c"), ("test_elf_file", "test_damaged_elf_file", "test_plan", "test_out_of_memory", "test_reading_out_of_memory", "tests/loader/test_inspect.py")),
    "csrc/loader/next_files.c": ("test_next_files", "test_read_ahead"),
    "csrc/elf/elf_ahead.c": ("test_elf_ahead", "test_read_ahead"),
    "csrc/loader/page_list.c": ("test_page_list", "test_page_recorder"),
    "csrc/loader/page_reader.c": ("test_cold_files", "test_read_ahead"),
    "csrc/loader/page_recorder.c": ("test_page_recorder", "test_read_ahead", "tests/loader/test_page_list.py"),
    "csrc/sdk/built_for.c": ("test_names_of_files",),
    "csrc/elf/elf_layout.c": ("test_elf_layout", "test_elf_file", "test_damaged_elf_file"),
    "csrc/elf/elf_sections.c": ("test_elf_sections", "test_elf_file", "test_damaged_elf_file", "test_out_of_memory", "test_reading_out_of_memory"),
    "csrc/diagnosis/problem.c": ("test_problem", "test_tables", "test_load_failures", "test_out_of_memory"),
    "csrc/diagnosis/system.c": ("test_system",),
    "csrc/sdk/record.c": ("test_record", "test_out_of_memory"),
    "csrc/gpu/visibility.c": ("test_gpu_visibility", "test_gpu_list", "test_gpu_overrides", "tests/gpu/test_visibility_property.py"),
    "csrc/diagnosis/cause.c": ("test_load_failures", "test_problem", "test_out_of_memory"),
    "csrc/diagnosis/finding.c": ("test_problem", "test_load_failures", "test_out_of_memory"),
    "csrc/diagnosis/host_package.c": ("test_load_failures",),
    "csrc/diagnosis/index_choice.c": ("test_problem",),
    "csrc/diagnosis/load_failure.c": ("test_load_failures", "test_out_of_memory"),
    **dict.fromkeys((f"csrc/device_code/{name}.c" for name in ("bundle", "decompression", "entry_id", "extent", "code_object")), _CONTAINERS),
    **dict.fromkeys((f"csrc/device_code/{name}.c" for name in ("host_elf", "fat_binary", "offload_binary", "static_archive", "kpack", "device_code", "listing",
                                                              "message_pack")), _CONTAINERS[::-1]),
    **dict.fromkeys((f"csrc/device_code/{name}.c" for name in ("fits", "code_files", "archive_search", "kernel_reference", "target_sums")),
                    (_COVERAGE, *_CONTAINERS)),
    **dict.fromkeys((f"csrc/device_code/{name}.c" for name in ("code_survey", "coverage", "coverage_verdict", "table_survey")),
                    (_COVERAGE, "tests/cli/test_check_gpu.py", "tests/failures/test_kernel_table_missing.py")),
    **dict.fromkeys(("csrc/device_code/kernels.c", "csrc/base/md5.c"), _KERNELS),
    "csrc/device_code/file_target.c": ("test_names_of_files", "tests/device_code/test_target_in_name.py", _COVERAGE),
    **dict.fromkeys((f"{_CODE}/{name}.py" for name in ("choice", "compressing", "copying", "elf64", "extract", "header_room", "host_file", "layout", "loading",
                                                      "new_bundles", "new_note", "owners", "rewrite", "tables", "trees", "verification", "wrappers")),
                    ("tests/rewriting/test_containers.py", "tests/rewriting/test_libraries.py", "tests/rewriting/test_refusals.py", "tests/rewriting")),
    f"{_CODE}/kpack.py": ("tests/rewriting/test_kpack.py", *_KPACK_CHECKS, "tests/rewriting/test_split.py"),
    f"{_CODE}/split.py": ("tests/rewriting/test_split.py", "tests/rewriting/test_outputs.py"),
    f"{_CODE}/retarget.py": ("tests/rewriting/test_retargeting.py",),
    **dict.fromkeys((f"{_CODE}/{name}.py" for name in ("executable_stack", "installed_stack", "stack_decision")),
                    ("tests/rewriting/test_executable_stack.py", "tests/builder/test_executable_stack.py", "tests/rewriting/test_outputs.py")),
    **dict.fromkeys((f"{_CODE}/{name}.py" for name in ("dlopen_dependencies", "dynamic_section", "patchelf", "search_path", "sparse_copy")),
                    ("tests/builder/test_sparse_copy.py", "tests/builder/test_reading_elf.py", "tests/builder/test_artifacts.py", "tests/builder/test_artifact_search_paths.py", "tests/builder/test_debian.py")),
    **dict.fromkeys(("rocm_sdk/base/scratch.py", *(f"{_FILES}/{name}.py" for name in ("new_file", "input_file", "members"))),
                    ("tests/rewriting/test_outputs.py", "tests/rewriting/test_sync.py", "tests/rewriting/test_trees.py", "tests/builder/test_wheels.py",
                     "tests/builder/test_finished.py")),
    **dict.fromkeys((f"{_FILES}/{name}.py" for name in ("deflate", "digest", "rest", "source_date", "tree_order", "wheels", "zip_writer")),
                    ("tests/builder/test_deflate.py", "tests/builder/test_wheels.py", "tests/builder/test_sparse_copy.py", "tests/builder/test_artifacts.py")),
    f"{_FILES}/own_directory.py": ("tests/builder/test_hostile_caches.py", "tests/builder/test_finished.py", "tests/builder/test_index.py"),
    f"{_INPUTS}/archives.py": ("tests/builder/test_archives.py", "tests/builder/test_hostile_caches.py"),
    **dict.fromkeys((f"{_INPUTS}/download.py", _WEB), ("tests/builder/test_download.py", *_BROKEN, *_SERVERS)),
    **dict.fromkeys((f"{_INPUTS}/{name}.py" for name in ("catalog", "file_kind", "globs", "offload_targets", "rules")),
                    ("tests/builder/test_reading_elf.py", "tests/builder/test_archives.py", "tests/builder/test_bad_artifacts.py", "tests/builder/test_artifacts.py")),
    **dict.fromkeys((f"{_INPUTS}/{name}.py" for name in ("data_files", "data_selection", "kernel_indexes")),
                    ("tests/builder/test_data_files.py", "tests/rewriting/test_data_of_trees.py")),
    **dict.fromkeys((f"{_INPUTS}/{name}.py" for name in ("apt", "debian_packages")), ("tests/builder/test_debian.py", "tests/builder/test_suites.py")),
    **dict.fromkeys((f"{_INPUTS}/prefix/{name}.py" for name in ("classification", "code_split", "document_owners", "file_list", "host_libraries", "layout", "roots",
                                                               "target_code", "tree")), ("tests/builder/test_prefix.py", "tests/builder/test_prefix_code.py", "tests/builder/test_prefix_refusals.py", "tests/builder/test_finished.py")),
    **dict.fromkeys((f"{_CLOSURE}/{name}.py" for name in ("choosing/libraries", "choosing/roots", "choosing/selection", "choosing/tools", "closure", "disk_use",
                                                    "in_place/environment", "installation", "telling/page", "telling/report", "writing/commands", "writing/metadata")),
                    ("tests/closure/test_closure.py", "tests/closure/test_metadata.py", "tests/closure/test_data.py")),
    **dict.fromkeys((f"{_CLOSURE}/{name}.py" for name in ("in_place/also", "in_place/changes", "in_place/journal", "in_place/new_site", "in_place/pruning", "writing/site")),
                    ("tests/closure/test_in_place.py", "tests/closure/test_in_place_limits.py", "tests/closure/test_in_place_killed.py")),
    **dict.fromkeys((f"{_CLOSURE}/{name}.py" for name in ("choosing/proof_choice", "proving/application", "proving/confinement", "proving/host_files", "proving/namespaces", "proving/program",
                                                    "proving/proof", "proving/root")),
                    ("tests/closure/test_closure.py", "tests/closure/test_proof_hostile.py", "tests/closure/test_proof_rights.py")),
    f"{_CLOSURE}/choosing/trace.py": ("tests/closure/test_trace.py",),
    **dict.fromkeys((f"{_CLOSURE}/writing/forms/{name}.py" for name in ("containers", "images", "programs", "table", "tree", "wheels")),
                    ("tests/closure/test_forms.py", "tests/closure/test_containers.py", "tests/closure/test_images.py")),
    **dict.fromkeys((f"rocm_sdk/doctor/verdicts/{name}.py" for name in ("device_packages", "host", "judge", "miopen_caches", "requirements", "subject", "tags", "wheel")),
                    ("tests/cli/test_check.py", "tests/cli/test_check_scratch.py", "tests/cli/test_check_gpu.py")),
    **dict.fromkeys((f"rocm_sdk/doctor/causes/{name}.py" for name in ("comparing", "finding", "following", "grouping", "looking", "trying")),
                    (_CAUSES, "tests/selftest/test_command.py", "tests/situations/test_situations.py")),
    **dict.fromkeys((f"rocm_sdk/doctor/proving/{name}.py" for name in ("copies", "fixes", "keeper", "places")), (_TRIED,)),
    **dict.fromkeys((f"rocm_sdk/installing/{name}.py" for name in ("asking", "choice", "destination", "forms", "gpu_choice", "gpu_packages", "request")),
                    ("tests/installing/test_install.py", "tests/installing/test_which_gpu.py")),
    "rocm_sdk/installing/explaining.py": ("tests/installing/test_network.py",),
    **dict.fromkeys(("rocm_sdk/installing/offered_code.py", "rocm_sdk/web/source_archives.py"), ("tests/installing/test_offered_code.py",)),
    "rocm_sdk/base/starting.py": ("tests/test_hostile_directory.py", "tests/cli/test_run.py"),
    **dict.fromkeys((f"rocm_sdk/web/{name}.py" for name in ("links", "remote_file", "simple_index", "wheels")),
                    ("tests/selftest/test_index.py", "tests/selftest/test_hostile_index.py")),
    **dict.fromkeys((f"rocm_sdk/doctor/nodes/{name}.py" for name in ("comparison", "facts", "host_list", "page", "reading")),
                    ("tests/selftest/test_nodes.py",)),
    **dict.fromkeys((*(f"rocm_sdk/doctor/prefixes/{name}.py" for name in ("cmake", "compiler", "links", "programs", "search", "texts", "versions")),
                     "rocm_sdk/installed/prefix.py", "rocm_sdk/installed/prefix_versions.py"),
                    ("tests/selftest/test_prefix.py", "tests/selftest/test_prefix_faults.py", "tests/selftest/test_prefix_cmake.py")),
    **dict.fromkeys((f"csrc/loader/{name}.c" for name in ("binding_verdict", "bindings", "symbol_lookup")),
                    ("test_binding", "tests/failures/test_same_function.py", "tests/loader/test_bindings.py")),
    "csrc/gpu/device_checks.c": ("tests/gpu/test_health.py",),
    "csrc/gpu/version_checks.c": ("tests/gpu/test_health.py",),
    "csrc/gpu/gpu_choice.c": ("tests/gpu/test_gpu_choice.py",),
    "csrc/device_code/kernel_database.c": ("tests/device_code/test_kernel_tables.py",),
}  # fmt: skip
