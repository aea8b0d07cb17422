/* SPDX-License-Identifier: Apache-2.0 */
/* composed.c - see composed.h. */
#include "contract/composed.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "codec/message.h"
#include "contract/cases.h"
#include "documents/composer.h"
#include "model/bounds.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "patience.h"

enum { READ_COUNT = 1000, READ_WAIT_MS = 1000, TRY_COUNT = PATIENCE_MS / READ_WAIT_MS };

void composed_open(struct composed *composed, struct topics *topics)
{
    const struct topic_config config = {.partition_count = DOCUMENTS_PARTITION_COUNT};
    struct topic_config found;
    uint64_t first;
    struct err err;

    composed->topics = topics;
    if (topic_describe(topics, TOPIC_DOCUMENTS, &found, &err))
        OK(topic_create(topics, TOPIC_DOCUMENTS, &config, &err));
    OK(topic_describe(topics, TOPIC_DOCUMENTS, &found, &err));
    composed->partition_count = found.partition_count;
    for (uint32_t i = 0; i < found.partition_count; i++)
        OK(topic_range(topics, TOPIC_DOCUMENTS, i, &first, &composed->next[i], &err));
}

static const char *words_of(const Torg__V1__RawDocument *document)
{
    for (size_t i = 0; i < document->n_fields; i++) {
        if (strcmp(document->fields[i]->name, OFFER_FIELD_WORDS) == 0)
            return document->fields[i]->text;
    }
    return "";
}

static void note(struct composed *composed, const Torg__V1__QualifiedBatch *batch,
                 const Torg__V1__RawDocument *document)
{
    struct composed_document *seen = &composed->seen[composed->seen_count];

    assert_true(composed->seen_count < COMPOSED_COUNT_MAX);
    *seen = (struct composed_document){
        .version = document->version,
        .modify_us = document->modify_timestamp->seconds * SECOND_US +
                     document->modify_timestamp->nanos / 1000,
        .is_delete = document->event == TORG__V1__RAW_DOCUMENT__EVENT__DELETE,
        .lane = batch->lane,
        .field_count = (uint32_t)document->n_fields,
        .batch = composed->batch_count};
    snprintf(seen->pk, sizeof(seen->pk), "%s", document->pk);
    snprintf(seen->words, sizeof(seen->words), "%s", words_of(document));
    composed->seen_count++;
}

static void note_batch(struct composed *composed, const struct topic_message *message,
                       struct arena *arena)
{
    const Torg__V1__QualifiedBatch *batch;
    ProtobufCMessage *decoded;
    struct err err;

    OK(message_decode(message->value, &torg__v1__qualified_batch__descriptor, arena, &decoded,
                      &err));
    batch = (const Torg__V1__QualifiedBatch *)decoded;
    assert_string_equal(batch->client, OFFER_CLIENT);
    for (size_t i = 0; i < batch->n_documents; i++)
        note(composed, batch, batch->documents[i]);
    composed->batch_count++;
}

/* Up to this offset; a fault that was meant for another is waited out. */
static void read_to(struct composed *composed, uint32_t partition, uint64_t end,
                    struct arena *arena)
{
    uint64_t *next = &composed->next[partition];
    const struct topic_message *messages;
    size_t count;
    struct err err;

    for (int i = 0; *next < end; i++) {
        int rc = topic_read(composed->topics, TOPIC_DOCUMENTS, partition, *next, READ_COUNT,
                            READ_WAIT_MS, arena, &messages, &count, &err);

        assert_true(i < TRY_COUNT);
        if (rc == ERR_UNAVAILABLE)
            continue;
        if (rc)
            fail_msg("%s", err.text);
        for (size_t k = 0; k < count; k++)
            note_batch(composed, &messages[k], arena);
        *next = count ? messages[count - 1].offset + 1 : *next;
    }
}

void composed_look(struct composed *composed)
{
    struct arena *arena = arena_new();
    uint64_t first, end;
    struct err err;

    for (uint32_t i = 0; i < composed->partition_count; i++) {
        OK(topic_range(composed->topics, TOPIC_DOCUMENTS, i, &first, &end, &err));
        read_to(composed, i, end, arena);
    }
    arena_free(arena);
}

const struct composed_document *composed_last(const struct composed *composed, offerid id)
{
    char text[OFFER_ID_TEXT_SIZE];

    offer_id_format(id, text);
    for (size_t i = composed->seen_count; i > 0; i--) {
        if (strcmp(composed->seen[i - 1].pk, text) == 0)
            return &composed->seen[i - 1];
    }
    return NULL;
}
