#include "changed_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem_text.h"
#include "suite.h"

int changed_library_make(void **state) {
    changed_library *f = calloc(1, sizeof *f);
    assert_non_null(f);
    *state = f;
    f->site = sample_site_new();
    sample_compile(&f->site, &(sample_library){.file = "libb.so", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libx.so.1",
                                               .source = "#include <stdio.h>\nvoid f(void) { puts(\"\"); }",
                                               .needs = CORE_LIB "/libb.so",
                                               .options = "-Wl,-z,noexecstack"});
    FILE *stream = fopen(sample_path(&f->site, CORE_LIB "/libx.so.1"), "rb");
    assert_non_null(stream);
    f->library.size = fread(f->library.bytes, 1, IMAGE_LIMIT, stream);
    assert_true(f->library.size > sizeof(Elf64_Ehdr) && f->library.size < IMAGE_LIMIT);
    return fclose(stream);
}

int changed_library_remove(void **state) {
    changed_library *f = *state;
    sample_site_remove(&f->site);
    free(f);
    return 0;
}

int changed_library_start(void **state) {
    changed_library *f = *state;
    f->changed = f->library;
    return 0;
}

int changed_library_clear(void **state) {
    changed_library *f = *state;
    rsdk_arena_clear(&f->arena);
    rsdk_error_clear(&f->error);
    return 0;
}

rsdk_status read_path(changed_library *f, const char *path) {
    rsdk_error_clear(&f->error);
    return rsdk_elf_file_read_with_versions(path, &f->arena, &f->file, &f->error);
}

rsdk_status read_changed(changed_library *f) {
    const char *path = sample_path(&f->site, "changed.so");
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(f->changed.bytes, 1, f->changed.size, stream), f->changed.size);
    assert_int_equal(fclose(stream), 0);
    return read_path(f, path);
}

void assert_message(const changed_library *f, const char *part) {
    assert_non_null(f->error.message);
    if (strstr(f->error.message, part) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", part, f->error.message);
    }
}

void assert_damaged(changed_library *f, const char *part) {
    assert_int_equal(read_changed(f), RSDK_BAD_ELF);
    assert_message(f, sample_path(&f->site, "changed.so"));
    assert_message(f, part);
    assert_non_null(strstr(problem_fix_of(&f->error, NULL), " again from where it came"));
}

Elf64_Ehdr *header(changed_library *f) {
    return (Elf64_Ehdr *)(void *)f->changed.bytes;
}

Elf64_Phdr *segment(changed_library *f, unsigned type) {
    Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(f->changed.bytes + header(f)->e_phoff);
    for (unsigned i = 0; i < header(f)->e_phnum; i++) {
        if (segments[i].p_type == type) {
            return &segments[i];
        }
    }
    fail_msg("no segment of type %u", type);
    return NULL;
}

Elf64_Dyn *dynamic(changed_library *f, int64_t tag) {
    Elf64_Dyn *entry = (Elf64_Dyn *)(void *)(f->changed.bytes + segment(f, PT_DYNAMIC)->p_offset);
    while (entry->d_tag != tag && entry->d_tag != DT_NULL) {
        entry++;
    }
    assert_int_equal(entry->d_tag, tag);
    return entry;
}
