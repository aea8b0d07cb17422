/* SPDX-License-Identifier: Apache-2.0 */
/* index_messages.c - see index_messages.h. */
#include "index_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"

enum { VALUE_MAX = 16, MESSAGE_SIZE_MAX = 1 << 20 };

static struct bytes pack(const Torg__V1__IndexMessage *message, struct arena *arena)
{
    struct buf out = BUF_INIT(MESSAGE_SIZE_MAX);
    struct bytes packed;

    message_encode(&message->base, &out);
    assert_false(buf_failed(&out));
    packed = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return packed;
}

struct bytes message_schema(uint64_t ticket, struct arena *arena)
{
    static const struct {
        const char *name;
        Torg__V1__SchemaField__Type type;
    } fields[] = {
        {"title", TORG__V1__SCHEMA_FIELD__TYPE__TEXT},
        {"body", TORG__V1__SCHEMA_FIELD__TYPE__TEXT},
        {"seller", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD},
        {"price", TORG__V1__SCHEMA_FIELD__TYPE__INTEGER},
        {"tags", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS},
        {"category", TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY},
        {"date", TORG__V1__SCHEMA_FIELD__TYPE__DATE},
        {"weight", TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL},
        {"used", TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN},
        {"point", TORG__V1__SCHEMA_FIELD__TYPE__POINT},
        {"note", TORG__V1__SCHEMA_FIELD__TYPE__STORED},
    };
    Torg__V1__SchemaField made[ARRAY_COUNT(fields)];
    Torg__V1__SchemaField *list[ARRAY_COUNT(fields)];
    Torg__V1__IndexSchema schema = TORG__V1__INDEX_SCHEMA__INIT;
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;

    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        torg__v1__schema_field__init(&made[i]);
        made[i].name = (char *)fields[i].name;
        made[i].type = fields[i].type;
        made[i].number = (uint32_t)i + 1;
        list[i] = &made[i];
    }
    schema.fields = list;
    schema.n_fields = ARRAY_COUNT(fields);
    message.ticket = ticket;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_SCHEMA;
    message.schema = &schema;
    return pack(&message, arena);
}

/* ---- documents ---- */

struct draft {
    Torg__V1__IndexDocument document;
    Torg__V1__IndexValue values[VALUE_MAX];
    Torg__V1__IndexValue *list[VALUE_MAX];
    struct arena *arena;
};

static Torg__V1__IndexValue *add(struct draft *draft, uint32_t number)
{
    Torg__V1__IndexValue *value = &draft->values[draft->document.n_values];

    torg__v1__index_value__init(value);
    value->number = number;
    draft->list[draft->document.n_values++] = value;
    return value;
}

static void add_text(struct draft *draft, uint32_t number, const char *text)
{
    Torg__V1__IndexValue *value = add(draft, number);

    value->texts = arena_array(draft->arena, 1, sizeof(char *));
    value->texts[0] = (char *)text;
    value->n_texts = 1;
}

static const char *words(struct rng *rng, unsigned most, struct arena *arena)
{
    static const char *const all[] = {
        "горный", "велосипед", "детский",  "красный", "новый", "диван",  "кожаный", "шины",
        "зимние", "телефон",   "iphone15", "road",    "bike",  "срочно", "ремонт",  "редкость"};
    struct buf text = BUF_INIT(4096);
    uint64_t count = 1 + rng_below(rng, most);
    char *made;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = rng_below(rng, ARRAY_COUNT(all) * 2);

        /* The first are frequent, the last rare. */
        buf_printf(&text, "%s%s", i ? " " : "", all[word * word / (4 * ARRAY_COUNT(all))]);
    }
    made = arena_text(arena, buf_bytes(&text));
    buf_release(&text);
    return made;
}

static void add_numbers(struct draft *draft, struct rng *rng)
{
    if (rng_below(rng, 8))
        add(draft, 4)->integer = (int64_t)rng_below(rng, 40) * 500;
    if (rng_below(rng, 4))
        add(draft, 7)->integer = 1700000000 + (int64_t)rng_below(rng, 1000) * 86400;
    if (rng_below(rng, 4))
        add(draft, 8)->integer = (int64_t)rng_below(rng, 5000);
    if (rng_below(rng, 3))
        add(draft, 9)->integer = (int64_t)rng_below(rng, 2);
    if (rng_below(rng, 4)) {
        Torg__V1__IndexValue *point = add(draft, 10);

        point->lat = 557000000 + (int32_t)rng_below(rng, 1000000);
        point->lon = 376000000 + (int32_t)rng_below(rng, 1000000);
    }
}

static void add_names(struct draft *draft, struct rng *rng)
{
    static const char *const paths[] = {"transport",      "transport/bikes",
                                        "transport/cars", "transport/cars/tyres",
                                        "home",           "home/sofas"};
    uint64_t tags = rng_below(rng, 8);

    if (rng_below(rng, 10))
        add_text(draft, 3, arena_printf(draft->arena, "seller%u", (unsigned)rng_below(rng, 30)));
    if (tags) {
        static const char *const names[] = {"new", "urgent", "gift"};
        Torg__V1__IndexValue *value = add(draft, 5);

        value->texts = arena_array(draft->arena, 3, sizeof(char *));
        for (unsigned i = 0; i < 3; i++)
            if (tags >> i & 1)
                value->texts[value->n_texts++] = (char *)names[i];
    }
    if (rng_below(rng, 6))
        add_text(draft, 6, paths[rng_below(rng, ARRAY_COUNT(paths))]);
    if (rng_below(rng, 3) == 0)
        add_text(draft, 11, arena_printf(draft->arena, "note %u", (unsigned)rng_below(rng, 1000)));
}

