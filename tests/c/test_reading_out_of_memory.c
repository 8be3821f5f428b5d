/* Out of memory while files are read: headers, device code, what covers a GPU. Every allocation fails in turn. Each
 * time the answer is RSDK_NO_MEMORY or success, and afterwards nothing is left allocated. */
#include "failing_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "elf/elf_file.h"
#include "rocm_sdk/coverage.h"
#include "rocm_sdk/device_code.h"
#include "sample_sdk.h"
#include "suite.h"

enum { PATH_SIZE = 256 };
static sample_site site;
static const char *code_path; /* of the library with device code */

/* A library with a bundle, whose code object has a note of a kernel; with a kpack marker besides. */
#define BUNDLE                                                                                                         \
    "__asm__(\".section .hip_fatbin,\\\"a\\\"\\nfat: .ascii \\\"__CLANG_OFFLOAD_BUNDLE__\\\"\\n\"\n"                   \
    "\".quad 1, image - fat, image_end - image, 31\\n.ascii \\\"hipv4-amdgcn-amd-amdhsa--gfx90a\\\"\\n\"\n"            \
    "\"image: .byte 127,69,76,70,2,1,1,64,2\\n.fill 9\\n.byte 224\\n.fill 13\\n.quad 64\\n.fill 8\\n.long "            \
    "0x53f\\n\"\n"                                                                                                     \
    "\".short 0, 56, 1, 0, 0, 0\\n.long 4, 4\\n.quad 120, 0, 0, image_end - note, 0, 4\\n\"\n"                         \
    "\"note: .long 7, 26, 32\\n.ascii \\\"AMDGPU\\\"\\n.byte 0, 0, 0x81, 0xae\\n.ascii \\\"amdhsa.kernels\\\"\\n\"\n"  \
    "\".byte 0x91, 0x81, 0xa5\\n.ascii \\\".name\\\"\\n.byte 0xa1, 107\\nimage_end:\\n\"\n"                            \
    "\".section .hipFatBinSegment,\\\"aw\\\"\\n.p2align 3\\n.long 0x48495046, 1\\n.quad fat, 0\\n\"\n"
#define MARKER                                                                                                         \
    "\".section .rocm_kpack_ref,\\\"a\\\"\\n.byte 0x82, 0xab\\n.ascii \\\"kernel_name\\\"\\n.byte 0xa1, 120, "         \
    "0xb2\\n\"\n"                                                                                                      \
    "\".ascii \\\"kpack_search_paths\\\"\\n.byte 0x91, 0xa1, 121\\n\"\n"
#define END "\".text\\n\");"

static rsdk_status read_device_code(void *context, rsdk_error *error) {
    rsdk_device_code *code = NULL;
    (void)context;
    rsdk_status status = rsdk_device_code_read(code_path, &code, error);
    REQUIRE(status != RSDK_OK || (code->target_count == 1 && strcmp(code->targets[0].target, "gfx90a") == 0 &&
                                  strcmp(code->kernels.search_paths[0], "y") == 0));
    rsdk_device_code_free(code);
    return status;
}

static rsdk_status read_coverage(void *context, rsdk_error *error) {
    static char path[PATH_SIZE];
    (void)context;
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB, site.path);
    const char *directories[] = {path}, *gpus[] = {"gfx90a", "gfx1030"};
    rsdk_coverage_options options = {.directories = directories,
                                     .directory_count = 1,
                                     .gpus = gpus,
                                     .gpu_count = 2,
                                     .kpack_path_prefix = "a:b_@GFXARCH@"};
    rsdk_coverage *coverage = NULL;
    rsdk_status status = rsdk_coverage_read(&options, &coverage, error);
    for (size_t i = 0; status == RSDK_OK && i < coverage->library_count; i++) {
        const rsdk_library_coverage *library = &coverage->libraries[i];
        bool is_bundle = strcmp(library->name, "bundle") == 0, is_marked = strcmp(library->name, "code") == 0;
        REQUIRE(!is_bundle || library->gpus[0].verdict == RSDK_COVERAGE_COMPATIBLE);
        REQUIRE(!is_bundle || library->gpus[1].lack == RSDK_LACK_PROCESSOR);
        REQUIRE(!is_bundle || library->gpus[1].tables == RSDK_KERNEL_TABLES_NONE);
        REQUIRE(!is_bundle || strstr(library->gpus[1].missing_table, "/absent.dat") != NULL);
        REQUIRE(!is_marked || library->gpus[0].lack == RSDK_LACK_ARCHIVE);
        REQUIRE(is_bundle || is_marked || library->gpus[0].verdict == RSDK_COVERAGE_NOT_NEEDED);
    }
    REQUIRE(status != RSDK_OK || coverage->library_count == 3);
    rsdk_coverage_free(coverage);
    return status;
}

static void try_all(void *context) {
    fail_each(*(const memory_user *)context, NULL, RSDK_OK, 20);
}

/* {"library": {"type": "Hardware", "rows": [...]}}, with one row that leads to a table which is not there. */
#define INDEX                                                                                                          \
    "\x81\xa7library\x82\xa4type\xa8Hardware\xa4rows\x91\x82\xa9predicate\x82\xa4type\xa6"                             \
    "AMDGPU\xa5value\x82\xa4type\xa9Processor\xa5value\xa7gfx1030\xa7library\x82\xa4type\xabPlaceholder\xa5value\xa6"  \
    "absent"

static int make_site(void **state) {
    site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libplain.so", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libcode.so", .source = BUNDLE MARKER END});
    sample_compile(&site, &(sample_library){.file = "libbundle.so", .source = BUNDLE END});
    sample_directory(&site, CORE_LIB "/bundle/library");
    sample_file(&site, CORE_LIB "/bundle/library/TensileLibrary_lazy_gfx1030.dat", INDEX);
    code_path = sample_path(&site, CORE_LIB "/libcode.so");
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

static void device_code(void **state) {
    run_in_child(try_all, &(memory_user){read_device_code});
}

static void coverage(void **state) {
    run_in_child(try_all, &(memory_user){read_coverage});
}

/* Files cut off in their header, of either class and of none: nothing is read or written behind what was read of them,
 * which AddressSanitizer sees. */
static void read_cut_off(void *context) {
    static const unsigned char classes[] = {ELFCLASSNONE, ELFCLASS32, ELFCLASS64};
    const char *path = context;
    const ptrdiff_t before = live;
    for (size_t i = 0; i < sizeof classes * (sizeof(Elf64_Ehdr) + 1); i++) {
        const char bytes[sizeof(Elf64_Ehdr)] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, (char)classes[i % sizeof classes]};
        const size_t size = i / sizeof classes;
        rsdk_arena arena = RSDK_ARENA_INIT;
        rsdk_elf_file file;
        int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        REQUIRE(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size && close(descriptor) == 0);
        REQUIRE(rsdk_elf_file_read(path, &arena, &file, NULL) == RSDK_BAD_ELF);
        rsdk_arena_clear(&arena);
    }
    REQUIRE(live == before);
}

static void cut_off_headers(void **state) {
    run_in_child(read_cut_off, (void *)(uintptr_t)sample_path(&site, "cut-off.so"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_code),
        cmocka_unit_test(coverage),
        cmocka_unit_test(cut_off_headers),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
