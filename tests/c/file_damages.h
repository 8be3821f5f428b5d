/* The damages of a file by its name, for tests: the library asks for those of a file that it has open. */
#ifndef TESTS_FILE_DAMAGES_H
#define TESTS_FILE_DAMAGES_H

#include "elf/elf_layout.h"

static inline rsdk_status find_damages(const char *name, rsdk_arena *arena, rsdk_elf_damages *damages) {
    rsdk_file file = {0};
    rsdk_status status = rsdk_file_open(name, &file, NULL);
    if (status == RSDK_OK) {
        status = rsdk_elf_layout_find_damages(&file, arena, damages, NULL);
        rsdk_file_close(&file);
    }
    return status;
}

#endif
