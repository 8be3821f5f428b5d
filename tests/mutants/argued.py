"""Generated mutations that change nothing that a test could see."""

from __future__ import annotations

# (file, line before, line after) -> why
# fmt: off
ARGUED: dict[tuple[str, str, str], str] = {
    ("rocm_sdk/devel/archive.py", "_BUFFER = 1 << 20", "_BUFFER = 1 << 21"): "the size of a buffer",
    ("rocm_sdk/devel/archive.py", "if size > _LONGEST_HEADER:", "if size >= _LONGEST_HEADER:"): "no header is near that long",
    ("rocm_sdk/devel/archive.py", "_LONGEST_HEADER = 1 << 20", "_LONGEST_HEADER = 2 << 20"): "no header is near that long",
    ("rocm_sdk/base/zstd.py", 'ZSTD_MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"',
     'ZSTD_MODULE = "compression.zstd" if sys.version_info > (3, 14) else "backports.zstd"'): "a version has more than two parts",
    ("rocm_sdk/devel/link_file.py", "shutil.copyfileobj(original, copy, 1 << 20)", "shutil.copyfileobj(original, copy, 2 << 20)"):
        "the size of a buffer",
    ("csrc/gpu/visibility.c", "is_too_large |= *index >= count;", "is_too_large |= *index > count;"): "the return statement asks again",
    ("rocm_sdk/devel/tree_list.py", "header.mode = 0o755 if is_program else 0o644", "header.mode = 494 if is_program else 0o644"):
        "any bit that makes it a program",
    ("csrc/elf/elf_file.c", "size_t size = r->head_size < sizeof(Elf64_Ehdr) ? r->head_size : sizeof(Elf64_Ehdr);",
     "size_t size = r->head_size <= sizeof(Elf64_Ehdr) ? r->head_size : sizeof(Elf64_Ehdr);"): "the minimum of two numbers",
    ("csrc/elf/elf_file.c", "if (size < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0) {",
     "if (size < SELFMAG && memcmp(head, ELFMAG, SELFMAG) != 0) {"): "read_with asks libelf, and refuses with the same words",
    ("csrc/elf/elf_file.c", "} else if (head[EI_CLASS] == ELFCLASS32 && size >= sizeof(Elf32_Ehdr)) {",
     "} else if (head[EI_CLASS] == ELFCLASS32 && size > sizeof(Elf32_Ehdr)) {"):
        "a file that ends with its header has nothing to load, and libelf takes it whatever it says of sections",
    ("csrc/elf/elf_layout.c", "if (align > 1 && ((align & (align - 1)) != 0 || (segment->p_vaddr - segment->p_offset) % align != 0)) {",
     "if (align >= 1 && ((align & (align - 1)) != 0 || (segment->p_vaddr - segment->p_offset) % align != 0)) {"):
        "1 divides every address, and 1 & 0 is 0",
    ("csrc/elf/elf_layout.c", "for (size_t i = 0; i < l->count; i++) {", "for (size_t i = 0; i <= l->count; i++) {"):
        "of load_of: the segments are allocated with one more, whose type is PT_NULL (in the checks it is killed)",
    ("csrc/loader/preloader.c", "for (size_t number = 0; number < step->members.count; number++) {",
     "for (size_t number = 0; number <= step->members.count; number++) {"):
        "the groups are allocated with one more than there are nodes; an empty group is left alone",
    ("csrc/loader/preloader.c", "return false;", "return true;"): "the last of open_members: no outcome is left (elsewhere it is killed)",
    ("csrc/loader/preloader.c", "bool *members = rsdk_arena_alloc(arena_of(p), count + 1, sizeof *members);",
     "bool *members = rsdk_arena_alloc(arena_of(p), count, sizeof *members);"):
        "indices are those of nodes, less than the count, and a step has a node",
    ("csrc/gpu/visibility.c", "return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;", "return c >= 'a' && c < 'z' ? c - 'a' + 'A' : c;"):
        "neither a number nor a UUID has a Z",
    ("csrc/gpu/visibility.c", "return is_too_large || *index >= count ? RSDK_TOKEN_OUT_OF_RANGE : RSDK_TOKEN_GOOD;",
     "return is_too_large || *index > count ? RSDK_TOKEN_OUT_OF_RANGE : RSDK_TOKEN_GOOD;"):
        "the token is not empty, so the loop has asked",
    ("csrc/gpu/visibility.c", "bool is_negative = at < t.end && *at == '-';",
     "bool is_negative = at <= t.end && *at == '-';"): "rocr_device has refused the empty token",
    ("csrc/loader/linker_search.c", "if (start != NULL && size - (size_t)(start - bytes) >= sizeof(cache_header)) {",
     "if (start != NULL && size - (size_t)(start - bytes) > sizeof(cache_header)) {"): "a cache of a header alone has no entries",
    ("csrc/device_code/extent.c", "uint64_t left = offset < extent->size ? extent->size - offset : 0;",
     "uint64_t left = offset <= extent->size ? extent->size - offset : 0;"): "their difference is 0",
    ("csrc/device_code/extent.c", "*got = left < size ? (size_t)left : size;", "*got = left <= size ? (size_t)left : size;"): "the minimum of two numbers",
    ("rocm_sdk/fit/verdicts/miopen_caches.py", "TYPE_CHECKING = False", "TYPE_CHECKING = True"):
        "what is imported for type checkers is there",
    ("rocm_sdk/doctor/nodes/comparison.py", "values = dict(islice(_values(report.document), _FACTS + 1))",
     "values = dict(islice(_values(report.document), _FACTS + 2))"): "one fact more than is compared shows that there are more",
    ("rocm_sdk/doctor/nodes/facts.py", "_RECORD_LIMIT = 1 << 28", "_RECORD_LIMIT = 1 << 29"): "a limit for files without end; twice as much is one, too",
    ("rocm_sdk/doctor/nodes/host_list.py", "if not first <= last < first + _LIMIT:", "if not first <= last <= first + _LIMIT:"):
        "the number of names has the same limit",
    ("rocm_sdk/doctor/nodes/reading.py", "total += size if size <= REPORT_LIMIT else 0", "total += size if size <= REPORT_LIMIT else 1"):
        "a byte for a report that is refused",
}
# fmt: on
