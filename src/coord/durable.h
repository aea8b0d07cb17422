/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durable.h - what the local: backend keeps in its directory: the ticket counter, registers.
 *
 * Each is a small file, replaced whole (base/file.h):
 *
 *   tickets        u64 ceiling · u32 crc32c          every ticket below it may have been given
 *   KEY.register   u64 version · value · u32 crc32c
 *
 * integers little-endian, the checksum over all before it. Tickets are reserved in blocks, so
 * a restart skips the rest of a block and never repeats one.
 */
#ifndef TORG_COORD_DURABLE_H
#define TORG_COORD_DURABLE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/* *ceiling is 0 when there is no file. ERR_CORRUPT when it is damaged. */
int durable_read_tickets(const char *dir, uint64_t *ceiling, struct err *err);
int durable_write_tickets(const char *dir, uint64_t ceiling, struct err *err);

/* Appends the value to out; ERR_NOT_FOUND, ERR_CORRUPT. */
int durable_read_register(const char *dir, const char *key, struct buf *out, uint64_t *version,
                          struct err *err);
int durable_write_register(const char *dir, const char *key, struct bytes value, uint64_t version,
                           struct err *err);

#endif
