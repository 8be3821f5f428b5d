/* Any text as HSA_OVERRIDE_GFX_VERSION: what is taken for a version is what sscanf takes for one, which ROCm asks. */
#include <stdio.h>

#include "fuzz_target.h"
#include "gpu/features.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_isa_version ours = {0}, wanted = {0};
    char behind = '\0', *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    /* NOLINTNEXTLINE(cert-err34-c): that numbers wrap is what is to be compared */
    bool is_version = sscanf(text, "%u.%u.%u%c", &wanted.major, &wanted.minor, &wanted.stepping, &behind) == 3 &&
                      wanted.major <= 63 && wanted.minor <= 255 && wanted.stepping <= 255;
    if (rsdk_override_parse(text, &ours) != is_version ||
        (is_version &&
         (ours.major != wanted.major || ours.minor != wanted.minor || ours.stepping != wanted.stepping))) {
        abort();
    }
    free(text);
    return 0;
}
