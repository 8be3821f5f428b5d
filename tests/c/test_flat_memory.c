/* Each function that may take memory, called ten thousand times in one process with one open SDK: what it took it has
 * given back. A program that asks an SDK for hours stays as large as it is. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_process.h"
#include "sample_sdk.h"
#include "suite.h"

#if UNDER_ADDRESS_SANITIZER
#include <sanitizer/allocator_interface.h>
#endif

enum { FIRST_CALLS = 100, CALLS = UNDER_ADDRESS_SANITIZER ? 1000 : 10000, LEEWAY = 4096 /* bytes */ };

static sample_site site;
static rsdk_sdk *sdk;
static rsdk_error error;
static const char *hip, *plugin, *gone;

static size_t bytes_in_use(void) {
#if UNDER_ADDRESS_SANITIZER
    return __sanitizer_get_current_allocated_bytes();
#else
    struct mallinfo2 facts = mallinfo2();
    return facts.uordblks + facts.hblkhd;
#endif
}

/* ---- the calls ---- */

static void open_it(void) {
    const char *places[] = {site.path};
    rsdk_sdk_options options = {.search_path = places, .search_path_count = 1, .target_family = "gfx94X-dcgpu"};
    rsdk_sdk *fresh = NULL;
    assert_int_equal(rsdk_sdk_open(&options, &fresh, &error), RSDK_OK);
    rsdk_sdk_free(fresh);
}

static void open_in_vain(void) {
    rsdk_library_override nothing = {.shortname = "nothing", .path = "/nothing", .source = "test"};
    rsdk_sdk_options options = {.root = "/nonexistent", .overrides = &nothing, .override_count = 1};
    rsdk_sdk *fresh = NULL;
    assert_int_not_equal(rsdk_sdk_open(&options, &fresh, &error), RSDK_OK);
}

static void ask_for_packages(void) {
    const char *found = NULL;
    for (int id = 0; id < RSDK_PACKAGE_COUNT; id++) {
        (void)rsdk_sdk_package_directory(sdk, (rsdk_package_id)id, &found, &error);
        (void)rsdk_sdk_package_module(sdk, (rsdk_package_id)id);
    }
    assert_non_null(rsdk_sdk_package_module(sdk, RSDK_CORE));
}

static void ask_what_it_was_built_for(void) {
    const char *targets = NULL;
    bool is_absent = false;
    assert_int_equal(rsdk_sdk_built_targets(sdk, &targets, &error), RSDK_BAD_METADATA); /* the file is damaged */
    (void)rsdk_sdk_is_declared_absent(sdk, "miopen", &is_absent, &error);
}

static void locate(void) {
    rsdk_location location;
    assert_int_equal(rsdk_loader_locate(sdk, "amdhip64", &location, &error), RSDK_OK);
}

static void locate_in_vain(void) {
    static const char *const names[] = {"miopen", "amd_comgr", "amdhip46"};
    rsdk_location locations[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_not_equal(rsdk_loader_locate_all(sdk, names + i, 1, locations, &error), RSDK_OK);
    }
    assert_int_not_equal(rsdk_loader_locate_all(sdk, names, 2, locations, &error), RSDK_OK);
}

static rsdk_load_options of_hip(void) {
    static const char *const name = "amdhip64";
    return (rsdk_load_options){.shortnames = &name, .shortname_count = 1};
}

static void plan(void) {
    const rsdk_load_options options = of_hip();
    rsdk_plan *made = NULL;
    assert_int_equal(rsdk_plan_new(sdk, &options, &made, &error), RSDK_OK);
    rsdk_plan_free(made);
}

static void preload(void) {
    const rsdk_load_options options = of_hip();
    rsdk_loaded *loaded = NULL;
    assert_int_equal(rsdk_loader_preload(sdk, &options, &loaded, &error), RSDK_OK);
    rsdk_loaded_free(loaded);
}

