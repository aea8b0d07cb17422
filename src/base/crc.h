/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc.h - CRC-32C, the checksum of everything we write to a file.
 *
 * crc32c(0, whole) equals crc32c(crc32c(0, first part), second part).
 */
#ifndef TORG_BASE_CRC_H
#define TORG_BASE_CRC_H

#include <stdint.h>

#include "base/bytes.h"

uint32_t crc32c(uint32_t crc, struct bytes bytes);

/* The definition, without special instructions; tests compare the two. */
uint32_t crc32c_portable(uint32_t crc, struct bytes bytes);

#endif
