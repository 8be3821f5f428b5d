/* Reading ahead: what a load will touch is asked of the disk or file server all at once, where the linker asks for one
 * page after the other. */
#ifndef RSDK_LOADER_PAGE_READER_H
#define RSDK_LOADER_PAGE_READER_H

#include <semaphore.h>
#include <stdatomic.h>

#include "base/quiet_thread.h"
#include "elf/elf_file.h"
#include "loader/inventory.h"
#include "loader/list_text.h"
#include "loader/next_files.h"
#include "rocm_sdk/loader.h"

/* A file that is to be read ahead. */
typedef struct rsdk_wanted_file {
    const struct rsdk_paged_file *facts;
    const char *path;
} rsdk_wanted_file;

/* What threads use of it is in its arena, or is never freed: one that does not end outlives the load. */
typedef struct rsdk_page_reader {
    const rsdk_load_options *options; /* borrowed for the load; no thread reads them */
    rsdk_inventory *inventory;        /* borrowed for the load; no thread reads it */
    rsdk_read_watch watch;            /* by which it learns that a file is cold */
    rsdk_arena arena;
    bool is_decided, has_list, is_stuck;
    unsigned slow_files;
    rsdk_quiet_thread thread; /* reads the list, and as it says */
    rsdk_list_text list;
    sem_t is_read, is_chosen; /* the list, and what is wanted of it */
    RSDK_LIST(rsdk_wanted_file) files;
    const char *first;   /* the file by which it begins, whose first bytes have just been read */
    uint64_t first_time; /* in so many nanoseconds */
    atomic_bool ends;
    rsdk_next_files next;  /* without a list */
    size_t listed;         /* so many directories of the inventory were listed when it looked for what is asked for */
    rsdk_name_table given; /* paths that `next` has */
} rsdk_page_reader;

/* A reader that begins when a file that the inventory reads is cold, or with its first file if the options say so; NULL
 * where nothing is to be read ahead, or without memory. The caller holds the load lock, here and for the stop. A cold
 * file costs the warm ones nothing: until there is one, no system call is made. */
rsdk_page_reader *rsdk_page_reader_watch(rsdk_inventory *inventory, const rsdk_load_options *options);

/* Reads nothing further, and waits for the threads, at most a tenth of a second: one that a file server does not answer
 * stays behind, and nothing is read ahead in this process until it has ended. For NULL, too. */
void rsdk_page_reader_stop(rsdk_page_reader *reader);

#endif
