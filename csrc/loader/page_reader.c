/* By a page list one thread asks for all; without one, the load and some threads ask for what each header says. The
 * threads make system calls alone: they allocate nothing and take no locks, so a load that hangs or fails cannot hang
 * them, and a child that is forked meanwhile lacks nothing. The load waits for none of them longer than a limit: a file
 * server may answer for the files that a load needs, and never for another one. */
#include "loader/page_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/path.h"
#include "loader/page_list.h"
#include "sdk/open_sdk.h"
#include "sdk/tables.h"

enum {
    COLD = 50000,     /* nanoseconds: a page in memory takes one to three thousand, a quick disk seventy thousand */
    SLOW = 300000,    /* nanoseconds of a file server or a slow disk: without a list, the loader asks by itself */
    SLOW_FILES = 2,   /* once so many have been slow */
    LIST_WAIT = 1000, /* milliseconds that the load waits for the list */
    END_WAIT = 100,   /* milliseconds that it waits for the threads when it is done */
};

/* What a load has left behind, whose threads may still run; NULL: nothing. Guarded by the load lock. As long as there
 * is one, nothing is read ahead: at most one stays behind, and this thread must not wait in its place. */
static rsdk_page_reader *left_behind;

static const int file_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

static void report(rsdk_page_reader *reader, const char *format, const char *what, size_t count) {
    if (reader->options->report != NULL) {
        const char *line = rsdk_arena_format(&reader->arena, format, what, count);
        if (line != NULL) {
            reader->options->report(reader->options->report_context, line);
        }
    }
}

/* ---- reading ---- */

/* Asks for pages and does not wait for them. */
static void ask_for(rsdk_page_reader *reader, int descriptor, const rsdk_paged_file *facts) {
    for (size_t i = 0; i < facts->ranges.count; i++) {
        const rsdk_page_range *range = &facts->ranges.items[i];
        rsdk_file_ask_ahead(descriptor, range->first * RSDK_PAGE_SIZE,
                            (range->last - range->first + 1) * RSDK_PAGE_SIZE, &reader->ends);
    }
}

/* Opens the file and asks for the page with its build ID. -1: it is another file than that of the list. */
static int open_wanted(const rsdk_wanted_file *file) {
    rsdk_file found = {0};
    if (!rsdk_file_open_silently(file->path, &found)) {
        return -1;
    }
    if (found.size != file->facts->size) {
        rsdk_file_close(&found);
        return -1;
    }
    if (file->facts->build_id_size > 0) {
        (void)posix_fadvise(found.descriptor, (off_t)file->facts->build_id_place, (off_t)file->facts->build_id_size,
                            POSIX_FADV_WILLNEED);
    }
    return found.descriptor;
}

/* Reads what was asked for by open_wanted, and asks for the rest if it is the file of the list. */
static void read_wanted(rsdk_page_reader *reader, rsdk_wanted_file *file, int descriptor) {
    const rsdk_paged_file *facts = file->facts;
    unsigned char build_id[RSDK_PAGED_BUILD_ID_LIMIT];
    if (descriptor < 0) {
        return;
    }
    if (pread(descriptor, build_id, facts->build_id_size, (off_t)facts->build_id_place) ==
            (ssize_t)facts->build_id_size &&
        memcmp(build_id, facts->build_id, facts->build_id_size) == 0) {
        ask_for(reader, descriptor, facts);
    }
    (void)close(descriptor);
}

/* Whether each open of a file drops its pages, as FUSE does where it is not told otherwise: what is read ahead would be
 * read again when the linker opens the file. The first bytes of this one are in memory, unless our open has dropped
 * them. */
static bool opens_drop_pages(const rsdk_page_reader *reader) {
    char byte = 0;
    int descriptor = open(reader->first, file_flags);
    if (descriptor < 0) {
        return false;
    }
    const uint64_t start = rsdk_clock_now();
    (void)!pread(descriptor, &byte, 1, 0);
    const uint64_t taken = rsdk_clock_now() - start;
    (void)close(descriptor);
    return taken >= COLD && taken >= reader->first_time / 2;
}

/* While a file is opened, the page with the build ID of the one before it arrives. */
static void read_all(rsdk_page_reader *reader) {
    int before = -1;
    if (atomic_load(&reader->ends) || opens_drop_pages(reader)) {
        return;
    }
    for (size_t i = 0; i <= reader->files.count && !atomic_load(&reader->ends); i++) {
        const int next = i < reader->files.count ? open_wanted(&reader->files.items[i]) : -1;
        if (i > 0) {
            read_wanted(reader, &reader->files.items[i - 1], before);
        }
        before = next;
    }
    if (before >= 0) {
        (void)close(before);
    }
}

