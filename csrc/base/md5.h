/* MD5, by which clang recognises the content of a compressed bundle. Source: RFC 1321. */
#ifndef RSDK_BASE_MD5_H
#define RSDK_BASE_MD5_H

#include "base/file.h"

enum { RSDK_MD5_SIZE = 16 };

rsdk_status rsdk_md5_of_file(const rsdk_file *file, unsigned char digest[RSDK_MD5_SIZE], rsdk_error *error);

#endif
