/* Whether other libraries can take the place of a library's own definitions. */
#ifndef RSDK_ELF_ELF_INTERPOSABLE_H
#define RSDK_ELF_ELF_INTERPOSABLE_H

#include "elf/elf_view.h"

/* Whether a relocation names a symbol that the library itself defines and that begins with one of `prefixes` (up to a
 * NULL): then the linker looks for it in other libraries first. RSDK_BAD_ELF if a table lies outside the file. */
rsdk_status rsdk_elf_interposable_find(const rsdk_elf_image *image, const char *const prefixes[], bool *found,
                                       rsdk_error *error);

#endif
