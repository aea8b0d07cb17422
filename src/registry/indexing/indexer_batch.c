/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_batch.c - what is next in the lanes of a shard, joined with the registry; see indexer.h.
 *
 * All of a batch is read from one snapshot, together with the number of the client's state: so the
 * schema at hand has every field of the documents, and no epoch that began before is left out.
 * Lanes: emergency, main, failed, backfill. Emergency takes all it wants; backfill gets its share
 * of a full batch, or what can be done in a short time when main has little, and nothing while main
 * is late (lateness.h).
 */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "codec/message.h"
#include "numerator/bounds.h"
#include "registry/bounds.h"
#include "registry/clients/convert.h"
#include "registry/indexing/indexer_parts.h"

/* What the receiver has accepted can be numbered: a key or a class that cannot would hold up its
 * shard for ever. */
_Static_assert((int)DOCUMENT_PK_SIZE_MAX <= (int)NUMBER_KEY_SIZE_MAX, "keys of documents");
_Static_assert((int)DOCUMENT_CLASS_SIZE_MAX <= (int)NUMBER_CLASS_SIZE_MAX, "classes of documents");

enum { FIND_COUNT = 50 }; /* rows asked for at a time: bounds what a batch may overshoot */

/* --- reading --- */

static struct item *add_item(struct batch *batch, enum lane lane)
{
    struct item *item = &batch->items[batch->count];

    assert(batch->count < INDEXER_BATCH_COUNT);
    *item = (struct item){.lane = lane, .row = &batch->rows[batch->count]};
    batch->rows[batch->count] = (struct row){0};
    for (uint32_t i = 0; i < batch->indexer->client->numbering_count; i++) {
        item->asks[i] = &batch->asks[i][batch->count];
        *item->asks[i] = (struct number_ask){.doc_id = NUMBER_NONE};
    }
    batch->count++;
    return item;
}

static int read_lane(struct store_tx *tx, struct batch *batch, enum lane lane, size_t max,
                     struct err *err)
{
    const struct indexer *indexer = batch->indexer;
    struct queue_element *elements;
    size_t count;
    int rc;

    if (max == 0)
        return 0;
    rc = queue_read(tx, indexer->client->id, lane, indexer->shard, indexer->position[lane], max,
                    batch->arena, &elements, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        add_item(batch, lane)->element = elements[i];
    batch->more = batch->more || count == max;
    return rc;
}

static int read_failed(struct store_tx *tx, struct batch *batch, size_t max, struct err *err)
{
    const struct indexer *indexer = batch->indexer;
    struct failed_element *elements;
    size_t count;
    int rc;

    if (max > INDEXER_FAILED_COUNT)
        max = INDEXER_FAILED_COUNT;
    rc = failed_due(tx, indexer->client->id, indexer->shard, batch->now_us, max, batch->arena,
                    &elements, &count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        struct item *item = add_item(batch, LANE_FAILED);

        item->element = (struct queue_element){.pk = elements[i].pk, .order = elements[i].order};
        item->attempt_count = elements[i].attempt_count;
        item->first_us = elements[i].first_us;
    }
    return rc;
}

/* How much of a full batch is the backfill's. Failed ones have their part, and main has some
 * whatever the weights say. */
static size_t backfill_share(const struct indexer_rules *rules)
{
    const size_t max = INDEXER_BATCH_COUNT - INDEXER_FAILED_COUNT - INDEXER_MAIN_COUNT_MIN;
    int64_t weights = rules->main_weight + rules->backfill_weight;
    size_t share = weights ? (size_t)(INDEXER_BATCH_COUNT * rules->backfill_weight / weights) : 0;

    return share < max ? share : max;
}

/* After main was read, from `first` on. */
static size_t backfill_max(const struct batch *batch, size_t first, size_t main_max)
{
    size_t share = backfill_share(&batch->indexer->base->rules);
    size_t main_count = batch->count - first;
    size_t left = INDEXER_BATCH_COUNT - batch->count;
    size_t max = share;

    if (main_max == 0) /* emergencies have it all */
        return 0;
    if (lateness_us(&batch->indexer->lateness, clock_mono_us(batch->indexer->base->clock)) >
        INDEXER_LATE_MS * MS_US)
        return 0;
    if (main_count < main_max) {
        max = (size_t)(INDEXER_BACKFILL_MS * MS_US / batch->indexer->item_us);
        max = max < INDEXER_BACKFILL_COUNT_MIN ? INDEXER_BACKFILL_COUNT_MIN : max;
    }
    return max < left ? max : left;
}

/* How far main is filled, after it was read from `first` on. */
static int mark_main(struct store_tx *tx, struct batch *batch, size_t first, size_t main_max,
                     struct err *err)
{
    struct indexer *indexer = batch->indexer;
    int64_t position = indexer->position[LANE_MAIN];
    int64_t now_us = clock_mono_us(indexer->base->clock);
    size_t count = batch->count - first;
    int64_t newest = count ? batch->items[batch->count - 1].element.idx : position;
    int rc = 0;

