/* SPDX-License-Identifier: Apache-2.0 */
/* front.c - see front.h. */
#include "searcher/front/front.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "model/bounds.h"
#include "model/change_token.h"
#include "query/bounds.h"
#include "query/request/request.h"
#include "query/run/cursor.h"
#include "searcher/bounds.h"
#include "searcher/front/merge.h"
#include "searcher/front/part.h"
#include "searcher/front/seen.h"

enum {
    CAP_ROOM = 8, /* hits asked for each that is shown, when a cap may leave out many */
    CAP_GROWTH = 4,
    WORDS_SHARE = 3, /* of the time, at most, for counting words */
};

/* One search at work. */
struct searching {
    const struct front *front;
    const struct index_client *client;
    const struct index_epoch *epoch;
    const Torg__V1__Query *query;
    int64_t deadline_us;
    struct arena *arena;
    int64_t now;
    struct reading reading;           /* of the query, for the shards that are here */
    struct gather_ask *asks;          /* by shard */
    Torg__V1__LaneFreshness ***waits; /* by shard */
    size_t *wait_counts;
    struct shard_seen *seen; /* by shard, by an answer before; 0: nothing */
    uint32_t old_max_seconds;
    bool has_waits;
    bool looks; /* for what has to be seen, and does not wait for it */
    struct stage_state {
        const struct page_cursor *mark;    /* the page before; NULL: this is the first */
        const Torg__V1__WordCounts *words; /* NULL: not needed, or not known */
        uint32_t offset, limit;
        uint32_t asked; /* hits of each shard */
    } * stages;
};

/* ---- what is asked ---- */

static bool has_text(const Torg__V1__QueryStage *stage)
{
    return *stage->text || stage->n_clauses > 0;
}

static bool has_cap(const Torg__V1__QueryStage *stage)
{
    return stage->cap && stage->cap->count;
}

/* Hits up to the page's end, and one more that tells whether there is a next page. */
static uint32_t wanted(const Torg__V1__QueryStage *stage, const struct stage_state *state)
{
    uint32_t before = state->mark && has_cap(stage) ? state->mark->depth : state->offset;

    return state->limit ? before + state->limit + 1 : 0;
}

static int read_stage(struct searching *searching, uint32_t i, struct err *err)
{
    const Torg__V1__QueryStage *stage = searching->query->stages[i];
    struct stage_state *state = &searching->stages[i];
    struct page_cursor *mark = NULL;
    int rc = 0;

    state->offset = stage->offset;
    state->limit = request_limit(stage);
    if (stage->cursor.len) {
        mark = arena_alloc(searching->arena, sizeof(*mark));
        rc = cursor_decode(bytes_make(stage->cursor.data, stage->cursor.len),
                           part_query_hash(searching->query, i, searching->arena), searching->arena,
                           mark, err);
        state->mark = mark;
        if (!rc && mark->words.count)
            state->words = part_tell_words(&mark->words, searching->arena);
    }
    if (!rc && mark && has_cap(stage) && (uint64_t)mark->depth + state->limit > QUERY_HIT_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "limit: pages of a list with a cap end at %d hits",
                     QUERY_HIT_COUNT_MAX);
    if (rc) {
        err_wrap(err, "stages[%u]", i);
        return rc;
    }
    state->asked = wanted(stage, state);
    if (stage->rerank && state->asked) {
        uint32_t room = has_cap(stage) ? CAP_ROOM * state->asked : state->asked;

        state->asked = room > stage->rerank->count ? room : stage->rerank->count;
        if (state->asked > QUERY_HIT_COUNT_MAX + 1)
            state->asked = QUERY_HIT_COUNT_MAX + 1;
    }
    return 0;
}

/* All cursors are of one epoch, which is then the one that is asked. */
static int choose_epoch(struct searching *searching, int64_t epoch, struct err *err)
{
    int64_t named = epoch;

    for (size_t i = 0; i < searching->query->n_stages; i++) {
        const struct page_cursor *mark = searching->stages[i].mark;
        const struct index_epoch *there;

        if (!mark)
            continue;
        if (epoch && mark->epoch != epoch)
            return err_set(err, ERR_INVALID,
                           "stages[%zu].cursor: is of epoch %jd, not of epoch %jd; begin without "
                           "it",
                           i, (intmax_t)mark->epoch, (intmax_t)epoch);
        epoch = mark->epoch;
        there = client_find_epoch(searching->client, epoch);
        /* One that is built is asked by those alone who name it: a cursor is anybody's. */
        if (!there || (!named && there->state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING))
            return err_set(err, ERR_INVALID,
                           "stages[%zu].cursor: is of epoch %jd, which is not served; begin "
                           "without it",
                           i, (intmax_t)epoch);
    }
    return front_find_epoch(searching->client, epoch, &searching->epoch, err);
}

