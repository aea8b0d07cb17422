/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_disk.h - a file layer for SQLite that is better for many readers next to one busy writer.
 *
 * SQLite's own layer drops a reader's memory map at every commit it sees, and maps at most 2 GB.
 * This one maps each file once for the whole process and keeps the map. It also gathers the writes
 * to the log, two small ones a page, up to the sync that every durable commit ends with. Therefore:
 * only for synchronous=FULL and cache_spill=OFF (what is spilled and rolled back would be written
 * later, over the frames of whoever has committed since), and never where a database is made
 * smaller.
 */
#ifndef TORG_STORE_SQLITE_DISK_H
#define TORG_STORE_SQLITE_DISK_H

/* The name to open a database with; made at the first call. below: the layer it stands on, as tests
 * have it; NULL: the system's. */
const char *sqlite_disk(const char *below);

#endif
