/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - see change.h. The store is read as of one moment; then searchers are asked. */
#include "inspect/trace/change.h"

#include <assert.h>
#include <stdio.h>

#include "base/workers.h"
#include "codec/moment.h"
#include "documents/composer.h"
#include "inspect/bounds.h"
#include "inspect/doors/indexed.h"
#include "inspect/trace/row_fits.h"
#include "inspect/trace/way.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "numerator/numerator.h"
#include "offers/change/offer_save.h"
#include "offers/record/offer_record.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/refusal_inbox.h"
#include "stage/parked.h"
#include "store/store_seal.h"
#include "topic/topic.h"

/* A look at a change. */
struct look {
    const struct inspect *inspect;
    struct change *change;
    const struct client_view *client; /* NULL: no document of an offer was ever received */
    struct arena *arena;
    struct bytes pk;
    uint32_t shard; /* of the document, in the queue */
    Torg__V1__Offer *offer;
    bool is_queued;       /* to be exported */
    struct parked parked; /* by the composer */
    bool is_parked;
    struct parked refused; /* by the receiver */
    bool is_refused;
    struct row row;
    bool has_row;
    struct failed_element failed;
    bool is_failed;
    struct lane_place place;  /* of an offer's, in main */
    struct lane_place urgent; /* in emergency, by which takedowns go */
    struct lane_place poured; /* in backfill, if its newest write came by that */
    struct lane_state lane;   /* of a document's */
    int64_t put_us;           /* of the element that waits; 0: not known */
    struct number_ask number;
};

const char *change_stage_name(enum change_stage stage)
{
    static const char *const names[] = {"saved",    "exported", "composed",
                                        "received", "sent",     "searchable"};

    assert((unsigned)stage < CHANGE_STAGE_COUNT);
    return names[stage];
}

int change_parse(const struct inspect *inspect, struct bytes token, struct change *change,
                 struct err *err)
{
    struct seal seal;
    int rc = store_seal(inspect->store, &seal, err);

    *change = (struct change){0};
    if (rc)
        return rc;
    rc = freshness_parse(token, &seal, &change->offer, err);
    change->is_offer = rc == 0;
    if (rc == ERR_INVALID)
        rc = change_token_parse(token, &seal, &change->document, err);
    if (rc != ERR_INVALID)
        return rc;
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

/* When the element came into its lane. */
static int find_put_time(struct store_tx *tx, struct look *look, enum lane lane, int64_t idx,
                         struct err *err)
{
    return store_find_integer(tx,
                              "SELECT put_us FROM registry_queue WHERE client_id = $1 "
                              "AND lane = $2 AND shard = $3 AND idx = $4",
                              STORE_WITH(STORE_V_INT(look->client->id), STORE_V_INT(lane),
                                         STORE_V_INT(look->shard), STORE_V_INT(idx)),
                              &look->put_us, err);
}

/* What concerns the epoch that is searched; a failure of another write is no news of this one. */
static bool is_failure(const struct look *look)
{
    const struct failed_element *failed = &look->failed;
    int64_t epoch = failed->refused_epoch ? failed->refused_epoch : failed->order.epoch;

    return look->has_row && failed->order.version == look->row.order.version &&
           failed->order.modify_us == look->row.order.modify_us &&
           (epoch == look->client->serving_epoch ||
            (!failed->refused_epoch && epoch == look->row.order.epoch));
}

static int find_failure(struct store_tx *tx, struct look *look, struct err *err)
{
    int rc = failed_find(tx, look->client->id, look->shard, look->pk, look->arena, &look->failed,
                         &look->is_failed, err);

    look->is_failed = !rc && look->is_failed && is_failure(look);
    return rc;
}

static const struct numbering *serving_numbers(const struct look *look)
{
    return client_numbering(look->client, client_epoch(look->client, look->client->serving_epoch));
}

static uint32_t index_shard(const struct look *look)
{
    return number_key_shard(number_key_hash(look->pk), serving_numbers(look)->scheme);
}

/* Of the row, which is there or not. */
static int find_way(struct store_tx *tx, struct look *look, struct err *err)
{
    int rc = find_failure(tx, look, err);

    look->number = (struct number_ask){.key = look->pk, .doc_id = NUMBER_NONE};
    return rc ? rc
              : numbers_find(tx, serving_numbers(look)->space, index_shard(look), &look->number, 1,
                             err);
}

/* An offer that was composed anew goes by the lane backfill, be it a revision that its composer has
 * not sent yet: what that sends then is a duplicate, and waits nowhere. */
static int find_poured(struct store_tx *tx, struct look *look, struct err *err)
{
    int64_t idx = look->row.backfill_idx;
    int64_t offset;
    int rc = queue_offset(tx, look->client->id, LANE_BACKFILL, look->shard, &offset, err);

    if (rc)
        return rc;
    look->poured = (struct lane_place){.offset = idx, .idx = idx, .is_waiting = idx > offset};
    return look->poured.is_waiting ? find_put_time(tx, look, LANE_BACKFILL, idx, err) : 0;
}

static int find_document(struct store_tx *tx, struct look *look, struct err *err)
{
    const char *key = arena_printf(look->arena, OFFER_CLIENT "/%.*s", BYTES_ARG(look->pk));
    int rc = row_find(tx, look->client->id, look->pk, false, look->arena, &look->row,
                      &look->has_row, err);

    if (!rc)
        rc = parked_find(tx, PARKED_BY_RECEIVER, key, look->arena, &look->refused,
                         &look->is_refused, err);
    if (!rc)
        rc = find_way(tx, look, err);
    if (!rc)
        rc = way_find_in(tx, look->client->id, LANE_MAIN, look->shard, look->pk, &look->place, err);
    if (!rc)
        rc = way_find_in(tx, look->client->id, LANE_EMERGENCY, look->shard, look->pk, &look->urgent,
                         err);
    if (!rc && look->has_row && look->row.backfill_idx)
        rc = find_poured(tx, look, err);
    else if (!rc && look->urgent.is_waiting)
        rc = find_put_time(tx, look, LANE_EMERGENCY, look->urgent.idx, err);
    else if (!rc && look->place.is_waiting)
        rc = find_put_time(tx, look, LANE_MAIN, look->place.idx, err);
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
    const struct epoch_view *serving = client_epoch(client, client->serving_epoch);
    Torg__V1__Freshness *freshness;
    size_t ready_count = 0;
    size_t past_count = 0;
    int rc = inspect->door.freshness(inspect->door.arg, client->name, arena, &freshness, err);

    *are_past = false;
    for (size_t i = 0; !rc && i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = freshness->shards[i];

        if (one->epoch != client->serving_epoch || !one->is_ready ||
            client_queue_shard(client, serving, one->shard) != token->shard)
            continue;
        ready_count++;
        past_count += indexed_is_past(one, token->lane, token->idx);
    }
    *are_past = !rc && ready_count > 0 && past_count == ready_count;
    return rc;
}

enum shown { SHOWN_UNKNOWN, SHOWN_NOT, SHOWN_YES };

/* Whether the searcher of this process shows it as the registry has it. Unknown: it does not have
 * the shard, or is not ready. */
static int is_shown_here(const struct look *look, int64_t version, struct change_progress *progress,
                         enum shown *shown, struct err *err)
{
    const Torg__V1__IndexedDocument *found;
    int rc = indexed_find(&look->inspect->door, "", look->client, index_shard(look),
                          look->number.doc_id, look->pk, look->arena, &found, err);

