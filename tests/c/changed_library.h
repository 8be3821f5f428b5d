/* A real library that a test changes byte by byte, and how the ELF reader takes it. *state of each test is the library.
 */
#ifndef TESTS_CHANGED_LIBRARY_H
#define TESTS_CHANGED_LIBRARY_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "sample_sdk.h"

enum { IMAGE_LIMIT = 1 << 17 };

/* A real library's bytes, changed by a test, written and read again. */
typedef struct image {
    unsigned char bytes[IMAGE_LIMIT];
    size_t size;
} image;

/* The site and the library are those of all tests; each starts with its own copy of the image. */
typedef struct changed_library {
    sample_site site;
    image library, changed;
    rsdk_arena arena;
    rsdk_elf_file file;
    rsdk_error error;
} changed_library;

int changed_library_make(void **state); /* set-up and teardown of a group: compiles the library */
int changed_library_remove(void **state);
int changed_library_start(void **state); /* of a test */
int changed_library_clear(void **state);

/* What the reader says of a file, and of the library as it was changed. */
rsdk_status read_path(changed_library *f, const char *path);
rsdk_status read_changed(changed_library *f);

void assert_message(const changed_library *f, const char *part);
void assert_damaged(changed_library *f, const char *part); /* the changed library is, and the message says how */

/* Where these are in the changed bytes. */
Elf64_Ehdr *header(changed_library *f);
Elf64_Phdr *segment(changed_library *f, unsigned type);
Elf64_Dyn *dynamic(changed_library *f, int64_t tag);

#endif
