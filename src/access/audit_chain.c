/* SPDX-License-Identifier: Apache-2.0 */
/* audit_chain.c - see audit_chain.h. */
#include "access/audit_chain.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "access/bounds.h"
#include "access/digest.h"
#include "base/buf.h"
#include "base/endian.h"
#include "base/memory.h"

static void put_number(struct buf *out, int64_t number)
{
    uint8_t bytes[8];

    put_be32(bytes, (uint32_t)((uint64_t)number >> 32));
    put_be32(bytes + 4, (uint32_t)number);
    buf_put(out, bytes_make(bytes, sizeof(bytes)));
}

static void put_text(struct buf *out, const char *text)
{
    uint8_t size[4];

    put_be32(size, (uint32_t)strlen(text));
    buf_put(out, bytes_make(size, sizeof(size)));
    buf_put(out, bytes_of(text));
}

void audit_chain_step(uint8_t hash[AUDIT_HASH_SIZE], const struct audit_entry *entry)
{
    struct buf row = BUF_INIT(SIZE_MAX);

    buf_put(&row, bytes_make(hash, AUDIT_HASH_SIZE));
    put_number(&row, entry->seq);
    put_number(&row, entry->at_us);
    put_text(&row, entry->principal);
    put_text(&row, entry->key);
    put_text(&row, entry->action);
    put_text(&row, entry->target);
    put_text(&row, entry->detail);
    assert(!buf_failed(&row));
    digest_of(buf_bytes(&row), hash);
    buf_release(&row);
}

