/* Reading ahead: the pages that a load will touch are asked of the disk or file server all at once, where the linker
 * asks for one page after the other. */
#ifndef RSDK_LOADER_READ_AHEAD_PAGE_READER_H
#define RSDK_LOADER_READ_AHEAD_PAGE_READER_H

#include "base/quiet_thread.h"
#include "elf/elf_file.h"
#include "loader/read_ahead/next_files.h"
#include "loader/read_ahead/page_list.h"
#include "rocm_sdk/loader.h"
#include "sdk/inventory.h"

/* A reader ahead. The parts that threads use are in its arena, or are never freed: a thread that does not end outlives
 * the load. */
typedef struct rsdk_page_reader {
    const rsdk_load_options *options; /* borrowed for the load; no thread reads them */
    rsdk_inventory *inventory;        /* borrowed for the load; no thread reads it */
    rsdk_read_watch watch;            /* the watch by which the reader learns that a file is cold */
    rsdk_arena arena;
    bool is_decided, has_list, is_stuck;
    bool is_early;    /* the reader has begun before the load came to a library */
    bool reads_twice; /* each open of a file drops its pages */
    unsigned slow_files;
    rsdk_quiet_thread thread; /* reads the list */
    rsdk_list_text list;
    const char *first;   /* the file by which it begins, whose first bytes have just been read */
    uint64_t first_time; /* the nanoseconds of this read */
    uint64_t open_time;  /* nanoseconds in which it was opened once more; 0: it was not */
    rsdk_next_files next;
    size_t listed;         /* so many directories of the inventory were listed when it looked for the requested files */
    rsdk_name_table given; /* paths that `next` has or, as RSDK_NEXT_NONE, is not to have */
} rsdk_page_reader;

/* Make a reader that begins when a file that the inventory reads is cold, or with its first file if the options say so;
 * NULL where nothing is to be read ahead, or without memory. The caller holds the load lock, here and for the stop.
 * Warm files cost nothing: until there is a cold file, no system call is made. */
rsdk_page_reader *rsdk_page_reader_watch(rsdk_inventory *inventory, const rsdk_load_options *options);

/* Return whether files come as slowly as from a file server, and are read ahead for this reason. The call is allowed
 * for NULL, too. */
bool rsdk_page_reader_is_slow(const rsdk_page_reader *reader);

/* Read nothing further, and wait for the threads, at most a tenth of a second. A thread that a file server does not
 * answer stays behind, and nothing is read ahead in this process until it has ended. The call is allowed for NULL,
 * too. */
void rsdk_page_reader_stop(rsdk_page_reader *reader);

#endif
