/* When a load reads ahead: what it decides by how long files take, by a clock that reads alone move on. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "child_process.h"
#include "loader/read_ahead/page_list.h"
#include "sample_sdk.h"
#include "suite.h"

#define LIST    CORE_LIB "/" RSDK_PAGE_LIST_NAME
#define LIBRARY CORE_LIB "/libroctx64.so.4"
#define NEEDED  CORE_LIB "/libdeep.so.1"

enum { DATA_SIZE = 4 << 20 }; /* which neither the load nor the linker reads */

/* How long a read takes, in nanoseconds. */
typedef struct costs {
    const char *name;      /* of the file; others take no time */
    uint64_t first, again; /* its first bytes, and one byte of it when it is opened again */
    uint64_t open;
} costs;

static sample_site site;
static char lines[4096]; /* what the last load has reported */
static costs cost[2];
static atomic_uint_fast64_t now;
static atomic_bool is_asked;  /* for the middle of the library */
static atomic_bool is_held;   /* the load waits until a thread asks for that, and that one until the load has ended */
static atomic_bool is_waited; /* for a thread */
static atomic_int looks;      /* how often threads have looked whether something exists */
static atomic_bool awaits_looks; /* the load goes on, with its first library, when they have looked */

/* ---- in the place of what the loader calls ---- */

uint64_t rsdk_clock_now(void) {
    return atomic_load(&now);
}

static bool is_load(void) {
    return syscall(SYS_gettid) == getpid();
}

int open(const char *path, int flags, ...) {
    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++) {
        if (cost[i].name != NULL && strstr(path, cost[i].name) != NULL && is_load()) {
            (void)atomic_fetch_add(&now, cost[i].open);
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

ssize_t pread(int descriptor, void *buffer, size_t size, off_t offset) {
    char link[64], path[4096] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    (void)!readlink(link, path, sizeof path - 1);
    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++) {
        if (offset == 0 && cost[i].name != NULL && strstr(path, cost[i].name) != NULL) {
            (void)atomic_fetch_add(&now, size > 1 ? cost[i].first : cost[i].again);
        }
    }
    while (atomic_load(&is_held) && is_load() && strstr(path, NEEDED) != NULL && !atomic_load(&is_asked)) {
        (void)usleep(1000);
    }
    for (int i = 0; i < 5000 && atomic_load(&awaits_looks) && is_load() && strstr(path, LIBRARY) != NULL &&
                    atomic_load(&looks) == 0;
         i++) {
        (void)usleep(1000);
    }
    return syscall(SYS_pread64, descriptor, buffer, size, offset);
}

/* Says whether the load waits for a thread. It waits for as long as it takes: the clock stands still meanwhile. */
static bool load_waits(void) {
    char path[64], text[64] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", (long)getpid());
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    (void)!read(file, text, sizeof text - 1);
    (void)close(file);
    return strtol(text, NULL, 10) == SYS_futex;
}

int posix_fadvise(int descriptor, off_t offset, off_t size, int advice) {
    (void)descriptor;
    if (advice == POSIX_FADV_WILLNEED && offset <= DATA_SIZE / 2 && DATA_SIZE / 2 < offset + size) {
        atomic_store(&is_asked, true);
    }
    while (atomic_load(&is_held) && !is_load() && atomic_load(&is_asked) && !atomic_load(&is_waited)) {
        (void)usleep(1000);
        atomic_store(&is_waited, load_waits());
    }
    return 0;
}

int stat(const char *path, struct stat *facts) {
    if (!is_load()) {
        (void)atomic_fetch_add(&looks, strstr(path, "/_rocm_sdk_") != NULL);
    }
    return fstatat(AT_FDCWD, path, facts, 0);
}

/* ---- loading ---- */

static void log_line(void *context, const char *line) {
    (void)context;
    (void)strncat(lines, line, sizeof lines - strlen(lines) - 1);
}

static void load(rsdk_read_ahead_wish wish) {
    const char *name = "roctx64";
    const rsdk_load_options options = {
        .shortnames = &name, .shortname_count = 1, .report = log_line, .read_ahead = wish};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    rsdk_sdk *sdk = sample_open(&site);
    lines[0] = '\0';
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, &error) == RSDK_OK);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

