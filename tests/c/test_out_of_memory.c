/* Out of memory: every allocation of the library fails in turn, while it plans, loads, and explains a failure. Each
 * time the answer is RSDK_NO_MEMORY or success, and afterwards nothing is left allocated. */
#include "failing_memory.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "binding/host_check.h"
#include "child_process.h"
#include "loader/linker_search.h"
#include "rocm_sdk/bindings.h"
#include "sample_sdk.h"
#include "suite.h"

/* ---- what is tried ---- */

enum { PATH_SIZE = 256 };
static sample_site site;

typedef rsdk_status (*work)(rsdk_sdk *sdk, rsdk_error *error);

static const char *const names[] = {"roctx64", "amdhip64", "rocdxg"};
static const rsdk_load_options everything = {
    .shortnames = names, .shortname_count = 3, .is_global = true, .unversioned_names = RSDK_UNVERSIONED_ALL};

static rsdk_status make_plan(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_plan *plan = NULL;
    rsdk_status status = rsdk_plan_new(sdk, &everything, &plan, error);
    rsdk_plan_free(plan);
    return status;
}

static rsdk_status foresee_bindings(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_bindings *bindings = NULL;
    rsdk_status status = rsdk_bindings_read(sdk, &everything, NULL, 0, &bindings, error);
    rsdk_bindings_free(bindings);
    return status;
}

static rsdk_status read_bindings(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_bindings *bindings = NULL;
    (void)sdk;
    rsdk_status status = rsdk_bindings_read_process(0, &bindings, error);
    rsdk_bindings_free(bindings);
    return status;
}

static rsdk_status preload(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_loaded *loaded = NULL;
    rsdk_status status = rsdk_loader_preload(sdk, &everything, &loaded, error);
    rsdk_loaded_free(loaded);
    return status;
}

/* Loads, records which pages that took, and loads once more by that list. */
static rsdk_status record_pages(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_load_options options = everything;
    rsdk_loaded *loaded = NULL;
    RSDK_TRY(preload(sdk, error));
    RSDK_TRY(rsdk_loader_record_pages(sdk, NULL, error));
    options.read_ahead = RSDK_READ_AHEAD_ALWAYS;
    rsdk_status status = rsdk_loader_preload(sdk, &options, &loaded, error);
    rsdk_loaded_free(loaded);
    return status;
}

static rsdk_status fail_to_preload(rsdk_sdk *sdk, rsdk_error *error) {
    static const char *const broken[] = {"roctx64", "rocm_smi64"}; /* the second needs what is nowhere */
    rsdk_loaded *loaded = NULL;
    rsdk_status status =
        rsdk_loader_preload(sdk, &(rsdk_load_options){.shortnames = broken, .shortname_count = 2}, &loaded, error);
    rsdk_loaded_free(loaded);
    return status;
}

/* Two libraries that call the same functions, and the user's wishes. */
static rsdk_status make_guarded_plan(rsdk_sdk *sdk, rsdk_error *error) {
    static const char *const both[] = {"rocm_smi64", "amdhip64", "amd_smi"};
    const rsdk_load_options options = {.shortnames = both,
                                       .shortname_count = 3,
                                       .is_global = true,
                                       .is_always_global = true,
                                       .isolate = "roctx64, amd_smi:deepbind"};
    rsdk_plan *plan = NULL;
    rsdk_status status = rsdk_plan_new(sdk, &options, &plan, error);
    REQUIRE(status != RSDK_OK || (rsdk_plan_step_count(plan) == 5 + 1 && !rsdk_plan_step(plan, 0)->is_global));
    rsdk_plan_free(plan);
    return status;
}

static rsdk_status wish_nonsense(rsdk_sdk *sdk, rsdk_error *error) {
    const rsdk_load_options options = {.shortnames = names, .shortname_count = 3, .isolate = "amdhip64"};
    rsdk_plan *plan = NULL;
    return rsdk_plan_new(sdk, &options, &plan, error);
}

