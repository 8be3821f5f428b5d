/* Which code runs on which GPU: the rules for processors, features, generic targets, SPIR-V and patched runtimes. */
#include "rocm_sdk/compatibility.h"

#include <string.h>

#include "rocm_sdk/gpu.h"
#include "suite.h"

#define UNKNOWN RSDK_GENERIC_VERSION_UNKNOWN

static rsdk_code_fit fit_of(const char *code, const char *gpu) {
    return rsdk_compatibility_check(code, UNKNOWN, gpu, 0).fit;
}

static rsdk_misfit misfit_of(const char *code, const char *gpu) {
    rsdk_compatibility found = rsdk_compatibility_check(code, UNKNOWN, gpu, RSDK_PATCHES_ALL);
    assert_int_equal(found.fit, RSDK_FIT_NONE);
    return found.misfit;
}

/* LLVM's table of code and agents. */
static void features(void **state) {
    static const char *const off = "gfx90a:sramecc+:xnack-", *const on = "gfx90a:sramecc+:xnack+";
    assert_int_equal(fit_of("gfx90a", off), RSDK_FIT_COMPATIBLE);
    assert_int_equal(fit_of("gfx90a", on), RSDK_FIT_COMPATIBLE);
    assert_int_equal(fit_of("gfx90a:xnack-", off), RSDK_FIT_COMPATIBLE);
    assert_int_equal(misfit_of("gfx90a:xnack-", on), RSDK_MISFIT_XNACK);
    assert_int_equal(misfit_of("gfx90a:xnack+", off), RSDK_MISFIT_XNACK);
    assert_int_equal(fit_of("gfx90a:xnack+", on), RSDK_FIT_COMPATIBLE);
    assert_int_equal(misfit_of("gfx90a:sramecc-", off), RSDK_MISFIT_SRAMECC);
    assert_int_equal(misfit_of("gfx90a:sramecc-", on), RSDK_MISFIT_SRAMECC);
    assert_int_equal(fit_of(off, off), RSDK_FIT_EXACT);
    assert_int_equal(fit_of("gfx90a:xnack-:sramecc+", off), RSDK_FIT_EXACT);
    assert_int_equal(fit_of("gfx1030", "gfx1030"), RSDK_FIT_EXACT);
    assert_int_equal(misfit_of("gfx1030:xnack-", "gfx1030"), RSDK_MISFIT_XNACK);
    assert_int_equal(fit_of("gfx1250", "gfx1250"), RSDK_FIT_EXACT);
    assert_int_equal(misfit_of("gfx1250", "gfx1250-strict"), RSDK_MISFIT_PROCESSOR);
}

/* A GPU that is named without features may be in either mode; the result says which one the code takes. */
static void open_modes(void **state) {
    rsdk_compatibility found = rsdk_compatibility_check("gfx90a:xnack-", UNKNOWN, "gfx90a", 0);
    assert_int_equal(found.fit, RSDK_FIT_COMPATIBLE);
    assert_int_equal(found.xnack, RSDK_MODE_OFF);
    assert_int_equal(found.sramecc, RSDK_MODE_ANY);
    found = rsdk_compatibility_check("gfx90a:sramecc+:xnack+", UNKNOWN, "gfx90a:sramecc+", 0);
    assert_int_equal(found.fit, RSDK_FIT_EXACT);
    assert_int_equal(found.xnack, RSDK_MODE_ON);
    assert_int_equal(found.sramecc, RSDK_MODE_ANY);
    found = rsdk_compatibility_check("gfx90a", UNKNOWN, "gfx90a", 0);
    assert_int_equal(found.fit, RSDK_FIT_COMPATIBLE);
    assert_int_equal(found.xnack, RSDK_MODE_ANY);
}