static void add_wait(struct searching *searching, uint32_t shard, Torg__V1__LaneFreshness *lane,
                     size_t max)
{
    if (!searching->waits[shard])
        searching->waits[shard] =
            arena_array(searching->arena, max, sizeof(searching->waits[0][0]));
    searching->waits[shard][searching->wait_counts[shard]++] = lane;
}

static int read_tokens(struct searching *searching, char *const *tokens, size_t count,
                       struct err *err)
{
    uint32_t shard_count = searching->epoch->shard_count;

    searching->waits = arena_array(searching->arena, shard_count, sizeof(searching->waits[0]));
    searching->wait_counts =
        arena_array(searching->arena, shard_count, sizeof(searching->wait_counts[0]));
    searching->has_waits = count > 0;
    if (count > SEARCHER_WAIT_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "wait: %zu tokens, at most %d are waited for", count,
                       SEARCHER_WAIT_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        Torg__V1__LaneFreshness *lane = arena_alloc(searching->arena, sizeof(*lane));
        struct change_token token;
        int rc = change_token_parse(bytes_of(tokens[i]), NULL, &token, err);

        if (!rc &&
            (token.client_id != searching->client->id ||
             token.shard >= searching->client->shard_count || token.lane >= PROGRESS_LANE_COUNT))
            rc = err_set(err, ERR_INVALID, "is a token of another client's write");
        if (rc) {
            err_wrap(err, "wait[%zu]", i);
            return rc;
        }
        torg__v1__lane_freshness__init(lane);
        lane->lane = (Torg__V1__QueueLane__Name)token.lane;
        lane->idx = token.idx;
        for (uint32_t k = 0; k < shard_count; k++)
            if (client_feeds(searching->client, searching->epoch, token.shard, k))
                add_wait(searching, k, lane, count);
    }
    return 0;
}

/* Offsets of another epoch are those of another topic. */
static int read_seen(struct searching *searching, struct bytes seen, struct err *err)
{
    uint32_t shard_count = searching->epoch->shard_count;
    struct seen before = {0};
    int rc = seen.size ? seen_decode(seen, searching->arena, &before, err) : 0;

    searching->seen = arena_array(searching->arena, shard_count, sizeof(searching->seen[0]));
    if (!rc && seen.size && before.client_id != searching->client->id)
        rc = err_set(err, ERR_INVALID, "seen: belongs to another client's index");
    for (uint32_t i = 0; i < shard_count && i < before.shard_count && !rc; i++)
        if (before.epoch == searching->epoch->epoch)
            searching->seen[i] = (struct shard_seen){before.offsets[i], before.applied[i]};
    return rc;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A shard that did not answer has shown nothing: what was seen before holds on. */
static struct bytes tell_seen(const struct searching *searching)
{
    uint32_t count = searching->epoch->shard_count;
    struct seen seen = {.client_id = searching->client->id,
                        .epoch = searching->epoch->epoch,
                        .shard_count = count,
                        .offsets = arena_array(searching->arena, count, sizeof(uint64_t)),
                        .applied = arena_array(searching->arena, count, sizeof(uint64_t))};

    for (uint32_t i = 0; i < count; i++) {
        const struct gather_ask *ask = &searching->asks[i];
        struct shard_seen now = searching->seen[i];

        if (ask->request) {
            now.shown = max_of(now.shown, ask->answer->answer->offset);
            now.shown = max_of(now.shown, ask->answer->seen_offset);
            now.applied = max_of(now.applied, ask->answer->seen_applied);
        }
        seen.offsets[i] = now.shown;
        seen.applied[i] = max_of(now.applied, now.shown);
    }
    return seen_encode(&seen, searching->arena);
}

static bool has_peers(const struct searching *searching)
{
    return searching->front->gatherer.peers != NULL;
}

/* One that replays is not asked while others have the shard: nor is it waited for. */
static bool is_worth_waiting(const struct searching *searching, struct replica *replica)
{
    struct replica_state *state;

    if (!replica || !has_peers(searching))
        return replica != NULL;
    state = arena_alloc(searching->arena, sizeof(*state));
    replica_state(replica, state);
    return state->is_ready;
}

static int wait_for_shard(const struct searching *searching, uint32_t shard, int64_t until_us,
                          struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < searching->wait_counts[shard] && rc != ERR_LIMIT; i++) {
        const Torg__V1__LaneFreshness *lane = searching->waits[shard][i];
        int one = replica_wait(searching->epoch->shards[shard], (unsigned)lane->lane, lane->idx,
                               until_us, err);

        rc = one ? one : rc;
    }
    return rc;
}

