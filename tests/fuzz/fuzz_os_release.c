/* Any bytes as os-release. The system is one that a distribution is, and a comment changes nothing. */
#include "diagnosis/system.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char comment[] = "# ID=debian\nVERSION_ID=arch\n";
    const size_t before = sizeof comment - 1;
    char *text = malloc(before + size + 1);
    require(text != NULL);
    (void)memcpy(text, comment, before);
    (void)memcpy(text + before, bytes, size);
    text[before + size] = '\0';
    rsdk_system system = rsdk_system_of_release(text + before);
    if (system >= RSDK_SYSTEM_COUNT || system == RSDK_SYSTEM_CONTAINER || rsdk_system_of_release(text) != system) {
        abort();
    }
    free(text);
    return 0;
}
