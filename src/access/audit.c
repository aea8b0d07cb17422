/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c - see audit.h. */
#include "access/audit.h"

#include <stdio.h>
#include <string.h>

#include "access/audit_chain.h"
#include "base/log.h"
#include "base/memory.h"
#include "model/identity.h"
#include "store/sequence.h"

/* An actor taken apart: "boss#9aXk2" is the key 9aXk2 of boss. */
struct actor {
    char name[IDENTITY_NAME_SIZE];
    const char *key;
};

static struct actor actor_of(const struct audit_entry *entry)
{
    const char *mark = strchr(entry->principal, '#');
    size_t size = mark ? (size_t)(mark - entry->principal) : strlen(entry->principal);
    struct actor actor = {.key = entry->key ? entry->key : mark ? mark + 1 : ""};

    snprintf(actor.name, sizeof(actor.name), "%.*s", (int)size, entry->principal);
    return actor;
}

int audit_add(struct store_tx *tx, const struct audit_entry *entry, struct err *err)
{
    const struct actor actor = actor_of(entry);
    struct audit_entry row = *entry;
    uint8_t hash[AUDIT_HASH_SIZE];
    int rc = store_next_seq(tx, "audit", 1, &row.seq, err);

    if (!rc) /* the sequence's row is ours until the end: nobody adds one between */
        rc = audit_chain_before(tx, row.seq, hash, err);
    if (rc)
        return rc;
    row.principal = actor.name;
    row.key = actor.key;
    audit_chain_step(hash, &row);
    return store_exec(tx,
                      "INSERT INTO audit (seq, at_us, principal, action, target, detail, key_id, "
                      "hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                      STORE_WITH(STORE_V_INT(row.seq), STORE_V_INT(row.at_us),
                                 STORE_V_STRING(row.principal), STORE_V_STRING(row.action),
                                 STORE_V_STRING(row.target), STORE_V_STRING(row.detail),
                                 STORE_V_STRING(row.key),
                                 STORE_V_BLOB(bytes_make(hash, AUDIT_HASH_SIZE))),
                      NULL, err);
}

void audit_log(const struct audit_entry *entry)
{
    const struct actor actor = actor_of(entry);

    log_info("audit", LOG_TEXT("principal", actor.name), LOG_TEXT("key", actor.key),
             LOG_TEXT("action", entry->action), LOG_TEXT("target", entry->target),
             LOG_TEXT("detail", entry->detail));
}

static int add_entry(struct store_tx *tx, void *arg, struct err *err)
{
    return audit_add(tx, arg, err);
}

int audit_record(struct store *store, const struct audit_entry *entry, struct err *err)
{
    struct audit_entry copy = *entry;
    int rc = store_write(store, add_entry, &copy, err);

    if (rc)
        return err_wrap(err, "audit %s", entry->action);
    audit_log(entry);
    return 0;
}

static const char *hash_text(const struct store_value *column, struct arena *arena)
{
    char text[AUDIT_HASH_TEXT_SIZE];

    if (column->type != STORE_BLOB || column->bytes.size != AUDIT_HASH_SIZE)
        return "";
    audit_hash_text(column->bytes.data, text);
    return arena_strdup(arena, text);
}

int audit_list(struct store *store, int64_t before_seq, size_t max, struct arena *arena,
               struct audit_entry **entries, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        "SELECT seq, at_us, principal, action, target, detail, key_id, hash FROM audit "
        "WHERE seq < $1 ORDER BY seq DESC LIMIT $2",
        STORE_WITH(STORE_V_INT(before_seq ? before_seq : INT64_MAX), STORE_V_INT((int64_t)max)));

    *entries = arena_array(arena, max, sizeof(**entries));
    for (*count = 0; store_next(&rows); ++*count)
        (*entries)[*count] =
            (struct audit_entry){.seq = rows.columns[0].integer,
                                 .at_us = rows.columns[1].integer,
                                 .principal = arena_text(arena, rows.columns[2].bytes),
                                 .action = arena_text(arena, rows.columns[3].bytes),
                                 .target = arena_text(arena, rows.columns[4].bytes),
                                 .detail = arena_text(arena, rows.columns[5].bytes),
                                 .key = arena_text(arena, rows.columns[6].bytes),
                                 .hash = hash_text(&rows.columns[7], arena)};
    return store_rows_end(&rows, err);
}
