/* Loads that fail: the error names the library, the cause and what to do, and what was loaded before stays usable. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child_process.h"
#include "problem_text.h"
#include "sample_sdk.h"
#include "suite.h"

/* ---- what a process may lack ---- */

/* Refuses one system call in this process, as a container's policy may: where its third argument has a bit of `mask`,
 * or always with a `mask` of 0. */
static void refuse_system_call(unsigned number, unsigned mask) {
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])), /* its low half: little-endian */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, mask == 0 ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof instructions / sizeof *instructions, .filter = instructions};
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        skip_child("no seccomp filters here");
    }
}

static void without_memory_files(const sample_site *site, rsdk_sdk *sdk) {
    (void)site, (void)sdk;
    refuse_system_call(SYS_memfd_create, 0);
}

/* PROT_GROWSDOWN is the flag that only the making of an executable stack sets for mprotect. */
static void without_executable_stacks(const sample_site *site, rsdk_sdk *sdk) {
    (void)site, (void)sdk;
    refuse_system_call(SYS_mprotect, PROT_GROWSDOWN);
}

static void without_rights(const sample_site *site, rsdk_sdk *sdk) {
    (void)site, (void)sdk;
    become_nobody();
}

static void limit_descriptors(rlim_t count) {
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = count < limit.rlim_max ? count : limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void without_descriptors(const sample_site *site, rsdk_sdk *sdk) {
    rsdk_location location;
    (void)site;
    REQUIRE(rsdk_loader_locate(sdk, "roctx64", &location, NULL) == RSDK_OK);
    limit_descriptors(3);
}

/* Puts the site on a file system that is mounted noexec. */
static void without_executable_mount(const sample_site *site, rsdk_sdk *sdk) {
    char command[256];
    (void)sdk;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        skip_child("no mount namespace is allowed here");
    }
    (void)snprintf(command, sizeof command, "cp -a '%s' '%s.copy'", site->path, site->path);
    REQUIRE(system(command) == 0);
    REQUIRE(mount("none", site->path, "tmpfs", MS_NOEXEC, NULL) == 0);
    (void)snprintf(command, sizeof command, "cp -a '%s.copy/.' '%s' && rm -r '%s.copy'", site->path, site->path,
                   site->path);
    REQUIRE(system(command) == 0);
}

/* ---- what may be wrong with files ---- */

static void make_unreadable(const sample_site *site) {
    assert_int_equal(chmod(sample_path(site, CORE_LIB "/libroctx64.so.4"), 0), 0);
}

static void replace_by_text(const sample_site *site) {
    sample_file(site, CORE_LIB "/libroctx64.so.4",
                "version https://git-lfs.example/spec/v1, not a library at all, only its pointer\n");
}

static void make_foreign(const sample_site *site) {
    const Elf64_Half machine = EM_PPC64;
    int descriptor = open(sample_path(site, CORE_LIB "/libd.so.1"), O_WRONLY);
    assert_true(descriptor >= 0);
    assert_int_equal(pwrite(descriptor, &machine, sizeof machine, offsetof(Elf64_Ehdr, e_machine)), sizeof machine);
    assert_int_equal(close(descriptor), 0);
}

/* As GNU ld for AArch64 writes it: the library takes static TLS and does not say so. */
static void clear_static_tls_flag(const sample_site *site) {
    int descriptor = open(sample_path(site, CORE_LIB "/libroctx64.so.4"), O_RDWR);
    struct stat status;
    assert_int_equal(fstat(descriptor, &status), 0);
    unsigned char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Phdr *segment = (const void *)(bytes + header->e_phoff);
    while (segment->p_type != PT_DYNAMIC) {
        segment++;
    }
    for (Elf64_Dyn *entry = (void *)(bytes + segment->p_offset); entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_FLAGS) {
            entry->d_un.d_val &= ~(Elf64_Xword)DF_STATIC_TLS;
        }
    }
    assert_int_equal(munmap(bytes, (size_t)status.st_size), 0);
    assert_int_equal(close(descriptor), 0);
}

static void remove_outside(const sample_site *site) {
    (void)unlink(sample_path(site, OUTSIDE "/libnuma.so.1.test"));
    (void)unlink(sample_path(site, OUTSIDE "/libgfortran.so.5"));
    (void)unlink(sample_path(site, OUTSIDE "/libMIOpen.so.1"));
}

