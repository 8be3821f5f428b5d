/* Libraries of which a package carries one for each back end (CUDA, HIP, ...), to load one of them. */
#ifndef RSDK_BINDING_VARIANTS_H
#define RSDK_BINDING_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

/* A file of a package. The caller sets the first two. */
typedef struct rsdk_variant {
    const char *path;
    bool is_needed;       /* another file of the package needs it */
    const char *back_end; /* the word in its name, "cuda"; NULL: it is no variant */
    bool is_for_rocm;
    int group; /* the number of the files of which one is loaded; -1: it is no variant */
} rsdk_variant;

/* Find the variants. The files of one group are in one directory, have one name when the word of the back end and the
 * digits behind it are cut out, and none of them is needed: a needed file is loaded together with others. A group has
 * at least two files, and one for ROCm. */
rsdk_status rsdk_variants_find(rsdk_variant *const *files, size_t count, rsdk_arena *arena, rsdk_error *error);

#endif
