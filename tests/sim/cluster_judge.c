/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_judge.c - what must hold of the cluster; see cluster.h.
 *
 * As it runs: a ticket of a shard is one machine's, whatever is sent to the index with it. At rest,
 * faults over and everybody silent: what was acknowledged is in the store, each replica has what
 * the store says at its newest version and nothing else, offers are made once, nothing waits or is
 * parked, and the product's own verification finds nothing.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/versions.h"
#include "codec/message.h"
#include "inspect/audit/auditor_book.h"
#include "inspect/verify/verify.h"
#include "model/offer_fields.h"
#include "offers/record/offer_status.h"
#include "registry/receiving/dictionaries.h"
#include "registry/receiving/rows.h"
#include "registry/receiving/side.h"
#include "sim/cluster.h"
#include "sim/sim_late.h"
#include "torg/v1/index_message.pb-c.h"
#include "torg/v1/inspect.pb-c.h"

enum { PATIENCE_S = 300, LOOK_MS = 1000, ANSWER_S = 60, TICKET_COUNT_MAX = 4096, LIST_MAX = 1000 };

/* --- tickets --- */

static struct {
    uint64_t ticket;
    char owner[MACHINE_NAME_SIZE + 8];
} tickets[TICKET_COUNT_MAX];
static size_t ticket_count;
static pthread_mutex_t tickets_lock = PTHREAD_MUTEX_INITIALIZER;

/* Tickets of one board are never given twice, to whatever shard. */
static void see_record(void *arg, const char *life, const char *topic, struct bytes value)
{
    struct arena *arena;
    ProtobufCMessage *decoded;
    uint64_t ticket;
    size_t i = 0;
    struct err err;

    (void)arg;
    if (strncmp(topic, "index.", 6) != 0)
        return;
    arena = arena_new();
    if (message_decode(value, &torg__v1__index_message__descriptor, arena, &decoded, &err))
        cluster_fail("a record of %s cannot be read: %s", topic, err.text);
    ticket = ((const Torg__V1__IndexMessage *)decoded)->ticket;
    pthread_mutex_lock(&tickets_lock);
    while (i < ticket_count && tickets[i].ticket != ticket)
        i++;
    if (i < ticket_count && strcmp(tickets[i].owner, life) != 0)
        cluster_fail("%s and %s both send with ticket %" PRIu64, tickets[i].owner, life, ticket);
    if (i == ticket_count && ticket_count < TICKET_COUNT_MAX) {
        tickets[i].ticket = ticket;
        snprintf(tickets[i].owner, sizeof(tickets[i].owner), "%s", life);
        ticket_count++;
    }
    pthread_mutex_unlock(&tickets_lock);
    arena_free(arena);
}

void judge_watch(struct cluster *cluster)
{
    ticket_count = 0;
    sim_net_watch(cluster->net, see_record, cluster);
}

/* --- what the store says --- */

/* Documents that a replica must have. */
struct expected {
    char pk[OFFER_ID_SIZE];
    int64_t version;
    bool is_seen;
};

struct truth {
    struct cluster *cluster;
    const char *client;
    int64_t client_id;
    int64_t epoch; /* that is served */
    struct expected rows[LIST_MAX];
    size_t count;
    const char *path; /* of offers' category; NULL: not looked for yet */
    char *text;       /* the first thing that is wrong */
    size_t size;
    struct arena *arena;
};

struct refusal {
    int64_t client_id;
    const struct expected *row;
    int64_t count;
};

