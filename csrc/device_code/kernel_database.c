/* The reader of kernel databases. The file is read once, in its order; solutions and matching tables, which are nearly
 * all of it, are passed over. */
#include "device_code/kernel_database.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name_table.h"
#include "device_code/decompression.h"
#include "device_code/file_target.h"
#include "device_code/message_pack.h"

enum {
    ZLIB_HEAD = 0x78, /* msgpack's number 120: no table begins with that */
    ZSTD_HEAD = 0x28, /* the same with 40; nixpkgs's tables are of zstd, under the usual names */
    KEY_SIZE = 32,
    NAME_SIZE = 512,
    DEPTH_LIMIT = 64,
    ROW_LIMIT = 4096,
    NAME_LIMIT = 1 << 16,   /* tables and targets that one file names; hipBLASLt's mapping names 717 */
    PLAIN_LIMIT = 1 << 29,  /* bytes; the largest that is known has 117 MB */
    PACKED_LIMIT = 1 << 28, /* the same for its plain data, which lies in memory */
};

typedef struct reader {
    rsdk_message message;
    rsdk_arena *arena;
    rsdk_kernel_database *database;
    rsdk_kernel_row row; /* the row in hand */
    size_t name_count;
    rsdk_error *error;
} reader;

typedef rsdk_status (*content_function)(reader *r);

static rsdk_status damaged(const reader *r, const char *what) {
    return rsdk_extent_damaged(r->message.extent, what, r->error);
}

/* Take the head of the next value; where the value is a text, take all of it, else `text` is empty. */
static rsdk_status take_value(reader *r, char *text, size_t size) {
    text[0] = '\0';
    RSDK_TRY(rsdk_message_next(&r->message));
    return r->message.kind == RSDK_MESSAGE_TEXT ? rsdk_message_content(&r->message, text, size) : RSDK_OK;
}

/* Skip the content of a value that take_value read. */
static rsdk_status leave_value(reader *r) {
    return r->message.kind == RSDK_MESSAGE_TEXT ? RSDK_OK : rsdk_message_skip_content(&r->message);
}

static rsdk_status copy_name(reader *r, const char *text, const char **name) {
    if (++r->name_count > NAME_LIMIT) {
        return damaged(r, "it names more files than any table of kernels does");
    }
    *name = rsdk_arena_copy(r->arena, text);
    RSDK_NEED(*name, r->error);
    return RSDK_OK;
}

/* ---- an index ---- */

/* {"type": "AMDGPU", "value": {"type": "And", "value": [{"type": "Processor", "value": "gfx90a"}, ...]}} */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static rsdk_status take_predicate(reader *r, unsigned depth) {
    char key[KEY_SIZE], type[KEY_SIZE] = "", text[NAME_SIZE];
    RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_MAP));
    if (depth > DEPTH_LIMIT) {
        return damaged(r, "its predicates are nested deeper than any are");
    }
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(rsdk_message_key(&r->message, key, sizeof key));
        bool is_value = strcmp(key, "value") == 0;
        if (strcmp(key, "type") == 0) {
            RSDK_TRY(rsdk_message_key(&r->message, type, sizeof type));
        } else if (is_value && strcmp(type, "AMDGPU") == 0) {
            RSDK_TRY(take_predicate(r, depth + 1));
        } else if (is_value && strcmp(type, "And") == 0) {
            RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_ARRAY));
            for (uint64_t terms = r->message.number; terms > 0; terms--) {
                RSDK_TRY(take_predicate(r, depth + 1));
            }
        } else if (is_value && strcmp(type, "Processor") == 0) {
            RSDK_TRY(rsdk_message_key(&r->message, text, sizeof text));
            RSDK_TRY(copy_name(r, text, &r->row.processor));
        } else {
            RSDK_TRY(rsdk_message_skip(&r->message));
        }
    }
    static const char *const known[] = {"AMDGPU", "And", "Processor", "TruePred"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        is_known = is_known || strcmp(type, known[i]) == 0;
    }
    r->row.has_condition = r->row.has_condition || !is_known;
    return RSDK_OK;
}

