/* Targets and families: the tables agree with themselves, and every spelling leads to the right rows. */
#include <stdio.h>
#include <string.h>

#include "gpu/targets.h"
#include "problem_text.h"
#include "rocm_sdk/rocm_sdk.h"
#include "suite.h"

enum { LIMIT = 128 };

static rsdk_error error;

static int clear_error(void **state) {
    rsdk_error_clear(&error);
    return 0;
}

/* Every row of the tables of targets and families. */
#define FOR_EACH_TARGET(target)                                                                                        \
    for (size_t row_ = 0; row_ < rsdk_target_count(); row_++)                                                          \
        for (const rsdk_target *target = rsdk_target_get(row_); target != NULL; target = NULL)

#define FOR_EACH_FAMILY(family)                                                                                        \
    for (size_t family_ = 0; family_ < rsdk_target_family_count(); family_++)                                          \
        for (const rsdk_target_family *family = rsdk_target_family_get(family_); family != NULL; family = NULL)

static void names_follow_from_isa_numbers(void **state) {
    assert_true(rsdk_target_count() > 50 && rsdk_target_count() < LIMIT);
    assert_null(rsdk_target_get(rsdk_target_count()));
    FOR_EACH_TARGET(target) {
        char name[32];
        (void)snprintf(name, sizeof name, "gfx%u%u%x", target->major, target->minor, target->stepping);
        if (target->package_owner == NULL) {
            assert_string_equal(target->name, name);
            assert_ptr_equal(rsdk_target_find_version(target->major, target->minor, target->stepping), target);
        } else {
            assert_string_equal(target->package_owner, name);
        }
        assert_ptr_equal(rsdk_target_find(target->name), target);
        assert_ptr_equal(rsdk_target_find_mach(target->mach), target);
        assert_non_null(target->product);
    }
    assert_null(rsdk_target_find("gfx9"));
    assert_null(rsdk_target_find("gfx942:xnack-"));
    assert_null(rsdk_target_find_version(9, 4, 3));
    assert_null(rsdk_target_find_mach(0x27));
}

/* Section by section of LLVM's table: values that must not move. */
static void known_numbers(void **state) {
    static const struct {
        const char *name;
        unsigned mach;
    } wanted[] = {{"gfx803", 0x2A},  {"gfx900", 0x2C},  {"gfx906", 0x2F},  {"gfx908", 0x30},  {"gfx90a", 0x3F},
                  {"gfx90c", 0x32},  {"gfx942", 0x4C},  {"gfx950", 0x4F},  {"gfx1030", 0x36}, {"gfx1036", 0x45},
                  {"gfx1100", 0x41}, {"gfx1151", 0x4A}, {"gfx1201", 0x4E}, {"gfx1250", 0x49}, {"gfx1250-strict", 0xEB},
                  {"gfx1154", 0x57}, {"gfx1172", 0x5C}, {"gfx1310", 0x50}, {"gfx1013", 0x42}, {"gfx602", 0x3A}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(rsdk_target_find(wanted[i].name)->mach, wanted[i].mach);
    }
    assert_int_equal(rsdk_target_generic_find("gfx9-4-generic")->mach, 0x5F);
    assert_int_equal(rsdk_target_generic_find("gfx11-generic")->mach, 0x54);
    assert_null(rsdk_target_generic_find("gfx942"));
    assert_null(rsdk_target_generic_get(rsdk_target_generic_count()));
    assert_string_equal(rsdk_target_find_version(12, 5, 0)->name, "gfx1250");
}

static void generic_targets(void **state) {
    FOR_EACH_TARGET(target) {
        if (target->generic != NULL) {
            const rsdk_generic_target *generic = rsdk_target_generic_find(target->generic);
            assert_non_null(generic);
            assert_true(!generic->has_sramecc || target->has_sramecc);
            assert_int_equal(generic->xnack, target->xnack);
        }
    }
    assert_null(rsdk_target_find("gfx908")->generic);
    assert_null(rsdk_target_find("gfx90a")->generic);
    assert_string_equal(rsdk_target_find("gfx950")->generic, "gfx9-4-generic");
    assert_string_equal(rsdk_target_find("gfx90c")->generic, "gfx9-generic");
}

