/* The two grammars of the visibility variables, as ROCr and HIP implement them. In both the first token that is wrong
 * ends the list silently, and the order of the tokens is the order of the devices. */
#include "gpu/visibility.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char uuid_prefix[] = "GPU-";

enum { UUID_PREFIX_LENGTH = sizeof uuid_prefix - 1 };

void rsdk_visibility_format_uuid(uint64_t unique_id, char uuid[RSDK_UUID_SIZE]) {
    if (unique_id == 0) {
        (void)snprintf(uuid, RSDK_UUID_SIZE, "%sXX", uuid_prefix);
    } else {
        (void)snprintf(uuid, RSDK_UUID_SIZE, "%s%016" PRIx64, uuid_prefix, unique_id);
    }
}

/* A part of a value, [start, end). */
typedef struct token {
    const char *start, *end;
} token;

static token token_at(token list) {
    const char *comma = memchr(list.start, ',', (size_t)(list.end - list.start));
    return (token){list.start, comma != NULL ? comma : list.end};
}

static size_t token_length(token t) {
    return (size_t)(t.end - t.start);
}

static bool is_chosen(size_t device, const size_t *chosen, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (chosen[i] == device) {
            return true;
        }
    }
    return false;
}

static void choose_all(size_t count, size_t *chosen, rsdk_selection *selection) {
    for (size_t i = 0; i < count; i++) {
        chosen[i] = i;
    }
    selection->count = count;
}

static void end_with(token t, token list, rsdk_token_fault fault, rsdk_selection *selection) {
    const char *behind = t.end + (t.end < list.end);
    selection->fault = fault;
    selection->token = t.start;
    selection->token_length = token_length(t);
    selection->rest = behind;
    selection->rest_length = (size_t)(list.end - behind);
}

