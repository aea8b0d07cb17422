/* SPDX-License-Identifier: Apache-2.0 */
/* indexer_fixture.c - see indexer_fixture.h. */
#include "contract/indexer_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/topics.h"
#include "patience.h"
#include "registry/bounds.h"
#include "registry/receiving/side.h"

enum { TRY_COUNT = 3, RUN_MAX = 1000, READ_COUNT = 500, WAIT_MS = PATIENCE_MS };

bool index_place_open(struct index_place *place, bool on_servers, uint32_t shard_count)
{
    const char *kafka = on_servers ? server_address("kafka") : NULL;
    const struct topics_options options = {.prefix = place->prefix};
    char topic_url[256] = "fault:memory:";
    struct err err;

    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_ERROR, STDERR_FILENO); /* migrations, faults on demand */
    *place = (struct index_place){.on_servers = on_servers, .shard_count = shard_count};
    if ((on_servers && !kafka) ||
        !store_place_open(&place->at, on_servers, "fault:", &place->store))
        return false;
    if (on_servers)
        snprintf(topic_url, sizeof(topic_url), "fault:kafka://%s", kafka);
    snprintf(place->client, sizeof(place->client), "c%016" PRIx64, random_u64());
    snprintf(place->prefix, sizeof(place->prefix), "%s.", place->client);
    OK(topics_open(topic_url, &options, &place->topics, &err));
    clock_manual_init(&place->clock, INT64_C(1800000000000000));
    place->arena = arena_new();
    place->receiver = (struct receiver){.store = place->store,
                                        .clock = &place->clock.base,
                                        .clients = clients_new(place->store, &place->clock.base),
                                        .dictionaries = dictionaries_new(place->store),
                                        .intake = intake_new(place->store),
                                        .shard_count = shard_count,
                                        .tombstone_life_us = INT64_C(30) * 86400 * SECOND_US};
    place->base =
        (struct indexer_base){.store = place->store,
                              .topics = place->topics,
                              .clients = place->receiver.clients,
                              .dictionaries = place->receiver.dictionaries,
                              .clock = &place->clock.base,
                              .rules = {.try_count = TRY_COUNT,
                                        .main_weight = 9,
                                        .backfill_weight = 1,
                                        .numbers = {.ttl_us = INT64_C(3600) * SECOND_US}}};
    return true;
}

void index_place_close(struct index_place *place)
{
    intake_free(place->receiver.intake);
    clients_free(place->receiver.clients);
    dictionaries_free(place->receiver.dictionaries);
    topics_close(place->topics);
    store_place_close(&place->at, place->store);
    arena_free(place->arena);
}

/* --- documents --- */

static Torg__V1__RawField *field_of(struct arena *arena, const char *name)
{
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    field->name = arena_strdup(arena, name);
    return field;
}

static Torg__V1__RawDocument *document_of(struct arena *arena, const char *pk, int64_t version,
                                          int64_t price)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);

    document->pk = arena_strdup(arena, pk);
    document->version = version;
    if (price < 0) {
        document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
        return document;
    }
    document->fields = arena_array(arena, 2, sizeof(document->fields[0]));
    document->n_fields = 2;
    document->fields[0] = field_of(arena, "price");
    document->fields[0]->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    document->fields[0]->integer = price;
    document->fields[1] = field_of(arena, "title");
    document->fields[1]->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    document->fields[1]->text = arena_printf(arena, "thing %s", pk);
    return document;
}

/* end_us 0: it has none. */
static void put_document(struct index_place *place, enum lane lane, const char *class,
                         int64_t end_us, const char *pk, int64_t version, int64_t price)
{
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *document = document_of(arena, pk, version, price);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    document->placement_class = arena_strdup(arena, class);
    if (end_us)
        document->expire_time = moment_message(end_us, arena);
    clock_manual_advance(&place->clock, 1);
    if (receiver_put(&place->receiver, place->client, lane, &document, 1, arena, &verdicts, &err))
        fail_msg("%s", err.text);
    if (verdicts[0]->kind != TORG__V1__VERDICT__KIND__ACCEPTED)
        fail_msg("%s version %" PRId64 ": verdict %d (%s)", pk, version, (int)verdicts[0]->kind,
                 verdicts[0]->n_reasons ? verdicts[0]->reasons[0]->text : "");
    arena_free(arena);
}

void place_put(struct index_place *place, enum lane lane, const char *pk, int64_t version,
               int64_t price)
{
    put_document(place, lane, "", 0, pk, version, price);
}

void place_put_in(struct index_place *place, const char *class, const char *pk, int64_t version,
                  int64_t price)
{
    put_document(place, LANE_MAIN, class, 0, pk, version, price);
}

