/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - see change.h. The store is read in one moment; searchers are asked then. */
#include "inspect/change.h"

#include <assert.h>

#include "codec/moment.h"
#include "documents/composer.h"
#include "inspect/bounds.h"
#include "inspect/indexed.h"
#include "inspect/way.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "numerator/numerator.h"
#include "offers/offer_record.h"
#include "offers/offer_save.h"
#include "registry/indexing/failed.h"
#include "stage/parked.h"
#include "topic/topic.h"

/* A look at an offer's change. */
struct look {
    const struct inspect *inspect;
    struct change *change;
    const struct client_view *client; /* NULL: no document of an offer was ever received */
    struct arena *arena;
    struct bytes pk;
    uint32_t shard; /* of the document */
    Torg__V1__Offer *offer;
    bool is_queued; /* to be exported */
    struct parked parked;
    bool is_parked;
    struct row row;
    bool has_row;
    struct failed_element failed;
    bool is_failed;
    struct lane_place place;  /* in main */
    struct lane_place urgent; /* in emergency, by which takedowns go */
    struct number_ask number;
};

const char *change_stage_name(enum change_stage stage)
{
    static const char *const names[] = {"saved",    "exported", "composed",
                                        "received", "sent",     "searchable"};

    assert((unsigned)stage < CHANGE_STAGE_COUNT);
    return names[stage];
}

int change_parse(struct bytes token, struct change *change, struct err *err)
{
    *change = (struct change){0};
    change->is_offer = freshness_parse(token, &change->offer, NULL) == 0;
    if (change->is_offer || change_token_parse(token, &change->document, NULL) == 0)
        return 0;
    return err_set(err, ERR_INVALID,
                   "this is not the token of a write: send one as a write's answer gave it "
                   "(freshnessToken of an offer's, token of a document's)");
}

static int no_such_write(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND,
                   "there was no such write: the token is from another site, or the store was "
                   "restored from a backup since");
}

/* --- what the store has of an offer's --- */

/* This change, or a newer one of the offer: its seller's changes are all in one shard. */
static int find_in_export(struct store_tx *tx, struct look *look, struct err *err)
{
    const struct freshness *token = &look->change->offer;
    struct store_rows rows =
        store_select(tx,
                     "SELECT offer_id FROM (SELECT offer_id FROM queue WHERE shard_id = $1 "
                     "AND seq >= $2 ORDER BY seq LIMIT $4) AS waiting WHERE offer_id = $3 LIMIT 1",
                     STORE_WITH(STORE_V_INT(token->shard), STORE_V_INT(token->seq),
                                STORE_V_INT(token->offer), STORE_V_INT(FRESHNESS_LOOK_COUNT)));

    look->is_queued = store_next(&rows);
    return store_rows_end(&rows, err);
}

static int find_document(struct store_tx *tx, struct look *look, struct err *err)
{
    int64_t client_id = look->client->id;
    int rc = row_find(tx, client_id, look->pk, false, look->arena, &look->row, &look->has_row, err);

    if (!rc)
        rc = failed_find(tx, client_id, look->shard, look->pk, look->arena, &look->failed,
                         &look->is_failed, err);
    if (!rc)
        rc = way_find_in(tx, client_id, LANE_MAIN, look->shard, look->pk, &look->place, err);
    if (!rc)
        rc = way_find_in(tx, client_id, LANE_EMERGENCY, look->shard, look->pk, &look->urgent, err);
    if (!rc)
        rc = numbers_find(tx, client_id, look->shard, &look->number, 1, err);
    return rc;
}

static int read_offer(struct store_tx *tx, void *arg, struct err *err)
{
    struct look *look = arg;
    int rc = record_find(tx, look->change->offer.offer, look->arena, &look->offer, err);

    look->number = (struct number_ask){.key = look->pk, .doc_id = NUMBER_NONE};
    if (rc || !look->offer)
        return rc;
    rc = find_in_export(tx, look, err);
    if (!rc)
        rc = parked_find(tx, PARKED_BY_COMPOSER, look->offer->id, look->arena, &look->parked,
                         &look->is_parked, err);
    return rc || !look->client ? rc : find_document(tx, look, err);
}

/* --- what follows from it --- */