/* ---- ROCR_VISIBLE_DEVICES ---- */

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int upper(char c) {
    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static token trimmed(token t) {
    while (t.start < t.end && is_space(*t.start)) {
        t.start++;
    }
    while (t.end > t.start && is_space(t.end[-1])) {
        t.end--;
    }
    return t;
}

static unsigned digit_value(char c) {
    int digit = upper(c);
    return digit >= '0' && digit <= '9'   ? (unsigned)(digit - '0')
           : digit >= 'A' && digit <= 'F' ? (unsigned)(digit - 'A') + 10
                                          : 16;
}

/* Read the index that strtol with base 0 reads from the whole token: "0x1F", "017", "+3", "-0", and, as in C23, "0b1".
 * strtol itself is not called, because we do not know which strtol ROCr has. ROCr keeps 32 bits of the number, so
 * 4294967297 is 1. */
static rsdk_token_fault rocr_index(token t, bool reads_binary, size_t count, size_t *index) {
    const char *at = t.start;
    bool is_negative = at < t.end && *at == '-';
    uint64_t number = 0, limit = (uint64_t)LONG_MAX + is_negative;
    unsigned base = 10;
    at += at < t.end && (*at == '-' || *at == '+');
    if (t.end - at > 2 && at[0] == '0' && upper(at[1]) == 'X') {
        base = 16;
        at += 2;
    } else if (reads_binary && t.end - at > 2 && at[0] == '0' && upper(at[1]) == 'B') {
        base = 2;
        at += 2;
    } else if (at < t.end && at[0] == '0') {
        base = 8;
    }
    if (at == t.end) {
        return RSDK_TOKEN_NOT_A_NUMBER;
    }
    for (; at < t.end; at++) {
        unsigned digit = digit_value(*at);
        if (digit >= base) {
            return RSDK_TOKEN_NOT_A_NUMBER;
        }
        number = number > (limit - digit) / base ? limit : number * base + digit;
    }
    *index = (uint32_t)(is_negative ? -number : number);
    return *index < count ? RSDK_TOKEN_GOOD : RSDK_TOKEN_OUT_OF_RANGE;
}

static bool starts_uuid(token t, uint64_t unique_id) {
    char uuid[RSDK_UUID_SIZE];
    rsdk_visibility_format_uuid(unique_id, uuid);
    for (size_t i = 0; i < token_length(t); i++) {
        if (upper(uuid[i]) != upper(t.start[i])) {
            return false;
        }
    }
    return true;
}

/* Find the one device whose UUID starts with the token; devices without serial number cannot be named. */
static rsdk_token_fault rocr_uuid(token t, const uint64_t *unique_ids, size_t count, size_t *index) {
    size_t hits = 0;
    if (token_length(t) <= UUID_PREFIX_LENGTH || token_length(t) >= RSDK_UUID_SIZE) {
        return RSDK_TOKEN_UNKNOWN_UUID;
    }
    for (size_t i = 0; i < count && hits < 2; i++) {
        if (unique_ids[i] != 0 && starts_uuid(t, unique_ids[i])) {
            *index = hits == 0 ? i : *index;
            hits++;
        }
    }
    return hits == 1 ? RSDK_TOKEN_GOOD : hits == 0 ? RSDK_TOKEN_UNKNOWN_UUID : RSDK_TOKEN_AMBIGUOUS_UUID;
}

static rsdk_token_fault rocr_device(token t, bool reads_binary, const uint64_t *unique_ids, size_t count,
                                    size_t *index) {
    t = trimmed(t);
    if (t.start == t.end) {
        return RSDK_TOKEN_ABORTS;
    }
    return upper(*t.start) == 'G' ? rocr_uuid(t, unique_ids, count, index) : rocr_index(t, reads_binary, count, index);
}

static rsdk_selection select_rocr(const char *value, bool reads_binary, const uint64_t *unique_ids, size_t count,
                                  size_t *chosen) {
    rsdk_selection selection = {0};
    if (value == NULL) {
        choose_all(count, chosen, &selection);
        return selection;
    }
    /* No more tokens are looked at than there are devices. */
    token list = {value, value + strlen(value)};
    for (size_t i = 0; i < count && list.start < list.end; i++) {
        token t = token_at(list);
        size_t index = 0;
        rsdk_token_fault fault = rocr_device(t, reads_binary, unique_ids, count, &index);
        if (fault == RSDK_TOKEN_GOOD && is_chosen(index, chosen, selection.count)) {
            fault = RSDK_TOKEN_REPEATED;
        }
        if (fault != RSDK_TOKEN_GOOD) {
            end_with(t, list, fault, &selection);
            selection.count = fault == RSDK_TOKEN_ABORTS ? 0 : selection.count;
            return selection;
        }
        chosen[selection.count++] = index;
        list.start = t.end + (t.end < list.end);
    }
    return selection;
}

rsdk_selection rsdk_visibility_select_rocr(const char *value, const uint64_t *unique_ids, size_t count,
                                           size_t *chosen) {
    return select_rocr(value, false, unique_ids, count, chosen);
}

rsdk_selection rsdk_visibility_select_rocr_c23(const char *value, const uint64_t *unique_ids, size_t count,
                                               size_t *chosen) {
    return select_rocr(value, true, unique_ids, count, chosen);
}

/* ---- HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES, GPU_DEVICE_ORDINAL ---- */

/* Return the text within the double quotes around the whole value, as container tools leave them; without both, the
 * value itself. Blanks may stand outside them, tabs not. */
static token unquoted(const char *value) {
    const char *start = value + strspn(value, " "), *end = value + strlen(value);
    while (end > start && end[-1] == ' ') {
        end--;
    }
    bool is_quoted = end - start > 1 && *start == '"' && end[-1] == '"';
    return is_quoted ? (token){start + 1, end - 1} : (token){value, value + strlen(value)};
}

bool rsdk_visibility_is_set_hip(const char *value) {
    return value != NULL && (*value == '\0' || token_length(unquoted(value)) > 0);
}

/* Read the index as HIP would print it: digits, no leading zero. */
static rsdk_token_fault hip_index(token t, size_t count, size_t *index) {
    bool is_too_large = false;
    if (token_length(t) > 1 && *t.start == '0') {
        return RSDK_TOKEN_NOT_A_NUMBER;
    }
    *index = 0;
    for (const char *at = t.start; at < t.end; at++) {
        if (*at < '0' || *at > '9') {
            return RSDK_TOKEN_NOT_A_NUMBER;
        }
        *index = *index * 10 + (size_t)(*at - '0');
        is_too_large |= *index >= count;
        *index = is_too_large ? count : *index;
    }
    return is_too_large || *index >= count ? RSDK_TOKEN_OUT_OF_RANGE : RSDK_TOKEN_GOOD;
}

/* Find the first device in whose UUID the token occurs. */
static rsdk_token_fault hip_uuid(token t, const uint64_t *unique_ids, size_t count, size_t *index) {
    char uuid[RSDK_UUID_SIZE];
    for (size_t i = 0; i < count; i++) {
        rsdk_visibility_format_uuid(unique_ids[i], uuid);
        if (memmem(uuid, strlen(uuid), t.start, token_length(t)) != NULL) {
            *index = i;
            return RSDK_TOKEN_GOOD;
        }
    }
    return RSDK_TOKEN_UNKNOWN_UUID;
}

static rsdk_token_fault hip_device(token t, const uint64_t *unique_ids, size_t count, size_t *index) {
    if (t.start == t.end) {
        return RSDK_TOKEN_EMPTY;
    }
    bool is_uuid = memmem(t.start, token_length(t), uuid_prefix, UUID_PREFIX_LENGTH) != NULL;
    return is_uuid ? hip_uuid(t, unique_ids, count, index) : hip_index(t, count, index);
}

rsdk_selection rsdk_visibility_select_hip(const char *value, const uint64_t *unique_ids, size_t count, size_t *chosen) {
    rsdk_selection selection = {0};
    if (!rsdk_visibility_is_set_hip(value)) {
        choose_all(count, chosen, &selection);
        return selection;
    }
    /* A comma at the end of the value has no token behind it. */
    for (token list = unquoted(value); list.start < list.end;) {
        token t = token_at(list);
        size_t index = 0;
        rsdk_token_fault fault = hip_device(t, unique_ids, count, &index);
        if (fault != RSDK_TOKEN_GOOD) {
            end_with(t, list, fault, &selection);
            return selection;
        }
        if (!is_chosen(index, chosen, selection.count)) {
            chosen[selection.count++] = index;
        }
        list.start = t.end + (t.end < list.end);
    }
    return selection;
}
