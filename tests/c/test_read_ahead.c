/* Reading ahead: a list that was recorded is followed, and one that must not be is not. Whether pages were read is
 * asked of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "child_process.h"
#include "elf/elf_ahead.h"
#include "elf/elf_file.h"
#include "loader/read_ahead/next_files.h"
#include "loader/read_ahead/page_list.h"
#include "sample_loading.h"
#include "suite.h"

#define LIST    CORE_LIB "/" RSDK_PAGE_LIST_NAME
#define LIBRARY CORE_LIB "/libroctx64.so.4"
#define WRITTEN CORE_LIB "/librocm_smi64.so.7" /* with a table that relocations write to */
#define VARYING CORE_LIB "/libamd_comgr.so.3"  /* with variables, of which none needs a relocation */

enum { DATA_SIZE = 24 << 20 }; /* more than the kernel reads around a page that is touched */

static sample_site site;
static char lines[16384]; /* what the last load has reported */

static void log_line(void *context, const char *line) {
    (void)context;
    (void)strcat(lines, line);
    (void)strcat(lines, "\n");
}

static void load(const char *name, rsdk_read_ahead_wish wish) {
    const rsdk_load_options options = {
        .shortnames = &name, .shortname_count = 1, .report = log_line, .read_ahead = wish};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    rsdk_sdk *sdk = sample_open(&site);
    lines[0] = '\0';
    if (rsdk_loader_preload(sdk, &options, &loaded, &error) != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        _exit(1);
    }
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

/* While it loads, the thread has the time to ask for all, if it is to. */
#define TAKES_TIME                                                                                                     \
    "#include <stdlib.h>\n#include <unistd.h>\n"                                                                       \
    "__attribute__((constructor)) static void wait(void) { if (getenv(\"TAKES_TIME\")) { usleep(500000); } }\n"

/* A library with much data that nobody touches, which needs another. */
static int make_site(void **state) {
    site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libdeep.so.1", .source = "", .options = "-Wl,--build-id"});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4",
                                            .source = TAKES_TIME "const char data[24 << 20] = {1};",
                                            .needs = CORE_LIB "/libdeep.so.1",
                                            .options = "-Wl,--build-id"});
    sample_compile(&site, &(sample_library){.file = "librocm_smi64.so.7",
                                            .source = "static int x; int *const data[3 << 20] = {&x};",
                                            .options = "-Wl,-z,relro"});
    sample_compile(&site, &(sample_library){.file = "libamd_comgr.so.3", .source = "char data[24 << 20] = {1};"});
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

/* ---- recording ---- */

static void record(void *context) {
    rsdk_error error = RSDK_ERROR_INIT;
    (void)context;
    rsdk_sdk *sdk = sample_open(&site);
    REQUIRE(rsdk_loader_record_pages(sdk, NULL, &error) == RSDK_BAD_ARGUMENT);
    REQUIRE_CONTAINS(rsdk_error_message(&error), "no library of the SDK is loaded");
    rsdk_error_clear(&error);
    load("roctx64", RSDK_READ_AHEAD_NEVER);
    REQUIRE(rsdk_loader_record_pages(sdk, "/nowhere/list", &error) == RSDK_IO_ERROR);
    rsdk_error_clear(&error);
    (void)umask(0);
    for (int i = 0; i < 2; i++) { /* the second takes the place of the first */
        REQUIRE(rsdk_loader_record_pages(sdk, NULL, &error) == RSDK_OK);
    }
    rsdk_sdk_free(sdk);
}

