/* Relative relocations, read in pieces: a library may have hundreds of thousands. */
#include "elf/elf_sections.h"

#include <elf.h>

#include "base/fail.h"

enum {
    AT_A_TIME = 1024,      /* relocations: 24 KiB of stack */
    TABLES_LIMIT = 1 << 29 /* bytes of all tables: large libraries have ten million; a sparse file may claim more */
};

static uint64_t relative_type_of(unsigned machine) {
    return machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
}

static void take(const Elf64_Rela *relocations, size_t taken, uint64_t type, uint64_t address, uint64_t *words,
                 size_t count) {
    for (size_t i = 0; i < taken; i++) {
        const Elf64_Rela *relocation = &relocations[i];
        uint64_t distance = relocation->r_offset - address; /* wraps to a large one where it lies before */
        if (distance / sizeof *words < count && distance % sizeof *words == 0 &&
            ELF64_R_TYPE(relocation->r_info) == type) {
            words[distance / sizeof *words] = (uint64_t)relocation->r_addend;
        }
    }
}

rsdk_status rsdk_elf_relocations_apply(const rsdk_file *file, uint64_t start, uint64_t size, unsigned machine,
                                       const rsdk_elf_sections *sections, uint64_t address, uint64_t *words,
                                       size_t count, rsdk_error *error) {
    uint64_t left = size < TABLES_LIMIT ? size : TABLES_LIMIT; /* tables may overlap, too */
    for (size_t i = 0; i < sections->count; i++) {
        const rsdk_elf_section *table = &sections->items[i];
        if (table->type != SHT_RELA || (table->flags & SHF_ALLOC) == 0) {
            continue;
        }
        if (table->size > left || table->offset > size - table->size) {
            return rsdk_fail(error, RSDK_BAD_ELF, file->path,
                             "%s: its relocations lie outside the file, or are more than any has", file->path);
        }
        left -= table->size;
        for (uint64_t done = 0, total = table->size / sizeof(Elf64_Rela); done < total;) {
            Elf64_Rela relocations[AT_A_TIME];
            size_t taken = total - done < AT_A_TIME ? (size_t)(total - done) : AT_A_TIME;
            RSDK_TRY(rsdk_file_read(file, start + table->offset + done * sizeof *relocations, relocations,
                                    taken * sizeof *relocations, error));
            take(relocations, taken, relative_type_of(machine), address, words, count);
            done += taken;
        }
    }
    return RSDK_OK;
}
