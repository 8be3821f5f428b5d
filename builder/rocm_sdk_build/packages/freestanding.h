/* What small programs without a C library share: system calls, texts, paths. They start in no time, and run wherever
 * the kernel does. A program defines `start`, which gets the stack as the kernel makes it. NAME, a text, is the
 * program's name for messages. */
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the kernel ---- */

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\nxor %ebp, %ebp\nmov %rsp, %rdi\nand $-16, %rsp\ncall start\n");

static long call(long number, long a, long b, long c, long d) {
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\nmov x29, #0\nmov x30, #0\nmov x0, sp\nbl start\n");

static long call(long number, long a, long b, long c, long d) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}
#else
#error "no system calls for this processor"
#endif

enum { PATH_SIZE = 4096 };

static _Noreturn void end(int status) {
    for (;;) {
        (void)call(__NR_exit_group, status, 0, 0, 0);
    }
}

static bool exists(const char *path, int mode) {
    return call(__NR_faccessat, AT_FDCWD, (long)path, mode, 0) == 0;
}

/* ---- texts ---- */

/* The compiler calls these by itself. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);

void *memcpy(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++) {
        ((char *)to)[i] = ((const char *)from)[i];
    }
    return to;
}

void *memset(void *to, int value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        ((char *)to)[i] = (char)value;
    }
    return to;
}

static size_t length_of(const char *text) {
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

static bool starts_with(const char *text, const char *start) {
    while (*start != '\0' && *text == *start) {
        text++;
        start++;
    }
    return *start == '\0';
}

static bool is_same(const char *one, const char *other) {
    return length_of(one) == length_of(other) && starts_with(one, other);
}

static void say(const char *text) {
    (void)call(__NR_write, 2, (long)text, (long)length_of(text), 0);
}

static _Noreturn void fail(const char *what, const char *of, const char *more) {
    say(NAME ": ");
    say(what);
    say(of);
    say(more);
    say("\n");
    end(1);
}

static const char *words_for(long error) {
    switch (-error) {
    case ENOENT:
        return ": no such file, or no such interpreter or dynamic linker";
    case EACCES:
        return ": permission denied";
    case ENOEXEC:
        return ": is not a program for this machine";
    case E2BIG:
        return ": the arguments are too long";
    default:
        return ": cannot be started";
    }
}

/* A path that is put together. What does not fit ends the program: half a path would lead elsewhere. */
typedef struct path {
    char text[PATH_SIZE];
    size_t length;
} path;

static void append(path *p, const char *text) {
    size_t length = length_of(text);
    if (length >= PATH_SIZE - p->length) {
        fail("the path is too long: ", p->text, "");
    }
    memcpy(p->text + p->length, text, length + 1);
    p->length += length;
}

static void set(path *p, const char *directory, const char *name) {
    p->length = 0;
    append(p, directory);
    if (name[0] != '\0') {
        append(p, "/");
        append(p, name);
    }
}

static bool has(const char *directory, const char *name) {
    path p;
    set(&p, directory, name);
    return exists(p.text, 0);
}

/* Cuts the last name off: "/a/b" becomes "/a", "b" becomes ".". */
static void to_directory(path *p) {
    while (p->length > 0 && p->text[p->length - 1] != '/') {
        p->length--;
    }
    p->text[p->length] = '\0';
    if (p->length == 0) {
        append(p, ".");
    } else if (p->length > 1) {
        p->text[--p->length] = '\0';
    }
}

/* Where a link leads, as it is written; false where it is none. */
static bool read_link(const char *link, path *target) {
    long length = call(__NR_readlinkat, AT_FDCWD, (long)link, (long)target->text, PATH_SIZE);
    if (length <= 0 || length >= PATH_SIZE) {
        return false;
    }
    target->text[length] = '\0';
    target->length = (size_t)length;
    return true;
}
