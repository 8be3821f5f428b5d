/* The distribution package that brings a host library that ROCm's libraries usually need, one per row, for the fix of a
 * failed load. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_host_package rsdk_host_packages[] = {
    /* SONAME              Debian, Ubuntu    Fedora, RHEL       SUSE              Arch              Gentoo */
    {"libatomic.so.1",     "libatomic1",     "libatomic",       "libatomic1",     "gcc-libs",       "sys-devel/gcc"},
    {"libdrm.so.2",        "libdrm2",        "libdrm",          "libdrm2",        "libdrm",         "x11-libs/libdrm"},
    {"libdrm_amdgpu.so.1", "libdrm-amdgpu1", "libdrm",          "libdrm_amdgpu1", "libdrm",         "x11-libs/libdrm"},
    {"libdw.so.1",         "libdw1",         "elfutils-libs",   "libdw1",         "elfutils",       "dev-libs/elfutils"},
    {"libelf.so.1",        "libelf1",        "elfutils-libelf", "libelf1",        "libelf",         "dev-libs/elfutils"},
    {"libgcc_s.so.1",      "libgcc-s1",      "libgcc",          "libgcc_s1",      "gcc-libs",       "sys-devel/gcc"},
    {"libgfortran.so.5",   "libgfortran5",   "libgfortran",     "libgfortran5",   "gcc-libs",       "sys-devel/gcc"},
    {"libgomp.so.1",       "libgomp1",       "libgomp",         "libgomp1",       "gcc-libs",       "sys-devel/gcc"},
    {"libibverbs.so.1",    "libibverbs1",    "libibverbs",      "libibverbs1",    "rdma-core",      "sys-cluster/rdma-core"},
    {"liblzma.so.5",       "liblzma5",       "xz-libs",         "liblzma5",       "xz",             "app-arch/xz-utils"},
    {"libmpi_cxx.so.40",   "libopenmpi3",    "'*/libmpi_cxx.so.40'", "openmpi4-libs", "$(pacman -Fq libmpi_cxx.so.40)", "'sys-cluster/openmpi[cxx]'"},
    {"libncursesw.so.6",   "libncursesw6",   "ncurses-libs",    "libncurses6",    "ncurses",        "sys-libs/ncurses"},
    {"libnuma.so.1",       "libnuma1",       "numactl-libs",    "libnuma1",       "numactl",        "sys-process/numactl"},
    {"libquadmath.so.0",   "libquadmath0",   "libquadmath",     "libquadmath0",   "gcc-libs",       "sys-devel/gcc"},
    {"libstdc++.so.6",     "libstdc++6",     "libstdc++",       "libstdc++6",     "gcc-libs",       "sys-devel/gcc"},
    {"libtinfo.so.6",      "libtinfo6",      "ncurses-libs",    "libncurses6",    "ncurses",        "sys-libs/ncurses"},
    {"libva.so.2",         "libva2",         "libva",           "libva2",         "libva",          "media-libs/libva"},
    {"libxml2.so.2",       "libxml2",        "'libxml2.so.2()(64bit)'", "libxml2-2",      "libxml2-legacy", "dev-libs/libxml2"},
    {"libz.so.1",          "zlib1g",         "zlib",            "libz1",          "zlib",           "sys-libs/zlib"},
    {"libzstd.so.1",       "libzstd1",       "libzstd",         "libzstd1",       "zstd",           "app-arch/zstd"},
};
/* clang-format on */

const size_t rsdk_host_package_count = sizeof rsdk_host_packages / sizeof *rsdk_host_packages;

/* Open MPI 5 has no library for C++, libxml2 2.14 has another SONAME. */
const rsdk_host_end rsdk_host_ends[] = {
    {"libmpi_cxx.so.40", "debian", "13"},
    {"libmpi_cxx.so.40", "ubuntu", "25.04"},
    {"libxml2.so.2", "debian", "14"},
    {"libxml2.so.2", "ubuntu", "25.10"},
};

const size_t rsdk_host_end_count = sizeof rsdk_host_ends / sizeof *rsdk_host_ends;

/* Libraries of ROCm without a short name, by patterns of SONAMEs. The LLVM of ROCm has the version of a source tree.
 * Sources: the artifacts of TheRock, MIVisionX, rocAL, ROCm's LLVM. */
/* clang-format off */
const rsdk_outside_package rsdk_outside_packages[] = {
    /* library                      AMD's package; NULL: none is known */
    {"libhip_hcc.so*",              NULL}, /* HIP before ROCm 3.5 */
    {"libhiptensor.so*",            NULL},
    {"libLLVM.so.*git",             NULL},
    {"libclang*.so.*git",           NULL},
    {"libmigraphx*.so*",            "migraphx"},
    {"libomptarget*.so.*git",       NULL},
    {"librdc*.so*",                 NULL},
    {"librocal.so*",                NULL},
    {"librocalution*.so*",          NULL},
    {"librocm-core.so*",            NULL},
    {"librocm-dbgapi.so*",          "rocm-sdk-core"},
    {"librocprof-*.so*",            NULL},
    {"librocprofiler*.so*",         NULL},
    {"librocroller.so*",            NULL},
    {"librocshmem*.so*",            NULL},
    {"libvx_*.so*",                 NULL},
};
/* clang-format on */

const size_t rsdk_outside_package_count = sizeof rsdk_outside_packages / sizeof *rsdk_outside_packages;
