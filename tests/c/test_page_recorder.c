/* Which pages a list gets that are not in memory: those that lie between two that are. */
#include <dlfcn.h>
#include <fcntl.h>

#include "child_process.h"
#include "loader/read_ahead/page_list.h"
#include "sample_loading.h"
#include "suite.h"

#define LIBRARY CORE_LIB "/libamd_comgr.so.3"

enum { TOUCHED = 500, NEAR = TOUCHED + 8, FAR = NEAR + 9 }; /* pages of data, from its beginning */

static sample_site site;

static int make_site(void **state) {
    site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libamd_comgr.so.3", .source = "char data[4 << 20] = {1};"});
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

static void load(rsdk_sdk *sdk) {
    const char *name = "amd_comgr";
    const rsdk_load_options options = {.shortnames = &name, .shortname_count = 1, .read_ahead = RSDK_READ_AHEAD_NEVER};
    rsdk_loaded *loaded = NULL;
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, NULL) == RSDK_OK);
    rsdk_loaded_free(loaded);
}

/* Writes to three pages, of which the kernel gives the process a copy each, and of none beside them. */
static void touch_and_record(void *context) {
    (void)context;
    rsdk_sdk *sdk = sample_open(&site);
    load(sdk);
    void *library = dlopen(sample_path(&site, LIBRARY), RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(library != NULL);
    volatile char *data = dlsym(library, "data");
    REQUIRE(data != NULL);
    if (sysconf(_SC_PAGESIZE) != RSDK_PAGE_SIZE) {
        skip_child("pages of this machine are larger than those of a list");
    }
    data[TOUCHED * RSDK_PAGE_SIZE] = 1;
    data[NEAR * RSDK_PAGE_SIZE] = 1;
    data[FAR * RSDK_PAGE_SIZE] = 1;
    REQUIRE(rsdk_loader_record_pages(sdk, NULL, NULL) == RSDK_OK);
    rsdk_sdk_free(sdk);
}

/* What lies between two pages is read with them where it is little. */
static void a_small_gap_is_recorded(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    run_in_child(touch_and_record, NULL);
    const rsdk_page_list list = sample_page_list(&site, &arena);
    assert_int_equal(list.files.count, 1);
    const rsdk_paged_file *file = &list.files.items[0];
    size_t near = 0;
    while (near < file->ranges.count && file->ranges.items[near].first < TOUCHED) {
        near++;
    }
    assert_true(near + 1 < file->ranges.count);
    const rsdk_page_range *range = &file->ranges.items[near], *next = range + 1;
    assert_int_equal(range->last - range->first, NEAR - TOUCHED);
    assert_int_equal(next->first - range->last, FAR - NEAR);
    assert_int_equal(next->last, next->first);
    rsdk_arena_clear(&arena);
}

/* What is opened then has the number 0. */
static void record_without_standard_input(void *context) {
    (void)context;
    rsdk_sdk *sdk = sample_open(&site);
    load(sdk);
    REQUIRE(close(STDIN_FILENO) == 0);
    REQUIRE(rsdk_loader_record_pages(sdk, NULL, NULL) == RSDK_OK);
    REQUIRE(fcntl(STDIN_FILENO, F_GETFD) == -1);
    rsdk_sdk_free(sdk);
}

static void a_process_may_have_no_standard_input(void **state) {
    run_in_child(record_without_standard_input, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_gap_is_recorded),
        cmocka_unit_test(a_process_may_have_no_standard_input),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
