/* The releases of ROCm that have a SONAME, one per row: a file's SONAMEs show which release it was built for. {0,
 * 0}: the first is not known, or the last is not out yet. The rows of one library follow each other, the oldest first.
 *
 * Sources. G: SOVERSION in the CMake files of the tags rocm-4.0 to rocm-6.2.2. D: Debian's packages (5.2 to 5.7, 6.4).
 * N: the repositories in 2026. C: the changelogs of 6.4.0, 7.1.0 and 10.0.0. M: AMD's matrix of 6.0 to 6.3. P: public
 * lists of files. V: the versions of rocprofiler-sdk in the documentation of 6.2, 6.4 and 7.0. W: what wheels of the
 * public index need.
 *
 * SONAMEs that show nothing are not here: libMIOpen, librccl, librocfft, libhipfft, librocsolver, librocrand,
 * libhiprand, libhsa-runtime64, libroctx64 and libroctracer64 have had one number since 4.x, and librocm_smi64 has
 * number 1 if it was built without git's tags, in any release. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_soname_release rsdk_soname_releases[] = {
    /* SONAME                   first    last         source */
    {"libamd_comgr.so.2",       {4, 0},  {6, 3}},  /* P D */
    {"libamd_comgr.so.3",       {6, 4},  {0, 0}},  /* P D */
    {"libamd_smi.so.23",        {6, 0},  {6, 0}},  /* G M */
    {"libamd_smi.so.24",        {6, 1},  {6, 3}},  /* G M */
    {"libamd_smi.so.25",        {6, 4},  {6, 4}},  /* C */
    {"libamd_smi.so.26",        {7, 0},  {7, 14}}, /* C W */
    {"libamd_smi.so.27",        {10, 0}, {0, 0}},  /* C */
    {"libamdhip64.so.4",        {0, 0},  {4, 5}},  /* W: cupy-rocm-4-3; 4.5 was the last before 5.0 */
    {"libamdhip64.so.5",        {5, 0},  {5, 7}},  /* G D P */
    {"libamdhip64.so.6",        {6, 0},  {6, 4}},  /* G D P */
    {"libamdhip64.so.7",        {7, 0},  {0, 0}},  /* P W */
    {"libhipblas.so.0",         {0, 0},  {5, 5}},  /* G */
    {"libhipblas.so.1",         {5, 6},  {5, 7}},  /* G */
    {"libhipblas.so.2",         {6, 0},  {6, 4}},  /* G N */
    {"libhipblas.so.3",         {7, 0},  {0, 0}},  /* N P */
    {"libhipblaslt.so.0",       {5, 5},  {6, 4}},  /* G */
    {"libhipblaslt.so.1",       {7, 0},  {0, 0}},  /* P */
    {"libhiprtc.so.5",          {5, 0},  {5, 7}},  /* G D P */
    {"libhiprtc.so.6",          {6, 0},  {6, 4}},  /* G D P */
    {"libhiprtc.so.7",          {7, 0},  {0, 0}},  /* P W */
    {"libhipsolver.so.0",       {4, 5},  {6, 4}},  /* G */
    {"libhipsolver.so.1",       {7, 0},  {0, 0}},  /* P */
    {"libhipsparse.so.0",       {0, 0},  {5, 7}},  /* G */
    {"libhipsparse.so.1",       {6, 0},  {6, 4}},  /* G N */
    {"libhipsparse.so.4",       {7, 0},  {0, 0}},  /* N P */
    {"librocblas.so.0",         {0, 0},  {5, 5}},  /* G D */
    {"librocblas.so.3",         {5, 6},  {5, 7}},  /* G */
    {"librocblas.so.4",         {6, 0},  {6, 4}},  /* G D */
    {"librocblas.so.5",         {7, 0},  {0, 0}},  /* N P */
    {"librocprofiler-sdk.so.0", {6, 2},  {6, 4}},  /* V */
    {"librocprofiler-sdk.so.1", {7, 0},  {0, 0}},  /* V W */
    {"librocsparse.so.0",       {0, 0},  {5, 7}},  /* G D */
    {"librocsparse.so.1",       {6, 0},  {0, 0}},  /* G P */
};
/* clang-format on */

const size_t rsdk_soname_release_count = sizeof rsdk_soname_releases / sizeof *rsdk_soname_releases;
