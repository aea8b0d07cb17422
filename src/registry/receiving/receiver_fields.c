/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receiver_fields.c - changes of side fields: receiver.h, and side.h for what they are.
 *
 * One transaction decides on a batch: rows get their new side fields, and each shard an element of
 * the queue that has all of its changes that were taken. They are in the lane main in the order in
 * which they were decided, and are sent as the row has the fields by then: so a field is never sent
 * in an older state than before, by an element or with a put.
 *
 * A caller that waits for a change wants to find the document with it. So a document that still
 * waits in the lane backfill is queued in main, too, ahead of its change: the lane is past the
 * change only when both are in the index.
 */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/change_token.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/receiving/document.h"
#include "registry/receiving/keys.h"
#include "registry/receiving/receiver.h"
#include "registry/receiving/side.h"
#include "store/store_seal.h"

struct change {
    const Torg__V1__FieldChange *asked;
    bool is_refused; /* it breaks a rule, whatever is kept */
    Torg__V1__Verdict__Kind kind;
    struct violations reasons;
    Torg__V1__FieldChange taken; /* of an accepted one */
    int64_t hash;
    int64_t version; /* of its document */
    uint32_t shard;
    int64_t idx;
};

struct field_batch {
    const struct receiver *receiver;
    const char *name;
    const struct client_view *client;
    struct change *changes;
    size_t count;
    struct arena *arena;
    bool is_outrun; /* the client has changed: they are to be checked anew */
    bool is_fresh;  /* they were checked with the client as it is: what is refused stays refused */
};

static void decide(struct change *change, Torg__V1__Verdict__Kind kind)
{
    change->kind = kind;
}

/* --- checking --- */

static void check_field(struct change *change, size_t place, const struct epoch_view *epoch)
{
    const Torg__V1__RawField *field = change->asked->fields[place];
    const struct epoch_field *known = epoch_find_field(epoch, bytes_of(field->name));
    const struct spot spot = {.reasons = &change->reasons, .place = place};
    Torg__V1__SchemaField__Type type;

    for (size_t i = 0; i < place; i++)
        if (bytes_equal_text(bytes_of(field->name), change->asked->fields[i]->name))
            spot_refuse(&spot, ".name", "\"%.80s\" is there already", field->name);
    if (!known || !known->side) {
        spot_refuse(&spot, ".name", "epoch %" PRId64 " has no side field \"%.80s\": %s",
                    epoch->epoch, field->name,
                    known ? "documents bring it (PutDocuments)"
                          : "declare it (SchemaService/DeclareSchema, options.side)");
        return;
    }
    if (!document_has_value(field)) /* taken away */
        return;
    type = document_value_type(&spot, field);
    if (type == known->type)
        document_check_value(&spot, field, known);
    else if (type)
        spot_refuse(&spot, "", "field \"%s\" is %s and cannot be %s", field->name,
                    schema_type_name(known->type), schema_type_name(type));
}

static void check(const struct field_batch *batch, struct change *change)
{
    const struct epoch_view *epoch = client_epoch(batch->client, batch->client->writing_epoch);
    const Torg__V1__FieldChange *asked = change->asked;
    const char *fault = document_text_fault(asked->pk, 1, DOCUMENT_PK_SIZE_MAX, batch->arena);

    change->reasons = violations_in(batch->arena);
    if (fault)
        violations_add(&change->reasons, "pk", "%s", fault);
    if (asked->epoch < 0)
        violations_add(&change->reasons, "epoch", "%" PRId64 " is negative", asked->epoch);
    if (asked->sequence < 0)
        violations_add(&change->reasons, "sequence", "%" PRId64 " is negative", asked->sequence);
    if (!asked->n_fields || asked->n_fields > SIDE_CHANGE_COUNT_MAX)
        violations_add(&change->reasons, "fields", "%zu of them; expected 1 to %d", asked->n_fields,
                       SIDE_CHANGE_COUNT_MAX);
    for (size_t i = 0; i < asked->n_fields && i < SIDE_CHANGE_COUNT_MAX; i++)
        check_field(change, i, epoch);
    change->is_refused = change->reasons.count > 0;
    if (change->is_refused)
        decide(change, TORG__V1__VERDICT__KIND__INVALID);
}

