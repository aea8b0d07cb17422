/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c - see accept.h. */
#include "registry/receiving/accept.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "codec/message.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/receiving/keys.h"

/* A key of the batch: what is kept of it, by the store and by candidates before. */
struct key_state {
    struct row row;           /* status 0: nothing */
    struct candidate *winner; /* the last accepted; NULL: none */
    bool is_deferred;         /* one of its candidates is checked anew: so are those behind it */
};

struct run {
    struct acceptance *acceptance;
    struct arena *arena;
    struct key_state *keys; /* one a candidate; those of one key share the first's */
    uint32_t *key_of;       /* candidate → its key's place */
    struct new_fields grown;
};

/* --- schema --- */

int schema_insert(struct store_tx *tx, int64_t client_id, const struct new_field *field,
                  struct arena *arena, struct err *err)
{
    const Torg__V1__SchemaField *message = schema_field_message(&field->field, arena);
    struct buf wire = BUF_INIT(1024);
    int rc;

    message_encode(&message->base, &wire);
    assert(!buf_failed(&wire));
    {
        rc =
            store_exec(tx,
                       "INSERT INTO registry_field (client_id, epoch, name, number, field) "
                       "VALUES ($1, $2, $3, $4, $5)",
                       STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(field->epoch),
                                  STORE_V_STRING(field->field.name),
                                  STORE_V_INT(field->field.number), STORE_V_BLOB(buf_bytes(&wire))),
                       NULL, err);
    }
    buf_release(&wire);
    return rc;
}

static uint32_t next_number(const struct client_view *client, const struct new_fields *grown,
                            int64_t epoch)
{
    const struct epoch_view *view = client_epoch(client, epoch);
    uint32_t number = 1 + (view->field_count ? view->fields[view->field_count - 1].number : 0);

    for (uint32_t i = 0; i < grown->count; i++)
        number += grown->list[i].epoch == epoch;
    return number;
}

static bool has_room(const struct epoch_view *epoch, const struct new_fields *grown,
                     const struct epoch_field *field)
{
    uint32_t text_count = 0;

    if (field->number > DOCUMENT_SCHEMA_COUNT_MAX)
        return false;
    for (uint32_t i = 0; i < epoch->field_count; i++)
        text_count += epoch->fields[i].type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    for (uint32_t i = 0; i < grown->count; i++)
        text_count += grown->list[i].epoch == epoch->epoch &&
                      grown->list[i].field.type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    return field->type != TORG__V1__SCHEMA_FIELD__TYPE__TEXT ||
           text_count < DOCUMENT_TEXT_FIELD_COUNT_MAX;
}

/* A field that is new in an epoch is new in the others, too: what was written for the one fits
 * them, after a switch and on the way back. One that cannot take it is left as it is. */
static int grow_others(struct store_tx *tx, const struct client_view *client,
                       const struct new_field *field, struct new_fields *grown, struct arena *arena,
                       struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < client->epoch_count && !rc; i++) {
        const struct epoch_view *epoch = &client->epochs[i];
        struct new_field other = *field;

        other.epoch = epoch->epoch;
        if (epoch->epoch == field->epoch || epoch_find_field(epoch, bytes_of(field->field.name)) ||
            new_fields_find(grown, epoch->epoch, bytes_of(field->field.name), field->hash))
            continue;
        other.field.number = next_number(client, grown, epoch->epoch);
        if (!has_room(epoch, grown, &other.field))
            continue;
        rc = schema_insert(tx, client->id, &other, arena, err);
        new_fields_add(grown, &other, arena);
    }
    return rc;
}

int schema_grow(struct store_tx *tx, const struct client_view *client,
                const struct new_fields *fields, struct new_fields *grown, struct arena *arena,
                struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < fields->count && !rc; i++) {
        struct new_field field = fields->list[i];

        if (new_fields_find(grown, field.epoch, bytes_of(field.field.name), field.hash))
            continue;
        if (!grown->count)
            rc = client_touch(tx, client->id, err);
        if (rc)
            return rc;
        field.field.number = next_number(client, grown, field.epoch);
        rc = schema_insert(tx, client->id, &field, arena, err);
        new_fields_add(grown, &field, arena);
        if (!rc)
            rc = grow_others(tx, client, &field, grown, arena, err);
    }
    return rc;
}

/* --- verdicts --- */

static bool is_same_write(const struct row *kept, const struct row *row)
{
    return kept->content == row->content && kept->status == row->status;
}

static void decide(struct run *run, struct candidate *candidate, struct key_state *key)
{
    const struct acceptance *acceptance = run->acceptance;
    const struct row *kept = key->row.status ? &key->row : NULL;
    struct row row = candidate->row;
    int order = 1;

    if (!row.order.epoch)
        row.order.epoch = candidate->checked_epoch;
    if (kept && !candidate->row.order.epoch && kept->order.epoch > row.order.epoch) {
        candidate->resolved_epoch = kept->order.epoch;
        key->is_deferred = true;
        return;
    }
    if (!row.order.modify_us) {
        row.order.modify_us = acceptance->now_us;
        if (kept && kept->order.epoch == row.order.epoch &&
            kept->order.version == row.order.version &&
            (is_same_write(kept, &row) || kept->order.modify_us >= row.order.modify_us))
            row.order.modify_us = kept->order.modify_us + !is_same_write(kept, &row);
    }
    if (kept)
        order = order_compare(&row.order, &kept->order);
    candidate->is_decided = true;
    if (order > 0) {
        candidate->kind = TORG__V1__VERDICT__KIND__ACCEPTED;
        candidate->order = row.order;
        key->row = row;
        key->winner = candidate;
    } else {
        candidate->kept = kept->order;
        candidate->kind = order == 0 && is_same_write(kept, &row)
                              ? TORG__V1__VERDICT__KIND__DUPLICATE
                              : TORG__V1__VERDICT__KIND__STALE;
    }
}