static bool tell(struct truth *truth, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool tell(struct truth *truth, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(truth->text, truth->size, format, args);
    va_end(args);
    return false;
}

static void expect(struct truth *truth, const char *pk, int64_t version)
{
    struct expected *row = &truth->rows[truth->count++];

    assert(truth->count < LIST_MAX);
    *row = (struct expected){.version = version};
    snprintf(row->pk, sizeof(row->pk), "%s", pk);
}

static int find_client(struct store_tx *tx, void *arg, struct err *err)
{
    struct truth *truth = arg;
    const struct store_value name = STORE_V_TEXT(bytes_of(truth->client));

    int rc;

    truth->client_id = 0;
    truth->epoch = 1;
    rc = store_find_integer(tx, "SELECT id FROM registry_client WHERE name = $1", &name, 1,
                            &truth->client_id, err);
    return rc ? rc
              : store_find_integer(tx, "SELECT serving_epoch FROM registry_client WHERE name = $1",
                                   &name, 1, &truth->epoch, err);
}

/* The write that the registry keeps; NULL: none of ours. */
static const struct write *kept_write(const struct document *document, int64_t version)
{
    for (size_t i = 0; i < document->write_count; i++) {
        if (document->writes[i].version == version && document->writes[i].state != WRITE_REFUSED)
            return &document->writes[i];
    }
    return NULL;
}

/* The newest write of the key is one that searchers could not apply, and stands in the list. */
static int find_refusal(struct store_tx *tx, void *arg, struct err *err)
{
    struct refusal *refusal = arg;

    return store_find_integer(
        tx,
        "SELECT count(*) FROM registry_failed WHERE client_id = $1 AND pk = $2 AND version = $3 "
        "AND next_us = 0 AND refused_epoch > 0",
        STORE_WITH(STORE_V_INT(refusal->client_id), STORE_V_STRING(refusal->row->pk),
                   STORE_V_INT(refusal->row->version)),
        &refusal->count, err);
}

static bool is_refused(const struct truth *truth, const struct expected *row)
{
    struct refusal refusal = {.client_id = truth->client_id, .row = row};
    struct err err;

    return strcmp(truth->client, BRAND_CLIENT) == 0 &&
           !store_read(sim_net_store(truth->cluster->net), find_refusal, &refusal, &err) &&
           refusal.count > 0;
}

/* The newest change of the stock that was acknowledged is kept, or a newer one. */
static bool check_stock(struct truth *truth, const char *pk, const struct document *document,
                        const struct row *row)
{
    int64_t acknowledged = 0, kept = 0;
    Torg__V1__SideFields *side;
    struct err err;

    for (size_t i = 0; i < document->change_count; i++)
        if (document->changes[i].state == WRITE_DONE &&
            document->changes[i].sequence > acknowledged)
            acknowledged = document->changes[i].sequence;
    if (side_decode(row->side, truth->arena, &side, &err))
        return tell(truth, "%s: %s", pk, err.text);
    if (side->n_fields)
        kept = side->fields[0]->sequence;
    return kept >= acknowledged ||
           tell(truth, "%s has stock %" PRId64 ", and %" PRId64 " was acknowledged", pk, kept,
                acknowledged);
}

static bool check_document(struct truth *truth, unsigned key)
{
    const struct document *document = &truth->cluster->model.documents[key];
    const struct write *kept;
    int64_t acknowledged = 0;
    char pk[OFFER_ID_SIZE];
    struct row row = {0};
    struct err err;
    bool found;

    snprintf(pk, sizeof(pk), "d%u", key);
    for (size_t i = 0; i < document->write_count; i++) {
        if (document->writes[i].state == WRITE_DONE && document->writes[i].version > acknowledged)
            acknowledged = document->writes[i].version;
    }
    if (row_read(sim_net_store(truth->cluster->net), truth->client_id, bytes_of(pk), true,
                 truth->arena, &row, &found, &err))
        return tell(truth, "%s cannot be read: %s", pk, err.text);
    if (!found)
        return acknowledged
                   ? tell(truth, "%s is not kept, and version %" PRId64 " was acknowledged", pk,
                          acknowledged)
                   : true;
    kept = kept_write(document, row.order.version);
    if (row.order.version < acknowledged || !kept)
        return tell(truth, "%s is kept at version %" PRId64 ", %" PRId64 " was acknowledged", pk,
                    row.order.version, acknowledged);
    if (kept->is_delete != (row.status == ROW_TOMBSTONE))
        return tell(truth, "%s version %" PRId64 " is%s deleted", pk, row.order.version,
                    kept->is_delete ? " not" : "");
    if (row.status == ROW_ALIVE)
        expect(truth, pk, row.order.version);
    if (row.status == ROW_ALIVE && !write_has_brand(kept) &&
        is_refused(truth, &truth->rows[truth->count - 1]))
        return tell(truth, "%s version %" PRId64 " has no brand, and stands in the list", pk,
                    row.order.version);
    return check_stock(truth, pk, document, &row);
}

/* By the catalogue in use: the path of the one category that offers are of. */
static int find_path(struct truth *truth, struct err *err)
{
    const struct category **path;
    const struct category *books;
    struct catalog *catalog;
    int rc =
        versions_load(sim_net_store(truth->cluster->net), 0, truth->arena, NULL, &catalog, err);

    if (rc)
        return rc;
    books = category_find(catalog, "books");
    path = category_path(books, truth->arena);
    truth->path = arena_printf(truth->arena, "%s/%s", path[0]->id, books->id);
    catalog_unref(catalog);
    return 0;
}

/* The document of an offer is that of the catalogue in use. */
static bool check_composed(struct truth *truth, const char *pk)
{
    struct store *store = sim_net_store(truth->cluster->net);
    struct dictionaries *dictionaries = dictionaries_new(store);
    const char *path = "";
    Torg__V1__RawDocument *document;
    struct row row;
    struct err err;
    bool found = false;
    int rc =
        row_read(store, truth->client_id, bytes_of(pk), true, truth->arena, &row, &found, &err);

    if (!rc && found)
        rc = row_unpack(dictionaries, truth->client_id, &row, truth->arena, &document, &err);
    for (size_t i = 0; !rc && found && i < document->n_fields; i++)
        if (strcmp(document->fields[i]->name, OFFER_FIELD_CATEGORY) == 0)
            path = document->fields[i]->category;
    dictionaries_free(dictionaries);
    if (rc || !found)
        return tell(truth, "offer %s has no document: %s", pk, rc ? err.text : "not there");
    if (!truth->path && find_path(truth, &err))
        return tell(truth, "the catalogue: %s", err.text);
    return strcmp(path, truth->path) == 0 ||
           tell(truth, "the document of %s has category %s, not %s", pk, path, truth->path);
}

static bool check_offer(struct truth *truth, const struct offer_row *row)
{
    const struct reader reader = {.seller = "", .sees_all = true};
    const struct offers offers = {.store = sim_net_store(truth->cluster->net),
                                  .clock = sim_net_clock(truth->cluster->net)};
    Torg__V1__Offer *offer;
    struct err err;
    offerid id;

    if (!row->id[0])
        return true; /* nobody ever answered */
    if (offer_id_parse(bytes_of(row->id), &id, &err) ||
        offers_get(&offers, &reader, id, truth->arena, &offer, &err))
        return tell(truth, "offer %s: %s", row->id, err.text);
    if (offer->revision < row->revision || (!row->is_unsure && offer->revision != row->revision))
        return tell(truth, "offer %s has revision %" PRId64 ", %" PRId64 " was acknowledged",
                    row->id, offer->revision, row->revision);
    if (row->opinion && !row->is_opinion_open &&
        row->is_banned != (offer->status == TORG__V1__OFFER__STATUS__BANNED))
        return tell(truth, "offer %s is %d, and opinion %" PRId64 " on it %s", row->id,
                    (int)offer->status, row->opinion, row->is_banned ? "bans it" : "lets it pass");
    if (offer->revision == row->revision && (int)offer->status != row->status)
        return tell(truth, "offer %s is %d, %d was acknowledged", row->id, (int)offer->status,
                    row->status);
    if (offer->status != TORG__V1__OFFER__STATUS__ACTIVE)
        return true;
    expect(truth, row->id,
           offer->update_time->seconds * SECOND_US + offer->update_time->nanos / 1000);
    return check_composed(truth, row->id);
}

/* --- what replicas have --- */

struct listing {
    struct request base;
    const char *client;
    int64_t epoch;
    uint32_t shard;
    Torg__V1__ListIndexedResponse response;
};

static void run_listing(struct stages *stages, struct request *base)
{
    struct listing *listing = (struct listing *)base;
    Torg__V1__ListIndexedRequest request = TORG__V1__LIST_INDEXED_REQUEST__INIT;

    request.client = (char *)listing->client;
    request.epoch = listing->epoch;
    request.shard = listing->shard;
    request.limit = LIST_MAX;
    torg__v1__list_indexed_response__init(&listing->response);
    base->rc = searcher_list_indexed(&stages->searcher, listing->client, &request, base->arena,
                                     &listing->response, &base->err);
}

static bool check_listed(struct truth *truth, const struct machine *machine,
                         const Torg__V1__IndexedDocument *document)
{
    for (size_t i = 0; i < truth->count; i++) {
        struct expected *row = &truth->rows[i];

        if (strcmp(row->pk, document->pk) != 0)
            continue;
        if (row->is_seen)
            return tell(truth, "%s has %s of %s twice", machine->name, row->pk, truth->client);
        row->is_seen = true;
        return row->version == document->version || is_refused(truth, row) ||
               tell(truth, "%s has %s of %s at version %" PRId64 ", not %" PRId64, machine->name,
                    row->pk, truth->client, document->version, row->version);
    }
    return tell(truth, "%s has %s of %s, version %" PRId64 ", which is gone", machine->name,
                document->pk, truth->client, document->version);
}

static bool check_replica(struct truth *truth, struct machine *machine)
{
    bool is_right = true;

    for (size_t i = 0; i < truth->count; i++)
        truth->rows[i].is_seen = false;
    for (uint32_t shard = 0; shard < CLUSTER_SHARD_COUNT && is_right; shard++) {
        struct listing *listing = request_new(sizeof(*listing), run_listing);

        listing->client = truth->client;
        listing->epoch = truth->epoch;
        listing->shard = shard;
        if (machine_ask(machine, &listing->base, ANSWER_S * SECOND_US))
            is_right =
                tell(truth, "%s does not list shard %u of %s: %s", machine->name, (unsigned)shard,
                     truth->client, listing->base.is_done ? listing->base.err.text : "no answer");
        for (size_t i = 0; is_right && i < listing->response.n_documents; i++)
            is_right = check_listed(truth, machine, listing->response.documents[i]);
        request_free(&listing->base);
    }
    for (size_t i = 0; i < truth->count && is_right; i++) {
        if (!truth->rows[i].is_seen && !is_refused(truth, &truth->rows[i]))
            is_right = tell(truth, "%s does not have %s of %s, version %" PRId64, machine->name,
                            truth->rows[i].pk, truth->client, truth->rows[i].version);
    }
    return is_right;
}

/* --- verification, and what may not be left --- */

struct verification {
    struct request base;
    uint64_t finding_count, waiting_count;
    char text[400];
};

static int run_check(struct stages *stages, struct verification *verification,
                     Torg__V1__VerifyCheck *check)
{
    Torg__V1__VerifyStepRequest request = TORG__V1__VERIFY_STEP_REQUEST__INIT;
    int rc = 0;

    request.check = check;
    request.settle_ms = 1;
    do {
        Torg__V1__VerifyStepResponse response = TORG__V1__VERIFY_STEP_RESPONSE__INIT;

        rc = verify_step(&stages->inspect, &request, "judge", verification->base.arena, &response,
                         &verification->base.err);
        if (!rc && strcmp(check->client, BRAND_CLIENT) == 0)
            response.finding_count = 0; /* check_replica knows which are right */
        if (!rc && response.finding_count && !verification->finding_count)
            snprintf(verification->text, sizeof(verification->text), "check %d of %s %u: %s %s",
                     (int)check->kind, check->client, (unsigned)check->shard,
                     response.findings[0]->pk, response.findings[0]->text);
        verification->finding_count += response.finding_count;
        verification->waiting_count += response.waiting_count;
        request.cursor = response.cursor;
    } while (!rc && request.cursor.len);
    return rc;
}

static void run_verification(struct stages *stages, struct request *base)
{
    struct verification *verification = (struct verification *)base;
    Torg__V1__PlanVerifyRequest request = TORG__V1__PLAN_VERIFY_REQUEST__INIT;
    Torg__V1__VerifyPlan plan = TORG__V1__VERIFY_PLAN__INIT;

    request.rebuild = true;
    base->rc = verify_plan(&stages->inspect, &request, base->arena, &plan, &base->err);
    for (size_t i = 0; i < plan.n_checks && !base->rc; i++)
        base->rc = run_check(stages, verification, plan.checks[i]);
}

static bool verify(struct truth *truth, struct machine *machine)
{
    struct verification *verification = request_new(sizeof(*verification), run_verification);
    bool is_right = true;

    if (machine_ask(machine, &verification->base, ANSWER_S * SECOND_US))
        is_right = tell(truth, "%s cannot verify: %s", machine->name,
                        verification->base.is_done ? verification->base.err.text : "no answer");
    else if (verification->finding_count || verification->waiting_count)
        is_right =
            tell(truth, "%s verifies: %" PRIu64 " findings, %" PRIu64 " waiting; %s", machine->name,
                 verification->finding_count, verification->waiting_count, verification->text);
    request_free(&verification->base);
    return is_right;
}

struct counting {
    const char *sql;
    int64_t count;
};

static int count_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct counting *counting = arg;

    return store_find_integer(tx, counting->sql, NULL, 0, &counting->count, err);
}

