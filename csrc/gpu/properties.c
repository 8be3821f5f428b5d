/* Parses KFD's attribute files by a table of the wanted keys. */
#include "gpu/properties.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

/* A key, where its number goes in the record, and the largest number that it may have. */
typedef struct wanted_key {
    const char *key;
    size_t offset;
    uint64_t limit;
    bool is_required;
} wanted_key;

#define NODE(field)  #field, offsetof(rsdk_node_properties, field)
#define BANK(field)  #field, offsetof(rsdk_bank_properties, field)
#define LINK(field)  #field, offsetof(rsdk_link_properties, field)
#define COUNT(field) offsetof(rsdk_error_counts, field)

/* clang-format off */
static const wanted_key node_keys[] = {
    {NODE(simd_count),         UINT32_MAX,      true},
    {NODE(simd_per_cu),        UINT32_MAX,      false},
    {NODE(mem_banks_count),    RSDK_BANK_LIMIT, false},
    {NODE(gfx_target_version), UINT32_MAX,      false},
    {NODE(vendor_id),          UINT16_MAX,      false},
    {NODE(device_id),          UINT16_MAX,      false},
    {NODE(domain),             UINT32_MAX,      false},
    {NODE(location_id),        UINT32_MAX,      false},
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
    {"ue:", COUNT(uncorrected), UINT64_MAX, true},
    {"ce:", COUNT(corrected),   UINT64_MAX, true},
    {"de:", COUNT(deferred),    UINT64_MAX, false},
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

/* The decimal number that is all of [at, end) but for blanks around it. */
static bool read_number(const char *at, const char *end, uint64_t limit, uint64_t *number) {
    uint64_t value = 0;
    while (at < end && is_blank(*at)) {
        at++;
    }
    while (end > at && is_blank(end[-1])) {
        end--;
    }
    if (at == end) {
        return false;
    }
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return false;
        }
    }
    *number = value;
    return value <= limit;
}

static const wanted_key *find_key(const char *key, size_t length, const wanted_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strlen(keys[i].key) == length && memcmp(keys[i].key, key, length) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static rsdk_status parse(const char *path, const char *text, size_t length, const wanted_key *keys, size_t count,
                         void *record, rsdk_error *error) {
    uint32_t seen = 0;
    unsigned number = 1;
    for (const char *line = text, *end = text + length; line < end; number++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline : end, *key_end = line;
        while (key_end < stop && !is_blank(*key_end)) {
            key_end++;
        }
        const wanted_key *key = find_key(line, (size_t)(key_end - line), keys, count);
        uint64_t *field = key != NULL ? (uint64_t *)(void *)((char *)record + key->offset) : NULL;
        if (newline == NULL) {
            return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL, "%s: is truncated in line %u", path,
                                number);
        }
        if (key != NULL && !read_number(key_end, stop, key->limit, field)) {
            return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL,
                                "%s, line %u: %s is not a number from 0 to %" PRIu64, path, number, key->key,
                                key->limit);
        }
        seen |= key != NULL ? UINT32_C(1) << (key - keys) : 0;
        line = newline + 1;
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
    if (!read_number(text, end, UINT64_MAX, number)) {
        return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL, "%s: does not hold a number", path);
    }
    return RSDK_OK;
}
