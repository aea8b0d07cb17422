/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_request.c - any bytes as a query in JSON: refused with a reason, or read; and what was
 * read is run on a small shard, answered and explained, or refused with a reason. So is what
 * changed bytes of it, packed, are.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "codec/json.h"
#include "codec/message.h"
#include "query/request/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DOC_COUNT = 3, CHANGE_COUNT = 16 };

static const struct field fields[] = {
    {.type = FIELD_TEXT, .weight = 1, .name = "title"},
    {.type = FIELD_KEYWORD, .filterable = true, .name = "seller"},
    {.type = FIELD_KEYWORD, .multiple = true, .name = "tags"},
    {.type = FIELD_CATEGORY, .filterable = true, .name = "category"},
    {.type = FIELD_INTEGER, .name = "price"},
    {.type = FIELD_DECIMAL, .scale = 2, .name = "weight"},
    {.type = FIELD_DATE, .name = "date"},
    {.type = FIELD_BOOLEAN, .name = "used"},
    {.type = FIELD_GEO, .name = "point"},
    {.type = FIELD_STORED, .name = "note"},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static struct shard *shard;
static struct query_engine *engine;
static const struct schema *schema;

static void require(int truth)
{
    if (!truth)
        abort();
}

static void put(docid id)
{
    const struct bytes names[] = {bytes_of("a"), bytes_of("b/c")};
    struct shard_value values[FIELD_COUNT];
    struct shard_document document = {.id = id, .values = values, .count = FIELD_COUNT};
    struct err err;
    uint32_t i;

    for (i = 0; i < FIELD_COUNT; i++) {
        values[i] =
            (struct shard_value){.field = (uint16_t)i, .kind = VALUE_NUMBER, .number = id % 2};
        if (fields[i].type == FIELD_TEXT || fields[i].type == FIELD_STORED) {
            values[i].kind = VALUE_TEXT;
            values[i].text = bytes_of("Road bike, велосипед 128 гб");
        } else if (fields[i].type == FIELD_KEYWORD || fields[i].type == FIELD_CATEGORY) {
            values[i].kind = VALUE_KEYWORDS;
            values[i].keywords.names = names + (fields[i].type == FIELD_CATEGORY);
            values[i].keywords.count = fields[i].multiple ? 2 : 1;
        } else if (fields[i].type == FIELD_GEO) {
            values[i].kind = VALUE_GEO;
            values[i].geo.lat = values[i].geo.lon = (int32_t)id * 10000000;
        }
    }
    require(shard_put(shard, &document, &err) == 0);
}

static void make(void)
{
    const struct shard_options options = {0};
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    struct err err;
    docid id;

    require(shard_open(&options, &shard, &err) == 0);
    for (id = 0; id < FIELD_COUNT; id++)
        require(shard_add_field(shard, &fields[id], NULL, &err) == 0);
    for (id = 1; id <= DOC_COUNT; id++)
        put(id);
    require(shard_publish(shard, 1, &err) == 0);
    require(shard_reader_new(shard, &reader, &err) == 0);
    require(shard_enter(reader, &snapshot, &err) == 0);
    schema = snapshot->schema;
    shard_exit(reader);
    engine = query_engine_new(shard, reader);
}

static void use(const struct query_request *request, struct arena *arena)
{
    struct buf json = BUF_INIT(1 << 24);
    Torg__V1__Explanation *explanation;
    Torg__V1__QueryAnswer *answer;
    struct err err = {0};
    uint32_t i;

    if (response_make(engine, request, 0, arena, &answer, &err)) {
        require(!answer && err.text[0]);
        return;
    }
    require(answer->n_stages == request->plan.stage_count);
    for (i = 0; i < answer->n_stages; i++) {
        require(answer->stages[i]->n_hits <= DOC_COUNT);
        require(answer->stages[i]->n_facets == request->plan.stages[i].facet_count);
        require(response_explain(engine, request, i, 1, arena, &explanation, &err) == 0);
    }
    json_encode(&answer->base, &json);
    require(!buf_failed(&json));
    buf_release(&json);
}

static void check(const ProtobufCMessage *message)
{
    struct arena *arena = arena_new();
    struct query_request request;
    struct err err = {0};

    if (request_read((const Torg__V1__Query *)message, schema, 1, arena, &request, &err))
        require(err.text[0]);
    else
        use(&request, arena);
    arena_free(arena);
}

/* A changed byte of JSON is rarely JSON, but of a packed message often a message. */
static void check_changed(const ProtobufCMessage *message, struct rng *rng)
{
    struct buf packed = BUF_INIT(1 << 24);
    struct arena *arena = arena_new();
    ProtobufCMessage *changed;
    struct err err = {0};
    int i;

    message_encode(message, &packed);
    require(!buf_failed(&packed));
    for (i = 0; i < CHANGE_COUNT && packed.size; i++) {
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

    if (!shard)
        make();
    if (json_decode(bytes_make(data, size), &torg__v1__query__descriptor, arena, &message, NULL,
                    &err) == 0) {
        check(message);
        check_changed(message, &rng);
    }
    arena_free(arena);
    return 0;
}
