/* The process's loaded objects, as the dynamic linker has them. */
#include "loader/link_map.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_process.h"
#include "sample_sdk.h"
#include "suite.h"

static void own_libraries_are_listed(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_link_map map;
    rsdk_error error = RSDK_ERROR_INIT;
    assert_int_equal(rsdk_link_map_read(&arena, &map, &error), RSDK_OK);
    assert_true(map.objects.count > 3);
    assert_string_equal(map.objects.items[0].path, ""); /* the main program */
    assert_null(map.program_rpath);
    const rsdk_mapped_object *libc = rsdk_link_map_find_soname(&map, "libc.so.6");
    assert_non_null(libc);
    assert_int_equal(libc->path[0], '/');
    assert_non_null(rsdk_link_map_find_soname(&map, "libcmocka.so.0"));
    assert_null(rsdk_link_map_find_soname(&map, "libc.so"));
    rsdk_arena_clear(&arena);
}

static void find_files(void *context) {
    const sample_site *site = context;
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_link_map map;
    struct stat facts;
    REQUIRE(dlopen(sample_path(site, "link.so"), RTLD_NOW) != NULL);
    REQUIRE(dlopen(sample_path(site, CORE_LIB "/libnameless.so"), RTLD_NOW) != NULL);
    REQUIRE(rsdk_link_map_read(&arena, &map, NULL) == RSDK_OK);
    const char *path = sample_path(site, CORE_LIB "/libx.so.1");
    REQUIRE(stat(path, &facts) == 0);
    rsdk_file_identity identity = {.device = facts.st_dev, .inode = facts.st_ino};
    const rsdk_mapped_object *object = rsdk_link_map_find_file(&map, path, "libx.so.1", identity);
    REQUIRE(object != NULL && strcmp(object->path, sample_path(site, "link.so")) == 0);
    REQUIRE(object == rsdk_link_map_find_soname(&map, "libx.so.1"));
    identity.inode++;
    REQUIRE(rsdk_link_map_find_file(&map, path, "libx.so.1", identity) == NULL);
    const char *nameless = sample_path(site, CORE_LIB "/libnameless.so");
    object = rsdk_link_map_find_file(&map, nameless, NULL, identity);
    REQUIRE(object != NULL && object->soname == NULL);
    rsdk_arena_clear(&arena);
}

static void files_are_found_by_identity(void **state) {
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libx.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libnameless.so", .soname = "", .source = ""});
    assert_int_equal(symlink(CORE_LIB "/libx.so.1", sample_path(&site, "link.so")), 0);
    run_in_child(find_files, &site);
    sample_site_remove(&site);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_libraries_are_listed),
        cmocka_unit_test(files_are_found_by_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