/* A soft limit of this process, and what it was. */
static rlim_t limit_to(__rlimit_resource_t resource, rlim_t value) {
    struct rlimit limit;
    REQUIRE(getrlimit(resource, &limit) == 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = value;
    REQUIRE(setrlimit(resource, &limit) == 0);
    return before;
}

/* No memory file can be written, so the members are opened one by one: eight, as many as a list has room for at first.
 * What is read behind them is seen by AddressSanitizer. */
static rsdk_status preload_one_by_one(rsdk_sdk *sdk, rsdk_error *error) {
    static const char *const chain[] = {"amd_smi"};
    rsdk_loaded *loaded = NULL;
    REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    rlim_t before = limit_to(RLIMIT_FSIZE, 0);
    rsdk_status status =
        rsdk_loader_preload(sdk, &(rsdk_load_options){.shortnames = chain, .shortname_count = 1}, &loaded, error);
    (void)limit_to(RLIMIT_FSIZE, before);
    rsdk_loaded_free(loaded);
    return status;
}

/* ld.so.cache cannot be opened, and the search does without. */
static rsdk_status search_without_cache(rsdk_sdk *sdk, rsdk_error *error) {
    const rsdk_link_map map = {0};
    const rsdk_load_chain alone = {0};
    rsdk_linker_search search;
    rsdk_arena arena = RSDK_ARENA_INIT;
    const char *path = NULL;
    (void)sdk;
    rsdk_status status = rsdk_linker_search_init(&arena, &map, &search, error);
    if (status == RSDK_OK) {
        rlim_t before = limit_to(RLIMIT_NOFILE, 0);
        status = rsdk_linker_search_find(&search, &alone, "libnowhere.so.9", &path, error);
        (void)limit_to(RLIMIT_NOFILE, before);
        REQUIRE(path == NULL && (status != RSDK_OK || search.cache == NULL));
    }
    rsdk_arena_clear(&arena);
    return status;
}

static rsdk_status locate_unknown(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_location location;
    return rsdk_loader_locate(sdk, "hipblass", &location, error);
}

static rsdk_status locate_uninstalled(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_location location;
    return rsdk_loader_locate(sdk, "rccl", &location, error);
}

static rsdk_status locate_missing(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_location location;
    return rsdk_loader_locate(sdk, "hipfile", &location, error);
}

/* ---- problems ---- */

/* A problem that is made is complete, and the same as with enough memory. */
static rsdk_status explain(rsdk_sdk *sdk, const rsdk_error *reason, const char *code, const char *fix,
                           rsdk_error *error) {
    static const rsdk_installation known = {.installer = "conda", .environment = "/an env", .note = "it is root's"};
    rsdk_problem *problem = NULL;
    rsdk_status status = rsdk_problem_of_error(reason, sdk, &known, &problem);
    REQUIRE((status == RSDK_OK) == (problem != NULL));
    if (status != RSDK_OK) {
        REQUIRE(status == RSDK_NO_MEMORY);
        return rsdk_fail_no_memory(error);
    }
    REQUIRE(problem->code != NULL && problem->title != NULL && problem->cause != NULL && problem->fix != NULL);
    REQUIRE(problem->path != NULL);
    REQUIRE_CONTAINS(problem->code, code);
    REQUIRE_CONTAINS(problem->fix, fix);
    for (size_t i = 0; i < problem->fact_count; i++) {
        REQUIRE(problem->facts[i].name != NULL && problem->facts[i].value != NULL);
    }
    rsdk_problem_free(problem);
    return RSDK_OK;
}

static rsdk_status explain_refusal(rsdk_sdk *sdk, const char *library, rsdk_fact *said, const char *code,
                                   const char *fix, rsdk_error *error) {
    static char path[PATH_SIZE], message[] = "it did not load";
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB "/%s", site.path, library);
    const rsdk_error reason = {.status = RSDK_LOAD_FAILED,
                               .code = RSDK_E_LIB_001,
                               .message = message,
                               .path = path,
                               .facts = said,
                               .fact_count = 1};
    return explain(sdk, &reason, code, fix, error);
}

static rsdk_status explain_load_failure(rsdk_sdk *sdk, rsdk_error *error) {
    static rsdk_fact said = {"dlerror", "libnowhere.so.1: cannot open shared object file: No such file or directory"};
    return explain_refusal(sdk, "librocm_smi64.so.7", &said, "E-LIB-002", "libnowhere.so.1", error);
}

