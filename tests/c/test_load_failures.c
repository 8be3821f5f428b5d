/* Loads that fail: the error names the library, the cause and what to do, and what was loaded before stays usable. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "child_process.h"
#include "sample_sdk.h"

static rsdk_sdk *sdk;
static rsdk_error error = RSDK_ERROR_INIT;
static rsdk_loaded *loaded;

static rsdk_status try_to_load(const sample_site *site, const char *const names[], size_t count) {
    sdk = sdk != NULL ? sdk : sample_open(site);
    return rsdk_loader_preload(
        sdk, &(rsdk_load_options){.shortnames = names, .shortname_count = count, .is_global = true}, &loaded, &error);
}

static void refuse_roctx(const sample_site *site, rsdk_status wanted) {
    static const char *const names[] = {"roctx64"};
    rsdk_status status = try_to_load(site, names, 1);
    if (status != wanted) {
        (void)fprintf(stderr, "status %d: %s\n", status, rsdk_error_message(&error));
        _exit(1);
    }
    REQUIRE(error.status == wanted && (loaded != NULL) == (wanted == RSDK_LOAD_FAILED));
}

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

static void in_child(void (*body)(void *), sample_site *site) {
    run_in_child(body, site);
    sample_site_remove(site);
}

/* ---- no memory file ---- */

static void check_refused_chain(void *site) {
    static const char *const names[] = {"roctx64"};
    refuse_system_call(SYS_memfd_create, 0);
    REQUIRE(try_to_load(site, names, 1) == RSDK_OK);
    REQUIRE(dlsym(RTLD_DEFAULT, "deep") != NULL);
}

static void chain_is_loaded_one_by_one_without_memory_file(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libe.so.1", .source = "int deep;"});
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = "", .needs = CORE_LIB "/libe.so.1"});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    in_child(check_refused_chain, &site);
}

static void check_refused_cycle(void *site) {
    refuse_system_call(SYS_memfd_create, 0);
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "need each other");
    REQUIRE_CONTAINS(error.message, "no memory file can be made: Operation not permitted");
    REQUIRE_CONTAINS(error.message, sample_path(site, CORE_LIB "/liba.so.1"));
    REQUIRE_CONTAINS(error.message, sample_path(site, CORE_LIB "/libb.so.1"));
}

static void make_cycle(const sample_site *site, const char *a, const char *b) {
    char path_of_a[128], path_of_b[128];
    (void)snprintf(path_of_a, sizeof path_of_a, CORE_LIB "/%s", a);
    (void)snprintf(path_of_b, sizeof path_of_b, CORE_LIB "/%s", b);
    sample_compile(site, &(sample_library){.file = a, .source = ""});
    sample_compile(site, &(sample_library){.file = b, .source = "", .needs = path_of_a});
    sample_compile(site, &(sample_library){.file = a, .source = "", .needs = path_of_b});
}

static void cycle_without_memory_file_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    make_cycle(&site, "liba.so.1", "libb.so.1");
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/liba.so.1"});
    in_child(check_refused_cycle, &site);
}

static void check_refused_cycle_of_root(void *site) {
    refuse_system_call(SYS_memfd_create, 0);
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "need each other");
    REQUIRE_CONTAINS(error.message, sample_path(site, CORE_LIB "/libb.so.1"));
}

static void cycle_through_the_requested_library_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    make_cycle(&site, "libroctx64.so.4", "libb.so.1");
    in_child(check_refused_cycle_of_root, &site);
}

static void check_no_descriptor_left(void *site) {
    static const char *const names[] = {"roctx64"};
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlim_t before = limit.rlim_cur;
    sdk = sample_open(site);
    rsdk_location location;
    REQUIRE(rsdk_loader_locate(sdk, "roctx64", &location, &error) == RSDK_OK);
    limit.rlim_cur = 3;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    rsdk_status status = try_to_load(site, names, 1);
    limit.rlim_cur = before;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(status == RSDK_IO_ERROR && loaded == NULL);
    REQUIRE_CONTAINS(error.message, "Too many open files");
}

static void no_descriptor_left_is_an_error(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    in_child(check_no_descriptor_left, &site);
}

/* ---- what the linker refuses ---- */

static void check_missing(void *site) {
    static const char *const names[] = {"rocm_smi64", "roctx64"};
    REQUIRE(try_to_load(site, names, 2) == RSDK_LOAD_FAILED);
    REQUIRE(loaded != NULL && rsdk_loaded_count(loaded) == 1); /* the first stays usable */
    REQUIRE(rsdk_loaded_library(loaded, 0)->handle != NULL);
    REQUIRE_CONTAINS(error.message, "cannot load roctx64");
    REQUIRE_CONTAINS(error.message, "libd.so.1 needs libnuma.so.1.test, which is in neither the SDK nor the system");
    REQUIRE_CONTAINS(error.message, "libd.so.1 needs libgfortran.so.5, which is in neither the SDK nor the system");
    REQUIRE_CONTAINS(error.message, "loaded before and usable: rocm_smi64");
    REQUIRE_CONTAINS(error.fix, "apt install libgfortran5 (Fedora: dnf install libgfortran)");
    REQUIRE_CONTAINS(error.path, "libroctx64.so.4");
}

