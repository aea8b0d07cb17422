/* SPDX-License-Identifier: Apache-2.0 */
/* auditor_book.c - see auditor_book.h. */
#include "inspect/audit/auditor_book.h"

#include "codec/message.h"
#include "codec/moment.h"
#include "inspect/bounds.h"

/* --- rounds --- */

/* What is told beside a round, each in a row of its own. */
static int write_aside(struct store_tx *tx, const char *name, const struct auditor_round *round,
                       int64_t count, struct err *err)
{
    return store_exec(
        tx,
        "INSERT INTO auditor (name, round_no, began_us, ended_us, equal_us, checked_count, "
        "difference_count, repaired_count, waiting_count, difference_sum, repaired_sum) "
        "VALUES ($1, 1, $2, $3, 0, $4, 0, 0, 0, 0, 0) "
        "ON CONFLICT (name) DO UPDATE SET round_no = auditor.round_no + 1, "
        "began_us = excluded.began_us, ended_us = excluded.ended_us, "
        "checked_count = excluded.checked_count",
        STORE_WITH(STORE_V_STRING(name), STORE_V_INT(round->began_us), STORE_V_INT(round->ended_us),
                   STORE_V_INT(count)),
        NULL, err);
}

static int write_whole(struct store_tx *tx, const struct auditor_round *round, struct err *err)
{
    return store_exec(
        tx,
        "INSERT INTO auditor (name, round_no, began_us, ended_us, equal_us, checked_count, "
        "difference_count, repaired_count, waiting_count, difference_sum, repaired_sum) "
        "VALUES ('all', 1, $1, $2, CASE WHEN $4 = 0 THEN $2 ELSE 0 END, $3, $4, $5, $6, $4, $5) "
        "ON CONFLICT (name) DO UPDATE SET round_no = auditor.round_no + 1, "
        "began_us = excluded.began_us, ended_us = excluded.ended_us, "
        "equal_us = CASE WHEN excluded.equal_us > 0 THEN excluded.equal_us "
        "ELSE auditor.equal_us END, checked_count = excluded.checked_count, "
        "difference_count = excluded.difference_count, repaired_count = excluded.repaired_count, "
        "waiting_count = excluded.waiting_count, "
        "difference_sum = auditor.difference_sum + excluded.difference_sum, "
        "repaired_sum = auditor.repaired_sum + excluded.repaired_sum",
        STORE_WITH(STORE_V_INT(round->began_us), STORE_V_INT(round->ended_us),
                   STORE_V_INT(round->checked_count), STORE_V_INT(round->difference_count),
                   STORE_V_INT(round->repaired_count), STORE_V_INT(round->waiting_count)),
        NULL, err);
}

static int write_round(struct store_tx *tx, void *arg, struct err *err)
{
    const struct auditor_round *round = arg;
    int rc = write_whole(tx, round, err);

    if (!rc)
        rc = write_aside(tx, "parked", round, round->parked_count, err);
    if (!rc)
        rc = write_aside(tx, "content", round, round->content_count, err);
    return rc ? rc : write_aside(tx, "looked", round, round->looked_count, err);
}

int auditor_book_round(struct store *store, const struct auditor_round *round, struct err *err)
{
    return store_write(store, write_round, (void *)round, err);
}

/* --- differences --- */

struct booking {
    const char *check, *client;
    Torg__V1__VerifyFinding *const *findings;
    size_t count;
    int64_t now_us;
};

static int write_finding(struct store_tx *tx, const struct booking *booking,
                         const Torg__V1__VerifyFinding *finding, struct err *err)
{
    return store_exec(
        tx,
        "INSERT INTO auditor_difference (check_name, client, pk, reason, told, first_us, last_us, "
        "seen_count, is_repaired) VALUES ($1, $2, $3, $4, $5, $6, $6, 1, $7) "
        "ON CONFLICT (check_name, client, pk) DO UPDATE SET reason = excluded.reason, "
        "told = excluded.told, last_us = excluded.last_us, "
        "seen_count = auditor_difference.seen_count + 1, is_repaired = excluded.is_repaired",
        STORE_WITH(STORE_V_STRING(booking->check), STORE_V_STRING(booking->client),
                   STORE_V_STRING(finding->pk), STORE_V_STRING(finding->reason),
                   STORE_V_STRING(finding->text), STORE_V_INT(booking->now_us),
                   STORE_V_INT(finding->is_fixed)),
        NULL, err);
}