static rsdk_status take_part(reader *r, unsigned depth);

/* Find {"type": "Placeholder", "value": name} among the pairs of a map and all that is in it. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static rsdk_status take_pairs(reader *r, unsigned depth) {
    char key[KEY_SIZE], text[NAME_SIZE];
    bool is_placeholder = false;
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(take_value(r, key, sizeof key));
        RSDK_TRY(leave_value(r));
        bool is_type = strcmp(key, "type") == 0;
        if (is_type || (is_placeholder && strcmp(key, "value") == 0)) {
            const char *name = NULL;
            RSDK_TRY(rsdk_message_key(&r->message, text, sizeof text));
            if (is_type) {
                is_placeholder = strcmp(text, "Placeholder") == 0;
                continue;
            }
            RSDK_TRY(copy_name(r, text, &name));
            RSDK_APPEND(r->arena, &r->row.tables, name, r->error);
        } else if (strcmp(key, "table") == 0) { /* a million numbers */
            RSDK_TRY(rsdk_message_skip(&r->message));
        } else {
            RSDK_TRY(take_part(r, depth + 1));
        }
    }
    return RSDK_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static rsdk_status take_part(reader *r, unsigned depth) {
    RSDK_TRY(rsdk_message_next(&r->message));
    if (depth > DEPTH_LIMIT) {
        return damaged(r, "its parts are nested deeper than any are");
    }
    if (r->message.kind == RSDK_MESSAGE_MAP) {
        return take_pairs(r, depth);
    }
    if (r->message.kind != RSDK_MESSAGE_ARRAY) {
        return rsdk_message_skip_content(&r->message);
    }
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(take_part(r, depth + 1));
    }
    return RSDK_OK;
}

/* Take {"predicate": ..., "library": ...}. */
static rsdk_status take_row(reader *r) {
    char key[KEY_SIZE];
    r->row = (rsdk_kernel_row){.processor = NULL};
    RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_MAP));
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(rsdk_message_key(&r->message, key, sizeof key));
        if (strcmp(key, "predicate") == 0) {
            RSDK_TRY(take_predicate(r, 0));
        } else if (strcmp(key, "library") == 0) {
            RSDK_TRY(take_part(r, 0));
        } else {
            RSDK_TRY(rsdk_message_skip(&r->message));
        }
    }
    RSDK_APPEND(r->arena, &r->database->rows, r->row, r->error);
    return r->database->rows.count > ROW_LIMIT ? damaged(r, "it has more rows than any index has") : RSDK_OK;
}

/* Take {"type": "Hardware", "rows": [...]}. */
static rsdk_status take_rows(reader *r) {
    char key[KEY_SIZE], type[KEY_SIZE] = "";
    RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_MAP));
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(rsdk_message_key(&r->message, key, sizeof key));
        if (strcmp(key, "type") == 0) {
            RSDK_TRY(rsdk_message_key(&r->message, type, sizeof type));
        } else if (strcmp(key, "rows") == 0 && strcmp(type, "Hardware") == 0) {
            RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_ARRAY));
            for (uint64_t rows = r->message.number; rows > 0; rows--) {
                RSDK_TRY(take_row(r));
            }
        } else {
            RSDK_TRY(rsdk_message_skip(&r->message));
        }
    }
    return strcmp(type, "Hardware") == 0 ? RSDK_OK : damaged(r, "its rows are not by the hardware, as an index's are");
}

static rsdk_status take_index(reader *r) {
    char key[KEY_SIZE];
    bool has_rows = false;
    RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_MAP));
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(rsdk_message_key(&r->message, key, sizeof key));
        has_rows = has_rows || strcmp(key, "library") == 0;
        RSDK_TRY(strcmp(key, "library") == 0 ? take_rows(r) : rsdk_message_skip(&r->message));
    }
    return has_rows ? RSDK_OK : damaged(r, "it is not an index of kernels: nothing is called \"library\"");
}

/* ---- a list of targets ---- */

