/* Follows or makes openings, and prints what binds to what, a line for each reference: library, symbol, version, bound
 * to, verdict.
 *
 * usage: bindings_from_c foresee|open [FIRST...] -- SECOND...
 *
 * An opening is LETTERS=PATH: g RTLD_GLOBAL, l RTLD_LOCAL, d RTLD_DEEPBIND too. The first are opened. With `foresee`,
 * the second are followed, with `open` they are opened and the process is read. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocm_sdk/bindings.h>

enum { OPENING_LIMIT = 64 };

static int mode_of(const char *opening) {
    return (opening[0] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL) | (opening[1] == 'd' ? RTLD_DEEPBIND : 0);
}

static const char *path_of(const char *opening) {
    return strchr(opening, '=') + 1;
}

static int print(const rsdk_bindings *bindings) {
    for (size_t i = 0; i < rsdk_bindings_count(bindings); i++) {
        const rsdk_binding binding = rsdk_bindings_at(bindings, i);
        (void)printf("%s\t%s\t%s\t%s\t%s\n", binding.from, binding.symbol, binding.version ? binding.version : "-",
                     binding.to ? binding.to : "-", rsdk_binding_verdict_name(binding.verdict));
    }
    return EXIT_SUCCESS;
}

int main(int count, char **arguments) {
    int is_real = strcmp(arguments[1], "open") == 0, is_first = 1;
    rsdk_opening openings[OPENING_LIMIT];
    size_t opening_count = 0;
    rsdk_bindings *bindings = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    for (int i = 2; i < count; i++) {
        if (strcmp(arguments[i], "--") == 0) {
            is_first = 0;
        } else if (is_first || is_real) {
            if (dlopen(path_of(arguments[i]), RTLD_NOW | mode_of(arguments[i])) == NULL) {
                (void)fprintf(stderr, "%s\n", dlerror());
            }
        } else if (opening_count < OPENING_LIMIT) {
            openings[opening_count++] = (rsdk_opening){path_of(arguments[i]), mode_of(arguments[i])};
        }
    }
    rsdk_status status = is_real ? rsdk_bindings_read_process(0, &bindings, &error)
                                 : rsdk_bindings_read(NULL, NULL, openings, opening_count, &bindings, &error);
    if (status != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        rsdk_error_clear(&error);
        return EXIT_FAILURE;
    }
    int result = print(bindings);
    rsdk_bindings_free(bindings);
    return result;
}