static void missing_dependency_is_named_with_its_package(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    /* Libraries to link with, gone when it comes to loading. The second may well be installed: then it is not missing.
     */
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libnuma.so.1.test", .source = ""});
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libgfortran.so.5", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libd.so.1",
                                            .source = "",
                                            .needs = OUTSIDE "/libnuma.so.1.test " OUTSIDE "/libgfortran.so.5"});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(&site, &(sample_library){.file = "librocm_smi64.so.7", .source = ""});
    (void)unlink(sample_path(&site, OUTSIDE "/libnuma.so.1.test"));
    (void)unlink(sample_path(&site, OUTSIDE "/libgfortran.so.5"));
    void *installed = dlopen("libgfortran.so.5", RTLD_LAZY);
    if (installed != NULL) {
        (void)dlclose(installed);
        sample_site_remove(&site);
        (void)fprintf(stderr, "skipped: libgfortran.so.5 is installed, so it cannot be missing\n");
        skip();
    }
    in_child(check_missing, &site);
}

static void check_missing_of_sdk(void *site) {
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "libroctx64.so.4 needs libMIOpen.so.1");
    REQUIRE_CONTAINS(error.fix, "pip install \"rocm[libraries]\"");
}

static void missing_library_of_another_package_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libMIOpen.so.1", .source = ""});
    sample_compile(&site,
                   &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = OUTSIDE "/libMIOpen.so.1"});
    (void)unlink(sample_path(&site, OUTSIDE "/libMIOpen.so.1"));
    in_child(check_missing_of_sdk, &site);
}

static void check_name_without_soname(void *site) {
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "a file has this name, but its SONAME is libother.so.9");
    REQUIRE_CONTAINS(error.message, sample_path(site, CORE_LIB "/libd.so.1"));
}

static void needed_name_that_is_no_soname_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .soname = "libother.so.9", .source = ""});
    in_child(check_name_without_soname, &site);
}

static void check_new_glibc(void *site) {
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "libroctx64.so.4 needs glibc 9.99, this system has ");
    REQUIRE_CONTAINS(error.fix, "newer distribution");
}

static void newer_glibc_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_file(&site, "version", "GLIBC_9.99 { global: of_the_future; };\n");
    sample_compile(&site, &(sample_library){.directory = OUTSIDE,
                                            .file = "libc.so.6",
                                            .source = "void of_the_future(void) {}",
                                            .options = "-nostdlib -Wl,--version-script,version"});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4",
                                            .source = "void of_the_future(void); void f(void) { of_the_future(); }",
                                            .needs = OUTSIDE "/libc.so.6",
                                            .options = "-nostdlib"});
    in_child(check_new_glibc, &site);
}

static void check_undefined_symbol(void *site) {
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "undefined symbol: nobody_has_this");
    REQUIRE(error.fix == NULL && strstr(error.message, "because") == NULL);
}

static void undefined_symbol_is_the_linkers_word(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site,
                   &(sample_library){.file = "libroctx64.so.4",
                                     .source = "void nobody_has_this(void); void f(void) { nobody_has_this(); }"});
    in_child(check_undefined_symbol, &site);
}

static void check_noexec(void *context) {
    sample_site *site = context;
    char command[256];
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        skip_child("no mount namespace is allowed here");
    }
    (void)snprintf(command, sizeof command, "cp -a '%s' '%s.copy'", site->path, site->path);
    REQUIRE(system(command) == 0);
    REQUIRE(mount("none", site->path, "tmpfs", MS_NOEXEC, NULL) == 0);
    (void)snprintf(command, sizeof command, "cp -a '%s.copy/.' '%s' && rm -r '%s.copy'", site->path, site->path,
                   site->path);
    REQUIRE(system(command) == 0);
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "is on a file system that is mounted noexec");
    REQUIRE_CONTAINS(error.fix, "mount it with exec");
}

static void noexec_mount_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    in_child(check_noexec, &site);
}

/* The flag that only the making of an executable stack sets for mprotect. */
static void check_executable_stack(void *site) {
    static const char *const names[] = {"roctx64"};
    refuse_system_call(SYS_mprotect, PROT_GROWSDOWN);
    rsdk_status status = try_to_load(site, names, 1);
    REQUIRE(status == RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "asks for an executable stack, which this system refuses");
    REQUIRE_CONTAINS(error.fix, "patchelf --clear-execstack");
}

static void executable_stack_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site,
                   &(sample_library){.file = "libroctx64.so.4", .source = "", .options = "-nostdlib -Wl,-z,execstack"});
    in_child(check_executable_stack, &site);
}

static void check_wrong_kind(void *site) {
    refuse_roctx(site, RSDK_BAD_ELF);
    REQUIRE_CONTAINS(error.message, "roctx64: ");
    REQUIRE_CONTAINS(error.message, "not an ELF file");
}

