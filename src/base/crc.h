/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc.h - CRC-32C, the checksum of everything we write to a file; and the older CRC-32, of files
 * that others write, too.
 *
 * crc32c(0, whole) equals crc32c(crc32c(0, first part), second part); crc32_plain likewise.
 */
#ifndef TORG_BASE_CRC_H
#define TORG_BASE_CRC_H

#include <stdint.h>

#include "base/bytes.h"

uint32_t crc32c(uint32_t crc, struct bytes bytes);

/* The definition, without special instructions; tests compare the two. */
uint32_t crc32c_portable(uint32_t crc, struct bytes bytes);

/* That of zip, gzip and PNG, which every language has (Python: zlib.crc32). */
uint32_t crc32_plain(uint32_t crc, struct bytes bytes);

#endif
