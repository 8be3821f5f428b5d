/* Whether files that are not loaded would find what they need: libraries, symbols and versions, in an SDK, among
 * themselves and on this system. Nothing is loaded. */
#ifndef RSDK_LOADER_HOST_CHECK_H
#define RSDK_LOADER_HOST_CHECK_H

#include "base/arena.h"
#include "loader/other_release.h"
#include "loader/variants.h"
#include "rocm_sdk/error.h"

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

/* A symbol that no library defines, or a version that a library does not have. */
typedef struct rsdk_host_lack {
    const char *name, *version,
        *library; /* name: NULL, the version lacks altogether. The others: NULL, none is named */
} rsdk_host_lack;

/* A file that was checked. */
typedef struct rsdk_host_file {
    const char *path, *soname;
    bool is_program;
    const char *fault; /* it cannot be read, or is for another machine; NULL: neither */
    rsdk_code fault_code;
    RSDK_LIST(rsdk_host_need) needs;
    RSDK_LIST(rsdk_host_lack) lacks; /* the first few */
    size_t lack_count;
    rsdk_variant variant;
} rsdk_host_file;

typedef struct rsdk_host_files {
    RSDK_LIST(rsdk_host_file) list;
    rsdk_other_release release; /* what all of them need of the SDK's releases */
    RSDK_LIST(rsdk_host_need)
    opened; /* libraries of ROCm that are named in the files' constants, which they may open;
               none if a file has a DT_NEEDED entry for one of ROCm */
} rsdk_host_files;

typedef struct rsdk_host_check {
    const char *const *files; /* to be checked */
    size_t file_count;
    const char *const *libraries; /* of the SDK: all its shared libraries, by their paths, links among them */
    size_t library_count;
} rsdk_host_check;

/* Fills `result`, a row for each file in their order, without those that are no ELF files. Results live in `arena`. */
rsdk_status rsdk_host_check_run(const rsdk_host_check *asked, rsdk_arena *arena, rsdk_host_files *result,
                                rsdk_error *error);

/* "bundled", "SDK", "other version", "RPATH", "system", "other release", "nowhere". */
const char *rsdk_need_place_name(rsdk_need_place place);

#endif
