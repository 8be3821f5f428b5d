#include "sample_loading.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "child_process.h"
#include "suite.h"

void in_child(void (*body)(void *), sample_site *site) {
    run_in_child(body, site);
    sample_site_remove(site);
}

void on_site(void (*body)(void *), const sample_library *libraries, size_t count) {
    sample_site site = sample_site_new();
    for (size_t i = 0; i < count; i++) {
        sample_compile(&site, &libraries[i]);
    }
    in_child(body, &site);
}

rsdk_loaded *load_with(const sample_site *site, const rsdk_load_options *options) {
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    static rsdk_sdk *sdk; /* one for each child: results borrow its texts */
    sdk = sdk != NULL ? sdk : sample_open(site);
    rsdk_status status = rsdk_loader_preload(sdk, options, &loaded, &error);
    if (status != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        _exit(1);
    }
    return loaded;
}

bool is_loaded(const sample_site *site, const char *name) {
    void *handle = dlopen(sample_path(site, name), RTLD_LAZY | RTLD_NOLOAD);
    return handle != NULL && dlclose(handle) == 0;
}

rsdk_page_list sample_page_list(const sample_site *site, rsdk_arena *arena) {
    rsdk_page_list list;
    rsdk_file_identity identity;
    char *text = NULL;
    size_t size = 0;
    const char *path = sample_path(site, CORE_LIB "/" RSDK_PAGE_LIST_NAME);
    assert_int_equal(rsdk_file_read_text(path, RSDK_PAGE_LIST_LIMIT, arena, &text, &size, &identity, NULL), RSDK_OK);
    assert_int_equal(rsdk_page_list_parse(path, text, size, arena, &list, NULL), RSDK_OK);
    return list;
}
