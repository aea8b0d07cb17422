/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - see trace.h. Registry, queue and numbers are read as of one moment; then searchers are
 * asked. */
#include "inspect/trace/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "codec/moment.h"
#include "inspect/doors/indexed.h"
#include "inspect/trace/row_fits.h"
#include "inspect/trace/trace_parts.h"
#include "inspect/trace/way.h"
#include "numerator/numerator.h"
#include "registry/indexing/queue.h"

#define STATE(name) TORG__V1__TRACE_STEP__STATE__##name

enum { REPLICA_COUNT_MAX = 64 };

struct tracing {
    const struct inspect *inspect;
    const struct client_view *client;
    struct bytes pk;
    uint32_t shard;       /* of the queue */
    uint32_t index_shard; /* of the epoch that serves */
    int64_t space;        /* of its numbers */
    struct arena *arena;
    Torg__V1__Trace *trace;
    bool is_known;
    struct row row;
    struct way way;
    struct number_ask number;
    int64_t version; /* an offer's: the document has to be of it, or newer; 0: it is no offer's */
};

/* What searchers have of it. */
struct looked {
    size_t replica_count; /* that have the shard of the serving epoch */
    size_t right_count;   /* that have it as it should be */
    size_t ready_count;
    const char *wrong; /* of the last that has not */
    int64_t sent_us;   /* 0: not known */
    int64_t shown_us;  /* on the last of them; likewise */
    enum left_out left_out;
    char left_out_text[LEFT_OUT_TEXT_SIZE]; /* "": it is to be found */
};

void trace_add(Torg__V1__Trace *trace, const char *stage, int state, int64_t time_us, char *text,
               struct arena *arena)
{
    Torg__V1__TraceStep *step = MESSAGE_NEW(trace_step, arena);

    assert(trace->n_steps < TRACE_STEP_COUNT);
    step->stage = arena_strdup(arena, stage);
    step->state = (Torg__V1__TraceStep__State)state;
    step->text = text;
    if (time_us > 0)
        step->time = moment_message(time_us, arena);
    trace->steps[trace->n_steps++] = step;
}

char *trace_moment(int64_t us, struct arena *arena)
{
    char *text = arena_alloc(arena, CLOCK_TEXT_SIZE);

    clock_format(us, text);
    return text;
}

/* --- what the store has --- */

static int read_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct tracing *tracing = arg;
    int64_t client_id = tracing->client->id;
    int rc = row_find(tx, client_id, tracing->pk, false, tracing->arena, &tracing->row,
                      &tracing->is_known, err);

    if (!rc)
        rc = way_find(tx, client_id, tracing->shard, tracing->pk, tracing->arena, &tracing->way,
                      err);
    tracing->number = (struct number_ask){.key = tracing->pk, .doc_id = NUMBER_NONE};
    if (!rc)
        rc = numbers_find(tx, tracing->space, tracing->index_shard, &tracing->number, 1, err);
    return rc;
}

/* --- steps --- */

static void add_step(struct tracing *tracing, const char *stage, int state, int64_t time_us,
                     char *text)
{
    trace_add(tracing->trace, stage, state, time_us, text, tracing->arena);
}

/* The registry has not got what the offer is now. */
static bool is_behind(const struct tracing *tracing)
{
    return tracing->version &&
           (!tracing->is_known || tracing->row.order.version < tracing->version);
}

