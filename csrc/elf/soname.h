/* SONAMEs as texts: "libamdhip64.so.7" is a version of the linker name "libamdhip64.so". */
#ifndef RSDK_ELF_SONAME_H
#define RSDK_ELF_SONAME_H

#include <stdbool.h>
#include <stddef.h>

/* Return the length of the linker name in a SONAME: up to and including ".so", or all of the SONAME if it has none. */
size_t rsdk_soname_linker_name_length(const char *soname);

/* Return whether `linker_name` is the linker name of the SONAME. */
bool rsdk_soname_has_linker_name(const char *soname, const char *linker_name);

/* Return whether two SONAMEs have the same linker name, as versions of one library do. */
bool rsdk_soname_is_same_library(const char *a, const char *b);

/* Return whether a file is a copy of the library as auditwheel names it: "libamdhip64-69e34bce.so.7.2" of
 * "libamdhip64.so". `soname` has ".so". */
bool rsdk_soname_is_graft_of(const char *copy, const char *soname);

#endif