/* True: none was refused. */
static bool check_all(const struct field_batch *batch)
{
    bool is_right = true;

    for (size_t i = 0; i < batch->count; i++) {
        check(batch, &batch->changes[i]);
        is_right = is_right && !batch->changes[i].is_refused;
    }
    return is_right;
}

/* What cannot be decided now is an error; a field that is refused stays unknown. */
static int declare(const struct field_batch *batch, const Torg__V1__RawField *found,
                   struct err *err)
{
    static struct log_pace pace;
    Torg__V1__DeclareSchemaRequest request = TORG__V1__DECLARE_SCHEMA_REQUEST__INIT;
    struct violations reasons = violations_in(batch->arena);
    Torg__V1__Schema schema = TORG__V1__SCHEMA__INIT;
    Torg__V1__SchemaField field = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&field};
    struct spot spot = {.reasons = &reasons};
    int rc;

    field.name = found->name;
    field.type = document_value_type(&spot, found);
    field.options = found->options;
    request.fields = fields;
    request.n_fields = 1;
    rc = receiver_declare(batch->receiver, "PutFields", &request, batch->name, &reasons, &schema,
                          err);
    if (rc && log_pace_is_due(&pace, err))
        log_warn("a side field could not be declared", LOG_TEXT("field", found->name),
                 LOG_TEXT("error", err->text));
    return rc == ERR_UNAVAILABLE || rc == ERR_CONFLICT ? rc : 0;
}

/* Fields that are not there and come with options.side join the schema first, as by DeclareSchema,
 * each by itself: one that is refused stays unknown, which is told of each change. */
static int declare_new(const struct field_batch *batch, struct err *err)
{
    const struct epoch_view *epoch = client_epoch(batch->client, batch->client->writing_epoch);
    const char *names[SIDE_CHANGE_COUNT_MAX];
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < batch->count; i++)
        for (size_t k = 0; k < batch->changes[i].asked->n_fields && !rc; k++) {
            const Torg__V1__RawField *one = batch->changes[i].asked->fields[k];
            size_t at = 0;

            if (!one->options || !one->options->side || !document_has_value(one) ||
                epoch_find_field(epoch, bytes_of(one->name)))
                continue;
            while (at < count && strcmp(names[at], one->name) != 0)
                at++;
            if (at < count || count == SIDE_CHANGE_COUNT_MAX)
                continue;
            names[count++] = one->name;
            rc = declare(batch, one, err);
        }
    return rc;
}

/* --- deciding --- */

struct field_run {
    struct field_batch *batch;
    struct change **open; /* those that are right */
    size_t count;
    uint32_t *key_of;
    struct row *rows;            /* of the first of each key */
    Torg__V1__SideFields **kept; /* likewise; NULL: not read yet */
    bool *is_changed;            /* likewise */
    struct arena *arena;
};

static int find_rows(struct store_tx *tx, struct field_run *run, struct err *err)
{
    struct bytes *pks = arena_array(run->arena, run->count, sizeof(*pks));

    for (size_t i = 0; i < run->count; i++)
        pks[i] = bytes_of(run->open[i]->asked->pk);
    run->key_of = keys_first_places(pks, run->count, run->arena);
    run->rows = arena_array(run->arena, run->count, sizeof(*run->rows));
    run->kept = arena_array(run->arena, run->count, sizeof(Torg__V1__SideFields *));
    run->is_changed = arena_array(run->arena, run->count, sizeof(bool));
    return rows_find_sides(tx, run->batch->client->id, pks, run->count, run->arena, run->rows, err);
}