static void tell_received(struct tracing *tracing)
{
    const struct row *row = &tracing->row;
    const char *end = "";

    if (is_behind(tracing)) {
        add_step(tracing, "received", STATE(WAITING), 0,
                 tracing->is_known
                     ? arena_printf(tracing->arena,
                                    "version %" PRId64 " is there, %" PRId64 " is awaited",
                                    row->order.version, tracing->version)
                     : arena_strdup(tracing->arena, "nothing of it has been received yet"));
        return;
    }
    if (!tracing->is_known) {
        add_step(tracing, "received", STATE(ABSENT), 0,
                 arena_printf(tracing->arena,
                              "no document of this key was accepted; or it was deleted so long ago "
                              "that its tombstone was forgotten"));
        return;
    }
    if (row->expires_us)
        end = arena_printf(tracing->arena, "; %s %s",
                           row->status == ROW_ALIVE ? "ends" : "forgotten after",
                           trace_moment(row->expires_us, tracing->arena));
    /* an offer's document says when the offer was changed, and not when it was received */
    add_step(tracing, "received", STATE(DONE), tracing->version ? 0 : row->order.modify_us,
             arena_printf(tracing->arena, "epoch %" PRId64 ", version %" PRId64 ", %s%s",
                          row->order.epoch, row->order.version,
                          row->status == ROW_ALIVE ? "alive" : "deleted", end));
}

static void tell_queued(struct tracing *tracing)
{
    const struct way *way = &tracing->way;

    if (way->is_waiting)
        add_step(tracing, "queued", STATE(WAITING), way->put_us,
                 arena_printf(tracing->arena,
                              "in lane %s, shard %" PRIu32 ", element %" PRId64 ", behind %" PRId64
                              " others; the indexer of the shard takes it",
                              lane_name(way->lane), tracing->shard, way->idx, way->ahead_count));
    else if (way->is_failed && way->next_us == 0)
        add_step(tracing, "queued", STATE(STUCK), way->failed_us,
                 arena_printf(tracing->arena,
                              "parked after %" PRId64 " tries: %s (torg queue show, replay, drop)",
                              way->attempt_count, way->reason));
    else if (way->is_failed)
        add_step(tracing, "queued", STATE(WAITING), way->failed_us,
                 arena_printf(tracing->arena, "tried %" PRId64 " times, again at %s: %s",
                              way->attempt_count, trace_moment(way->next_us, tracing->arena),
                              way->reason));
    else
        add_step(tracing, "queued", tracing->is_known ? STATE(DONE) : STATE(ABSENT), 0,
                 arena_printf(tracing->arena, "shard %" PRIu32 "; nothing of it is waiting",
                              tracing->shard));
}

static bool is_on_its_way(const struct tracing *tracing)
{
    return tracing->way.is_waiting || tracing->way.is_failed;
}

static void tell_numbered(struct tracing *tracing)
{
    if (tracing->number.doc_id != NUMBER_NONE)
        add_step(tracing, "numbered", STATE(DONE), 0,
                 arena_printf(tracing->arena,
                              "number %" PRIu32 " of shard %" PRIu32 ", since generation %" PRIu32,
                              tracing->number.doc_id, tracing->index_shard, tracing->number.birth));
    else if (is_on_its_way(tracing))
        add_step(tracing, "numbered", STATE(WAITING), 0,
                 arena_strdup(tracing->arena, "it gets its number when the indexer takes it"));
    else
        add_step(tracing, "numbered", STATE(ABSENT), 0,
                 arena_strdup(tracing->arena, "it has none: it never was in the index, or its "
                                              "number was taken back after its time to live"));
}

static void tell_sent(struct tracing *tracing, const struct looked *looked)
{
    char *topic =
        arena_printf(tracing->arena, "topic index.%s.%" PRId64 ", partition %" PRIu32,
                     tracing->client->name, tracing->client->serving_epoch, tracing->index_shard);

    if (is_on_its_way(tracing))
        add_step(tracing, "sent", tracing->way.is_waiting ? STATE(WAITING) : STATE(STUCK), 0,
                 arena_strdup(tracing->arena, "not as it is now"));
    else if (tracing->number.doc_id == NUMBER_NONE)
        add_step(tracing, "sent", STATE(ABSENT), 0,
                 arena_strdup(tracing->arena, "there was nothing to send"));
    else
        add_step(tracing, "sent", STATE(DONE), looked->sent_us, topic);
}

/* --- what searchers have --- */