    *shown = SHOWN_UNKNOWN;
    if (rc == ERR_NOT_FOUND || rc == ERR_UNAVAILABLE)
        return 0;
    if (!rc && found) {
        progress->sent_us = found->sent_us;
        progress->shown_us = found->shown_us;
    }
    *shown = (is_alive(look) ? found && found->version >= version : !found) ? SHOWN_YES : SHOWN_NOT;
    return rc;
}

/* The same of a searcher elsewhere, in a process that has none. Unknown: none can be asked. */
static int is_shown_elsewhere(const struct look *look, const struct change_progress *progress,
                              enum shown *shown, struct err *err)
{
    const struct index_door *door = &look->inspect->door;
    const char *client = look->client->name;
    Torg__V1__Freshness *freshness;
    struct seal seal;
    char *token;
    int rc = store_seal(look->inspect->store, &seal, err);

    if (!rc)
        rc = door->freshness(door->arg, client, look->arena, &freshness, err);
    if (rc)
        return rc;
    token = change_token_text(&progress->document, &seal, look->arena);
    for (size_t i = 0; i < freshness->n_shards && *shown == SHOWN_UNKNOWN; i++) {
        const Torg__V1__ShardFreshness *one = freshness->shards[i];
        struct err why;
        bool is_shown;

        if (one->epoch == look->client->serving_epoch && one->shard == index_shard(look) &&
            one->is_ready && *one->replica &&
            !door->shows(door->arg, one->replica, client, token, look->arena, &is_shown, &why))
            *shown = is_shown ? SHOWN_YES : SHOWN_NOT;
    }
    return 0;
}

static struct change_token token_in(const struct look *look, enum lane lane,
                                    const struct lane_place *place)
{
    return (struct change_token){.client_id = look->client->id,
                                 .lane = lane,
                                 .shard = look->shard,
                                 .idx = place->is_waiting ? place->idx : place->offset,
                                 .version = look->row.order.version,
                                 .hash = look->row.hash};
}

static int read_failure(struct store_tx *tx, void *arg, struct err *err)
{
    return find_failure(tx, arg, err);
}

/* Searchers elsewhere are past it. What they have refused is in the topic by now, and in the store
 * once that is read. */
static int is_refused_elsewhere(struct look *look, bool *is_known, struct err *err)
{
    const struct inspect *inspect = look->inspect;
    const char *key = arena_printf(look->arena, "%s/%.*s", look->client->name, BYTES_ARG(look->pk));
    struct topic_config config;
    struct topic_lag lag;

    *is_known = !inspect->topics ||
                topic_describe(inspect->topics, TOPIC_REFUSALS, &config, NULL) ||
                (!topic_lag(inspect->topics, REFUSAL_GROUP, TOPIC_REFUSALS,
                            topic_partition(bytes_of(key), config.partition_count), &lag, NULL) &&
                 lag.lag == 0);
    return *is_known ? store_read(inspect->store, read_failure, look, err) : 0;
}

static void tell_failure(const struct look *look, struct change_progress *progress)
{
    const struct failed_element *failed = &look->failed;

    progress->next = failed->refused_epoch ? CHANGE_SEARCHABLE : CHANGE_SENT;
    progress->is_stuck = true;
    progress->since_us = failed->first_us;
    snprintf(progress->reason, sizeof(progress->reason), "%.*s", BYTES_ARG(failed->reason));
    snprintf(progress->mend, sizeof(progress->mend),
             "write it again so that it fits, or end the cause and run: torg queue replay "
             "--client %s %.*s",
             look->client->name, BYTES_ARG(look->pk));
}

/* Searchers have gone past it, and it may be none of theirs. True: the progress tells. */
static int tell_left_out(const struct look *look, bool *is_left_out,
                         struct change_progress *progress, struct err *err)
{
    char text[LEFT_OUT_TEXT_SIZE];
    enum left_out left_out;
    int rc = row_left_out(look->inspect, look->client, &look->row.order, look->pk, look->arena,
                          &left_out, text, err);

