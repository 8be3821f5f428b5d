/* Which releases of ROCm have which SONAMEs, one per row: a file says by them what it was built for. HIP's number is
 * that of the release (release_check.c). Sources: Debian's packages librocblas0 5.5.1, librocsparse0 5.7.1, libhipblas2
 * and librocblas4 6.4.4, librocsparse1 6.4, libamd-comgr3 7.0.2; pytorch 149855 (comgr of 6.4); for 7, file names in
 * public reports of ROCm 7.2, which were not inspected. A library whose number did not change between releases (rocfft,
 * rocrand, rccl, MIOpen) says nothing. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_soname_release rsdk_soname_releases[] = {
    /* SONAME            first  last major version */
    {"libamd_comgr.so.2",    4, 6},
    {"libamd_comgr.so.3",    6, 0},
    {"libhipblas.so.0",      0, 5},
    {"libhipblas.so.2",      6, 6},
    {"libhipblas.so.3",      7, 7},
    {"libhipsolver.so.0",    0, 6},
    {"libhipsolver.so.1",    7, 0},
    {"libhipsparse.so.0",    0, 5},
    {"libhipsparse.so.1",    6, 6},
    {"libhipsparse.so.4",    7, 0},
    {"librocblas.so.0",      0, 5},
    {"librocblas.so.4",      6, 6},
    {"librocblas.so.5",      7, 0},
    {"librocsparse.so.0",    0, 5},
    {"librocsparse.so.1",    6, 0},
};
/* clang-format on */

const size_t rsdk_soname_release_count = sizeof rsdk_soname_releases / sizeof *rsdk_soname_releases;
