/* Any text as ROCR_VISIBLE_DEVICES. */
#include "visibility_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    check_visibility(rsdk_visibility_select_rocr, bytes, size);
    return 0;
}