/* What cannot be kept is refused as the document's own fault. */
static void merge(struct field_run *run, struct change *change, uint32_t key)
{
    struct row *row = &run->rows[key];
    Torg__V1__SideFields *merged;
    struct bytes wire;
    struct err err;
    enum side_outcome outcome;

    if (!run->kept[key] && side_decode(row->side, run->arena, &run->kept[key], &err)) {
        violations_add(&change->reasons, "pk", "%s", err.text);
        decide(change, TORG__V1__VERDICT__KIND__INVALID);
        return;
    }
    outcome = side_merge(run->kept[key], change->asked, &change->reasons, run->batch->arena,
                         &merged, &change->taken);
    if (outcome != SIDE_TAKEN) {
        decide(change, outcome == SIDE_STALE ? TORG__V1__VERDICT__KIND__STALE
                                             : TORG__V1__VERDICT__KIND__DUPLICATE);
        return;
    }
    if (side_encode(merged, run->arena, &wire, &err)) {
        violations_add(&change->reasons, "fields", "%s", err.text);
        decide(change, TORG__V1__VERDICT__KIND__INVALID);
        return;
    }
    run->kept[key] = merged;
    row->side = wire;
    run->is_changed[key] = true;
    change->hash = row->hash;
    change->version = row->order.version;
    change->shard = number_key_shard(row->hash, run->batch->client->shard_count);
    decide(change, TORG__V1__VERDICT__KIND__ACCEPTED);
}

static void decide_all(struct field_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct change *change = run->open[i];

        change->reasons = violations_in(run->batch->arena);
        change->idx = 0;
        if (run->rows[run->key_of[i]].status == ROW_ALIVE)
            merge(run, change, run->key_of[i]);
        else
            decide(change, TORG__V1__VERDICT__KIND__NOT_FOUND);
    }
}

/* --- writing --- */

/* One element: those of the shard from `from` on that fit it. Where to go on in *next. */
static int append_element(struct store_tx *tx, struct field_run *run, uint32_t shard, size_t from,
                          size_t *next, struct err *err)
{
    Torg__V1__PutFieldsRequest request = TORG__V1__PUT_FIELDS_REQUEST__INIT;
    struct queue_element element = {.put_us = clock_wall_us(run->batch->receiver->clock)};
    struct buf wire = BUF_INIT(SIDE_ELEMENT_SIZE + 2 * (size_t)SIDE_SIZE_MAX);
    size_t size = 0;
    size_t at;
    int rc = 0;

    request.changes = arena_array(run->arena, run->count, sizeof(request.changes[0]));
    for (at = from; at < run->count && size < SIDE_ELEMENT_SIZE - SIDE_SIZE_MAX; at++) {
        struct change *change = run->open[at];

        if (change->kind != TORG__V1__VERDICT__KIND__ACCEPTED || change->shard != shard)
            continue;
        request.changes[request.n_changes++] = &change->taken;
        size += protobuf_c_message_get_packed_size(&change->taken.base) + 4;
    }
    message_encode(&request.base, &wire);
    assert(!buf_failed(&wire));
    element.fields = buf_bytes(&wire);
    if (request.n_changes)
        rc = queue_append(tx, run->batch->client->id, LANE_MAIN, shard, &element, 1, err);
    for (size_t i = from; i < at; i++)
        if (run->open[i]->kind == TORG__V1__VERDICT__KIND__ACCEPTED && run->open[i]->shard == shard)
            run->open[i]->idx = element.idx;
    buf_release(&wire);
    *next = at;
    return rc;
}

/* Ahead of their changes: documents whose newest write waits in the lane backfill. One that is on
 * its way, and whose offset is not committed, is sent twice. */
static int bring_documents(struct store_tx *tx, const struct field_run *run, uint32_t shard,
                           struct err *err)
{
    struct queue_element *elements = arena_array(run->arena, run->count, sizeof(*elements));
    int64_t now_us = clock_wall_us(run->batch->receiver->clock);
    const struct client_view *client = run->batch->client;
    size_t count = 0;
    int64_t offset;
    int rc = queue_offset(tx, client->id, LANE_BACKFILL, shard, &offset, err);