    lateness_pass(&indexer->lateness, position);
    if (!lateness_wants(&indexer->lateness, now_us))
        return 0;
    if (count == main_max) /* there may be more */
        rc = queue_newest(tx, indexer->client->id, LANE_MAIN, indexer->shard, &newest, err);
    if (!rc)
        lateness_mark(&indexer->lateness, position, newest, now_us);
    return rc;
}

static int read_lanes(struct store_tx *tx, struct batch *batch, struct err *err)
{
    size_t reserved = backfill_share(&batch->indexer->base->rules) + INDEXER_FAILED_COUNT;
    size_t main_max;
    size_t first;
    int rc = read_lane(tx, batch, LANE_EMERGENCY, INDEXER_BATCH_COUNT - reserved, err);

    first = batch->count;
    main_max = INDEXER_BATCH_COUNT - reserved - first;
    if (!rc)
        rc = read_lane(tx, batch, LANE_MAIN, main_max, err);
    if (!rc)
        rc = mark_main(tx, batch, first, main_max, err);
    if (!rc)
        main_max = backfill_max(batch, first, main_max);
    if (!rc)
        rc = read_failed(tx, batch, INDEXER_BATCH_COUNT - batch->count, err);
    if (main_max > INDEXER_BATCH_COUNT - batch->count)
        main_max = INDEXER_BATCH_COUNT - batch->count;
    if (!rc)
        rc = read_lane(tx, batch, LANE_BACKFILL, main_max, err);
    return rc;
}

/* Whether any lane has something: one question in the place of four, for a shard where nothing
 * waited the time before. */
static int look_into_lanes(struct store_tx *tx, const struct indexer *indexer, int64_t now_us,
                           int64_t *are_any, struct err *err)
{
    *are_any = 0;
    return store_find_integer(
        tx,
        "SELECT 1 FROM registry_client WHERE id = $1 AND ("
        "EXISTS (SELECT 1 FROM registry_queue WHERE client_id = $1 AND lane = $2 AND shard = $3 "
        "AND idx > $4) OR "
        "EXISTS (SELECT 1 FROM registry_queue WHERE client_id = $1 AND lane = $5 AND shard = $3 "
        "AND idx > $6) OR "
        "EXISTS (SELECT 1 FROM registry_queue WHERE client_id = $1 AND lane = $7 AND shard = $3 "
        "AND idx > $8) OR "
        "EXISTS (SELECT 1 FROM registry_failed WHERE client_id = $1 AND shard = $3 "
        "AND next_us > 0 AND next_us <= $9))",
        STORE_WITH(STORE_V_INT(indexer->client->id), STORE_V_INT(LANE_EMERGENCY),
                   STORE_V_INT(indexer->shard), STORE_V_INT(indexer->position[LANE_EMERGENCY]),
                   STORE_V_INT(LANE_MAIN), STORE_V_INT(indexer->position[LANE_MAIN]),
                   STORE_V_INT(LANE_BACKFILL), STORE_V_INT(indexer->position[LANE_BACKFILL]),
                   STORE_V_INT(now_us)),
        are_any, err);
}

void batch_cut(struct batch *batch, size_t count)
{
    assert(count > 0 && count <= batch->count);
    batch->count = count;
    batch->more = true;
}

static int join_rows(struct store_tx *tx, struct batch *batch, struct err *err)
{
    size_t size = 0;
    size_t at = 0;
    int rc = 0;

    for (size_t i = 0; i < batch->count; i++)
        batch->pks[i] = batch->items[i].element.pk;
    while (at < batch->count && size < INDEXER_BATCH_SIZE && !rc) {
        size_t count = batch->count - at < FIND_COUNT ? batch->count - at : FIND_COUNT;

        rc = rows_find(tx, batch->indexer->client->id, batch->pks + at, count, true, batch->arena,
                       batch->rows + at, err);
        for (size_t i = 0; i < count; i++)
            size += batch->rows[at + i].packed.size;
        at += count;
    }
    if (at < batch->count)
        batch_cut(batch, at);
    return rc;
}

static int mark_failed(void *arg, const struct failed_element *element)
{
    struct batch *batch = arg;
    struct failed_element *kept = arena_alloc(batch->arena, sizeof(*kept));

    *kept = *element;
    kept->pk = arena_copy(batch->arena, element->pk);
    kept->reason = BYTES_EMPTY;
    for (size_t i = 0; i < batch->count; i++)
        if (bytes_equal(batch->items[i].element.pk, kept->pk))
            batch->items[i].failed = kept;
    return 0;
}

/* Which keys of the batch are in the lane failed, with this write or an older one. The usual shard
 * has none. */
static int look_for_failed(struct store_tx *tx, struct batch *batch, struct err *err)
{
    int64_t client_id = batch->indexer->client->id;
    uint32_t shard = batch->indexer->shard;
    int64_t are_any = 0;
    int rc =
        store_find_integer(tx,
                           "SELECT 1 FROM registry_failed WHERE client_id = $1 "
                           "AND shard = $2 LIMIT 1",
                           STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(shard)), &are_any, err);

