/* The reader of RECORD files. The files are untrusted: a row is a text that is compared, and perhaps looked for, never
 * a file that is opened. */
#include "sdk/record.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/path.h"
#include "sdk/tables.h"

enum { RECORD_LIMIT = 1 << 26 }; /* bytes: some 500,000 files */

static const char dist_info[] = ".dist-info";

typedef struct query {
    const char *site;
    const char *relative;  /* the whole path, within the site; NULL: `pattern` counts */
    const char *pattern;   /* of the file's name */
    const char *directory; /* platform directory that the file must be in, within the site */
    const char *match;     /* the path that was found; NULL: none */
    long long size;        /* of that row; -1: none */
} query;

/* ---- one RECORD ---- */

/* Read a path in quotes, in which two quotes stand for one. */
static char *read_quoted(char **at) {
    char *start = *at + 1, *to = start, *from = start;
    while (*from != '\0' && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    if (*from == '\0') {
        *at = from; /* unquoting has changed the part that was read */
        return NULL;
    }
    char *rest = from + strcspn(from, "\n");
    *at = rest + (*rest == '\n');
    *to = '\0';
    return start;
}

char *rsdk_record_next_path(char **at) {
    *at += strspn(*at, "\r\n");
    char *start = *at;
    if (*start == '\0') {
        return NULL;
    }
    if (*start == '"') {
        return read_quoted(at);
    }
    size_t length = strcspn(start, ",\r\n");
    char *rest = start + length;
    rest += strcspn(rest, "\n");
    *at = rest + (*rest == '\n');
    start[length] = '\0';
    return start;
}

static bool matches(const query *q, const char *path) {
    if (q->relative != NULL) {
        return strcmp(path, q->relative) == 0;
    }
    const char *below = q->pattern != NULL ? rsdk_path_below(path, q->directory) : NULL;
    return below != NULL && fnmatch(q->pattern, rsdk_path_name(below), 0) == 0;
}

/* Take the path of a row if it matches. The caller searches by name because a file is missing: a file of that name that
 * exists, perhaps in another directory, is not the missing file. */
static rsdk_status consider(query *q, const char *row, rsdk_arena *scratch, rsdk_arena *arena, rsdk_error *error) {
    if (!matches(q, row)) {
        return RSDK_OK;
    }
    const char *path = rsdk_path_join(scratch, q->site, row);
    RSDK_NEED(path, error);
    if (q->relative != NULL || access(path, F_OK) != 0) {
        q->match = rsdk_arena_copy(arena, path);
        RSDK_NEED(q->match, error);
    }
    return RSDK_OK;
}

static rsdk_status search_record(const char *path, rsdk_arena *arena, query *q, rsdk_error *error) {
    rsdk_arena scratch = RSDK_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    rsdk_status status = rsdk_file_read_text(path, RECORD_LIMIT, &scratch, &text, &length, &identity, NULL);
    if (status == RSDK_OK) {
        for (char *each = rsdk_record_next_path(&text); status == RSDK_OK && each != NULL && q->match == NULL;
             each = rsdk_record_next_path(&text)) {
            status = consider(q, each, &scratch, arena, error);
            const char *comma = memrchr(each, ',', (size_t)(text - each));
            q->size = comma != NULL && isdigit((unsigned char)comma[1]) != 0 ? strtoll(comma + 1, NULL, 10) : -1;
        }
    }
    rsdk_arena_clear(&scratch);
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK; /* an unreadable RECORD lists nothing */
}

/* ---- all of a site ---- */

/* Normalise a distribution's name: "rocm_sdk_core" becomes "rocm-sdk-core" (PEP 503). */
static char *normalise(rsdk_arena *arena, const char *name, size_t length) {
    char *normal = rsdk_arena_copy_bytes(arena, name, length), *to = normal;
    for (const char *from = normal; from != NULL && *from != '\0'; from++) {
        bool is_separator = strchr("-_.", *from) != NULL;
        if (!is_separator) {
            *to++ = (char)tolower((unsigned char)*from);
        } else if (to == normal || to[-1] != '-') {
            *to++ = '-';
        }
    }
    if (to != NULL) {
        *to = '\0';
    }
    return normal;
}

/* Return whether `name` is the name of the directory of a distribution of the SDK. */
static bool is_of_sdk(const char *name) {
    size_t length = strlen(name), suffix = sizeof dist_info - 1;
    return strncasecmp(name, "rocm", 4) == 0 && length > suffix && strcmp(name + length - suffix, dist_info) == 0;
}

/* Search all RECORDs of a site; *has_any says whether there are any. */
static rsdk_status ask_site(rsdk_arena *arena, query *q, bool *has_any, rsdk_recorded_file *found, rsdk_error *error) {
    rsdk_directory listing;
    *has_any = false;
    rsdk_status status = rsdk_directory_read(q->site, arena, &listing, NULL);
    if (status != RSDK_OK) { /* a directory that cannot be read has none */
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    for (size_t i = 0; found->distribution == NULL && i < listing.names.count; i++) {
        const char *name = listing.names.items[i];
        *has_any |= is_of_sdk(name);
        /* Search the RECORD in the directory `name` ("rocm_sdk_core-7.10.0.dist-info"), if it belongs to a distribution
         * of the SDK. */
        size_t length = strlen(name), suffix = sizeof dist_info - 1;
        const char *dash = NULL;
        if (is_of_sdk(name)) {
            for (const char *c = name; c < name + length - suffix; c++) {
                dash = *c == '-' ? c : dash;
            }
            if (dash != NULL) {
                const char *record = rsdk_arena_format(arena, "%s/%s/RECORD", q->site, name);
                RSDK_NEED(record, error);
                RSDK_TRY(search_record(record, arena, q, error));
                if (q->match != NULL) {
                    found->distribution = normalise(arena, name, (size_t)(dash - name));
                    found->version =
                        rsdk_arena_copy_bytes(arena, dash + 1, (size_t)(name + length - suffix - dash - 1));
                    found->path = q->match;
                    found->size = q->size;
                    RSDK_NEED(found->distribution, error);
                    RSDK_NEED(found->version, error);
                }
            }
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_record_find_path(const char *path, rsdk_arena *arena, rsdk_recorded_file *found, rsdk_error *error) {
    bool has_any = false;
    *found = (rsdk_recorded_file){0};
    /* The site is the directory above it that has distributions. */
    for (const char *site = path; !has_any && strchr(site + 1, '/') != NULL;) {
        site = rsdk_path_parent(arena, site);
        RSDK_NEED(site, error);
        query q = {.site = site, .relative = rsdk_path_below(path, site)};
        RSDK_TRY(ask_site(arena, &q, &has_any, found, error));
        found->has_records |= has_any;
    }
    return RSDK_OK;
}

rsdk_status rsdk_record_find_in_package(rsdk_sdk *sdk, rsdk_package_id package, const char *pattern, rsdk_arena *arena,
                                        rsdk_recorded_file *found, rsdk_error *error) {
    const char *directory = NULL;
    bool has_any = false;
    rsdk_status status = rsdk_sdk_package_directory(sdk, package, &directory, NULL);
    if (status != RSDK_OK) { /* not installed */
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    const char *site = rsdk_path_parent(arena, directory);
    RSDK_NEED(site, error);
    query q = {.site = site, .pattern = pattern, .directory = rsdk_path_name(directory)};
    RSDK_TRY(ask_site(arena, &q, &has_any, found, error));
    found->has_records |= has_any;
    return RSDK_OK;
}

rsdk_status rsdk_record_find_name(rsdk_sdk *sdk, const char *pattern, rsdk_arena *arena, rsdk_recorded_file *found,
                                  rsdk_error *error) {
    *found = (rsdk_recorded_file){0};
    for (unsigned id = 0; found->distribution == NULL && id < RSDK_PACKAGE_COUNT; id++) {
        RSDK_TRY(rsdk_record_find_in_package(sdk, (rsdk_package_id)id, pattern, arena, found, error));
    }
    return RSDK_OK;
}
