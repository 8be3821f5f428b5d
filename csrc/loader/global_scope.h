/* The answers of this process's global scope. */
#ifndef RSDK_LOADER_GLOBAL_SCOPE_H
#define RSDK_LOADER_GLOBAL_SCOPE_H

/* Return the file in the global scope that defines a function, as the linker names it; NULL: none does. */
const char *rsdk_global_scope_definer(const char *function);

/* The reason why a library must not be opened with RTLD_DEEPBIND in this process. */
typedef enum rsdk_deep_obstacle {
    RSDK_DEEP_NO_OBSTACLE,
    RSDK_DEEP_SANITIZER, /* the sanitizer's runtime ends the process that calls dlopen with RTLD_DEEPBIND */
    RSDK_DEEP_ALLOCATOR, /* memory comes from another allocator than the C library's, which the library would pass by */
} rsdk_deep_obstacle;

/* Find the obstacle to RTLD_DEEPBIND. *file: the sanitizer's or the allocator's; NULL without an obstacle. */
rsdk_deep_obstacle rsdk_global_scope_deep_obstacle(const char **file);

#endif