    for (size_t i = 0; i < run->count && !rc; i++) {
        const struct row *row = &run->rows[i];

        if (run->is_changed[i] && row->backfill_idx > offset &&
            number_key_shard(row->hash, client->shard_count) == shard)
            elements[count++] =
                (struct queue_element){.pk = row->pk, .order = row->order, .put_us = now_us};
    }
    return rc || !count ? rc : queue_append(tx, client->id, LANE_MAIN, shard, elements, count, err);
}

static bool has_changes(const struct field_run *run, uint32_t shard)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->open[i]->kind == TORG__V1__VERDICT__KIND__ACCEPTED && run->open[i]->shard == shard)
            return true;
    return false;
}

static int write_shard(struct store_tx *tx, struct field_run *run, uint32_t shard, struct err *err)
{
    int rc;

    if (!has_changes(run, shard))
        return 0;
    rc = bring_documents(tx, run, shard, err);
    for (size_t at = 0; at < run->count && !rc;)
        rc = append_element(tx, run, shard, at, &at, err);
    return rc;
}

static int write_changes(struct store_tx *tx, struct field_run *run, struct err *err)
{
    const struct row **rows = arena_array(run->arena, run->count, sizeof(const struct row *));
    const struct client_view *client = run->batch->client;
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < run->count; i++)
        if (run->is_changed[i])
            rows[count++] = &run->rows[i];
    rc = rows_save_sides(tx, client->id, rows, count, err);
    /* Shards in one order for all, so that no two wait for each other. */
    for (uint32_t shard = 0; shard < client->shard_count && count && !rc; shard++)
        rc = write_shard(tx, run, shard, err);
    return rc;
}

static int put_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct field_batch *batch = arg;
    struct field_run run = {.batch = batch, .arena = arena_new()};
    int rc = client_confirm(tx, batch->client, err);

    batch->is_outrun = rc == ERR_CONFLICT;
    run.open = arena_array(run.arena, batch->count, sizeof(struct change *));
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->changes[i].is_refused)
            run.open[run.count++] = &batch->changes[i];
    if (!rc && run.count)
        rc = find_rows(tx, &run, err);
    if (!rc && run.count) {
        decide_all(&run);
        rc = write_changes(tx, &run, err);
    }
    arena_free(run.arena);
    return rc;
}

/* --- rounds --- */

/* One round with a view of the client; a refusal must not come of an old one. */
static int run_round(struct field_batch *batch, bool fresh, bool *is_again, struct err *err)
{
    int rc = clients_find(batch->receiver->clients, batch->name, fresh, &batch->client, err);

    *is_again = false;
    if (rc == ERR_NOT_FOUND) {
        for (size_t i = 0; i < batch->count; i++)
            decide(&batch->changes[i], TORG__V1__VERDICT__KIND__NOT_FOUND);
        return 0;
    }
    if (rc)
        return rc;
    batch->is_fresh = fresh;
    *is_again = !check_all(batch) && !fresh;
    if (*is_again)
        return declare_new(batch, err);
    rc = store_write(batch->receiver->store, put_tx, batch, err);
    *is_again = rc == ERR_CONFLICT && batch->is_outrun;
    return *is_again ? 0 : rc;
}

static int run_rounds(struct field_batch *batch, int64_t *client_id, struct err *err)
{
    bool is_again = true;
    int rc = 0;

    for (int i = 0; i < DOCUMENT_ATTEMPT_COUNT_MAX && is_again && !rc; i++) {
        rc = run_round(batch, i > 0, &is_again, err);
        *client_id = batch->client ? batch->client->id : 0;
        client_unref(batch->client);
        batch->client = NULL;
    }
    if (!rc && is_again)
        rc = err_set(err, ERR_CONFLICT, "others change client %s all the time", batch->name);
    return rc;
}

