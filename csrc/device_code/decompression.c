/* zlib and zstd, opened with dlopen. The parts of their interfaces that are declared here have not changed since zlib
 * 1.0 and zstd 1.0. */
#include "device_code/decompression.h"

#include <dlfcn.h>
#include <unistd.h>

#include "base/fail.h"

enum { INPUT_SIZE = 1 << 14, OUTPUT_SIZE = 1 << 16 };

/* A stream that is being decompressed. `step` consumes input and fills output. */
typedef struct stream {
    const unsigned char *input;
    size_t input_size;
    unsigned char *output;
    size_t output_size;
    bool is_at_end;
} stream;

typedef bool (*step_function)(void *state, const rsdk_decompression *libraries, stream *s);

/* Find a function of an opened library. A shared library that lacks the function is not the one that was meant. */
static bool find(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address); /* ISO C has no cast from a pointer to an object to one to a function */
    return address != NULL;
}

static rsdk_status open_library(const rsdk_extent *packed, const char *name, void **library, rsdk_error *error) {
    if (*library == NULL) {
        *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (*library != NULL) {
        return RSDK_OK;
    }
    const char *path = packed->file->path;
    return rsdk_fail_as(
        error, RSDK_LOAD_FAILED, RSDK_E_LIB_002, path, RSDK_FACTS({"needing", path}, {"name", name}, {"library", name}),
        "%s: its device code is compressed, and %s, which decompresses it, cannot be loaded", path, name);
}

/* ---- zlib ---- */

/* z_stream */
typedef struct zlib_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state, *zalloc, *zfree, *opaque;
    int data_type;
    unsigned long adler, reserved;
} zlib_stream;

enum { Z_OK = 0, Z_STREAM_END = 1, Z_MEM_ERROR = -4, Z_BUF_ERROR = -5 };

