/* A small SDK for tests: real shared libraries, compiled from C, in a temporary directory with the layout of installed
 * packages. */
#ifndef TESTS_SAMPLE_SDK_H
#define TESTS_SAMPLE_SDK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rocm_sdk/rocm_sdk.h"

#define CORE_LIB      "_rocm_sdk_core/lib"
#define LIBRARIES_LIB "_rocm_sdk_libraries/lib"
#define OUTSIDE       "outside" /* a directory that is not the SDK's */

typedef struct sample_site {
    char path[64];
    rsdk_arena *texts; /* what sample_path gave out */
} sample_site;

typedef enum sample_paths { NO_PATHS, WITH_RPATH, WITH_RUNPATH } sample_paths;

/* One library to compile. Only `file` and `source` must be given. */
typedef struct sample_library {
    const char *directory; /* within the site; NULL: CORE_LIB */
    const char *file;
    const char *soname;  /* NULL: the file's name; "": none */
    const char *source;  /* C */
    const char *needs;   /* paths within the site, separated by blanks, in DT_NEEDED order; NULL: none */
    sample_paths paths;  /* RPATH or RUNPATH $ORIGIN, and the directories of `needs` relative to it */
    const char *options; /* further options of the compiler driver; NULL: none */
} sample_library;

/* A new site, empty but for the directories of a core package. Failures end the test program: nothing can be tested
 * then. */
sample_site sample_site_new(void);
void sample_site_remove(const sample_site *site);

/* The site that another process has made, and what to do instead of removing it. */
sample_site sample_site_at(const char *path);
void sample_site_leave(const sample_site *site);

/* "SITE/NAME"; valid until the site is removed. */
const char *sample_path(const sample_site *site, const char *name);

void sample_directory(const sample_site *site, const char *name); /* with its parents */
void sample_file(const sample_site *site, const char *name, const char *text);
void sample_compile(const sample_site *site, const sample_library *library);

/* `_dist_info.py` of the core package: kpack-split, version 7.10.0. */
void sample_dist_info(const sample_site *site);

rsdk_sdk *sample_open(const sample_site *site);

/* What a test of an SDK works with. Set-up and teardown of a cmocka test: *state is the fixture. */
typedef struct sample_fixture {
    sample_site site;
    rsdk_sdk *sdk;
    rsdk_plan *plan;
    rsdk_location location;
    rsdk_error error;
} sample_fixture;

int sample_fixture_make(void **state);      /* a site with _dist_info.py */
int sample_fixture_make_bare(void **state); /* one without */
int sample_fixture_free(void **state);

#endif
