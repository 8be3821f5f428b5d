/* Reading ahead where a file server does not answer for one file: the load comes to its end, at most one thread stays
 * behind, and it ends once there is an answer. The server is the kernel's: who asks to open a file waits for this
 * process (fanotify). */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "child_process.h"
#include "elf/elf_file.h"
#include "loader/read_ahead/page_list.h"
#include "sample_sdk.h"
#include "suite.h"

#define LIST   CORE_LIB "/" RSDK_PAGE_LIST_NAME
#define SMI    CORE_LIB "/librocm_smi64.so.7"
#define COMGR  CORE_LIB "/libamd_comgr.so.3"
#define ROCTX  CORE_LIB "/libroctx64.so.4"
#define PLUGIN "application/plugin.so"

static sample_site site;
static char lines[16384]; /* what the last load has reported */

/* While it loads, the thread has the time to come to the file that is not answered for. */
#define TAKES_TIME "#include <unistd.h>\n__attribute__((constructor)) static void wait(void) { usleep(500000); }\n"

/* In the place of the C library's: the clock of the day has just been set back by an hour. The limits do not ask it. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += clock == CLOCK_REALTIME ? 3600 : 0;
    return result;
}

static int make_site(void **state) {
    static const char build_id[] = "-Wl,--build-id";
    site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libamd_comgr.so.3", .source = "", .options = build_id});
    sample_compile(&site, &(sample_library){.file = "librocm_smi64.so.7", .source = TAKES_TIME, .options = build_id});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .options = build_id});
    sample_directory(&site, "application");
    sample_compile(&site,
                   &(sample_library){.directory = "application", .file = "plugin.so", .source = "", .needs = SMI});
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

/* From now on, who opens it waits; until what is returned is closed. */
static int hang(const char *name) {
    int queue = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
    if (queue < 0 || fanotify_mark(queue, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, sample_path(&site, name)) != 0) {
        skip_child("this user may not answer for a file, or this kernel asks nobody (fanotify)");
    }
    return queue;
}

static const char *line_of(rsdk_arena *arena, const char *library, const char *needed) {
    rsdk_elf_file elf;
    REQUIRE(rsdk_elf_file_read_with_versions(sample_path(&site, library), arena, &elf, NULL) == RSDK_OK);
    return rsdk_arena_format(arena, "%s\t%llu\t%s@%llu\t%s\t0\n", library, (unsigned long long)elf.size, elf.build_id,
                             (unsigned long long)elf.build_id_place, needed);
}

/* A list by which SMI and ROCTX bring in comgr, or nothing. */
static void write_list(const char *needed) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    const char *smi = line_of(&arena, SMI, needed), *comgr = line_of(&arena, COMGR, "-");
    const char *roctx = line_of(&arena, ROCTX, needed);
    const char *text = rsdk_arena_format(&arena, "rocm-sdk-pages 1\n%s%s%s", smi, comgr, roctx);
    REQUIRE(smi != NULL && comgr != NULL && text != NULL);
    sample_file(&site, LIST, text);
    REQUIRE(chmod(sample_path(&site, LIST), 0644) == 0);
    rsdk_arena_clear(&arena);
}

static void log_line(void *context, const char *line) {
    (void)context;
    (void)strcat(lines, line);
    (void)strcat(lines, "\n");
}

static unsigned thread_count(void) {
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    REQUIRE(tasks != NULL);
    for (const struct dirent *each = readdir(tasks); each != NULL; each = readdir(tasks)) {
        count += each->d_name[0] != '.';
    }
    REQUIRE(closedir(tasks) == 0);
    return count;
}

/* Loads a library by its shortname, or what the plug-in needs (NULL); the milliseconds that it takes. */
static long load(const char *name) {
    const char *file = sample_path(&site, PLUGIN);
    rsdk_load_options options = {.report = log_line, .read_ahead = RSDK_READ_AHEAD_ALWAYS};
    options.shortnames = &name;
    options.shortname_count = name != NULL;
    options.files = &file;
    options.file_count = name == NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    rsdk_sdk *sdk = sample_open(&site);
    struct timespec before, after;
    lines[0] = '\0';
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    if (rsdk_loader_preload(sdk, &options, &loaded, &error) != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        _exit(1);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
    return (long)(after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
}

static void wait_for_threads(unsigned count) {
    for (int i = 0; i < 500 && thread_count() != count; i++) {
        (void)usleep(10000);
    }
    REQUIRE(thread_count() == count);
}

enum { LONG = 20000 /* milliseconds: far above each limit, also on a busy machine */ };

static void of_another_library(void *context) {
    (void)context;
    write_list("1"); /* it is wrong: SMI does not need comgr */
    int queue = hang(COMGR);
    REQUIRE(load("rocm_smi64") < LONG);
    REQUIRE_CONTAINS(lines, "says (2 libraries)");
    REQUIRE(thread_count() == 2); /* one stays behind */
    REQUIRE(load("roctx64") < LONG);
    REQUIRE(thread_count() == 2 && strstr(lines, "ahead") == NULL); /* and no further one */
    REQUIRE(close(queue) == 0);
    wait_for_threads(1);
    REQUIRE(load("roctx64") < LONG);
    REQUIRE_CONTAINS(lines, "says (2 libraries)"); /* as before */
    wait_for_threads(1);
}

static void of_the_list(void *context) {
    (void)context;
    write_list("-");
    int queue = hang(LIST);
    REQUIRE(load("rocm_smi64") < LONG);
    REQUIRE_CONTAINS(lines, "not reading ahead: ");
    REQUIRE_CONTAINS(lines, RSDK_PAGE_LIST_NAME ": not read within 1000 ms");
    REQUIRE(thread_count() == 2);
    REQUIRE(close(queue) == 0);
    wait_for_threads(1);
    REQUIRE(load("roctx64") < LONG);
    REQUIRE_CONTAINS(lines, "says (1 libraries)");
}

/* Of the list it wants what the plug-in needs alone. */
static void of_what_a_file_does_not_need(void *context) {
    (void)context;
    write_list("-");
    int queue = hang(COMGR);
    REQUIRE(load(NULL) < LONG);
    REQUIRE_CONTAINS(lines, "says (1 libraries)");
    wait_for_threads(1);
    REQUIRE(close(queue) == 0);
}

/* A child that is forked meanwhile has no such thread, and reads ahead. */
static void of_a_parent(void *context) {
    (void)context;
    write_list("1");
    int queue = hang(COMGR);
    REQUIRE(load("rocm_smi64") < LONG && thread_count() == 2);
    if (fork() == 0) {
        REQUIRE(load("roctx64") < LONG);
        REQUIRE_CONTAINS(lines, "says (2 libraries)");
        _exit(0);
    }
    int status = 1;
    REQUIRE(wait(&status) > 0 && status == 0);
    REQUIRE(close(queue) == 0);
}

static void a_load_ends(void **state) {
    skip_under_thread_sanitizer("it has a thread of its own, which the test would count");
    run_in_child(of_another_library, NULL);
    run_in_child(of_the_list, NULL);
    run_in_child(of_what_a_file_does_not_need, NULL);
    run_in_child(of_a_parent, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_load_ends, make_site, remove_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
