/* Attribute files of sysfs and procfs: small, and composed by the kernel at each read. */
#ifndef RSDK_GPU_ATTRIBUTE_H
#define RSDK_GPU_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>

/* Read the beginning of a file, at most `size` - 1 bytes, with one call, below the open `directory` (AT_FDCWD: of the
 * process). `text` always ends in a NUL. Return 0, or errno where it cannot be read. */
int rsdk_attribute_read(int directory, const char *path, char *text, size_t size, size_t *length);

/* Read the number that is the first line of a file ("0xc1" in base 16), at most `limit`; false: there is none. */
bool rsdk_attribute_read_number(const char *path, int base, unsigned limit, unsigned *number);

#endif