static void text_instead_of_library_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_file(&site, CORE_LIB "/libroctx64.so.4",
                "version https://git-lfs.example/spec/v1, not a library at all, only its pointer\n");
    in_child(check_wrong_kind, &site);
}

static void check_unreadable(void *site) {
    become_nobody();
    refuse_roctx(site, RSDK_IO_ERROR);
    REQUIRE_CONTAINS(error.message, "libroctx64.so.4: cannot open: Permission denied");
    REQUIRE_CONTAINS(error.fix, "read permission");
}

static void unreadable_library_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    assert_int_equal(chmod(sample_path(&site, CORE_LIB "/libroctx64.so.4"), 0), 0);
    in_child(check_unreadable, &site);
}

static void check_static_tls(void *site) {
    refuse_roctx(site, RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(error.message, "the process's reserve of static TLS is used up; libroctx64.so.4 takes from it");
    REQUIRE_CONTAINS(error.fix, "glibc.rtld.optional_static_tls");
}

static void exhausted_static_tls_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4",
                                            .source = "__thread char big[1 << 20]; char f(void) { return big[0]; }",
                                            .options = "-ftls-model=initial-exec"});
    in_child(check_static_tls, &site);
}

static void check_foreign_dependency(void *site) {
    refuse_roctx(site, RSDK_BAD_ELF);
    REQUIRE_CONTAINS(error.message, "libd.so.1: is a 64-bit little-endian library for ppc64");
    REQUIRE_CONTAINS(error.fix, "built for this machine");
}

static void dependency_for_another_machine_is_named(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    const Elf64_Half machine = EM_PPC64;
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    int descriptor = open(sample_path(&site, CORE_LIB "/libd.so.1"), O_WRONLY);
    assert_true(descriptor >= 0);
    assert_int_equal(pwrite(descriptor, &machine, sizeof machine, offsetof(Elf64_Ehdr, e_machine)), sizeof machine);
    assert_int_equal(close(descriptor), 0);
    in_child(check_foreign_dependency, &site);
}

static void check_refused_second_name(void *site) {
    static const char *const names[] = {"roctx64"};
    refuse_system_call(SYS_memfd_create, 0);
    sdk = sample_open(site);
    const rsdk_load_options options = {.shortnames = names, .shortname_count = 1, .unversioned_names = true};
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, &error) == RSDK_OK);
    REQUIRE(rsdk_loaded_warning_count(loaded) == 1);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text,
                     "dlopen(\"libroctx64.so\") will not find libroctx64.so.4: no memory file");
}

static void second_name_without_memory_file_is_a_warning(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    in_child(check_refused_second_name, &site);
}

/* A library cut off at `size` bytes: refused, or loaded because nothing that counts is gone; but no crash. */
static void load_truncated(void *site) {
    static const char *const names[] = {"roctx64"};
    rsdk_status status = try_to_load(site, names, 1);
    if (status == RSDK_OK) {
        int (*answer)(void) = NULL;
        *(void **)&answer = dlsym(RTLD_DEFAULT, "answer");
        REQUIRE(answer != NULL && answer() == 42);
    } else {
        REQUIRE(status == RSDK_BAD_ELF || status == RSDK_LOAD_FAILED);
        REQUIRE_CONTAINS(error.message, "libroctx64.so.4");
    }
}

static void truncated_libraries_do_not_crash(void **state) {
    (void)state;
    sample_site site = sample_site_new();
    struct stat facts;
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4",
                                            .source = "int seven = 7; int answer(void) { return 6 * seven; }"});
    char path[128];
    (void)strcpy(path, sample_path(&site, CORE_LIB "/libroctx64.so.4"));
    assert_int_equal(stat(path, &facts), 0);
    for (off_t size = facts.st_size / 64 * 64; size >= 0; size -= 64) {
        assert_int_equal(truncate(path, size), 0);
        run_in_child(load_truncated, &site);
    }
    sample_site_remove(&site);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_is_loaded_one_by_one_without_memory_file),
        cmocka_unit_test(cycle_without_memory_file_is_named),
        cmocka_unit_test(cycle_through_the_requested_library_is_named),
        cmocka_unit_test(no_descriptor_left_is_an_error),
        cmocka_unit_test(missing_dependency_is_named_with_its_package),
        cmocka_unit_test(missing_library_of_another_package_is_named),
        cmocka_unit_test(needed_name_that_is_no_soname_is_named),
        cmocka_unit_test(newer_glibc_is_named),
        cmocka_unit_test(undefined_symbol_is_the_linkers_word),
        cmocka_unit_test(noexec_mount_is_named),
        cmocka_unit_test(executable_stack_is_named),
        cmocka_unit_test(text_instead_of_library_is_named),
        cmocka_unit_test(unreadable_library_is_named),
        cmocka_unit_test(exhausted_static_tls_is_named),
        cmocka_unit_test(dependency_for_another_machine_is_named),
        cmocka_unit_test(second_name_without_memory_file_is_a_warning),
        cmocka_unit_test(truncated_libraries_do_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
