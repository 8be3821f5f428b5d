/* Threads, constructors and fork: one load at a time, and nobody sees a library that is half initialised. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "child_process.h"
#include "sample_loading.h"
#include "suite.h"

static rsdk_loaded *load(rsdk_sdk *sdk, const char *shortname) {
    rsdk_load_options options = {.shortnames = &shortname, .shortname_count = 1, .is_global = true};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    if (rsdk_loader_preload(sdk, &options, &loaded, &error) != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        _exit(1);
    }
    return loaded;
}

static void load_and_forget(const sample_site *site, const char *shortname) {
    rsdk_sdk *sdk = sample_open(site);
    rsdk_loaded_free(load(sdk, shortname));
    rsdk_sdk_free(sdk);
}

static atomic_bool is_started;

/* Called by constructors of sample libraries: the test program exports it, like those below. */
__attribute__((visibility("default"))) void tell_start(void);

void tell_start(void) {
    atomic_store(&is_started, true);
}

/* Its constructor takes 300 ms and then sets `is_ready`; it counts how often it ran. */
static const char slow_library[] = "#include <time.h>\nint is_ready, starts;\nvoid tell_start(void);\n"
                                   "__attribute__((constructor)) static void start(void) {\n"
                                   "    starts++;\n"
                                   "    tell_start();\n"
                                   "    nanosleep(&(struct timespec){.tv_nsec = 300000000}, 0);\n"
                                   "    is_ready = 1;\n"
                                   "}\n";

/* ---- threads ---- */

typedef struct request {
    const sample_site *site;
    pthread_barrier_t *together;
    void *handle;
    bool was_loaded, was_ready;
} request;

static void *run_request(void *context) {
    request *r = context;
    rsdk_sdk *sdk = sample_open(r->site);
    (void)pthread_barrier_wait(r->together);
    rsdk_loaded *loaded = load(sdk, "roctx64");
    const rsdk_loaded_entry *entry = rsdk_loaded_library(loaded, 0);
    int *is_ready = dlsym(entry->handle, "is_ready");
    r->handle = entry->handle;
    r->was_loaded = entry->was_loaded;
    r->was_ready = is_ready != NULL && *is_ready == 1;
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
    return NULL;
}

static void check_threads(void *site) {
    enum { COUNT = 4 };
    pthread_t threads[COUNT];
    pthread_barrier_t together;
    request requests[COUNT];
    unsigned first_count = 0;
    REQUIRE(pthread_barrier_init(&together, NULL, COUNT) == 0);
    for (size_t i = 0; i < COUNT; i++) {
        requests[i] = (request){.site = site, .together = &together};
        REQUIRE(pthread_create(&threads[i], NULL, run_request, &requests[i]) == 0);
    }
    for (size_t i = 0; i < COUNT; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        REQUIRE(requests[i].handle == requests[0].handle && requests[i].was_ready);
        first_count += !requests[i].was_loaded;
    }
    const int *starts = dlsym(requests[0].handle, "starts");
    REQUIRE(first_count == 1 && starts != NULL && *starts == 1);
    (void)pthread_barrier_destroy(&together);
}

static void one_of_several_threads_loads(void **state) {
    ON_SITE(check_threads, {.file = "libroctx64.so.4", .source = slow_library});
}

/* ---- a constructor that loads ---- */

static const sample_site *site_of_constructor;

__attribute__((visibility("default"))) void load_from_constructor(void);

void load_from_constructor(void) {
    load_and_forget(site_of_constructor, "rocdecode");
}

static void check_constructor(void *site) {
    site_of_constructor = site;
    load_and_forget(site, "roctx64");
    REQUIRE(dlsym(RTLD_DEFAULT, "of_decode") != NULL);
}

static void constructor_may_load(void **state) {
    ON_SITE(check_constructor, {.file = "libd.so.1", .source = ""},
            {.file = "librocdecode.so.1", .source = "int of_decode;", .needs = CORE_LIB "/libd.so.1"},
            {.file = "libroctx64.so.4",
             .source = "void load_from_constructor(void);\n"
                       "__attribute__((constructor)) static void start(void) { load_from_constructor(); }\n",
             .needs = CORE_LIB "/libd.so.1"});
}

/* ---- fork ---- */

static void *load_slowly(void *site) {
    load_and_forget(site, "roctx64");
    return NULL;
}

/* In the forked child. */
static int look_at_library(const sample_site *site) {
    rsdk_sdk *sdk = sample_open(site);
    rsdk_loaded *loaded = load(sdk, "roctx64"); /* the lock is free here */
    const int *is_ready = dlsym(rsdk_loaded_library(loaded, 0)->handle, "is_ready");
    bool is_whole = rsdk_loaded_library(loaded, 0)->was_loaded && is_ready != NULL && *is_ready == 1;
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
    return is_whole ? 0 : 1;
}

