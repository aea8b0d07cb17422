/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - see local.h. */
#include "searcher/front/local.h"

#include <string.h>

#include "base/object.h"
#include "codec/message.h"
#include "query/bounds.h"
#include "query/request/response.h"
#include "searcher/front/part.h"

/* ---- what is asked ---- */

static int wait_for(struct replica *replica, const Torg__V1__ShardRequest *request,
                    int64_t until_us, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < request->n_wait && !rc; i++) {
        if ((unsigned)request->wait[i]->lane >= PROGRESS_LANE_COUNT)
            return err_set(err, ERR_INVALID, "wait[%zu]: there is no lane %d", i,
                           (int)request->wait[i]->lane);
        rc = replica_wait(replica, (unsigned)request->wait[i]->lane, request->wait[i]->idx,
                          until_us, err);
    }
    return rc;
}

/* A visit that shows what the request waits for, and nothing older than it has seen. What is there
 * already, as nearly always, is not waited for: those who wait are counted. */
static int visit_for(struct replica *replica, const Torg__V1__ShardRequest *request,
                     int64_t deadline_us, struct visit **visit, struct err *err)
{
    uint32_t old_max = request->n_wait ? 0 : request->old_max_seconds;
    const struct shard_seen seen = {request->seen_offset, request->seen_applied};
    uint64_t offset = seen.applied > seen.shown ? seen.applied : seen.shown;
    int64_t until_us = request->looks ? 0 : deadline_us;
    int rc = wait_for(replica, request, until_us, err);
    bool is_old;

    rc = rc ? rc : replica_visit(replica, old_max, visit, err);
    if (rc || !offset || shard_has_seen((*visit)->shard, seen))
        return rc;
    is_old = (*visit)->old_seconds > 0;
    visit_end(*visit);
    *visit = NULL;
    if (is_old)
        return err_set(err, ERR_UNAVAILABLE,
                       "shard %u has only an old state, older than what was seen before",
                       replica_shard(replica));
    rc = replica_wait(replica, REPLICA_OFFSET, offset > INT64_MAX ? INT64_MAX : (int64_t)offset,
                      until_us, err);
    return rc ? rc : replica_visit(replica, 0, visit, err);
}

/* A query that asks for more than a query may does so of every shard, and will: it is no shard that
 * has too much to do. */
static int query_fault(int rc, struct err *err)
{
    if (rc != ERR_LIMIT)
        return rc;
    if (err)
        err->code = ERR_INVALID;
    return ERR_INVALID;
}

static int read_query(const struct visit *visit, struct reading *reading,
                      struct query_request *query, struct err *err)
{
    if (!reading->message)
        return err_set(err, ERR_INVALID, "query: is missing");
    return query_fault(reading_take(reading, visit->engine, query, err), err);
}

/* Facets give all values: those of other shards may make any of them the first. */
static const struct query_facet *whole_facets(const struct query_stage *stage, struct arena *arena)
{
    struct query_facet *facets = arena_array(arena, stage->facet_count + 1, sizeof(*facets));

    for (uint32_t i = 0; i < stage->facet_count; i++) {
        facets[i] = stage->facets[i];
        if (facets[i].kind == FACET_VALUES || facets[i].kind == FACET_TREE)
            facets[i].limit = QUERY_FACET_PART_COUNT_MAX;
    }
    return facets;
}

static int make_parts(const Torg__V1__ShardRequest *request, struct arena *arena,
                      struct query_request *query, struct err *err)
{
    uint32_t count = query->plan.stage_count;
    struct query_stage *stages = arena_array(arena, count, sizeof(*stages));

    if (request->n_stages != count)
        return err_set(err, ERR_INVALID, "stages: %zu of them, and the query has %u",
                       request->n_stages, count);
    for (uint32_t i = 0; i < count; i++) {
        const Torg__V1__StagePart *message = request->stages[i];
        struct query_part *part = arena_zero(arena, sizeof(*part));
        struct query_place *after = arena_alloc(arena, sizeof(*after));

        if (message->limit > QUERY_HIT_COUNT_MAX + 1)
            return err_set(err, ERR_INVALID, "stages[%u].limit: %u, at most %d", i, message->limit,
                           QUERY_HIT_COUNT_MAX + 1);
        if (message->skip > message->limit)
            return err_set(err, ERR_INVALID, "stages[%u].skip: %u, of %u hits", i, message->skip,
                           message->limit);
        if (message->after && message->after->n_keys > SORT_COUNT_MAX)
            return err_set(err, ERR_INVALID, "stages[%u].after.keys: at most %d", i,
                           SORT_COUNT_MAX);
        if (message->after) {
            *after = part_read_place(message->after);
            part->after = after;
        }
        part->words = part_read_words(message->words, arena);
        part->tells_words = message->tell_words;
        stages[i] = query->plan.stages[i];
        stages[i].part = part;
        if (message->now)
            stages[i].now = message->now;
        stages[i].offset = message->skip;
        stages[i].limit = message->limit - message->skip;
        stages[i].cursor = BYTES_EMPTY;
        stages[i].facets = whole_facets(&stages[i], arena);
    }
    query->plan.stages = stages;
    return 0;
}

/* ---- what is answered ---- */

