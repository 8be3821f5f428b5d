/* Any text as the target of code, as that of a GPU, and as the name of a file. The input is two texts, with a line
 * break between them. */
#include "device_code/file_target.h"
#include "fuzz_target.h"
#include "gpu/targets.h"
#include "rocm_sdk/compatibility.h"

static void check_pair(const char *code, const char *gpu, unsigned version) {
    rsdk_compatibility official = rsdk_compatibility_check(code, version, gpu, 0);
    rsdk_compatibility all = rsdk_compatibility_check(code, version, gpu, RSDK_PATCHES_ALL);
    require((official.fit == RSDK_FIT_NONE) == (official.misfit != RSDK_MISFIT_NONE));
    require(official.fit != RSDK_FIT_UNOFFICIAL && official.patches == 0);
    require((all.fit == RSDK_FIT_UNOFFICIAL) == (all.patches != 0));
    require(official.fit == RSDK_FIT_NONE || official.fit == all.fit);
    require(all.fit != RSDK_FIT_NONE || (all.xnack == RSDK_MODE_ANY && all.sramecc == RSDK_MODE_ANY));
}

/* What is found in a name is a target id, and what is cut off lies in the name. */
static void check_name(const char *name) {
    char target[RSDK_TARGET_ID_SIZE];
    size_t start = 0;
    rsdk_target_id parts;
    if (rsdk_file_target_find(name, target, &start)) {
        require(strlen(target) < sizeof target && rsdk_target_id_read(target, &parts));
        require(start < strlen(name));
    }
    const rsdk_target *database = rsdk_file_target_of_database(name);
    require(database == NULL || strncmp(name, database->name, strlen(database->name)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    check_name(text);
    char *gpu = strchr(text, '\n');
    if (gpu != NULL) {
        *gpu++ = '\0';
        check_pair(text, gpu, RSDK_GENERIC_VERSION_UNKNOWN);
        check_pair(text, gpu, 0);
        check_pair(gpu, gpu, 1);
    }
    free(text);
    return 0;
}