static bool step_zlib(void *state, const rsdk_decompression *libraries, stream *s) {
    int (*inflate)(zlib_stream *, int) = NULL;
    zlib_stream *z = state;
    if (!find(libraries->zlib, "inflate", (void *)&inflate)) {
        return false;
    }
    z->next_in = s->input;
    z->avail_in = (unsigned)s->input_size;
    z->next_out = s->output;
    z->avail_out = (unsigned)s->output_size;
    int result = inflate(z, 0);
    s->input += s->input_size - z->avail_in;
    s->input_size = z->avail_in;
    s->output += s->output_size - z->avail_out;
    s->output_size = z->avail_out;
    s->is_at_end = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

/* ---- zstd ---- */

/* ZSTD_inBuffer and ZSTD_outBuffer */
typedef struct zstd_buffer {
    void *bytes;
    size_t size, position;
} zstd_buffer;

static bool step_zstd(void *state, const rsdk_decompression *libraries, stream *s) {
    size_t (*decompress)(void *, zstd_buffer *, zstd_buffer *) = NULL;
    unsigned (*is_error)(size_t) = NULL;
    if (!find(libraries->zstd, "ZSTD_decompressStream", (void *)&decompress) ||
        !find(libraries->zstd, "ZSTD_isError", (void *)&is_error)) {
        return false;
    }
    zstd_buffer input = {.size = s->input_size}, output = {.bytes = s->output, .size = s->output_size};
    memcpy(&input.bytes, &s->input, sizeof input.bytes); /* zstd does not write there */
    size_t result = decompress(state, &output, &input);
    s->input += input.position;
    s->input_size -= input.position;
    s->output += output.position;
    s->output_size -= output.position;
    s->is_at_end = result == 0;
    return is_error(result) == 0;
}

/* ---- where it goes ---- */

/* Memory, or a file that it is written to each time it is full. */
typedef struct sink {
    unsigned char *buffer;
    size_t size;
    int descriptor; /* -1: none */
    uint64_t limit; /* bytes that the file may become */
    uint64_t got;
} sink;

/* Write the output so far, and make room for more. */
static rsdk_status empty(sink *to, stream *s, const rsdk_extent *packed, rsdk_error *error) {
    size_t size = to->size - s->output_size;
    if (size > to->limit - to->got) {
        return rsdk_extent_damaged(packed, "it decompresses to more than any such file does", error);
    }
    for (size_t done = 0; done < size;) {
        ssize_t written = pwrite(to->descriptor, to->buffer + done, size - done, (off_t)(to->got + done));
        if (written <= 0) {
            return rsdk_fail(error, RSDK_IO_ERROR, packed->file->path, "%s: no room for what it decompresses to",
                             packed->file->path);
        }
        done += (size_t)written;
    }
    to->got += size;
    s->output = to->buffer;
    s->output_size = to->size;
    return RSDK_OK;
}

static rsdk_status run(const rsdk_decompression *libraries, step_function step, void *state, const rsdk_extent *packed,
                       sink *to, rsdk_error *error) {
    unsigned char input[INPUT_SIZE];
    stream s = {.output = to->buffer, .output_size = to->size};
    uint64_t position = 0;
    while (s.output_size > 0 && !s.is_at_end) {
        size_t before = s.input_size + s.output_size;
        if (s.input_size == 0) {
            size_t taken = 0;
            RSDK_TRY(rsdk_extent_read_some(packed, position, input, sizeof input, &taken, error));
            position += taken;
            s.input = input;
            s.input_size = taken;
            before = taken + s.output_size;
        }
        if (!step(state, libraries, &s)) {
            return rsdk_extent_damaged(packed, "the compressed data is damaged", error);
        }
        if (s.input_size + s.output_size == before) {
            break; /* the data ends before the stream does */
        }
        if (s.output_size == 0 && to->descriptor >= 0) {
            RSDK_TRY(empty(to, &s, packed, error));
        }
    }
    if (to->descriptor >= 0) {
        return empty(to, &s, packed, error);
    }
    to->got = to->size - s.output_size;
    return RSDK_OK;
}

static rsdk_status run_zlib(rsdk_decompression *libraries, const rsdk_extent *packed, sink *to, rsdk_error *error) {
    int (*initialize)(zlib_stream *, const char *, int) = NULL;
    int (*finish)(zlib_stream *) = NULL;
    zlib_stream z = {0};
    RSDK_TRY(open_library(packed, "libz.so.1", &libraries->zlib, error));
    if (!find(libraries->zlib, "inflateInit_", (void *)&initialize) ||
        !find(libraries->zlib, "inflateEnd", (void *)&finish)) {
        return rsdk_extent_damaged(packed, "libz.so.1 of this system is not zlib", error);
    }
    if (initialize(&z, "1", (int)sizeof z) != Z_OK) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_status status = run(libraries, step_zlib, &z, packed, to, error);
    (void)finish(&z);
    return status;
}

static rsdk_status run_zstd(rsdk_decompression *libraries, const rsdk_extent *packed, sink *to, rsdk_error *error) {
    void *(*make)(void) = NULL;
    size_t (*release)(void *) = NULL;
    RSDK_TRY(open_library(packed, "libzstd.so.1", &libraries->zstd, error));
    if (!find(libraries->zstd, "ZSTD_createDStream", (void *)&make) ||
        !find(libraries->zstd, "ZSTD_freeDStream", (void *)&release)) {
        return rsdk_extent_damaged(packed, "libzstd.so.1 of this system is not zstd", error);
    }
    void *state = make();
    RSDK_NEED(state, error);
    rsdk_status status = run(libraries, step_zstd, state, packed, to, error);
    (void)release(state);
    return status;
}

const char *rsdk_decompression_name(unsigned method) {
    return method == RSDK_COMPRESSION_ZLIB ? "zlib" : method == RSDK_COMPRESSION_ZSTD ? "zstd" : NULL;
}

static rsdk_status run_method(rsdk_decompression *decompression, unsigned method, const rsdk_extent *packed, sink *to,
                              rsdk_error *error) {
    switch (method) {
    case RSDK_COMPRESSION_ZLIB:
        return run_zlib(decompression, packed, to, error);
    case RSDK_COMPRESSION_ZSTD:
        return run_zstd(decompression, packed, to, error);
    default:
        return rsdk_extent_damaged(packed, "it is compressed by a method that is not known", error);
    }
}

rsdk_status rsdk_decompression_read_head(rsdk_decompression *decompression, unsigned method, const rsdk_extent *packed,
                                         void *buffer, size_t size, size_t *got, rsdk_error *error) {
    sink to = {.buffer = buffer, .size = size, .descriptor = -1};
    rsdk_status status = run_method(decompression, method, packed, &to, error);
    *got = (size_t)to.got;
    return status;
}

rsdk_status rsdk_decompression_write(rsdk_decompression *decompression, unsigned method, const rsdk_extent *packed,
                                     int descriptor, uint64_t limit, uint64_t *size, rsdk_error *error) {
    unsigned char buffer[OUTPUT_SIZE];
    sink to = {.buffer = buffer, .size = sizeof buffer, .descriptor = descriptor, .limit = limit};
    rsdk_status status = run_method(decompression, method, packed, &to, error);
    *size = to.got;
    return status;
}

void rsdk_decompression_clear(rsdk_decompression *decompression) {
    if (decompression->zlib != NULL) {
        (void)dlclose(decompression->zlib);
    }
    if (decompression->zstd != NULL) {
        (void)dlclose(decompression->zstd);
    }
    *decompression = (rsdk_decompression){0};
}
