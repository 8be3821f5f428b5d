#include "sample_loading.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "child_process.h"

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