static bool may_have_threads(const rsdk_page_reader *reader) {
    return reader->options->read_ahead != RSDK_READ_AHEAD_WITHOUT_THREAD && !reader->is_stuck;
}

/* ---- the list ---- */

/* Reads the list, and then as the load has chosen from it. */
static void *serve(void *argument) {
    rsdk_page_reader *reader = argument;
    rsdk_list_text_read(&reader->list);
    (void)sem_post(&reader->is_read);
    while (sem_wait(&reader->is_chosen) != 0) {
    }
    read_all(reader);
    return NULL;
}

/* A time from now, as a deadline of CLOCK_REALTIME. */
static struct timespec after(unsigned milliseconds) {
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Whether the thread has read the list in time. */
static bool is_read_in_time(rsdk_page_reader *reader) {
    const struct timespec deadline = after(LIST_WAIT);
    int failed = 0;
    do {
        failed = sem_timedwait(&reader->is_read, &deadline);
    } while (failed != 0 && errno == EINTR);
    return failed == 0;
}

/* Where no thread may be started, the caller reads the list itself. */
static rsdk_status fetch_list(rsdk_page_reader *reader, const char *directory, rsdk_page_list *list,
                              rsdk_error *error) {
    rsdk_list_text *text = &reader->list;
    RSDK_TRY(rsdk_list_text_prepare(text, directory, &reader->arena, error));
    if (!may_have_threads(reader) || !rsdk_quiet_thread_start(&reader->thread, serve, reader)) {
        rsdk_list_text_read(text);
    } else if (!is_read_in_time(reader)) {
        reader->is_stuck = true;
        return rsdk_fail(error, RSDK_IO_ERROR, text->path, "%s: not read within %d ms", text->path, LIST_WAIT);
    }
    RSDK_TRY(rsdk_list_text_check(text, error));
    return rsdk_page_list_parse(text->path, text->bytes, text->size, &reader->arena, list, error);
}

/* The directory of the core package's libraries, if it has a list. A ROCm that is not installed as packages has none.
 */
static const char *find_directory(const rsdk_page_reader *reader) {
    const rsdk_library_directory *core = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    bool has_list = rsdk_sdk_fallback(reader->inventory->sdk) == NULL &&
                    rsdk_inventory_directory(reader->inventory, RSDK_CORE, "lib", &core, &error) == RSDK_OK &&
                    rsdk_directory_has(&core->listing, RSDK_PAGE_LIST_NAME);
    rsdk_error_clear(&error);
    return has_list ? core->path : NULL;
}

/* ---- what of the list is wanted ---- */

/* Whether the load asks for the file by a shortname. */
static bool is_asked_for(const rsdk_load_options *options, const char *name) {
    for (size_t i = 0; i < options->shortname_count; i++) {
        const rsdk_catalog_entry *entry = rsdk_catalog_find(options->shortnames[i]);
        if (entry != NULL && rsdk_catalog_fits(entry, name)) {
            return true;
        }
    }
    return false;
}

/* Marks a file and what it brings in. `stack` has room for all files. */
static void mark(const rsdk_page_list *list, size_t root, bool *marks, size_t *stack) {
    size_t height = 0;
    if (!marks[root]) {
        marks[root] = true;
        stack[height++] = root;
    }
    while (height > 0) {
        const rsdk_paged_file *file = &list->files.items[stack[--height]];
        for (size_t i = 0; i < file->needed.count; i++) {
            if (!marks[file->needed.items[i]]) {
                marks[file->needed.items[i]] = true;
                stack[height++] = file->needed.items[i];
            }
        }
    }
}

/* The directory of the SDK that is called so at its end; NULL: it has none. */
static const char *directory_called(const rsdk_inventory *inventory, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < inventory->directories.count; i++) {
        const char *path = inventory->directories.items[i].path;
        const size_t whole = strlen(path);
        if (whole > length && path[whole - length - 1] == '/' && strcmp(path + whole - length, name) == 0) {
            return path;
        }
    }
    return NULL;
}

