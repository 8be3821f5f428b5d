/* e_flags of code objects, version 2 to 6. The same bits mean other things in other versions. */
#include "device_code/code_object.h"

#include <elf.h>
#include <stdio.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

enum {
    OSABI_AMDGPU_HSA = 64,
    VERSION_OF_ABI_0 = 2, /* EI_ABIVERSION 0 is version 2, and so on */
    NEWEST_VERSION = 6,
    FIRST_AMDGCN_MACH = 0x20, /* lower values are R600, or flags of version 2 without a processor */
};

typedef enum setting { UNSPECIFIED, OFF, ON } setting;

bool rsdk_code_object_is(const rsdk_elf_header *header) {
    return header->machine == EM_AMDGPU && header->elf_class == ELFCLASS64 && header->data_encoding == ELFDATA2LSB;
}

/* A processor or generic target, as far as its name and features go. */
typedef struct processor {
    const char *name;
    bool has_xnack, has_sramecc; /* can be chosen */
} processor;

static bool can_choose(rsdk_xnack_support xnack) {
    return xnack == RSDK_XNACK_OF_DRIVER || xnack == RSDK_XNACK_OF_PROCESS;
}

static bool find_processor(unsigned mach, processor *found) {
    const rsdk_target *target = rsdk_target_find_mach(mach);
    if (target != NULL) {
        *found = (processor){target->name, can_choose(target->xnack), target->has_sramecc};
        return true;
    }
    for (size_t i = 0; i < rsdk_target_generic_count(); i++) {
        const rsdk_generic_target *generic = rsdk_target_generic_get(i);
        if (generic->mach == mach) {
            *found = (processor){generic->name, can_choose(generic->xnack), generic->has_sramecc};
            return true;
        }
    }
    return false;
}

/* Return the setting from version 4 on: 0 not supported, 1 any, 2 off, 3 on. */
static setting two_bits(uint32_t flags, unsigned shift) {
    static const setting settings[] = {UNSPECIFIED, UNSPECIFIED, OFF, ON};
    return settings[flags >> shift & 3];
}

/* Return the setting up to version 3: a clear bit means off. */
static setting one_bit(uint32_t flags, uint32_t bit) {
    return (flags & bit) != 0 ? ON : OFF;
}

static const char *text_of(setting value, const char *off, const char *on) {
    return value == UNSPECIFIED ? "" : value == ON ? on : off;
}

void rsdk_code_object_describe(const rsdk_elf_header *header, rsdk_code_object *object) {
    unsigned mach = header->flags & 0xff, version = header->abi_version + VERSION_OF_ABI_0;
    bool has_two_bits = header->os_abi == OSABI_AMDGPU_HSA && version >= 4;
    processor found = {0};
    *object = (rsdk_code_object){0};
    if (header->os_abi == OSABI_AMDGPU_HSA && version <= NEWEST_VERSION) {
        object->version = version;
    }
    if (version == VERSION_OF_ABI_0 && mach < FIRST_AMDGCN_MACH) {
        return;
    }
    if (!find_processor(mach, &found)) {
        (void)snprintf(object->target, sizeof object->target, "mach-0x%02x", mach);
        return;
    }
    setting xnack = has_two_bits ? two_bits(header->flags, 8) : one_bit(header->flags, 0x100);
    setting sramecc = has_two_bits ? two_bits(header->flags, 10) : one_bit(header->flags, 0x200);
    (void)snprintf(object->target, sizeof object->target, "%s%s%s", found.name,
                   found.has_sramecc ? text_of(sramecc, ":sramecc-", ":sramecc+") : "",
                   found.has_xnack ? text_of(xnack, ":xnack-", ":xnack+") : "");
    object->generic_version = version >= 6 ? header->flags >> 24 : 0;
}