static void begin(struct draft *draft, uint32_t id, const char *pk, struct arena *arena)
{
    torg__v1__index_document__init(&draft->document);
    draft->arena = arena;
    draft->document.values = draft->list;
    draft->document.doc_id = id;
    draft->document.pk = (char *)pk;
}

static struct bytes pack_put(uint64_t ticket, struct draft *draft)
{
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;

    message.ticket = ticket;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_PUT;
    message.put = &draft->document;
    return pack(&message, draft->arena);
}

struct bytes message_put(uint64_t ticket, uint32_t id, const char *pk, uint64_t text_seed,
                         uint64_t seed, struct arena *arena)
{
    struct rng texts = rng_seeded(text_seed);
    struct rng rest = rng_seeded(seed);
    struct draft draft;

    begin(&draft, id, pk, arena);
    add_text(&draft, 1, words(&texts, 5, arena));
    if (rng_below(&texts, 3))
        add_text(&draft, 2, words(&texts, 30, arena));
    add_names(&draft, &rest);
    add_numbers(&draft, &rest);
    draft.document.version = (int64_t)(seed >> 40);
    if (rng_below(&rest, 20) == 0)
        draft.document.expires_at = 4000000000 + (int64_t)rng_below(&rest, 1000);
    return pack_put(ticket, &draft);
}

struct bytes message_titled(uint64_t ticket, uint32_t id, const char *pk, const char *title,
                            int64_t price, int64_t expires_at, struct arena *arena)
{
    struct draft draft;

    begin(&draft, id, pk, arena);
    add_text(&draft, 1, title);
    add(&draft, 4)->integer = price;
    draft.document.expires_at = expires_at;
    return pack_put(ticket, &draft);
}

struct bytes message_remove(uint64_t ticket, uint32_t id, const char *pk, struct arena *arena)
{
    Torg__V1__IndexRemoval removal = TORG__V1__INDEX_REMOVAL__INIT;
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;

    removal.doc_id = id;
    removal.pk = (char *)pk;
    message.ticket = ticket;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_REMOVE;
    message.remove = &removal;
    return pack(&message, arena);
}

struct bytes message_pour(uint64_t ticket, Torg__V1__IndexPour__Mark mark, int64_t number,
                          uint64_t begin_ticket, struct arena *arena)
{
    Torg__V1__IndexPour pour = TORG__V1__INDEX_POUR__INIT;
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;

    pour.mark = mark;
    pour.number = number;
    pour.begin_ticket = begin_ticket;
    message.ticket = ticket;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_POUR;
    message.pour = &pour;
    return pack(&message, arena);
}

struct bytes message_progress(uint64_t ticket, uint32_t lane, int64_t idx, struct arena *arena)
{
    Torg__V1__IndexProgress__Lane one = TORG__V1__INDEX_PROGRESS__LANE__INIT;
    Torg__V1__IndexProgress__Lane *lanes[] = {&one};
    Torg__V1__IndexProgress progress = TORG__V1__INDEX_PROGRESS__INIT;
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;

    one.lane = (Torg__V1__QueueLane__Name)lane;
    one.idx = idx;
    progress.lanes = lanes;
    progress.n_lanes = 1;
    message.ticket = ticket;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_PROGRESS;
    message.progress = &progress;
    return pack(&message, arena);
}

/* ---- the rest ---- */

void send_to(struct topics *topics, const char *topic, uint32_t partition, struct bytes message)
{
    const struct topic_record record = {
        .value = message, .has_partition = true, .partition = partition};
    struct err err = {0};

    if (topic_produce(topics, topic, &record, 1, NULL, &err))
        fail_msg("%s", err.text);
}

void make_topic(struct topics *topics, const char *topic, uint32_t partition_count)
{
    const struct topic_config config = {.partition_count = partition_count};
    struct err err = {0};

    if (topic_create(topics, topic, &config, &err))
        fail_msg("%s", err.text);
}

void announce(struct coord *coord, const struct announced *clients, size_t count)
{
    Torg__V1__IndexMap map = TORG__V1__INDEX_MAP__INIT;
    Torg__V1__IndexMap__Client made[8];
    Torg__V1__IndexMap__Client *list[8];
    Torg__V1__IndexMap__Epoch epochs[8][ANNOUNCED_EPOCH_MAX];
    Torg__V1__IndexMap__Epoch *epoch_lists[8][ANNOUNCED_EPOCH_MAX];
    struct buf packed = BUF_INIT(MESSAGE_SIZE_MAX);
    struct buf old = BUF_INIT(MESSAGE_SIZE_MAX);
    struct err err = {0};
    uint64_t version = 0;

    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) {
        torg__v1__index_map__client__init(&made[i]);
        made[i].name = (char *)clients[i].name;
        made[i].id = (int64_t)i + 1;
        made[i].shard_count = clients[i].shard_count;
        made[i].epochs = epoch_lists[i];
        for (size_t k = 0; k < ANNOUNCED_EPOCH_MAX && clients[i].epochs[k].epoch; k++) {
            torg__v1__index_map__epoch__init(&epochs[i][k]);
            epochs[i][k].epoch = clients[i].epochs[k].epoch;
            epochs[i][k].state = clients[i].epochs[k].state;
            epoch_lists[i][made[i].n_epochs++] = &epochs[i][k];
        }
        list[i] = &made[i];
    }
    map.clients = list;
    map.n_clients = count;
    message_encode(&map.base, &packed);
    (void)coord_get(coord, "index-map", &old, &version, NULL);
    if (coord_set(coord, "index-map", buf_bytes(&packed), version, NULL, &err))
        fail_msg("%s", err.text);
    buf_release(&packed);
    buf_release(&old);
}

struct rng test_seed(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = random_u64();

    if (given && !text_to_u64(bytes_of(given), &seed))
        fail_msg("TORG_SEED is no number");
    printf("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}