/* A library with much data that nobody touches, which needs another. */
static int make_site(void **state) {
    site = sample_site_new();
    sample_dist_info(&site);
    sample_compile(&site, &(sample_library){.file = "libdeep.so.1", .source = ""});
    sample_compile(&site, &(sample_library){
                              .file = "libroctx64.so.4", .source = "const char data[4 << 20] = {1};", .needs = NEEDED});
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

/* A list that asks for all of the library, and for the first page of what it needs. */
static void write_list(void) {
    char text[512];
    struct stat library, needed;
    REQUIRE(stat(sample_path(&site, LIBRARY), &library) == 0 && stat(sample_path(&site, NEEDED), &needed) == 0);
    (void)snprintf(text, sizeof text, "rocm-sdk-pages 1\n" LIBRARY "\t%ld\t-\t1\t0-%ld\n" NEEDED "\t%ld\t-\t-\t0\n",
                   (long)library.st_size, (long)(library.st_size - 1) / RSDK_PAGE_SIZE, (long)needed.st_size);
    sample_file(&site, LIST, text);
    REQUIRE(chmod(sample_path(&site, LIST), 0644) == 0);
}

/* ---- with a list ---- */

typedef struct cold_case {
    uint64_t first, again;
    bool is_cold, is_followed;
} cold_case;

static void with_a_list(void *context) {
    const cold_case *expected = context;
    write_list();
    cost[0] = (costs){.name = LIBRARY, .first = expected->first, .again = expected->again};
    load(RSDK_READ_AHEAD_WITHOUT_THREAD);
    REQUIRE((strstr(lines, "reading ahead as ") != NULL) == expected->is_followed);
    REQUIRE((strstr(lines, "not reading ahead: the pages of libroctx64.so.4 do not stay") != NULL) ==
            (expected->is_cold && !expected->is_followed));
    REQUIRE(atomic_load(&is_asked) == expected->is_followed);
}

static void a_cold_file_begins_it(void **state) {
    static cold_case cases[] = {
        {.first = 49999},
        {.first = 50000, .is_cold = true, .is_followed = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_in_child(with_a_list, &cases[i]);
    }
}

/* Where an open drops the pages, the second read takes as long as the first. */
static void pages_that_an_open_drops_are_not_read_ahead(void **state) {
    static cold_case cases[] = {
        {.first = 10000000, .again = 60000, .is_cold = true, .is_followed = true}, /* from memory, on a busy machine */
        {.first = 10000000, .again = 4999999, .is_cold = true, .is_followed = true},
        {.first = 10000000, .again = 5000000, .is_cold = true},
        {.first = 90000, .again = 49999, .is_cold = true, .is_followed = true},
        {.first = 90000, .again = 50000, .is_cold = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_in_child(with_a_list, &cases[i]);
    }
}

static size_t count_descriptors(void) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    REQUIRE(directory != NULL);
    while (readdir(directory) != NULL) {
        count++;
    }
    (void)closedir(directory);
    return count;
}

static void ends_within_the_list(void *context) {
    (void)context;
    write_list();
    const size_t before = count_descriptors();
    atomic_store(&is_held, true);
    load(RSDK_READ_AHEAD_ALWAYS);
    REQUIRE_CONTAINS(lines, " says (2 libraries)");
    REQUIRE(atomic_load(&is_waited));
    REQUIRE(count_descriptors() == before);
}

static void a_load_that_ends_early_leaves_no_file_open(void **state) {
    run_in_child(ends_within_the_list, NULL);
}

/* ---- without a list ---- */

typedef struct slow_case {
    uint64_t library, needed, again;
    bool asks;
} slow_case;

static void without_a_list(void *context) {
    const slow_case *expected = context;
    (void)unlink(sample_path(&site, LIST));
    cost[0] = (costs){.name = LIBRARY, .first = expected->library, .again = expected->again};
    cost[1] = (costs){.name = NEEDED, .first = expected->needed, .again = expected->again};
    load(RSDK_READ_AHEAD_WITHOUT_THREAD);
    REQUIRE((strstr(lines, "reading ahead what the linker reads of ") != NULL) == expected->asks);
}

static void two_slow_files_begin_it(void **state) {
    static slow_case cases[] = {
        {.library = 300000}, /* one may be slow by chance */
        {.needed = 300000},
        {.library = 10000000, .needed = 299999},
        {.library = 300000, .needed = 300000, .asks = true},
        {.library = 300000, .needed = 300000, .again = 200000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_in_child(without_a_list, &cases[i]);
    }
}

/* ---- before the first library ---- */

typedef struct early_case {
    uint64_t open, first, again;
    bool has_list, begins;
    const char *told; /* NULL: nothing */
} early_case;

/* Whether a thread has looked for what the load looks up first. */
static bool is_looked_for(void) {
    return atomic_load(&looks) > 0;
}

static void after_a_slow_answer(void *context) {
    const early_case *expected = context;
    if (expected->has_list) {
        write_list();
    } else {
        (void)unlink(sample_path(&site, LIST));
    }
    cost[0] = (costs){.name = "rocm_sdk_core/_dist_info.py",
                      .first = expected->first,
                      .again = expected->again,
                      .open = expected->open};
    const size_t before = count_descriptors();
    atomic_store(&awaits_looks, expected->begins);
    load(RSDK_READ_AHEAD_IF_COLD);
    REQUIRE(is_looked_for() == expected->begins);
    REQUIRE(expected->told != NULL ? strstr(lines, expected->told) != NULL : strstr(lines, "ahead") == NULL);
    REQUIRE(count_descriptors() == before);
}

static void slow_answers_begin_it_early(void **state) {
    static early_case cases[] = {
        {.has_list = true, .first = 299999},
        {.has_list = true, .first = 300000, .begins = true, .told = "reading ahead as "},
        {.has_list = true,
         .first = 300000,
         .again = 150000,
         .begins = true,
         .told = "not reading ahead: the pages of _dist_info.py do not stay"},
        {.first = 300000, .begins = true}, /* by chance: it is not slow once more */
        {.open = 299999, .first = 1, .begins = true},
        {.open = 300000, .begins = true, .told = "what the linker reads of libroctx64.so.4"},
        {.open = 300000, .again = 150000, .begins = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_in_child(after_a_slow_answer, &cases[i]);
    }
}

static void without_threads(void *context) {
    (void)context;
    write_list();
    cost[0] = (costs){.name = "rocm_sdk_core/_dist_info.py", .first = 10000000};
    load(RSDK_READ_AHEAD_WITHOUT_THREAD);
    REQUIRE(!is_looked_for() && strstr(lines, "ahead") == NULL);
}

static void a_load_without_threads_begins_by_its_libraries(void **state) {
    run_in_child(without_threads, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_answers_begin_it_early),
        cmocka_unit_test(a_load_without_threads_begins_by_its_libraries),
        cmocka_unit_test(a_cold_file_begins_it),
        cmocka_unit_test(pages_that_an_open_drops_are_not_read_ahead),
        cmocka_unit_test(a_load_that_ends_early_leaves_no_file_open),
        cmocka_unit_test(two_slow_files_begin_it),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