/* Waits for shards of this process one after the other, in the caller's thread: the pool that asks
 * shards is for those that can answer. With others to ask it is not waited for longer than a slow
 * one is; who has not come by then is asked nevertheless, and tells it. */
static int wait_here(const struct searching *searching, struct err *err)
{
    int64_t until_us = searching->deadline_us;
    int64_t now_us = clock_mono_us(searching->front->clock);
    int rc = 0;

    if (has_peers(searching))
        until_us = now_us + (until_us - now_us) / GATHER_HEDGE_SHARE;
    for (uint32_t i = 0; i < searching->epoch->shard_count && rc != ERR_LIMIT; i++)
        if (searching->wait_counts[i] && is_worth_waiting(searching, searching->epoch->shards[i]))
            rc = wait_for_shard(searching, i, until_us, err);
    return rc == ERR_LIMIT ? rc : 0;
}

/* Asks for nothing yet but that the shard is so far. */
static Torg__V1__ShardRequest *begin_request(const struct searching *searching, uint32_t shard)
{
    Torg__V1__ShardRequest *request = MESSAGE_NEW(shard_request, searching->arena);
    int64_t left_us = searching->deadline_us - clock_mono_us(searching->front->clock);

    request->client = (char *)searching->client->name;
    request->epoch = searching->epoch->epoch;
    request->shard = shard;
    request->now = searching->now;
    request->wait = searching->waits[shard];
    request->n_wait = searching->wait_counts[shard];
    request->looks = searching->looks;
    request->deadline_ms = left_us > MS_US ? (uint32_t)(left_us / MS_US) : 1;
    return request;
}

/* ERR_TIMEOUT: a shard is not as far as it has to be, here or elsewhere. That is looked at before
 * any shard is asked for what would be thrown away. */
static int look(struct searching *searching, struct err *err)
{
    uint32_t count = searching->epoch->shard_count;
    struct gather_ask *asks = arena_array(searching->arena, count, sizeof(*asks));
    int64_t until_us = clock_mono_us(searching->front->clock) + SEARCHER_SILENCE_MS_MAX * MS_US;
    bool asks_others = false;

    for (uint32_t i = 0; i < count; i++) {
        int rc =
            searching->epoch->shards[i] ? wait_for_shard(searching, i, 0, err) : ERR_UNAVAILABLE;

        if (!rc || !searching->wait_counts[i])
            continue;
        if (has_peers(searching))
            asks[i].request = begin_request(searching, i);
        else if (rc == ERR_TIMEOUT)
            return rc;
        asks_others |= has_peers(searching);
    }
    if (asks_others)
        gather(&searching->front->gatherer, GATHER_WORDS, searching->epoch, asks, count,
               until_us < searching->deadline_us ? until_us : searching->deadline_us,
               searching->arena);
    for (uint32_t i = 0; i < count; i++)
        if (asks[i].err.code == ERR_TIMEOUT) {
            *err = asks[i].err;
            return err->code;
        }
    return 0; /* who cannot say is left to the search, which tells why */
}

/* ---- asking ---- */

static const struct query_place *place_in(const struct page_cursor *mark, uint32_t shard)
{
    for (uint32_t i = 0; mark && i < mark->place_count; i++)
        if (mark->places[i].shard == shard)
            return &mark->places[i].place;
    return NULL;
}

/* Whether scores of its hits are told, or have a say in their order. */
static bool has_scores(const Torg__V1__QueryStage *stage)
{
    bool is_by_score = stage->n_sorts == 0 || stage->rerank;

    for (size_t i = 0; i < stage->n_sorts; i++)
        is_by_score |= stage->sorts[i]->relevance || *stage->sorts[i]->formula;
    return is_by_score || !stage->no_cursor;
}

static bool has_cursor(const Torg__V1__QueryStage *stage)
{
    return !stage->rerank && !stage->no_cursor;
}

