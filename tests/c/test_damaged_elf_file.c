/* No damaged library, none whose headers lie elsewhere and none that shrinks gives the ELF reader more than an error.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "changed_library.h"
#include "file_damages.h"
#include "suite.h"

static void every_truncation_is_an_error_or_harmless(void **state) {
    changed_library *f = *state;
    for (size_t size = 0; size < f->library.size; size += 64) {
        f->changed.size = size;
        rsdk_status status = read_changed(f);
        if (status == RSDK_OK) { /* only sections are cut off */
            assert_string_equal(f->file.soname, "libx.so.1");
            assert_int_equal(f->file.needed.count, 2);
        } else {
            assert_int_equal(status, RSDK_BAD_ELF);
            assert_message(f, "changed.so");
        }
    }
}

static void every_changed_byte_of_the_tables_is_survived(void **state) {
    changed_library *f = *state;
    const Elf64_Phdr *place = segment(f, PT_DYNAMIC);
    size_t first = place->p_offset, end = first + place->p_filesz;
    for (size_t i = 0; i < end; i = i == 1023 ? first : i + 1) { /* headers, then the dynamic section */
        for (unsigned flip = 0; flip < 2; flip++) {
            f->changed.bytes[i] = flip == 0 ? 0xFF : (unsigned char)(f->library.bytes[i] ^ 1U);
            rsdk_status status = read_changed(f);
            assert_true(status == RSDK_OK || status == RSDK_BAD_ELF);
            rsdk_arena_clear(&f->arena);
        }
        f->changed.bytes[i] = f->library.bytes[i];
    }
}

static void contradictions_are_named(void **state) {
    changed_library *f = *state;
    segment(f, PT_LOAD)->p_filesz = 1U << 30;
    assert_damaged(f, "truncated: a segment of 1073741824 bytes");
    f->changed = f->library;
    segment(f, PT_LOAD)->p_offset = UINT64_MAX - 8;
    assert_damaged(f, "truncated: a segment");
    f->changed = f->library;
    segment(f, PT_DYNAMIC)->p_offset = f->changed.size - 1;
    assert_damaged(f, "the dynamic section lies outside the file");
    f->changed = f->library;
    dynamic(f, DT_STRTAB)->d_un.d_val = UINT64_MAX - 4;
    assert_damaged(f, "the string table lies outside the file");
    f->changed = f->library;
    dynamic(f, DT_STRSZ)->d_un.d_val = UINT64_MAX;
    assert_damaged(f, "the string table lies outside the file");
    f->changed = f->library;
    dynamic(f, DT_SONAME)->d_un.d_val = 1U << 20;
    assert_damaged(f, "a name lies outside the string table");
    f->changed = f->library;
    dynamic(f, DT_VERNEED)->d_un.d_val = UINT64_MAX - 4;
    assert_damaged(f, "the version needs lie outside the file");
    f->changed = f->library;
    header(f)->e_phoff = f->changed.size - 8;
    assert_damaged(f, "");
}

/* Tools that need room for more program headers move the table, to the file's end or anywhere. The linker loads such a
 * file, and so it is read. */
static void program_headers_may_lie_anywhere(void **state) {
    static const uint64_t offsets[] = {5000, (2U << 20) + 8};
    changed_library *f = *state;
    const char *path = sample_path(&f->site, "moved.so");
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        f->changed = f->library;
        uint64_t before = header(f)->e_phoff, size = header(f)->e_phnum * sizeof(Elf64_Phdr);
        uint64_t offset = f->changed.size + offsets[i];
        header(f)->e_phoff = offset;
        FILE *stream = fopen(path, "wb");
        assert_non_null(stream);
        assert_int_equal(fwrite(f->changed.bytes, 1, f->changed.size, stream), f->changed.size);
        assert_int_equal(fseek(stream, (long)offset, SEEK_SET), 0);
        assert_int_equal(fwrite(f->library.bytes + before, 1, size, stream), size);
        assert_int_equal(fclose(stream), 0);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* needs a library that lies elsewhere */
        assert_true(handle != NULL || strstr(dlerror(), "libb.so") != NULL);
        assert_int_equal(read_path(f, path), RSDK_OK);
        assert_string_equal(f->file.soname, "libx.so.1");
        rsdk_elf_damages damages = {0};
        assert_int_equal(find_damages(path, &f->arena, &damages), RSDK_OK);
        assert_int_equal(truncate(path, (off_t)(offset + size - 1)), 0);
        assert_int_equal(read_path(f, path), RSDK_BAD_ELF);
        assert_message(f, "unreadable program headers");
    }
    f->changed = f->library;
    header(f)->e_phentsize += 8;
    assert_damaged(f, "unreadable program headers");
}