static void features_and_class(void **state) {
    assert_int_equal(rsdk_target_find("gfx942")->xnack, RSDK_XNACK_OF_PROCESS);
    assert_int_equal(rsdk_target_find("gfx1010")->xnack, RSDK_XNACK_OF_DRIVER);
    assert_int_equal(rsdk_target_find("gfx1030")->xnack, RSDK_XNACK_NONE);
    assert_int_equal(rsdk_target_find("gfx1250")->xnack, RSDK_XNACK_ALWAYS);
    assert_true(rsdk_target_find("gfx906")->has_sramecc);
    assert_false(rsdk_target_find("gfx900")->has_sramecc);
    FOR_EACH_TARGET(target) {
        const char *first = target->families[0];
        if (first != NULL) {
            const char *all = target->gpu_class == RSDK_GPU_DISCRETE      ? "dgpu-all"
                              : target->gpu_class == RSDK_GPU_DATA_CENTRE ? "dcgpu-all"
                                                                          : "igpu-all";
            assert_string_equal(first, all);
            assert_non_null(target->sub_family);
            assert_non_null(target->family);
        }
    }
    assert_string_equal(rsdk_gpu_class_name(RSDK_GPU_DISCRETE), "discrete");
    assert_string_equal(rsdk_gpu_class_name(RSDK_GPU_DATA_CENTRE), "data centre");
    assert_string_equal(rsdk_gpu_class_name(RSDK_GPU_INTEGRATED), "integrated");
}

static void every_family_has_a_row_and_targets(void **state) {
    FOR_EACH_TARGET(target) {
        for (size_t i = 0; i < RSDK_TARGET_FAMILY_LIMIT && target->families[i] != NULL; i++) {
            const rsdk_target_family *family = rsdk_target_family_find(target->families[i]);
            assert_non_null(family);
            assert_string_equal(family->name, target->families[i]);
            assert_int_equal(family->level, RSDK_FAMILY_OF_PACKAGES);
        }
        if (target->sub_family != NULL) {
            assert_int_equal(rsdk_target_family_find(target->sub_family)->level, RSDK_SUB_FAMILY);
        }
    }
    FOR_EACH_FAMILY(family) {
        const rsdk_target *targets[LIMIT];
        size_t count = 0;
        assert_int_equal(rsdk_target_expand(family->name, targets, &count, &error), RSDK_OK);
        assert_true(count > 0);
        assert_ptr_equal(rsdk_target_family_find(family->name), family);
        assert_null(rsdk_target_find(family->name));
    }
    assert_null(rsdk_target_family_get(rsdk_target_family_count()));
    assert_null(rsdk_target_family_find("gfx94"));
    assert_null(rsdk_target_family_find(""));
}

static void assert_expands(const char *list, const char *wanted) {
    const rsdk_target *targets[LIMIT];
    char text[2048] = "";
    size_t count = 0, length = 0;
    if (rsdk_target_expand(list, targets, &count, &error) != RSDK_OK) {
        fail_msg("%s: %s", list, rsdk_error_message(&error));
    }
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? "," : "", targets[i]->name);
    }
    assert_string_equal(text, wanted);
}