/* Whether the stage's scores have to be computed with counts that are known here and not yet: of
 * all shards, so that they compare; of a single one for the next page, whose scores are compared
 * with this one's, or equally good hits come again, or never. What shows no hit has no scores. */
static bool needs_words(const struct searching *searching, size_t i)
{
    const Torg__V1__QueryStage *stage = searching->query->stages[i];

    return has_text(stage) && searching->stages[i].asked && !searching->stages[i].words &&
           has_scores(stage) && (has_cursor(stage) || searching->epoch->shard_count > 1);
}

/* Hits before the page, which the only shard need not read and tell. */
static uint32_t skipped(const struct searching *searching, size_t i)
{
    const Torg__V1__QueryStage *stage = searching->query->stages[i];
    const struct stage_state *state = &searching->stages[i];

    if (searching->epoch->shard_count > 1 || has_cap(stage) || stage->rerank || !state->limit)
        return 0;
    return state->offset;
}

static void make_request(struct searching *searching, uint32_t shard, bool with_stages)
{
    Torg__V1__ShardRequest *request = begin_request(searching, shard);
    size_t count = searching->query->n_stages;
    Torg__V1__StagePart *parts = arena_array(searching->arena, count, sizeof(*parts));

    request->query = (Torg__V1__Query *)searching->query;
    request->seen_offset = searching->seen[shard].shown;
    request->seen_applied = searching->seen[shard].applied;
    request->old_max_seconds = searching->has_waits ? 0 : searching->old_max_seconds;
    request->stages = arena_array(searching->arena, count + 1, sizeof(request->stages[0]));
    for (size_t i = 0; i < count && with_stages; i++) {
        const struct stage_state *state = &searching->stages[i];

        torg__v1__stage_part__init(&parts[i]);
        parts[i].limit = state->asked;
        parts[i].skip = skipped(searching, i);
        parts[i].words = (Torg__V1__WordCounts *)state->words;
        parts[i].tell_words = needs_words(searching, i);
        parts[i].now = state->mark ? state->mark->now : 0;
        if (!has_cap(searching->query->stages[i]))
            parts[i].after = part_tell_place(place_in(state->mark, shard), searching->arena);
        request->stages[request->n_stages++] = &parts[i];
    }
    searching->asks[shard].request = request;
    searching->asks[shard].reading = &searching->reading;
}

/* A request that is at fault is so for all shards: one that alone does not know a field has not
 * been told of it yet. A token that does not come in time, or that too many wait for, is the
 * search's end. */
static int find_fault(const struct searching *searching, struct err *err)
{
    const struct gather_ask *fault = NULL;
    bool has_answer = false;

    for (uint32_t i = 0; i < searching->epoch->shard_count; i++) {
        const struct gather_ask *ask = &searching->asks[i];

        if (!ask->request)
            continue;
        has_answer = has_answer || !ask->err.code;
        if (ask->err.code == ERR_INVALID || ask->err.code == ERR_PRECONDITION)
            fault = ask;
        if ((ask->err.code == ERR_TIMEOUT || ask->err.code == ERR_LIMIT) &&
            (searching->wait_counts[i] || searching->seen[i].applied)) {
            *err = ask->err;
            return err->code;
        }
    }
    if (!fault || has_answer)
        return 0;
    *err = fault->err;
    return err->code;
}

/* Those that did not answer are not asked again in this search. */
static uint32_t drop_failed(struct searching *searching)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < searching->epoch->shard_count; i++) {
        if (searching->asks[i].err.code)
            searching->asks[i].request = NULL;
        left += searching->asks[i].request != NULL;
    }
    return left;
}

static int none_answered(const struct searching *searching, struct err *err)
{
    for (uint32_t i = 0; i < searching->epoch->shard_count; i++)
        if (searching->asks[i].err.code) {
            *err = searching->asks[i].err;
            if (err->code == ERR_NOT_FOUND) /* by another searcher, whose map is another */
                err->code = ERR_UNAVAILABLE;
            return err->code;
        }
    return err_set(err, ERR_UNAVAILABLE, "no shard has answered");
}

/* A single shard's page tells the counts that it was made with; those of several are counted before
 * any page is made. */
static bool counts_first(const struct searching *searching)
{
    for (size_t i = 0; i < searching->query->n_stages; i++)
        if (searching->epoch->shard_count > 1 && needs_words(searching, i))
            return true;
    return false;
}

