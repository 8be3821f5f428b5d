/* The check whether a library is for the machine that this process runs on. */
#ifndef RSDK_ELF_ELF_MACHINE_H
#define RSDK_ELF_ELF_MACHINE_H

#include <stdbool.h>

#include "base/directory.h"
#include "elf/elf_file.h"

enum { RSDK_ELF_VARIANTS = 4 };

/* Return RSDK_BAD_ELF if this process cannot load the file: the error names both machines. The result is the same if
 * the library needs a later kind of processor (x86-64-v3), because its code would end the process with SIGILL: the
 * error names both levels. */
rsdk_status rsdk_elf_machine_check(const rsdk_elf_file *file, rsdk_error *error);

/* Return how many subdirectories of glibc-hwcaps the linker looks in on this processor, and their names, the best first
 * ("x86-64-v3", "x86-64-v2"); 0 where there is none. */
size_t rsdk_elf_machine_variants(const char *names[RSDK_ELF_VARIANTS]);

/* Return whether a directory may have variants of its libraries for one kind of processor, which the linker prefers to
 * the plain ones. `listing` NULL: it is not known. */
bool rsdk_elf_machine_may_hold_variants(const char *directory, const rsdk_directory *listing);

/* Return whether the linker, where it looks for a name, goes on behind a file with this header: the file is of another
 * class or for another machine (open_verify in glibc's elf/dl-load.c). */
bool rsdk_elf_machine_is_passed_over(unsigned elf_class, unsigned data_encoding, unsigned machine);

#endif
