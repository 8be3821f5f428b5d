/* Threads open the files that a load will need next, and ask for the pages that a page list, or each header, names. The
 * threads make only system calls: they allocate nothing and take no locks, so a load that hangs or fails cannot hang
 * them, and a child that is forked meanwhile lacks nothing. The load waits for each of them only up to a limit: a file
 * server may answer for the files that a load needs, and never for another one. */
#include "loader/read_ahead/page_reader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/path.h"
#include "loader/read_ahead/first_looks.h"
#include "loader/read_ahead/next_files.h"
#include "loader/read_ahead/page_list.h"
#include "sdk/open_sdk.h"
#include "sdk/tables.h"

enum {
    COLD = 50000,     /* nanoseconds: a page in memory takes one to three thousand, a quick disk seventy thousand */
    SLOW = 300000,    /* nanoseconds of a file server or a slow disk: without a list, the loader asks by itself */
    SLOW_FILES = 2,   /* once this many have been slow */
    LIST_WAIT = 1000, /* milliseconds that the load waits for the list */
    END_WAIT = 100,   /* milliseconds that it waits for the threads when it is done */
};

/* The reader that a load has left behind, whose threads may still run; NULL: none. The load lock guards it. As long as
 * there is one, nothing is read ahead: at most one stays behind, and no later load has to wait for it. */
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

/* Return whether each open of a file drops its pages, as FUSE does unless told otherwise: pages that are read ahead
 * would be read again when the linker opens the file. The first bytes of this file are in memory, unless our open
 * has dropped them. */
static bool opens_drop_pages(rsdk_page_reader *reader) {
    char byte = 0;
    const uint64_t before = rsdk_clock_now();
    int descriptor = open(reader->first, file_flags);
    if (descriptor < 0) {
        return false;
    }
    reader->open_time = rsdk_clock_now() - before;
    const uint64_t start = rsdk_clock_now();
    (void)!pread(descriptor, &byte, 1, 0);
    const uint64_t taken = rsdk_clock_now() - start;
    (void)close(descriptor);
    return taken >= COLD && taken >= reader->first_time / 2;
}

static bool may_have_threads(const rsdk_page_reader *reader) {
    return reader->options->read_ahead != RSDK_READ_AHEAD_WITHOUT_THREAD && !reader->is_stuck;
}

/* ---- the list ---- */

static void read_list(void *argument) {
    rsdk_list_text_read(argument);
}

/* Begin to read the list of a directory; return false if no thread does. */
static bool start_list(rsdk_page_reader *reader, const char *directory, rsdk_error *error) {
    return rsdk_list_text_prepare(&reader->list, directory, &reader->arena, error) == RSDK_OK &&
           may_have_threads(reader) && rsdk_quiet_thread_start(&reader->thread, read_list, &reader->list);
}

/* Fetch the list. If no thread may be started, the caller reads the list itself. While a thread reads it, the caller
 * finds out whether it is of use. */
static rsdk_status fetch_list(rsdk_page_reader *reader, const char *directory, rsdk_page_list *list,
                              rsdk_error *error) {
    rsdk_list_text *text = &reader->list;
    if (!reader->thread.runs && !start_list(reader, directory, error)) {
        RSDK_TRY(text->bytes != NULL ? RSDK_OK : RSDK_NO_MEMORY);
        rsdk_list_text_read(text);
    }
    if (!reader->is_early) {
        reader->reads_twice = opens_drop_pages(reader);
    }
    if (!rsdk_quiet_thread_join(&reader->thread, rsdk_quiet_thread_deadline(LIST_WAIT))) {
        reader->is_stuck = true;
        return rsdk_fail(error, RSDK_IO_ERROR, text->path, "%s: not read within %d ms", text->path, LIST_WAIT);
    }
    if (strcmp(text->directory, directory) != 0) { /* the package is elsewhere than was thought */
        return rsdk_fail(error, RSDK_FILE_NOT_FOUND, text->path,
                         "%s: is not in %s, which has the core package's libraries", text->path, directory);
    }
    RSDK_TRY(rsdk_list_text_check(text, error));
    return rsdk_page_list_parse(text->path, text->bytes, text->size, &reader->arena, list, error);
}

/* Return the directory of the core package's libraries, if it has a list. A ROCm that is not installed as packages has
 * none. */
static const char *find_directory(const rsdk_page_reader *reader) {
    const rsdk_library_directory *core = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    bool has_list = rsdk_sdk_fallback(reader->inventory->sdk) == NULL &&
                    rsdk_inventory_directory(reader->inventory, RSDK_CORE, "lib", &core, &error) == RSDK_OK &&
                    rsdk_directory_has(&core->listing, RSDK_PAGE_LIST_NAME);
    rsdk_error_clear(&error);
    return has_list ? core->path : NULL;
}

/* ---- what is wanted from the list ---- */