static void preload_in_vain(void) {
    static const char *const name = "rocm_smi64"; /* is no library */
    const rsdk_load_options options = {.shortnames = &name, .shortname_count = 1};
    rsdk_loaded *loaded = NULL;
    rsdk_problem *problem = NULL;
    assert_int_not_equal(rsdk_loader_preload(sdk, &options, &loaded, &error), RSDK_OK);
    assert_int_equal(rsdk_problem_of_error(&error, sdk, NULL, &problem), RSDK_OK);
    rsdk_problem_free(problem);
}

static void preload_for_a_file(void) {
    rsdk_loaded *loaded = NULL;
    assert_int_equal(rsdk_loader_preload_for(sdk, &plugin, 1, &loaded, &error), RSDK_OK);
    rsdk_loaded_free(loaded);
    assert_int_not_equal(rsdk_loader_preload_for(sdk, &gone, 1, &loaded, &error), RSDK_OK);
}

static void read_bindings(void) {
    const rsdk_load_options options = of_hip();
    const rsdk_opening opening = {.path = plugin, .mode = RTLD_LOCAL};
    rsdk_bindings *bindings = NULL;
    assert_int_equal(rsdk_bindings_read(sdk, &options, &opening, 1, &bindings, &error), RSDK_OK);
    rsdk_bindings_free(bindings);
}

static void record_pages(void) {
    assert_int_not_equal(rsdk_loader_record_pages(sdk, "/nonexistent/pages", &error), RSDK_OK);
}

static void write_a_report(void) {
    const rsdk_report_options options = {.file = "/nonexistent/%n-%p.json"};
    assert_int_not_equal(rsdk_report_write(&options, sdk, NULL, &error, &error), RSDK_OK);
}

static void read_code(void) {
    rsdk_device_code *code = NULL;
    rsdk_coverage *coverage = NULL;
    const char *gpu = "gfx1100";
    const rsdk_coverage_options options = {
        .directories = (const char *const[]){site.path}, .directory_count = 1, .gpus = &gpu, .gpu_count = 1};
    assert_int_equal(rsdk_device_code_read(hip, &code, &error), RSDK_OK);
    rsdk_device_code_free(code);
    assert_int_not_equal(rsdk_device_code_read(gone, &code, &error), RSDK_OK);
    assert_int_equal(rsdk_coverage_read(&options, &coverage, &error), RSDK_OK);
    rsdk_coverage_free(coverage);
}

static void read_a_part(void) {
    rsdk_device_code *code = NULL;
    int file = open(hip, O_RDONLY | O_CLOEXEC);
    (void)rsdk_device_code_read_part(file, 0, 4096, "part", &code, &error);
    rsdk_device_code_free(code);
    assert_int_equal(close(file), 0);
}

static void detect_gpus(void) {
    static const rsdk_gpu_environment environment = {.hip_visible_devices = "7", .hsa_override_gfx_version = "1.2"};
    const rsdk_gpu_options options = {.root = site.path, .environment = &environment};
    rsdk_gpu_list *list = NULL;
    rsdk_health *health = NULL;
    rsdk_gpu_variable variables[RSDK_GPU_VARIABLE_LIMIT];
    const rsdk_gpu_selection selection = {0};
    size_t count = 0;
    if (rsdk_gpu_list_new(&options, &list, &error) == RSDK_OK) {
        (void)rsdk_gpu_list_choose(list, &environment, &selection, variables, &count, &error);
        (void)rsdk_health_new(list, site.path, &health, &error);
        rsdk_health_free(health);
    }
    rsdk_gpu_list_free(list);
    rsdk_family_choice choice;
    const char *family = "gfx94X-dcgpu";
    (void)rsdk_family_choose(&options, &family, 1, &choice, &error);
}

