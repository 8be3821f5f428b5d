/* MD5 of a part of a file. The file is read in pieces of whole blocks; the rest at its end is padded. */
#include "base/file.h"

#include <endian.h>
#include <string.h>

#include "base/fail.h"

enum {
    BLOCK = 64,
    PIECE = 1 << 16,
    LENGTH_SIZE = 8, /* bytes of the length in bits, which ends the padding */
};

static const uint32_t constants[BLOCK] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static uint32_t rotated(uint32_t value, unsigned count) {
    return value << count | value >> (32 - count);
}

/* Return the word that a step puts in the place of another. `next` is the word that the step before replaced, `sum` the
 * part of the sum that does not depend on `next`. */
static uint32_t stepped(uint32_t next, uint32_t mixed, uint32_t sum, unsigned shift) {
    return next + rotated(sum + mixed, shift);
}

/* Add a block to the state. Each turn of a loop is four steps, after which each of the four words has its place again:
 * nothing is moved. */
static void add_block(uint32_t state[4], const unsigned char *block) {
    uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];
    const uint32_t *k = constants;
    memcpy(words, block, sizeof words);
    for (unsigned i = 0; i < 16; i++) {
        words[i] = le32toh(words[i]);
    }
    for (unsigned i = 0; i < 16; i += 4, k += 4) {
        a = stepped(b, d ^ (b & (c ^ d)), a + k[0] + words[i], 7);
        d = stepped(a, c ^ (a & (b ^ c)), d + k[1] + words[i + 1], 12);
        c = stepped(d, b ^ (d & (a ^ b)), c + k[2] + words[i + 2], 17);
        b = stepped(c, a ^ (c & (d ^ a)), b + k[3] + words[i + 3], 22);
    }
    for (unsigned i = 1; i < 16 * 5; i += 4 * 5, k += 4) {
        a = stepped(b, b & d, a + k[0] + words[i % 16] + (c & ~d), 5);
        d = stepped(a, a & c, d + k[1] + words[(i + 5) % 16] + (b & ~c), 9);
        c = stepped(d, d & b, c + k[2] + words[(i + 10) % 16] + (a & ~b), 14);
        b = stepped(c, c & a, b + k[3] + words[(i + 15) % 16] + (d & ~a), 20);
    }
    for (unsigned i = 5; i < 5 + 16 * 3; i += 4 * 3, k += 4) {
        a = stepped(b, b ^ (c ^ d), a + k[0] + words[i % 16], 4);
        d = stepped(a, a ^ (b ^ c), d + k[1] + words[(i + 3) % 16], 11);
        c = stepped(d, d ^ (a ^ b), c + k[2] + words[(i + 6) % 16], 16);
        b = stepped(c, c ^ (d ^ a), b + k[3] + words[(i + 9) % 16], 23);
    }
    for (unsigned i = 0; i < 16 * 7; i += 4 * 7, k += 4) {
        a = stepped(b, c ^ (b | ~d), a + k[0] + words[i % 16], 6);
        d = stepped(a, b ^ (a | ~c), d + k[1] + words[(i + 7) % 16], 10);
        c = stepped(d, a ^ (d | ~b), c + k[2] + words[(i + 14) % 16], 15);
        b = stepped(c, d ^ (c | ~a), b + k[3] + words[(i + 21) % 16], 21);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

static void add_blocks(uint32_t state[4], const unsigned char *bytes, size_t size) {
    for (size_t done = 0; done < size; done += BLOCK) {
        add_block(state, bytes + done);
    }
}

rsdk_status rsdk_md5_of_file(const rsdk_file *file, unsigned char digest[RSDK_MD5_SIZE], rsdk_error *error) {
    unsigned char bytes[PIECE + 2 * BLOCK];
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint64_t offset = 0;
    for (; file->size - offset >= PIECE; offset += PIECE) {
        RSDK_TRY(rsdk_file_read(file, offset, bytes, PIECE, error));
        add_blocks(state, bytes, PIECE);
    }
    size_t rest = (size_t)(file->size - offset), padded = (rest + LENGTH_SIZE) / BLOCK * BLOCK + BLOCK;
    RSDK_TRY(rsdk_file_read(file, offset, bytes, rest, error));
    memset(bytes + rest, 0, padded - rest);
    bytes[rest] = 0x80;
    uint64_t length = htole64(file->size * 8);
    memcpy(bytes + padded - LENGTH_SIZE, &length, sizeof length);
    add_blocks(state, bytes, padded);
    for (size_t i = 0; i < 4; i++) {
        state[i] = htole32(state[i]);
    }
    memcpy(digest, state, RSDK_MD5_SIZE);
    return RSDK_OK;
}