static void what_is_loaded_is_recorded(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file elf;
    struct stat facts;
    run_in_child(record, NULL);
    const rsdk_page_list list = sample_page_list(&site, &arena);
    assert_int_equal(list.files.count, 2);
    const rsdk_paged_file *file = &list.files.items[0];
    assert_string_equal(file->directory, CORE_LIB);
    assert_string_equal(file->name, "libroctx64.so.4");
    assert_string_equal(list.files.items[1].name, "libdeep.so.1");
    assert_int_equal(file->needed.count, 1);
    assert_int_equal(file->needed.items[0], 1);
    assert_int_equal(list.files.items[1].needed.count, 0);
    assert_int_equal(rsdk_elf_file_read_with_versions(sample_path(&site, LIBRARY), &arena, &elf, NULL), RSDK_OK);
    assert_int_equal(file->size, elf.size);
    assert_int_equal(2 * file->build_id_size, strlen(elf.build_id));
    uint64_t pages = 0;
    for (size_t i = 0; i < file->ranges.count; i++) {
        pages += file->ranges.items[i].last - file->ranges.items[i].first + 1;
    }
    assert_int_equal(file->ranges.items[0].first, 0);
    assert_true(pages > 2 && pages < 256); /* the data is not among them */
    assert_int_equal(stat(sample_path(&site, LIST), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0644);
    rsdk_arena_clear(&arena);
}

/* ---- following a list ---- */

/* Whether the middle of a library is in memory. */
static bool has_in_memory(const char *library) {
    unsigned char vector = 0;
    const long page = sysconf(_SC_PAGESIZE);
    int descriptor = open(sample_path(&site, library), O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    void *memory = mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE, descriptor, DATA_SIZE / 2 / page * page);
    REQUIRE(memory != MAP_FAILED && mincore(memory, (size_t)page, &vector) == 0);
    REQUIRE(munmap(memory, (size_t)page) == 0 && close(descriptor) == 0);
    return (vector & 1) != 0;
}

static bool is_in_memory(void) {
    return has_in_memory(LIBRARY);
}

static void drop_pages_of(const char *library) {
    int descriptor = open(sample_path(&site, library), O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0 && fsync(descriptor) == 0);
    REQUIRE(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 && close(descriptor) == 0);
    if (has_in_memory(library)) {
        skip_child("this file system keeps all pages in memory");
    }
}

static void drop_pages(void) {
    drop_pages_of(LIBRARY);
}

/* A list that asks for all of the library, which is `more` bytes larger than it says, and has another last byte in its
 * build ID if `is_other`. */
static void write_list(uint64_t more, bool is_other) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file elf;
    REQUIRE(rsdk_elf_file_read_with_versions(sample_path(&site, LIBRARY), &arena, &elf, NULL) == RSDK_OK);
    const int length = (int)strlen(elf.build_id) - 1;
    const char last = is_other ? (elf.build_id[length] == '0' ? '1' : '0') : elf.build_id[length];
    const char *text = rsdk_arena_format(&arena, "rocm-sdk-pages 1\n" LIBRARY "\t%llu\t%.*s%c@%llu\t-\t0-%llu\n",
                                         (unsigned long long)(elf.size - more), length, elf.build_id, last,
                                         (unsigned long long)elf.build_id_place,
                                         (unsigned long long)((elf.size - more - 1) / RSDK_PAGE_SIZE));
    REQUIRE(text != NULL);
    sample_file(&site, LIST, text);
    REQUIRE(chmod(sample_path(&site, LIST), 0644) == 0);
    rsdk_arena_clear(&arena);
}

/* No thread is started any longer: what becomes of who tries. */
static void refuse_threads(unsigned verdict) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
#ifdef SYS_clone3
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
#else
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
#endif
        BPF_STMT(BPF_RET | BPF_K, verdict),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        skip_child("no seccomp filters here");
    }
}

/* What was asked for arrives: nobody waits for it. */
static bool comes_into_memory(const char *library) {
    for (int i = 0; i < 500 && !has_in_memory(library); i++) {
        (void)usleep(10000);
    }
    return has_in_memory(library);
}

