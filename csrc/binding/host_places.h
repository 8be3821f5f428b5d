/* The places of the libraries that files need: among the files, in an SDK, on this system. A trial (link_trial.h)
 * answers another question, whether the linker gets there: a name may be a file's own, and no RPATH lead to it. */
#ifndef RSDK_BINDING_HOST_PLACES_H
#define RSDK_BINDING_HOST_PLACES_H

#include "binding/host_objects.h"
#include "loader/linker_search.h"

typedef enum rsdk_need_place {
    RSDK_PLACE_BUNDLED,       /* among the files that are checked */
    RSDK_PLACE_SDK,           /* in the SDK */
    RSDK_PLACE_OTHER_VERSION, /* in the SDK under another SONAME */
    RSDK_PLACE_RPATH,         /* elsewhere, where the RPATH or RUNPATH of the file leads */
    RSDK_PLACE_SYSTEM,
    RSDK_PLACE_OTHER_RELEASE, /* nowhere, as the SDK is of another release than the files are for */
    RSDK_PLACE_NOWHERE,
} rsdk_need_place;

/* A needed library. */
typedef struct rsdk_host_need {
    const char *name; /* the DT_NEEDED entry */
    rsdk_need_place place;
    const char *path; /* NULL: nowhere */
} rsdk_host_need;

/* Return the value as a word: "bundled", "SDK", "other version", "RPATH", "system", "other release", "nowhere". */
const char *rsdk_need_place_name(rsdk_need_place place);

typedef struct rsdk_host_places {
    rsdk_host_objects *objects;
    rsdk_linker_search *search;
    rsdk_strings own, libraries; /* files of the package that is checked, of the SDK: paths, borrowed */
    rsdk_name_table own_names, library_names, linker_names; /* names -> places in `own`, in `libraries` */
} rsdk_host_places;

/* Add a file of the package: the file is told by its name, and by its SONAME, which the linker knows where the file is
 * opened. */
rsdk_status rsdk_host_places_add_own(rsdk_host_places *places, const char *path, rsdk_error *error);

/* Add a library of the SDK, or a link to one. */
rsdk_status rsdk_host_places_add_library(rsdk_host_places *places, const char *path, rsdk_error *error);

/* Find the library of the SDK that answers to a name in a process that has opened it: by its file name, or by its
 * SONAME where the file has another version of the name or none. *path is NULL where there is none. */
rsdk_status rsdk_host_places_find_in_sdk(rsdk_host_places *places, const char *name, const char **path,
                                         rsdk_error *error);

/* Fill in the place of a library that `needing` needs (NULL: an unknown file does). */
rsdk_status rsdk_host_places_find(rsdk_host_places *places, const rsdk_elf_file *needing, rsdk_host_need *need,
                                  rsdk_error *error);

#endif
