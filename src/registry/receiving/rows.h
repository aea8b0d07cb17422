/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows of the registry: the newest of each key, alive or a tombstone.
 */
#ifndef TORG_REGISTRY_RECEIVING_ROWS_H
#define TORG_REGISTRY_RECEIVING_ROWS_H

#include "base/arena.h"
#include "base/pack.h"
#include "registry/receiving/order.h"
#include "store/store.h"
#include "torg/v1/document.pb-c.h"

enum row_status { ROW_ALIVE = 1, ROW_TOMBSTONE = 2 };

struct row {
    int64_t hash;
    struct bytes pk;
    struct order order;
    int status; /* enum row_status */
    int64_t expires_us;
    int64_t content; /* hash of the document as it was sent: tells a duplicate from another write */
    int64_t dictionary;
    struct bytes packed;
    struct bytes side;    /* its side fields (side.h), where they were asked for */
    int64_t backfill_idx; /* its element of the lane backfill; 0: it was written by another lane */
};

/* False in *found: there is none. with_document: else packed and side stay empty. */
int row_find(struct store_tx *tx, int64_t client_id, struct bytes pk, bool with_document,
             struct arena *arena, struct row *row, bool *found, struct err *err);
/* The same, in a transaction of its own. */
int row_read(struct store *store, int64_t client_id, struct bytes pk, bool with_document,
             struct arena *arena, struct row *row, bool *found, struct err *err);
/* Rows of pks, in order of the asks; row.status 0: there is none. */
int rows_find(struct store_tx *tx, int64_t client_id, const struct bytes *pks, size_t count,
              bool with_document, struct arena *arena, struct row *rows, struct err *err);
/* The same with side fields, without documents. */
int rows_find_sides(struct store_tx *tx, int64_t client_id, const struct bytes *pks, size_t count,
                    struct arena *arena, struct row *rows, struct err *err);
/* Rows with hash > after (equal hashes are never parted), up to last, at most about max. */
int rows_scan(struct store_tx *tx, int64_t client_id, int64_t after, int64_t last, size_t max,
              bool with_document, struct arena *arena, struct row **rows, size_t *count,
              struct err *err);
/* Rows with these hashes, without documents; about in their order, equal ones beside each other. */
int rows_find_hashes(struct store_tx *tx, int64_t client_id, const int64_t *hashes, size_t count,
                     struct arena *arena, struct row **rows, size_t *row_count, struct err *err);
/* Writes rows, each in the place of its key's, whose side fields stay; no key twice. What is told
 * of the lane backfill is not written: */
int rows_save(struct store_tx *tx, int64_t client_id, const struct row *const *rows, size_t count,
              struct err *err);
/* The place in the lane backfill of rows that this transaction has found or saved, once their
 * elements have one; no key twice. */
int rows_save_places(struct store_tx *tx, int64_t client_id, const struct row *const *rows,
                     size_t count, struct err *err);

/* Writes the side fields of rows that this transaction has found; no key twice. */
int rows_save_sides(struct store_tx *tx, int64_t client_id, const struct row *const *rows,
                    size_t count, struct err *err);

/* Takes the row away, if it is still of this order: its key's next write of the epoch wins, however
 * old. One that has side fields stays for them, older than any write. For repairs; deletions are
 * tombstones. */
int row_forget(struct store_tx *tx, int64_t client_id, const struct row *row, struct err *err);

/* Dictionaries of all clients, loaded when they are met; any thread. */
struct dictionaries;
struct dictionaries *dictionaries_new(struct store *store);
void dictionaries_free(struct dictionaries *dictionaries);

/* Packs with the client's newest dictionary; the document's body alone (see sql/0007), and sets
 * content by it and by row->expires_us. The first documents of a client train it, in the
 * background of whoever calls. Client 0, which is none, has no
 * dictionary. ERR_LIMIT: it is larger than DOCUMENT_SIZE_MAX; the text is of its fields. */
int row_pack(struct dictionaries *dictionaries, int64_t client_id,
             const Torg__V1__RawDocument *document, struct arena *arena, struct row *row,
             struct err *err);
/* The whole document again, with pk, epoch, version and times from the row. Neither is called
 * inside a transaction: a dictionary may have to be read. */
int row_unpack(struct dictionaries *dictionaries, int64_t client_id, const struct row *row,
               struct arena *arena, Torg__V1__RawDocument **document, struct err *err);
/* Whether such a failure of reading or converting a row is the row's own: it will be the same next
 * time. Any other is the world's. */
bool row_is_at_fault(int rc);

#endif