static void take_words(struct searching *searching)
{
    uint32_t count = searching->epoch->shard_count;

    for (uint32_t i = 0; i < searching->query->n_stages; i++) {
        const Torg__V1__WordCounts **words = arena_array(searching->arena, count, sizeof(words[0]));

        if (searching->stages[i].words || !has_text(searching->query->stages[i]))
            continue;
        for (uint32_t k = 0; k < count; k++) {
            const Torg__V1__ShardWords *answer = searching->asks[k].words;

            words[k] = answer && i < answer->n_stages ? answer->stages[i] : NULL;
        }
        searching->stages[i].words = merge_words(words, count, searching->arena);
    }
}

/* Scores of all shards are computed with the same counts of documents. */
static int count_words(struct searching *searching, struct err *err)
{
    int64_t now_us = clock_mono_us(searching->front->clock);
    int64_t deadline_us = searching->deadline_us;
    int rc;

    for (uint32_t i = 0; i < searching->epoch->shard_count; i++)
        if (searching->asks[i].request)
            make_request(searching, i, false);
    /* A shard that hangs must leave time to ask the others. */
    if ((!searching->has_waits || searching->looks) && searching->epoch->shard_count > 1)
        deadline_us = now_us + (deadline_us - now_us) / WORDS_SHARE;
    gather(&searching->front->gatherer, GATHER_WORDS, searching->epoch, searching->asks,
           searching->epoch->shard_count, deadline_us, searching->arena);
    rc = find_fault(searching, err);
    if (!rc)
        take_words(searching);
    if (!rc && !drop_failed(searching))
        rc = none_answered(searching, err);
    return rc;
}

/* What the page of a single shard was made with: the cursor takes it along. */
static void take_told_words(struct searching *searching)
{
    const struct gather_ask *ask = &searching->asks[0];

    for (size_t i = 0; i < searching->query->n_stages && ask->request; i++)
        if (searching->epoch->shard_count == 1 && !searching->stages[i].words)
            searching->stages[i].words = ask->answer->stages[i]->words;
}

/* An answer of another version of the program must not lead the merge astray. */
static bool fits(const struct searching *searching, const Torg__V1__ShardAnswer *answer)
{
    size_t count = searching->query->n_stages;

    if (!answer->answer || answer->answer->n_stages != count || answer->n_stages != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const Torg__V1__StageAnswer *stage = answer->answer->stages[i];
        const Torg__V1__StagePlaces *places = answer->stages[i];

        if (places->n_hits != stage->n_hits || places->n_facets != stage->n_facets ||
            stage->n_facets != searching->query->stages[i]->n_facets)
            return false;
        for (size_t k = 0; k < places->n_hits; k++)
            if (!places->hits[k]->place || places->hits[k]->place->n_keys > SORT_COUNT_MAX)
                return false;
    }
    return true;
}

static int ask_shards(struct searching *searching, struct err *err)
{
    int rc;

    for (uint32_t i = 0; i < searching->epoch->shard_count; i++)
        if (searching->asks[i].request)
            make_request(searching, i, true);
    gather(&searching->front->gatherer, GATHER_SEARCH, searching->epoch, searching->asks,
           searching->epoch->shard_count, searching->deadline_us, searching->arena);
    for (uint32_t i = 0; i < searching->epoch->shard_count; i++) {
        struct gather_ask *ask = &searching->asks[i];

        if (ask->request && !ask->err.code && !fits(searching, ask->answer))
            err_set(&ask->err, ERR_INTERNAL, "shard %u gave an answer of another form", i);
    }
    rc = find_fault(searching, err);
    if (!rc && !drop_failed(searching))
        rc = none_answered(searching, err);
    if (!rc)
        take_told_words(searching);
    return rc;
}

/* ---- merging ---- */

static bool has_place(const struct cursor_place *places, uint32_t count, uint32_t shard)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i].shard == shard)
            return true;
    return false;
}