static bool check_counts(struct truth *truth)
{
    static const char *const none[] = {"SELECT count(*) FROM parked",
                                       "SELECT count(*) FROM registry_failed "
                                       "WHERE refused_epoch = 0 OR next_us > 0",
                                       /* what is newer has taken its place */
                                       "SELECT count(*) FROM registry_failed f WHERE NOT EXISTS "
                                       "(SELECT 1 FROM registry r WHERE r.client_id = f.client_id "
                                       "AND r.pk = f.pk AND r.version = f.version)"};
    struct counting offers = {.sql = "SELECT count(*) FROM offer WHERE kind = 'offer'"};
    const struct model *model = &truth->cluster->model;
    int64_t made = 0, asked = 0;
    struct err err;

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct counting counting = {.sql = none[i]};

        if (store_read(sim_net_store(truth->cluster->net), count_rows, &counting, &err))
            return tell(truth, "%s: %s", none[i], err.text);
        if (counting.count)
            return tell(truth, "%s: %" PRId64, none[i], counting.count);
    }
    for (size_t i = 0; i < SELLER_COUNT; i++) {
        for (size_t k = 0; k < model->offer_counts[i]; k++) {
            asked++;
            made += model->offers[i][k].id[0] != 0;
        }
    }
    if (store_read(sim_net_store(truth->cluster->net), count_rows, &offers, &err))
        return tell(truth, "%s: %s", offers.sql, err.text);
    return (offers.count >= made && offers.count <= asked) ||
           tell(truth, "%" PRId64 " offers, of %" PRId64 " acknowledged and %" PRId64 " asked for",
                offers.count, made, asked);
}