/* What the linker reads is asked for, and what it writes to, but no data that it leaves alone. */
static void without_a_list(void *context) {
    (void)context;
    drop_pages();
    drop_pages_of(WRITTEN);
    drop_pages_of(VARYING);
    load("roctx64", RSDK_READ_AHEAD_ALWAYS);
    REQUIRE_CONTAINS(lines, "reading ahead what the linker reads of libroctx64.so.4");
    REQUIRE(!is_in_memory());
    load("amd_comgr", RSDK_READ_AHEAD_ALWAYS);
    load("rocm_smi64", RSDK_READ_AHEAD_ALWAYS);
    REQUIRE(comes_into_memory(WRITTEN) && !has_in_memory(VARYING));
}

static void without_a_list_with_threads_refused(void *context) {
    refuse_threads(SECCOMP_RET_ERRNO | EAGAIN);
    without_a_list(context);
}

static void without_a_list_with_threads_not_wanted(void *context) {
    (void)context;
    refuse_threads(SECCOMP_RET_KILL);
    load("roctx64", RSDK_READ_AHEAD_WITHOUT_THREAD);
}

/* Threads read what they are given until they end. What cannot be read harms nobody. */
static void next_files_are_read(void *context) {
    static rsdk_next_files next; /* all zero */
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_file file = {0};
    (void)context;
    drop_pages_of(WRITTEN);
    drop_pages_of(VARYING);
    sample_file(&site, CORE_LIB "/none", "");
    (void)rsdk_next_files_give(&next, sample_path(&site, WRITTEN), NULL);
    REQUIRE(next.given == 0); /* nobody reads it */
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    REQUIRE(next.thread_count == RSDK_NEXT_THREADS);
    (void)rsdk_next_files_give(&next, sample_path(&site, CORE_LIB), NULL);
    (void)rsdk_next_files_give(&next, sample_path(&site, CORE_LIB "/none"), NULL);
    (void)rsdk_next_files_give(&next, "/nowhere", NULL);
    (void)rsdk_next_files_give(&next, sample_path(&site, WRITTEN), NULL);
    REQUIRE(comes_into_memory(WRITTEN));
    while (next.given < RSDK_NEXT_FILES) {
        (void)rsdk_next_files_give(&next, "/nowhere", NULL);
    }
    (void)rsdk_next_files_give(&next, sample_path(&site, VARYING), NULL);
    REQUIRE(!rsdk_next_files_take(&next, RSDK_NEXT_FILES, &file)); /* was never given */
    const pid_t child = fork();
    if (child == 0) {
        (void)rsdk_next_files_stop(&next, RSDK_QUIET_THREAD_FOR_EVER); /* it has no threads to wait for */
        _exit(0);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    (void)rsdk_next_files_stop(&next, RSDK_QUIET_THREAD_FOR_EVER);
    REQUIRE(next.thread_count == 0);
    (void)rsdk_next_files_stop(&next, RSDK_QUIET_THREAD_FOR_EVER);
    REQUIRE(!has_in_memory(VARYING));
    rsdk_arena_clear(&arena);
}

static void next_files_are_not_read(void *context) {
    static rsdk_next_files next;
    rsdk_arena arena = RSDK_ARENA_INIT;
    (void)context;
    drop_pages_of(WRITTEN);
    refuse_threads(SECCOMP_RET_ERRNO | EAGAIN);
    rsdk_next_files_start(&next, RSDK_NEXT_FILES, true, &arena);
    REQUIRE(next.thread_count == 0);
    (void)rsdk_next_files_give(&next, sample_path(&site, WRITTEN), NULL);
    (void)rsdk_next_files_stop(&next, RSDK_QUIET_THREAD_FOR_EVER);
    REQUIRE(!has_in_memory(WRITTEN));
    rsdk_arena_clear(&arena);
}

static void without_a_list_as_wished(void *wish) {
    drop_pages_of(WRITTEN);
    load("rocm_smi64", *(const rsdk_read_ahead_wish *)wish);
    REQUIRE(!has_in_memory(WRITTEN) || strstr(lines, "ahead") != NULL);
}

static void with_a_list(void *wish) {
    write_list(0, false);
    drop_pages();
    REQUIRE(setenv("TAKES_TIME", "1", 1) == 0);
    load("roctx64", *(const rsdk_read_ahead_wish *)wish);
    REQUIRE_CONTAINS(lines, LIST " says (1 libraries)");
    REQUIRE(comes_into_memory(LIBRARY));
}

static void with_a_list_that_is_not_wanted(void *context) {
    (void)context;
    write_list(0, false);
    drop_pages();
    load("roctx64", RSDK_READ_AHEAD_NEVER);
    REQUIRE(!is_in_memory() && strstr(lines, "ahead") == NULL);
}

static void with_what_is_in_memory(void *context) {
    (void)context;
    write_list(0, false);
    load("roctx64", RSDK_READ_AHEAD_NEVER);
    const char *list = sample_path(&site, LIST);
    REQUIRE(unlink(list) == 0 && mkfifo(list, 0644) == 0); /* would be complained about */
    load("roctx64", RSDK_READ_AHEAD_IF_COLD);
    REQUIRE(unlink(list) == 0 && strstr(lines, "ahead") == NULL);
}

static void with_a_list_of_other_libraries(void *context) {
    (void)context;
    write_list(0, false);
    drop_pages();
    load("rocm_smi64", RSDK_READ_AHEAD_ALWAYS);
    REQUIRE(!is_in_memory() && strstr(lines, "ahead as ") == NULL);
}

/* Which of the two differs. */
static void with_a_list_of_another_build(void *is_build_id) {
    write_list(*(const bool *)is_build_id ? 0 : 1, *(const bool *)is_build_id);
    drop_pages();
    REQUIRE(setenv("TAKES_TIME", "1", 1) == 0);
    load("roctx64", RSDK_READ_AHEAD_ALWAYS);
    REQUIRE_CONTAINS(lines, "reading ahead as ");
    REQUIRE(!is_in_memory());
}

static void with_threads_refused(void *context) {
    rsdk_read_ahead_wish wish = RSDK_READ_AHEAD_ALWAYS;
    (void)context;
    refuse_threads(SECCOMP_RET_ERRNO | EAGAIN);
    with_a_list(&wish);
}

/* The thread would end the process. Whether the file counts as cold depends on the disk. */
static void with_threads_not_wanted(void *context) {
    (void)context;
    write_list(0, false);
    drop_pages();
    refuse_threads(SECCOMP_RET_KILL);
    REQUIRE(setenv("TAKES_TIME", "1", 1) == 0);
    load("roctx64", RSDK_READ_AHEAD_WITHOUT_THREAD);
    REQUIRE(is_in_memory() == (strstr(lines, "ahead") != NULL));
}

static void a_list_is_followed(void **state) {
    rsdk_read_ahead_wish always = RSDK_READ_AHEAD_ALWAYS;
    bool is_build_id = false;
    run_in_child(with_a_list, &always);
    if (!UNDER_ADDRESS_SANITIZER) { /* which starts a thread at the end */
        run_in_child(with_threads_refused, NULL);
        run_in_child(with_threads_not_wanted, NULL);
    }
    run_in_child(with_a_list_that_is_not_wanted, NULL);
    run_in_child(with_what_is_in_memory, NULL);
    run_in_child(with_a_list_of_other_libraries, NULL);
    run_in_child(with_a_list_of_another_build, &is_build_id);
    is_build_id = true;
    run_in_child(with_a_list_of_another_build, &is_build_id);
    (void)unlink(sample_path(&site, LIST));
    run_in_child(without_a_list, NULL);
    run_in_child(next_files_are_read, NULL);
    if (!UNDER_ADDRESS_SANITIZER) {
        run_in_child(without_a_list_with_threads_refused, NULL);
        run_in_child(without_a_list_with_threads_not_wanted, NULL);
        run_in_child(next_files_are_not_read, NULL);
    }
    for (rsdk_read_ahead_wish wish = RSDK_READ_AHEAD_IF_COLD; wish <= RSDK_READ_AHEAD_NEVER; wish++) {
        run_in_child(without_a_list_as_wished, &wish);
    }
}

/* ---- lists that must not be followed ---- */

static void is_not_followed(const char *complaint) {
    drop_pages();
    load("roctx64", RSDK_READ_AHEAD_ALWAYS);
    REQUIRE_CONTAINS(lines, "not reading ahead: ");
    REQUIRE_CONTAINS(lines, complaint);
    REQUIRE_CONTAINS(lines, "loading ");
    REQUIRE(!is_in_memory());
}

static void is_writable_by_others(void *mode) {
    write_list(0, false);
    REQUIRE(chmod(sample_path(&site, LIST), *(const mode_t *)mode) == 0);
    is_not_followed("users who may not change the libraries");
}

/* Whoever is of the group may change the libraries, too. */
static void is_writable_by_the_group(void *context) {
    (void)context;
    write_list(0, false);
    REQUIRE(chmod(sample_path(&site, LIST), 0664) == 0 && chmod(sample_path(&site, CORE_LIB), 0775) == 0);
    load("roctx64", RSDK_READ_AHEAD_ALWAYS);
    REQUIRE_CONTAINS(lines, "reading ahead as ");
    REQUIRE(chmod(sample_path(&site, CORE_LIB), 0755) == 0);
}

static void is_another_users(void *context) {
    enum { OTHER = 4711 };
    (void)context;
    write_list(0, false);
    if (chown(sample_path(&site, LIST), OTHER, OTHER) != 0) {
        skip_child("only root gives files away");
    }
    is_not_followed("users who may not change the libraries");
}

static void is_a_link(void *context) {
    char target[256];
    (void)context;
    write_list(0, false);
    (void)snprintf(target, sizeof target, "%s/list", site.path);
    REQUIRE(rename(sample_path(&site, LIST), target) == 0 && symlink(target, sample_path(&site, LIST)) == 0);
    is_not_followed("cannot be opened");
}

static void is_a_pipe(void *context) {
    (void)context;
    REQUIRE(mkfifo(sample_path(&site, LIST), 0644) == 0);
    is_not_followed("not a regular file");
}

static void is_a_directory(void *context) {
    (void)context;
    sample_directory(&site, LIST);
    is_not_followed("not a regular file");
}

static void is_large(void *context) {
    (void)context;
    write_list(0, false);
    REQUIRE(truncate(sample_path(&site, LIST), RSDK_PAGE_LIST_LIMIT + 1) == 0);
    is_not_followed("at most 1 MiB");
}

static void is_damaged(void *context) {
    (void)context;
    sample_file(&site, LIST, "rocm-sdk-pages 1\n" LIBRARY "\t1\t-\t-\t99\n");
    REQUIRE(chmod(sample_path(&site, LIST), 0644) == 0);
    is_not_followed("line 2: not pages of the file in their order");
}

static void remove_list(void) {
    const char *path = sample_path(&site, LIST);
    (void)(unlink(path) != 0 && rmdir(path) != 0);
}

static void a_hostile_list_is_not_followed(void **state) {
    static void (*const bodies[])(void *) = {is_another_users, is_a_link, is_a_pipe,
                                             is_a_directory,   is_large,  is_damaged};
    static mode_t modes[] = {0664, 0646};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        remove_list();
        run_in_child(is_writable_by_others, &modes[i]);
    }
    run_in_child(is_writable_by_the_group, NULL);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        remove_list();
        run_in_child(bodies[i], NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_loaded_is_recorded, make_site, remove_site),
        cmocka_unit_test_setup_teardown(a_list_is_followed, make_site, remove_site),
        cmocka_unit_test_setup_teardown(a_hostile_list_is_not_followed, make_site, remove_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
