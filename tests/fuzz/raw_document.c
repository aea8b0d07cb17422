/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_document.c - any bytes as a document in JSON: refused with reasons, or right; and so is what
 * changed bytes of it, packed, are.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "codec/json.h"
#include "codec/message.h"
#include "registry/receiving/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHANGE_COUNT = 16 };

static const struct epoch_field fields[] = {
    {.number = 1, .type = TORG__V1__SCHEMA_FIELD__TYPE__TEXT, .name = "title", .weight = 1},
    {.number = 2, .type = TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL, .name = "price", .scale = 2},
    {.number = 3, .type = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS, .name = "colors"},
};

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check(const ProtobufCMessage *message)
{
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct client_view client = {.id = 1, .shard_count = 1, .writing_epoch = 2, .epoch_count = 1};
    struct document_check check = {.client = &client, .reasons = &reasons, .arena = arena};
    struct row row;

    client.epochs[0].epoch = 2;
    epoch_set_fields(&client.epochs[0], fields, ARRAY_COUNT(fields), arena);
    document_check(&check, (const Torg__V1__RawDocument *)message, 0, &row);
    for (const struct violation *one = reasons.first; one; one = one->next)
        require(one->field[0] && one->reason[0]);
    require(reasons.count || check.is_too_old || (check.epoch && row.pk.size));
    require(!check.waits); /* there are none before it */
    arena_free(arena);
}

/* A changed byte of JSON is rarely JSON, but of a packed message often a message. */
static void check_changed(const ProtobufCMessage *message, struct rng *rng)
{
    struct buf packed = BUF_INIT(1 << 24);
    struct arena *arena = arena_new();
    ProtobufCMessage *changed;
    struct err err = {0};

    message_encode(message, &packed);
    require(!buf_failed(&packed));
    for (int i = 0; i < CHANGE_COUNT && packed.size; i++) {
        packed.data[rng_below(rng, packed.size)] = (uint8_t)rng_next(rng);
        if (message_decode(buf_bytes(&packed), message->descriptor, arena, &changed, &err) == 0)
            check(changed);
    }
    arena_free(arena);
    buf_release(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rng rng = rng_seeded(hash64(bytes_make(data, size)));
    struct arena *arena = arena_new();
    ProtobufCMessage *message;
    struct err err = {0};

    if (json_decode(bytes_make(data, size), &torg__v1__raw_document__descriptor, arena, &message,
                    NULL, &err) == 0) {
        check(message);
        check_changed(message, &rng);
    }
    arena_free(arena);
    return 0;
}
