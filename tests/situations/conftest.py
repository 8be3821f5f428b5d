"""A sound SDK in a virtual environment, which each situation breaks, and the shell in which a user asks and mends."""

from collections.abc import Iterator

import pytest
from sample_device_code import code_object
from sample_hiprtc import hiprtc
from sdk_environment import Environment, served
from situations import User

# A compiler that crashes without comgr, as HIP does, and writes 64 kB to a temporary file, a comgr, and a library that
# variables make fail, and that needs the same libraries of a system as ROCm's.
COMPILES = """
    extern char *getenv(const char *); extern int mkstemp(char *), close(int), unlink(const char *);
    extern long write(int, const void *, unsigned long); extern int snprintf(char *, unsigned long, const char *, ...);
    static char data[65536]; char name[4096];
    static const struct { const char *name; char number; } machines[] = {
        {"gfx1030", 0x36}, {"gfx1031", 0x37}, {"gfx1100", 0x41}, {"gfx1151", 0x4a}};
    for (int i = 0; i < count; i++) /* e_flags of its code object: the machine that it is for */
        for (int j = 0; j < 4; j++)
            if (__builtin_strstr(options[i], machines[j].name)) code[48] = machines[j].number;
    extern void *dlopen(const char *, int);
    if (!dlopen("libamd_comgr.so.3", 1)) __builtin_trap();
    const char *place = getenv("TMPDIR");
    if (getenv("HIP_CLANG_PATH") && getenv("COMPILER_PATH")) return 6;
    snprintf(name, sizeof name, "%s/comgr-XXXXXX", place != 0 ? place : "/tmp");
    int file = mkstemp(name);
    if (file < 0) return 6;
    long done = write(file, data, sizeof data);
    close(file); unlink(name);
    return done == sizeof data ? 0 : 6;
"""
FURTHER = {
    "libhiprtc.so.7": hiprtc(COMPILES, code_object(0x36, size=64)),
    "librocrand.so.1": """
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int rocrand_create_generator;
        static void need(const char *path) {
            int file = open(path, O_RDONLY);
            if (file < 0) { perror(path); _exit(1); }
            close(file);
        }
        __attribute__((constructor)) static void begin(void) {
            if (getenv("HSA_CRASHES")) abort();
            void *space = getenv("NEEDS_SPACE") ? mmap(0, 1 << 30, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : 0;
            if (space == MAP_FAILED) { perror("librocrand"); _exit(1); }
            need("/dev/null"); need("/proc/self/maps"); need("/sys/devices");
        }
    """,
    "libamd_comgr.so.3": "int amd_comgr_get_version;",
}


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with served(tmp_path_factory.mktemp("index"), FURTHER) as index:
        yield Environment(tmp_path_factory.mktemp("situations"), "uv", index)


@pytest.fixture
def user(sound: Environment) -> User:
    sound.set_back()
    return User(sound)


@pytest.fixture(scope="session")
def without_rpaths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """Yield an environment whose libraries do not find each other by themselves, as in some distributions."""
    with served(tmp_path_factory.mktemp("index"), FURTHER, has_rpaths=False) as index:
        yield Environment(tmp_path_factory.mktemp("without-rpaths"), "uv", index)


@pytest.fixture
def user_without_rpaths(without_rpaths: Environment) -> User:
    without_rpaths.set_back()
    return User(without_rpaths)