/* A dynamic section of a MiB is read, a longer one is refused. */
static void dynamic_section_as_long_as_a_library_has(void **state) {
    enum { DYNAMIC_LIMIT = 1 << 20 };
    changed_library *f = *state;
    const char *path = sample_path(&f->site, "changed.so");
    Elf64_Phdr *place = segment(f, PT_DYNAMIC);
    size_t size = place->p_filesz;
    assert_true(f->changed.size + size <= IMAGE_LIMIT);
    memcpy(f->changed.bytes + f->changed.size, f->changed.bytes + place->p_offset, size);
    place->p_offset = f->changed.size;
    f->changed.size += size;
    for (size_t more = 0; more < 2; more++) {
        place->p_filesz = DYNAMIC_LIMIT + more;
        assert_int_equal(read_changed(f), RSDK_BAD_ELF); /* its end is missing yet */
        assert_int_equal(truncate(path, (off_t)(place->p_offset + DYNAMIC_LIMIT + 1)), 0);
        assert_int_equal(read_path(f, path), more == 0 ? RSDK_OK : RSDK_BAD_ELF);
    }
}

/* Every DT_NEEDED entry may name the same long string: what is kept must not grow beyond all bounds. */
static void repeated_long_names_are_refused(void **state) {
    changed_library *f = *state;
    enum { ENTRIES = 4000, LONG = 60000, STRINGS = 4096 + 16 * (ENTRIES + 4) };
    Elf64_Ehdr head = *header(f);
    head.e_phoff = sizeof head;
    head.e_phnum = 2;
    f->changed.size = STRINGS + LONG;
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_filesz = f->changed.size, .p_memsz = f->changed.size},
        {.p_type = PT_DYNAMIC, .p_offset = 4096, .p_filesz = 16 * (ENTRIES + 4)},
    };
    Elf64_Dyn *entries = (Elf64_Dyn *)(void *)(f->changed.bytes + 4096);
    assert_true(f->changed.size < IMAGE_LIMIT);
    memset(f->changed.bytes, 'x', IMAGE_LIMIT);
    memcpy(f->changed.bytes, &head, sizeof head);
    memcpy(f->changed.bytes + sizeof head, segments, sizeof segments);
    memset(entries, 0, 16 * (ENTRIES + 4));
    entries[0] = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_val = STRINGS};
    entries[1] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = LONG};
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i + 2].d_tag = DT_NEEDED;
    }
    f->changed.bytes[STRINGS + LONG - 1] = '\0';
    assert_damaged(f, "names are longer than in any library");
}

/* Another process cuts the file off and restores it all the time. */
static void disturb(changed_library *f, const char *path) {
    for (;;) {
        (void)truncate(path, 100);
        (void)truncate(path, 0);
        int descriptor = open(path, O_WRONLY);
        (void)!write(descriptor, f->library.bytes, f->library.size);
        (void)close(descriptor);
    }
}

static void file_that_shrinks_while_it_is_read_is_an_error(void **state) {
    changed_library *f = *state;
    const char *path = sample_path(&f->site, "unsteady.so");
    unsigned good = 0, bad = 0;
    sample_file(&f->site, "unsteady.so", "");
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(30);
        disturb(f, path);
    }
    for (time_t end = time(NULL) + 5; time(NULL) < end && (good < 100 || bad < 100);) {
        rsdk_status status = read_path(f, path);
        assert_true(status == RSDK_OK || status == RSDK_BAD_ELF || status == RSDK_IO_ERROR);
        good += status == RSDK_OK;
        bad += status != RSDK_OK;
        rsdk_arena_clear(&f->arena);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(bad > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, changed_library_start, changed_library_clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_truncation_is_an_error_or_harmless),
        TEST(every_changed_byte_of_the_tables_is_survived),
        TEST(contradictions_are_named),
        TEST(program_headers_may_lie_anywhere),
        TEST(dynamic_section_as_long_as_a_library_has),
        TEST(repeated_long_names_are_refused),
        TEST(file_that_shrinks_while_it_is_read_is_an_error),
    };
    return cmocka_run_group_tests(tests, changed_library_make, changed_library_remove);
}