/* What it repairs would be hidden from the checks above: nothing but refusals may differ. */
static bool check_auditor(struct truth *truth)
{
    Torg__V1__Audit audit = TORG__V1__AUDIT__INIT;
    struct err err;

    if (auditor_book_read(sim_net_store(truth->cluster->net), truth->arena, &audit, &err))
        return tell(truth, "the auditor's book: %s", err.text);
    for (size_t i = 0; i < audit.n_differences; i++) {
        const Torg__V1__AuditDifference *one = audit.differences[i];

        if (strcmp(one->client, BRAND_CLIENT) == 0) /* refused; until that is told, just missing */
            continue;
        cluster_fail("the auditor, check %s of %s: %s %s: %s", one->check, one->client, one->pk,
                     one->reason, one->text);
    }
    return true;
}

/* --- at rest --- */

static bool check_client(struct truth *truth, const char *client)
{
    struct cluster *cluster = truth->cluster;
    bool is_right = true;
    struct err err;

    truth->client = client;
    truth->count = 0;
    if (store_read(sim_net_store(cluster->net), find_client, truth, &err))
        return tell(truth, "client %s: %s", client, err.text);
    for (unsigned i = 0; i < KEY_COUNT && is_right; i++)
        if (strcmp(client, i < DOCUMENT_COUNT ? DOCUMENT_CLIENT : BRAND_CLIENT) == 0)
            is_right = check_document(truth, i);
    for (size_t i = 0; i < SELLER_COUNT && is_right && strcmp(client, OFFER_CLIENT) == 0; i++) {
        for (size_t k = 0; k < cluster->model.offer_counts[i] && is_right; k++)
            is_right = check_offer(truth, &cluster->model.offers[i][k]);
    }
    for (size_t i = BACK_COUNT; i < MACHINE_COUNT && is_right && truth->client_id; i++)
        is_right = check_replica(truth, &cluster->machines[i]);
    return is_right;
}