void place_put_until(struct index_place *place, int64_t end_us, const char *pk, int64_t version,
                     int64_t price)
{
    put_document(place, LANE_MAIN, "", end_us, pk, version, price);
}

void place_put_many_in(struct index_place *place, enum lane lane, size_t count, int64_t version)
{
    struct arena *arena = arena_new();
    Torg__V1__RawDocument **documents = arena_array(arena, count, sizeof(*documents));
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    for (size_t i = 0; i < count; i++)
        documents[i] = document_of(arena, arena_printf(arena, "k%zu", i), version, (int64_t)i);
    clock_manual_advance(&place->clock, 1);
    if (receiver_put(&place->receiver, place->client, lane, documents, count, arena, &verdicts,
                     &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(verdicts[i]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
    arena_free(arena);
}

void place_put_many(struct index_place *place, size_t count, int64_t version)
{
    place_put_many_in(place, LANE_MAIN, count, version);
}

int64_t place_client_id(struct index_place *place)
{
    const struct client_view *client;
    struct err err = {0};
    int64_t id;

    if (clients_find(place->receiver.clients, place->client, true, &client, &err))
        fail_msg("%s", err.text);
    id = client->id;
    client_unref(client);
    return id;
}

/* --- side fields --- */

void place_declare_stock(struct index_place *place)
{
    Torg__V1__DeclareSchemaRequest request = TORG__V1__DECLARE_SCHEMA_REQUEST__INIT;
    Torg__V1__FieldOptions options = TORG__V1__FIELD_OPTIONS__INIT;
    Torg__V1__SchemaField field = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&field};
    struct violations reasons = violations_in(place->arena);
    Torg__V1__Schema schema = TORG__V1__SCHEMA__INIT;
    struct err err = {0};

    options.side = true;
    field.name = (char *)"stock";
    field.type = TORG__V1__SCHEMA_FIELD__TYPE__INTEGER;
    field.options = &options;
    request.fields = fields;
    request.n_fields = 1;
    if (receiver_declare(&place->receiver, "test", &request, place->client, &reasons, &schema,
                         &err))
        fail_msg("%s", err.text);
}

Torg__V1__Verdict *place_stock(struct index_place *place, const char *pk, int64_t epoch,
                               int64_t sequence, int64_t stock)
{
    Torg__V1__FieldChange *change = MESSAGE_NEW(field_change, place->arena);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    change->pk = arena_strdup(place->arena, pk);
    change->epoch = epoch;
    change->sequence = sequence;
    change->fields = arena_array(place->arena, 1, sizeof(change->fields[0]));
    change->fields[0] = field_of(place->arena, "stock");
    change->n_fields = 1;
    if (stock >= 0)
        change->fields[0]->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    change->fields[0]->integer = stock;
    if (receiver_put_fields(&place->receiver, place->client, &change, 1, place->arena, &verdicts,
                            &err))
        fail_msg("%s", err.text);
    return verdicts[0];
}

/* --- rounds --- */

struct indexer *place_indexer(struct index_place *place, uint32_t shard, uint64_t ticket)
{
    return indexer_new(&place->base, place->client, shard, ticket, NULL);
}

void place_run(struct indexer *indexer)
{
    struct indexer_round round = {.more = true};
    struct err err = {0};

    for (int i = 0; round.element_count || round.more || !round.is_settled; i++) {
        assert_true(i < RUN_MAX);
        if (indexer_round(indexer, &round, &err))
            fail_msg("%s", err.text);
    }
}

void place_tend(struct index_place *place, struct indexer *indexer, uint32_t shard)
{
    struct err err = {0};
    char sql[160];
    bool is_poured;

    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM registry_backfill WHERE client_id = %" PRId64
             " AND shard = %" PRIu32 " AND is_whole = 0",
             place_client_id(place), shard);

    do {
        clock_manual_advance(&place->clock, (int64_t)TEND_MS * MS_US);
        place_run(indexer);
        if (indexer_tend(indexer, &err))
            fail_msg("%s", err.text);
        do {
            if (indexer_pour(indexer, &is_poured, &err))
                fail_msg("%s", err.text);
            place_run(indexer);
        } while (is_poured);
    } while (read_integer(place->store, sql));
}

/* --- the naive searcher --- */

static void put(struct shelf *shelf, const Torg__V1__IndexDocument *told)
{
    struct shelf_document *document = &shelf->documents[told->doc_id];

    assert_true(told->doc_id < SHELF_COUNT_MAX);
    /* a number belongs to one key, and its versions never go back */
    if (document->is_there)
        assert_string_equal(document->pk, told->pk);
    if (strcmp(document->pk, told->pk) == 0)
        assert_true(told->version >= document->version);
    *document = (struct shelf_document){.is_there = true, .version = told->version};
    snprintf(document->pk, sizeof(document->pk), "%s", told->pk);
    for (size_t i = 0; i < told->n_values; i++) {
        assert_true(told->values[i]->number >= 1 && told->values[i]->number <= shelf->field_count);
        if (told->values[i]->number == shelf->stock_number)
            document->stock = told->values[i]->integer;
        else if (!told->values[i]->n_texts)
            document->price = told->values[i]->integer;
    }
    snprintf(shelf->last_put, sizeof(shelf->last_put), "%s", told->pk);
    shelf->put_count++;
}

static void take_off(struct shelf *shelf, const Torg__V1__IndexRemoval *told)
{
    struct shelf_document *document = &shelf->documents[told->doc_id];

    assert_true(told->doc_id < SHELF_COUNT_MAX);
    shelf->removal_count++;
    /* sent again, it may come after the number got another owner: as a searcher does (apply.c),
     * that one is left alone */
    if (strcmp(document->pk, told->pk) != 0 && document->is_there)
        return;
    if (strcmp(document->pk, told->pk) == 0)
        assert_true(told->version >= document->version);
    document->version = told->version;
    document->is_there = false;
    snprintf(document->pk, sizeof(document->pk), "%s", told->pk);
}

static void change(struct shelf *shelf, const Torg__V1__IndexFields *told)
{
    for (size_t i = 0; i < told->n_documents; i++) {
        const Torg__V1__IndexFields__Document *one = told->documents[i];
        struct shelf_document *document = &shelf->documents[one->doc_id];

        assert_true(one->doc_id < SHELF_COUNT_MAX && one->n_values == 1);
        assert_int_equal(one->values[0]->number, shelf->stock_number);
        if (!document->is_there || strcmp(document->pk, one->pk) != 0)
            continue;
        document->stock = one->values[0]->is_none ? 0 : one->values[0]->integer;
        shelf->change_count++;
        shelf->change_version = one->version;
        if (!shelf->stock_min || document->stock < shelf->stock_min)
            shelf->stock_min = document->stock;
    }
}

void shelf_lose(struct shelf *shelf, uint64_t first)
{
    *shelf = (struct shelf){
        .epoch = shelf->epoch, .shard = shelf->shard, .next = first, .has_gap = true};
}

static void apply_mark(struct shelf *shelf, const Torg__V1__IndexPour *mark, uint64_t offset)
{
    bool is_same = mark->number == shelf->pour && mark->begin_ticket == shelf->pour_ticket;
    uint64_t ticket = shelf->ticket;

    if (mark->mark == TORG__V1__INDEX_POUR__MARK__END) {
        shelf->has_gap = shelf->has_gap && !is_same;
    } else if (shelf->has_gap && !is_same) {
        shelf_lose(shelf, offset);
        shelf->ticket = ticket;
        shelf->pour = mark->number;
        shelf->pour_ticket = mark->begin_ticket;
    }
}

static void apply(struct shelf *shelf, const Torg__V1__IndexMessage *message, uint64_t offset)
{
    shelf->record_count++;
    if (message->ticket < shelf->ticket) {
        shelf->stale_count++;
        return;
    }
    shelf->ticket = message->ticket;
    if (shelf->has_gap && !shelf->pour && message->kind_case != TORG__V1__INDEX_MESSAGE__KIND_POUR)
        return;
    switch (message->kind_case) {
    case TORG__V1__INDEX_MESSAGE__KIND_SCHEMA:
        shelf->field_count = (uint32_t)message->schema->n_fields;
        for (size_t i = 0; i < message->schema->n_fields; i++)
            if (strcmp(message->schema->fields[i]->name, "stock") == 0)
                shelf->stock_number = message->schema->fields[i]->number;
        break;
    case TORG__V1__INDEX_MESSAGE__KIND_PUT:
        put(shelf, message->put);
        break;
    case TORG__V1__INDEX_MESSAGE__KIND_REMOVE:
        take_off(shelf, message->remove);
        break;
    case TORG__V1__INDEX_MESSAGE__KIND_FIELDS:
        change(shelf, message->fields);
        break;
    case TORG__V1__INDEX_MESSAGE__KIND_PROGRESS:
        for (size_t i = 0; i < message->progress->n_lanes; i++)
            shelf->progress[message->progress->lanes[i]->lane] = message->progress->lanes[i]->idx;
        break;
    case TORG__V1__INDEX_MESSAGE__KIND_POUR:
        apply_mark(shelf, message->pour, offset);
        break;
    default:
        fail_msg("a record of kind %d", (int)message->kind_case);
    }
}

/* is_stopping: when it becomes whole. */
static void follow(struct shelf *shelf, struct index_place *place, uint64_t until, bool is_stopping)
{
    struct arena *arena = arena_new();
    const struct topic_message *messages;
    char topic[INDEX_TOPIC_SIZE];
    uint64_t first, end = 0;
    struct err err = {0};
    size_t count;

    index_topic_name(place->client, shelf->epoch ? shelf->epoch : SHELF_EPOCH, topic);
    if (topic_range(place->topics, topic, shelf->shard, &first, &end, &err))
        assert_int_equal(err.code, ERR_NOT_FOUND);
    end = end < until ? end : until;
    while (shelf->next < end) {
        bool had_gap = shelf->has_gap;

        if (topic_read(place->topics, topic, shelf->shard, shelf->next, READ_COUNT, WAIT_MS, arena,
                       &messages, &count, &err))
            fail_msg("%s", err.text);
        assert_true(count > 0);
        for (size_t i = 0; i < count && shelf->next < end; i++) {
            ProtobufCMessage *message;

            if (message_decode(messages[i].value, &torg__v1__index_message__descriptor, arena,
                               &message, &err))
                fail_msg("%s", err.text);
            apply(shelf, (const Torg__V1__IndexMessage *)message, messages[i].offset);
            shelf->next = messages[i].offset + 1;
            if (is_stopping && had_gap && !shelf->has_gap)
                end = shelf->next;
        }
    }
    arena_free(arena);
}

void shelf_follow(struct shelf *shelf, struct index_place *place)
{
    follow(shelf, place, UINT64_MAX, false);
}

void shelf_follow_until(struct shelf *shelf, struct index_place *place, uint64_t until)
{
    follow(shelf, place, until, true);
}

const struct shelf_document *shelf_find(const struct shelf *shelf, const char *pk)
{
    for (size_t i = 0; i < SHELF_COUNT_MAX; i++)
        if (shelf->documents[i].is_there && strcmp(shelf->documents[i].pk, pk) == 0)
            return &shelf->documents[i];
    return NULL;
}

size_t shelf_count(const struct shelf *shelf)
{
    size_t count = 0;

    for (size_t i = 0; i < SHELF_COUNT_MAX; i++)
        count += shelf->documents[i].is_there;
    return count;
}

struct comparison {
    struct shelf *shelves;
    uint32_t shard_count;
    int64_t client_id;
    size_t alive_count;
    char wrong[256];
};

static int64_t stock_of(const struct store_value *side)
{
    struct arena *arena = arena_new();
    Torg__V1__SideFields *fields = NULL;
    int64_t stock = 0;

    if (side->type != STORE_NULL)
        assert_int_equal(side_decode(side->bytes, arena, &fields, NULL), 0);
    if (fields && fields->n_fields)
        stock = fields->fields[0]->field->integer;
    arena_free(arena);
    return stock < 0 ? 0 : stock;
}

static void compare_row(struct comparison *comparison, const struct store_value *columns)
{
    const struct shelf_document *found = NULL;
    char pk[64];

    snprintf(pk, sizeof(pk), "%.*s", BYTES_ARG(columns[0].bytes));
    for (uint32_t i = 0; i < comparison->shard_count && !found; i++)
        found = shelf_find(&comparison->shelves[i], pk);
    comparison->alive_count++;
    if (!found || found->version != columns[1].integer)
        snprintf(comparison->wrong, sizeof(comparison->wrong),
                 "%s: version %" PRId64 " is on the shelf, not %" PRId64, pk,
                 found ? found->version : -1, columns[1].integer);
    else if (found->stock != stock_of(&columns[2]))
        snprintf(comparison->wrong, sizeof(comparison->wrong),
                 "%s: stock %" PRId64 " is on the shelf, not %" PRId64, pk, found->stock,
                 stock_of(&columns[2]));
}

static int compare(struct store_tx *tx, void *arg, struct err *err)
{
    struct comparison *comparison = arg;
    const struct store_value params[] = {STORE_V_INT(comparison->client_id)};
    struct store_rows rows = store_select(
        tx, "SELECT pk, version, side FROM registry WHERE client_id = $1 AND status = 1", params,
        1);

    comparison->alive_count = 0;
    while (store_next(&rows))
        compare_row(comparison, rows.columns);
    return store_rows_end(&rows, err);
}

void shelves_equal_registry(struct shelf *shelves, uint32_t shard_count, struct index_place *place)
{
    struct comparison comparison = {
        .shelves = shelves, .shard_count = shard_count, .client_id = place_client_id(place)};
    struct err err = {0};
    size_t count = 0;

    for (uint32_t i = 0; i < shard_count; i++) {
        shelf_follow(&shelves[i], place);
        count += shelf_count(&shelves[i]);
    }
    if (store_read(place->store, compare, &comparison, &err))
        fail_msg("%s", err.text);
    if (comparison.wrong[0])
        fail_msg("%s", comparison.wrong);
    assert_int_equal(count, comparison.alive_count);
}
