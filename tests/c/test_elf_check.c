/* Libraries with damaged tables: the dynamic linker must survive what the check accepts. Each mutant is a real library,
 * damaged at random where the linker reads it. If the check finds nothing, a child opens it.
 *
 * ROCM_SDK_TEST_MUTANTS says how many are tried (3000), ROCM_SDK_TEST_SEED where they begin (1).
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"
#include "elf/elf_file.h"
#include "elf/elf_machine.h"
#include "suite.h"

enum { IMAGE_LIMIT = 1 << 19, AREA_LIMIT = 32, SECONDS = 10, STYLE_COUNT = 6 };

static char directory[] = "/tmp/rocm-sdk-elf-check-XXXXXX";
static char path[64];
static unsigned char image[IMAGE_LIMIT], mutant[IMAGE_LIMIT];
static size_t image_size, mutant_size;

/* The libraries, one for each style; size 0 where the linker has not got it. */
static struct {
    unsigned char bytes[IMAGE_LIMIT];
    size_t size;
} sound[STYLE_COUNT];
static uint64_t random_state;

/* No code runs when it is opened: damage to an address could lead it anywhere. */
static const char source[] =
    "#include <stdio.h>\n"
    "__thread int local = 7; int number = 8; static int hidden; int *pointers[40] = {&number};\n"
    "int *inner[3] = {&hidden, 0, &hidden}; const char *text = \"text\";\n"
    "int get(void) { return number + local + hidden; } int one(void) { return puts(text); }\n"
    "int two(void) { return printf(\"%d\", get()); } int two_b(void) { return one() + two(); }\n";
static const char versions[] = "V_1 { global: one; }; V_2 { global: *; } V_1;";

static const char *const styles[STYLE_COUNT] = {"-Wl,--hash-style=gnu",        "-Wl,--hash-style=sysv",
                                                "-Wl,--hash-style=both",       "-Wl,-z,now -Wl,-z,relro",
                                                "-Wl,-z,pack-relative-relocs", "-Wl,--gc-sections -g"};

/* ---- files ---- */

static void write_file(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int remove_directory(void **state) {
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command); /* NOLINT(cert-env33-c) */
}

static void take_image(size_t style) {
    image_size = sound[style].size;
    memcpy(image, sound[style].bytes, image_size);
}

/* All code (which -z separate-code keeps apart from the headers) becomes "return": damage may turn a function into one
 * that the linker calls, and nothing can tell that its code was not made for it. */
static void fill_code(unsigned char *bytes) {
#if defined(__aarch64__)
    static const unsigned char instruction[] = {0xC0, 0x03, 0x5F, 0xD6};
#else
    static const unsigned char instruction[] = {0xC3};
#endif
    const ElfW(Ehdr) *header = (const void *)bytes;
    const ElfW(Phdr) *segments = (const void *)(bytes + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++) {
        for (size_t j = 0; segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) && j < segments[i].p_filesz;
             j++) {
            bytes[segments[i].p_offset + j] = instruction[j % sizeof instruction];
        }
    }
}

static int compile(size_t style) {
    char command[512];
    (void)snprintf(command, sizeof command,
                   "cd %s && cc -shared -fPIC -O1 -nostartfiles -Wl,-z,separate-code -Wl,--version-script=x.map %s "
                   "-o plugin.so x.c 2>said",
                   directory, styles[style]);
    if (system(command) != 0) { /* NOLINT(cert-env33-c) */
        return 0;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return -1;
    }
    sound[style].size = fread(sound[style].bytes, 1, IMAGE_LIMIT, file);
    fill_code(sound[style].bytes);
    return fclose(file);
}

static int compile_all(void **state) {
    char name[96];
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/plugin.so", directory);
    (void)snprintf(name, sizeof name, "%s/x.c", directory);
    write_file(name, source, sizeof source - 1);
    (void)snprintf(name, sizeof name, "%s/x.map", directory);
    write_file(name, versions, sizeof versions - 1);
    for (size_t i = 0; i < STYLE_COUNT; i++) {
        if (compile(i) != 0) {
            return -1;
        }
    }
    return 0;
}

static rsdk_status check(size_t limit, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file file;
    rsdk_status status = rsdk_elf_file_read_checked(path, limit, NULL, &arena, &file, error);
    if (status == RSDK_OK) {
        status = rsdk_elf_machine_check(&file, error); /* the loader asks that, too */
    }
    rsdk_arena_clear(&arena);
    return status;
}