static int write_findings(struct store_tx *tx, void *arg, struct err *err)
{
    const struct booking *booking = arg;
    int64_t oldest_us = 0;
    int rc = 0;

    for (size_t i = 0; i < booking->count && !rc; i++)
        rc = write_finding(tx, booking, booking->findings[i], err);
    if (!rc)
        rc = store_find_integer(tx,
                                "SELECT last_us FROM auditor_difference ORDER BY last_us DESC "
                                "LIMIT 1 OFFSET $1",
                                STORE_WITH(STORE_V_INT(AUDITOR_KEPT_COUNT)), &oldest_us, err);
    if (!rc && oldest_us)
        rc = store_exec(tx, "DELETE FROM auditor_difference WHERE last_us < $1",
                        STORE_WITH(STORE_V_INT(oldest_us)), NULL, err);
    return rc;
}

int auditor_book_findings(struct store *store, const char *check, const char *client,
                          Torg__V1__VerifyFinding *const *findings, size_t count, int64_t now_us,
                          struct err *err)
{
    struct booking booking = {check, client, findings, count, now_us};

    return count ? store_write(store, write_findings, &booking, err) : 0;
}

/* --- reading --- */

struct telling {
    struct arena *arena;
    Torg__V1__Audit *audit;
};

static int read_round(struct store_tx *tx, const struct telling *telling, struct err *err)
{
    Torg__V1__Audit *audit = telling->audit;
    struct store_rows rows = store_select(
        tx,
        "SELECT round_no, began_us, ended_us, equal_us, checked_count, difference_count, "
        "repaired_count, waiting_count, difference_sum, repaired_sum FROM auditor "
        "WHERE name = 'all'",
        NULL, 0);

    if (store_next(&rows)) {
        audit->round_count = rows.columns[0].integer;
        audit->begin_time = moment_message(rows.columns[1].integer, telling->arena);
        audit->end_time = moment_message(rows.columns[2].integer, telling->arena);
        if (rows.columns[3].integer)
            audit->equal_time = moment_message(rows.columns[3].integer, telling->arena);
        audit->checked_count = rows.columns[4].integer;
        audit->difference_count = rows.columns[5].integer;
        audit->repaired_count = rows.columns[6].integer;
        audit->waiting_count = rows.columns[7].integer;
        audit->difference_sum = rows.columns[8].integer;
        audit->repaired_sum = rows.columns[9].integer;
    }
    return store_rows_end(&rows, err);
}

static int read_aside(struct store_tx *tx, const char *name, int64_t *count, struct err *err)
{
    *count = 0;
    return store_find_integer(tx, "SELECT checked_count FROM auditor WHERE name = $1",
                              STORE_WITH(STORE_V_STRING(name)), count, err);
}

static int read_asides(struct store_tx *tx, Torg__V1__Audit *audit, struct err *err)
{
    int rc = read_aside(tx, "parked", &audit->parked_count, err);

    if (!rc)
        rc = read_aside(tx, "content", &audit->content_count, err);
    return rc ? rc : read_aside(tx, "looked", &audit->looked_count, err);
}

static int read_all(struct store_tx *tx, void *arg, struct err *err)
{
    const struct telling *telling = arg;
    Torg__V1__Audit *audit = telling->audit;
    struct store_rows rows;
    int rc = read_round(tx, telling, err);

    if (!rc)
        rc = read_asides(tx, audit, err);
    if (rc)
        return rc;
    audit->n_differences = 0; /* it may be run again */
    audit->differences =
        arena_array(telling->arena, AUDITOR_KEPT_COUNT, sizeof(audit->differences[0]));
    rows = store_select(tx,
                        "SELECT check_name, client, pk, reason, told, first_us, last_us, "
                        "seen_count, is_repaired FROM auditor_difference "
                        "ORDER BY last_us DESC, pk LIMIT $1",
                        STORE_WITH(STORE_V_INT(AUDITOR_KEPT_COUNT)));
    while (store_next(&rows)) {
        Torg__V1__AuditDifference *one = MESSAGE_NEW(audit_difference, telling->arena);

        one->check = arena_text(telling->arena, rows.columns[0].bytes);
        one->client = arena_text(telling->arena, rows.columns[1].bytes);
        one->pk = arena_text(telling->arena, rows.columns[2].bytes);
        one->reason = arena_text(telling->arena, rows.columns[3].bytes);
        one->text = arena_text(telling->arena, rows.columns[4].bytes);
        one->first_time = moment_message(rows.columns[5].integer, telling->arena);
        one->last_time = moment_message(rows.columns[6].integer, telling->arena);
        one->seen_count = rows.columns[7].integer;
        one->is_repaired = rows.columns[8].integer != 0;
        audit->differences[audit->n_differences++] = one;
    }
    return store_rows_end(&rows, err);
}

int auditor_book_read(struct store *store, struct arena *arena, Torg__V1__Audit *audit,
                      struct err *err)
{
    struct telling telling = {arena, audit};

    return store_read(store, read_all, &telling, err);
}