/* Whether a file that has been read needs one of this name: given files, and libraries that are not the SDK's. */
static bool is_needed(const rsdk_inventory *inventory, const char *name) {
    for (size_t i = 0; i < inventory->files.count; i++) {
        const rsdk_elf_file *file = inventory->files.items[i];
        for (size_t j = 0; j < file->needed.count; j++) {
            if (strcmp(file->needed.items[j], name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static rsdk_status choose(rsdk_page_reader *reader, const rsdk_page_list *list, rsdk_error *error) {
    bool *marks = rsdk_arena_alloc(&reader->arena, list->files.count, sizeof *marks);
    size_t *stack = rsdk_arena_alloc(&reader->arena, list->files.count, sizeof *stack);
    RSDK_NEED(marks, error);
    RSDK_NEED(stack, error);
    for (size_t i = 0; i < list->files.count; i++) {
        const char *name = list->files.items[i].name;
        if (is_asked_for(reader->options, name) || is_needed(reader->inventory, name)) {
            mark(list, i, marks, stack);
        }
    }
    for (size_t i = 0; i < list->files.count; i++) {
        const rsdk_paged_file *file = &list->files.items[i];
        const char *directory = marks[i] ? directory_called(reader->inventory, file->directory) : NULL;
        if (directory != NULL) {
            rsdk_wanted_file wanted = {.facts = file, .path = rsdk_path_join(&reader->arena, directory, file->name)};
            RSDK_NEED(wanted.path, error);
            RSDK_APPEND(&reader->arena, &reader->files, wanted, error);
        }
    }
    return RSDK_OK;
}

/* ---- without a list ---- */

/* Lets a thread open a file that the load has not come to. */
static void give(rsdk_page_reader *reader, const char *near, const char *name) {
    size_t place = reader->next.given;
    const char *path = rsdk_inventory_find_unread(reader->inventory, near, name);
    if (path == NULL || rsdk_name_table_find(&reader->given, path, strlen(path), &place)) {
        return;
    }
    const char *kept = rsdk_arena_copy(&reader->arena, path);
    if (kept != NULL &&
        rsdk_name_table_set(&reader->given, &reader->arena, kept, strlen(kept), place, NULL) == RSDK_OK) {
        rsdk_next_files_give(&reader->next, kept);
    }
}

/* The load has come to a file; no thread begins with it any more. */
static void take_back(rsdk_page_reader *reader, const char *path) {
    size_t place = RSDK_NEXT_FILES;
    if (rsdk_name_table_find(&reader->given, path, strlen(path), &place)) {
        rsdk_next_files_take_back(&reader->next, place);
    } else {
        (void)rsdk_name_table_set(&reader->given, &reader->arena, path, strlen(path), place, NULL);
    }
}

static void give_needed(rsdk_page_reader *reader, const rsdk_elf_file *file) {
    for (size_t i = 0; i < file->needed.count; i++) {
        give(reader, file->path, file->needed.items[i]);
    }
}

/* What the load asks for, of the directories that have been listed meanwhile. */
static void give_asked_for(rsdk_page_reader *reader) {
    const rsdk_inventory *inventory = reader->inventory;
    size_t listed = 0;
    for (size_t i = 0; i < inventory->directories.count; i++) {
        listed += inventory->directories.items[i].is_listed;
    }
    for (size_t i = 0; i < inventory->directories.count && listed != reader->listed; i++) {
        const rsdk_directory *listing = &inventory->directories.items[i].listing;
        for (size_t j = 0; j < listing->names.count; j++) {
            if (is_asked_for(reader->options, listing->names.items[j])) {
                give(reader, NULL, listing->names.items[j]);
            }
        }
    }
    reader->listed = listed;
}

static void take_needed(void *context, const rsdk_elf_file *file) {
    rsdk_page_reader *reader = context;
    if (reader->next.thread_count > 0) {
        take_back(reader, file->path);
        give_asked_for(reader);
        give_needed(reader, file);
    }
}

/* What the linker reads of this library and of later ones is asked for when their headers are read, and those of the
 * next ones are read meanwhile. */
static void ask_without_list(rsdk_page_reader *reader) {
    reader->watch.asks_ahead = true;
    report(reader, "reading ahead what the linker reads of %s and of the libraries behind it",
           rsdk_path_name(reader->first), 0);
    if (may_have_threads(reader)) {
        rsdk_next_files_start(&reader->next);
        for (size_t i = 0; i < reader->inventory->files.count; i++) {
            give_needed(reader, reader->inventory->files.items[i]);
        }
    }
}

/* One file may be slow because the processor was taken away meanwhile. */
static bool are_slow(rsdk_page_reader *reader) {
    return reader->first_time >= SLOW && ++reader->slow_files == SLOW_FILES && !opens_drop_pages(reader);
}

/* ---- the whole ---- */

/* Begins as the list says; false: there is none that says something of this load. What is wrong with a list is no
 * failure of the load. */
static bool begin_by_list(rsdk_page_reader *reader) {
    rsdk_page_list list = {0};
    rsdk_error reason = RSDK_ERROR_INIT;
    const char *directory = find_directory(reader);
    if (directory == NULL) {
        return false;
    }
    rsdk_status status = fetch_list(reader, directory, &list, &reason);
    status = status == RSDK_OK ? choose(reader, &list, &reason) : status;
    if (status != RSDK_OK) {
        report(reader, "not reading ahead: %s", rsdk_error_message(&reason), 0);
    } else if (reader->files.count > 0) {
        report(reader, "reading ahead as %s/" RSDK_PAGE_LIST_NAME " says (%zu libraries)", directory,
               reader->files.count);
        if (reader->thread.runs) {
            (void)sem_post(&reader->is_chosen);
        } else {
            read_all(reader);
        }
    }
    rsdk_error_clear(&reason);
    return status == RSDK_OK && reader->files.count > 0;
}

/* Whether it is one of the given files: what they need is known once all of them have been read. */
static bool is_given(const rsdk_load_options *options, const char *path) {
    for (size_t i = 0; i < options->file_count; i++) {
        if (strcmp(options->files[i], path) == 0) {
            return true;
        }
    }
    return false;
}

static void take_time(void *context, const char *path, uint64_t nanoseconds) {
    rsdk_page_reader *reader = context;
    const bool is_wished = reader->options->read_ahead == RSDK_READ_AHEAD_ALWAYS;
    if (reader->has_list || reader->watch.asks_ahead || !(nanoseconds >= COLD || is_wished) ||
        is_given(reader->options, path)) {
        return;
    }
    reader->first = rsdk_arena_copy(&reader->arena, path);
    if (reader->first == NULL) {
        return;
    }
    reader->first_time = nanoseconds;
    if (!reader->is_decided) {
        reader->is_decided = true;
        reader->has_list = begin_by_list(reader);
    }
    if (!reader->has_list && (is_wished || are_slow(reader))) {
        ask_without_list(reader);
    }
}

/* Frees the reader once its threads have ended; false: they have not by then. */
static bool end(rsdk_page_reader *reader, unsigned milliseconds) {
    const struct timespec deadline = after(milliseconds);
    atomic_store(&reader->ends, true);
    if (reader->thread.runs) {
        (void)sem_post(&reader->is_chosen);
    }
    const bool has_ended = rsdk_next_files_stop(&reader->next, &deadline);
    if (!rsdk_quiet_thread_join(&reader->thread, &deadline) || !has_ended) {
        return false;
    }
    (void)sem_destroy(&reader->is_read);
    (void)sem_destroy(&reader->is_chosen);
    rsdk_arena_clear(&reader->arena);
    free(reader);
    return true;
}

/* The code that a thread runs stays in the process, as long as that lives: the program may close this library. */
static void keep_code(void) {
    Dl_info found;
    if (dladdr(&left_behind, &found) != 0 && found.dli_fname != NULL) {
        (void)dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

rsdk_page_reader *rsdk_page_reader_watch(rsdk_inventory *inventory, const rsdk_load_options *options) {
    if (left_behind != NULL && end(left_behind, 0)) {
        left_behind = NULL;
    }
    const bool is_wanted = options->read_ahead != RSDK_READ_AHEAD_NEVER && left_behind == NULL;
    rsdk_page_reader *reader = is_wanted ? calloc(1, sizeof *reader) : NULL;
    if (reader != NULL) {
        (void)sem_init(&reader->is_read, 0, 0);
        (void)sem_init(&reader->is_chosen, 0, 0);
        reader->options = options;
        reader->inventory = inventory;
        reader->watch = (rsdk_read_watch){.tell_time = take_time, .tell_needed = take_needed, .context = reader};
        inventory->watch = &reader->watch;
    }
    return reader;
}

void rsdk_page_reader_stop(rsdk_page_reader *reader) {
    if (reader == NULL) {
        return;
    }
    reader->inventory->watch = NULL;
    if (!end(reader, END_WAIT)) {
        left_behind = reader; /* there was none: nothing is read ahead as long as there is one */
        keep_code();
    }
}
