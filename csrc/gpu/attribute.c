/* The reader of attribute files. Another file in the place of one, such as a FIFO, must not make the process wait. */
#include "gpu/attribute.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int rsdk_attribute_read(int directory, const char *path, char *text, size_t size, size_t *length) {
    int descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t got = -1;
    *length = 0;
    text[0] = '\0';
    if (descriptor < 0) {
        return errno;
    }
    do {
        got = read(descriptor, text, size - 1);
    } while (got < 0 && errno == EINTR);
    int reason = got < 0 ? errno : 0;
    (void)close(descriptor);
    *length = got > 0 ? (size_t)got : 0;
    text[*length] = '\0';
    return reason;
}

bool rsdk_attribute_read_number(const char *path, int base, unsigned limit, unsigned *number) {
    char text[16], *end = text;
    size_t length = 0;
    if (rsdk_attribute_read(AT_FDCWD, path, text, sizeof text, &length) != 0 || text[0] < '0' || text[0] > '9') {
        return false;
    }
    unsigned long value = strtoul(text, &end, base);
    if ((*end != '\0' && *end != '\n') || value > limit) {
        return false;
    }
    *number = (unsigned)value;
    return true;
}