/* The same in an SDK that says which files it has. */
static void remove_outside_of_recorded(const sample_site *site) {
    remove_outside(site);
    sample_directory(site, "rocm_sdk_core-7.dist-info");
    sample_file(site, "rocm_sdk_core-7.dist-info/RECORD", CORE_LIB "/libroctx64.so.4,,\n");
}

static void need_newer_glibc(const sample_site *site) {
    sample_file(site, "version", "GLIBC_9.99 { global: of_the_future; };\n");
    sample_compile(site, &(sample_library){.directory = OUTSIDE,
                                           .file = "libc.so.6",
                                           .source = "void of_the_future(void) {}",
                                           .options = "-nostdlib -Wl,--version-script,version"});
    sample_compile(site, &(sample_library){.file = "libroctx64.so.4",
                                           .source = "void of_the_future(void); void f(void) { of_the_future(); }",
                                           .needs = OUTSIDE "/libc.so.6",
                                           .options = "-nostdlib"});
}

/* ---- the table ---- */

enum { LIBRARY_LIMIT = 6, TEXT_LIMIT = 5, TEXT_SIZE = 12288 };

/* A load of roctx64 that fails. Lists end with NULL, or a library without a file. */
typedef struct failure {
    const char *name;
    sample_library libraries[LIBRARY_LIMIT];                     /* compiled in this order */
    void (*damage)(const sample_site *site);                     /* done to the files then; NULL */
    void (*restrict_to)(const sample_site *site, rsdk_sdk *sdk); /* done to the process that loads; NULL */
    rsdk_status status;
    const char *message[TEXT_LIMIT], *fix; /* parts of the error or its problem */
    const char *path_in_message[2];        /* within the site */
    const char *unsaid;                    /* must not be in the message */
    const char *before;                    /* a library that is asked for first, and stays usable */
    const char *absent;                    /* skipped where the system has this library */
} failure;