static int load_keys(struct store_tx *tx, struct run *run, struct err *err)
{
    const struct acceptance *acceptance = run->acceptance;
    struct bytes *pks = arena_array(run->arena, acceptance->count, sizeof(*pks));
    struct row *rows = arena_array(run->arena, acceptance->count, sizeof(*rows));
    int rc;

    for (size_t i = 0; i < acceptance->count; i++)
        pks[i] = acceptance->list[i]->row.pk;
    run->key_of = keys_first_places(pks, acceptance->count, run->arena);
    rc =
        rows_find(tx, acceptance->client->id, pks, acceptance->count, false, run->arena, rows, err);
    for (size_t i = 0; i < acceptance->count; i++)
        run->keys[i].row = rows[i];
    return rc;
}

/* --- writing --- */

static int append_shard(struct store_tx *tx, const struct acceptance *acceptance, uint32_t shard,
                        struct queue_element *elements, struct candidate **winners, size_t count,
                        struct err *err)
{
    size_t of_shard = 0;
    int rc;

    for (size_t i = 0; i < count; i++) {
        if (winners[i]->shard == shard)
            elements[of_shard++] = (struct queue_element){
                .pk = winners[i]->row.pk, .order = winners[i]->order, .put_us = acceptance->now_us};
    }
    if (!of_shard)
        return 0;
    rc = queue_append(tx, acceptance->client->id, acceptance->lane, shard, elements, of_shard, err);
    of_shard = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        if (winners[i]->shard == shard)
            winners[i]->idx = elements[of_shard++].idx;
    }
    return rc;
}

static int write_winners(struct store_tx *tx, struct run *run, struct err *err)
{
    const struct acceptance *acceptance = run->acceptance;
    uint32_t shard_count = acceptance->client->shard_count;
    struct candidate **winners =
        arena_array(run->arena, acceptance->count, sizeof(struct candidate *));
    const struct row **rows =
        arena_array(run->arena, acceptance->count, sizeof(const struct row *));
    struct queue_element *elements = arena_array(run->arena, acceptance->count, sizeof(*elements));
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < acceptance->count; i++) {
        struct candidate *winner = run->keys[i].winner;

        if (!winner)
            continue;
        winner->shard = number_key_shard(winner->row.hash, shard_count);
        rows[count] = &run->keys[i].row;
        winners[count++] = winner;
    }
    rc = rows_save(tx, acceptance->client->id, rows, count, err);
    /* Shards in one order for all, so that no two wait for each other. */
    for (uint32_t shard = 0; shard < shard_count && !rc; shard++)
        rc = append_shard(tx, acceptance, shard, elements, winners, count, err);
    if (rc || acceptance->lane != LANE_BACKFILL)
        return rc;
    for (size_t i = 0; i < acceptance->count; i++)
        if (run->keys[i].winner)
            run->keys[i].row.backfill_idx = run->keys[i].winner->idx;
    return rows_save_places(tx, acceptance->client->id, rows, count, err);
}

/* One that was accepted and overtaken within the batch is found when the winner is. */
static void share_places(struct run *run)
{
    for (size_t i = 0; i < run->acceptance->count; i++) {
        struct candidate *candidate = run->acceptance->list[i];
        const struct candidate *winner = run->keys[run->key_of[i]].winner;

        if (winner) {
            candidate->idx = winner->idx;
            candidate->shard = winner->shard;
        }
    }
}

static int decide_all(struct store_tx *tx, struct run *run, struct err *err)
{
    struct acceptance *acceptance = run->acceptance;
    int rc = 0;

    for (size_t i = 0; i < acceptance->count && !rc; i++) {
        struct candidate *candidate = acceptance->list[i];
        struct key_state *key = &run->keys[run->key_of[i]];

        candidate->is_decided = false;
        if (!key->is_deferred)
            decide(run, candidate, key);
        if (candidate->is_decided && candidate->kind == TORG__V1__VERDICT__KIND__ACCEPTED &&
            candidate->added.count)
            rc = schema_grow(tx, acceptance->client, &candidate->added, &run->grown, run->arena,
                             err);
    }
    return rc;
}

int accept_documents(struct store_tx *tx, void *arg, struct err *err)
{
    struct acceptance *acceptance = arg;
    struct run run = {.acceptance = acceptance, .arena = arena_new()};
    int rc;

    run.keys = arena_array(run.arena, acceptance->count, sizeof(*run.keys));
    rc = client_confirm(tx, acceptance->client, err);
    acceptance->is_outrun = rc == ERR_CONFLICT;
    if (!rc)
        rc = load_keys(tx, &run, err);
    if (!rc)
        rc = decide_all(tx, &run, err);
    if (!rc)
        rc = write_winners(tx, &run, err);
    acceptance->has_grown = !rc && run.grown.count;
    if (run.key_of)
        share_places(&run);
    arena_free(run.arena);
    return rc;
}