static struct bytes make_cursor(struct searching *searching, uint32_t i,
                                const struct merge_part *parts, const struct merge_end *end,
                                uint32_t shown)
{
    const struct stage_state *state = &searching->stages[i];
    const struct page_cursor *before = state->mark;
    bool is_capped = has_cap(searching->query->stages[i]);
    size_t room = 2 * (size_t)searching->epoch->shard_count;
    struct cursor_place *places = arena_array(searching->arena, room + 1, sizeof(*places));
    struct page_cursor cursor = {
        .query_hash =
            before ? before->query_hash : part_query_hash(searching->query, i, searching->arena),
        .epoch = searching->epoch->epoch,
        .depth = (before ? before->depth : state->offset) + shown,
        .now = before && before->now ? before->now : searching->now,
        .places = places};

    if (state->words)
        cursor.words = *part_read_words(state->words, searching->arena);
    for (uint32_t k = 0; k < end->count; k++)
        if (end->last[k] && (!is_capped || k == end->last_part))
            places[cursor.place_count++] =
                (struct cursor_place){parts[k].shard, part_read_place(end->last[k])};
    /* Shards without a hit on this page stay where they were. */
    for (uint32_t k = 0; before && !is_capped && k < before->place_count; k++)
        if (cursor.place_count < room &&
            !has_place(places, cursor.place_count, before->places[k].shard))
            places[cursor.place_count++] = before->places[k];
    return cursor_encode(&cursor, searching->arena);
}

static struct merge_page page_of(const struct searching *searching, uint32_t i)
{
    const struct stage_state *state = &searching->stages[i];
    struct merge_page page = {.skip = state->offset, .limit = state->limit, .asked = state->asked};

    if (state->mark && has_cap(searching->query->stages[i]) && state->mark->place_count) {
        page.after = part_tell_place(&state->mark->places[0].place, searching->arena);
        page.after_shard = state->mark->places[0].shard;
    }
    return page;
}

/* *again: a list with a cap needs more hits of the shards. */
static int merge_all(struct searching *searching, Torg__V1__QueryAnswer *answer, bool *again,
                     struct err *err)
{
    uint32_t shard_count = searching->epoch->shard_count;
    struct merge_part *parts = arena_array(searching->arena, shard_count, sizeof(*parts));
    uint32_t count = 0;

    (void)err;
    *again = false;
    answer->n_stages = searching->query->n_stages;
    answer->stages = arena_array(searching->arena, answer->n_stages + 1, sizeof(answer->stages[0]));
    for (uint32_t i = 0; i < shard_count; i++)
        if (searching->asks[i].request)
            parts[count++] = (struct merge_part){i, searching->asks[i].answer};
    for (uint32_t i = 0; i < answer->n_stages; i++) {
        struct merge_page page = page_of(searching, i);
        struct stage_state *state = &searching->stages[i];
        uint32_t before = count == 1 ? parts[0].answer->stages[i]->skipped : 0;
        struct merge_end end;

        page.skip = before < page.skip ? page.skip - before : 0; /* by the shard, if it can */

        answer->stages[i] = merge_stage(searching->query->stages[i], i, parts, count, &page,
                                        searching->arena, &end);
        if (end.is_short && state->asked <= QUERY_HIT_COUNT_MAX) {
            uint32_t more = state->asked * CAP_GROWTH;

            state->asked = more > QUERY_HIT_COUNT_MAX ? QUERY_HIT_COUNT_MAX + 1 : more;
            *again = true;
        } else if (end.has_more && answer->stages[i]->n_hits &&
                   has_cursor(searching->query->stages[i])) {
            struct bytes cursor =
                make_cursor(searching, i, parts, &end, (uint32_t)answer->stages[i]->n_hits);

            answer->stages[i]->cursor.data = (uint8_t *)cursor.data;
            answer->stages[i]->cursor.len = cursor.size;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const Torg__V1__QueryAnswer *part = parts[i].answer->answer;

        answer->offset = i == 0 || part->offset < answer->offset ? part->offset : answer->offset;
    }
    return 0;
}

static void tell_missing(const struct searching *searching, Torg__V1__SearchResponse *response)
{
    uint32_t count = searching->epoch->shard_count;

    response->missing_shards =
        arena_array(searching->arena, count + 1, sizeof(response->missing_shards[0]));
    for (uint32_t i = 0; i < count; i++)
        if (!searching->asks[i].request)
            response->missing_shards[response->n_missing_shards++] = i;
    response->is_partial = response->n_missing_shards > 0;
}

static void tell_old(const struct searching *searching, Torg__V1__SearchResponse *response)
{
    uint32_t count = searching->epoch->shard_count;

    response->old_shards =
        arena_array(searching->arena, count + 1, sizeof(response->old_shards[0]));
    for (uint32_t i = 0; i < count; i++) {
        const struct gather_ask *ask = &searching->asks[i];
        uint64_t seconds = ask->request ? ask->answer->old_seconds : 0;

        if (seconds)
            response->old_shards[response->n_old_shards++] = i;
        if (seconds > response->old_seconds)
            response->old_seconds = seconds;
    }
}

/* Words counted if they have to be, then pages until there are enough hits. The threads that ask
 * several shards read the query in an arena of its own. */
static int ask_and_merge(struct searching *searching, Torg__V1__QueryAnswer *answer,
                         struct err *err)
{
    struct arena *arena = searching->epoch->shard_count > 1 ? arena_new() : NULL;
    bool again = true;
    int rc = 0;

