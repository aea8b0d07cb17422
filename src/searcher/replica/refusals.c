/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.c - see refusals.h. */
#include "searcher/replica/refusals.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/memory.h"
#include "codec/message.h"
#include "model/topics.h"
#include "stage/make_topics.h"
#include "topic/bounds.h"
#include "torg/v1/index_message.pb-c.h"

void refusals_release(struct refusals *refusals)
{
    free(refusals->records);
    refusals->records = NULL;
    refusals->count = refusals->capacity = 0;
}

void refusals_add(struct refusals *refusals, struct bytes pk, int64_t version, int64_t modify_us,
                  const char *reason, struct arena *arena)
{
    Torg__V1__IndexRefusal message = TORG__V1__INDEX_REFUSAL__INIT;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);

    message.client = (char *)refusals->client;
    message.epoch = refusals->epoch;
    message.shard = refusals->shard;
    message.pk = arena_text(arena, pk);
    message.version = version;
    message.modify_us = modify_us;
    message.reason = (char *)reason;
    message_encode(&message.base, &wire);
    assert(!buf_failed(&wire)); /* a key, a reason and some numbers */
    refusals->records = mem_grow(refusals->records, refusals->count + 1, sizeof(*refusals->records),
                                 &refusals->capacity);
    refusals->records[refusals->count++] = (struct topic_record){
        .key = bytes_of(arena_printf(arena, "%s/%s", refusals->client, message.pk)),
        .value = arena_copy(arena, buf_bytes(&wire))};
    buf_release(&wire);
}

int refusals_send(struct refusals *refusals, struct err *err)
{
    int rc;

    if (!refusals->count)
        return 0;
    rc = topic_produce(refusals->topics, TOPIC_REFUSALS, refusals->records, refusals->count, NULL,
                       err);
    if (rc == ERR_NOT_FOUND) {
        rc = stage_make_topic(refusals->topics, TOPIC_REFUSALS, err);
        if (!rc)
            rc = topic_produce(refusals->topics, TOPIC_REFUSALS, refusals->records, refusals->count,
                               NULL, err);
    }
    if (!rc)
        refusals->count = 0;
    return rc;
}
