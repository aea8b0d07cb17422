/* SPDX-License-Identifier: Apache-2.0 */
/* synonym_sets.c - see synonym_sets.h. */
#include "search/synonyms/synonym_sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "base/memory.h"
#include "search/bounds.h"

enum { LANGUAGE_SIZE_MIN = 2, DETAIL_SIZE = 96 };

int synonym_language_check(const char *language, struct err *err)
{
    size_t size = strlen(language);

    if (size < LANGUAGE_SIZE_MIN || size > SYNONYM_LANGUAGE_SIZE_MAX ||
        strspn(language, "abcdefghijklmnopqrstuvwxyz") != size)
        return err_set(err, ERR_INVALID,
                       "language: \"%.40s\" is not the name of one: expected %d to %d small "
                       "letters, such as ru",
                       language, LANGUAGE_SIZE_MIN, SYNONYM_LANGUAGE_SIZE_MAX);
    return 0;
}

/* --- reading --- */

int synonym_sets_mark(struct store *store, int64_t *mark, struct err *err)
{
    *mark = 0;
    return store_read_integer(store,
                              "SELECT CAST(COALESCE(SUM(version), 0) AS BIGINT) FROM synonym_set",
                              NULL, 0, mark, err);
}

static struct synonym_set read_row(const struct store_rows *rows, struct arena *arena)
{
    return (struct synonym_set){.language = arena_text(arena, rows->columns[0].bytes),
                                .version = rows->columns[1].integer,
                                .text = arena_copy(arena, rows->columns[2].bytes),
                                .applied_us = rows->columns[3].integer,
                                .applied_by = arena_text(arena, rows->columns[4].bytes)};
}

int synonym_sets_read(struct store *store, struct arena *arena, struct synonym_sets *sets,
                      struct err *err)
{
    struct store_rows rows =
        store_read_rows(store,
                        "SELECT language, version, body, applied_us, applied_by FROM synonym_set "
                        "ORDER BY language LIMIT $1",
                        &STORE_V_INT(SYNONYM_LANGUAGE_COUNT_MAX), 1);

    *sets = (struct synonym_sets){
        .list = arena_array(arena, SYNONYM_LANGUAGE_COUNT_MAX, sizeof(struct synonym_set))};
    while (sets->count < SYNONYM_LANGUAGE_COUNT_MAX && store_next(&rows)) {
        if (rows.columns[1].type != STORE_INT || rows.columns[2].type != STORE_BLOB) {
            rows.rc = err_set(err, ERR_CORRUPT, "a row of synonym_set is damaged");
            break;
        }
        sets->list[sets->count++] = read_row(&rows, arena);
    }
    return store_rows_end(&rows, err);
}

const struct synonym_set *synonym_sets_find(const struct synonym_sets *sets, const char *language)
{
    for (size_t i = 0; i < sets->count; i++) {
        if (strcmp(sets->list[i].language, language) == 0)
            return &sets->list[i];
    }
    return NULL;
}

/* --- changing --- */

struct applying {
    const struct synonym_change *change;
    const struct audit_entry *entry;
};

static int tell_conflict(struct store_tx *tx, const struct synonym_change *change, struct err *err)
{
    int64_t current = 0;
    int rc = store_find_integer(tx, "SELECT version FROM synonym_set WHERE language = $1",
                                STORE_WITH(STORE_V_STRING(change->language)), &current, err);

    return rc ? rc
              : err_set(err, ERR_CONFLICT,
                        "version %" PRId64 " of the synonyms in \"%s\" is in force, not %" PRId64
                        ": look at the difference again",
                        current, change->language, change->expected);
}

/* A language more than there is room for is refused. */
static int check_room(struct store_tx *tx, struct err *err)
{
    int64_t count = 0;
    int rc = store_find_integer(tx, "SELECT COUNT(*) FROM synonym_set", NULL, 0, &count, err);

    if (!rc && count >= SYNONYM_LANGUAGE_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "language: there are %d sets of synonyms, which is the limit",
                     SYNONYM_LANGUAGE_COUNT_MAX);
    return rc;
}

static int apply_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct applying *applying = arg;
    const struct synonym_change *change = applying->change;
    struct bytes name = bytes_make(change->principal, strcspn(change->principal, "#"));
    const struct store_value row[] = {STORE_V_STRING(change->language),
                                      STORE_V_INT(change->expected + 1),
                                      STORE_V_BLOB(change->text),
                                      STORE_V_INT(change->now_us),
                                      STORE_V_TEXT(name),
                                      STORE_V_INT(change->expected)};
    int64_t changed = 0;
    int rc = change->expected ? 0 : check_room(tx, err);

    if (!rc && change->expected)
        rc = store_exec(tx,
                        "UPDATE synonym_set SET version = $2, body = $3, applied_us = $4, "
                        "applied_by = $5 WHERE language = $1 AND version = $6",
                        row, ARRAY_COUNT(row), &changed, err);
    else if (!rc)
        rc = store_exec(tx,
                        "INSERT INTO synonym_set (language, version, body, applied_us, applied_by) "
                        "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (language) DO NOTHING",
                        row, ARRAY_COUNT(row) - 1, &changed, err);
    if (!rc && !changed)
        rc = tell_conflict(tx, change, err);
    return rc ? rc : audit_add(tx, applying->entry, err);
}

int synonym_sets_apply(struct store *store, const struct synonym_change *change, struct err *err)
{
    char detail[DETAIL_SIZE];
    const struct audit_entry entry = {.at_us = change->now_us,
                                      .principal = change->principal,
                                      .action = "synonyms.apply",
                                      .target = change->language,
                                      .detail = detail};
    struct applying applying = {.change = change, .entry = &entry};
    int rc;

    snprintf(detail, sizeof(detail), "version %" PRId64 ", %zu bytes", change->expected + 1,
             change->text.size);
    rc = store_write(store, apply_tx, &applying, err);
    if (!rc)
        audit_log(&entry);
    return rc;
}