static bool agrees(struct cluster *cluster, char *text, size_t size)
{
    struct truth *truth = mem_zero(sizeof(*truth));
    bool is_right = true;

    *truth = (struct truth){.cluster = cluster, .text = text, .size = size, .arena = arena_new()};
    for (size_t i = 0; i < MACHINE_COUNT && is_right; i++)
        is_right = machine_is_up(&cluster->machines[i]) ||
                   tell(truth, "%s is not up", cluster->machines[i].name);
    is_right = is_right && check_client(truth, DOCUMENT_CLIENT) &&
               check_client(truth, BRAND_CLIENT) && check_client(truth, OFFER_CLIENT) &&
               check_counts(truth) && check_auditor(truth);
    for (size_t i = BACK_COUNT; i < MACHINE_COUNT && is_right; i++)
        is_right = verify(truth, &cluster->machines[i]);
    arena_free(truth->arena);
    free(truth);
    return is_right;
}

/* How far each shard of a client is, for whoever looks for what went wrong. */
static void describe_index(struct cluster *cluster, const char *client)
{
    struct topics *topics = sim_net_topics(cluster->net);
    char topic[64];

    snprintf(topic, sizeof(topic), "index.%s.1", client);
    for (uint32_t shard = 0; shard < CLUSTER_SHARD_COUNT; shard++) {
        struct arena *arena = arena_new();
        const struct topic_message *messages;
        uint64_t first, end, ticket = 0;
        struct err err;
        size_t count;

        if (topic_range(topics, topic, shard, &first, &end, &err)) {
            cluster_note("judge: %s", err.text);
        } else {
            for (uint64_t at = first; at < end; at++) {
                ProtobufCMessage *decoded;

                if (topic_read(topics, topic, shard, at, 1, 0, arena, &messages, &count, &err) ||
                    message_decode(messages[0].value, &torg__v1__index_message__descriptor, arena,
                                   &decoded, &err))
                    break;
                if (((Torg__V1__IndexMessage *)decoded)->ticket != ticket) {
                    ticket = ((Torg__V1__IndexMessage *)decoded)->ticket;
                    cluster_note("judge: %s shard %u: ticket %" PRIu64 " from %" PRIu64 " on",
                                 topic, (unsigned)shard, ticket, at);
                }
            }
            cluster_note("judge: %s shard %u ends at %" PRIu64, topic, (unsigned)shard, end);
        }
        arena_free(arena);
    }
}

