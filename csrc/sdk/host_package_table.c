/* Which distribution package brings a host library that ROCm's libraries usually need, one per row. For the hint of a
 * failed load. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_host_package rsdk_host_packages[] = {
    /* SONAME               Debian, Ubuntu     Fedora, RHEL */
    {"libatomic.so.1",      "libatomic1",      "libatomic"},
    {"libdrm.so.2",         "libdrm2",         "libdrm"},
    {"libdrm_amdgpu.so.1",  "libdrm-amdgpu1",  "libdrm"},
    {"libdw.so.1",          "libdw1",          "elfutils-libs"},
    {"libelf.so.1",         "libelf1",         "elfutils-libelf"},
    {"libgcc_s.so.1",       "libgcc-s1",       "libgcc"},
    {"libgfortran.so.5",    "libgfortran5",    "libgfortran"},
    {"libgomp.so.1",        "libgomp1",        "libgomp"},
    {"libibverbs.so.1",     "libibverbs1",     "libibverbs"},
    {"liblzma.so.5",        "liblzma5",        "xz-libs"},
    {"libncursesw.so.6",    "libncursesw6",    "ncurses-libs"},
    {"libnuma.so.1",        "libnuma1",        "numactl-libs"},
    {"libquadmath.so.0",    "libquadmath0",    "libquadmath"},
    {"libstdc++.so.6",      "libstdc++6",      "libstdc++"},
    {"libtinfo.so.6",       "libtinfo6",       "ncurses-libs"},
    {"libva.so.2",          "libva2",          "libva"},
    {"libxml2.so.2",        "libxml2",         "libxml2"},
    {"libz.so.1",           "zlib1g",          "zlib"},
    {"libzstd.so.1",        "libzstd1",        "libzstd"},
};
/* clang-format on */

const size_t rsdk_host_package_count = sizeof rsdk_host_packages / sizeof *rsdk_host_packages;
