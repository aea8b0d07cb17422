/* SPDX-License-Identifier: Apache-2.0 */
/* refusal_inbox.c - see refusal_inbox.h. */
#include "registry/indexing/refusal_inbox.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "codec/message.h"
#include "model/topics.h"
#include "registry/bounds.h"
#include "registry/indexing/failed.h"
#include "registry/receiving/rows.h"
#include "stage/reader.h"
#include "torg/v1/index_message.pb-c.h"

enum { REFUSAL_INBOX_MAGIC = OBJECT_MAGIC('r', 'f', 'i', 'n') };

struct refusal_inbox {
    uint32_t magic;
    struct refusal_inbox_options options;
    struct stage_reader *reader;
    struct counter *parked;
    struct counter *superseded;
};

/* One of them, in its transaction. */
struct refusal {
    const Torg__V1__IndexRefusal *message;
    int64_t client_id;
    uint32_t shard; /* of the queue */
    int64_t serving_epoch;
    int64_t now_us;
    struct arena *arena;
    bool is_parked; /* out */
};

static bool is_same_order(const struct order *order, const struct row *row)
{
    return order->version == row->order.version && order->modify_us == row->order.modify_us;
}

/* A record that could not be decoded tells no order: which write of the document it was is not
 * known. It says nothing of what the document is now, which is sent again after a while. */
static bool names_order(const Torg__V1__IndexRefusal *message)
{
    return message->version || message->modify_us;
}

/* Whether what is in the lane already tells more: the epoch that is searched counts. */
static bool is_told(const struct refusal *refusal, const struct failed_element *there)
{
    return there->refused_epoch == refusal->serving_epoch &&
           refusal->message->epoch != refusal->serving_epoch;
}

static int put_refusal(struct store_tx *tx, struct refusal *refusal, const struct row *row,
                       struct err *err)
{
    const Torg__V1__IndexRefusal *message = refusal->message;
    bool is_read = names_order(message);
    struct failed_element element = {
        .shard = refusal->shard,
        .pk = bytes_of(message->pk),
        .order = row->order,
        .next_us = is_read ? 0 : refusal->now_us + REFUSAL_AGAIN_MS * MS_US,
        .first_us = refusal->now_us,
        .reason = bytes_of(arena_printf(refusal->arena,
                                        "searchers of epoch %" PRId64 " cannot apply it: %s",
                                        message->epoch, message->reason)),
        .refused_epoch = message->epoch};
    struct failed_element there;
    bool found;
    int rc = failed_find(tx, refusal->client_id, refusal->shard, element.pk, refusal->arena, &there,
                         &found, err);

    if (!rc && found && is_same_order(&there.order, row)) {
        element.first_us = there.first_us;
        element.attempt_count = there.attempt_count;
        if (is_told(refusal, &there)) {
            element.reason = there.reason;
            element.refused_epoch = there.refused_epoch;
        }
    }
    element.attempt_count++;
    refusal->is_parked = is_read;
    return rc ? rc : failed_put(tx, refusal->client_id, &element, false, err);
}

static int decide(struct store_tx *tx, void *arg, struct err *err)
{
    struct refusal *refusal = arg;
    const Torg__V1__IndexRefusal *message = refusal->message;
    const struct order refused = {0, message->version, message->modify_us};
    struct row row;
    bool found;
    int rc = row_find(tx, refusal->client_id, bytes_of(message->pk), false, refusal->arena, &row,
                      &found, err);

    refusal->is_parked = false;
    if (rc || !found)
        return rc;
    if (names_order(message) && !is_same_order(&refused, &row))
        return 0;
    return put_refusal(tx, refusal, &row, err);
}

/* *found false: the client, or the epoch, is gone, and nobody is asked for it any more. */
static int find_client(const struct refusal_inbox *self, struct refusal *refusal, bool *found,
                       struct err *err)
{
    const Torg__V1__IndexRefusal *message = refusal->message;
    const struct client_view *client;
    int rc = clients_find(self->options.clients, message->client, true, &client, err);

    *found = false;
    if (rc)
        return rc == ERR_NOT_FOUND ? 0 : rc;
    refusal->client_id = client->id;
    refusal->serving_epoch = client->serving_epoch;
    refusal->shard = number_key_shard(number_key_hash(bytes_of(message->pk)), client->shard_count);
    *found = client_epoch(client, message->epoch) != NULL;
    client_unref(client);
    return 0;
}

static int use_refusal(void *arg, const struct topic_message *record, struct arena *arena,
                       struct err *err)
{
    const struct refusal_inbox *self = arg;
    struct refusal refusal = {.now_us = clock_wall_us(self->options.clock), .arena = arena};
    ProtobufCMessage *decoded;
    bool found = false;
    int rc =
        message_decode(record->value, &torg__v1__index_refusal__descriptor, arena, &decoded, err);

    object_check(self, REFUSAL_INBOX_MAGIC);
    if (rc)
        return rc;
    refusal.message = (const Torg__V1__IndexRefusal *)decoded;
    rc = find_client(self, &refusal, &found, err);
    if (!rc && found)
        rc = store_write(self->options.store, decide, &refusal, err);
    if (rc)
        return rc;
    counter_add(refusal.is_parked ? self->parked : self->superseded, 1);
    if (refusal.is_parked)
        log_warn("searchers cannot apply a document, which is parked: torg queue show says why",
                 LOG_TEXT("client", refusal.message->client),
                 LOG_INT("epoch", refusal.message->epoch), LOG_TEXT("pk", refusal.message->pk),
                 LOG_TEXT("reason", refusal.message->reason));
    return 0;
}

int refusal_inbox_start(const struct refusal_inbox_options *options, struct refusal_inbox **inbox,
                        struct err *err)
{
    static const struct stage_reader_handler handler = {.take = use_refusal};
    static const char metric[] = "torg_refusals_total";
    static const char help[] = "Documents that searchers reported as not applicable.";
    struct refusal_inbox *self = mem_zero(sizeof(*self));
    const struct stage_reader_options reading = {.stage = PARKED_BY_REFUSALS,
                                                 .topic = TOPIC_REFUSALS,
                                                 .group = REFUSAL_GROUP,
                                                 .handler = &handler,
                                                 .arg = self,
                                                 .topics = options->topics,
                                                 .store = options->store,
                                                 .clock = options->clock,
                                                 .order = PARKED_NEWEST};
    int rc;

    assert(options->topics && options->store && options->clients && options->clock);
    object_begin(self, REFUSAL_INBOX_MAGIC);
    self->options = *options;
    self->parked = metrics_counter(metric, "result=\"parked\"", help);
    self->superseded = metrics_counter(metric, "result=\"superseded\"", help);
    rc = stage_reader_start(&reading, &self->reader, err);
    if (rc) {
        refusal_inbox_stop(self);
        self = NULL;
    }
    *inbox = self;
    return rc;
}

void refusal_inbox_stop(struct refusal_inbox *inbox)
{
    if (!inbox)
        return;
    object_check(inbox, REFUSAL_INBOX_MAGIC);
    stage_reader_stop(inbox->reader);
    object_end(inbox, REFUSAL_INBOX_MAGIC);
    free(inbox);
}
