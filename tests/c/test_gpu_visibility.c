/* The grammars of the visibility variables, case by case. */
#include <stdio.h>
#include <string.h>

#include "gpu/visibility.h"
#include "suite.h"

enum { DEVICES = 3 };

/* The first two share the start of their UUIDs. */
static const uint64_t ids[DEVICES] = {0x00ab12cd34ef5678, 0x00ab99cd34ef5678, 0xfedcba9876543210};

typedef struct vector {
    const char *value;
    const char *wanted; /* the indices that are left, one digit each */
    rsdk_token_fault fault;
    const char *token; /* the one at fault */
} vector;

typedef rsdk_selection (*grammar)(const char *value, const uint64_t *unique_ids, size_t count, size_t *chosen);

static void try_on(const vector *v, grammar select, const uint64_t *unique_ids, size_t count) {
    size_t chosen[DEVICES];
    char text[DEVICES + 1] = "", token[64] = "";
    rsdk_selection selection = select(v->value, unique_ids, count, chosen);
    for (size_t i = 0; i < selection.count; i++) {
        text[i] = (char)('0' + chosen[i]);
    }
    if (selection.fault != RSDK_TOKEN_GOOD) {
        (void)snprintf(token, sizeof token, "%.*s", (int)selection.token_length, selection.token);
    }
    const char *wanted_token = v->token != NULL ? v->token : "";
    if (strcmp(text, v->wanted) != 0 || selection.fault != v->fault || strcmp(token, wanted_token) != 0) {
        fail_msg("\"%s\": [%s] fault %d at \"%s\", not [%s] fault %d at \"%s\"", v->value, text, selection.fault, token,
                 v->wanted, v->fault, wanted_token);
    }
}