    if (!rc && are_any)
        rc = failed_among(tx, client_id, shard, batch->pks, batch->count, mark_failed, batch, err);
    return rc;
}

static int join_numbers(struct store_tx *tx, struct batch *batch, uint32_t numbering,
                        struct err *err)
{
    struct number_ask **asks =
        arena_array(batch->arena, batch->count + 1, sizeof(struct number_ask *));
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (item->element.fields_size) /* it has its own */
            continue;
        item->asks[numbering]->key = item->element.pk;
        asks[count++] = item->asks[numbering];
    }
    return count
               ? indexer_find_numbers(tx, batch->indexer, numbering, asks, count, batch->arena, err)
               : 0;
}

static int gather(struct store_tx *tx, void *arg, struct err *err)
{
    struct batch *batch = arg;
    struct indexer *indexer = batch->indexer;
    int64_t are_any = 1;
    int rc;

    batch->count = 0;
    batch->more = false;
    rc = client_confirm(tx, indexer->client, err);
    if (!rc)
        rc = batch_find_awaited(tx, batch, err);
    if (!rc && indexer->is_idle)
        rc = look_into_lanes(tx, indexer, batch->now_us, &are_any, err);
    if (!rc && !are_any)
        rc = mark_main(tx, batch, 0, 1, err);
    else if (!rc)
        rc = read_lanes(tx, batch, err);
    if (rc || batch->count == 0)
        return rc;
    rc = join_rows(tx, batch, err);
    if (!rc)
        rc = batch_join_fields(tx, batch, err);
    for (uint32_t i = 0; i < indexer->client->numbering_count && !rc; i++)
        rc = join_numbers(tx, batch, i, err);
    if (!rc)
        rc = look_for_failed(tx, batch, err);
    return rc;
}

int batch_gather(struct batch *batch, struct err *err)
{
    object_check(batch->indexer, INDEXER_MAGIC);
    assert(batch->indexer->is_claimed && batch->indexer->client);
    /* Cleared one by one as they are used: most rounds find a few elements, or none. */
    batch->items = arena_alloc(batch->arena, INDEXER_BATCH_COUNT * sizeof(*batch->items));
    batch->rows = arena_alloc(batch->arena, INDEXER_BATCH_COUNT * sizeof(*batch->rows));
    for (uint32_t i = 0; i < batch->indexer->client->numbering_count; i++)
        batch->asks[i] = arena_alloc(batch->arena, INDEXER_BATCH_COUNT * sizeof(*batch->asks[0]));
    batch->pks = arena_alloc(batch->arena, INDEXER_BATCH_COUNT * sizeof(*batch->pks));
    return store_read(batch->indexer->base->store, gather, batch, err);
}

