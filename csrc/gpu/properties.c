/* The parser of KFD's attribute files, by a table of the wanted keys. */
#include "gpu/properties.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

/* A key, where its number goes in the record, and the largest number that it may have. */
typedef struct wanted_key {
    const char *key;
    size_t length, offset;
    uint64_t limit;
    bool is_required;
} wanted_key;

#define KEY(text)          text, sizeof(text) - 1
#define NODE(field)        KEY(#field), offsetof(rsdk_node_properties, field)
#define BANK(field)        KEY(#field), offsetof(rsdk_bank_properties, field)
#define LINK(field)        KEY(#field), offsetof(rsdk_link_properties, field)
#define COUNT(text, field) KEY(text), offsetof(rsdk_error_counts, field)

/* clang-format off */
static const wanted_key node_keys[] = {
    {NODE(simd_count),         UINT32_MAX,      true},
    {NODE(mem_banks_count),    RSDK_BANK_LIMIT, false},
    {NODE(simd_per_cu),        UINT32_MAX,      false},
    {NODE(gfx_target_version), UINT32_MAX,      false},
    {NODE(vendor_id),          UINT16_MAX,      false},
    {NODE(device_id),          UINT16_MAX,      false},
    {NODE(location_id),        UINT32_MAX,      false},
    {NODE(domain),             UINT32_MAX,      false},
    {NODE(drm_render_minor),   UINT32_MAX,      false},
    {NODE(hive_id),            UINT64_MAX,      false},
    {NODE(capability),         UINT32_MAX,      false},
    {NODE(unique_id),          UINT64_MAX,      false},
    {NODE(num_xcc),            UINT16_MAX,      false},
};

static const wanted_key bank_keys[] = {
    {BANK(heap_type),     UINT32_MAX, true},
    {BANK(size_in_bytes), UINT64_MAX, true},
};

static const wanted_key link_keys[] = {
    {LINK(type),  UINT32_MAX, true},
    {LINK(flags), UINT32_MAX, true},
};

static const wanted_key error_keys[] = {
    {COUNT("ue:", uncorrected), UINT64_MAX, true},
    {COUNT("ce:", corrected),   UINT64_MAX, true},
    {COUNT("de:", deferred),    UINT64_MAX, false},
};
/* clang-format on */

enum {
    NODE_KEY_COUNT = sizeof node_keys / sizeof *node_keys,
    BANK_KEY_COUNT = sizeof bank_keys / sizeof *bank_keys,
    LINK_KEY_COUNT = sizeof link_keys / sizeof *link_keys,
    ERROR_KEY_COUNT = sizeof error_keys / sizeof *error_keys,
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Read the decimal number at `at`, and return where it ends, with the blanks around it; NULL where there is none, or
 * one above `limit`. */
static const char *read_number(const char *at, const char *end, uint64_t limit, uint64_t *number) {
    uint64_t value = 0;
    while (at < end && is_blank(*at)) {
        at++;
    }
    const char *digits = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (value >= UINT64_MAX / 10 && (value > UINT64_MAX / 10 || digit > UINT64_MAX % 10)) {
            return NULL;
        }
        value = value * 10 + digit;
    }
    if (at == digits || value > limit) {
        return NULL;
    }
    *number = value;
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

/* Return whether the line begins with this key. The line has an end, so at least one byte follows the equal bytes. */
static bool begins_with(const char *line, const char *end, const wanted_key *key) {
    return *line == key->key[0] && (size_t)(end - line) > key->length && memcmp(line, key->key, key->length) == 0 &&
           (is_blank(line[key->length]) || line[key->length] == '\n');
}

/* Find the key of a line, NULL for a key that is not wanted. The kernel writes keys in an order: the key behind the
 * last one found, `next`, is looked at first. */
static const wanted_key *find_key(const char *line, const char *end, const wanted_key *keys, size_t count,
                                  size_t next) {
    for (size_t i = next; i < count; i++) {
        if (begins_with(line, end, &keys[i])) {
            return &keys[i];
        }
    }
    for (size_t i = 0; i < next; i++) {
        if (begins_with(line, end, &keys[i])) {
            return &keys[i];
        }
    }
    return NULL;
}

static rsdk_status fail_truncated(const char *path, const char *text, const char *end, rsdk_error *error) {
    unsigned number = 1;
    for (const char *at = text; at < end; at++) {
        number += *at == '\n';
    }
    return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL, "%s: is truncated in line %u", path, number);
}

static rsdk_status parse(const char *path, const char *text, size_t length, const wanted_key *keys, size_t count,
                         void *record, rsdk_error *error) {
    uint32_t seen = 0;
    size_t next = 0;
    unsigned number = 1;
    const char *end = text + length;
    if (length > 0 && end[-1] != '\n') {
        return fail_truncated(path, text, end, error);
    }
    for (const char *line = text; line < end; number++) {
        const wanted_key *key = find_key(line, end, keys, count, next);
        if (key == NULL) {
            line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
            continue;
        }
        uint64_t *field = (uint64_t *)(void *)((char *)record + key->offset);
        const char *at = read_number(line + key->length, end, key->limit, field);
        if (at == NULL || *at != '\n') {
            return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL,
                                "%s, line %u: %s is not a number from 0 to %" PRIu64, path, number, key->key,
                                key->limit);
        }
        next = (size_t)(key - keys) + 1;
        seen |= UINT32_C(1) << (key - keys);
        line = at + 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (keys[i].is_required && (seen >> i & 1) == 0) {
            return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL, "%s: %s %s", path,
                                length == 0 ? "is empty, it lacks" : "lacks", keys[i].key);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_properties_parse_node(const char *path, const char *text, size_t length,
                                       rsdk_node_properties *properties, rsdk_error *error) {
    *properties = (rsdk_node_properties){0};
    return parse(path, text, length, node_keys, NODE_KEY_COUNT, properties, error);
}

rsdk_status rsdk_properties_parse_bank(const char *path, const char *text, size_t length,
                                       rsdk_bank_properties *properties, rsdk_error *error) {
    *properties = (rsdk_bank_properties){0};
    return parse(path, text, length, bank_keys, BANK_KEY_COUNT, properties, error);
}

rsdk_status rsdk_properties_parse_link(const char *path, const char *text, size_t length,
                                       rsdk_link_properties *properties, rsdk_error *error) {
    *properties = (rsdk_link_properties){0};
    return parse(path, text, length, link_keys, LINK_KEY_COUNT, properties, error);
}

rsdk_status rsdk_properties_parse_errors(const char *path, const char *text, size_t length, rsdk_error_counts *counts,
                                         rsdk_error *error) {
    *counts = (rsdk_error_counts){0};
    return parse(path, text, length, error_keys, ERROR_KEY_COUNT, counts, error);
}

rsdk_status rsdk_properties_parse_number(const char *path, const char *text, size_t length, uint64_t *number,
                                         rsdk_error *error) {
    const char *end = text + length;
    end -= length > 0 && end[-1] == '\n';
    if (read_number(text, end, UINT64_MAX, number) != end) {
        return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL, "%s: does not hold a number", path);
    }
    return RSDK_OK;
}
