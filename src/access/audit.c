/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c - see audit.h. */
#include "access/audit.h"

#include "base/log.h"
#include "base/memory.h"
#include "store/sequence.h"

int audit_add(struct store_tx *tx, const struct audit_entry *entry, struct err *err)
{
    int64_t seq = 0;
    int rc = store_next_seq(tx, "audit", 1, &seq, err);

    if (rc)
        return rc;
    return store_exec(tx,
                      "INSERT INTO audit (seq, at_us, principal, action, target, detail) "
                      "VALUES ($1, $2, $3, $4, $5, $6)",
                      STORE_WITH(STORE_V_INT(seq), STORE_V_INT(entry->at_us),
                                 STORE_V_STRING(entry->principal), STORE_V_STRING(entry->action),
                                 STORE_V_STRING(entry->target), STORE_V_STRING(entry->detail)),
                      NULL, err);
}

void audit_log(const struct audit_entry *entry)
{
    log_info("audit", LOG_TEXT("principal", entry->principal), LOG_TEXT("action", entry->action),
             LOG_TEXT("target", entry->target), LOG_TEXT("detail", entry->detail));
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

int audit_list(struct store *store, int64_t before_seq, size_t max, struct arena *arena,
               struct audit_entry **entries, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        "SELECT seq, at_us, principal, action, target, detail FROM audit "
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
                                 .detail = arena_text(arena, rows.columns[5].bytes)};
    return store_rows_end(&rows, err);
}
