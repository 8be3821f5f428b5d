/* The search for what is outside the SDK: wherever our answer can be compared with the linker's own, it is. */
#include "elf/elf_machine.h"
#include "loader/linker_search.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_process.h"
#include "sample_sdk.h"
#include "suite.h"

enum { CHAIN_LIMIT = 4 };

typedef struct fixture {
    rsdk_arena arena;
    rsdk_linker_search search;
} fixture;

static int start(void **state) {
    fixture *f = calloc(1, sizeof *f);
    rsdk_link_map map;
    assert_non_null(f);
    *state = f;
    return rsdk_link_map_read(&f->arena, &map, NULL) == RSDK_OK &&
                   rsdk_linker_search_init(&f->arena, &map, &f->search, NULL) == RSDK_OK
               ? 0
               : -1;
}

static int clear(void **state) {
    fixture *f = *state;
    rsdk_arena_clear(&f->arena);
    free(f);
    return 0;
}

/* The arguments as an array, and their number. */
#define FILES(...)                                                                                                     \
    (const rsdk_elf_file *[]){__VA_ARGS__}, sizeof((const rsdk_elf_file *[]){__VA_ARGS__}) / sizeof(void *)

/* `chain`: the library that needs `name`, then those that brought it in. */
static const char *find(fixture *f, const rsdk_elf_file *const *chain, size_t count, const char *name) {
    const char *path = NULL;
    rsdk_load_chain links[CHAIN_LIMIT] = {0};
    assert_true(count <= CHAIN_LIMIT);
    for (size_t i = count; i-- > 0;) {
        assert_int_equal(rsdk_linker_search_start_chain(&f->search, chain[i], &links[i], NULL), RSDK_OK);
        rsdk_load_chain_attach(&links[i], i + 1 < count ? &links[i + 1] : NULL);
    }
    assert_int_equal(rsdk_linker_search_find(&f->search, &links[0], name, &path, NULL), RSDK_OK);
    return path;
}

static void host_libraries_are_found_where_the_linker_finds_them(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"libc.so.6", "libm.so.6",     "libelf.so.1",
                                        "libz.so.1", "libgcc_s.so.1", "libstdc++.so.6"};
    const rsdk_elf_file file = {.path = "/nonexistent/libx.so"};
    size_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *handle = dlopen(names[i], RTLD_LAZY);
        struct link_map *object = NULL;
        const char *path = find(f, FILES(&file), names[i]);
        if (handle == NULL) {
            assert_null(path);
            continue;
        }
        assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &object), 0);
        char *real = realpath(object->l_name, NULL), *ours = path != NULL ? realpath(path, NULL) : NULL;
        assert_string_equal(ours, real);
        free(real);
        free(ours);
        found++;
    }
    assert_true(found >= 3);
    assert_null(find(f, FILES(&file), "libnowhere.so.1"));
    assert_string_equal(find(f, FILES(&file), "/proc/self/exe"), "/proc/self/exe");
    assert_null(find(f, FILES(&file), "./nowhere"));
    assert_true(f->search.default_directories.count > 0);
}

static void default_directories_do_without_a_cache(void **state) {
    fixture *f = *state;
    const rsdk_elf_file file = {.path = "/nonexistent/libx.so"};
    rsdk_linker_search_use_cache(&f->search, "", 0);
    const char *path = find(f, FILES(&file), "libc.so.6");
    assert_non_null(path);
    assert_int_equal(access(path, R_OK), 0);
}

static bool takes_all(void *context, const char *path) {
    (void)context;
    (void)path;
    return false;
}