static void look_at_replica(struct tracing *tracing, const Torg__V1__ShardFreshness *shard,
                            struct looked *looked)
{
    const char *name = *shard->replica ? shard->replica : "this process";
    const Torg__V1__IndexedDocument *found;
    bool is_alive = tracing->is_known && tracing->row.status == ROW_ALIVE;
    struct err err;
    int rc =
        indexed_find(&tracing->inspect->door, shard->replica, tracing->client, tracing->index_shard,
                     tracing->number.doc_id, tracing->pk, tracing->arena, &found, &err);

    looked->replica_count++;
    looked->ready_count += shard->is_ready;
    if (rc)
        looked->wrong = arena_printf(tracing->arena, "%s: %s", name, err.text);
    else if (is_alive && !found)
        looked->wrong = arena_printf(tracing->arena,
                                     "%s does not have it (at message %" PRIu64 " of %" PRIu64 ")",
                                     name, shard->offset, shard->end);
    else if (found && (!is_alive || found->version != tracing->row.order.version))
        looked->wrong =
            arena_printf(tracing->arena, "%s has version %" PRId64, name, found->version);
    else
        looked->right_count++;
    if (!rc && found && is_alive && found->version == tracing->row.order.version) {
        looked->sent_us = found->sent_us;
        if (found->shown_us > looked->shown_us)
            looked->shown_us = found->shown_us;
    }
}

static void tell_indexed(struct tracing *tracing, const struct looked *looked)
{
    int state = STATE(DONE);
    char *text;

    if (!looked->replica_count) {
        state = STATE(UNKNOWN);
        text = arena_printf(tracing->arena, "no searcher has shard %" PRIu32 " of epoch %" PRId64,
                            tracing->index_shard, tracing->client->serving_epoch);
    } else if (looked->wrong && *looked->left_out_text) {
        state = looked->left_out == LEFT_OUT_STAYS ? STATE(STUCK) : STATE(WAITING);
        text = arena_strdup(tracing->arena, looked->left_out_text);
    } else if (looked->wrong) {
        state = is_on_its_way(tracing) ? STATE(WAITING) : STATE(UNKNOWN);
        text = arena_printf(tracing->arena, "%zu of %zu replicas; %s", looked->right_count,
                            looked->replica_count, looked->wrong);
    } else {
        bool is_alive = tracing->is_known && tracing->row.status == ROW_ALIVE;

        if (!tracing->is_known)
            state = STATE(ABSENT);
        text = arena_printf(tracing->arena, "%s on %zu of %zu replicas",
                            is_alive ? "as it is" : "it is gone", looked->right_count,
                            looked->replica_count);
    }
    add_step(tracing, "indexed", state, looked->shown_us, text);
}

static void tell_searchable(struct tracing *tracing, const struct looked *looked)
{
    bool is_alive = tracing->is_known && tracing->row.status == ROW_ALIVE;

    if (!is_alive && looked->replica_count && !looked->wrong)
        add_step(tracing, "searchable", STATE(ABSENT), 0,
                 arena_strdup(tracing->arena, "no search finds it"));
    else if (looked->right_count && looked->ready_count == looked->replica_count && !looked->wrong)
        add_step(tracing, "searchable", STATE(DONE), looked->shown_us,
                 arena_printf(tracing->arena, "in epoch %" PRId64 ", which serves",
                              tracing->client->serving_epoch));
    else if (looked->replica_count && looked->ready_count < looked->replica_count)
        add_step(tracing, "searchable", STATE(WAITING), 0,
                 arena_printf(tracing->arena, "%zu of %zu replicas still replay",
                              looked->replica_count - looked->ready_count, looked->replica_count));
    else
        add_step(tracing, "searchable",
                 tracing->way.is_failed || looked->left_out == LEFT_OUT_STAYS ? STATE(STUCK)
                                                                              : STATE(WAITING),
                 0, arena_strdup(tracing->arena, "waits for the stage above that is not done"));
}

