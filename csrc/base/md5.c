/* Goes through the file in pieces of whole blocks; what is left at its end is padded. */
#include "base/md5.h"

#include <endian.h>
#include <string.h>

#include "base/fail.h"

enum {
    BLOCK = 64,
    PIECE = 1 << 16,
    LENGTH_SIZE = 8, /* of the length in bits, which ends the padding */
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

static void add_block(uint32_t state[4], const unsigned char *block) {
    static const unsigned shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];
    memcpy(words, block, sizeof words);
    for (unsigned i = 0; i < BLOCK; i++) {
        unsigned round = i / 16;
        uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                         : round == 1 ? (d & b) | (~d & c)
                         : round == 2 ? b ^ c ^ d
                                      : c ^ (b | ~d);
        unsigned place = (round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i) % 16;
        uint32_t sum = a + mixed + constants[i] + le32toh(words[place]);
        a = d;
        d = c;
        c = b;
        b += rotated(sum, shifts[round][i % 4]);
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
