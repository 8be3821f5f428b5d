/* The machine that a library is for, compared with the one that this process runs on. */
#include "elf/elf_machine.h"

#include <elf.h>

static const struct machine_name {
    unsigned machine;
    const char *name;
} machine_names[] = {
    {EM_386, "i386"},  {EM_AARCH64, "aarch64"}, {EM_AMDGPU, "an AMD GPU (a code object, not a host library)"},
    {EM_ARM, "arm"},   {EM_PPC64, "ppc64"},     {EM_RISCV, "riscv"},
    {EM_S390, "s390"}, {EM_X86_64, "x86-64"},
};

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
#error "add this architecture's EM_ constant"
#endif

static const char *name_of_machine(unsigned machine) {
    for (size_t i = 0; i < sizeof machine_names / sizeof *machine_names; i++) {
        if (machine_names[i].machine == machine) {
            return machine_names[i].name;
        }
    }
    return "another machine";
}

static int bits_of(unsigned elf_class) {
    return elf_class == ELFCLASS64 ? 64 : 32;
}

static const char *endian_of(unsigned data_encoding) {
    return data_encoding == ELFDATA2LSB ? "little" : "big";
}

rsdk_status rsdk_elf_machine_check(const rsdk_elf_file *file, rsdk_error *error) {
    unsigned own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    unsigned own_encoding = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (file->elf_class == own_class && file->data_encoding == own_encoding && file->machine == OWN_MACHINE) {
        return RSDK_OK;
    }
    rsdk_status status =
        rsdk_fail(error, RSDK_BAD_ELF, file->path, "install the packages that were built for this machine",
                  "%s: is a %d-bit %s-endian library for %s, this process is %d-bit %s-endian for %s", file->path,
                  bits_of(file->elf_class), endian_of(file->data_encoding), name_of_machine(file->machine),
                  bits_of(own_class), endian_of(own_encoding), name_of_machine(OWN_MACHINE));
    return rsdk_fail_as("E-LIB-012", error, status);
}
