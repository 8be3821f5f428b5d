/* The GPU code that a file holds, and the targets of the code.
 *
 *     rsdk_device_code *code = NULL;
 *     if (rsdk_device_code_read("librocsparse.so.0", &code, &error) != RSDK_OK) { puts(rsdk_error_message(&error)); }
 *     for (size_t i = 0; i < code->target_count; i++) { puts(code->targets[i].target); }
 *     rsdk_device_code_free(code);
 *
 * Headers are read, whatever the file's size; no code is. Nothing is loaded, and nothing of ROCm is needed. */
#ifndef ROCM_SDK_DEVICE_CODE_H
#define ROCM_SDK_DEVICE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rocm_sdk/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A container of images of code. */
typedef enum rsdk_device_container {
    RSDK_CONTAINER_NONE,              /* a code object that lies there by itself */
    RSDK_CONTAINER_BUNDLE,            /* clang's offload bundle */
    RSDK_CONTAINER_COMPRESSED_BUNDLE, /* the same, compressed ("CCOB") */
    RSDK_CONTAINER_OFFLOAD_BINARY,    /* LLVM's OffloadBinary */
    RSDK_CONTAINER_KPACK,             /* an archive of kernels for libraries without code of their own */
} rsdk_device_container;

typedef enum rsdk_image_format {
    RSDK_IMAGE_UNREAD, /* the image is compressed */
    RSDK_IMAGE_EMPTY,
    RSDK_IMAGE_CODE_OBJECT, /* an AMDGPU ELF file */
    RSDK_IMAGE_BITCODE,     /* bitcode of LLVM */
    RSDK_IMAGE_SPIRV,
    RSDK_IMAGE_UNKNOWN,
} rsdk_image_format;

/* An image of code for one target. */
typedef struct rsdk_device_image {
    const char *target; /* target id by which the runtime looks for it, "gfx90a:xnack-"; "" where nothing names it */
    const char *id;     /* the image's name in the container, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"; NULL: none */
    const char *object_target; /* target id that the code object itself tells; NULL: unread, or no code object */
    rsdk_image_format format;
    unsigned version;         /* the version of the code object, 2 to 6; 0: unknown */
    unsigned generic_version; /* the version of code for a generic target; 0 for others */
    uint64_t offset;          /* bytes into the file; into the plain data where the image is compressed */
    uint64_t size;            /* bytes of the plain image */
} rsdk_device_image;

/* A container with its images, in file order. The image of a host is left out. */
typedef struct rsdk_device_bundle {
    rsdk_device_container container;
    const char *section;     /* the section of the ELF file around the bundle; NULL: none */
    const char *member;      /* the member of the static archive around the bundle; NULL: none */
    uint64_t offset, size;   /* in the file */
    uint64_t plain_size;     /* decompressed; `size` where it is not compressed */
    unsigned version;        /* the version of the compressed format, 1 to 3, or of another format that has one; 0 */
    const char *compression; /* "zlib", "zstd", NULL: none */
    const rsdk_device_image *images;
    size_t image_count;
} rsdk_device_bundle;

/* All images for one target. */
typedef struct rsdk_device_target {
    const char *target;
    uint64_t size; /* bytes of plain images */
    size_t image_count;
} rsdk_device_target;

/* A library without code of its own names where its code is (a kpack marker). */
typedef struct rsdk_kernel_reference {
    const char *name;                /* key in the archives; NULL: no reference */
    const char *const *search_paths; /* relative to the library's directory; "@GFXARCH@" stands for the target */
    size_t search_path_count;
    const uint32_t *bundles; /* the numbers of its bundles, which have keys of their own: "lib/libx.so.1#0" */
    size_t bundle_count;     /* 0: not known */
} rsdk_kernel_reference;

/* The GPU code of a file. All texts and lists are borrowed from this structure. */
typedef struct rsdk_device_code {
    const char *path;
    uint64_t size;    /* bytes of the file */
    const char *kind; /* "ELF file", "static archive", "code object", "offload bundle", "compressed offload bundle",
                         "offload binary", "kpack archive" */
    bool has_removed_code;         /* the section of code has no bytes here: a separated debug file */
    uint64_t plain_size;           /* bytes of all images, decompressed */
    uint64_t stored_size;          /* bytes of all containers, as they lie in the file */
    size_t compressed_count;       /* the number of bundles that are compressed */
    rsdk_kernel_reference kernels; /* the reference of a library without code of its own */
    const char *history;           /* the note, JSON, of a file that `rocm-sdk code` has made; NULL: no such file */
    const rsdk_device_bundle *bundles;
    size_t bundle_count;
    const rsdk_device_target *targets; /* sorted by the numbers of their names: gfx90a, gfx1030 */
    size_t target_count;
} rsdk_device_code;

/* Read which code a file holds: a library, program or object file, a static archive, a code object, a bundle,
 * compressed or not, an offload binary, a kpack archive. RSDK_BAD_ELF if the file is none of them, or damaged;
 * RSDK_IO_ERROR or RSDK_FILE_NOT_FOUND if the file cannot be read; RSDK_LOAD_FAILED if its code is compressed and the
 * library that decompresses it (libzstd.so.1, libz.so.1) is not on this system. */
rsdk_status rsdk_device_code_read(const char *path, rsdk_device_code **code, rsdk_error *error);

/* Read the same from the `size` bytes at `start` of an open file, such as a member of an archive that lies there as it
 * is. Messages and `path` call the part `name`. Offsets count from `start`. The descriptor stays the caller's. */
rsdk_status rsdk_device_code_read_part(int descriptor, uint64_t start, uint64_t size, const char *name,
                                       rsdk_device_code **code, rsdk_error *error);

void rsdk_device_code_free(rsdk_device_code *code); /* NULL is allowed */

/* Return the value as a word: "code object", "bundle", ...; "code object", "bitcode", "SPIR-V", ... */
const char *rsdk_device_container_name(rsdk_device_container container);
const char *rsdk_image_format_name(rsdk_image_format format);

#ifdef __cplusplus
}
#endif
#endif
