/* Threads that open the files to which a load comes next: each once for both, and none to which the load came first.
 * Which files are opened says the kernel (inotify(7)). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>

#include "child_process.h"
#include "read_ahead/next_files.h"
#include "sample_sdk.h"
#include "suite.h"

static sample_site site;
static rsdk_arena arena;         /* of one child */
static atomic_bool is_held;      /* no thread comes to its wait */
static atomic_int interruptions; /* so many waits are still interrupted */

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

static int make_site(void **state) {
    site = sample_site_new();
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
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    (void)rsdk_next_files_give(&next, path, NULL);
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
    REQUIRE(!rsdk_next_files_take(&next, 1, &file)); /* it is to be opened as any other */
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
        (void)rsdk_next_files_give(&next, further, NULL);
        REQUIRE(next.given == RSDK_NEXT_FILES);
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
    REQUIRE(!rsdk_next_files_take(&next, 1, &file));
    REQUIRE(opens_of(first) == 1);
    end_after(&next, 3);
    REQUIRE(fcntl(next.files == NULL ? file.descriptor : -1, F_GETFD) == FD_CLOEXEC); /* the load's own */
    rsdk_file_close(&file);
}

/* A file of a list, to which no thread has come. */
static void what_the_load_opens(void *context) {
    static rsdk_next_files next;
    rsdk_paged_file facts = {.size = 5};
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
    atomic_store(&is_held, false);
    end_after(&next, 1);
    REQUIRE(opens_of(watch) == 1);
    rsdk_file_close(&file);
}

static void what_is_looked_for(void *context) {
    static rsdk_next_files next;
    rsdk_file file = {0};
    int looked = -1, read = -1;
    (void)context;
    const char *const path = watched("looked", &looked), *const small = watched("small", &read);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    rsdk_next_files_look(&next, path, false);
    rsdk_next_files_look(&next, small, true);
    REQUIRE(!rsdk_next_files_take(&next, 1, &file));
    end_after(&next, 2);
    REQUIRE(opens_of(looked) == 0 && opens_of(read) <= 1);
}

static void a_file_that_a_thread_has_opened_is_not_opened_again(void **state) {
    run_in_child(what_a_thread_has_opened, NULL);
    run_in_child(what_the_load_opens, NULL);
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
        cmocka_unit_test(nobody_takes_what_is_looked_for),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
