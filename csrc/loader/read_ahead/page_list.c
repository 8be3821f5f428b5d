/* The format: a line that names it, then for each file a line of five fields with a tab between them: path, bytes,
 * build ID and its place, files that it brings in, pages. */
#include "loader/read_ahead/page_list.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

static const char first_line[] = "rocm-sdk-pages 1";

typedef struct reading {
    const char *path;
    size_t line;
    uint64_t page_count; /* the pages of all files so far */
    rsdk_arena *arena;
    rsdk_page_list *list;
    rsdk_error *error;
} reading;

static rsdk_status fail(const reading *r, const char *what) {
    return rsdk_fail(r->error, RSDK_BAD_METADATA, r->path, "%s, line %zu: %s", r->path, r->line, what);
}

/* ---- numbers ---- */

/* Take a decimal number below 2^63, without a sign, blank or zero in front; *text moves past it. */
static bool take_number(const char **text, uint64_t *number) {
    const char *at = *text;
    *number = 0;
    if (at[0] == '0' && at[1] >= '0' && at[1] <= '9') {
        return false;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*number > ((uint64_t)INT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    bool has_digits = at != *text;
    *text = at;
    return has_digits;
}

static int digit_value(char digit) {
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Move past a ',' that another item follows; return false at the end of the field. *is_wrong: there is something
 * else. */
static bool has_more(const char **text, bool *is_wrong) {
    *is_wrong = **text != ',' && **text != '\0';
    *text += **text == ',';
    return (*text)[-1] == ',';
}

/* ---- fields ---- */

/* Take "_rocm_sdk_core/lib/libx.so.1": a path that stays below the packages' directory. */
static rsdk_status take_path(const reading *r, char *text, rsdk_paged_file *file) {
    char *slash = strrchr(text, '/');
    for (const char *part = text; part != NULL; part = strchr(part, '/')) {
        part += part != text;
        size_t length = strcspn(part, "/");
        if (length == 0 || (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')))) {
            return fail(r, "not the path of a library");
        }
    }
    if (slash == NULL) {
        return fail(r, "not the path of a library");
    }
    *slash = '\0';
    file->directory = text;
    file->name = slash + 1;
    return RSDK_OK;
}

static rsdk_status take_size(const reading *r, const char *text, rsdk_paged_file *file) {
    return take_number(&text, &file->size) && *text == '\0' && file->size > 0 ? RSDK_OK : fail(r, "not a size");
}

/* Take "-", or hexadecimal digits, an '@' and the number of a byte. */
static rsdk_status take_build_id(const reading *r, const char *text, rsdk_paged_file *file) {
    if (strcmp(text, "-") == 0) {
        return RSDK_OK;
    }
    while (file->build_id_size < RSDK_PAGED_BUILD_ID_LIMIT && digit_value(text[0]) >= 0 && digit_value(text[1]) >= 0) {
        file->build_id[file->build_id_size++] = (unsigned char)(digit_value(text[0]) * 16 + digit_value(text[1]));
        text += 2;
    }
    bool is_read = file->build_id_size > 0 && *text++ == '@' && take_number(&text, &file->build_id_place);
    bool lies_within = file->build_id_size <= file->size && file->build_id_place <= file->size - file->build_id_size;
    return is_read && *text == '\0' && lies_within ? RSDK_OK : fail(r, "not a build ID");
}

/* Take "-", or numbers of files, separated by ','; the first file of the list is 0. Whether there are such files is
 * known at the end of the list. */
static rsdk_status take_needed(const reading *r, const char *text, rsdk_paged_file *file) {
    bool has_another = strcmp(text, "-") != 0, is_wrong = false;
    while (has_another) {
        uint64_t number = 0;
        if (!take_number(&text, &number) || number >= RSDK_PAGED_FILES_LIMIT ||
            file->needed.count == RSDK_PAGED_FILES_LIMIT) {
            return fail(r, "not the numbers of files");
        }
        RSDK_APPEND(r->arena, &file->needed, (size_t)number, r->error);
        has_another = has_more(&text, &is_wrong);
    }
    return is_wrong ? fail(r, "not the numbers of files") : RSDK_OK;
}

/* Take "0-12,40": pages, or the first and the last of consecutive ones. */
static rsdk_status take_ranges(reading *r, const char *text, rsdk_paged_file *file) {
    const uint64_t count = (file->size - 1) / RSDK_PAGE_SIZE + 1;
    uint64_t next = 0;
    bool is_wrong = false;
    do {
        rsdk_page_range range = {0};
        bool is_read = take_number(&text, &range.first);
        range.last = range.first;
        if (is_read && *text == '-') {
            text++;
            is_read = take_number(&text, &range.last);
        }
        if (!is_read || range.first < next || range.last < range.first || range.last >= count) {
            return fail(r, "not pages of the file in their order");
        }
        r->page_count += range.last - range.first + 1; /* both below 2^51 */
        if (r->page_count > RSDK_PAGES_LIMIT) {
            return fail(r, "more pages than a list may have");
        }
        RSDK_APPEND(r->arena, &file->ranges, range, r->error);
        next = range.last + 1;
    } while (has_more(&text, &is_wrong));
    return is_wrong ? fail(r, "not pages of the file in their order") : RSDK_OK;
}

static rsdk_status take_line(reading *r, char *line) {
    enum { FIELDS = 5 };
    char *fields[FIELDS] = {line};
    rsdk_paged_file file = {0};
    for (size_t i = 1; i < FIELDS; i++) {
        char *tab = strchr(fields[i - 1], '\t');
        if (tab == NULL) {
            return fail(r, "has fewer than five fields");
        }
        *tab = '\0';
        fields[i] = tab + 1;
    }
    RSDK_TRY(take_path(r, fields[0], &file));
    RSDK_TRY(take_size(r, fields[1], &file));
    RSDK_TRY(take_build_id(r, fields[2], &file));
    RSDK_TRY(take_needed(r, fields[3], &file));
    RSDK_TRY(take_ranges(r, fields[4], &file));
    if (r->list->files.count == RSDK_PAGED_FILES_LIMIT) {
        return fail(r, "more files than a list may have");
    }
    RSDK_APPEND(r->arena, &r->list->files, file, r->error);
    return RSDK_OK;
}

static rsdk_status check_needed(reading *r) {
    for (size_t i = 0; i < r->list->files.count; i++) {
        const rsdk_paged_file *file = &r->list->files.items[i];
        r->line = i + 2;
        for (size_t j = 0; j < file->needed.count; j++) {
            if (file->needed.items[j] >= r->list->files.count) {
                return fail(r, "brings in a file that the list does not have");
            }
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_page_list_parse(const char *path, char *text, size_t size, rsdk_arena *arena, rsdk_page_list *list,
                                 rsdk_error *error) {
    reading r = {.path = path, .line = 1, .arena = arena, .list = list, .error = error};
    *list = (rsdk_page_list){0};
    if (size > RSDK_PAGE_LIST_LIMIT) {
        return fail(&r, "more than the MiB that a list may have");
    }
    if (strlen(text) != size) {
        return fail(&r, "not a page list: it has a NUL");
    }
    for (char *line = text, *end = NULL; *line != '\0'; line = end + 1, r.line++) {
        end = strchr(line, '\n');
        if (end == NULL) {
            return fail(&r, "does not end: the list is cut off");
        }
        *end = '\0';
        if (r.line == 1 && strcmp(line, first_line) != 0) {
            return fail(&r, "not a page list of a version that is known");
        }
        RSDK_TRY(r.line > 1 ? take_line(&r, line) : RSDK_OK);
    }
    return list->files.count > 0 ? check_needed(&r) : fail(&r, "has no files");
}

/* ---- writing ---- */

void rsdk_page_list_add_text(const rsdk_page_list *list, rsdk_text *text) {
    rsdk_text_add(text, "%s\n", first_line);
    for (size_t i = 0; i < list->files.count; i++) {
        const rsdk_paged_file *file = &list->files.items[i];
        rsdk_text_add(text, "%s/%s\t%" PRIu64 "\t", file->directory, file->name, file->size);
        for (size_t j = 0; j < file->build_id_size; j++) {
            rsdk_text_add(text, "%02x", file->build_id[j]);
        }
        if (file->build_id_size > 0) {
            rsdk_text_add(text, "@%" PRIu64, file->build_id_place);
        } else {
            rsdk_text_add(text, "-");
        }
        rsdk_text_add(text, "\t");
        for (size_t j = 0; j < file->needed.count; j++) {
            rsdk_text_add(text, "%s%zu", j > 0 ? "," : "", file->needed.items[j]);
        }
        if (file->needed.count == 0) {
            rsdk_text_add(text, "-");
        }
        rsdk_text_add(text, "\t");
        for (size_t j = 0; j < file->ranges.count; j++) {
            const rsdk_page_range *range = &file->ranges.items[j];
            rsdk_text_add(text, "%s%" PRIu64, j > 0 ? "," : "", range->first);
            if (range->last > range->first) {
                rsdk_text_add(text, "-%" PRIu64, range->last);
            }
        }
        rsdk_text_add(text, "\n");
    }
}