struct telling {
    const char *sql;
    size_t columns;
};

static int tell_rows(struct store_tx *tx, void *arg, struct err *err)
{
    const struct telling *telling = arg;
    struct store_rows rows = store_select(tx, telling->sql, NULL, 0);

    while (store_next(&rows)) {
        char text[200] = "";
        size_t size = 0;

        for (size_t i = 0; i < rows.column_count && size < sizeof(text); i++) {
            const struct store_value *value = &rows.columns[i];

            if (value->type == STORE_INT)
                size +=
                    (size_t)snprintf(text + size, sizeof(text) - size, " %" PRId64, value->integer);
            else if (value->type == STORE_TEXT)
                size += (size_t)snprintf(text + size, sizeof(text) - size, " %.*s",
                                         BYTES_ARG(value->bytes));
        }
        cluster_note("judge: row%s", text);
    }
    return store_rows_end(&rows, err);
}

static void describe(struct cluster *cluster)
{
    static const char *const tables[] = {
        "SELECT 'offset', client_id, lane, shard, idx FROM registry_offset",
        "SELECT 'queue', client_id, lane, shard, count(*), max(idx) FROM registry_queue "
        "GROUP BY client_id, lane, shard",
        "SELECT 'fence', name, ticket FROM fence",
        "SELECT 'parked', stage, record_key, reason FROM parked",
        "SELECT 'failed', client_id, pk, reason FROM registry_failed"};

    describe_index(cluster, DOCUMENT_CLIENT);
    describe_index(cluster, OFFER_CLIENT);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct telling telling = {.sql = tables[i]};
        struct err err;

        if (store_read(sim_net_store(cluster->net), tell_rows, &telling, &err))
            cluster_note("judge: %s", err.text);
    }
}

void judge_at_rest(struct cluster *cluster)
{
    int64_t start_us = cluster_now_us(cluster);
    char text[600] = "";

    late_wait(sim_net_clock(cluster->net));
    while (!agrees(cluster, text, sizeof(text))) {
        if (cluster_now_us(cluster) - start_us > (int64_t)PATIENCE_S * SECOND_US) {
            describe(cluster);
            cluster_fail("at rest for %d s: %s", PATIENCE_S, text);
        }
        cluster_note("judge: %s", text);
        clock_sleep(sim_net_clock(cluster->net), LOOK_MS * MS_US);
    }
    cluster_note("judge: all agrees after %" PRId64 " ms",
                 (cluster_now_us(cluster) - start_us) / 1000);
}
