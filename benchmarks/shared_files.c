/* A directory as clients of a file server see it: each operation takes a time, all mounts share one bandwidth, and what
 * is asked of the server is counted. Read-only, in the foreground. One mount is the client of one node.
 *
 * usage: shared_files -o OPTION,... DIRECTORY MOUNTPOINT
 *
 * latency=N     microseconds until an operation is answered
 * bandwidth=N   bytes a second, of all mounts together that name the same link; 0: no limit
 * link=FILE     64 bits that the mounts share: when the link is free again (CLOCK_MONOTONIC, nanoseconds)
 * timeout=N     seconds for which attributes, names and missing names are cached; 0: not at all, and each open of a
 * file drops its pages counters=FILE made anew; a record of 32 bytes for each kind: its name, and at byte 24 how often
 * (64 bits). `bytes` is what READ and READDIR returned
 *
 * The model is NFS with close-to-open consistency. OPEN stands for the GETATTR (NFSv3) or OPEN (NFSv4) with which a
 * client asks at each open whether the file has changed; if it has not, its cached pages stay. RELEASE is counted
 * apart: nobody waits for it, and NFSv3 has no such operation. As with NFS, the kernel decides about access by itself,
 * and names that do not exist are cached too. It reads at most 128 KiB at once, as an NFS client with the usual
 * read-ahead does. What the model lacks: a limit of operations a second, READDIRPLUS, and leases that spare opens
 * (NFSv4). */
#define FUSE_USE_VERSION 312

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 128 }; /* operations under way at once, as many as an NFS client has slots */

typedef enum kind { LOOKUP, GETATTR, READLINK, OPEN, READ, OPENDIR, READDIR, RELEASE, BYTES, KIND_COUNT } kind;

typedef struct counter {
    char name[24];
    _Atomic uint64_t count;
} counter;

_Static_assert(sizeof(counter) == 32, "the record of the counters' file");

static const char *const kind_names[KIND_COUNT] = {"lookup",  "getattr", "readlink", "open", "read",
                                                   "opendir", "readdir", "release",  "bytes"};

static struct {
    unsigned latency; /* microseconds */
    unsigned long long bandwidth;
    unsigned timeout; /* seconds */
    char *link_path, *counters_path, *directory;
    int root;
    counter *counters;
    _Atomic uint64_t *link;
} settings;

#define SETTING(text, field)                                                                                           \
    { text, offsetof(__typeof__(settings), field), 0 }

static const struct fuse_opt option_table[] = {
    SETTING("latency=%u", latency), SETTING("bandwidth=%llu", bandwidth),  SETTING("timeout=%u", timeout),
    SETTING("link=%s", link_path),  SETTING("counters=%s", counters_path), FUSE_OPT_END};

/* ---- what an operation costs ---- */

static uint64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t nanoseconds) {
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                            .tv_nsec = (long)(nanoseconds % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
    }
}

/* Takes the next turn on the link for that many bytes; returns when they have arrived. */
static uint64_t take_turn(uint64_t bytes) {
    uint64_t begin = now(), end = 0, free_at = atomic_load(settings.link);
    do {
        end = (free_at > begin ? free_at : begin) + bytes * 1000000000u / settings.bandwidth;
    } while (!atomic_compare_exchange_weak(settings.link, &free_at, end));
    return end;
}

/* Counts the operation, and waits until the server has answered it with that many bytes of content. */
static void pass_time(kind operation, uint64_t bytes) {
    atomic_fetch_add(&settings.counters[operation].count, 1);
    atomic_fetch_add(&settings.counters[BYTES].count, bytes);
    uint64_t end = settings.bandwidth > 0 && bytes > 0 ? take_turn(bytes) : now();
    sleep_until(end + (uint64_t)settings.latency * 1000);
}

/* ---- files: an inode number is the address of the file's path below the directory, which stays for ever ---- */

static const char root_path[] = ".";

static const char *path_of(fuse_ino_t inode) {
    return inode == FUSE_ROOT_ID ? root_path : (const char *)inode;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The one copy of a path; NULL: out of memory. */
static const char *keep_path(const char *path) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *paths;
    char *copy = strdup(path);
    if (copy == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&lock);
    char *const *place = tsearch(copy, &paths, compare_paths);
    const char *kept = place != NULL ? *place : NULL;
    (void)pthread_mutex_unlock(&lock);
    if (kept != copy) {
        free(copy);
    }
    return kept;
}

