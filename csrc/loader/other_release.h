/* Files that need another release of ROCm than the SDK is: one fact, however many libraries are missing. The same words
 * are used before files are loaded (host_check.h) and when they are to be loaded (preloader.c). */
#ifndef RSDK_LOADER_OTHER_RELEASE_H
#define RSDK_LOADER_OTHER_RELEASE_H

#include "base/name_table.h"
#include "elf/elf_dynsym.h"
#include "loader/plan.h"
#include "sdk/built_for.h"

/* The needs of files for ROCm, as far as they were added, and the needs that are not met. */
typedef struct rsdk_other_release {
    rsdk_built_for built_for;
    const char *runtime;                 /* the SONAME of the SDK's HIP; NULL: it has none */
    const char *file, *wanted, *present; /* the need that is told, of which file; present: the SDK's; file NULL: none */
    int rank;                            /* the rank of this need */
    rsdk_unique_strings others, absent;  /* names that the SDK has in another version, and names that it lacks */
} rsdk_other_release;

/* A library that a file needs. Texts are borrowed. */
typedef struct rsdk_release_need {
    const char *file, *name; /* the DT_NEEDED entry */
    const char *present;     /* the name in the SDK if that has another version only */
    bool is_here;
} rsdk_release_need;

/* Add a need; a library that is not ROCm's changes nothing. */
rsdk_status rsdk_other_release_add(rsdk_other_release *found, rsdk_arena *arena, const rsdk_release_need *need,
                                   rsdk_error *error);

/* Add the versions of HIP's symbols that a file needs, after its needs. */
void rsdk_other_release_add_versions(rsdk_other_release *found, const rsdk_elf_dynsym *symbols);

/* Return whether the files are for another release: the SDK has a library in another version only, or its HIP is of
 * releases that the files do not fit. */
bool rsdk_other_release_is(const rsdk_other_release *found);

/* Return whether the other release explains a missing library. */
bool rsdk_other_release_explains(const rsdk_other_release *found, const char *name);

/* Return or add the facts of E-LIB-024: the SONAME that the SDK has instead, the releases that the files were built
 * for, and how many names are missing beside the one that is told. */
const char *rsdk_other_release_present(const rsdk_other_release *found);
void rsdk_other_release_add_built_for(const rsdk_other_release *found, rsdk_text *text);
void rsdk_other_release_add_sdk(const rsdk_other_release *found, rsdk_text *text); /* "ROCm 5.0 to 5.7", by its HIP */
void rsdk_other_release_add_more(const rsdk_other_release *found, rsdk_text *text);

/* Return RSDK_BAD_ELF if the plan's files from outside the SDK are for another release: the linker would refuse
 * them. */
rsdk_status rsdk_other_release_check(const rsdk_plan *plan, rsdk_sdk *sdk, rsdk_error *error);

#endif