static bool is_received(const struct look *look)
{
    const struct inspect *inspect = look->inspect;
    int64_t forgotten_us = look->change->version + inspect->tombstone_life_us;

    if (look->has_row)
        return look->row.order.version >= look->change->version;
    /* The registry forgets deletions in time. */
    return look->offer->status != TORG__V1__OFFER__STATUS__ACTIVE && !look->is_queued &&
           !look->is_parked && clock_wall_us(inspect->clock) > forgotten_us;
}

static bool is_alive(const struct look *look)
{
    return look->has_row && look->row.status == ROW_ALIVE;
}

/* All searchers that would be asked now have the lane up to here. */
static int are_positions_past(const struct inspect *inspect, const struct client_view *client,
                              const struct change_token *token, struct arena *arena, bool *are_past,
                              struct err *err)
{
    Torg__V1__Freshness *freshness;
    size_t ready_count = 0;
    size_t past_count = 0;
    int rc = inspect->door.freshness(inspect->door.arg, client->name, arena, &freshness, err);

    *are_past = false;
    for (size_t i = 0; !rc && i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = freshness->shards[i];

        if (one->shard != token->shard || one->epoch != client->serving_epoch || !one->is_ready)
            continue;
        ready_count++;
        past_count += indexed_is_past(one, token->lane, token->idx);
    }
    *are_past = !rc && ready_count > 0 && past_count == ready_count;
    return rc;
}

/* The searcher of this process, if it has the shard, shows it as the registry has it: messages that
 * could not be applied are passed by positions too. */
static int is_shown_here(const struct look *look, struct change_progress *progress, bool *is_shown,
                         struct err *err)
{
    const Torg__V1__IndexedDocument *found;
    int rc = indexed_find(&look->inspect->door, "", look->client, look->shard, look->number.doc_id,
                          look->pk, look->arena, &found, err);

    if (rc == ERR_NOT_FOUND || rc == ERR_UNAVAILABLE) { /* not its shard, or not ready */
        *is_shown = true;
        return 0;
    }
    *is_shown = is_alive(look) ? found && found->version >= look->change->version : !found;
    if (!rc && found) {
        progress->sent_us = found->sent_us;
        progress->shown_us = found->shown_us;
    }
    return rc;
}

static struct change_token token_in(const struct look *look, enum lane lane,
                                    const struct lane_place *place)
{
    return (struct change_token){.client_id = look->client->id,
                                 .lane = lane,
                                 .shard = look->shard,
                                 .idx = place->is_waiting ? place->idx : place->offset};
}

static int look_at_index(const struct look *look, struct change_progress *progress, struct err *err)
{
    const struct change_token urgent = token_in(look, LANE_EMERGENCY, &look->urgent);
    bool is_past = false;
    int rc;

    rc = are_positions_past(look->inspect, look->client, &progress->document, look->arena, &is_past,
                            err);
    /* What has passed the queue may have gone by either lane. */
    if (!rc && is_past && urgent.idx) {
        rc = are_positions_past(look->inspect, look->client, &urgent, look->arena, &is_past, err);
        if (!is_past)
            progress->document = urgent;
    }
    if (!rc && is_past)
        rc = is_shown_here(look, progress, &is_past, err);
    if (!rc && is_past)
        progress->next = CHANGE_STAGE_COUNT;
    return rc;
}

/* From the document on. */
static int look_at_document(const struct look *look, struct change_progress *progress,
                            struct err *err)
{
    bool is_waiting = look->place.is_waiting || look->urgent.is_waiting;

    progress->is_hidden = !is_alive(look);
    if (!look->has_row) { /* forgotten */
        progress->next = CHANGE_STAGE_COUNT;
        return 0;
    }
    progress->document = token_in(look, LANE_MAIN, &look->place);
    progress->is_stuck = look->is_failed && !look->failed.next_us;
    progress->next = look->is_failed || is_waiting ? CHANGE_SENT : CHANGE_SEARCHABLE;
    /* Searchers may have it before the indexer has noted that it was sent. */
    return look->is_failed ? 0 : look_at_index(look, progress, err);
}