/* A directory is asked for once, however many names are looked for in it. */
static void directories_that_do_not_exist_are_left_out(void **state) {
    fixture *f = *state;
    const rsdk_elf_file file = {.path = "/nonexistent/libx.so", .runpath = "/nonexistent/a:/tmp:$ORIGIN/b:/proc"};
    rsdk_load_chain chain;
    f->search.is_passed_over = takes_all;
    assert_int_equal(rsdk_linker_search_start_chain(&f->search, &file, &chain, NULL), RSDK_OK);
    assert_int_equal(chain.runpath->list.count, 2);
    assert_string_equal(chain.runpath->list.items[0], "/tmp");
    assert_int_equal(chain.runpath->absent.count, 2);
    assert_string_equal(chain.runpath->absent.items[1], "/nonexistent/b");
}

static void the_rule_is_told(void **state) {
    fixture *f = *state;
    const rsdk_elf_file file = {.path = "/nonexistent/libx.so", .runpath = "/proc/self"};
    const struct {
        const char *name;
        rsdk_search_rule rule;
    } cases[] = {{"exe", RSDK_RULE_RUNPATH},
                 {"libc.so.6", RSDK_RULE_SYSTEM},
                 {"/proc/self/exe", RSDK_RULE_PATH},
                 {"libnowhere.so.1", RSDK_RULE_NONE}};
    rsdk_load_chain chain;
    assert_int_equal(rsdk_linker_search_start_chain(&f->search, &file, &chain, NULL), RSDK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = NULL;
        rsdk_search_rule rule = RSDK_RULE_RPATH;
        assert_int_equal(rsdk_linker_search_find_by_rule(&f->search, &chain, cases[i].name, &path, &rule, NULL),
                         RSDK_OK);
        assert_int_equal(rule, cases[i].rule);
        assert_true((path != NULL) == (rule != RSDK_RULE_NONE));
    }
}

/* The linker lists the main program's RPATH first: as many directories as come from it are taken off. */
static void directories_of_the_program_are_taken_off(void **state) {
    fixture *f = *state;
    rsdk_linker_search with_rpath;
    const size_t before = f->search.library_path.count;
    const size_t all = before + f->search.default_directories.count;
    const char *first = before > 0 ? f->search.library_path.items[0] : f->search.default_directories.items[0];
    const rsdk_link_map map = {.program_rpath = first};
    assert_true(all > 1);
    assert_int_equal(rsdk_linker_search_init(&f->arena, &map, &with_rpath, NULL), RSDK_OK);
    assert_int_equal(with_rpath.program_rpath.count, 1);
    assert_string_equal(with_rpath.program_rpath.items[0], first);
    assert_int_equal(with_rpath.library_path.count + with_rpath.default_directories.count, all - 1);
}

/* ---- ld.so.cache ---- */

#if defined(__x86_64__)
enum { OWN_CACHE_FLAGS = 0x0303 };
#else
enum { OWN_CACHE_FLAGS = 0x0a03 };
#endif

/* A cache with two entries, as dl-cache.h lays it out; offsets of texts count from its first byte. */
typedef struct sample_cache {
    char magic[20];
    uint32_t count, unused[6];
    struct {
        int32_t flags;
        uint32_t name, path, os_version;
        uint64_t hwcap;
    } entries[2];
    char texts[64];
} sample_cache;

enum { FIRST_PATH = 0, SECOND_PATH = 16, NAME = 32 }; /* places in `texts` */

static sample_cache cache_with(uint64_t first_hwcap, const char *name) {
    const uint32_t texts = offsetof(sample_cache, texts);
    sample_cache cache = {.count = 2};
    memcpy(cache.magic, "glibc-ld.so.cache1.1", sizeof cache.magic);
    for (size_t i = 0; i < 2; i++) {
        cache.entries[i].flags = OWN_CACHE_FLAGS;
        cache.entries[i].name = texts + NAME;
        cache.entries[i].path = texts + (i == 0 ? FIRST_PATH : SECOND_PATH);
    }
    cache.entries[0].hwcap = first_hwcap;
    (void)strcpy(cache.texts + FIRST_PATH, "/first/lib");
    (void)strcpy(cache.texts + SECOND_PATH, "/second/lib");
    (void)strcpy(cache.texts + NAME, name);
    return cache;
}