static rsdk_status add_once(reader *r, rsdk_unique_strings *strings, const char *text) {
    const char *name = NULL;
    size_t unused = 0;
    if (rsdk_name_table_find(&strings->places, text, strlen(text), &unused)) {
        return RSDK_OK;
    }
    RSDK_TRY(copy_name(r, text, &name));
    return rsdk_unique_strings_add(strings, r->arena, name, r->error);
}

static rsdk_status add_target(reader *r, const char *text) {
    char target[RSDK_TARGET_ID_SIZE];
    size_t start = 0;
    return rsdk_file_target_find(text, target, &start) ? add_once(r, &r->database->targets, target) : RSDK_OK;
}

static rsdk_status take_targets(reader *r) {
    char key[NAME_SIZE], value[NAME_SIZE];
    RSDK_TRY(rsdk_message_expect(&r->message, RSDK_MESSAGE_MAP));
    for (uint64_t left = r->message.number; left > 0; left--) {
        RSDK_TRY(take_value(r, key, sizeof key));
        RSDK_TRY(leave_value(r));
        RSDK_TRY(add_target(r, key));
        RSDK_TRY(take_value(r, value, sizeof value));
        RSDK_TRY(leave_value(r));
        RSDK_TRY(add_target(r, value));
        if (value[0] != '\0') {
            RSDK_TRY(add_once(r, &r->database->names, value));
        }
    }
    return RSDK_OK;
}

/* ---- files ---- */

static rsdk_status read_plain(reader *r, content_function take, const rsdk_file *file) {
    rsdk_extent extent = {file, 0, file->size};
    rsdk_message_init(&r->message, &extent, r->error);
    return file->size <= PLAIN_LIMIT ? take(r) : damaged(r, "it is larger than any table of kernels is");
}

/* Decompress the file into a file in memory, and read it. */
static rsdk_status read_packed(reader *r, content_function take, const rsdk_file *file, unsigned method,
                               int descriptor) {
    rsdk_decompression libraries = {0};
    rsdk_extent packed = {file, 0, file->size};
    rsdk_file plain = {0};
    uint64_t size = 0;
    rsdk_status status =
        rsdk_decompression_write(&libraries, method, &packed, descriptor, PACKED_LIMIT, &size, r->error);
    rsdk_decompression_clear(&libraries);
    RSDK_TRY(status);
    RSDK_TRY(rsdk_file_open_part(descriptor, 0, size, file->path, &plain, r->error));
    return read_plain(r, take, &plain);
}

static rsdk_status read_file(reader *r, content_function take, const rsdk_file *file) {
    unsigned char head = 0;
    if (file->size > 0) {
        RSDK_TRY(rsdk_file_read(file, 0, &head, 1, r->error));
    }
    if (head != ZLIB_HEAD && head != ZSTD_HEAD) {
        return read_plain(r, take, file);
    }
    int descriptor = memfd_create("kernels", MFD_CLOEXEC);
    if (descriptor < 0) {
        return rsdk_fail(r->error, RSDK_IO_ERROR, file->path, "%s: no memory for what it decompresses to", file->path);
    }
    unsigned method = head == ZSTD_HEAD ? RSDK_COMPRESSION_ZSTD : RSDK_COMPRESSION_ZLIB;
    rsdk_status status = read_packed(r, take, file, method, descriptor);
    (void)close(descriptor);
    return status;
}

static rsdk_status read_path(const char *path, content_function take, rsdk_arena *arena, rsdk_kernel_database *database,
                             rsdk_error *error) {
    rsdk_file file = {0};
    reader r = {.arena = arena, .database = database, .error = error};
    RSDK_TRY(rsdk_file_open(path, &file, error));
    rsdk_status status = read_file(&r, take, &file);
    rsdk_file_close(&file);
    return status;
}

rsdk_status rsdk_kernel_database_read_index(const char *path, rsdk_arena *arena, rsdk_kernel_database *database,
                                            rsdk_error *error) {
    return read_path(path, take_index, arena, database, error);
}

rsdk_status rsdk_kernel_database_read_targets(const char *path, rsdk_arena *arena, rsdk_kernel_database *database,
                                              rsdk_error *error) {
    return read_path(path, take_targets, arena, database, error);
}