static void rocr_grammar(void **state) {
    static const vector vectors[] = {
        {NULL, "012", RSDK_TOKEN_GOOD, NULL},
        {"", "", RSDK_TOKEN_GOOD, NULL},
        {"2,0", "20", RSDK_TOKEN_GOOD, NULL},
        {"0,5,1", "0", RSDK_TOKEN_OUT_OF_RANGE, "5"},
        {"0,0,1", "0", RSDK_TOKEN_REPEATED, "0"},
        {"0x1", "1", RSDK_TOKEN_GOOD, NULL},
        {"0X2,01", "21", RSDK_TOKEN_GOOD, NULL},
        {"010", "", RSDK_TOKEN_OUT_OF_RANGE, "010"}, /* eight */
        {"08", "", RSDK_TOKEN_NOT_A_NUMBER, "08"},
        {"0x", "", RSDK_TOKEN_NOT_A_NUMBER, "0x"},
        {"0xg", "", RSDK_TOKEN_NOT_A_NUMBER, "0xg"},
        {"0b1", "", RSDK_TOKEN_NOT_A_NUMBER, "0b1"},
        {" 1 ,\t2\n", "12", RSDK_TOKEN_GOOD, NULL},
        {"1 2", "", RSDK_TOKEN_NOT_A_NUMBER, "1 2"},
        {"+1,-0", "10", RSDK_TOKEN_GOOD, NULL},
        {"+", "", RSDK_TOKEN_NOT_A_NUMBER, "+"},
        {"+-1", "", RSDK_TOKEN_NOT_A_NUMBER, "+-1"},
        {"-1", "", RSDK_TOKEN_OUT_OF_RANGE, "-1"},
        {"1,-1,0", "1", RSDK_TOKEN_OUT_OF_RANGE, "-1"},
        {"0,,1", "", RSDK_TOKEN_ABORTS, ""},
        {",0", "", RSDK_TOKEN_ABORTS, ""},
        {",", "", RSDK_TOKEN_ABORTS, ""},
        {"1,,", "", RSDK_TOKEN_ABORTS, ""},
        {" ", "", RSDK_TOKEN_ABORTS, " "},
        {"1,\t,2", "", RSDK_TOKEN_ABORTS, "\t"},
        {"x,,1", "", RSDK_TOKEN_NOT_A_NUMBER, "x"}, /* the list ends before it */
        {"2,1,0,,", "210", RSDK_TOKEN_GOOD, NULL},
        {"1,", "1", RSDK_TOKEN_GOOD, NULL},
        {"\"1\"", "", RSDK_TOKEN_NOT_A_NUMBER, "\"1\""},
        {"2,1,0,banana", "210", RSDK_TOKEN_GOOD, NULL}, /* no more tokens than devices are looked at */
        {"2,1,banana,0", "21", RSDK_TOKEN_NOT_A_NUMBER, "banana"},
        {"18446744073709551617", "", RSDK_TOKEN_OUT_OF_RANGE, "18446744073709551617"},
        {"-18446744073709551615,1", "01", RSDK_TOKEN_GOOD, NULL}, /* of the smallest number 32 bits are 0 */
        {"4294967298,1", "21", RSDK_TOKEN_GOOD, NULL},            /* 32 bits count */
        {"-4294967295", "1", RSDK_TOKEN_GOOD, NULL},
        {"0x7fffffffffffffff", "", RSDK_TOKEN_OUT_OF_RANGE, "0x7fffffffffffffff"},
        {"9223372036854775807", "", RSDK_TOKEN_OUT_OF_RANGE, "9223372036854775807"},
        {"9223372036854775808", "", RSDK_TOKEN_OUT_OF_RANGE, "9223372036854775808"},
        {"0xffffffff00000001", "", RSDK_TOKEN_OUT_OF_RANGE, "0xffffffff00000001"},
        {"-9223372036854775807", "1", RSDK_TOKEN_GOOD, NULL},
        {"99999999999999999999999999x", "", RSDK_TOKEN_NOT_A_NUMBER, "99999999999999999999999999x"},
        {"3", "", RSDK_TOKEN_OUT_OF_RANGE, "3"},
        {"GPU-fedcba9876543210", "2", RSDK_TOKEN_GOOD, NULL},
        {"gpu-FEDC,0", "20", RSDK_TOKEN_GOOD, NULL},
        {" GPU-f ", "2", RSDK_TOKEN_GOOD, NULL},
        {"GPU-00ab1", "0", RSDK_TOKEN_GOOD, NULL},
        {"GPU-00ab", "", RSDK_TOKEN_AMBIGUOUS_UUID, "GPU-00ab"},
        {"GPU-", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-"},
        {"G", "", RSDK_TOKEN_UNKNOWN_UUID, "G"},
        {"GPU-ab12", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-ab12"}, /* from its start, with the zeros */
        {"GPU-fedcba98765432100", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-fedcba98765432100"},
        {"GPU-f,2", "2", RSDK_TOKEN_REPEATED, "2"},
        {"fedcba9876543210", "", RSDK_TOKEN_NOT_A_NUMBER, "fedcba9876543210"},
        {"GPU-XX", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-XX"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        try_on(&vectors[i], rsdk_visibility_select_rocr, ids, DEVICES);
    }
}

static void hip_grammar(void **state) {
    static const vector vectors[] = {
        {NULL, "012", RSDK_TOKEN_GOOD, NULL},
        {"", "", RSDK_TOKEN_GOOD, NULL},
        {" ", "", RSDK_TOKEN_NOT_A_NUMBER, " "},
        {"\"\"", "012", RSDK_TOKEN_GOOD, NULL}, /* as if it were not set */
        {"  \"\" ", "012", RSDK_TOKEN_GOOD, NULL},
        {"\"1,2\"", "12", RSDK_TOKEN_GOOD, NULL},
        {" \"2\"  ", "2", RSDK_TOKEN_GOOD, NULL},
        {"\"1,\"", "1", RSDK_TOKEN_GOOD, NULL},
        {"\"1,x,2\"", "1", RSDK_TOKEN_NOT_A_NUMBER, "x"},
        {"\" 1\"", "", RSDK_TOKEN_NOT_A_NUMBER, " 1"},
        {"\t\"1\"", "", RSDK_TOKEN_NOT_A_NUMBER, "\t\"1\""},
        {"\"1\"\t", "", RSDK_TOKEN_NOT_A_NUMBER, "\"1\"\t"},
        {"\"", "", RSDK_TOKEN_NOT_A_NUMBER, "\""},
        {"\"1", "", RSDK_TOKEN_NOT_A_NUMBER, "\"1"},
        {"1\"", "", RSDK_TOKEN_NOT_A_NUMBER, "1\""},
        {"\"1\",2", "", RSDK_TOKEN_NOT_A_NUMBER, "\"1\""},
        {"\"1\",\"2\"", "", RSDK_TOKEN_NOT_A_NUMBER, "1\""}, /* only the outermost are removed */
        {"\"\"\"", "", RSDK_TOKEN_NOT_A_NUMBER, "\""},
        {"'1'", "", RSDK_TOKEN_NOT_A_NUMBER, "'1'"},
        {"2,0", "20", RSDK_TOKEN_GOOD, NULL},
        {"01", "", RSDK_TOKEN_NOT_A_NUMBER, "01"},
        {"1, 0", "1", RSDK_TOKEN_NOT_A_NUMBER, " 0"},
        {"-1", "", RSDK_TOKEN_NOT_A_NUMBER, "-1"},
        {"0,-1,1", "0", RSDK_TOKEN_NOT_A_NUMBER, "-1"},
        {"1,1,0", "10", RSDK_TOKEN_GOOD, NULL},
        {"0,5,1", "0", RSDK_TOKEN_OUT_OF_RANGE, "5"},
        {"0x1", "", RSDK_TOKEN_NOT_A_NUMBER, "0x1"},
        {"+1", "", RSDK_TOKEN_NOT_A_NUMBER, "+1"},
        {"1,", "1", RSDK_TOKEN_GOOD, NULL},
        {",", "", RSDK_TOKEN_EMPTY, ""},
        {",1", "", RSDK_TOKEN_EMPTY, ""},
        {"0,,1", "0", RSDK_TOKEN_EMPTY, ""},
        {"0,1,,", "01", RSDK_TOKEN_EMPTY, ""},
        {"0,1,2,0,1,2", "012", RSDK_TOKEN_GOOD, NULL},
        {"2,1,0,banana", "210", RSDK_TOKEN_NOT_A_NUMBER, "banana"}, /* every token is looked at */
        {"4294967296", "", RSDK_TOKEN_OUT_OF_RANGE, "4294967296"},
        {"18446744073709551616", "", RSDK_TOKEN_OUT_OF_RANGE, "18446744073709551616"},
        {"0", "0", RSDK_TOKEN_GOOD, NULL},
        {"00", "", RSDK_TOKEN_NOT_A_NUMBER, "00"},
        {"GPU-fedcba9876543210,0", "20", RSDK_TOKEN_GOOD, NULL},
        {"GPU-FEDC", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-FEDC"},
        {"gpu-fedc", "", RSDK_TOKEN_NOT_A_NUMBER, "gpu-fedc"},
        {"GPU-", "0", RSDK_TOKEN_GOOD, NULL},
        {"GPU-00ab", "0", RSDK_TOKEN_GOOD, NULL}, /* the first hit */
        {"GPU-00ab9,GPU-00ab", "10", RSDK_TOKEN_GOOD, NULL},
        {"xGPU-00ab", "", RSDK_TOKEN_UNKNOWN_UUID, "xGPU-00ab"},
        {" GPU-00ab", "", RSDK_TOKEN_UNKNOWN_UUID, " GPU-00ab"},
        {"GPU-XX", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-XX"},
        {"fedcba9876543210", "", RSDK_TOKEN_NOT_A_NUMBER, "fedcba9876543210"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        try_on(&vectors[i], rsdk_visibility_select_hip, ids, DEVICES);
    }
}

static void devices_without_serial_number(void **state) {
    static const uint64_t unknown[2] = {0};
    try_on(&(vector){"GPU-XX", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-XX"}, rsdk_visibility_select_rocr, unknown, 2);
    try_on(&(vector){"GPU-0", "", RSDK_TOKEN_UNKNOWN_UUID, "GPU-0"}, rsdk_visibility_select_rocr, unknown, 2);
    try_on(&(vector){"GPU-XX,1", "01", RSDK_TOKEN_GOOD, NULL}, rsdk_visibility_select_hip, unknown, 2);
    try_on(&(vector){"0", "", RSDK_TOKEN_GOOD, NULL}, rsdk_visibility_select_rocr, unknown, 0);
    try_on(&(vector){"0", "", RSDK_TOKEN_OUT_OF_RANGE, "0"}, rsdk_visibility_select_hip, unknown, 0);
    char uuid[RSDK_UUID_SIZE];
    rsdk_visibility_format_uuid(0, uuid);
    assert_string_equal(uuid, "GPU-XX");
    rsdk_visibility_format_uuid(0xab, uuid);
    assert_string_equal(uuid, "GPU-00000000000000ab");
    rsdk_visibility_format_uuid(UINT64_MAX, uuid);
    assert_string_equal(uuid, "GPU-ffffffffffffffff");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocr_grammar),
        cmocka_unit_test(hip_grammar),
        cmocka_unit_test(devices_without_serial_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