int local_count_words(struct replica *replica, const Torg__V1__ShardRequest *request,
                      struct reading *reading, int64_t deadline_us, struct arena *arena,
                      Torg__V1__ShardWords **out, struct err *err)
{
    Torg__V1__ShardWords *message = MESSAGE_NEW(shard_words, arena);
    struct query_words *words = NULL;
    struct query_request query;
    struct visit *visit = NULL;
    bool only_looks = request->looks && !request->query;
    int rc = visit_for(replica, request, deadline_us, &visit, err);

    rc = rc || only_looks ? rc : read_query(visit, reading, &query, err);
    if (!rc && !only_looks) {
        message->n_stages = query.plan.stage_count;
        message->stages = arena_array(arena, message->n_stages, sizeof(message->stages[0]));
        words = arena_array(arena, message->n_stages, sizeof(*words));
        rc = query_fault(query_count_words(visit->engine, &query.plan, arena, words, err), err);
    }
    for (size_t i = 0; !rc && i < message->n_stages; i++)
        message->stages[i] = part_tell_words(&words[i], arena);
    visit_end(visit);
    *out = message;
    return rc;
}

static Torg__V1__StagePlaces *tell_stage(const struct query_answer *answer, struct arena *arena)
{
    Torg__V1__StagePlaces *message = MESSAGE_NEW(stage_places, arena);
    Torg__V1__HitRank *hits = arena_array(arena, answer->hit_count + 1, sizeof(*hits));
    Torg__V1__FacetBounds *facets = arena_array(arena, answer->facet_count + 1, sizeof(*facets));

    message->words = part_tell_words(answer->words, arena);
    message->hits = arena_array(arena, answer->hit_count + 1, sizeof(message->hits[0]));
    message->n_hits = answer->hit_count;
    for (uint32_t i = 0; i < answer->hit_count; i++) {
        const struct query_rank *rank = &answer->ranks[i];

        torg__v1__hit_rank__init(&hits[i]);
        hits[i].place = part_tell_place(&rank->place, arena);
        hits[i].rerank = rank->rerank;
        hits[i].has_cap_value = rank->cap_value.data != NULL;
        hits[i].cap_value.data = (uint8_t *)rank->cap_value.data;
        hits[i].cap_value.len = rank->cap_value.size;
        message->hits[i] = &hits[i];
    }
    message->facets = arena_array(arena, answer->facet_count + 1, sizeof(message->facets[0]));
    message->n_facets = answer->facet_count;
    for (uint32_t i = 0; i < answer->facet_count; i++) {
        torg__v1__facet_bounds__init(&facets[i]);
        facets[i].has_values = answer->facets[i].has_values;
        facets[i].min = answer->facets[i].min;
        facets[i].max = answer->facets[i].max;
        message->facets[i] = &facets[i];
    }
    return message;
}

/* Fields that this shard does not know (Query.unknown_is_empty) have facets without values, so that
 * the answers of all shards have the same form. */
static void pad_facets(const Torg__V1__QueryStage *query, const struct schema *schema,
                       struct arena *arena, Torg__V1__StageAnswer *answer,
                       Torg__V1__StagePlaces *places)
{
    Torg__V1__FacetAnswer **facets = arena_array(arena, query->n_facets + 1, sizeof(facets[0]));
    Torg__V1__FacetBounds **bounds = arena_array(arena, query->n_facets + 1, sizeof(bounds[0]));
    size_t taken = 0;

    for (size_t i = 0; i < query->n_facets; i++) {
        const Torg__V1__Facet *asked = query->facets[i];
        char *name = *asked->name ? asked->name : asked->field;

        /* By its field: two may have one name. */
        if (taken < answer->n_facets && schema_find(schema, bytes_of(asked->field)) &&
            strcmp(answer->facets[taken]->name, name) == 0) {
            facets[i] = answer->facets[taken];
            bounds[i] = places->facets[taken++];
            continue;
        }
        facets[i] = arena_alloc(arena, sizeof(*facets[i]));
        torg__v1__facet_answer__init(facets[i]);
        facets[i]->name = name;
        bounds[i] = arena_alloc(arena, sizeof(*bounds[i]));
        torg__v1__facet_bounds__init(bounds[i]);
    }
    answer->facets = facets;
    answer->n_facets = query->n_facets;
    places->facets = bounds;
    places->n_facets = query->n_facets;
}

static void name_shard(Torg__V1__QueryAnswer *answer, uint32_t shard)
{
    for (size_t i = 0; i < answer->n_stages; i++)
        for (size_t k = 0; k < answer->stages[i]->n_hits; k++)
            answer->stages[i]->hits[k]->shard = shard;
}

int local_search(struct replica *replica, const Torg__V1__ShardRequest *request,
                 struct reading *reading, int64_t deadline_us, struct arena *arena,
                 Torg__V1__ShardAnswer **out, struct err *err)
{
    Torg__V1__ShardAnswer *message = MESSAGE_NEW(shard_answer, arena);
    struct query_result result = {0};
    struct query_request query;
    struct visit *visit = NULL;
    int rc = visit_for(replica, request, deadline_us, &visit, err);

    rc = rc ? rc : read_query(visit, reading, &query, err);
    rc = rc ? rc : make_parts(request, arena, &query, err);
    rc = rc ? rc
            : query_fault(response_run(visit->engine, &query, deadline_us, arena, &result,
                                       &message->answer, err),
                          err);
    if (rc) {
        visit_end(visit);
        return rc;
    }
    message->old_seconds = visit->old_seconds;
    message->seen_offset = result.seen.shown;
    message->seen_applied = result.seen.applied;
    name_shard(message->answer, replica_shard(replica));
    message->stages = arena_array(arena, result.answer_count + 1, sizeof(message->stages[0]));
    message->n_stages = result.answer_count;
    for (uint32_t i = 0; i < result.answer_count; i++) {
        message->stages[i] = tell_stage(&result.answers[i], arena);
        message->stages[i]->skipped = request->stages[i]->skip;
        if (request->query->unknown_is_empty)
            pad_facets(request->query->stages[i], shard_schema(visit->shard), arena,
                       message->answer->stages[i], message->stages[i]);
    }
    visit_end(visit);
    *out = message;
    return 0;
}
