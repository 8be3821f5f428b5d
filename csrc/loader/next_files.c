/* Each thread takes the path that was given first. */
#include "loader/next_files.h"

#include "elf/elf_ahead.h"

static void *ask_for_files(void *argument) {
    rsdk_next_files *next = argument;
    for (;;) {
        while (sem_wait(&next->waiting) != 0) {
        }
        if (atomic_load(&next->ends)) {
            return NULL;
        }
        const char *path = atomic_exchange(&next->paths[atomic_fetch_add(&next->taken, 1)], NULL);
        if (path != NULL) {
            rsdk_elf_ask_ahead_of(path, &next->ends);
        }
    }
}

void rsdk_next_files_start(rsdk_next_files *next) {
    if (sem_init(&next->waiting, 0, 0) != 0) {
        return;
    }
    while (next->thread_count < RSDK_NEXT_THREADS &&
           rsdk_quiet_thread_start(&next->threads[next->thread_count], ask_for_files, next)) {
        next->thread_count++;
    }
}

void rsdk_next_files_give(rsdk_next_files *next, const char *path) {
    if (next->thread_count > 0 && next->given < RSDK_NEXT_FILES) {
        atomic_store(&next->paths[next->given++], path);
        (void)sem_post(&next->waiting);
    }
}

void rsdk_next_files_take_back(rsdk_next_files *next, size_t place) {
    if (place < RSDK_NEXT_FILES) {
        atomic_store(&next->paths[place], NULL);
    }
}

bool rsdk_next_files_stop(rsdk_next_files *next, const struct timespec *deadline) {
    bool have_ended = true;
    atomic_store(&next->ends, true);
    for (unsigned i = 0; i < next->thread_count; i++) {
        (void)sem_post(&next->waiting);
    }
    for (unsigned i = 0; i < next->thread_count; i++) {
        have_ended = rsdk_quiet_thread_join(&next->threads[i], deadline) && have_ended;
    }
    if (have_ended && next->thread_count > 0) {
        (void)sem_destroy(&next->waiting);
        next->thread_count = 0;
    }
    return have_ended;
}
