/* A file that is included before each file of librocm_sdk.so: the functions of the public headers are visible outside
 * it, and nothing else. Objects of librocm_sdk.a stay hidden, so that a shared library that is linked with it exports
 * none of its names. */
#pragma GCC visibility push(default)
#include "rocm_sdk/rocm_sdk.h" /* IWYU pragma: keep */
#pragma GCC visibility pop