static void check_fork(void *site) {
    pthread_t thread;
    int status = 0;
    const struct timespec moment = {.tv_nsec = 1000000};
    REQUIRE(pthread_create(&thread, NULL, load_slowly, site) == 0);
    while (!atomic_load(&is_started)) {
        (void)nanosleep(&moment, NULL);
    }
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        _exit(look_at_library(site));
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

static void fork_waits_for_a_running_constructor(void **state) {
    skip_under_thread_sanitizer("a child has the threads of its parent, for it");
    ON_SITE(check_fork, {.file = "libroctx64.so.4", .source = slow_library});
}

__attribute__((visibility("default"))) void fork_from_constructor(void);

void fork_from_constructor(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        load_and_forget(site_of_constructor, "rocdecode");
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void check_fork_in_constructor(void *site) {
    site_of_constructor = site;
    load_and_forget(site, "roctx64");
    load_and_forget(site, "rocdecode");
}

static void constructor_may_fork(void **state) {
    skip_under_thread_sanitizer("it lets no process end within dlopen");
    ON_SITE(check_fork_in_constructor, {.file = "librocdecode.so.1", .source = ""},
            {.file = "libroctx64.so.4",
             .source = "void fork_from_constructor(void);\n"
                       "__attribute__((constructor)) static void start(void) { fork_from_constructor(); }\n"});
}

/* ---- a constructor that plans while another thread waits for the linker ---- */

static void plan(const sample_site *site) {
    const char *shortname = "rocdecode";
    rsdk_load_options options = {.shortnames = &shortname, .shortname_count = 1};
    rsdk_sdk *sdk = sample_open(site);
    rsdk_plan *result = NULL;
    REQUIRE(rsdk_plan_new(sdk, &options, &result, NULL) == RSDK_OK);
    rsdk_plan_free(result);
    rsdk_sdk_free(sdk);
}

static void *plan_in_thread(void *path) {
    sample_site site = sample_site_at(path);
    plan(&site);
    sample_site_leave(&site);
    return NULL;
}

static pthread_t planner;

__attribute__((visibility("default"))) void plan_from_constructor(void);

/* The linker holds its lock while constructors run, so the thread comes to wait for it. */
void plan_from_constructor(void) {
    sample_site site = *site_of_constructor;
    REQUIRE(pthread_create(&planner, NULL, plan_in_thread, site.path) == 0);
    (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    plan(site_of_constructor);
}

static void check_constructor_plans(void *site) {
    site_of_constructor = site;
    REQUIRE(dlopen(sample_path(site, OUTSIDE "/libplanning.so"), RTLD_NOW) != NULL);
    REQUIRE(pthread_join(planner, NULL) == 0);
}

static void constructor_may_plan_beside_another_thread(void **state) {
    sample_site site = sample_site_new();
    sample_dist_info(&site);
    sample_compile(&site, &(sample_library){.file = "librocdecode.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.directory = OUTSIDE,
                                            .file = "libplanning.so",
                                            .source = "void plan_from_constructor(void);\n"
                                                      "__attribute__((constructor)) static void start(void) {\n"
                                                      "    plan_from_constructor();\n"
                                                      "}\n"});
    in_child(check_constructor_plans, &site);
}

/* ---- forks while every function that asks the linker runs ---- */

enum { FORKS = 500, CHILD_SECONDS = 20 };

/* What the threads and the children do in turn. */
static void ask_linker(const sample_site *site, unsigned turn) {
    const char *shortname = "rocdecode", *file = sample_path(site, OUTSIDE "/libgiven.so");
    rsdk_load_options by_name = {.shortnames = &shortname,
                                 .shortname_count = 1,
                                 .unversioned_names = turn % 8 == 3 ? RSDK_UNVERSIONED_ALL : RSDK_UNVERSIONED_KNOWN};
    rsdk_load_options by_file = {.files = &file, .file_count = 1};
    rsdk_load_options *options = turn % 2 == 0 ? &by_name : &by_file;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_sdk *sdk = sample_open(site);
    if (turn % 4 < 2) {
        rsdk_plan *plan = NULL;
        REQUIRE(rsdk_plan_new(sdk, options, &plan, &error) == RSDK_OK);
        rsdk_plan_free(plan);
    } else {
        rsdk_loaded *loaded = NULL;
        REQUIRE(rsdk_loader_preload(sdk, options, &loaded, &error) == RSDK_OK);
        rsdk_loaded_free(loaded);
    }
    rsdk_sdk_free(sdk);
}

static atomic_bool is_over;

static void *ask_all_the_time(void *path) {
    for (unsigned turn = 0; !atomic_load(&is_over); turn++) {
        sample_site site = sample_site_at(path);
        ask_linker(&site, turn);
        sample_site_leave(&site);
    }
    return NULL;
}

static unsigned wanted_forks(void) {
    const char *wanted = getenv("ROCM_SDK_TEST_FORKS");
    return wanted != NULL ? (unsigned)strtoul(wanted, NULL, 10) : FORKS;
}

static void check_forks(void *context) {
    enum { COUNT = 3 };
    sample_site *site = context;
    pthread_t threads[COUNT];
    (void)alarm(0); /* each child has a limit of its own */
    for (size_t i = 0; i < COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, ask_all_the_time, site->path) == 0);
    }
    for (unsigned i = 0; i < wanted_forks(); i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            (void)alarm(CHILD_SECONDS);
            ask_linker(site, i);
            _exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&is_over, true);
    for (size_t i = 0; i < COUNT; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    }
}

/* ROCM_SDK_TEST_FORKS sets how many. */
static void children_can_ask_the_linker(void **state) {
    if (UNDER_SANITIZER) {
        (void)fprintf(stderr, "skipped: the locks of a sanitizer are not made for so many forks\n");
        skip();
    }
    sample_site site = sample_site_new();
    sample_dist_info(&site);
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "librocdecode.so.1", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(
        &site, &(sample_library){
                   .directory = OUTSIDE, .file = "libgiven.so", .source = "", .needs = CORE_LIB "/librocdecode.so.1"});
    in_child(check_forks, &site);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_threads_loads),
        cmocka_unit_test(constructor_may_load),
        cmocka_unit_test(fork_waits_for_a_running_constructor),
        cmocka_unit_test(constructor_may_fork),
        cmocka_unit_test(children_can_ask_the_linker),
        cmocka_unit_test(constructor_may_plan_beside_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
