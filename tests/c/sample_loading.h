/* Loads from a sample SDK, in a child process, since loading changes a process for good. */
#ifndef TESTS_SAMPLE_LOADING_H
#define TESTS_SAMPLE_LOADING_H

#include "loader/read_ahead/page_list.h"
#include "sample_sdk.h"

/* The source of a function that answers with a text. */
#define SAYS(function, answer) "const char *" function "(void) { return \"" answer "\"; }\n"

/* Runs `body(site)` in a child, and removes the site. */
void in_child(void (*body)(void *), sample_site *site);

/* The same on a site with these libraries. */
#define ON_SITE(body, ...)                                                                                             \
    on_site(body, (const sample_library[]){__VA_ARGS__},                                                               \
            sizeof((const sample_library[]){__VA_ARGS__}) / sizeof(sample_library))

void on_site(void (*body)(void *), const sample_library *libraries, size_t count);

/* Loads what the options say, or ends the child. */
rsdk_loaded *load_with(const sample_site *site, const rsdk_load_options *options);

bool is_loaded(const sample_site *site, const char *name);

/* The page list beside the core package's libraries, which must be there and be good. In the arena. */
rsdk_page_list sample_page_list(const sample_site *site, rsdk_arena *arena);

#endif
