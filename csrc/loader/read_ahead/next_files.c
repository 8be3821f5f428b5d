/* Each thread takes the file that was given first. */
#include "loader/read_ahead/next_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_ahead.h"

enum { GIVEN /* as memory is at first */, BUSY, OPENED, LEFT /* the load has it, or opens it like any other */ };

enum { OPEN_WAIT = 1000 /* milliseconds that the load waits for a thread */ };

/* Open the file for the load, and then ask for its content. */
static void open_library(rsdk_next_files *next, rsdk_next_file *entry) {
    rsdk_file own = {0};
    if (!rsdk_file_open_silently(entry->path, &own)) {
        rsdk_quiet_thread_tell(&entry->state, LEFT);
        return;
    }
    const bool is_kept = entry - next->files < RSDK_NEXT_KEPT;
    entry->file = own;
    entry->file.descriptor = is_kept ? fcntl(own.descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    rsdk_quiet_thread_tell(&entry->state, entry->file.descriptor >= 0 ? OPENED : LEFT);
    if (entry->kind == RSDK_NEXT_LISTED) {
        /* If the file is the one in the list, ask for the pages that the list names, and wait for none of them. */
        const rsdk_paged_file *facts = entry->facts;
        unsigned char build_id[RSDK_PAGED_BUILD_ID_LIMIT];
        if (own.size == facts->size &&
            pread(own.descriptor, build_id, facts->build_id_size, (off_t)facts->build_id_place) ==
                (ssize_t)facts->build_id_size &&
            memcmp(build_id, facts->build_id, facts->build_id_size) == 0) {
            for (size_t i = 0; i < facts->ranges.count; i++) {
                const rsdk_page_range *range = &facts->ranges.items[i];
                rsdk_file_ask_ahead(own.descriptor, range->first * RSDK_PAGE_SIZE,
                                    (range->last - range->first + 1) * RSDK_PAGE_SIZE, &next->ends);
            }
        }
    } else {
        rsdk_elf_ask_ahead_of(&own, &next->ends);
    }
    rsdk_file_close(&own);
}

static void serve(rsdk_next_files *next, rsdk_next_file *entry) {
    if (entry->kind < RSDK_NEXT_LIBRARY) {
        struct stat facts;
        char beginning[4096];
        rsdk_file file;
        if (entry->kind == RSDK_NEXT_LOOK) {
            (void)stat(entry->path, &facts);
        } else if (rsdk_file_open_silently(entry->path, &file)) {
            (void)!pread(file.descriptor, beginning, sizeof beginning, 0);
            rsdk_file_close(&file);
        }
        rsdk_quiet_thread_tell(&entry->state, LEFT);
    } else {
        open_library(next, entry);
    }
}

/* Return whether this caller gets the entry: nobody else has begun with it. */
static bool claim(rsdk_next_file *entry) {
    int state = GIVEN;
    return atomic_compare_exchange_strong(&entry->state, &state, BUSY);
}

static void serve_files(void *argument) {
    rsdk_next_files *next = argument;
    for (;;) {
        while (sem_wait(&next->waiting) != 0) {
        }
        if (atomic_load(&next->ends)) {
            return;
        }
        rsdk_next_file *entry = &next->files[atomic_fetch_add(&next->taken, 1)];
        if (claim(entry)) {
            serve(next, entry);
        }
    }
}

void rsdk_next_files_start(rsdk_next_files *next, size_t capacity, bool has_threads, rsdk_arena *arena) {
    next->files = rsdk_arena_alloc(arena, capacity, sizeof *next->files);
    if (next->files == NULL) {
        return;
    }
    next->capacity = capacity;
    (void)sem_init(&next->waiting, 0, 0);
    while (has_threads && next->thread_count < RSDK_NEXT_THREADS && next->thread_count < capacity &&
           rsdk_quiet_thread_start(&next->threads[next->thread_count], serve_files, next)) {
        next->thread_count++;
    }
}

/* Add an entry. Without threads, the pages of a list are asked for at once, and nothing else. */
static bool add(rsdk_next_files *next, rsdk_next_kind kind, const char *path, const rsdk_paged_file *facts) {
    if (next->given >= next->capacity || (next->thread_count == 0 && kind != RSDK_NEXT_LISTED)) {
        return false;
    }
    rsdk_next_file *entry = &next->files[next->given++];
    entry->kind = kind;
    entry->path = path;
    entry->facts = facts;
    if (next->thread_count == 0) {
        serve(next, entry);
    } else {
        (void)sem_post(&next->waiting);
    }
    return true;
}

bool rsdk_next_files_give(rsdk_next_files *next, const char *path, const rsdk_paged_file *facts) {
    return add(next, facts != NULL ? RSDK_NEXT_LISTED : RSDK_NEXT_LIBRARY, path, facts);
}

void rsdk_next_files_look(rsdk_next_files *next, const char *path, bool reads) {
    (void)add(next, reads ? RSDK_NEXT_READ : RSDK_NEXT_LOOK, path, NULL);
}

bool rsdk_next_files_take(rsdk_next_files *next, size_t place, rsdk_file *file) {
    if (place >= next->given) {
        return false;
    }
    rsdk_next_file *entry = &next->files[place];
    if (claim(entry)) {
        if (entry->kind != RSDK_NEXT_LISTED) {
            atomic_store(&entry->state, LEFT);
            return false;
        }
        serve(next, entry);
    }
    /* A thread has it, and opens it, or cannot. */
    next->is_stuck =
        next->is_stuck || !rsdk_quiet_thread_wait(&entry->state, BUSY, rsdk_quiet_thread_deadline(OPEN_WAIT));
    if (atomic_load(&entry->state) != OPENED) {
        return false;
    }
    *file = entry->file;
    atomic_store(&entry->state, LEFT);
    return true;
}

bool rsdk_next_files_stop(rsdk_next_files *next, uint64_t deadline) {
    bool have_ended = true;
    atomic_store(&next->ends, true);
    for (unsigned i = 0; i < next->thread_count; i++) {
        (void)sem_post(&next->waiting);
    }
    for (unsigned i = 0; i < next->thread_count; i++) {
        have_ended = rsdk_quiet_thread_join(&next->threads[i], deadline) && have_ended;
    }
    if (!have_ended || next->files == NULL) {
        return have_ended;
    }
    for (size_t i = 0; i < next->given; i++) {
        if (atomic_load(&next->files[i].state) == OPENED) {
            rsdk_file_close(&next->files[i].file);
        }
    }
    (void)sem_destroy(&next->waiting);
    next->files = NULL;
    next->thread_count = 0;
    next->capacity = next->given = 0;
    return true;
}