/* LLVM's table of generic targets; what they do not cover. */
static void generic_targets(void **state) {
    static const char *const covered[][2] = {
        {"gfx9-generic", "gfx900:xnack-"}, {"gfx9-generic", "gfx906:sramecc+:xnack-"},
        {"gfx9-generic", "gfx90c:xnack-"}, {"gfx9-generic:xnack-", "gfx906:sramecc-:xnack-"},
        {"gfx9-4-generic", "gfx942"},      {"gfx9-4-generic:sramecc+", "gfx950:sramecc+:xnack-"},
        {"gfx10-1-generic", "gfx1013"},    {"gfx10-3-generic", "gfx1036"},
        {"gfx11-generic", "gfx1151"},      {"gfx12-generic", "gfx1201"},
        {"gfx12-5-generic", "gfx1250"},    {"gfx11-7-generic", "gfx1170"},
    };
    static const char *const others[][2] = {
        {"gfx9-generic", "gfx908"},   {"gfx9-generic", "gfx90a"},   {"gfx9-generic", "gfx942"},
        {"gfx11-generic", "gfx1201"}, {"gfx11-generic", "gfx1170"}, {"gfx12-generic", "gfx1250"},
        {"gfx11-generic", "gfx11"},   {"gfx11", "gfx1100"},         {"gfx12-5-generic", "gfx1250-strict"},
    };
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        assert_int_equal(fit_of(covered[i][0], covered[i][1]), RSDK_FIT_GENERIC);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(misfit_of(others[i][0], others[i][1]), RSDK_MISFIT_PROCESSOR);
    }
    assert_int_equal(misfit_of("gfx9-generic:xnack+", "gfx906:sramecc+:xnack-"), RSDK_MISFIT_XNACK);
    assert_int_equal(misfit_of("gfx9-4-generic:sramecc-", "gfx942:sramecc+:xnack-"), RSDK_MISFIT_SRAMECC);
    assert_int_equal(misfit_of("gfx9-generic:sramecc+", "gfx906:sramecc+:xnack-"), RSDK_MISFIT_SRAMECC);
    assert_int_equal(rsdk_compatibility_check("gfx11-generic", 1, "gfx1151", 0).fit, RSDK_FIT_GENERIC);
    rsdk_compatibility old = rsdk_compatibility_check("gfx11-generic", 0, "gfx1151", 0);
    assert_int_equal(old.fit, RSDK_FIT_NONE);
    assert_int_equal(old.misfit, RSDK_MISFIT_GENERIC_VERSION);
}

static void spirv_and_unknown_names(void **state) {
    assert_int_equal(fit_of("amdgcnspirv", "gfx90a:sramecc+:xnack-"), RSDK_FIT_SPIRV);
    assert_int_equal(fit_of("gfx1399", "gfx1399"), RSDK_FIT_EXACT);
    assert_int_equal(misfit_of("gfx1399", "gfx1398"), RSDK_MISFIT_PROCESSOR);
    static const char *const none[] = {"",      ":",       "gfx942:",   "gfx942:xnack", "gfx942:xnack+:xnack+",
                                       "gfx94", "gfx9422", "mach-0x7f", ":xnack+"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(misfit_of(none[i], "gfx942:sramecc+:xnack+"), RSDK_MISFIT_PROCESSOR);
        assert_int_equal(misfit_of("gfx942", none[i]), RSDK_MISFIT_PROCESSOR);
    }
    assert_int_equal(fit_of("", ""), RSDK_FIT_NONE);
}

static unsigned patches_for(const char *code, const char *gpu) {
    rsdk_compatibility found = rsdk_compatibility_check(code, UNKNOWN, gpu, RSDK_PATCHES_ALL);
    assert_int_equal(found.fit == RSDK_FIT_UNOFFICIAL, found.patches != 0);
    return found.patches;
}

static void patched_runtimes(void **state) {
    assert_int_equal(misfit_of("gfx1100", "gfx1101"), RSDK_MISFIT_PROCESSOR);
    assert_int_equal(fit_of("gfx1030", "gfx1031"), RSDK_FIT_NONE);
    assert_int_equal(patches_for("gfx1030", "gfx1031"), RSDK_PATCHES_ALL);
    assert_int_equal(patches_for("gfx1031", "gfx1030"), RSDK_PATCHES_ALL);
    assert_int_equal(patches_for("gfx1010", "gfx1013"), RSDK_PATCHES_SOLUS);
    assert_int_equal(patches_for("gfx1011", "gfx1010"), RSDK_PATCHES_DEBIAN);
    assert_int_equal(patches_for("gfx900:xnack-", "gfx906:sramecc+:xnack-"), RSDK_PATCHES_SOLUS);
    assert_int_equal(patches_for("gfx906", "gfx900"), 0);
    assert_int_equal(patches_for("gfx904", "gfx900"), 0);
    assert_int_equal(misfit_of("gfx900:xnack+", "gfx90c:xnack-"), RSDK_MISFIT_XNACK);
    assert_int_equal(rsdk_compatibility_check("gfx1010", UNKNOWN, "gfx1013", RSDK_PATCHES_DEBIAN).fit, RSDK_FIT_NONE);
    assert_int_equal(patches_for("gfx1030", "gfx1030"), 0);
    assert_null(rsdk_extended_isa_get(rsdk_extended_isa_count()));
    for (size_t i = 0; i < rsdk_extended_isa_count(); i++) {
        for (const char *const *name = rsdk_extended_isa_get(i)->code; *name != NULL; name++) {
            assert_non_null(rsdk_target_find(*name));
        }
        for (const char *const *name = rsdk_extended_isa_get(i)->gpus; *name != NULL; name++) {
            assert_non_null(rsdk_target_find(*name));
        }
    }
}

static void names(void **state) {
    assert_string_equal(rsdk_code_fit_name(RSDK_FIT_SPIRV), "SPIR-V");
    assert_string_equal(rsdk_misfit_name(RSDK_MISFIT_GENERIC_VERSION), "generic version");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features),         cmocka_unit_test(open_modes),
        cmocka_unit_test(generic_targets),  cmocka_unit_test(spirv_and_unknown_names),
        cmocka_unit_test(patched_runtimes), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
