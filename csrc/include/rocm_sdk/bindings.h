/* The file that each symbol reference binds to: for libraries that would be loaded, as the dynamic linker would bind
 * it; for a process, as the linker has bound it. Nothing is loaded, and no code runs. */
#ifndef ROCM_SDK_BINDINGS_H
#define ROCM_SDK_BINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "rocm_sdk/error.h"
#include "rocm_sdk/loader.h"
#include "rocm_sdk/sdk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rsdk_binding_verdict {
    RSDK_BINDING_MEANT,   /* to the library itself, to one that it needs, or to the only file that has it */
    RSDK_BINDING_NOTHING, /* a weak reference that nobody answers */
    RSDK_BINDING_MISSING, /* a reference that nobody answers and that must be: the library cannot be loaded */
    RSDK_BINDING_LAZY,    /* of a process: bound at the first call */
    RSDK_BINDING_UNKNOWN, /* of a process: the stored address leads into no file, as a function's that is chosen at run
                             time (STT_GNU_IFUNC) may; or into thread-local data */
    /* elsewhere than in the library or its needs, though one of them defines it, and that is no fault: */
    RSDK_BINDING_VAGUE,       /* weak or unique C++ code or data that each library has a copy of */
    RSDK_BINDING_WEAK,        /* another weak definition */
    RSDK_BINDING_CXX_RUNTIME, /* a name of the C++ runtime, between a library and libstdc++ or libgcc */
    RSDK_BINDING_C_LIBRARY,   /* a name that two parts of the C library have */
    RSDK_BINDING_SAME_SOURCE, /* a function that two libraries of one SDK have from one source: hiprtc's, in HIP */
    RSDK_BINDING_TAKEN_OVER,  /* LD_PRELOAD, or the program's allocator, is meant to have it */
    /* the same, and a fault: */
    RSDK_BINDING_OTHER_FUNCTION, /* a function or a constant of another file */
    RSDK_BINDING_OTHER_OBJECT,   /* a variable of another file: both may construct and destroy it */
} rsdk_binding_verdict;

enum { RSDK_BINDING_VERDICT_COUNT = RSDK_BINDING_OTHER_OBJECT + 1 };

/* Return the word for a verdict: "meant", "vague", "other-function", ...; NULL for a number outside the enum. */
const char *rsdk_binding_verdict_name(rsdk_binding_verdict verdict);

/* Return whether a verdict says that the reference binds to another file than the library was built for. */
static inline bool rsdk_binding_is_elsewhere(rsdk_binding_verdict verdict) {
    return verdict >= RSDK_BINDING_VAGUE;
}

/* Return whether a verdict says that the reference binds elsewhere, and that this is a fault. */
static inline bool rsdk_binding_is_finding(rsdk_binding_verdict verdict) {
    return verdict >= RSDK_BINDING_OTHER_FUNCTION;
}

/* A symbol that a library refers to. A library may refer to a symbol both as a function and by its address; the two
 * references may bind to two files, and then there are two such entries. */
typedef struct rsdk_binding {
    const char *from;    /* the library's path */
    const char *symbol;  /* the name as in the file: mangled */
    const char *version; /* NULL: none */
    const char *to;      /* the path of the file that answers; NULL: none, or not known */
    const char *instead; /* elsewhere: the file that would have answered if the library were alone; NULL otherwise */
    rsdk_binding_verdict verdict;
} rsdk_binding;

/* All references of one library to one file. */
typedef struct rsdk_binding_pair {
    const char *from, *to;
    size_t count;                              /* the number of references */
    size_t counts[RSDK_BINDING_VERDICT_COUNT]; /* the number of references of each verdict */
    const char *examples[3];                   /* symbols with the worst verdict; NULL behind the last */
    rsdk_binding_verdict verdict;              /* the worst */
} rsdk_binding_pair;

typedef struct rsdk_bindings rsdk_bindings;

/* A dlopen to be followed. `mode` is of dlopen(3): RTLD_GLOBAL and RTLD_DEEPBIND count. RTLD_NOW is assumed. A program,
 * which dlopen refuses, is followed as the first thing in its own process: it is global. */
typedef struct rsdk_opening {
    const char *path;
    int mode;
} rsdk_opening;

/* Compute the bindings that loading would make in this process as it is: `plan` first (NULL: none; is_new_process does
 * not count), then `openings`. Only the new libraries are judged. RSDK_BAD_ELF for a file that is damaged; other errors
 * are the errors of rsdk_plan_new. The result borrows texts from the SDK: free the result first. */
rsdk_status rsdk_bindings_read(rsdk_sdk *sdk, const rsdk_load_options *plan, const rsdk_opening *openings,
                               size_t opening_count, rsdk_bindings **bindings, rsdk_error *error);

/* Read the bindings that a process has made; 0: this process. RSDK_IO_ERROR if the kernel does not allow to look
 * (ptrace(2) has the rules) or there is no such process. */
rsdk_status rsdk_bindings_read_process(pid_t pid, rsdk_bindings **bindings, rsdk_error *error);

void rsdk_bindings_free(rsdk_bindings *bindings); /* NULL is allowed */

/* Return the number of references, or one reference by its index, library by library; *binding borrows from `bindings`.
 */
size_t rsdk_bindings_count(const rsdk_bindings *bindings);
rsdk_binding rsdk_bindings_at(const rsdk_bindings *bindings, size_t index);

/* Return the number of pairs of a library and a file that answers it, or one pair by its index, the worst verdict
 * first. */
size_t rsdk_bindings_pair_count(const rsdk_bindings *bindings);
const rsdk_binding_pair *rsdk_bindings_pair(const rsdk_bindings *bindings, size_t index);

/* Return the number of DT_NEEDED names that no file provides, or one name by its index: the linker would refuse the
 * libraries that need it. */
size_t rsdk_bindings_missing_count(const rsdk_bindings *bindings);
const char *rsdk_bindings_missing(const rsdk_bindings *bindings, size_t index);

#ifdef __cplusplus
}
#endif
#endif