static void give_up(struct field_batch *batch, const struct err *err)
{
    static struct log_pace pace;

    if (log_pace_is_due(&pace, err))
        log_warn("changes of side fields could not be decided on", LOG_TEXT("client", batch->name),
                 LOG_TEXT("error", err->text));
    for (size_t i = 0; i < batch->count; i++) {
        struct change *change = &batch->changes[i];

        if (change->is_refused && batch->is_fresh)
            continue;
        change->reasons = violations_in(batch->arena);
        violations_add(&change->reasons, "", "%s: send it again", err->text);
        decide(change, TORG__V1__VERDICT__KIND__UNAVAILABLE);
    }
}

/* Of all receivers of the process. */
static struct {
    pthread_once_t once;
    struct counter *accepted, *refused;
} figures = {.once = PTHREAD_ONCE_INIT};

static void make_figures(void)
{
    figures.accepted = metrics_counter("torg_registry_fields_total", "verdict=\"accepted\"",
                                       "Changes of side fields, by verdict.");
    figures.refused = metrics_counter("torg_registry_fields_total", "verdict=\"refused\"",
                                      "Changes of side fields, by verdict.");
}

static Torg__V1__Verdict *tell(const struct field_batch *batch, const struct change *change,
                               int64_t client_id, const struct seal *seal)
{
    Torg__V1__Verdict *verdict =
        verdict_new(change->asked->pk, change->kind, &change->reasons, batch->arena);
    const struct change_token token = {.client_id = client_id,
                                       .lane = LANE_MAIN,
                                       .shard = change->shard,
                                       .idx = change->idx,
                                       .version = change->version,
                                       .hash = change->hash};

    if (change->kind == TORG__V1__VERDICT__KIND__ACCEPTED)
        verdict->token = change_token_text(&token, seal, batch->arena);
    counter_add(
        change->kind == TORG__V1__VERDICT__KIND__ACCEPTED ? figures.accepted : figures.refused, 1);
    return verdict;
}

/* Once for each run of changes of one shard. */
static void ring(const struct field_batch *batch, int64_t client_id)
{
    const struct change *before = NULL;

    for (size_t i = 0; i < batch->count; i++) {
        const struct change *change = &batch->changes[i];

        if (change->kind != TORG__V1__VERDICT__KIND__ACCEPTED ||
            (before && before->shard == change->shard))
            continue;
        queue_bell_ring(batch->receiver->bell, client_id, change->shard);
        before = change;
    }
}

int receiver_put_fields(const struct receiver *receiver, const char *client,
                        Torg__V1__FieldChange *const *changes, size_t count, struct arena *arena,
                        Torg__V1__Verdict ***verdicts, struct err *err)
{
    struct field_batch batch = {
        .receiver = receiver, .name = client, .count = count, .arena = arena};
    int64_t client_id = 0;
    struct seal seal;
    int rc;

    assert(receiver->store && receiver->clock && receiver->clients);
    pthread_once(&figures.once, make_figures);
    if (count < 1 || count > DOCUMENT_BATCH_COUNT_MAX)
        return err_set(err, ERR_INVALID, "changes: %zu of them; expected 1 to %d", count,
                       DOCUMENT_BATCH_COUNT_MAX);
    rc = client_check_name(client, err);
    if (rc)
        return rc;
    batch.changes = arena_array(arena, count, sizeof(*batch.changes));
    for (size_t i = 0; i < count; i++)
        batch.changes[i].asked = changes[i];
    rc = store_seal(receiver->store, &seal, err);
    if (!rc)
        rc = run_rounds(&batch, &client_id, err);
    if (rc)
        give_up(&batch, err);
    ring(&batch, client_id);
    *verdicts = arena_array(arena, count, sizeof(Torg__V1__Verdict *));
    for (size_t i = 0; i < count; i++)
        (*verdicts)[i] = tell(&batch, &batch.changes[i], client_id, &seal);
    return 0;
}