/* The library that is not there is one of the catalog, whose package is installed. */
static rsdk_status explain_load_failure_of_core(rsdk_sdk *sdk, rsdk_error *error) {
    static rsdk_fact said = {"dlerror", "libhsa-runtime64.so.1: cannot open shared object file: No such file"};
    return explain_refusal(sdk, "libroctx64.so.4", &said, "E-LIB-002", "rocm-sdk-core", error);
}

static rsdk_status explain_missing_library(rsdk_sdk *sdk, rsdk_error *error) {
    static char path[PATH_SIZE];
    static rsdk_fact facts[] = {{"shortname", "hipfile"}, {"pattern", "libhipfile.so*"}};
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB, site.path);
    const rsdk_error reason = {.status = RSDK_FILE_NOT_FOUND, .path = path, .facts = facts, .fact_count = 2};
    return explain(sdk, &reason, "E-FILE-001", " rocm-sdk-core=7.10.0  # it is root's", error);
}

static rsdk_status explain_damaged_file(rsdk_sdk *sdk, rsdk_error *error) {
    static char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB "/two\nlines.so", site.path);
    const rsdk_error reason = {.status = RSDK_BAD_ELF, .path = path};
    return explain(sdk, &reason, "E-LIB-006", " rocm-sdk-core=7.10.0  # it is root's", error);
}

/* Of a library whose needs are there, and of one that lacks something. */
static rsdk_status check_host(rsdk_sdk *sdk, rsdk_error *error) {
    static char paths[2][PATH_SIZE];
    (void)sdk;
    (void)snprintf(paths[0], sizeof paths[0], "%s/" CORE_LIB "/libamdhip64.so.7", site.path);
    (void)snprintf(paths[1], sizeof paths[1], "%s/" CORE_LIB "/librocm_smi64.so.7", site.path);
    const char *const files[] = {paths[0], paths[1]};
    const rsdk_host_check check = {
        .files = files, .file_count = 2, .libraries = files, .library_count = 2, .is_installed = true};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_host_files result = {0};
    rsdk_status status = rsdk_host_check_run(&check, &arena, &result, error);
    REQUIRE(status != RSDK_OK || result.list.count == 2);
    rsdk_arena_clear(&arena);
    return status;
}

/* Another SDK, by its directory; and one that is not there, which is looked for in and above the directory. */
static rsdk_status open_root(rsdk_sdk *sdk, rsdk_error *error) {
    (void)sdk;
    rsdk_sdk *other = NULL;
    rsdk_status status = rsdk_sdk_open(&(rsdk_sdk_options){.root = site.path}, &other, error);
    rsdk_sdk_free(other);
    return status;
}

static const char *part_of_root;

static rsdk_status open_part_of_root(rsdk_sdk *sdk, rsdk_error *error) {
    (void)sdk;
    rsdk_sdk *other = NULL;
    return rsdk_sdk_open(&(rsdk_sdk_options){.root = part_of_root}, &other, error);
}

typedef struct series {
    work body;
    rsdk_status wanted;
} series;

/* Opens the SDK, and does the work with it. */
static rsdk_status work_with_sdk(void *context, rsdk_error *error) {
    const series *s = context;
    const char *search_path[] = {"", site.path};
    const rsdk_sdk_options options = {.search_path = search_path, .search_path_count = 2};
    rsdk_sdk *sdk = NULL;
    rsdk_status status = rsdk_sdk_open(&options, &sdk, error);
    if (status == RSDK_OK) {
        status = s->body(sdk, error);
    }
    rsdk_sdk_free(sdk);
    return status;
}

static void try_all(void *context) {
    fail_each(work_with_sdk, context, ((const series *)context)->wanted, 20);
}

#define CALLS_ITSELF "int rsmi_init(void) { return 1; } int ask(void) { return rsmi_init() + 1; }"