static void start_threads(rsdk_page_reader *reader, size_t files) {
    if (reader->next.files == NULL) {
        rsdk_next_files_start(&reader->next, files, may_have_threads(reader), &reader->arena);
    }
}

/* Return whether the load asks for the file by a shortname. */
static bool is_asked_for(const rsdk_load_options *options, const char *name) {
    for (size_t i = 0; i < options->shortname_count; i++) {
        const rsdk_catalog_entry *entry = rsdk_catalog_find(options->shortnames[i]);
        if (entry != NULL && rsdk_catalog_fits(entry, name)) {
            return true;
        }
    }
    return false;
}

/* Mark a file and the files that it brings in. `stack` has room for all files. */
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

/* Return the directory of the SDK whose path ends in a name; NULL: the SDK has none. */
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

/* Return whether a file that has been read needs one of this name: given files, and libraries that are not the
 * SDK's. */
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

/* Give a file that the load will need later. The path stays the caller's. */
static rsdk_status give(rsdk_page_reader *reader, const char *path, const rsdk_paged_file *facts, rsdk_error *error) {
    const size_t place = reader->next.given;
    if (rsdk_next_files_give(&reader->next, path, facts)) {
        RSDK_TRY(rsdk_name_table_set(&reader->given, &reader->arena, path, strlen(path), place, error));
    }
    return RSDK_OK;
}

/* Let threads open the files of the list that the load needs, and ask for the pages that the list names. */
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
    start_threads(reader, list->files.count);
    for (size_t i = 0; i < list->files.count; i++) {
        const rsdk_paged_file *file = &list->files.items[i];
        const char *directory = marks[i] ? directory_called(reader->inventory, file->directory) : NULL;
        if (directory != NULL) {
            const char *path = rsdk_path_join(&reader->arena, directory, file->name);
            RSDK_NEED(path, error);
            RSDK_TRY(give(reader, path, file, error));
        }
    }
    return RSDK_OK;
}

/* ---- without a list ---- */

/* Let a thread open a file before the load gets to it. */
static void give_named(rsdk_page_reader *reader, const char *near, const char *name) {
    size_t place = 0;
    const char *path = rsdk_inventory_find_unread(reader->inventory, near, name);
    if (path != NULL && !rsdk_name_table_find(&reader->given, path, strlen(path), &place) &&
        (path = rsdk_arena_copy(&reader->arena, path)) != NULL) {
        (void)give(reader, path, NULL, NULL);
    }
}

/* Keep threads from starting on a file that the load has reached. */
static void keep_from_threads(rsdk_page_reader *reader, const char *path) {
    const char *kept = rsdk_arena_copy(&reader->arena, path);
    if (kept != NULL) {
        (void)rsdk_name_table_set(&reader->given, &reader->arena, kept, strlen(kept), RSDK_NEXT_NONE, NULL);
    }
}

static void give_needed(rsdk_page_reader *reader, const rsdk_elf_file *file) {
    for (size_t i = 0; i < file->needed.count; i++) {
        give_named(reader, file->path, file->needed.items[i]);
    }
}

/* Give the files that the load asks for, from the directories that have been listed meanwhile. */
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
                give_named(reader, NULL, listing->names.items[j]);
            }
        }
    }
    reader->listed = listed;
}

static void take_needed(void *context, const rsdk_elf_file *file) {
    rsdk_page_reader *reader = context;
    if (reader->watch.asks_ahead && reader->next.thread_count > 0) {
        give_asked_for(reader);
        give_needed(reader, file);
    }
}

/* Ask for the pages that the linker reads of the library at `path` and of later ones when their headers are read; the
 * headers of the next libraries are read meanwhile. */
static void ask_without_list(rsdk_page_reader *reader, const char *path) {
    reader->watch.asks_ahead = true;
    report(reader, "reading ahead what the linker reads of %s and of the libraries behind it", rsdk_path_name(path), 0);
    if (may_have_threads(reader)) {
        start_threads(reader, RSDK_NEXT_FILES);
        keep_from_threads(reader, path);
        for (size_t i = 0; i < reader->inventory->files.count; i++) {
            give_needed(reader, reader->inventory->files.items[i]);
        }
        give_asked_for(reader);
    }
}

/* ---- the whole ---- */

/* Begin with the list; return false if no list covers this load. A faulty list does not make the load fail. */
static bool begin_by_list(rsdk_page_reader *reader) {
    rsdk_page_list list = {0};
    rsdk_error reason = RSDK_ERROR_INIT;
    const char *directory = find_directory(reader);
    if (directory == NULL) {
        return false;
    }
    const size_t before = reader->next.given;
    rsdk_status status = fetch_list(reader, directory, &list, &reason);
    status = status == RSDK_OK && !reader->reads_twice ? choose(reader, &list, &reason) : status;
    const size_t given = reader->next.given - before;
    if (status != RSDK_OK) {
        report(reader, "not reading ahead: %s", rsdk_error_message(&reason), 0);
    } else if (reader->reads_twice) {
        report(reader, "not reading ahead: the pages of %s do not stay in memory when it is opened again",
               rsdk_path_name(reader->first), 0);
    } else if (given > 0) {
        report(reader, "reading ahead as %s/" RSDK_PAGE_LIST_NAME " says (%zu libraries)", directory, given);
    }
    rsdk_error_clear(&reason);
    return status == RSDK_OK && given > 0;
}