    *is_left_out = !rc && left_out != LEFT_OUT_NOT;
    if (!*is_left_out)
        return rc;
    progress->is_stuck = left_out == LEFT_OUT_STAYS;
    snprintf(progress->reason, sizeof(progress->reason), "%s", text);
    if (progress->is_stuck)
        snprintf(progress->mend, sizeof(progress->mend),
                 "write it again so that it fits, or let an epoch serve that it fits: torg epoch "
                 "status --client %s",
                 look->client->name);
    return 0;
}

/* The document is on its way to searchers, or there. */
static int look_at_index(struct look *look, int64_t version, struct change_progress *progress,
                         struct err *err)
{
    const struct change_token urgent = token_in(look, LANE_EMERGENCY, &look->urgent);
    enum shown shown = SHOWN_UNKNOWN;
    bool is_known = true;
    bool is_past = false;
    bool is_left_out = false;
    int rc = are_positions_past(look->inspect, look->client, &progress->document, look->arena,
                                &is_past, err);

    /* What has passed the queue may have gone by either lane. */
    if (!rc && is_past && urgent.idx) {
        rc = are_positions_past(look->inspect, look->client, &urgent, look->arena, &is_past, err);
        if (!is_past)
            progress->document = urgent;
    }
    if (rc || !is_past)
        return rc;
    if (look->has_row)
        rc = is_shown_here(look, version, progress, &shown, err);
    if (!rc && shown == SHOWN_UNKNOWN && look->has_row && look->inspect->door.shows)
        rc = is_shown_elsewhere(look, progress, &shown, err);
    if (!rc && shown == SHOWN_UNKNOWN && look->has_row)
        rc = is_refused_elsewhere(look, &is_known, err);
    if (!rc && !look->is_failed && is_alive(look) && shown != SHOWN_YES)
        rc = tell_left_out(look, &is_left_out, progress, err);
    if (rc || is_left_out)
        return rc;
    if (look->is_failed)
        tell_failure(look, progress);
    else if (is_known && shown != SHOWN_NOT)
        progress->next = CHANGE_STAGE_COUNT;
    else
        snprintf(progress->reason, sizeof(progress->reason),
                 "searchers have gone past it and do not show it: they may have refused it");
    return 0;
}

/* From the document on. */
static int look_at_document(struct look *look, int64_t version, bool is_waiting,
                            struct change_progress *progress, struct err *err)
{
    progress->is_hidden = !is_alive(look);
    if (look->is_failed) {
        tell_failure(look, progress);
        return 0;
    }
    progress->next = is_waiting ? CHANGE_SENT : CHANGE_SEARCHABLE;
    progress->since_us = is_waiting ? look->put_us : 0;
    /* Searchers may have it before the indexer has noted that it was sent. */
    return look_at_index(look, version, progress, err);
}

static int look_at_offers_document(struct look *look, struct change_progress *progress,
                                   struct err *err)
{
    bool is_poured = look->poured.idx > 0;
    bool is_waiting =
        is_poured ? look->poured.is_waiting : look->place.is_waiting || look->urgent.is_waiting;