static int judge_offer(const struct look *look, struct change_progress *progress, struct err *err)
{
    const Torg__V1__Offer *offer = look->offer;

    progress->saved_us = moment_own_us(offer->update_time);
    progress->is_superseded = offer->revision > look->change->offer.revision;
    progress->is_hidden = offer->status != TORG__V1__OFFER__STATUS__ACTIVE;
    if (is_received(look))
        return look_at_document(look, progress, err);
    progress->next = look->is_queued ? CHANGE_EXPORTED : CHANGE_COMPOSED;
    progress->is_stuck = !look->is_queued && look->is_parked;
    return 0;
}

static int look_at_offer(const struct inspect *inspect, struct change *change, struct arena *arena,
                         struct change_progress *progress, struct err *err)
{
    char pk[OFFER_ID_TEXT_SIZE];
    struct look look = {.inspect = inspect, .change = change, .arena = arena};
    int rc;

    offer_id_format(change->offer.offer, pk);
    look.pk = bytes_of(pk);
    rc = clients_find(inspect->clients, OFFER_CLIENT, false, &look.client, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (rc)
        look.client = NULL;
    else
        look.shard = number_key_shard(number_key_hash(look.pk), look.client->shard_count);
    rc = store_read(inspect->store, read_offer, &look, err);
    if (!rc && (!look.offer || look.offer->revision < change->offer.revision ||
                seller_shard(look.offer->seller) != change->offer.shard))
        rc = no_such_write(err);
    if (!rc && !change->version)
        change->version = moment_own_us(look.offer->update_time);
    if (!rc)
        rc = judge_offer(&look, progress, err);
    client_unref(look.client);
    return rc;
}

/* --- a document's --- */

int change_client(const struct inspect *inspect, const struct change *change, struct arena *arena,
                  const struct client_view **client, struct err *err)
{
    const struct client_view **list;
    size_t count = 0;
    int rc = clients_list(inspect->clients, false, arena, &list, &count, NULL, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    *client = NULL;
    for (size_t i = 0; i < count; i++) {
        if (list[i]->id == change->document.client_id)
            *client = list[i];
        else
            client_unref(list[i]);
    }
    return rc || *client ? rc : no_such_write(err);
}

struct lane_look {
    const struct change_token *token;
    struct lane_state state;
};

static int read_lane(struct store_tx *tx, void *arg, struct err *err)
{
    struct lane_look *look = arg;

    return queue_state(tx, look->token->client_id, (enum lane)look->token->lane, look->token->shard,
                       &look->state, err);
}

static int look_at_lane(const struct inspect *inspect, const struct change *change,
                        struct arena *arena, struct change_progress *progress, struct err *err)
{
    const struct change_token *token = &change->document;
    struct lane_look look = {.token = token};
    const struct client_view *client;
    bool is_past = false;
    int rc = change_client(inspect, change, arena, &client, err);

    if (rc)
        return rc;
    if (token->shard >= client->shard_count || token->lane >= LANE_FAILED)
        rc = no_such_write(err);
    if (!rc)
        rc = store_read(inspect->store, read_lane, &look, err);
    if (!rc && (token->idx < 1 || token->idx > look.state.end))
        rc = no_such_write(err);
    progress->document = *token;
    progress->next = token->idx > look.state.offset ? CHANGE_SENT : CHANGE_SEARCHABLE;
    if (!rc)
        rc = are_positions_past(inspect, client, token, arena, &is_past, err);
    if (!rc && is_past)
        progress->next = CHANGE_STAGE_COUNT;
    client_unref(client);
    return rc;
}

/* --- looking --- */

static int look_once(const struct inspect *inspect, struct change *change, struct arena *arena,
                     struct change_progress *progress, struct err *err)
{
    *progress = (struct change_progress){0};
    return change->is_offer ? look_at_offer(inspect, change, arena, progress, err)
                            : look_at_lane(inspect, change, arena, progress, err);
}

/* The composer has dealt with all of the offer's partition, and has not parked it. */
static bool is_composed(const struct inspect *inspect, const struct change *change)
{
    char pk[OFFER_ID_TEXT_SIZE];
    struct topic_config config;
    struct topic_lag lag;

    offer_id_format(change->offer.offer, pk);
    return inspect->topics &&
           !topic_describe(inspect->topics, TOPIC_OFFER_UPDATES, &config, NULL) &&
           !topic_lag(inspect->topics, COMPOSER_GROUP, TOPIC_OFFER_UPDATES,
                      topic_partition(bytes_of(pk), config.partition_count), &lag, NULL) &&
           lag.has_committed && lag.lag == 0;
}

/* Topics are asked once a call, not with each look: they may be another machine's. */
static void ask_topics(const struct inspect *inspect, const struct change *change,
                       struct change_progress *progress)
{
    if (progress->next == CHANGE_COMPOSED && !progress->is_stuck && is_composed(inspect, change))
        progress->next = CHANGE_RECEIVED;
}

int change_look(const struct inspect *inspect, struct change *change, struct arena *arena,
                struct change_progress *progress, struct err *err)
{
    int rc = look_once(inspect, change, arena, progress, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    if (!rc)
        ask_topics(inspect, change, progress);
    return rc;
}

/* The first look has not sufficed. */
static int look_again(const struct inspect *inspect, struct change *change, enum change_stage stage,
                      int64_t deadline_us, bool (*is_cancelled)(const void *arg), const void *arg,
                      struct arena *arena, struct change_progress *progress, struct err *err)
{
    int64_t ms = FRESHNESS_PAUSE_MS_MIN;
    int rc = 0;

    while (!rc && progress->next <= stage) {
        struct arena_mark mark = arena_mark(arena);
        int64_t left_us = deadline_us - clock_mono_us(inspect->clock);

        if (left_us <= 0 || (is_cancelled && is_cancelled(arg)))
            break;
        clock_sleep(inspect->clock, left_us < ms * MS_US ? left_us : ms * MS_US);
        rc = look_once(inspect, change, arena, progress, err);
        arena_rewind(arena, mark); /* the progress has no memory of its own */
        ms = ms * 3 / 2 > FRESHNESS_PAUSE_MS_MAX ? FRESHNESS_PAUSE_MS_MAX : ms * 3 / 2;
    }
    return rc;
}

int change_wait(struct inspect *inspect, struct change *change, enum change_stage stage,
                int64_t deadline_us, bool (*is_cancelled)(const void *arg), const void *arg,
                struct arena *arena, struct change_progress *progress, struct err *err)
{
    int rc = look_once(inspect, change, arena, progress, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    if (!rc && progress->next <= stage && clock_mono_us(inspect->clock) < deadline_us) {
        if (atomic_fetch_add(&inspect->waiter_count, 1) >= FRESHNESS_WAITER_COUNT_MAX)
            rc = err_set(err, ERR_LIMIT,
                         "%d callers are already waiting for changes: ask without waiting, or "
                         "come back later",
                         FRESHNESS_WAITER_COUNT_MAX);
        else
            rc = look_again(inspect, change, stage, deadline_us, is_cancelled, arg, arena, progress,
                            err);
        atomic_fetch_sub(&inspect->waiter_count, 1);
    }
    if (!rc)
        ask_topics(inspect, change, progress);
    return rc;
}

int change_settle(struct inspect *inspect, const char *token, int64_t deadline_us,
                  struct arena *arena, char **document, struct err *err)
{
    struct change_progress progress;
    enum change_stage stage;
    struct change change;
    int rc = change_parse(bytes_of(token), &change, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    *document = (char *)token;
    if (rc || !change.is_offer)
        return rc;
    rc = change_wait(inspect, &change, CHANGE_RECEIVED, deadline_us, NULL, NULL, arena, &progress,
                     err);
    /* One that is hidden may have gone by two lanes, and a search waits for one. */
    stage = progress.is_hidden ? CHANGE_SEARCHABLE : CHANGE_RECEIVED;
    if (!rc && progress.next <= stage)
        rc = change_wait(inspect, &change, stage, deadline_us, NULL, NULL, arena, &progress, err);
    if (rc)
        return rc;
    if (progress.next <= stage)
        return err_set(err, ERR_TIMEOUT, "the change is not %s yet%s",
                       change_stage_name(progress.next),
                       progress.is_stuck ? ", and it is stuck: someone has to look at it" : "");
    *document = progress.document.idx ? change_token_text(&progress.document, arena) : NULL;
    return 0;
}