static int describe(const char *path, struct stat *facts) {
    return fstatat(settings.root, path, facts, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 ? 0 : errno;
}

/* ---- operations ---- */

static void start(void *context, struct fuse_conn_info *connection) {
    (void)context;
    if (settings.timeout > 0) {
        connection->want |= connection->capable & FUSE_CAP_CACHE_SYMLINKS;
    }
    connection->max_background = THREADS; /* the kernel's default is 12 */
}

static void look_up(fuse_req_t request, fuse_ino_t parent, const char *name) {
    char path[PATH_MAX];
    struct fuse_entry_param entry = {.attr_timeout = settings.timeout, .entry_timeout = settings.timeout};
    pass_time(LOOKUP, 0);
    if (snprintf(path, sizeof path, "%s/%s", path_of(parent), name) >= (int)sizeof path) {
        (void)fuse_reply_err(request, ENAMETOOLONG);
        return;
    }
    int reason = describe(path, &entry.attr);
    if (reason == 0) {
        entry.ino = (fuse_ino_t)keep_path(path);
        reason = entry.ino == 0 ? ENOMEM : 0;
    }
    bool is_answer = reason == 0 || reason == ENOENT; /* inode 0: there is no such name, for as long as `timeout` */
    (void)(is_answer ? fuse_reply_entry(request, &entry) : fuse_reply_err(request, reason));
}

static void get_attributes(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info) {
    struct stat facts;
    (void)info;
    pass_time(GETATTR, 0);
    int reason = describe(path_of(inode), &facts);
    (void)(reason == 0 ? fuse_reply_attr(request, &facts, settings.timeout) : fuse_reply_err(request, reason));
}

static void read_link(fuse_req_t request, fuse_ino_t inode) {
    char target[PATH_MAX];
    pass_time(READLINK, 0);
    ssize_t length = readlinkat(settings.root, path_of(inode), target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    (void)(length >= 0 ? fuse_reply_readlink(request, target) : fuse_reply_err(request, errno));
}

static void open_file(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info) {
    pass_time(OPEN, 0);
    int descriptor = openat(settings.root, path_of(inode), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) {
        (void)fuse_reply_err(request, errno);
        return;
    }
    info->fh = (uint64_t)descriptor;
    info->keep_cache = settings.timeout > 0;
    if (fuse_reply_open(request, info) != 0) {
        (void)close(descriptor);
    }
}

static void read_file(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *info) {
    (void)inode;
    char *bytes = malloc(size);
    ssize_t got = bytes != NULL ? pread((int)info->fh, bytes, size, offset) : -1;
    int reason = bytes == NULL ? ENOMEM : errno;
    pass_time(READ, got > 0 ? (uint64_t)got : 0);
    (void)(got >= 0 ? fuse_reply_buf(request, bytes, (size_t)got) : fuse_reply_err(request, reason));
    free(bytes);
}

static void release_file(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info) {
    (void)inode;
    atomic_fetch_add(&settings.counters[RELEASE].count, 1);
    (void)close((int)info->fh);
    (void)fuse_reply_err(request, 0);
}

static void open_directory(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info) {
    pass_time(OPENDIR, 0);
    int descriptor = openat(settings.root, path_of(inode), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (stream == NULL) {
        (void)fuse_reply_err(request, errno);
        return;
    }
    info->fh = (uint64_t)(uintptr_t)stream;
    info->keep_cache = info->cache_readdir = settings.timeout > 0;
    if (fuse_reply_open(request, info) != 0) {
        (void)closedir(stream);
    }
}

/* As many entries as fit into `bytes`; the length of what was written. */
static size_t list(fuse_req_t request, DIR *stream, char *bytes, size_t size) {
    size_t used = 0;
    for (;;) {
        long before = telldir(stream);
        const struct dirent *entry = readdir(stream); /* the kernel asks for one part after the other */
        if (entry == NULL) {
            return used;
        }
        struct stat facts = {.st_ino = entry->d_ino, .st_mode = (mode_t)entry->d_type << 12};
        size_t length = fuse_add_direntry(request, bytes + used, size - used, entry->d_name, &facts, telldir(stream));
        if (length > size - used) {
            seekdir(stream, before);
            return used;
        }
        used += length;
    }
}

static void read_directory(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                           struct fuse_file_info *info) {
    (void)inode;
    DIR *stream = (DIR *)(uintptr_t)info->fh;
    char *bytes = malloc(size);
    size_t used = 0;
    if (bytes != NULL) {
        seekdir(stream, offset);
        used = list(request, stream, bytes, size);
    }
    pass_time(READDIR, used);
    (void)(bytes != NULL ? fuse_reply_buf(request, bytes, used) : fuse_reply_err(request, ENOMEM));
    free(bytes);
}

static void release_directory(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info) {
    (void)inode;
    atomic_fetch_add(&settings.counters[RELEASE].count, 1);
    (void)closedir((DIR *)(uintptr_t)info->fh);
    (void)fuse_reply_err(request, 0);
}

static const struct fuse_lowlevel_ops operations = {.init = start,
                                                    .lookup = look_up,
                                                    .getattr = get_attributes,
                                                    .readlink = read_link,
                                                    .open = open_file,
                                                    .read = read_file,
                                                    .release = release_file,
                                                    .opendir = open_directory,
                                                    .readdir = read_directory,
                                                    .releasedir = release_directory};

/* ---- the program ---- */

/* A file's first bytes, shared with all that map it; NULL with errno. The file is made where it is missing. */
static void *map_file(const char *path, int flags, size_t size) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (descriptor < 0) {
        return NULL;
    }
    void *bytes = ftruncate(descriptor, (off_t)size) == 0
                      ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                      : MAP_FAILED;
    (void)close(descriptor);
    return bytes != MAP_FAILED ? bytes : NULL;
}

static int complain(const char *what) {
    (void)fprintf(stderr, "shared_files: %s: %s\n", what, strerror(errno));
    return 1;
}

static int prepare(void) {
    settings.root = open(settings.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (settings.root < 0) {
        return complain(settings.directory);
    }
    settings.counters = map_file(settings.counters_path, O_EXCL, KIND_COUNT * sizeof *settings.counters);
    if (settings.counters == NULL) {
        return complain(settings.counters_path);
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        (void)snprintf(settings.counters[i].name, sizeof settings.counters[i].name, "%s", kind_names[i]);
    }
    if (settings.bandwidth > 0 && (settings.link = map_file(settings.link_path, 0, sizeof *settings.link)) == NULL) {
        return complain(settings.link_path);
    }
    (void)prctl(PR_SET_TIMERSLACK, 1); /* sleeps end when they should: the threads inherit it */
    return 0;
}

static int serve(struct fuse_session *session, const char *mountpoint) {
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (config == NULL || fuse_session_mount(session, mountpoint) != 0) {
        fuse_loop_cfg_destroy(config);
        return 1;
    }
    fuse_loop_cfg_set_max_threads(config, THREADS);
    fuse_loop_cfg_set_idle_threads(config, THREADS);
    int status = fuse_session_loop_mt(session, config);
    fuse_session_unmount(session);
    fuse_loop_cfg_destroy(config);
    return status == 0 ? 0 : 1;
}

/* The first argument that is no option is the directory; FUSE takes the second. */
static int take_argument(void *data, const char *argument, int key, struct fuse_args *rest) {
    (void)data;
    (void)rest;
    if (key == FUSE_OPT_KEY_NONOPT && settings.directory == NULL) {
        settings.directory = strdup(argument);
        return settings.directory != NULL ? 0 : -1;
    }
    return 1;
}

int main(int argc, char **argv) {
    struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
    struct fuse_cmdline_opts options = {0};
    if (fuse_opt_parse(&arguments, &settings, option_table, take_argument) != 0 ||
        fuse_parse_cmdline(&arguments, &options) != 0 ||
        fuse_opt_add_arg(&arguments, "-oro,default_permissions,fsname=shared_files,subtype=shared_files") != 0) {
        return 1;
    }
    if (settings.directory == NULL || options.mountpoint == NULL || settings.counters_path == NULL ||
        (settings.bandwidth > 0 && settings.link_path == NULL)) {
        (void)fprintf(stderr, "usage: shared_files -o counters=FILE[,latency=N][,bandwidth=N,link=FILE][,timeout=N] "
                              "DIRECTORY MOUNTPOINT\n");
        return 2;
    }
    if (prepare() != 0) {
        return 1;
    }
    struct fuse_session *session = fuse_session_new(&arguments, &operations, sizeof operations, NULL);
    int status = 1;
    if (session != NULL && fuse_set_signal_handlers(session) == 0) {
        status = serve(session, options.mountpoint);
        fuse_remove_signal_handlers(session);
    }
    if (session != NULL) {
        fuse_session_destroy(session);
    }
    fuse_opt_free_args(&arguments);
    free(options.mountpoint);
    return status;
}