    progress->is_hidden = !is_alive(look);
    if (!look->has_row) { /* forgotten */
        progress->next = CHANGE_STAGE_COUNT;
        return 0;
    }
    progress->document = is_poured ? token_in(look, LANE_BACKFILL, &look->poured)
                                   : token_in(look, LANE_MAIN, &look->place);
    return look_at_document(look, look->change->version, is_waiting, progress, err);
}

static void tell_parked(const struct parked *parked, struct change_progress *progress)
{
    progress->is_stuck = true;
    progress->since_us = parked->first_us;
    snprintf(progress->reason, sizeof(progress->reason), "%s", parked->reason);
    snprintf(progress->mend, sizeof(progress->mend),
             "change the offer so that it fits, or end the cause and run: torg parked replay "
             "--stage %s %s",
             parked->stage, parked->key);
}

static int judge_offer(struct look *look, struct change_progress *progress, struct err *err)
{
    const Torg__V1__Offer *offer = look->offer;

    progress->saved_us = moment_own_us(offer->update_time);
    progress->is_superseded = offer->revision > look->change->offer.revision;
    progress->is_hidden = offer->status != TORG__V1__OFFER__STATUS__ACTIVE;
    if (is_received(look))
        return look_at_offers_document(look, progress, err);
    progress->next = look->is_queued ? CHANGE_EXPORTED : CHANGE_COMPOSED;
    progress->since_us = progress->is_superseded ? 0 : progress->saved_us;
    if (!look->is_queued && look->is_parked) {
        tell_parked(&look->parked, progress);
    } else if (!look->is_queued && look->is_refused) {
        progress->next = CHANGE_RECEIVED;
        tell_parked(&look->refused, progress);
    }
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

static int read_document(struct store_tx *tx, void *arg, struct err *err)
{
    struct look *look = arg;
    const struct change_token *token = &look->change->document;
    struct row *rows;
    size_t count = 0;
    int rc =
        queue_state(tx, token->client_id, (enum lane)token->lane, token->shard, &look->lane, err);

    if (!rc && token->hash > INT64_MIN)
        rc = rows_scan(tx, token->client_id, token->hash - 1, token->hash, 2, false, look->arena,
                       &rows, &count, err);
    look->has_row = !rc && count > 0;
    if (!look->has_row)
        return rc;
    look->row = rows[0];
    look->pk = rows[0].pk;
    rc = find_way(tx, look, err);
    return rc ? rc : find_put_time(tx, look, (enum lane)token->lane, token->idx, err);
}

static int look_at_write(const struct inspect *inspect, struct change *change, struct arena *arena,
                         struct change_progress *progress, struct err *err)
{
    const struct change_token *token = &change->document;
    struct look look = {
        .inspect = inspect, .change = change, .arena = arena, .shard = token->shard};
    int rc = change_client(inspect, change, arena, &look.client, err);

    if (rc)
        return rc;
    if (token->shard >= look.client->shard_count || token->lane >= LANE_FAILED)
        rc = no_such_write(err);
    if (!rc)
        rc = store_read(inspect->store, read_document, &look, err);
    if (!rc && (token->idx < 1 || token->idx > look.lane.end))
        rc = no_such_write(err);
    progress->document = *token;
    if (!rc)
        rc = look_at_document(&look, token->version, token->idx > look.lane.offset, progress, err);
    client_unref(look.client);
    return rc;
}

/* --- looking --- */

static int look_once(const struct inspect *inspect, struct change *change, struct arena *arena,
                     struct change_progress *progress, struct err *err)
{
    *progress = (struct change_progress){0};
    return change->is_offer ? look_at_offer(inspect, change, arena, progress, err)
                            : look_at_write(inspect, change, arena, progress, err);
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
        worker_waits(); /* others may compute */
        clock_sleep(inspect->clock, left_us < ms * MS_US ? left_us : ms * MS_US);
        worker_goes_on();
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
    struct seal seal;
    int rc = change_parse(inspect, bytes_of(token), &change, err);

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
    if (progress.is_stuck)
        return err_set(err, ERR_TIMEOUT, "the change is not %s yet, and it is stuck: %s (%s)",
                       change_stage_name(progress.next), progress.reason, progress.mend);
    if (progress.next <= stage)
        return err_set(err, ERR_TIMEOUT, "the change is not %s yet",
                       change_stage_name(progress.next));
    rc = store_seal(inspect->store, &seal, err);
    *document =
        !rc && progress.document.idx ? change_token_text(&progress.document, &seal, arena) : NULL;
    return rc;
}