/* What becomes of a child that opens the file: 0 where it goes on, whether it was loaded or refused. */
static int open_in_child(void) {
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0}, memory = {1UL << 32, 1UL << 32};
        (void)setrlimit(RLIMIT_CORE, &none);
        if (!UNDER_ADDRESS_SANITIZER) { /* which has terabytes reserved */
            (void)setrlimit(RLIMIT_AS, &memory);
        }
        (void)freopen("/dev/null", "w", stderr);                                 /* what an assertion says */
        static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}; /* cmocka has handlers for them */
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
            (void)signal(signals[i], SIG_DFL);
        }
        (void)alarm(SECONDS);
        void *handle = dlopen(path, RTLD_NOW);
        if (handle != NULL) {
            (void)dlsym(handle, "no_such_symbol");
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* ---- damage ---- */

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return random_state >> 33;
}

typedef struct area {
    size_t offset, size;
} area;

static size_t file_offset(ElfW(Addr) address) {
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Phdr) *segments = (const void *)(image + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz) {
            return segments[i].p_offset + (address - segments[i].p_vaddr);
        }
    }
    return 0;
}

/* The areas that the linker reads: headers, the dynamic section, and each table that its entries point to. */
static size_t find_areas(area *areas) {
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Phdr) *segments = (const void *)(image + header->e_phoff);
    size_t count = 0;
    areas[count++] = (area){header->e_phoff, (size_t)header->e_phnum * sizeof *segments};
    for (size_t i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type != PT_DYNAMIC) {
            continue;
        }
        areas[count++] = (area){segments[i].p_offset, segments[i].p_filesz};
        const ElfW(Dyn) *entry = (const void *)(image + segments[i].p_offset);
        for (; entry->d_tag != DT_NULL && count < AREA_LIMIT; entry++) {
            static const ElfW(Sxword) tags[] = {DT_HASH,   DT_GNU_HASH, DT_SYMTAB,  DT_STRTAB, DT_RELA,
                                                DT_JMPREL, DT_VERSYM,   DT_VERNEED, DT_VERDEF, 36 /* DT_RELR */};
            for (size_t j = 0; j < sizeof tags / sizeof *tags; j++) {
                size_t offset = entry->d_tag == tags[j] ? file_offset(entry->d_un.d_ptr) : 0;
                if (offset != 0) {
                    areas[count++] = (area){offset, 160};
                }
            }
        }
    }
    return count;
}

static void put(size_t offset, const void *bytes, size_t size) {
    if (offset <= mutant_size && size <= mutant_size - offset) {
        memcpy(mutant + offset, bytes, size);
    }
}

/* One damage: a word, a half word, a byte or a stretch of an area, or a shorter file. */
static void damage(const area *areas, size_t count) {
    const area *a = &areas[next_random() % count];
    size_t offset = a->offset + next_random() % a->size;
    uint64_t before = 0;
    memcpy(&before, mutant + (offset & ~(size_t)7), sizeof before);
    const uint64_t values[] = {0,          1,          before + 1,    before - 1,          before + 8, before ^ 0x10000,
                               UINT64_MAX, 1ULL << 63, image_size,    image_size - 1,      UINT32_MAX, UINT16_MAX,
                               before * 2, 4096,       next_random(), next_random() << 32, 0x7FFF,     before << 1};
    uint64_t value = values[next_random() % (sizeof values / sizeof *values)];
    switch (next_random() % 8) {
    case 0:
    case 1:
    case 2:
        put(offset & ~(size_t)7, &value, 8);
        break;
    case 3:
    case 4:
        put(offset & ~(size_t)3, &value, 4);
        break;
    case 5:
        put(offset & ~(size_t)1, &value, 2);
        break;
    case 6:
        for (size_t i = 0, length = next_random() % 200; i < length; i++) {
            unsigned char byte = (unsigned char)next_random();
            put(offset + i, &byte, 1);
        }
        break;
    default:
        mutant_size = next_random() % (image_size + 1);
        break;
    }
}