int64_t batch_position(const struct batch *batch, enum lane lane)
{
    int64_t position = batch->indexer->position[lane];

    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].lane == lane && lane != LANE_FAILED) {
            assert(batch->items[i].element.idx > position); /* a lane goes forward */
            position = batch->items[i].element.idx;
        }
    return position;
}

/* --- deciding --- */

void item_fail(struct batch *batch, struct item *item, const char *reason)
{
    assert(item->state != ITEM_FAILED && reason);
    item->state = ITEM_FAILED;
    item->reason = arena_strdup(batch->arena, reason);
}

/* An element of a backfill has the order of its row, but for the epoch it is poured into. */
static bool is_current(const struct item *item)
{
    const struct order *order = &item->element.order;
    const struct order *row = &item->row->order;

    if (!item->row->status)
        return false;
    if (order->version != row->version || order->modify_us != row->modify_us)
        return false;
    return order->epoch == row->epoch ||
           (order->epoch > row->epoch &&
            (item->lane == LANE_BACKFILL || item->lane == LANE_FAILED));
}

static void convert_for(struct batch *batch, struct item *item, uint32_t place,
                        const Torg__V1__RawDocument *document, struct err *err)
{
    const struct epoch_view *epoch = &batch->indexer->client->epochs[place];
    Torg__V1__IndexDocument *converted = MESSAGE_NEW(index_document, batch->arena);

    if (convert_document(document, epoch, batch->arena, converted, err) ||
        convert_side(item->row->side, epoch, batch->arena, converted, err))
        return;
    converted->modify_us = item->row->order.modify_us;
    item->documents[place] = converted;
}

/* Written by name for an epoch that was given up: it came before writers, and has nowhere to wait.
 */
static bool is_stranded(const struct client_view *client, const struct item *item)
{
    return item->element.order.epoch > client->writing_epoch &&
           !client_epoch(client, item->element.order.epoch);
}

/* Writers have left its epoch while it waited. What is poured again was told of before. */
static bool is_late(const struct client_view *client, const struct item *item)
{
    return item->element.order.epoch < client->writing_epoch &&
           (item->element.put_us || item->lane == LANE_FAILED);
}

/* It does not fit the epoch that is searched, and whoever switched or gave up could not be told of
 * it: it is to be seen, whatever other epochs it fits. */
static bool is_left_behind(const struct batch *batch, const struct item *item)
{
    const struct client_view *client = batch->indexer->client;

    if (!is_stranded(client, item) && !is_late(client, item))
        return false;
    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (client->epochs[i].epoch == client->serving_epoch)
            return item->is_unfit[i];
    return false;
}

/* It must fit the epoch it is meant for; the others get it when it fits them too. */
static void convert_for_epochs(struct batch *batch, struct item *item,
                               const Torg__V1__RawDocument *document)
{
    const struct client_view *client = batch->indexer->client;
    bool is_poured = item->element.order.epoch != item->row->order.epoch;
    bool is_meant_there = false;
    bool is_sent = false;
    struct err reason = {0};

    for (uint32_t i = 0; i < client->epoch_count; i++) {
        bool is_meant = client->epochs[i].epoch == item->element.order.epoch;
        bool is_awaited = item_is_awaited(batch, item, i);
        struct err err = {0};

        is_meant_there = is_meant_there || is_meant;
        if (is_poured && !is_meant)
            continue;
        if (!is_awaited)
            item->is_wanted[client->epochs[i].numbering] = true;
        convert_for(batch, item, i, document, &err);
        is_sent = is_sent || item->documents[i];
        item->is_unfit[i] = !item->documents[i];
        if (!item->documents[i] && (is_meant || !*reason.text))
            reason = err;
        if (!item->documents[i] && is_meant) {
            item_fail(batch, item, err.text);
            return;
        }
        if (is_awaited)
            item->documents[i] = NULL;
    }
    if (is_poured && !is_meant_there) /* the epoch was given up meanwhile */
        item->state = ITEM_SUPERSEDED;
    else if (is_left_behind(batch, item))
        item_fail(batch, item, reason.text);
    else if (!is_sent)
        item_fail(batch, item,
                  *reason.text ? reason.text : "the client has no epoch to send it to");
}