static void names_stand_for_targets(void **state) {
    assert_expands("", "");
    assert_expands(" , ;; ", "");
    assert_expands("gfx1151", "gfx1151");
    assert_expands("gfx803", "gfx803");
    assert_expands("gfx110X-all,gfx942", "gfx1100,gfx1101,gfx1102,gfx1103,gfx942");
    assert_expands(" gfx1102 ;gfx110X-all", "gfx1102,gfx1100,gfx1101,gfx1103");
    assert_expands("gfx94X-dcgpu", "gfx942");
    assert_expands("gfx9_4", "gfx942");
    assert_expands("gfx9-4", "gfx942");
    assert_expands("gfx94x", "gfx942");
    assert_expands("gfx94X", "gfx942");
    assert_expands("gfx90x", "gfx900,gfx906,gfx908,gfx90a,gfx90c");
    assert_expands("gfx9", "gfx900,gfx906,gfx908,gfx90a,gfx90c,gfx942,gfx950");
    assert_expands("gfx103X-dgpu", "gfx1030,gfx1031,gfx1032,gfx1034");
    assert_expands("gfx103X-igpu", "gfx1033,gfx1035,gfx1036");
    assert_expands("gfx11_0", "gfx1100,gfx1101,gfx1102,gfx1103");
    assert_expands("gfx115x", "gfx1150,gfx1151,gfx1152,gfx1153");
    assert_expands("gfx11-5", "gfx1150,gfx1151,gfx1152,gfx1153");
    assert_expands("gfx12", "gfx1200,gfx1201,gfx1250");
    assert_expands("gfx125X-all,gfx1250-strict", "gfx1250,gfx1250-strict");
    assert_expands("dcgpu-all", "gfx908,gfx90a,gfx942,gfx950,gfx1250");
    assert_expands("igpu-all", "gfx90c,gfx1033,gfx1035,gfx1036,gfx1103,gfx1150,gfx1151,gfx1152,gfx1153");
}

static void assert_refused(const char *list, const char *message, const char *fix) {
    const rsdk_target *targets[LIMIT];
    size_t count = 0;
    assert_int_equal(rsdk_target_expand(list, targets, &count, &error), RSDK_BAD_ARGUMENT);
    if (strstr(error.message, message) == NULL || strstr(problem_fix_of(&error, NULL), fix) == NULL) {
        fail_msg("%s: %s; %s", list, error.message, problem_fix_of(&error, NULL));
    }
}

