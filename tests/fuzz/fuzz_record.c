/* Any bytes as the text of a RECORD. Each path is a piece of the text behind the one before, and each row ends. */
#include "fuzz_target.h"
#include "sdk/record.h"

/* The path of an unquoted row holds nothing that ends one. */
static void check_path(const char *path, bool is_quoted) {
    require(is_quoted || path[strcspn(path, ",\r\n")] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1), *at = text;
    require(text != NULL);
    (void)memcpy(text, bytes, size);
    text[size] = '\0';
    for (;;) {
        char *row = at + strspn(at, "\r\n");
        bool is_quoted = *row == '"';
        char *path = rsdk_record_next_path(&at);
        if (path == NULL) {
            break;
        }
        require(path == row + is_quoted && at > row && at <= text + size && path + strlen(path) <= at);
        check_path(path, is_quoted);
    }
    require(at >= text && at <= text + size);
    require(rsdk_record_next_path(&at) == NULL);
    free(text);
    return 0;
}
