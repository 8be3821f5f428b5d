/* Any text as ROCR_VISIBLE_DEVICES. */
#include "fuzz_target.h"
#include "visibility_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    check_visibility(rsdk_visibility_select_rocr, bytes, size);
    return 0;
}
