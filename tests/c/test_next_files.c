/* Threads that open the files to which a load comes next: each once for both, and none to which the load came first.
 * Which files are opened says the kernel (inotify(7)). */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "child_process.h"
#include "loader/read_ahead/first_looks.h"
#include "loader/read_ahead/next_files.h"
#include "sample_sdk.h"
#include "suite.h"

static sample_site site;
static rsdk_arena arena;         /* of one child */
static atomic_bool is_held;      /* no thread comes to its wait */
static atomic_int interruptions; /* so many waits are still interrupted */
static atomic_bool hangs;        /* the file server does not answer for a file of this name */
static atomic_int hanging;       /* so many threads wait for its answer */
static atomic_size_t asked_from, asked_bytes;

/* In the place of the C library's: waits as that does, once it is let. */
int sem_wait(sem_t *semaphore) {
    while (atomic_load(&is_held)) {
        (void)usleep(1000);
    }
    if (atomic_load(&interruptions) > 0 && atomic_fetch_sub(&interruptions, 1) > 0) {
        errno = EINTR;
        return -1;
    }
    while (sem_trywait(semaphore) != 0) {
        (void)usleep(1000);
    }
    return 0;
}

/* In the place of the C library's, which waits for the file server. */
int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (atomic_load(&hangs) && strstr(path, "hanging") != NULL) {
        (void)atomic_fetch_add(&hanging, 1);
        while (atomic_load(&hangs)) {
            (void)usleep(1000);
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* In the place of the C library's. */
int posix_fadvise(int descriptor, off_t offset, off_t size, int advice) {
    (void)descriptor;
    REQUIRE(advice == POSIX_FADV_WILLNEED);
    atomic_store(&asked_from, (size_t)offset);
    (void)atomic_fetch_add(&asked_bytes, (size_t)size);
    return 0;
}

static int make_site(void **state) {
    site = sample_site_new();
    sample_dist_info(&site);
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

/* A file, and a descriptor from which its opens can be read. */
static const char *watched(const char *name, int *watch) {
    sample_file(&site, name, "");
    const char *path = sample_path(&site, name);
    *watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    REQUIRE(*watch >= 0 && inotify_add_watch(*watch, path, IN_OPEN | IN_CLOSE) >= 0);
    return path;
}

/* How often the file was opened since the last question. */
static size_t opens_of(int watch) {
    struct inotify_event event; /* without a name: what is watched is a file */
    size_t opens = 0;
    while (read(watch, &event, sizeof event) == (ssize_t)sizeof event) {
        opens += (event.mask & IN_OPEN) != 0;
    }
    return opens;
}

/* Waits until so many have been taken, and their files opened. */
static void end_after(rsdk_next_files *next, size_t count) {
    for (int i = 0; i < 5000 && atomic_load(&next->taken) < count; i++) {
        (void)usleep(1000);
    }
    REQUIRE(rsdk_next_files_stop(next, RSDK_QUIET_THREAD_FOR_EVER));
    REQUIRE(atomic_load(&next->taken) == count);
}

static void what_is_given(void *context) {
    static rsdk_next_files next; /* all zero */
    int watch = -1;
    (void)context;
    const char *path = watched("given", &watch);
    rsdk_file file = {0};
    REQUIRE(!rsdk_next_files_take(&next, 0, &file)); /* nothing was started */
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    REQUIRE(rsdk_next_files_give(&next, path, NULL));
    end_after(&next, 1);
    REQUIRE(opens_of(watch) == 1);
}

static void what_is_taken_back(void *context) {
    static rsdk_next_files next;
    int first = -1, second = -1, third = -1;
    (void)context;
    const char *const paths[] = {watched("first", &first), watched("second", &second), watched("third", &third)};
    atomic_store(&is_held, true);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        (void)rsdk_next_files_give(&next, paths[i], NULL);
    }
    rsdk_file file = {0};
    for (int i = 0; i < 2; i++) {
        REQUIRE(!rsdk_next_files_take(&next, 1, &file) && !next.is_stuck); /* it is to be opened as any other */
    }
    atomic_store(&is_held, false);
    end_after(&next, 3);
    REQUIRE(opens_of(first) == 1 && opens_of(second) == 0 && opens_of(third) == 1);
}

/* An interrupted wait has taken nothing. */
static void what_is_given_meanwhile(void *context) {
    static rsdk_next_files next;
    int watch = -1;
    (void)context;
    const char *path = watched("late", &watch);
    atomic_store(&interruptions, 3 * RSDK_NEXT_THREADS);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    for (int i = 0; i < 5000 && atomic_load(&interruptions) > 0; i++) {
        (void)usleep(1000);
    }
    REQUIRE(atomic_load(&interruptions) <= 0 && atomic_load(&next.taken) == 0);
    (void)rsdk_next_files_give(&next, path, NULL);
    end_after(&next, 1);
    REQUIRE(opens_of(watch) == 1);
}

static void what_is_given_behind_the_last(void *context) {
    static rsdk_next_files next;
    int last = -1, behind = -1;
    (void)context;
    const char *const path = watched("last", &last), *const further = watched("behind", &behind);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    while (next.given < RSDK_NEXT_FILES - 1) {
        (void)rsdk_next_files_give(&next, "/nowhere", NULL);
    }
    (void)rsdk_next_files_give(&next, path, NULL);
    REQUIRE(next.given == RSDK_NEXT_FILES);
    for (int i = 0; i < 3; i++) {
        REQUIRE(!rsdk_next_files_give(&next, further, NULL) && next.given == RSDK_NEXT_FILES);
    }
    end_after(&next, RSDK_NEXT_FILES);
    REQUIRE(opens_of(last) == 1 && opens_of(behind) == 0);
}

/* Whether the bytes of a file are these. */
static bool holds(const rsdk_file *file, const char *text) {
    char bytes[16] = "";
    return file->size == strlen(text) && pread(file->descriptor, bytes, sizeof bytes - 1, 0) == (ssize_t)file->size &&
           strcmp(bytes, text) == 0;
}

static void what_a_thread_has_opened(void *context) {
    static rsdk_next_files next;
    int first = -1, second = -1;
    rsdk_file file = {0};
    (void)context;
    const char *const path = watched("opened", &first), *const other = watched("left", &second);
    sample_file(&site, "opened", "bytes");
    (void)opens_of(first);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    (void)rsdk_next_files_give(&next, path, NULL);
    (void)rsdk_next_files_give(&next, "/nowhere", NULL);
    (void)rsdk_next_files_give(&next, other, NULL);
    for (int i = 0; i < 5000 && atomic_load(&next.taken) < 3; i++) {
        (void)usleep(1000);
    }
    REQUIRE(rsdk_next_files_take(&next, 0, &file) && holds(&file, "bytes"));
    REQUIRE(!rsdk_next_files_take(&next, 0, &file)); /* once */
    REQUIRE(!rsdk_next_files_take(&next, 1, &file) && !next.is_stuck);
    REQUIRE(opens_of(first) == 1);
    end_after(&next, 3);
    REQUIRE(fcntl(next.files == NULL ? file.descriptor : -1, F_GETFD) == FD_CLOEXEC); /* the load's own */
    rsdk_file_close(&file);
}

/* A file of a list, to which no thread has come. */
static void what_the_load_opens(void *context) {
    static rsdk_next_files next;
    rsdk_page_range range = {.first = 2, .last = 4};
    rsdk_paged_file facts = {.size = 5, .ranges = {.items = &range, .count = 1}};
    rsdk_file file = {0};
    int watch = -1;
    (void)context;
    const char *path = watched("listed", &watch);
    sample_file(&site, "listed", "bytes");
    (void)opens_of(watch);
    atomic_store(&is_held, true);
    rsdk_next_files_start(&next, 1, true, &arena);
    REQUIRE(next.thread_count == 1);
    (void)rsdk_next_files_give(&next, path, &facts);
    REQUIRE(rsdk_next_files_take(&next, 0, &file) && holds(&file, "bytes"));
    REQUIRE(atomic_load(&asked_from) == (size_t)2 * RSDK_PAGE_SIZE &&
            atomic_load(&asked_bytes) == (size_t)3 * RSDK_PAGE_SIZE);
    atomic_store(&is_held, false);
    end_after(&next, 1);
    REQUIRE(opens_of(watch) == 1);
    rsdk_file_close(&file);
}

/* Of many files the first ones stay open. */
static void what_is_kept(void *context) {
    static rsdk_next_files next;
    rsdk_file file = {0};
    int watch = -1;
    (void)context;
    const char *path = watched("kept", &watch);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    for (size_t i = 0; i <= RSDK_NEXT_KEPT; i++) {
        REQUIRE(rsdk_next_files_give(&next, path, NULL));
    }
    for (int i = 0; i < 5000 && atomic_load(&next.taken) <= RSDK_NEXT_KEPT; i++) {
        (void)usleep(1000);
    }
    REQUIRE(!rsdk_next_files_take(&next, RSDK_NEXT_KEPT, &file));
    REQUIRE(rsdk_next_files_take(&next, RSDK_NEXT_KEPT - 1, &file));
    rsdk_file_close(&file);
    end_after(&next, RSDK_NEXT_KEPT + 1);
}

/* The load waits a while for the first one alone: it then opens each as any other. */
static void what_nobody_answers_for(void *context) {
    static rsdk_next_files next;
    rsdk_file file = {0};
    int watch = -1;
    (void)context;
    const char *path = watched("hanging", &watch);
    atomic_store(&hangs, true);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    REQUIRE(rsdk_next_files_give(&next, path, NULL) && rsdk_next_files_give(&next, path, NULL));
    for (int i = 0; i < 5000 && atomic_load(&hanging) < 2; i++) {
        (void)usleep(1000);
    }
    REQUIRE(atomic_load(&hanging) == 2);
    REQUIRE(!rsdk_next_files_take(&next, 0, &file) && next.is_stuck);
    REQUIRE(!rsdk_next_files_take(&next, 1, &file) && next.is_stuck);
    REQUIRE(!rsdk_next_files_stop(&next, rsdk_quiet_thread_deadline(10)) && next.files != NULL);
    atomic_store(&hangs, false);
    end_after(&next, 2);
    REQUIRE(next.files == NULL && next.thread_count == 0 && next.given == 0);
}

static void what_is_looked_for(void *context) {
    static rsdk_next_files next;
    rsdk_file file = {0};
    int looked = -1, read = -1;
    (void)context;
    const char *const path = watched("looked", &looked), *const small = watched("small", &read);
    const int lowest = dup(looked);
    REQUIRE(close(lowest) == 0);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    rsdk_next_files_look(&next, path, false);
    rsdk_next_files_look(&next, small, true);
    rsdk_next_files_look(&next, small, true);
    REQUIRE(!rsdk_next_files_take(&next, 2, &file));
    for (int i = 0; i < 5000 && atomic_load(&next.taken) < 3; i++) {
        (void)usleep(1000);
    }
    REQUIRE(!rsdk_next_files_take(&next, 0, &file) && !next.is_stuck);
    end_after(&next, 3);
    REQUIRE(opens_of(looked) == 0 && opens_of(read) >= 1);
    REQUIRE(dup(looked) == lowest); /* what was opened is closed */
}

/* What is looked for, and one file that is read, which the load reads next. */
static const char *const first_looks[] = {
    "_rocm_sdk_core/__init__.py",
    "_rocm_sdk_core/lib",
    "_rocm_sdk_core/lib/rocm_sysdeps/lib",
    "_rocm_sdk_core/lib/host-math/lib",
    "_rocm_sdk_core/lib/llvm/lib",
    "rocm_sdk_libraries/_dist_info.py",
    "_rocm_sdk_libraries/__init__.py",
    "_rocm_sdk_libraries/lib",
    "_rocm_sdk_libraries/lib/rocm_sysdeps/lib",
    "_rocm_sdk_libraries/lib/host-math/lib",
    "_rocm_sdk_libraries/lib/llvm/lib",
};

static void what_an_sdk_has_first(void *context) {
    static rsdk_next_files next;
    rsdk_sdk *sdk = sample_open(&site);
    (void)context;
    REQUIRE(strcmp(rsdk_first_looks_directory(sdk, &arena), sample_path(&site, CORE_LIB)) == 0);
    atomic_store(&is_held, true);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    rsdk_first_looks_give(&next, sdk, &arena);
    REQUIRE(next.given == sizeof first_looks / sizeof *first_looks);
    for (size_t i = 0; i < next.given; i++) {
        const bool is_read = strstr(first_looks[i], "_dist_info.py") != NULL;
        REQUIRE(strcmp(next.files[i].path, sample_path(&site, first_looks[i])) == 0);
        REQUIRE(next.files[i].kind == (is_read ? RSDK_NEXT_READ : RSDK_NEXT_LOOK));
    }
    atomic_store(&is_held, false);
    end_after(&next, sizeof first_looks / sizeof *first_looks);
    rsdk_sdk_free(sdk);
}

static void what_an_sdk_without_facts_has(void *context) {
    static rsdk_next_files next;
    (void)context;
    REQUIRE(unlink(sample_path(&site, "rocm_sdk_core/_dist_info.py")) == 0);
    rsdk_sdk *sdk = sample_open(&site);
    sample_dist_info(&site);
    REQUIRE(rsdk_first_looks_directory(sdk, &arena) == NULL);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    rsdk_first_looks_give(&next, sdk, &arena);
    REQUIRE(next.given == 0);
    end_after(&next, 0);
    rsdk_sdk_free(sdk);
}

static void a_load_looks_first_for_its_packages(void **state) {
    run_in_child(what_an_sdk_has_first, NULL);
    run_in_child(what_an_sdk_without_facts_has, NULL);
}

static void a_file_that_a_thread_has_opened_is_not_opened_again(void **state) {
    run_in_child(what_a_thread_has_opened, NULL);
    run_in_child(what_the_load_opens, NULL);
}

static void the_first_files_stay_open(void **state) {
    run_in_child(what_is_kept, NULL);
}

static void a_load_waits_once_for_an_answer(void **state) {
    run_in_child(what_nobody_answers_for, NULL);
}

static void nobody_takes_what_is_looked_for(void **state) {
    run_in_child(what_is_looked_for, NULL);
}

static void a_file_is_opened_once(void **state) {
    run_in_child(what_is_given, NULL);
}

static void a_file_that_is_taken_back_is_not_opened(void **state) {
    run_in_child(what_is_taken_back, NULL);
}

static void a_wait_may_be_interrupted(void **state) {
    run_in_child(what_is_given_meanwhile, NULL);
}

static void there_is_a_limit(void **state) {
    run_in_child(what_is_given_behind_the_last, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_opened_once),
        cmocka_unit_test(a_file_that_is_taken_back_is_not_opened),
        cmocka_unit_test(a_wait_may_be_interrupted),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(a_file_that_a_thread_has_opened_is_not_opened_again),
        cmocka_unit_test(the_first_files_stay_open),
        cmocka_unit_test(a_load_waits_once_for_an_answer),
        cmocka_unit_test(nobody_takes_what_is_looked_for),
        cmocka_unit_test(a_load_looks_first_for_its_packages),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
