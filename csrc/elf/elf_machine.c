/* The machine that a library is for, compared with the one that this process runs on. */
#include "elf/elf_machine.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

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

/* ---- the level of the processor ---- */

/* The levels of the x86-64 psABI, by their bits in GNU_PROPERTY_X86_ISA_1_NEEDED. */
static const char *const level_names[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

/* Return the bits of the levels that this processor has. Each level has more features than are checked here; these tell
 * it from the level before. */
static uint32_t own_levels(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool has_v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool has_v3 =
        has_v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    return 1U | (has_v2 ? 2U : 0) | (has_v3 ? 4U : 0) | (has_v4 ? 8U : 0);
#else
    return UINT32_MAX; /* no other machine has such levels */
#endif
}

static const char *highest_level(uint32_t levels) {
    for (unsigned i = LEVEL_COUNT; i-- > 0;) {
        if ((levels >> i & 1) != 0) {
            return level_names[i];
        }
    }
    return level_names[0];
}

static rsdk_status check_processor(const rsdk_elf_file *file, rsdk_error *error) {
    uint32_t levels = file->processor_needs != 0 ? own_levels() : 0, missing = file->processor_needs & ~levels;
    if (missing == 0) {
        return RSDK_OK;
    }
    const char *wanted = missing >> LEVEL_COUNT != 0 ? "x86-64-v5 or later" : highest_level(missing);
    return rsdk_fail_as(error, RSDK_BAD_ELF, RSDK_E_LIB_022, file->path, NULL,
                        "%s: needs a processor of the level %s, this one has %s", file->path, wanted,
                        highest_level(levels));
}

size_t rsdk_elf_machine_variants(const char *names[RSDK_ELF_VARIANTS]) {
    size_t count = 0;
#if defined(__x86_64__)
    const uint32_t levels = own_levels();
    for (unsigned i = LEVEL_COUNT; i-- > 1;) {
        if ((levels >> i & 1) != 0) {
            names[count++] = level_names[i];
        }
    }
#else
    (void)names;
#endif
    return count;
}

/* Subdirectories in which the linker looks first: glibc-hwcaps, and the directories that glibc knew before 2.37. */
static const char *const variant_directories[] = {"glibc-hwcaps", "tls",    "haswell", "xeon_phi",
                                                  "avx512_1",     "x86_64", "atomics", "aarch64"};

bool rsdk_elf_machine_may_hold_variants(const char *directory, const rsdk_directory *listing) {
    bool may_hold = false;
    for (size_t i = 0; !may_hold && i < sizeof variant_directories / sizeof *variant_directories; i++) {
        may_hold = listing != NULL ? rsdk_directory_has(listing, variant_directories[i])
                                   : rsdk_directory_holds(directory, variant_directories[i]);
    }
    return may_hold;
}

/* ---- the machine ---- */

enum {
    OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
    OWN_ENCODING = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
};

rsdk_status rsdk_elf_machine_check(const rsdk_elf_file *file, rsdk_error *error) {
    if (file->elf_class == OWN_CLASS && file->data_encoding == OWN_ENCODING && file->machine == OWN_MACHINE) {
        return file->refused == NULL ? check_processor(file, error)
                                     : rsdk_fail_as(error, RSDK_BAD_ELF, RSDK_E_LIB_006, file->path, NULL, "%s: %s",
                                                    file->path, file->refused);
    }
    return rsdk_fail_as(error, RSDK_BAD_ELF, RSDK_E_LIB_012, file->path, NULL,
                        "%s: is a %d-bit %s-endian library for %s, this process is %d-bit %s-endian for %s", file->path,
                        bits_of(file->elf_class), endian_of(file->data_encoding), name_of_machine(file->machine),
                        bits_of(OWN_CLASS), endian_of(OWN_ENCODING), name_of_machine(OWN_MACHINE));
}

bool rsdk_elf_machine_is_passed_over(unsigned elf_class, unsigned data_encoding, unsigned machine) {
    return elf_class != OWN_CLASS || (data_encoding == OWN_ENCODING && machine != OWN_MACHINE);
}
