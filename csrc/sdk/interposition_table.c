/* Libraries that take each other's place in the search for symbols, one group per row, and the measure that keeps them
 * apart.
 *
 * Not separated by any measure, RTLD_DEEPBIND included, are STB_GNU_UNIQUE symbols (static members of templates, locals
 * of inline functions): a process has one of each, which belongs to whichever library needs it first. */
#include "sdk/tables.h"

#include <string.h>

#include "elf/soname.h"

/* Sources: reports of 2026 (rocm-systems 7643 and 8768, TheRock 2269 and 3487, amdsmi 108; Triton-XDNA 102), and the
 * symbols of ROCm 5.2's librocm_smi64, whose C++ classes are in the namespace amd::smi. */
/* clang-format off */
const rsdk_interposition rsdk_interpositions[] = {
    /* libraries                               measure                    symbols                     probe        why */
    {{"librocm_smi64.so", "libamd_smi.so"},    RSDK_MEASURE_BOUND_FIRST,  {"rsmi_", "_ZN3amd3smi"},   "rsmi_init", "both have rocm_smi's functions, and call them by name"},
    {{"librocm_smi64.so"},                     RSDK_MEASURE_NEVER_GLOBAL, {NULL},                     NULL,        "a copy of libamd_smi that another package opens would call its functions"},
    {{"libamd_comgr.so", "libclang.so", "libLLVM.", "libLLVM-"}, RSDK_MEASURE_LOCAL, {NULL},          NULL,        "it carries an LLVM, and two in the global scope crash each other"},
    {{"libLLVM.", "libLLVM-"},                 RSDK_MEASURE_NEVER_GLOBAL, {NULL},                     NULL,        "another package's LLVM would call its functions"},
};
/* clang-format on */

const size_t rsdk_interposition_count = sizeof rsdk_interpositions / sizeof *rsdk_interpositions;

bool rsdk_interposition_is_of(const rsdk_interposition *row, const char *soname) {
    for (const char *const *name = row->libraries; *name != NULL; name++) {
        size_t length = strlen(*name);
        bool is_linker_name = length > 3 && strcmp(*name + length - 3, ".so") == 0;
        if (strncmp(soname, *name, length) == 0 && (!is_linker_name || rsdk_soname_has_linker_name(soname, *name))) {
            return true;
        }
    }
    return false;
}

bool rsdk_interposition_keeps_local(const char *soname) {
    for (size_t i = 0; i < rsdk_interposition_count; i++) {
        if (rsdk_interpositions[i].measure != RSDK_MEASURE_BOUND_FIRST &&
            rsdk_interposition_is_of(&rsdk_interpositions[i], soname)) {
            return true;
        }
    }
    return false;
}