static int decide_alive(struct batch *batch, struct item *item, struct err *err)
{
    const struct indexer *indexer = batch->indexer;
    Torg__V1__RawDocument *document;
    int rc = row_unpack(indexer->base->dictionaries, indexer->client->id, item->row, batch->arena,
                        &document, err);

    if (row_is_at_fault(rc)) {
        item_fail(batch, item, err->text);
        return 0;
    }
    if (rc)
        return rc;
    item->state = ITEM_PUT;
    for (uint32_t i = 0; i < indexer->client->numbering_count; i++)
        item->asks[i]->place = bytes_of(document->placement_class);
    convert_for_epochs(batch, item, document);
    return 0;
}

/* What a pour of an epoch has queued, alone for that epoch: nobody waits for such an element. */
static bool is_poured(const struct item *item)
{
    return item->element.order.epoch > item->row->order.epoch;
}

/* Whether the row is sent by an element before this one. */
static bool is_dealt_with(const struct batch *batch, const struct item *item)
{
    for (const struct item *each = batch->items; each < item; each++)
        if (each->row->hash == item->row->hash && each->state != ITEM_SUPERSEDED &&
            !is_poured(each) && bytes_equal(each->element.pk, item->element.pk))
            return true;
    return false;
}

/*
 * Once the lane is past an element, who waits for it (a token) finds that write or a newer one. So
 * an element that is superseded is sent as the registry has it, unless the batch does so already:
 * the newer write's own element may be far behind, or in a lane that waits.
 */
static bool is_to_be_sent(struct batch *batch, struct item *item)
{
    bool is_newest = is_current(item);

    if (is_newest && (is_poured(item) || !batch->has_stand_in))
        return true;
    if (!is_newest && (!item->row->status || item->lane == LANE_FAILED || is_poured(item)))
        return false;
    if (is_dealt_with(batch, item))
        return false;
    if (!is_newest) {
        item->element.order = item->row->order;
        batch->has_stand_in = true;
    }
    return true;
}

/* Sent all the same, it would be found until the index looks for what has ended. */
static bool has_ended(const struct batch *batch, const struct row *row)
{
    return row->expires_us && row->expires_us <= batch->now_us;
}

static int decide(struct batch *batch, struct item *item, struct err *err)
{
    if (item->element.fields_size) {
        item->state = item->fields ? ITEM_FIELDS : ITEM_SUPERSEDED;
        return 0;
    }
    if (!is_to_be_sent(batch, item)) {
        item->state = ITEM_SUPERSEDED;
        log_debug("an element of the queue is superseded", LOG_TEXT("lane", lane_name(item->lane)),
                  LOG_INT("idx", item->element.idx));
        return 0;
    }
    if (item->row->status == ROW_ALIVE && !has_ended(batch, item->row))
        return decide_alive(batch, item, err);
    item->state = ITEM_GONE;
    for (uint32_t i = 0; i < batch->indexer->client->numbering_count; i++)
        if (item->asks[i]->doc_id != NUMBER_NONE)
            item->state = ITEM_REMOVE;
    return 0;
}

int batch_convert(struct batch *batch, struct err *err)
{
    int rc = 0;

    batch->new_count = 0;
    batch->has_stand_in = false;
    for (size_t i = 0; i < batch->count && !rc; i++) {
        struct item *item = &batch->items[i];

        if (i && arena_size(batch->arena) > INDEXER_BATCH_MEMORY) {
            batch_cut(batch, i);
            break;
        }
        rc = decide(batch, item, err);
        for (uint32_t n = 0; n < batch->indexer->client->numbering_count; n++)
            batch->new_count += item_is_new(item, n);
    }
    return rc;
}
