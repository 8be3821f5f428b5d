/* The kernels of a code object, and of the same one with each byte changed and each way to cut it off. */
#include "device_code/kernels.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

#define METADATA                                                                                                       \
    "\x82\xa1v\xca\x3f\xc0\0\0\xae"                                                                                    \
    "amdhsa.kernels\x92\x82\xa5.name\xa1k\xa1x\x93\xff\xc4\1b\xc3\x80"

/* A code object for gfx1030 with a segment of notes: of another owner, with YAML, with msgpack. */
typedef struct code_object {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Nhdr other;
    char other_text[8];
    Elf64_Nhdr yaml;
    char yaml_text[16];
    Elf64_Nhdr message;
    char message_text[8 + sizeof METADATA]; /* with a NUL, which is not part of the object */
} code_object;

enum { SIZE = offsetof(code_object, message_text) + 8 + sizeof METADATA - 1 };

static const code_object object = {
    .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 2},
               .e_type = ET_DYN,
               .e_machine = 224,
               .e_phoff = offsetof(code_object, segment),
               .e_flags = 0x36,
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1},
    .segment = {.p_type = PT_NOTE,
                .p_offset = offsetof(code_object, other),
                .p_filesz = SIZE - offsetof(code_object, other),
                .p_align = 4},
    .other = {.n_namesz = 1, .n_descsz = 1, .n_type = 32},
    .yaml = {.n_namesz = 4, .n_descsz = 12, .n_type = 10},
    .yaml_text = "AMD\0  - Name:y\n",
    .message = {.n_namesz = 7, .n_descsz = sizeof METADATA - 1, .n_type = 32},
    .message_text = "AMDGPU\0\0" METADATA,
};

typedef struct fixture {
    unsigned char bytes[SIZE];
    int descriptor;
    char path[64];
    size_t count; /* of kernels */
    char names[8];
} fixture;

static int make(void **state) {
    static fixture f;
    memcpy(f.bytes, &object, SIZE);
    f.descriptor = memfd_create("object", MFD_CLOEXEC);
    (void)snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
    *state = &f;
    return f.descriptor < 0;
}

static int clear(void **state) {
    return close(((fixture *)*state)->descriptor);
}

static rsdk_status read_file(fixture *f, size_t size, rsdk_error *error) {
    rsdk_kernel_reader reader;
    bool found = true;
    assert_int_equal(ftruncate(f->descriptor, 0), 0);
    assert_int_equal(pwrite(f->descriptor, f->bytes, size, 0), size);
    rsdk_status status = rsdk_kernels_open(&reader, f->path, -1, error);
    f->count = 0;
    while (status == RSDK_OK && found) {
        status = rsdk_kernels_next(&reader, &found, error);
        for (size_t i = 0; status == RSDK_OK && i < reader.kernels.count && f->count < sizeof f->names; i++) {
            const rsdk_kernel *kernel = &reader.kernels.items[i];
            f->names[f->count++] = kernel->name_size > 0 ? *kernel->name : ' ';
        }
    }
    rsdk_kernels_close(&reader);
    return status;
}

static void an_object(void **state) {
    fixture *f = *state;
    assert_int_equal(read_file(f, SIZE, NULL), RSDK_OK);
    assert_int_equal(f->count, 2);
    assert_memory_equal(f->names, "yk", 2);
}

static void objects_that_are_cut_off(void **state) {
    fixture *f = *state;
    for (size_t size = 0; size < SIZE; size++) {
        rsdk_error error = RSDK_ERROR_INIT;
        assert_int_equal(read_file(f, size, &error), RSDK_BAD_ELF);
        assert_non_null(strstr(error.message, f->path));
        rsdk_error_clear(&error);
    }
}

static void changed_bytes(void **state) {
    fixture *f = *state;
    static const unsigned char changes[] = {0x01, 0x80, 0xff, 0x5f};
    for (size_t i = 0; i < SIZE * sizeof changes; i++) {
        rsdk_error error = RSDK_ERROR_INIT;
        f->bytes[i / sizeof changes] ^= changes[i % sizeof changes];
        rsdk_status status = read_file(f, SIZE, &error);
        assert_true(status == RSDK_OK || (status == RSDK_BAD_ELF && strstr(error.message, f->path) != NULL));
        rsdk_error_clear(&error);
        f->bytes[i / sizeof changes] ^= changes[i % sizeof changes];
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_object), cmocka_unit_test(objects_that_are_cut_off),
                                       cmocka_unit_test(changed_bytes)};
    return cmocka_run_group_tests(tests, make, clear);
}
