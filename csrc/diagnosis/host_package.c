/* The packages of the system's libraries, as facts. */
#include "diagnosis/finding.h"

#include <fnmatch.h>
#include <string.h>

#include "diagnosis/system.h"
#include "elf/soname.h"
#include "sdk/tables.h"

/* The commands that stand in place of a package that the table does not have; %s: the library. Where nothing is found,
 * the installation fails: apt-get and emerge succeed without a name. */
static const rsdk_host_package searches = {
    NULL,
    "$(apt-file --package-only search /%s | grep . || echo no-package-has-it)",
    "'*/%s'",
    "'%s()(64bit)'",
    "$(pacman -Fq %s)",
    "$(e-file %s | grep . || echo no-package-has-it)",
};

static const char not_known[] = "no table here says which package has it";
static const char no_more[] = "the packages of this release of the system do not have it, those of earlier ones did";

static const rsdk_host_package *row_of(const char *name) {
    for (size_t i = 0; i < rsdk_host_package_count; i++) {
        if (strcmp(rsdk_host_packages[i].soname, name) == 0) {
            return &rsdk_host_packages[i];
        }
    }
    return &searches;
}

bool rsdk_host_package_is_known(const char *name) {
    return row_of(name) != &searches;
}

static bool is_gone(const char *name) {
    for (size_t i = 0; i < rsdk_host_end_count; i++) {
        const rsdk_host_end *each = &rsdk_host_ends[i];
        if (strcmp(each->soname, name) == 0 && rsdk_system_is_since(each->id, each->version)) {
            return true;
        }
    }
    return false;
}

static const rsdk_outside_package *outside_row_of(const char *name) {
    for (size_t i = 0; i < rsdk_outside_package_count; i++) {
        if (fnmatch(rsdk_outside_packages[i].library, name, 0) == 0) {
            return &rsdk_outside_packages[i];
        }
    }
    return NULL;
}

rsdk_status rsdk_host_package_add(rsdk_finding *finding, rsdk_arena *arena, const char *name, bool is_of_system,
                                  rsdk_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
    if (name[strspn(name, plain)] != '\0') {
        return rsdk_finding_add(finding, arena, "detail", not_known, error);
    }
    const rsdk_outside_package *outside = is_of_system ? NULL : outside_row_of(name);
    if (outside != NULL) {
        /* No package of a distribution is looked for, which would bring another HIP. */
        const bool is_known = outside->package != NULL;
        const char *detail =
            is_known ? rsdk_arena_format(arena, "it is part of ROCm: AMD's package %s has it", outside->package)
                     : "it is part of ROCm, and in no package of Python that is known here";
        RSDK_NEED(detail, error);
        RSDK_TRY(
            rsdk_finding_add(finding, arena, is_known ? "outside" : "part", is_known ? outside->package : name, error));
        return rsdk_finding_add(finding, arena, "detail", detail, error);
    }
    if (is_gone(name)) {
        RSDK_TRY(rsdk_finding_add(finding, arena, "gone", name, error));
        return rsdk_finding_add(finding, arena, "detail", no_more, error);
    }
    const rsdk_host_package *row = row_of(name);
    if (row == &searches) {
        RSDK_TRY(rsdk_finding_add(finding, arena, "detail", not_known, error));
    }
    const rsdk_fact packages[] = {{"debian", row->debian},
                                  {"fedora", row->fedora},
                                  {"suse", row->suse},
                                  {"arch", row->arch},
                                  {"gentoo", row->gentoo}};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        const char *mark = strstr(packages[i].value, "%s");
        const char *value = mark == NULL ? packages[i].value
                                         : rsdk_arena_format(arena, "%.*s%s%s", (int)(mark - packages[i].value),
                                                             packages[i].value, name, mark + 2);
        RSDK_NEED(value, error);
        RSDK_TRY(rsdk_finding_add(finding, arena, packages[i].name, value, error));
    }
    return RSDK_OK;
}
