/* Splitting SONAMEs. */
#include "elf/soname.h"

#include <string.h>

size_t rsdk_soname_linker_name_length(const char *soname) {
    for (const char *at = strstr(soname, ".so"); at != NULL; at = strstr(at + 1, ".so")) {
        if (at[3] == '\0' || at[3] == '.') {
            return (size_t)(at - soname) + 3;
        }
    }
    return strlen(soname);
}

bool rsdk_soname_has_linker_name(const char *soname, const char *linker_name) {
    size_t length = rsdk_soname_linker_name_length(soname);
    return strlen(linker_name) == length && strncmp(soname, linker_name, length) == 0;
}

bool rsdk_soname_is_same_library(const char *a, const char *b) {
    size_t length = rsdk_soname_linker_name_length(a);
    return rsdk_soname_linker_name_length(b) == length && strncmp(a, b, length) == 0;
}

bool rsdk_soname_is_graft_of(const char *copy, const char *soname) {
    enum { HASH = 9 }; /* "-69e34bce" */
    const size_t length = rsdk_soname_linker_name_length(soname), stem = length - strlen(".so");
    return rsdk_soname_linker_name_length(copy) == length + HASH && strncmp(copy, soname, stem) == 0 &&
           copy[stem] == '-' && strspn(copy + stem + 1, "0123456789abcdef") == HASH - 1;
}
