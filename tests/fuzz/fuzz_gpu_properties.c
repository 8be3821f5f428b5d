/* Any bytes as KFD's attribute files. An error names the file; what is accepted has the keys that it must have. */
#include "fuzz_target.h"
#include "gpu/properties.h"

static void check(rsdk_status status, rsdk_error *error) {
    if (status != RSDK_OK && (status != RSDK_IO_ERROR || strstr(error->message, "nodes/1: ") == NULL) &&
        (status != RSDK_IO_ERROR || strstr(error->message, "nodes/1, line ") != error->message)) {
        abort();
    }
    rsdk_error_clear(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *text = (const char *)bytes;
    rsdk_node_properties node;
    rsdk_bank_properties bank;
    rsdk_link_properties link;
    rsdk_error_counts counts;
    rsdk_error error = RSDK_ERROR_INIT;
    uint64_t number = 0;
    rsdk_status status = rsdk_properties_parse_node("nodes/1", text, size, &node, &error);
    if (status == RSDK_OK && (node.mem_banks_count > RSDK_BANK_LIMIT || node.device_id > UINT16_MAX ||
                              node.gfx_target_version > UINT32_MAX || memmem(text, size, "simd_count", 10) == NULL)) {
        abort();
    }
    check(status, &error);
    check(rsdk_properties_parse_bank("nodes/1", text, size, &bank, &error), &error);
    check(rsdk_properties_parse_link("nodes/1", text, size, &link, &error), &error);
    check(rsdk_properties_parse_errors("nodes/1", text, size, &counts, &error), &error);
    check(rsdk_properties_parse_number("nodes/1", text, size, &number, &error), &error);
    return 0;
}