static void ask_tables(void) {
    const rsdk_target *targets[256];
    const char *names[RSDK_TARGET_FAMILY_LIMIT + 1], *nearest[3], *owner = NULL;
    char id[RSDK_TARGET_ID_SIZE];
    size_t count = 0;
    assert_true(rsdk_target_count() <= sizeof targets / sizeof *targets);
    assert_true(rsdk_catalog_nearest("amdhip46", nearest, 3) > 0);
    assert_true(rsdk_target_nearest("gfx110", nearest, 3) > 0);
    assert_int_equal(rsdk_target_families_of("gfx942", names, &count, &error), RSDK_OK);
    assert_int_not_equal(rsdk_target_families_of("gfx94", names, &count, &error), RSDK_OK);
    assert_int_not_equal(rsdk_target_package_owner("gfx94", &owner, &error), RSDK_OK);
    assert_int_not_equal(rsdk_target_id_normalize("gfx942:fast", id, &error), RSDK_OK);
    assert_int_not_equal(rsdk_target_expand("gfx94", targets, &count, &error), RSDK_OK);
    assert_non_null(rsdk_target_family_find("gfx94x"));
}

static void make_problems(void) {
    const rsdk_fact facts[] = {{"name", "amdhip46"}};
    rsdk_problem *problem = NULL;
    assert_int_equal(rsdk_problem_make(RSDK_E_API_004, gone, facts, 1, NULL, &problem), RSDK_OK);
    rsdk_problem_free(problem);
}

static void ask_no_python(void) {
    rsdk_python_path *python = NULL;
    assert_int_not_equal(rsdk_python_path_ask("/nonexistent/python", NULL, &python, &error), RSDK_OK);
}

static void (*const calls[])(void) = {
    open_it,
    open_in_vain,
    ask_for_packages,
    ask_what_it_was_built_for,
    locate,
    locate_in_vain,
    plan,
    preload,
    preload_in_vain,
    preload_for_a_file,
    read_bindings,
    record_pages,
    write_a_report,
    read_code,
    read_a_part,
    detect_gpus,
    ask_tables,
    make_problems,
    ask_no_python,
};

/* ---- the test ---- */

static int make_site(void **state) {
    site = sample_site_new();
    sample_dist_info(&site);
    sample_compile(&site, &(sample_library){.file = "libamdhip64.so.7", .source = "int hip(void) { return 7; }"});
    sample_file(&site, CORE_LIB "/librocm_smi64.so.7", "no library");
    sample_directory(&site, "_rocm_sdk_core/share/therock");
    sample_file(&site, "_rocm_sdk_core/share/therock/dist_info.json", "{\"absent_libraries\": [\"a\", 7]}");
    sample_directory(&site, OUTSIDE);
    sample_compile(&site, &(sample_library){.directory = OUTSIDE,
                                            .file = "plugin.so",
                                            .source = "int hip(void); int plugin(void) { return hip(); }",
                                            .needs = CORE_LIB "/libamdhip64.so.7"});
    hip = sample_path(&site, CORE_LIB "/libamdhip64.so.7");
    plugin = sample_path(&site, OUTSIDE "/plugin.so");
    gone = sample_path(&site, "gone");
    sdk = sample_open(&site);
    return 0;
}

static int remove_site(void **state) {
    rsdk_error_clear(&error);
    rsdk_sdk_free(sdk);
    sample_site_remove(&site);
    return 0;
}

static void memory_is_flat(void **state) {
    int growing = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int count = 0; count < FIRST_CALLS; count++) {
            calls[i]();
        }
        const size_t before = bytes_in_use();
        for (int count = 0; count < CALLS; count++) {
            calls[i]();
        }
        const size_t after = bytes_in_use();
        if (after > before + LEEWAY) {
            (void)fprintf(stderr, "call %zu: %zu bytes more\n", i, after - before);
            growing++;
        }
    }
    assert_int_equal(growing, 0);
}

int main(void) {
    error = (rsdk_error)RSDK_ERROR_INIT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_flat, make_site, remove_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