void audit_hash_text(const uint8_t hash[AUDIT_HASH_SIZE], char text[AUDIT_HASH_TEXT_SIZE])
{
    for (size_t i = 0; i < AUDIT_HASH_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

/* --- from the rows --- */

#define CHAIN_ROWS                                                                                 \
    "SELECT seq, at_us, principal, key_id, action, target, detail, hash FROM audit "               \
    "WHERE seq > $1 AND seq < $2 ORDER BY seq LIMIT $3"

static struct audit_entry row_entry(const struct store_value *columns, struct arena *arena)
{
    return (struct audit_entry){.seq = columns[0].integer,
                                .at_us = columns[1].integer,
                                .principal = arena_text(arena, columns[2].bytes),
                                .key = arena_text(arena, columns[3].bytes),
                                .action = arena_text(arena, columns[4].bytes),
                                .target = arena_text(arena, columns[5].bytes),
                                .detail = arena_text(arena, columns[6].bytes)};
}

/* The first row of a chain stands for those that are older than it: once in a log's life. */
static int chain_all(struct store_tx *tx, int64_t before, uint8_t hash[AUDIT_HASH_SIZE],
                     struct err *err)
{
    struct store_rows rows = store_select(
        tx, CHAIN_ROWS, STORE_WITH(STORE_V_INT(0), STORE_V_INT(before), STORE_V_INT(INT64_MAX)));
    struct arena *arena = arena_new();

    while (store_next(&rows)) {
        const struct audit_entry entry = row_entry(rows.columns, arena);

        audit_chain_step(hash, &entry);
        arena_reset(arena);
    }
    arena_free(arena);
    return store_rows_end(&rows, err);
}

int audit_chain_before(struct store_tx *tx, int64_t seq, uint8_t hash[AUDIT_HASH_SIZE],
                       struct err *err)
{
    struct store_rows rows =
        store_select(tx, "SELECT hash FROM audit WHERE seq = $1", STORE_WITH(STORE_V_INT(seq - 1)));
    bool found = false;
    int rc;

    memset(hash, 0, AUDIT_HASH_SIZE);
    if (store_next(&rows) && rows.columns[0].type == STORE_BLOB &&
        rows.columns[0].bytes.size == AUDIT_HASH_SIZE) {
        memcpy(hash, rows.columns[0].bytes.data, AUDIT_HASH_SIZE);
        found = true;
    }
    rc = store_rows_end(&rows, err);
    return rc || found || seq <= 1 ? rc : chain_all(tx, seq, hash, err);
}

/* --- verify --- */

struct verifying {
    struct audit_check *check;
    struct arena *arena;
    uint8_t hash[AUDIT_HASH_SIZE];
    bool is_chained; /* a row had a hash: all later ones have */
    int64_t expect_seq;
    const char *expect_hash;
};

static void add_fault(struct verifying *verifying, int64_t seq, const char *reason)
{
    struct audit_check *check = verifying->check;

    check->fault_total++;
    if (check->fault_count < ARRAY_COUNT(check->faults))
        check->faults[check->fault_count++] = (struct audit_fault){seq, reason};
}

static void check_row(struct verifying *verifying, const struct store_value *columns,
                      struct arena *arena)
{
    const struct audit_entry entry = row_entry(columns, arena);
    struct audit_check *check = verifying->check;
    bool has_hash = columns[7].type == STORE_BLOB;
    struct bytes kept = has_hash ? columns[7].bytes : BYTES_EMPTY;
    char text[AUDIT_HASH_TEXT_SIZE];

    if (entry.seq != check->last_seq + 1)
        add_fault(
            verifying, check->last_seq + 1,
            arena_printf(verifying->arena, "removed: the next entry is %jd", (intmax_t)entry.seq));
    audit_chain_step(verifying->hash, &entry);
    if (has_hash &&
        (kept.size != AUDIT_HASH_SIZE || memcmp(kept.data, verifying->hash, AUDIT_HASH_SIZE) != 0))
        add_fault(verifying, entry.seq, "it, or an entry before it, is not what was written");
    else if (!has_hash && verifying->is_chained)
        add_fault(verifying, entry.seq, "put in: it has no hash, and an older one has");
    verifying->is_chained = verifying->is_chained || has_hash;
    if (has_hash && kept.size == AUDIT_HASH_SIZE)
        memcpy(verifying->hash, kept.data, AUDIT_HASH_SIZE); /* tell each fault once */
    audit_hash_text(verifying->hash, text);
    if (entry.seq == verifying->expect_seq && strcasecmp(text, verifying->expect_hash) != 0)
        add_fault(verifying, entry.seq,
                  "its hash is not the one that was noted: the log up to it "
                  "was rewritten");
    check->count++;
    check->last_seq = entry.seq;
}

static int check_page(struct store *store, struct verifying *verifying, size_t *count,
                      struct err *err)
{
    struct arena *arena = arena_new();
    struct store_rows rows =
        store_read_rows(store, CHAIN_ROWS,
                        STORE_WITH(STORE_V_INT(verifying->check->last_seq), STORE_V_INT(INT64_MAX),
                                   STORE_V_INT(AUDIT_PAGE_COUNT)));

    for (*count = 0; store_next(&rows); ++*count) {
        check_row(verifying, rows.columns, arena);
        arena_reset(arena);
    }
    arena_free(arena);
    return store_rows_end(&rows, err);
}

int audit_verify(struct store *store, int64_t expect_seq, const char *expect_hash,
                 struct arena *arena, struct audit_check *check, struct err *err)
{
    struct verifying verifying = {
        .check = check, .arena = arena, .expect_seq = expect_seq, .expect_hash = expect_hash};
    int64_t next = 1;
    size_t count;
    int rc;

    *check = (struct audit_check){.count = 0};
    /* Read first: entries that come meanwhile are seen as well. */
    rc = store_read_integer(store, "SELECT next FROM sequence WHERE name = 'audit'", NULL, 0, &next,
                            err);
    do
        rc = rc ? rc : check_page(store, &verifying, &count, err);
    while (!rc && count == AUDIT_PAGE_COUNT);
    if (rc)
        return rc;
    if (check->last_seq < next - 1)
        add_fault(
            &verifying, check->last_seq + 1,
            arena_printf(arena, "removed: entries up to %jd were written", (intmax_t)(next - 1)));
    if (expect_seq > check->last_seq)
        add_fault(&verifying, expect_seq, "removed: its hash was noted, and it is not there");
    audit_hash_text(verifying.hash, check->head);
    return 0;
}