static void entries_for_some_processors_are_skipped(void **state) {
    fixture *f = *state;
    const rsdk_elf_file file = {.path = "/nonexistent/libx.so"};
    sample_cache cache = cache_with(0, "libcached.so.1");
    rsdk_linker_search_use_cache(&f->search, (const char *)&cache, sizeof cache);
    assert_string_equal(find(f, FILES(&file), "libcached.so.1"), "/first/lib");
    cache = cache_with(1ULL << 62, "libcached.so.1");
    rsdk_linker_search_use_cache(&f->search, (const char *)&cache, sizeof cache);
    assert_string_equal(find(f, FILES(&file), "libcached.so.1"), "/second/lib");
}

/* The name ends where the file ends: what lies behind it in memory is not part of it. */
static void a_text_that_the_cache_cuts_off_is_none(void **state) {
    fixture *f = *state;
    const rsdk_elf_file file = {.path = "/nonexistent/libx.so"};
    sample_cache cache = cache_with(0, "libcached.so.1");
    size_t size = offsetof(sample_cache, texts) + NAME + strlen("libcached.so.1");
    rsdk_linker_search_use_cache(&f->search, (const char *)&cache, size);
    assert_null(find(f, FILES(&file), "libcached.so.1"));
    rsdk_linker_search_use_cache(&f->search, (const char *)&cache, size + 1);
    assert_string_equal(find(f, FILES(&file), "libcached.so.1"), "/first/lib");
}

static void assert_expanded(fixture *f, const char *rpath, size_t count, const char *const *wanted) {
    rsdk_strings directories = {0};
    assert_int_equal(rsdk_linker_search_expand(&f->arena, rpath, "/site/_rocm/lib/libx.so", &directories, NULL),
                     RSDK_OK);
    assert_int_equal(directories.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true((directories.items[i] == NULL) == (wanted[i] == NULL));
        assert_string_equal(wanted[i] != NULL ? directories.items[i] : "", wanted[i] != NULL ? wanted[i] : "");
    }
}

static void origin_is_filled_in(void **state) {
    fixture *f = *state;
    assert_expanded(f, "", 0, NULL);
    assert_expanded(f, "$ORIGIN", 1, (const char *[]){"/site/_rocm/lib"});
    assert_expanded(f, "${ORIGIN}/../x:/a", 2, (const char *[]){"/site/_rocm/lib/../x", "/a"});
    assert_expanded(f, "/x$ORIGIN/${ORIGIN}y", 1, (const char *[]){"/x/site/_rocm/lib//site/_rocm/liby"});
    assert_expanded(f, ":/a::/b:", 5, (const char *[]){".", "/a", ".", "/b", "."});
    assert_expanded(f, "$ORIGIN/$LIB:/c/$PLATFORM:$ORIGINAL:/d", 4, (const char *[]){NULL, NULL, NULL, "/d"});
}

/* The rules of ld.so(8) for whose RPATH counts. */
static void rpaths_of_ancestors_count_unless_there_is_a_runpath(void **state) {
    fixture *f = *state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libo.so.1", .source = ""});
    char outside[128], elsewhere[128];
    (void)strcpy(outside, sample_path(&site, OUTSIDE));
    (void)strcpy(elsewhere, sample_path(&site, CORE_LIB));
    const rsdk_elf_file plain = {.path = "/s/libplain.so"}, with_rpath = {.path = "/s/librpath.so", .rpath = outside},
                        with_runpath = {.path = "/s/librunpath.so", .runpath = outside},
                        wrong_runpath = {.path = "/s/libwrong.so", .runpath = elsewhere};
    assert_null(find(f, FILES(&plain), "libo.so.1"));
    assert_string_equal(find(f, FILES(&with_rpath), "libo.so.1"), sample_path(&site, OUTSIDE "/libo.so.1"));
    assert_string_equal(find(f, FILES(&with_runpath), "libo.so.1"), sample_path(&site, OUTSIDE "/libo.so.1"));
    assert_string_equal(find(f, FILES(&plain, &plain, &with_rpath), "libo.so.1"),
                        sample_path(&site, OUTSIDE "/libo.so.1"));
    assert_null(find(f, FILES(&wrong_runpath, &plain, &with_rpath), "libo.so.1"));
    assert_null(find(f, FILES(&plain, &with_runpath), "libo.so.1"));
    sample_site_remove(&site);
}

