/* Page lists: which pages of an SDK's libraries a load touches. docs/cold-starts.md describes the format, which is one
 * line for a file. A list is a hint that may be wrong or hostile: it is used whole, or not at all. */
#ifndef RSDK_LOADER_READ_AHEAD_PAGE_LIST_H
#define RSDK_LOADER_READ_AHEAD_PAGE_LIST_H

#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "rocm_sdk/error.h"

/* The name of the list in the directory "lib" of the core package. */
#define RSDK_PAGE_LIST_NAME "rocm-sdk.pages"

enum {
    RSDK_PAGE_SIZE = 4096,            /* bytes of a page of the list, whatever size the machine's pages have */
    RSDK_PAGE_LIST_LIMIT = 1 << 20,   /* bytes of a list; PyTorch's on ROCm 6.4 has 10,000 */
    RSDK_PAGED_BUILD_ID_LIMIT = 64,   /* bytes of a build ID */
    RSDK_PAGED_FILES_LIMIT = 1 << 12, /* files of a list */
    RSDK_PAGES_LIMIT = 1 << 20,       /* pages of all its files: 4 GiB */
};

/* Pages that follow each other. */
typedef struct rsdk_page_range {
    uint64_t first, last;
} rsdk_page_range;

typedef struct rsdk_paged_file {
    const char *directory; /* "_rocm_sdk_core/lib" */
    const char *name;
    uint64_t size; /* bytes */
    unsigned char build_id[RSDK_PAGED_BUILD_ID_LIMIT];
    size_t build_id_size;              /* 0: the file has none */
    uint64_t build_id_place;           /* the byte of the file at which it begins */
    RSDK_LIST(size_t) needed;          /* files of the list that it brings in */
    RSDK_LIST(rsdk_page_range) ranges; /* in ascending order, each within the file */
} rsdk_paged_file;

typedef struct rsdk_page_list {
    RSDK_LIST(rsdk_paged_file) files; /* in the order in which they are to be read */
} rsdk_page_list;

/* Read the text of a list, `size` bytes and a NUL, which the function changes. RSDK_BAD_METADATA, with the name `path`
 * and the line, if anything is wrong with the text. */
rsdk_status rsdk_page_list_parse(const char *path, char *text, size_t size, rsdk_arena *arena, rsdk_page_list *list,
                                 rsdk_error *error);

/* Add the text of a list. */
void rsdk_page_list_add_text(const rsdk_page_list *list, rsdk_text *text);

/* The text of a page list. The text is read by system calls alone, so that a thread can do it: the file server may
 * never answer. */

typedef struct rsdk_list_text {
    const char *directory, *path;
    char *bytes; /* room for the longest list, and its NUL */
    size_t size;
    const char *fault; /* the reason why the list cannot be used; NULL: none */
    int reason;        /* errno, or 0 */
} rsdk_list_text;

/* Make room in an arena for the list of a directory. `text` is all zero before. */
rsdk_status rsdk_list_text_prepare(rsdk_list_text *text, const char *directory, rsdk_arena *arena, rsdk_error *error);

/* Read the text, once. A link is not followed: only the SDK's own list counts. */
void rsdk_list_text_read(rsdk_list_text *text);

/* End the text by a NUL. RSDK_IO_ERROR where the text could not be read, or users who may not change the libraries can
 * change it. */
rsdk_status rsdk_list_text_check(rsdk_list_text *text, rsdk_error *error);

#endif