static int look_at_searchers(struct tracing *tracing, struct looked *looked, struct err *err)
{
    const struct index_door *door = &tracing->inspect->door;
    Torg__V1__Freshness *freshness;
    size_t past_count = 0;
    int rc = door->freshness(door->arg, tracing->client->name, tracing->arena, &freshness, err);

    for (size_t i = 0; !rc && i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = freshness->shards[i];

        if (one->shard == tracing->index_shard && one->epoch == tracing->client->serving_epoch &&
            looked->replica_count < REPLICA_COUNT_MAX) {
            look_at_replica(tracing, one, looked);
            past_count += indexed_is_past(one, tracing->way.lane, tracing->way.idx);
        }
    }
    /* The indexer notes what it has sent a little later; searchers may have it before. */
    if (!rc && past_count && past_count == looked->replica_count)
        tracing->way.is_waiting = false;
    if (!rc && looked->wrong && !is_on_its_way(tracing) && tracing->is_known &&
        tracing->row.status == ROW_ALIVE)
        rc = row_left_out(tracing->inspect, tracing->client, &tracing->row.order, tracing->pk,
                          tracing->arena, &looked->left_out, looked->left_out_text, err);
    return rc;
}

/* Everything below "received" was said of the version before. */
static void say_it_is_old(struct tracing *tracing, size_t first)
{
    for (size_t i = first; i < tracing->trace->n_steps; i++) {
        Torg__V1__TraceStep *step = tracing->trace->steps[i];

        if (strcmp(step->stage, "received") == 0 || strcmp(step->stage, "numbered") == 0)
            continue;
        if (step->state == STATE(DONE) || step->state == STATE(ABSENT))
            step->state = STATE(WAITING);
        step->text = arena_printf(tracing->arena, "as it was before: %s", step->text);
    }
}

int trace_steps(const struct inspect *inspect, const char *client, const char *pk, int64_t version,
                struct arena *arena, Torg__V1__Trace *trace, struct err *err)
{
    struct tracing tracing = {
        .inspect = inspect, .pk = bytes_of(pk), .arena = arena, .trace = trace, .version = version};
    struct looked looked = {0};
    const struct numbering *numbering;
    size_t first = trace->n_steps;
    int rc;

    assert(inspect->store && inspect->clients && inspect->clock);
    rc = clients_find(inspect->clients, client, true, &tracing.client, err);
    if (rc)
        return rc;
    tracing.shard = number_key_shard(number_key_hash(tracing.pk), tracing.client->shard_count);
    numbering = client_numbering(tracing.client,
                                 client_epoch(tracing.client, tracing.client->serving_epoch));
    tracing.index_shard = number_key_shard(number_key_hash(tracing.pk), numbering->scheme);
    tracing.space = numbering->space;
    rc = store_read(inspect->store, read_all, &tracing, err);
    if (!rc)
        rc = look_at_searchers(&tracing, &looked, err);
    if (!rc) {
        tell_received(&tracing);
        tell_queued(&tracing);
        tell_numbered(&tracing);
        tell_sent(&tracing, &looked);
        tell_indexed(&tracing, &looked);
        tell_searchable(&tracing, &looked);
    }
    if (!rc && is_behind(&tracing))
        say_it_is_old(&tracing, first);
    client_unref(tracing.client);
    return rc;
}

void trace_begin(const char *client, const char *pk, struct arena *arena, Torg__V1__Trace *trace)
{
    trace->client = arena_strdup(arena, client);
    trace->pk = arena_strdup(arena, pk);
    trace->steps = arena_array(arena, TRACE_STEP_COUNT, sizeof(trace->steps[0]));
}

int trace_document(const struct inspect *inspect, const char *client, const char *pk,
                   struct arena *arena, Torg__V1__Trace *trace, struct err *err)
{
    assert(inspect->store && inspect->clients && inspect->clock);
    trace_begin(client, pk, arena, trace);
    return trace_steps(inspect, client, pk, 0, arena, trace, err);
}
