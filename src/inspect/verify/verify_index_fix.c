/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_index_fix.c - takes out of the index what stands under a number that is not its own: of a
 * document that the registry does not know, or knows by another number.
 *
 * The queue cannot say that: its elements are of documents that the registry has. So the removal is
 * put into the index topic as the shard's owner would, by the ticket that the store has recorded.
 * It names number and key, and a searcher that has another document there by then leaves it alone;
 * a removal by a ticket that was overtaken is left alone, too. The next round looks again.
 */
#include <string.h>

#include "access/audit.h"
#include "codec/message.h"
#include "inspect/verify/verify_parts.h"
#include "model/topics.h"
#include "numerator/numerator.h"
#include "registry/indexing/queue.h"
#include "topic/bounds.h"
#include "topic/topic.h"

struct removing {
    struct verifying *verifying;
    struct number_ask *asks; /* what the index has under the suspects' numbers */
    size_t *places;          /* of the suspects */
    size_t count;
    int64_t ticket; /* 0: nobody has ever owned the shard */
};

static bool is_orphan(const struct suspect *suspect)
{
    return !suspect->is_stable && suspect->doc_id != NUMBER_NONE && suspect->reason &&
           strcmp(suspect->reason, "orphan") == 0;
}

/* What the index has there now. */
static int list_orphans(struct removing *removing, struct err *err)
{
    const struct verifying *verifying = removing->verifying;
    const struct index_door *door = &verifying->inspect->door;
    Torg__V1__ListIndexedRequest request = TORG__V1__LIST_INDEXED_REQUEST__INIT;
    int rc = 0;

    request.client = verifying->check->client;
    request.epoch = verifying->check->epoch;
    request.shard = verifying->check->shard;
    request.limit = 1;
    for (size_t i = 0; i < verifying->count && !rc; i++) {
        Torg__V1__ListIndexedResponse *listed;

        if (!is_orphan(&verifying->suspects[i]))
            continue;
        request.from_id = verifying->suspects[i].doc_id;
        rc = door->list(door->arg, verifying->check->replica, &request, verifying->arena, &listed,
                        err);
        if (rc || listed->n_documents != 1 || listed->documents[0]->doc_id != request.from_id)
            continue;
        removing->places[removing->count] = i;
        removing->asks[removing->count++] =
            (struct number_ask){.key = bytes_of(listed->documents[0]->pk), .doc_id = NUMBER_NONE};
    }
    return rc;
}

static int read_numbers(struct store_tx *tx, void *arg, struct err *err)
{
    struct removing *removing = arg;
    const struct verifying *verifying = removing->verifying;
    char fence[64];
    int rc;

    queue_fence_name(verifying->client->id, verifying->queue_shard, fence);
    removing->ticket = 0;
    rc = store_find_integer(tx, "SELECT ticket FROM fence WHERE name = $1",
                            STORE_WITH(STORE_V_STRING(fence)), &removing->ticket, err);
    return rc ? rc
              : numbers_find(tx, verifying->numbering.space, verifying->check->shard,
                             removing->asks, (uint32_t)removing->count, err);
}

static struct topic_record record_of(const struct removing *removing, size_t place)
{
    const struct verifying *verifying = removing->verifying;
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;
    Torg__V1__IndexRemoval removal = TORG__V1__INDEX_REMOVAL__INIT;
    uint32_t version[] = {verifying->numbering.kind, verifying->numbering.scheme,
                          verifying->numbering.rebuild, 0};
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct topic_record record = {.key = removing->asks[place].key,
                                  .has_partition = true,
                                  .partition = verifying->check->shard};

    message.ticket = (uint64_t)removing->ticket;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_REMOVE;
    message.remove = &removal;
    message.n_place = sizeof(version) / sizeof(version[0]);
    message.place = version;
    removal.doc_id = verifying->suspects[removing->places[place]].doc_id;
    removal.pk = arena_text(verifying->arena, removing->asks[place].key);
    message_encode(&message.base, &wire);
    record.value = arena_copy(verifying->arena, buf_bytes(&wire));
    buf_release(&wire);
    return record;
}

static int note_removals(struct store_tx *tx, void *arg, struct err *err)
{
    const struct removing *removing = arg;
    const struct verifying *verifying = removing->verifying;
    int rc = 0;

    for (size_t i = 0; i < removing->count && !rc; i++) {
        const struct audit_entry entry = {.at_us = clock_wall_us(verifying->inspect->clock),
                                          .principal = verifying->by->principal,
                                          .action = "verify.fix",
                                          .target = arena_printf(verifying->arena, "%s/%.*s",
                                                                 verifying->client->name,
                                                                 BYTES_ARG(removing->asks[i].key)),
                                          .detail = verifying->suspects[removing->places[i]].text};

        rc = audit_add(tx, &entry, err);
    }
    return rc;
}

/* Those whose key has this very number are no orphans any more. */
static void drop_settled(struct removing *removing)
{
    size_t kept = 0;

    for (size_t i = 0; i < removing->count; i++) {
        if (removing->asks[i].doc_id == removing->verifying->suspects[removing->places[i]].doc_id)
            continue;
        removing->asks[kept] = removing->asks[i];
        removing->places[kept++] = removing->places[i];
    }
    removing->count = kept;
}

int verify_index_fix(struct verifying *verifying, bool *is_fixed, struct err *err)
{
    struct store *store = verifying->inspect->store;
    struct removing removing = {.verifying = verifying};
    struct topic_record *records;
    char topic[INDEX_TOPIC_SIZE];
    int rc;

    removing.asks = arena_array(verifying->arena, verifying->count + 1, sizeof(*removing.asks));
    removing.places = arena_array(verifying->arena, verifying->count + 1, sizeof(*removing.places));
    records = arena_array(verifying->arena, verifying->count + 1, sizeof(*records));
    rc = verifying->inspect->topics ? list_orphans(&removing, err) : 0;
    if (!rc && removing.count)
        rc = store_read(store, read_numbers, &removing, err);
    if (!rc)
        drop_settled(&removing);
    if (rc || !removing.count || !removing.ticket)
        return rc;
    index_topic_name(verifying->client->name, verifying->check->epoch, topic);
    for (size_t i = 0; i < removing.count; i++)
        records[i] = record_of(&removing, i);
    rc = topic_produce(verifying->inspect->topics, topic, records, removing.count, NULL, err);
    if (!rc)
        rc = store_write(store, note_removals, &removing, err);
    for (size_t i = 0; i < removing.count && !rc; i++)
        is_fixed[removing.places[i]] = true;
    return rc;
}
