/* The packages of the system's libraries, as facts. */
#include "diagnosis/host_package.h"

#include <string.h>

#include "sdk/tables.h"

/* What stands in place of a package that the table does not have. */
static const rsdk_host_package searches = {
    NULL, "$(apt-file --package-only search /%s)", "'*/%s'", "'%s()(64bit)'", "$(pacman -Fq %s)", "$(e-file %s)",
};

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

rsdk_status rsdk_host_package_add(rsdk_finding *finding, rsdk_arena *arena, const char *name, rsdk_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
    if (name[strspn(name, plain)] != '\0') {
        return RSDK_OK;
    }
    const rsdk_host_package *row = row_of(name);
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
