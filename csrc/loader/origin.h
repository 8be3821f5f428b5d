/* The reason why a file is in a process: a variable, a profiler, the search path of a library. */
#ifndef RSDK_LOADER_ORIGIN_H
#define RSDK_LOADER_ORIGIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "elf/elf_facts.h"
#include "rocm_sdk/error.h"

typedef enum rsdk_origin_kind {
    RSDK_ORIGIN_UNKNOWN,      /* code of the program, by dlopen */
    RSDK_ORIGIN_PROFILER,     /* a tool that LD_PRELOAD names, which needs ROCm's libraries for profiling */
    RSDK_ORIGIN_PRELOADED,    /* LD_PRELOAD names it */
    RSDK_ORIGIN_RPATH,        /* the DT_RPATH or DT_RUNPATH of a library that needs it */
    RSDK_ORIGIN_LIBRARY_PATH, /* LD_LIBRARY_PATH names its directory */
    RSDK_ORIGIN_SYSTEM,       /* the file lies in a directory of the system */
    RSDK_ORIGIN_KIND_COUNT,
} rsdk_origin_kind;

typedef struct rsdk_origin {
    rsdk_origin_kind kind;
    const char *by;   /* the path of the profiler, or of the library that has the search path; else NULL */
    const char *text; /* "the profiler /opt/tool.so", "LD_PRELOAD", "the RPATH of libx.so", "code that ran earlier" */
} rsdk_origin;

/* A file of the process. */
typedef struct rsdk_mapped_library {
    rsdk_elf_file file;
    const char *real;    /* the library's real path */
    rsdk_strings search; /* real paths of the directories of its RPATH or RUNPATH */
    bool has_rpath;      /* DT_RPATH, which comes before LD_LIBRARY_PATH */
    bool is_preloaded;   /* LD_PRELOAD names it */
} rsdk_mapped_library;

/* A process as far as origins need it. To be filled in by the caller: arena, and the three lists. */
typedef struct rsdk_origins {
    rsdk_arena *arena;
    rsdk_strings mapped;    /* paths of its files; files that are not ELF files, or cannot be read, are passed over */
    rsdk_strings preloaded; /* the entries of its LD_PRELOAD */
    rsdk_strings library_path;                /* the directories of its LD_LIBRARY_PATH */
    RSDK_LIST(rsdk_mapped_library) libraries; /* read at the first question */
    rsdk_strings real_library_path;
    bool is_read;
} rsdk_origins;

/* Add the entries of a value of LD_PRELOAD, which ' ' and ':' separate. NULL: the variable is not set. */
rsdk_status rsdk_origins_add_preloaded(rsdk_origins *origins, const char *value, rsdk_error *error);

/* Find the origin of a file. Texts live in the arena. The files of the process are opened at the first call. */
rsdk_status rsdk_origins_find(rsdk_origins *origins, const char *path, rsdk_origin *origin, rsdk_error *error);

#endif