static unsigned long number_from(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

/* ---- tests ---- */

static void sound_libraries(void **state) {
    for (size_t i = 0; i < STYLE_COUNT; i++) {
        rsdk_error error = RSDK_ERROR_INIT;
        bool is_new = strstr(styles[i], "pack-relative") != NULL; /* newer than 2022: not every linker has it */
        assert_true(is_new || sound[i].size > 0);
        take_image(i);
        write_file(path, image, image_size);
        if (image_size > 0 && check(SIZE_MAX, &error) != RSDK_OK) {
            fail_msg("%s: %s", styles[i], rsdk_error_message(&error));
        }
    }
}

/* True where the mutant with this seed is accepted. */
static bool try_mutant(unsigned long seed) {
    rsdk_error error = RSDK_ERROR_INIT;
    area areas[AREA_LIMIT + 16];
    take_image(seed % STYLE_COUNT);
    random_state = seed;
    (void)next_random();
    memcpy(mutant, image, image_size);
    mutant_size = image_size;
    size_t count = find_areas(areas);
    for (size_t i = 0, damages = 1 + next_random() % 2; i < damages; i++) {
        damage(areas, count);
    }
    write_file(path, mutant, mutant_size);
    if (check(SIZE_MAX, &error) != RSDK_OK) {
        assert_int_equal(error.status, RSDK_BAD_ELF);
        rsdk_error_clear(&error);
        return false;
    }
    int status = open_in_child();
    if (status != 0) {
        fail_msg("ROCM_SDK_TEST_MUTANTS=1 ROCM_SDK_TEST_SEED=%lu: the child ended with status %#x", seed,
                 (unsigned)status);
    }
    return true;
}

static void what_is_accepted_is_survived(void **state) {
    skip_under_thread_sanitizer("it has terabytes reserved, and handles the signals that tell");
    unsigned long mutants = number_from("ROCM_SDK_TEST_MUTANTS", 3000), seed = number_from("ROCM_SDK_TEST_SEED", 1);
    unsigned long accepted = 0, tried = 0;
    for (unsigned long i = 0; i < mutants; i++) {
        if (sound[(seed + i) % STYLE_COUNT].size > 0) {
            tried++;
            accepted += try_mutant(seed + i);
        }
    }
    print_message("of %lu damaged libraries %lu were opened\n", tried, accepted);
    assert_true(mutants < 1000 || (accepted > tried / 20 && tried - accepted > tried / 20));
}

static ElfW(Addr) entry_of(ElfW(Sxword) tag) {
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Phdr) *segments = (const void *)(image + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++) {
        const ElfW(Dyn) *entry = (const void *)(image + segments[i].p_offset);
        for (; segments[i].p_type == PT_DYNAMIC && entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == tag) {
                return entry->d_un.d_ptr;
            }
        }
    }
    return 0;
}

/* Relocations on both sides of the list, and in it: of these alone it counts where they lead. */
static void constructors_lead_to_code(void **state) {
    static const char constructors[] = "static int hidden; int *inner[5] = {&hidden, &hidden, 0, &hidden, &hidden};\n"
                                       "__attribute__((constructor)) static void begin(void) { hidden = 1; }\n"
                                       "__attribute__((destructor)) static void end(void) { hidden = 2; }\n";
    char name[96], command[256];
    size_t refused = 0, accepted = 0;
    (void)snprintf(name, sizeof name, "%s/c.c", directory);
    write_file(name, constructors, sizeof constructors - 1);
    (void)snprintf(command, sizeof command, "cc -shared -fPIC %s -o %s", name, path);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    image_size = fread(image, 1, IMAGE_LIMIT, file);
    assert_int_equal(fclose(file), 0);
    const ElfW(Addr) list = entry_of(DT_INIT_ARRAY), size = entry_of(DT_INIT_ARRAYSZ);
    ElfW(Rela) *relocations = (void *)(image + file_offset(entry_of(DT_RELA)));
    for (size_t i = 0; i < entry_of(DT_RELACOUNT); i++) {
        rsdk_error error = RSDK_ERROR_INIT;
        const ElfW(Sxword) before = relocations[i].r_addend;
        const bool is_in_list = relocations[i].r_offset >= list && relocations[i].r_offset < list + size;
        relocations[i].r_addend = 0; /* where the header is */
        write_file(path, image, image_size);
        relocations[i].r_addend = before;
        assert_int_equal(check(SIZE_MAX, &error), is_in_list ? RSDK_BAD_ELF : RSDK_OK);
        rsdk_error_clear(&error);
        refused += is_in_list;
        accepted += !is_in_list;
    }
    assert_true(refused >= 2 && accepted >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sound_libraries), cmocka_unit_test(constructors_lead_to_code),
                                       cmocka_unit_test(what_is_accepted_is_survived)};
    return cmocka_run_group_tests(tests, compile_all, remove_directory);
}