static int make_site(void **state) {
    site = sample_site_new();
    sample_dist_info(&site);
    sample_directory(&site, "rocm_sdk_core-7.10.0.dist-info");
    sample_file(&site, "rocm_sdk_core-7.10.0.dist-info/RECORD",
                CORE_LIB "/libhipfile.so.1,,\n\"" CORE_LIB "/two\nlines.so\",,\n");
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libnowhere.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libamd_comgr.so.3", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(&site, &(sample_library){.file = "libamdhip64.so.7", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(
        &site,
        &(sample_library){.file = "librocm_smi64.so.7", .source = CALLS_ITSELF, .needs = OUTSIDE "/libnowhere.so.1"});
    for (char name[] = "libchain1.so.1", needs[PATH_SIZE] = ""; name[8] <= '7'; name[8]++) {
        sample_compile(&site, &(sample_library){.file = name, .source = "", .needs = needs[0] != '\0' ? needs : NULL});
        (void)snprintf(needs, sizeof needs, CORE_LIB "/%s", name);
    }
    sample_compile(&site, &(sample_library){
                              .file = "libamd_smi.so.26", .source = CALLS_ITSELF, .needs = CORE_LIB "/libchain7.so.1"});
    return unlink(sample_path(&site, OUTSIDE "/libnowhere.so.1"));
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

static void planning(void **state) {
    run_in_child(try_all, &(series){make_plan, RSDK_OK});
}

static void bindings(void **state) {
    run_in_child(try_all, &(series){foresee_bindings, RSDK_OK});
    run_in_child(try_all, &(series){read_bindings, RSDK_OK});
}

static void planning_with_the_guard(void **state) {
    run_in_child(try_all, &(series){make_guarded_plan, RSDK_OK});
    run_in_child(try_all, &(series){wish_nonsense, RSDK_BAD_ARGUMENT});
}

static void roots(void **state) {
    run_in_child(try_all, &(series){open_root, RSDK_OK});
    part_of_root = sample_path(&site, CORE_LIB);
    run_in_child(try_all, &(series){open_part_of_root, RSDK_BAD_ARGUMENT});
}

static void host_check(void **state) {
    run_in_child(try_all, &(series){check_host, RSDK_OK});
}

static void search(void **state) {
    run_in_child(try_all, &(series){search_without_cache, RSDK_OK});
}

static void errors(void **state) {
    run_in_child(try_all, &(series){locate_unknown, RSDK_UNKNOWN_LIBRARY});
    run_in_child(try_all, &(series){locate_uninstalled, RSDK_PACKAGE_NOT_INSTALLED});
    run_in_child(try_all, &(series){locate_missing, RSDK_FILE_NOT_FOUND});
}

/* Every attempt in a process of its own: what one has loaded would be there for the next. */
static void preload_alone(work body, rsdk_status wanted) {
    for (size_t number = 1;; number++) {
        int status = 0;
        (void)fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(fails_at(work_with_sdk, &(series){body, wanted}, number, wanted) ? 0 : 100);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 100) {
            assert_true(number > 100);
            return;
        }
        if (status != 0) {
            fail_msg("allocation %zu: status %d", number, status);
        }
    }
}

static void problems(void **state) {
    run_in_child(try_all, &(series){explain_load_failure, RSDK_OK});
    run_in_child(try_all, &(series){explain_load_failure_of_core, RSDK_OK});
    run_in_child(try_all, &(series){explain_missing_library, RSDK_OK});
    run_in_child(try_all, &(series){explain_damaged_file, RSDK_OK});
}

static void loading(void **state) {
    preload_alone(preload, RSDK_OK);
}

static void recording_pages(void **state) {
    preload_alone(record_pages, RSDK_OK);
}

static void loading_one_by_one(void **state) {
    preload_alone(preload_one_by_one, RSDK_OK);
}

static void failed_loading(void **state) {
    preload_alone(fail_to_preload, RSDK_LOAD_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings),
        cmocka_unit_test(planning),
        cmocka_unit_test(planning_with_the_guard),
        cmocka_unit_test(host_check),
        cmocka_unit_test(roots),
        cmocka_unit_test(search),
        cmocka_unit_test(errors),
        cmocka_unit_test(problems),
        cmocka_unit_test(loading),
        cmocka_unit_test(recording_pages),
        cmocka_unit_test(loading_one_by_one),
        cmocka_unit_test(failed_loading),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