/* Return whether a path is one of the given files: their needs are known once all of them have been read. */
static bool is_given(const rsdk_load_options *options, const char *path) {
    for (size_t i = 0; i < options->file_count; i++) {
        if (strcmp(options->files[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* Decide, once, whether the list names the pages that are read ahead. */
static void decide(rsdk_page_reader *reader) {
    if (!reader->is_decided) {
        reader->is_decided = true;
        reader->has_list = begin_by_list(reader);
    }
}

/* Take a file that the load has reached: if a thread has opened it, it need not be opened again. */
static bool take_file(void *context, const char *path, rsdk_file *file) {
    rsdk_page_reader *reader = context;
    size_t place = RSDK_NEXT_NONE;
    if (reader->is_early && !reader->is_decided && !is_given(reader->options, path)) {
        /* A second slow open of `_dist_info.py` shows that the first was no accident. */
        decide(reader);
        if (!reader->has_list && !reader->reads_twice && reader->open_time >= SLOW) {
            ask_without_list(reader, path);
        }
    }
    if (reader->next.files == NULL) {
        return false;
    }
    if (!rsdk_name_table_find(&reader->given, path, strlen(path), &place)) {
        keep_from_threads(reader, path);
    }
    if (!rsdk_next_files_take(&reader->next, place, file)) {
        return false;
    }
    file->path = path;
    return true;
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
    decide(reader);
    if (!reader->has_list && (is_wished || (reader->first_time >= SLOW && ++reader->slow_files == SLOW_FILES &&
                                            !opens_drop_pages(reader)))) {
        ask_without_list(reader, path);
    }
}

/* Free the reader once its threads have ended; return false if they have not ended by then. */
static bool end(rsdk_page_reader *reader, unsigned milliseconds) {
    const uint64_t deadline = rsdk_quiet_thread_deadline(milliseconds);
    const bool has_ended = rsdk_next_files_stop(&reader->next, deadline);
    if (!rsdk_quiet_thread_join(&reader->thread, deadline) || !has_ended) {
        return false;
    }
    rsdk_arena_clear(&reader->arena);
    free(reader);
    return true;
}

rsdk_page_reader *rsdk_page_reader_watch(rsdk_inventory *inventory, const rsdk_load_options *options) {
    if (left_behind != NULL && end(left_behind, 0)) {
        left_behind = NULL;
    }
    const bool is_wanted = options->read_ahead != RSDK_READ_AHEAD_NEVER && left_behind == NULL;
    rsdk_page_reader *reader = is_wanted ? calloc(1, sizeof *reader) : NULL;
    if (reader != NULL) {
        reader->options = options;
        reader->inventory = inventory;
        reader->watch = (rsdk_read_watch){
            .take_file = take_file, .tell_time = take_time, .tell_needed = take_needed, .context = reader};
        inventory->watch = &reader->watch;
        /* Begin early if the SDK's first answers took as long as a file server's: the files that the load looks up
         * first are asked for at once, and the list is read meanwhile. */
        rsdk_sdk *sdk = reader->inventory->sdk;
        const bool is_slow = sdk->answer_time >= SLOW && !sdk->packages[RSDK_CORE].is_searched;
        const char *directory =
            is_slow && may_have_threads(reader) ? rsdk_first_looks_directory(sdk, &reader->arena) : NULL;
        if (directory != NULL && start_list(reader, directory, NULL)) {
            start_threads(reader, RSDK_NEXT_LISTED_FILES);
            rsdk_first_looks_give(&reader->next, sdk, &reader->arena);
            reader->is_early = true;
            reader->first = sdk->info.path;
            reader->first_time = SLOW; /* of one answer, at least */
            reader->reads_twice = opens_drop_pages(reader);
        }
    }
    return reader;
}

bool rsdk_page_reader_is_slow(const rsdk_page_reader *reader) {
    return reader != NULL && (reader->has_list || reader->watch.asks_ahead) &&
           (reader->first_time >= SLOW || reader->options->read_ahead == RSDK_READ_AHEAD_ALWAYS);
}

void rsdk_page_reader_stop(rsdk_page_reader *reader) {
    if (reader == NULL) {
        return;
    }
    reader->inventory->watch = NULL;
    if (!end(reader, END_WAIT)) {
        left_behind = reader; /* there was none: nothing is read ahead as long as there is one */
        /* Keep the code that a thread runs in the process, as long as the process lives: the program may close this
         * library. */
        Dl_info found;
        if (dladdr(&left_behind, &found) != 0 && found.dli_fname != NULL) {
            (void)dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        }
    }
}
