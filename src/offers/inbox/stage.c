/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - see stage.h. */
#include "offers/inbox/stage.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "access/audit.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/offer_change.h"
#include "offers/record/freshness.h"
#include "offers/record/offer_record.h"
#include "store/store_seal.h"

int stage_check_name(const char *name, struct err *err)
{
    size_t size = strlen(name);
    bool ok = size >= 1 && size <= STAGE_NAME_SIZE_MAX;

    for (size_t i = 0; i < size && ok; i++)
        ok = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) || name[i] == '-';
    if (ok)
        return 0;
    return err_set(err, ERR_INVALID, "stage: expected 1 to %d characters of a-z, 0-9 and dash",
                   STAGE_NAME_SIZE_MAX);
}

struct access {
    offerid id;
    struct bytes kind;
    struct arena *arena;
    const char *actor; /* of a change; NULL: it is not audited */
    const char *stage;
    int64_t expected_revision;
    int64_t now_us;
    struct bytes value; /* to be kept */

    struct freshness offer; /* its newest change */

    bool found; /* the row; what it has: */
    int64_t revision;
    int64_t updated_us;
    struct bytes kept;
};

/* Its number in the outbox is not kept: from 0 on means any of it that waits there. */
static int read_offer(struct store_tx *tx, struct access *access, struct err *err)
{
    struct store_rows rows =
        store_select(tx, "SELECT shard_id, revision FROM offer WHERE id = $1 AND kind = 'offer'",
                     STORE_WITH(STORE_V_INT(access->id)));

    access->offer = (struct freshness){.offer = access->id};
    if (store_next(&rows)) {
        access->offer.shard = (uint32_t)rows.columns[0].integer;
        access->offer.revision = rows.columns[1].integer;
    }
    return store_rows_end(&rows, err);
}

static int read_row(struct store_tx *tx, void *arg, struct err *err)
{
    struct access *access = arg;
    struct store_rows rows =
        store_select(tx, "SELECT revision, updated_us, body FROM offer WHERE id = $1 AND kind = $2",
                     STORE_WITH(STORE_V_INT(access->id), STORE_V_TEXT(access->kind)));

    access->revision = 0;
    access->found = store_next(&rows);
    if (access->found) {
        access->revision = rows.columns[0].integer;
        access->updated_us = rows.columns[1].integer;
        access->kept = arena_copy(access->arena, rows.columns[2].bytes);
    }
    return store_rows_end(&rows, err);
}

static int audit_state(struct store_tx *tx, const struct access *access, struct err *err)
{
    const struct audit_entry entry = {.at_us = access->now_us,
                                      .principal = access->actor,
                                      .action = "stage.put",
                                      .target = offer_id_text(access->arena, access->id),
                                      .detail = arena_printf(access->arena, "%s, revision %" PRId64,
                                                             access->stage,
                                                             access->expected_revision + 1)};

    return audit_add(tx, &entry, err);
}

static int read_both(struct store_tx *tx, void *arg, struct err *err)
{
    int rc = read_row(tx, arg, err);

    return rc ? rc : read_offer(tx, arg, err);
}

static int write_row(struct store_tx *tx, void *arg, struct err *err)
{
    struct access *access = arg;
    struct store_value params[] = {STORE_V_INT(access->id),
                                   STORE_V_TEXT(access->kind),
                                   STORE_V_INT(0),
                                   STORE_V_INT(access->expected_revision + 1),
                                   STORE_V_INT(access->now_us),
                                   STORE_V_BLOB(access->value)};
    int rc = read_offer(tx, access, err);

    params[2].integer = access->offer.shard;
    if (!rc && !access->offer.revision)
        rc = offer_refuse_missing(access->id, err);
    if (!rc)
        rc = read_row(tx, access, err);
    if (rc)
        return rc;
    if (access->revision != access->expected_revision)
        return err_set(err, ERR_CONFLICT,
                       "the state is at revision %" PRId64 ", not %" PRId64
                       ": read it and change that",
                       access->revision, access->expected_revision);
    rc = store_exec(tx,
                    "INSERT INTO offer (id, kind, shard_id, revision, updated_us, expires_us, "
                    "body) VALUES ($1, $2, $3, $4, $5, 0, $6) ON CONFLICT (id, kind) DO UPDATE "
                    "SET revision = excluded.revision, updated_us = excluded.updated_us, "
                    "body = excluded.body",
                    params, 6, NULL, err);
    return rc || !access->actor ? rc : audit_state(tx, access, err);
}

static int fill(const struct offers *offers, const struct access *access, const char *stage,
                Torg__V1__StageState *state, struct err *err)
{
    struct seal seal;
    int rc = store_seal(offers->store, &seal, err);

    state->offer_id = offer_id_text(access->arena, access->id);
    state->stage = arena_strdup(access->arena, stage);
    state->revision = access->revision;
    state->value.data = (uint8_t *)access->kept.data;
    state->value.len = access->kept.size;
    state->update_time = moment_or_none(access->updated_us, access->arena);
    if (!rc && access->offer.revision)
        state->freshness_token = freshness_text(&access->offer, &seal, access->arena);
    return rc;
}

static struct bytes kind_of(const char *stage, struct arena *arena)
{
    return bytes_of(arena_printf(arena, "stage/%s", stage));
}

int stage_get(const struct offers *offers, offerid id, const char *stage, struct arena *arena,
              Torg__V1__StageState *state, struct err *err)
{
    struct access access = {.id = id, .kind = kind_of(stage, arena), .arena = arena};
    int rc = store_read(offers->store, read_both, &access, err);

    assert(offers->store && offers->clock);
    if (!rc && !access.found)
        rc = err_set(err, ERR_NOT_FOUND, "stage %s has kept nothing with offer %s", stage,
                     offer_id_text(arena, id));
    return rc ? rc : fill(offers, &access, stage, state, err);
}

int stage_put(const struct offers *offers, const char *actor, offerid id, const char *stage,
              int64_t expected_revision, struct bytes value, struct arena *arena,
              Torg__V1__StageState *state, struct err *err)
{
    struct access access = {.id = id,
                            .kind = kind_of(stage, arena),
                            .arena = arena,
                            .actor = actor,
                            .stage = stage,
                            .expected_revision = expected_revision,
                            .now_us = clock_wall_us(offers->clock),
                            .value = value};
    int rc;

    assert(offers->store && offers->clock);
    if (value.size > STAGE_VALUE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "a state of %zu bytes; the limit is %d", value.size,
                       STAGE_VALUE_SIZE_MAX);
    rc = store_write(offers->store, write_row, &access, err);
    if (rc)
        return rc;
    access.revision = expected_revision + 1;
    access.updated_us = access.now_us;
    access.kept = value;
    return fill(offers, &access, stage, state, err);
}