static const failure failures[] = {
    {.name = "cycle_without_memory_file_is_named",
     .libraries = {{.file = "liba.so.1", .source = ""},
                   {.file = "libb.so.1", .source = "", .needs = CORE_LIB "/liba.so.1"},
                   {.file = "liba.so.1", .source = "", .needs = CORE_LIB "/libb.so.1"},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/liba.so.1"}},
     .restrict_to = without_memory_files,
     .status = RSDK_LOAD_FAILED,
     .message = {"need each other", "no memory file can be made: Operation not permitted"},
     .path_in_message = {CORE_LIB "/liba.so.1", CORE_LIB "/libb.so.1"}},
    {.name = "cycle_through_the_requested_library_is_named",
     .libraries = {{.file = "libroctx64.so.4", .source = ""},
                   {.file = "libb.so.1", .source = "", .needs = CORE_LIB "/libroctx64.so.4"},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libb.so.1"}},
     .restrict_to = without_memory_files,
     .status = RSDK_LOAD_FAILED,
     .message = {"need each other", "libb.so.1; and "}, /* each once: the list ends there */
     .path_in_message = {CORE_LIB "/libb.so.1"}},
    {.name = "member_that_fails_alone_is_no_cycle",
     .libraries = {{.file = "libd.so.1", .source = "void nobody_has_this(void); void f(void) { nobody_has_this(); }"},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"}},
     .restrict_to = without_memory_files,
     .status = RSDK_LOAD_FAILED,
     .message = {"undefined symbol: nobody_has_this"},
     .unsaid = "need each other"},
    {.name = "no_descriptor_left_is_an_error",
     .libraries = {{.file = "libroctx64.so.4", .source = ""}},
     .restrict_to = without_descriptors,
     .status = RSDK_IO_ERROR,
     .message = {"Too many open files"}},
    /* Libraries to link with, gone when it comes to loading. */
    {.name = "missing_dependency_is_named_with_its_package",
     .libraries = {{.directory = OUTSIDE, .file = "libnuma.so.1.test", .source = ""},
                   {.directory = OUTSIDE, .file = "libgfortran.so.5", .source = ""},
                   {.file = "libd.so.1",
                    .source = "",
                    .needs = OUTSIDE "/libnuma.so.1.test " OUTSIDE "/libgfortran.so.5"},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"},
                   {.file = "librocm_smi64.so.7", .source = ""}},
     .damage = remove_outside_of_recorded,
     .status = RSDK_LOAD_FAILED,
     .message = {"cannot load roctx64", "libd.so.1 needs libnuma.so.1.test, which is in neither the SDK nor the system",
                 "also missing: libgfortran.so.5", "loaded before and usable: rocm_smi64"},
     .before = "rocm_smi64",
     .absent = "libgfortran.so.5"},
    /* The name comes from a file, and the search for its package is a command. */
    {.name = "needed_name_that_a_shell_would_obey_is_in_no_command",
     .libraries = {{.directory = OUTSIDE, .file = "libx.so.1", .soname = "libx$(id);id.so.1", .source = ""},
                   {.file = "libroctx64.so.4", .source = "", .needs = OUTSIDE "/libx.so.1"}},
     .damage = remove_outside_of_recorded,
     .status = RSDK_LOAD_FAILED,
     .message = {"libroctx64.so.4 needs libx$(id);id.so.1, which is in neither the SDK nor the system",
                 "no table here says which package has it"},
     .fix = "Find out what brings libx$(id);id.so.1: a package of the system"},
    {.name = "missing_library_of_an_unrecorded_sdk_may_have_been_its_own",
     .libraries = {{.directory = OUTSIDE, .file = "libhsakmt.so.1", .source = ""},
                   {.file = "libd.so.1", .source = "", .needs = OUTSIDE "/libhsakmt.so.1"},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"}},
     .damage = remove_outside,
     .status = RSDK_LOAD_FAILED,
     .message = {"E-LIB-023 libd.so.1 needs libhsakmt.so.1, which is not there", "no RECORD says what that ROCm had"},
     .path_in_message = {"_rocm_sdk_core"},
     .fix = "Install the ROCm in "},
    {.name = "missing_library_of_another_package_is_named",
     .libraries = {{.directory = OUTSIDE, .file = "libMIOpen.so.1", .source = ""},
                   {.file = "libroctx64.so.4", .source = "", .needs = OUTSIDE "/libMIOpen.so.1"}},
     .damage = remove_outside,
     .status = RSDK_LOAD_FAILED,
     .message = {"E-LIB-003 libMIOpen.so.1 is missing: its package is not installed", "libroctx64.so.4 needs it"},
     .fix = "Install 'rocm[libraries]' from where the SDK came"}, /* its version is not known */
    {
        .name = "needed_name_that_is_no_soname_is_named",
        .libraries = {{.file = "libd.so.1", .source = ""},
                      {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"},
                      {.file = "libd.so.1", .soname = "libother.so.9", .source = ""}},
        .status = RSDK_LOAD_FAILED,
        .message = {"W-LIB-010 libd.so.1 says that it is libother.so.9"},
    },
    {.name = "newer_glibc_is_named",
     .damage = need_newer_glibc,
     .status = RSDK_LOAD_FAILED,
     .message = {"E-LIB-005 libroctx64.so.4 needs glibc 9.99: this system has "},
     .fix = "newer"},
    {.name = "undefined_symbol_is_the_linkers_word",
     .libraries = {{.file = "libroctx64.so.4",
                    .source = "void nobody_has_this(void); void f(void) { nobody_has_this(); }"}},
     .status = RSDK_LOAD_FAILED,
     .message = {"undefined symbol: nobody_has_this"},
     .fix = "rocm-sdk test --deep"},
    {.name = "undefined_symbol_of_a_member_is_the_linkers_word",
     .libraries = {{.file = "libd.so.1", .source = "void nobody_has_this(void); void f(void) { nobody_has_this(); }"},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"}},
     .status = RSDK_LOAD_FAILED,
     .message = {"undefined symbol: nobody_has_this"},
     .unsaid = "cannot open shared object"},
    {.name = "noexec_mount_is_named",
     .libraries = {{.file = "libroctx64.so.4", .source = ""}},
     .restrict_to = without_executable_mount,
     .status = RSDK_LOAD_FAILED,
     .message = {"is on a file system that is mounted noexec"},
     .fix = "mount -o remount,bind,exec /"},
    {.name = "executable_stack_is_named",
     .libraries = {{.file = "libroctx64.so.4", .source = "", .options = "-nostdlib -Wl,-z,execstack"}},
     .restrict_to = without_executable_stacks,
     .status = RSDK_LOAD_FAILED,
     .message = {"asks for an executable stack, which this system refuses"},
     .fix = "rocm-sdk test --fix"},
    {.name = "text_instead_of_library_is_named",
     .damage = replace_by_text,
     .status = RSDK_BAD_ELF,
     .message = {"roctx64: ", "not an ELF file", "E-LIB-006"},
     .fix = "again from where it came"},
    {.name = "unreadable_library_is_named",
     .libraries = {{.file = "libroctx64.so.4", .source = ""}},
     .damage = make_unreadable,
     .restrict_to = without_rights,
     .status = RSDK_IO_ERROR,
     .message = {"libroctx64.so.4: cannot open: Permission denied"},
     .fix = "Run as root: chmod a+r "},
    {.name = "exhausted_static_tls_is_named",
     .libraries = {{.file = "libroctx64.so.4",
                    .source = "__thread char big[1 << 20]; char f(void) { return big[0]; }",
                    .options = "-ftls-model=initial-exec"}},
     .status = RSDK_LOAD_FAILED,
     .message = {"E-LIB-018 libroctx64.so.4 cannot be loaded: static TLS is used up: the library takes 1048576 bytes"},
     .fix = "glibc.rtld.optional_static_tls"},
    {.name = "exhausted_static_tls_without_the_flag_is_named",
     .libraries = {{.file = "libroctx64.so.4",
                    .source = "__thread char big[1 << 20]; char f(void) { return big[0]; }",
                    .options = "-ftls-model=initial-exec"}},
     .damage = clear_static_tls_flag,
     .status = RSDK_LOAD_FAILED,
     .message = {"E-LIB-018 libroctx64.so.4 cannot be loaded: static TLS is used up: the library takes 1048576 bytes"},
     .fix = "glibc.rtld.optional_static_tls"},
    {.name = "dependency_for_another_machine_is_named",
     .libraries = {{.file = "libd.so.1", .source = ""},
                   {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"}},
     .damage = make_foreign,
     .status = RSDK_BAD_ELF,
     .message = {"libd.so.1: is a 64-bit little-endian library for ppc64", "E-LIB-012"},
     .fix = "built for this machine"},
};

enum { FAILURE_COUNT = sizeof failures / sizeof *failures };

/* What a child works with. */
typedef struct attempt {
    sample_site site;
    const failure *failure;
} attempt;

static void check_error(const attempt *a, const rsdk_error *error, rsdk_sdk *sdk) {
    const failure *wanted = a->failure;
    char text[TEXT_SIZE];
    (void)snprintf(text, sizeof text, "%s; %s", error->message, problem_text_of(error, sdk));
    for (size_t i = 0; i < TEXT_LIMIT && wanted->message[i] != NULL; i++) {
        REQUIRE_CONTAINS(text, wanted->message[i]);
    }
    for (size_t i = 0; i < 2 && wanted->path_in_message[i] != NULL; i++) {
        REQUIRE_CONTAINS(text, sample_path(&a->site, wanted->path_in_message[i]));
    }
    REQUIRE_CONTAINS(problem_fix_of(error, sdk), wanted->fix != NULL ? wanted->fix : "");
    REQUIRE(wanted->unsaid == NULL || strstr(text, wanted->unsaid) == NULL);
    REQUIRE(wanted->before == NULL || strstr(error->path, "libroctx64.so.4") != NULL);
}

static void fail_to_load(void *context) {
    const attempt *a = context;
    const failure *wanted = a->failure;
    const char *const names[] = {wanted->before, "roctx64"};
    const size_t first = wanted->before == NULL;
    const rsdk_load_options options = {.shortnames = names + first, .shortname_count = 2 - first, .is_global = true};
    rsdk_sdk *sdk = sample_open(&a->site);
    rsdk_loaded *loaded = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    if (wanted->restrict_to != NULL) {
        wanted->restrict_to(&a->site, sdk);
    }
    rsdk_status status = rsdk_loader_preload(sdk, &options, &loaded, &error);
    limit_descriptors(256); /* the search for leaks needs some */
    if (status != wanted->status) {
        (void)fprintf(stderr, "status %d: %s\n", status, rsdk_error_message(&error));
        _exit(1);
    }
    REQUIRE(error.status == status && (loaded != NULL) == (status == RSDK_LOAD_FAILED));
    REQUIRE(loaded == NULL || rsdk_loaded_count(loaded) == 1 - first);
    REQUIRE(first == 1 || rsdk_loaded_library(loaded, 0)->handle != NULL);
    check_error(a, &error, sdk);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
    rsdk_error_clear(&error);
}

static void load_fails(void **state) {
    attempt a = {.failure = *state};
    void *present = a.failure->absent != NULL ? dlopen(a.failure->absent, RTLD_LAZY) : NULL;
    if (present != NULL) {
        (void)dlclose(present);
        (void)fprintf(stderr, "skipped: %s is installed, so it cannot be missing\n", a.failure->absent);
        skip();
    }
    a.site = sample_site_new();
    for (size_t i = 0; i < LIBRARY_LIMIT && a.failure->libraries[i].file != NULL; i++) {
        sample_compile(&a.site, &a.failure->libraries[i]);
    }
    if (a.failure->damage != NULL) {
        a.failure->damage(&a.site);
    }
    run_in_child(fail_to_load, &a);
    sample_site_remove(&a.site);
}

/* ---- loads that succeed all the same ---- */

typedef struct chain_load {
    sample_site site;
    bool is_global;
} chain_load;

/* The dependencies are opened in the scope that was asked for, as the library itself is. */
static void load_chain(void *context) {
    static const char *const names[] = {"roctx64"};
    const chain_load *l = context;
    rsdk_sdk *sdk = sample_open(&l->site);
    rsdk_loaded *loaded = NULL;
    without_memory_files(&l->site, sdk);
    const rsdk_load_options options = {.shortnames = names, .shortname_count = 1, .is_global = l->is_global};
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, NULL) == RSDK_OK);
    REQUIRE((dlsym(RTLD_DEFAULT, "deep") != NULL) == l->is_global);
    REQUIRE(dlsym(rsdk_loaded_library(loaded, 0)->handle, "deep") != NULL);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

static void chain_is_loaded_one_by_one_without_memory_file(void **state) {
    chain_load l = {.site = sample_site_new()};
    sample_compile(&l.site, &(sample_library){.file = "libe.so.1", .source = "int deep;"});
    sample_compile(&l.site, &(sample_library){.file = "libd.so.1", .source = "", .needs = CORE_LIB "/libe.so.1"});
    sample_compile(&l.site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    run_in_child(load_chain, &l);
    l.is_global = true;
    run_in_child(load_chain, &l);
    sample_site_remove(&l.site);
}

static void refuse_second_name(void *context) {
    static const char *const names[] = {"roctx64"};
    rsdk_sdk *sdk = sample_open(context);
    rsdk_loaded *loaded = NULL;
    without_memory_files(context, sdk);
    const rsdk_load_options options = {
        .shortnames = names, .shortname_count = 1, .unversioned_names = RSDK_UNVERSIONED_ALL};
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, NULL) == RSDK_OK);
    REQUIRE(rsdk_loaded_warning_count(loaded) == 1);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text,
                     "dlopen(\"libroctx64.so\") will not find libroctx64.so.4: no memory file");
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

static void second_name_without_memory_file_is_a_warning(void **state) {
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    run_in_child(refuse_second_name, &site);
    sample_site_remove(&site);
}

/* A library that is cut off: refused, or loaded because nothing that counts is gone; but no crash. */
static void load_truncated(void *context) {
    static const char *const names[] = {"roctx64"};
    rsdk_sdk *sdk = sample_open(context);
    rsdk_loaded *loaded = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    const rsdk_load_options options = {.shortnames = names, .shortname_count = 1, .is_global = true};
    rsdk_status status = rsdk_loader_preload(sdk, &options, &loaded, &error);
    if (status == RSDK_OK) {
        int (*product)(void) = NULL;
        *(void **)&product = dlsym(RTLD_DEFAULT, "product");
        REQUIRE(product != NULL && product() == 42);
    } else {
        REQUIRE(status == RSDK_BAD_ELF || status == RSDK_LOAD_FAILED);
        REQUIRE_CONTAINS(error.message, "libroctx64.so.4");
    }
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
    rsdk_error_clear(&error);
}

static void truncated_libraries_do_not_crash(void **state) {
    sample_site site = sample_site_new();
    struct stat facts;
    const char *path = sample_path(&site, CORE_LIB "/libroctx64.so.4");
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4",
                                            .source = "int seven = 7; int product(void) { return 6 * seven; }"});
    assert_int_equal(stat(path, &facts), 0);
    for (off_t size = facts.st_size / 64 * 64; size >= 0; size -= 64) {
        assert_int_equal(truncate(path, size), 0);
        run_in_child(load_truncated, &site);
    }
    sample_site_remove(&site);
}

int main(void) {
    struct CMUnitTest tests[FAILURE_COUNT + 3] = {
        cmocka_unit_test(chain_is_loaded_one_by_one_without_memory_file),
        cmocka_unit_test(second_name_without_memory_file_is_a_warning),
        cmocka_unit_test(truncated_libraries_do_not_crash),
    };
    for (size_t i = 0; i < FAILURE_COUNT; i++) {
        tests[3 + i] = (struct CMUnitTest){
            .name = failures[i].name, .test_func = load_fails, .initial_state = (void *)(uintptr_t)&failures[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