    reading_init(&searching->reading, searching->query, searching->now,
                 arena ? arena : searching->arena);
    if (counts_first(searching))
        rc = count_words(searching, err);
    while (!rc && again) {
        rc = ask_shards(searching, err);
        rc = rc ? rc : merge_all(searching, answer, &again, err);
    }
    reading_release(&searching->reading);
    arena_adopt(searching->arena, arena);
    return rc;
}

static int search(struct searching *searching, Torg__V1__SearchResponse *response, struct err *err)
{
    Torg__V1__QueryAnswer *answer = MESSAGE_NEW(query_answer, searching->arena);
    int64_t began_us = clock_mono_us(searching->front->clock);
    uint32_t count = searching->epoch->shard_count;
    struct bytes seen;
    int rc;

    searching->asks = arena_array(searching->arena, count, sizeof(*searching->asks));
    for (uint32_t i = 0; i < count; i++)
        make_request(searching, i, true);
    rc = ask_and_merge(searching, answer, err);
    if (rc)
        return rc;
    tell_missing(searching, response);
    tell_old(searching, response);
    answer->microseconds = (uint64_t)(clock_mono_us(searching->front->clock) - began_us);
    response->answer = answer;
    response->epoch = searching->epoch->epoch;
    seen = tell_seen(searching);
    response->seen.data = (uint8_t *)seen.data;
    response->seen.len = seen.size;
    return 0;
}

int64_t front_deadline_us(const struct front *front, int64_t begun_us)
{
    return begun_us +
           (front->deadline_us ? front->deadline_us : SEARCHER_DEADLINE_MS * (int64_t)MS_US);
}

int front_search(const struct front *front, const char *client,
                 const Torg__V1__SearchRequest *request, int64_t deadline_us, struct arena *arena,
                 Torg__V1__SearchResponse *response, struct err *err)
{
    const struct index_view *view;
    struct searching searching = {.front = front,
                                  .query = request->query,
                                  .deadline_us = deadline_us,
                                  .arena = arena,
                                  .old_max_seconds = request->old_max_seconds,
                                  .looks = request->looks,
                                  .now = clock_wall_us(front->clock) / SECOND_US};
    int rc = 0;

    assert(front->follower && front->clock);
    if (request->n_wait)
        rc = follower_view_with(front->follower, client, request->looks ? 0 : deadline_us, &view,
                                err);
    else
        view = follower_view(front->follower);
    rc = rc ? rc : front_find_client(view, client, &searching.client, err);
    if (rc == ERR_NOT_FOUND && request->looks && request->n_wait)
        rc = err_set(err, ERR_TIMEOUT, "client %s has no index yet", client);
    if (rc == ERR_NOT_FOUND && !follower_has_looked(front->follower))
        rc = err_set(err, ERR_UNAVAILABLE,
                     "this searcher does not know yet which indexes there are: the map of them "
                     "could not be read so far");
    if (!rc && !request->query)
        rc = err_set(err, ERR_INVALID, "query: is missing");
    rc = rc ? rc : request_check(request->query, err);
    if (!rc)
        searching.stages = arena_array(arena, request->query->n_stages, sizeof(*searching.stages));
    for (uint32_t i = 0; !rc && i < request->query->n_stages; i++)
        rc = read_stage(&searching, i, err);
    rc = rc ? rc : choose_epoch(&searching, request->epoch, err);
    rc = rc ? rc : read_tokens(&searching, request->wait, request->n_wait, err);
    rc = rc ? rc : read_seen(&searching, bytes_make(request->seen.data, request->seen.len), err);
    rc = rc ? rc : searching.looks ? look(&searching, err) : wait_here(&searching, err);
    rc = rc ? rc : search(&searching, response, err);
    if (!rc && front->queries)
        query_log_add(front->queries, client, request);
    view_release(view);
    return rc;
}
