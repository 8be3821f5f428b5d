/* Any text as HIP_VISIBLE_DEVICES. */
#include "fuzz_target.h"
#include "visibility_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    check_visibility(rsdk_visibility_select_hip, bytes, size);
    return 0;
}