/* LD_LIBRARY_PATH comes before a RUNPATH and after an RPATH. This program is started again with it set. */
static int answer_with_library_path(const char *site_path) {
    const sample_site site = sample_site_at(site_path);
    void *state = NULL;
    REQUIRE(start(&state) == 0);
    fixture *f = state;
    REQUIRE(setenv("LD_LIBRARY_PATH", "/somewhere/else", 1) == 0); /* too late to count */
    REQUIRE(f->search.library_path.count == 1 &&
            strcmp(f->search.library_path.items[0], sample_path(&site, OUTSIDE)) == 0);
    const rsdk_elf_file with_rpath = {.path = "/s/a.so", .rpath = sample_path(&site, CORE_LIB)},
                        with_runpath = {.path = "/s/b.so", .runpath = sample_path(&site, CORE_LIB)};
    const char *by_rpath = find(f, FILES(&with_rpath), "libo.so.1");
    const char *by_runpath = find(f, FILES(&with_runpath), "libo.so.1");
    REQUIRE_CONTAINS(by_rpath, CORE_LIB "/libo.so.1");
    REQUIRE_CONTAINS(by_runpath, OUTSIDE "/libo.so.1");
    sample_site_leave(&site);
    return clear(&state);
}

static void library_path_comes_between_rpath_and_runpath(void **state) {
    char program[256] = "", command[1024];
    sample_site site = sample_site_new();
    sample_directory(&site, OUTSIDE);
    sample_file(&site, OUTSIDE "/libo.so.1", "");
    sample_file(&site, CORE_LIB "/libo.so.1", "");
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    (void)snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' '%s' '%s'", sample_path(&site, OUTSIDE), program,
                   site.path);
    assert_int_equal(system(command), 0);
    sample_site_remove(&site);
}

static void any_directory_of_variants_counts(void **state) {
    const char *const names[] = {"glibc-hwcaps", "tls", "haswell", "xeon_phi", "avx512_1", "x86_64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char inner[256];
        sample_site site = sample_site_new();
        sample_directory(&site, OUTSIDE);
        assert_false(rsdk_elf_machine_may_hold_variants(sample_path(&site, OUTSIDE), NULL));
        (void)snprintf(inner, sizeof inner, "%s/%s", OUTSIDE, names[i]);
        sample_directory(&site, inner);
        assert_true(rsdk_elf_machine_may_hold_variants(sample_path(&site, OUTSIDE), NULL));
        sample_site_remove(&site);
    }
}

int main(int argc, char *argv[]) {
    if (argc == 2) {
        return answer_with_library_path(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(host_libraries_are_found_where_the_linker_finds_them, start, clear),
        cmocka_unit_test_setup_teardown(default_directories_do_without_a_cache, start, clear),
        cmocka_unit_test_setup_teardown(directories_that_do_not_exist_are_left_out, start, clear),
        cmocka_unit_test_setup_teardown(the_rule_is_told, start, clear),
        cmocka_unit_test_setup_teardown(directories_of_the_program_are_taken_off, start, clear),
        cmocka_unit_test_setup_teardown(entries_for_some_processors_are_skipped, start, clear),
        cmocka_unit_test_setup_teardown(a_text_that_the_cache_cuts_off_is_none, start, clear),
        cmocka_unit_test_setup_teardown(origin_is_filled_in, start, clear),
        cmocka_unit_test_setup_teardown(rpaths_of_ancestors_count_unless_there_is_a_runpath, start, clear),
        cmocka_unit_test(library_path_comes_between_rpath_and_runpath),
        cmocka_unit_test(any_directory_of_variants_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
