/* Reading ahead: what a load will touch is asked of the disk or file server all at once, where the linker asks for one
 * page after the other. */
#ifndef RSDK_LOADER_PAGE_READER_H
#define RSDK_LOADER_PAGE_READER_H

#include <stdatomic.h>

#include "base/quiet_thread.h"
#include "elf/elf_file.h"
#include "loader/inventory.h"
#include "loader/next_files.h"
#include "rocm_sdk/loader.h"

/* A file that is to be read ahead. */
typedef struct rsdk_wanted_file {
    const struct rsdk_paged_file *facts;
    const char *path;
} rsdk_wanted_file;

typedef struct rsdk_page_reader {
    const rsdk_load_options *options; /* borrowed; NULL: nothing is read ahead */
    rsdk_inventory *inventory;        /* borrowed */
    rsdk_read_watch watch;            /* by which it learns that a file is cold */
    rsdk_arena arena;
    bool is_decided, has_list;
    unsigned slow_files;
    rsdk_quiet_thread thread; /* reads as the list says */
    RSDK_LIST(rsdk_wanted_file) files;
    const char *first;   /* the file by which it begins, whose first bytes have just been read */
    uint64_t first_time; /* in so many nanoseconds */
    atomic_bool ends;
    rsdk_next_files next;  /* without a list */
    size_t listed;         /* so many directories of the inventory were listed when it looked for what is asked for */
    rsdk_name_table given; /* paths that `next` has */
} rsdk_page_reader;

/* Lets the reader begin when a file that the inventory reads is cold, or with its first file if the options say so.
 * Both have to stay where they are. A cold file costs the warm ones nothing: until there is one, no system call is
 * made. */
void rsdk_page_reader_watch(rsdk_page_reader *reader, rsdk_inventory *inventory, const rsdk_load_options *options);

/* Reads nothing further, and waits for the thread. For a reader that is all zero, too. */
void rsdk_page_reader_stop(rsdk_page_reader *reader);

#endif
