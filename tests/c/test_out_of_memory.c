/* Out of memory: every allocation of the library fails in turn. Each time the answer is RSDK_NO_MEMORY or success, and
 * afterwards nothing is left allocated. The linker puts the functions below in place of the allocator's (--wrap, see
 * the Makefile), and the arena is compiled anew with a block size of 1, so that every piece is an allocation of its
 * own. */
#define RSDK_ARENA_BLOCK_SIZE 1
#include "base/arena.c" /* NOLINT(bugprone-suspicious-include) */

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "child_process.h"
#include "device_code/kernels.h"
#include "elf/elf_file.h"
#include "loader/host_check.h"
#include "loader/linker_search.h"
#include "rocm_sdk/bindings.h"
#include "rocm_sdk/coverage.h"
#include "rocm_sdk/device_code.h"
#include "sample_sdk.h"

/* ---- the allocator that fails ---- */

static size_t allocations, failing; /* number `failing` fails; 0: none */
static ptrdiff_t live;              /* blocks that are not freed yet */

static bool may_allocate(void) {
    if (failing != 0 && ++allocations == failing) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

static void *count(void *block) {
    live += block != NULL;
    return block;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
char *__real_strdup(const char *text);
char *__real_getcwd(char *buffer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);
char *__wrap_getcwd(char *buffer, size_t size);
int __real_vasprintf(char **text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

void *__wrap_malloc(size_t size) {
    return may_allocate() ? count(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t number, size_t size) {
    return may_allocate() ? count(__real_calloc(number, size)) : NULL;
}

void *__wrap_realloc(void *block, size_t size) {
    if (!may_allocate()) {
        return NULL;
    }
    live -= block != NULL;
    return count(__real_realloc(block, size));
}

void __wrap_free(void *block) {
    live -= block != NULL;
    __real_free(block);
}

char *__wrap_strdup(const char *text) {
    return may_allocate() ? count(__real_strdup(text)) : NULL;
}

char *__wrap_getcwd(char *buffer, size_t size) {
    return may_allocate() ? count(__real_getcwd(buffer, size)) : NULL;
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments) {
    if (!may_allocate()) {
        return -1;
    }
    int length = __real_vasprintf(text, format, arguments);
    live += length >= 0;
    return length;
}

/* ---- what is tried ---- */

enum { PATH_SIZE = 256 };
static sample_site site;
static const char *code_path; /* of the library with device code */

typedef rsdk_status (*work)(rsdk_sdk *sdk, rsdk_error *error);

static const char *const names[] = {"roctx64", "amdhip64", "rocdxg"};
static const rsdk_load_options everything = {
    .shortnames = names, .shortname_count = 3, .is_global = true, .unversioned_names = RSDK_UNVERSIONED_ALL};

static rsdk_status make_plan(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_plan *plan = NULL;
    rsdk_status status = rsdk_plan_new(sdk, &everything, &plan, error);
    rsdk_plan_free(plan);
    return status;
}

static rsdk_status foresee_bindings(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_bindings *bindings = NULL;
    rsdk_status status = rsdk_bindings_read(sdk, &everything, NULL, 0, &bindings, error);
    rsdk_bindings_free(bindings);
    return status;
}

static rsdk_status read_bindings(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_bindings *bindings = NULL;
    (void)sdk;
    rsdk_status status = rsdk_bindings_read_process(0, &bindings, error);
    rsdk_bindings_free(bindings);
    return status;
}

static rsdk_status preload(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_loaded *loaded = NULL;
    rsdk_status status = rsdk_loader_preload(sdk, &everything, &loaded, error);
    rsdk_loaded_free(loaded);
    return status;
}

static rsdk_status fail_to_preload(rsdk_sdk *sdk, rsdk_error *error) {
    static const char *const broken[] = {"roctx64", "rocm_smi64"}; /* the second needs what is nowhere */
    rsdk_loaded *loaded = NULL;
    rsdk_status status =
        rsdk_loader_preload(sdk, &(rsdk_load_options){.shortnames = broken, .shortname_count = 2}, &loaded, error);
    rsdk_loaded_free(loaded);
    return status;
}

/* Two libraries that call the same functions, and the user's wishes. */
static rsdk_status make_guarded_plan(rsdk_sdk *sdk, rsdk_error *error) {
    static const char *const both[] = {"rocm_smi64", "amdhip64", "amd_smi"};
    const rsdk_load_options options = {.shortnames = both,
                                       .shortname_count = 3,
                                       .is_global = true,
                                       .is_always_global = true,
                                       .isolate = "roctx64, amd_smi:deepbind"};
    rsdk_plan *plan = NULL;
    rsdk_status status = rsdk_plan_new(sdk, &options, &plan, error);
    REQUIRE(status != RSDK_OK || (rsdk_plan_step_count(plan) == 5 + 1 && !rsdk_plan_step(plan, 0)->is_global));
    rsdk_plan_free(plan);
    return status;
}

static rsdk_status wish_nonsense(rsdk_sdk *sdk, rsdk_error *error) {
    const rsdk_load_options options = {.shortnames = names, .shortname_count = 3, .isolate = "amdhip64"};
    rsdk_plan *plan = NULL;
    return rsdk_plan_new(sdk, &options, &plan, error);
}

/* A soft limit of this process, and what it was. */
static rlim_t limit_to(__rlimit_resource_t resource, rlim_t value) {
    struct rlimit limit;
    REQUIRE(getrlimit(resource, &limit) == 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = value;
    REQUIRE(setrlimit(resource, &limit) == 0);
    return before;
}

/* No memory file can be written, so the members are opened one by one: eight, as many as a list has room for at first.
 * What is read behind them is seen by AddressSanitizer. */
static rsdk_status preload_one_by_one(rsdk_sdk *sdk, rsdk_error *error) {
    static const char *const chain[] = {"amd_smi"};
    rsdk_loaded *loaded = NULL;
    REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    rlim_t before = limit_to(RLIMIT_FSIZE, 0);
    rsdk_status status =
        rsdk_loader_preload(sdk, &(rsdk_load_options){.shortnames = chain, .shortname_count = 1}, &loaded, error);
    (void)limit_to(RLIMIT_FSIZE, before);
    rsdk_loaded_free(loaded);
    return status;
}

/* ld.so.cache cannot be opened, and the search does without. */
static rsdk_status search_without_cache(rsdk_sdk *sdk, rsdk_error *error) {
    const rsdk_link_map map = {0};
    const rsdk_load_chain alone = {0};
    rsdk_linker_search search;
    rsdk_arena arena = RSDK_ARENA_INIT;
    const char *path = NULL;
    (void)sdk;
    rsdk_status status = rsdk_linker_search_init(&arena, &map, &search, error);
    if (status == RSDK_OK) {
        rlim_t before = limit_to(RLIMIT_NOFILE, 0);
        status = rsdk_linker_search_find(&search, &alone, "libnowhere.so.9", &path, error);
        (void)limit_to(RLIMIT_NOFILE, before);
        REQUIRE(path == NULL && (status != RSDK_OK || search.cache == NULL));
    }
    rsdk_arena_clear(&arena);
    return status;
}

static rsdk_status locate_unknown(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_location location;
    return rsdk_loader_locate(sdk, "hipblass", &location, error);
}

static rsdk_status locate_uninstalled(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_location location;
    return rsdk_loader_locate(sdk, "rccl", &location, error);
}

static rsdk_status locate_missing(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_location location;
    return rsdk_loader_locate(sdk, "hipfile", &location, error);
}

/* ---- problems ---- */

/* A problem that is made is complete, and the same as with enough memory. */
static rsdk_status explain(rsdk_sdk *sdk, const rsdk_error *reason, const char *code, const char *fix,
                           rsdk_error *error) {
    static const rsdk_installation known = {.installer = "conda", .environment = "/an env", .note = "it is root's"};
    rsdk_problem *problem = NULL;
    rsdk_status status = rsdk_problem_of_error(reason, sdk, &known, &problem);
    REQUIRE((status == RSDK_OK) == (problem != NULL));
    if (status != RSDK_OK) {
        REQUIRE(status == RSDK_NO_MEMORY);
        return rsdk_fail_no_memory(error);
    }
    REQUIRE(problem->code != NULL && problem->title != NULL && problem->cause != NULL && problem->fix != NULL);
    REQUIRE(problem->path != NULL);
    REQUIRE_CONTAINS(problem->code, code);
    REQUIRE_CONTAINS(problem->fix, fix);
    for (size_t i = 0; i < problem->fact_count; i++) {
        REQUIRE(problem->facts[i].name != NULL && problem->facts[i].value != NULL);
    }
    rsdk_problem_free(problem);
    return RSDK_OK;
}

static rsdk_status explain_refusal(rsdk_sdk *sdk, const char *library, rsdk_fact *said, const char *code,
                                   const char *fix, rsdk_error *error) {
    static char path[PATH_SIZE], message[] = "it did not load";
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB "/%s", site.path, library);
    const rsdk_error reason = {.status = RSDK_LOAD_FAILED,
                               .code = RSDK_E_LIB_001,
                               .message = message,
                               .path = path,
                               .facts = said,
                               .fact_count = 1};
    return explain(sdk, &reason, code, fix, error);
}

static rsdk_status explain_load_failure(rsdk_sdk *sdk, rsdk_error *error) {
    static rsdk_fact said = {"dlerror", "libnowhere.so.1: cannot open shared object file: No such file or directory"};
    return explain_refusal(sdk, "librocm_smi64.so.7", &said, "E-LIB-002", "libnowhere.so.1", error);
}

/* The library that is not there is one of the catalog, whose package is installed. */
static rsdk_status explain_load_failure_of_core(rsdk_sdk *sdk, rsdk_error *error) {
    static rsdk_fact said = {"dlerror", "libhsa-runtime64.so.1: cannot open shared object file: No such file"};
    return explain_refusal(sdk, "libroctx64.so.4", &said, "E-FILE-001", " rocm-sdk-core=7.10.0", error);
}

static rsdk_status explain_missing_library(rsdk_sdk *sdk, rsdk_error *error) {
    static char path[PATH_SIZE];
    static rsdk_fact facts[] = {{"shortname", "hipfile"}, {"pattern", "libhipfile.so*"}};
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB, site.path);
    const rsdk_error reason = {.status = RSDK_FILE_NOT_FOUND, .path = path, .facts = facts, .fact_count = 2};
    return explain(sdk, &reason, "E-FILE-001", " rocm-sdk-core=7.10.0  # it is root's", error);
}

static rsdk_status explain_damaged_file(rsdk_sdk *sdk, rsdk_error *error) {
    static char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/" CORE_LIB "/two\nlines.so", site.path);
    const rsdk_error reason = {.status = RSDK_BAD_ELF, .path = path};
    return explain(sdk, &reason, "E-LIB-006", " rocm-sdk-core=7.10.0  # it is root's", error);
}

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

static rsdk_status read_device_code(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_device_code *code = NULL;
    (void)sdk;
    rsdk_status status = rsdk_device_code_read(code_path, &code, error);
    REQUIRE(status != RSDK_OK || (code->target_count == 1 && strcmp(code->targets[0].target, "gfx90a") == 0 &&
                                  strcmp(code->kernels.search_paths[0], "y") == 0));
    rsdk_device_code_free(code);
    return status;
}

static rsdk_status read_kernels(rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_kernel_reader reader;
    bool found = false;
    (void)sdk;
    rsdk_status status = rsdk_kernels_open(&reader, code_path, -1, error);
    status = status == RSDK_OK ? rsdk_kernels_next(&reader, &found, error) : status;
    REQUIRE(status != RSDK_OK || (found && reader.kernels.count == 1 && *reader.kernels.items[0].name == 'k'));
    rsdk_kernels_close(&reader);
    return status;
}

static rsdk_status read_coverage(rsdk_sdk *sdk, rsdk_error *error) {
    static char path[PATH_SIZE];
    (void)sdk;
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
    REQUIRE(status != RSDK_OK || coverage->library_count > 10);
    rsdk_coverage_free(coverage);
    return status;
}

/* Of a library whose needs are there, and of one that lacks something. */
static rsdk_status check_host(rsdk_sdk *sdk, rsdk_error *error) {
    static char paths[2][PATH_SIZE];
    (void)sdk;
    (void)snprintf(paths[0], sizeof paths[0], "%s/" CORE_LIB "/libamdhip64.so.7", site.path);
    (void)snprintf(paths[1], sizeof paths[1], "%s/" CORE_LIB "/librocm_smi64.so.7", site.path);
    const char *const files[] = {paths[0], paths[1]};
    const rsdk_host_check check = {files, 2, files, 2};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_host_files result = {0};
    rsdk_status status = rsdk_host_check_run(&check, &arena, &result, error);
    REQUIRE(status != RSDK_OK || result.list.count == 2);
    rsdk_arena_clear(&arena);
    return status;
}

/* Another SDK, by its directory; and one that is not there, which is looked for in and above the directory. */
static rsdk_status open_root(rsdk_sdk *sdk, rsdk_error *error) {
    (void)sdk;
    rsdk_sdk *other = NULL;
    rsdk_status status = rsdk_sdk_open(&(rsdk_sdk_options){.root = site.path}, &other, error);
    rsdk_sdk_free(other);
    return status;
}

static const char *part_of_root;

static rsdk_status open_part_of_root(rsdk_sdk *sdk, rsdk_error *error) {
    (void)sdk;
    rsdk_sdk *other = NULL;
    return rsdk_sdk_open(&(rsdk_sdk_options){.root = part_of_root}, &other, error);
}

/* One attempt with allocation number `number` failing; returns whether there was such an allocation. */
static bool attempt(work body, size_t number, rsdk_status wanted) {
    const char *search_path[] = {"", site.path};
    rsdk_sdk_options options = {.search_path = search_path, .search_path_count = 2};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_sdk *sdk = NULL;
    const ptrdiff_t before = live;
    allocations = 0;
    failing = number;
    rsdk_status status = rsdk_sdk_open(&options, &sdk, &error);
    if (status == RSDK_OK) {
        status = body(sdk, &error);
    }
    bool has_failed = allocations >= failing;
    failing = 0;
    if (status != wanted && !(has_failed && status == RSDK_NO_MEMORY)) {
        (void)fprintf(stderr, "allocation %zu: status %d, %s\n", number, status, rsdk_error_message(&error));
        _exit(1);
    }
    REQUIRE(error.status == (status == RSDK_OK ? RSDK_OK : status));
    rsdk_error_clear(&error);
    rsdk_sdk_free(sdk);
    if (live != before) {
        (void)fprintf(stderr, "allocation %zu: %td blocks are left\n", number, live - before);
        _exit(1);
    }
    return has_failed;
}

typedef struct series {
    work body;
    rsdk_status wanted;
} series;

static void try_all(void *context) {
    const series *s = context;
    size_t number = 1;
    while (attempt(s->body, number, s->wanted)) {
        number++;
    }
    REQUIRE(number > 20); /* something was tried */
}

#define CALLS_ITSELF "int rsmi_init(void) { return 1; } int ask(void) { return rsmi_init() + 1; }"

/* {"library": {"type": "Hardware", "rows": [...]}}, with one row that leads to a table which is not there. */
#define INDEX                                                                                                          \
    "\x81\xa7library\x82\xa4type\xa8Hardware\xa4rows\x91\x82\xa9predicate\x82\xa4type\xa6"                             \
    "AMDGPU\xa5value\x82\xa4type\xa9Processor\xa5value\xa7gfx1030\xa7library\x82\xa4type\xabPlaceholder\xa5value\xa6"  \
    "absent"

static int make_site(void **state) {
    (void)state;
    site = sample_site_new();
    sample_dist_info(&site);
    sample_directory(&site, "rocm_sdk_core-7.10.0.dist-info");
    sample_file(&site, "rocm_sdk_core-7.10.0.dist-info/RECORD",
                CORE_LIB "/libhipfile.so.1,,\n\"" CORE_LIB "/two\nlines.so\",,\n");
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libnowhere.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libamd_comgr.so.3", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libcode.so", .source = BUNDLE MARKER END});
    sample_compile(&site, &(sample_library){.file = "libbundle.so", .source = BUNDLE END});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(&site, &(sample_library){.file = "libamdhip64.so.7", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(
        &site,
        &(sample_library){.file = "librocm_smi64.so.7", .source = CALLS_ITSELF, .needs = OUTSIDE "/libnowhere.so.1"});
    for (char name[] = "libchain1.so.1", needs[PATH_SIZE] = ""; name[8] <= '7'; name[8]++) {
        sample_compile(&site, &(sample_library){.file = name, .source = "", .needs = needs[0] != '\0' ? needs : NULL});
        (void)snprintf(needs, sizeof needs, CORE_LIB "/%s", name);
    }
    sample_compile(&site, &(sample_library){
                              .file = "libamd_smi.so.26", .source = CALLS_ITSELF, .needs = CORE_LIB "/libchain7.so.1"});
    sample_directory(&site, CORE_LIB "/bundle/library");
    sample_file(&site, CORE_LIB "/bundle/library/TensileLibrary_lazy_gfx1030.dat", INDEX);
    code_path = sample_path(&site, CORE_LIB "/libcode.so");
    return unlink(sample_path(&site, OUTSIDE "/libnowhere.so.1"));
}

static int remove_site(void **state) {
    (void)state;
    sample_site_remove(&site);
    return 0;
}

static void planning(void **state) {
    (void)state;
    run_in_child(try_all, &(series){make_plan, RSDK_OK});
}

static void bindings(void **state) {
    (void)state;
    run_in_child(try_all, &(series){foresee_bindings, RSDK_OK});
    run_in_child(try_all, &(series){read_bindings, RSDK_OK});
}

static void planning_with_the_guard(void **state) {
    (void)state;
    run_in_child(try_all, &(series){make_guarded_plan, RSDK_OK});
    run_in_child(try_all, &(series){wish_nonsense, RSDK_BAD_ARGUMENT});
}

static void roots(void **state) {
    (void)state;
    run_in_child(try_all, &(series){open_root, RSDK_OK});
    part_of_root = sample_path(&site, CORE_LIB);
    run_in_child(try_all, &(series){open_part_of_root, RSDK_BAD_ARGUMENT});
}

static void device_code(void **state) {
    (void)state;
    run_in_child(try_all, &(series){read_device_code, RSDK_OK});
    run_in_child(try_all, &(series){read_kernels, RSDK_OK});
}

static void coverage(void **state) {
    (void)state;
    run_in_child(try_all, &(series){read_coverage, RSDK_OK});
}

static void host_check(void **state) {
    (void)state;
    run_in_child(try_all, &(series){check_host, RSDK_OK});
}

static void search(void **state) {
    (void)state;
    run_in_child(try_all, &(series){search_without_cache, RSDK_OK});
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
    (void)state;
    run_in_child(read_cut_off, (void *)(uintptr_t)sample_path(&site, "cut-off.so"));
}

static void errors(void **state) {
    (void)state;
    run_in_child(try_all, &(series){locate_unknown, RSDK_UNKNOWN_LIBRARY});
    run_in_child(try_all, &(series){locate_uninstalled, RSDK_PACKAGE_NOT_INSTALLED});
    run_in_child(try_all, &(series){locate_missing, RSDK_FILE_NOT_FOUND});
}

/* Every attempt in a process of its own: what one has loaded would be there for the next. */
static void preload_alone(work body, rsdk_status wanted) {
    for (size_t number = 1;; number++) {
        int status = 0;
        (void)fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(attempt(body, number, wanted) ? 0 : 100);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 100) {
            assert_true(number > 100);
            return;
        }
        if (status != 0) {
            fail_msg("allocation %zu: status %d", number, status);
        }
    }
}

static void problems(void **state) {
    (void)state;
    run_in_child(try_all, &(series){explain_load_failure, RSDK_OK});
    run_in_child(try_all, &(series){explain_load_failure_of_core, RSDK_OK});
    run_in_child(try_all, &(series){explain_missing_library, RSDK_OK});
    run_in_child(try_all, &(series){explain_damaged_file, RSDK_OK});
}

static void loading(void **state) {
    (void)state;
    preload_alone(preload, RSDK_OK);
}

static void loading_one_by_one(void **state) {
    (void)state;
    preload_alone(preload_one_by_one, RSDK_OK);
}

static void failed_loading(void **state) {
    (void)state;
    preload_alone(fail_to_preload, RSDK_LOAD_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings),       cmocka_unit_test(planning),
        cmocka_unit_test(device_code),    cmocka_unit_test(coverage),
        cmocka_unit_test(search),         cmocka_unit_test(cut_off_headers),
        cmocka_unit_test(errors),         cmocka_unit_test(problems),
        cmocka_unit_test(loading),        cmocka_unit_test(loading_one_by_one),
        cmocka_unit_test(failed_loading), cmocka_unit_test(planning_with_the_guard),
        cmocka_unit_test(host_check),     cmocka_unit_test(roots),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