static void unknown_names(void **state) {
    assert_refused("gfx942,gfx943", "\"gfx943\"", "gfx942");
    assert_refused("gxf942", "\"gxf942\"", "gfx942");
    assert_refused("GFX1100", "\"GFX1100\"", "did you mean gfx1100");
    assert_refused("gfx110X-al", "\"gfx110X-al\"", "gfx110X-all");
    assert_refused("gfx1155", "\"gfx1155\"", "gfx1150, gfx1151, gfx1152 or gfx1153");
    assert_refused("sm_90", "\"sm_90\"", "targets look like");
    assert_refused("gfx90a:xnack+", "\"gfx90a:xnack+\"", "targets look like");
    char long_name[5000];
    memset(long_name, 'g', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_refused(long_name, "\"gggg", "targets look like");
    const rsdk_target *targets[LIMIT];
    size_t count = 0;
    assert_int_equal(rsdk_target_expand("x", targets, &count, NULL), RSDK_BAD_ARGUMENT);
    const char *nearest[2];
    assert_int_equal(rsdk_target_nearest("gfx1155", nearest, 2), 2);
    assert_int_equal(rsdk_target_nearest("gfx1155", nearest, 0), 0);
    assert_int_equal(rsdk_target_nearest("", nearest, 2), 0);
}

static void families_and_owner(void **state) {
    const char *families[RSDK_TARGET_FAMILY_LIMIT + 1], *owner = NULL;
    size_t count = 0;
    assert_int_equal(rsdk_target_families_of("gfx1151", families, &count, &error), RSDK_OK);
    assert_int_equal(count, 4);
    assert_string_equal(families[0], "gfx1151");
    assert_string_equal(families[1], "igpu-all");
    assert_string_equal(families[3], "gfx115X-igpu");
    assert_int_equal(rsdk_target_families_of("gfx803", families, &count, &error), RSDK_OK);
    assert_int_equal(count, 0);
    assert_int_equal(rsdk_target_families_of("gfx1250-strict", families, &count, &error), RSDK_OK);
    assert_string_equal(families[0], "gfx1250");
    assert_int_equal(rsdk_target_package_owner("gfx1250-strict", &owner, &error), RSDK_OK);
    assert_string_equal(owner, "gfx1250");
    assert_int_equal(rsdk_target_package_owner("gfx942:sramecc+:xnack-", &owner, &error), RSDK_OK);
    assert_string_equal(owner, "gfx942");
    assert_int_equal(rsdk_target_package_owner("gfx115", &owner, &error), RSDK_BAD_ARGUMENT);
    assert_null(owner);
    assert_int_equal(rsdk_target_families_of("dgpu-all", families, &count, &error), RSDK_BAD_ARGUMENT);
}

static void target_ids(void **state) {
    static const char *const ids[][2] = {{"gfx942", "gfx942"},
                                         {"gfx942:xnack-", "gfx942:xnack-"},
                                         {"gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-"},
                                         {"gfx1010:xnack+", "gfx1010:xnack+"},
                                         {"gfx1250-strict", "gfx1250-strict"}};
    static const char *const wrong[] = {"",
                                        "gfx943",
                                        "gfx94X-dcgpu",
                                        "gfx942:",
                                        "gfx942::",
                                        "gfx942:x",
                                        "gfx942:xnack",
                                        "gfx942:xnack++",
                                        "gfx942:xnack+:",
                                        "gfx942:XNACK+",
                                        "gfx1100:xnack+",
                                        "gfx1250:xnack+",
                                        "gfx1010:sramecc-",
                                        "gfx942:xnack+:xnack-"};
    char normal[RSDK_TARGET_ID_SIZE];
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_int_equal(rsdk_target_id_normalize(ids[i][0], normal, &error), RSDK_OK);
        assert_string_equal(normal, ids[i][1]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(rsdk_target_id_normalize(wrong[i], normal, &error), RSDK_BAD_ARGUMENT);
        assert_non_null(error.message);
        rsdk_error_clear(&error);
    }
    /* The longest id there is fits. */
    FOR_EACH_TARGET(target) {
        char id[RSDK_TARGET_ID_SIZE];
        bool has_xnack = target->xnack == RSDK_XNACK_OF_DRIVER || target->xnack == RSDK_XNACK_OF_PROCESS;
        (void)snprintf(id, sizeof id, "%s%s%s", target->name, target->has_sramecc ? ":sramecc-" : "",
                       has_xnack ? ":xnack+" : "");
        assert_int_equal(rsdk_target_id_normalize(id, normal, &error), RSDK_OK);
        assert_string_equal(normal, id);
    }
}

static void names_in_the_order_of_their_numbers(void **state) {
    static const char *const names[] = {"",        "gfx803",  "gfx90a",  "gfx90a:xnack+", "gfx90a:xnack-", "gfx942",
                                        "gfx1010", "gfx1030", "gfx1151", "amdgcnspirv",   "gfx9-generic"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            int order = rsdk_target_compare(names[i], names[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

static void patched_runtimes_name_known_targets(void **state) {
    for (size_t i = 0; i < rsdk_extended_isa_count(); i++) {
        const char *const *const lists[] = {rsdk_extended_isa_get(i)->code, rsdk_extended_isa_get(i)->gpus};
        for (size_t j = 0; j < 2; j++) {
            for (const char *const *name = lists[j]; *name != NULL; name++) {
                assert_non_null(rsdk_target_find(*name));
            }
        }
    }
    assert_null(rsdk_extended_isa_get(rsdk_extended_isa_count()));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_from_isa_numbers),
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(generic_targets),
        cmocka_unit_test(features_and_class),
        cmocka_unit_test(names_in_the_order_of_their_numbers),
        cmocka_unit_test(patched_runtimes_name_known_targets),
        cmocka_unit_test_teardown(every_family_has_a_row_and_targets, clear_error),
        cmocka_unit_test_teardown(names_stand_for_targets, clear_error),
        cmocka_unit_test_teardown(unknown_names, clear_error),
        cmocka_unit_test_teardown(families_and_owner, clear_error),
        cmocka_unit_test_teardown(target_ids, clear_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
