/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buyers.c - those who search, and the judge of what they are shown: every thing that could be
 * found is looked up in the model, those that were not shown too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "sim/crowd.h"
#include "torg/v1/search.pb-c.h"
#include "torg/v1/searcher.pb-c.h"

enum { HIT_COUNT_MAX = 100, SEARCH_MS = 30 * 1000, BEHIND_US = 5 * SECOND_US };

/* What was known when the search began, and what it has shown. */
struct sight {
    int64_t start_us;
    uint32_t slot_count;
    uint32_t floors[SLOT_COUNT_MAX];
    uint32_t shown[SLOT_COUNT_MAX];
    uint32_t stock_floors[SLOT_COUNT_MAX];
    uint32_t stocks[SLOT_COUNT_MAX]; /* of documents that were shown */
    char token[TOKEN_SIZE];
};

static bool is_asked(const struct slot *slot, bool documents, unsigned client)
{
    return documents ? slot->kind == SLOT_DOCUMENT && slot->owner == client
                     : slot->kind == SLOT_OFFER || slot->kind == SLOT_ROW;
}

/* The last write that was acknowledged: it is the least likely to be found already. */
static const struct slot *find_newest(const struct model *model, bool documents, unsigned client)
{
    const struct slot *newest = NULL;

    for (uint32_t i = 0; i < model->slot_count; i++) {
        const struct slot *slot = &model->slots[i];

        if (is_asked(slot, documents, client) && *slot->token &&
            (!newest || slot->token_age > newest->token_age))
            newest = slot;
    }
    return newest;
}

/* Another epoch has its own replica, which may be behind the one that served before: who has no
 * token may then be shown what was there earlier. */
static bool may_be_behind(const struct model *model, bool documents, unsigned client)
{
    int64_t switched_us = model->switched_us[documents ? client : INDEX_COUNT - 1];

    return switched_us && now_mono_us() - BEHIND_US < switched_us;
}

/* With the lock: the newest change of a side field, likewise. */
static const struct slot *find_stock(const struct model *model, unsigned client)
{
    const struct slot *newest = NULL;

    for (uint32_t i = 0; i < model->slot_count; i++) {
        const struct slot *slot = &model->slots[i];

        if (is_asked(slot, true, client) && *slot->stock_token &&
            (!newest || slot->stock_age > newest->stock_age))
            newest = slot;
    }
    return newest;
}

/* With the lock: instead of for a write of a document, in some. */
static void wait_for_stock(struct actor *actor, struct sight *sight, unsigned client)
{
    const struct model *model = actor->crowd->model;
    const struct slot *newest = draw_chance(&actor->rng, 400) ? find_stock(model, client) : NULL;

    if (!newest)
        return;
    memcpy(sight->token, newest->stock_token, TOKEN_SIZE);
    sight->stock_floors[model_slot_number(model, newest)] = newest->stock;
}

/* Half of the searches wait for a write. */
static void begin(struct actor *actor, struct sight *sight, bool documents, unsigned client)
{
    struct model *model = actor->crowd->model;
    bool waits = draw_chance(&actor->rng, 500);
    const struct slot *newest;

    memset(sight, 0, sizeof(*sight));
    sight->start_us = now_wall_us();
    model_lock();
    model->search_count++;
    for (uint32_t i = 0; i < model->slot_count; i++)
        sight->floors[i] = may_be_behind(model, documents, client) ? slot_oldest(&model->slots[i])
                                                                   : model->slots[i].floor;
    for (uint32_t i = 0; i < model->slot_count; i++)
        sight->stock_floors[i] =
            may_be_behind(model, documents, client) ? 0 : model->slots[i].stock_floor;
    if (waits && documents)
        wait_for_stock(actor, sight, client);
    newest = waits && !*sight->token ? find_newest(model, documents, client) : NULL;
    if (newest) {
        uint32_t place = model_slot_number(model, newest);

        memcpy(sight->token, newest->token, TOKEN_SIZE);
        if (newest->token_entry > sight->floors[place])
            sight->floors[place] = newest->token_entry;
    }
    model_unlock();
}

/* With the lock. */
static void see(struct model *model, struct sight *sight, uint32_t stamp, const char *key)
{
    struct slot *slot = model_of_stamp(model, stamp);
    uint32_t place;

    if (!slot)
        model_fail(model, NULL, "a search shows %s with the stamp %u, which nobody wrote", key,
                   stamp);
    place = model_slot_number(model, slot);
    if (*slot->key && strcmp(slot->key, key) != 0)
        model_fail(model, slot, "a search shows %s with the content of %s", key, slot->key);
    if (sight->shown[place])
        model_fail(model, slot, "a search shows it twice: stamps %u and %u", sight->shown[place],
                   stamp);
    if (!*slot->key && slot->kind == SLOT_ROW)
        snprintf(slot->key, sizeof(slot->key), "%s", key);
    sight->shown[place] = stamp;
}

/* With the lock. */
static void judge(struct model *model, struct sight *sight, bool documents, unsigned client)
{
    int64_t now_us = now_wall_us();

    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];

        if (!is_asked(slot, documents, client) ||
            slot_may_show(slot, sight->floors[i], sight->shown[i], sight->start_us, now_us))
            continue;
        model_fail(model, slot, "a search (from entry %u on%s) shows stamp %u", sight->floors[i],
                   *sight->token ? ", with a token" : "", sight->shown[i]);
    }
}

/* With the lock. */
static void judge_stocks(struct model *model, const struct sight *sight, unsigned client)
{
    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];
        uint32_t newest = slot->stock_asked ? slot->stock_asked : slot->stock;

        if (!is_asked(slot, true, client) || !sight->shown[i])
            continue;
        if (sight->stocks[i] < sight->stock_floors[i] || sight->stocks[i] > newest)
            model_fail(model, slot, "a search (from stock %u on%s) shows %u; %u is the newest",
                       sight->stock_floors[i], *sight->token ? ", with a token" : "",
                       sight->stocks[i], newest);
        slot->stock_shown = sight->stocks[i];
        if (sight->stocks[i] > slot->stock_floor)
            slot->stock_floor = sight->stocks[i];
    }
}

/* ---- offers ---- */

/* With the lock: a page that is told to be old, as right after a start, may show what was there
 * before what others have seen. */
static void allow_old(struct model *model, struct sight *sight, uint64_t old_seconds)
{
    for (uint32_t i = 0; old_seconds && i < model->slot_count; i++)
        sight->floors[i] = slot_oldest(&model->slots[i]);
    if (old_seconds && *sight->token)
        model_fail(model, NULL, "a search with a token shows an old state");
}

bool offers_look(struct actor *actor, uint32_t shown[SLOT_COUNT_MAX])
{
    struct model *model = actor->crowd->model;
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct arena *arena = arena_new();
    struct sight sight;
    char *tokens[] = {sight.token};
    const Torg__V1__SearchOffersResponse *response;
    ProtobufCMessage *answer;
    struct err err;
    bool is_whole;
    int rc;

    begin(actor, &sight, false, 0);
    request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    request.limit = HIT_COUNT_MAX;
    request.only_offers = draw_chance(&actor->rng, 800);
    request.wait = tokens;
    request.n_wait = *sight.token != '\0';
    rc = world_call(actor->crowd->world, &torg__v1__search_service__descriptor, "SearchOffers",
                    NULL, &request.base, arena, &answer, &err);
    response = (const Torg__V1__SearchOffersResponse *)answer;
    model_lock();
    if (rc && !is_unsure(rc))
        model_fail(model, NULL, "a right search was refused: %s", err.text);
    is_whole = !rc && !response->is_partial;
    if (!is_whole) {
        model_step(model, NULL, "no whole answer to a search: %s", rc ? err.text : "partial");
        model->unsure_count++;
    } else {
        for (size_t i = 0; i < response->n_offers; i++)
            see(model, &sight, offer_stamp(response->offers[i]->title, response->offers[i]->price),
                response->offers[i]->id);
        allow_old(model, &sight, response->old_seconds);
        judge(model, &sight, false, 0);
    }
    model_unlock();
    arena_free(arena);
    if (shown)
        memcpy(shown, sight.shown, sizeof(sight.shown));
    return is_whole;
}

/* A word that one content alone has. With the lock. */
static struct slot *draw_word(struct actor *actor, uint32_t *stamp)
{
    struct model *model = actor->crowd->model;
    struct slot *slot;

    if (!model->stamp_count)
        return NULL;
    *stamp = 1 + draw_below(&actor->rng, model->stamp_count);
    slot = model_of_stamp(model, *stamp);
    return slot && is_asked(slot, false, 0) ? slot : NULL;
}

static void search_word(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct arena *arena = arena_new();
    int64_t start_us = now_wall_us();
    ProtobufCMessage *answer;
    const Torg__V1__SearchOffersResponse *response;
    struct slot *slot;
    uint32_t stamp = 0, floor;
    struct err err;
    int rc;

    model_lock();
    slot = draw_word(actor, &stamp);
    floor = !slot ? 0 : may_be_behind(model, false, 0) ? slot_oldest(slot) : slot->floor;
    model->search_count += slot != NULL;
    model_unlock();
    request.text = arena_printf(arena, "thing s%u", stamp);
    request.keep_spelling = request.all_words = true;
    rc = slot ? world_call(actor->crowd->world, &torg__v1__search_service__descriptor,
                           "SearchOffers", NULL, &request.base, arena, &answer, &err)
              : ERR_UNAVAILABLE;
    model_lock();
    if (rc && !is_unsure(rc))
        model_fail(model, slot, "a right search was refused: %s", err.text);
    response = (const Torg__V1__SearchOffersResponse *)answer;
    if (!rc && !response->is_partial) {
        if (response->old_seconds) /* as allow_old */
            floor = slot_oldest(slot);
        for (size_t i = 0; i < response->n_offers; i++)
            if (offer_stamp(response->offers[i]->title, response->offers[i]->price) != stamp)
                model_fail(model, slot, "the word of stamp %u finds %s, \"%s\"", stamp,
                           response->offers[i]->id, response->offers[i]->title);
        if (response->n_offers > 1 ||
            !slot_may_match(slot, floor, stamp, response->n_offers, start_us, now_wall_us()))
            model_fail(model, slot, "the word of stamp %u finds %zu offers", stamp,
                       response->n_offers);
    }
    model_unlock();
    arena_free(arena);
}

void buyer_step(struct actor *actor)
{
    if (draw_chance(&actor->rng, 300))
        search_word(actor);
    else
        offers_look(actor, NULL);
}

/* ---- documents ---- */

static uint32_t stamp_of(const Torg__V1__Hit *hit)
{
    uint32_t stamp = 0, written = 0;

    for (size_t i = 0; i < hit->n_fields; i++) {
        if (strcmp(hit->fields[i]->name, "stamp") == 0)
            stamp = (uint32_t)strtoul(hit->fields[i]->values[0], NULL, 10);
        if (strcmp(hit->fields[i]->name, "title") == 0)
            written = (uint32_t)strtoul(hit->fields[i]->values[0] + strlen("paper s"), NULL, 10);
    }
    return stamp == written ? stamp : 0;
}

/* The number of a misfit, from 1; 0: it is none. */
static unsigned misfit_of(const Torg__V1__Hit *hit)
{
    return strncmp(hit->pk, "misfit", 6) == 0 ? 1 + (unsigned)strtoul(hit->pk + 6, NULL, 10) : 0;
}

/* With the lock. */
static void see_document(struct model *model, struct sight *sight, const Torg__V1__Hit *hit)
{
    uint32_t stamp = stamp_of(hit);

    see(model, sight, stamp, hit->pk);
    for (size_t i = 0; i < hit->n_fields; i++)
        if (strcmp(hit->fields[i]->name, "stock") == 0)
            sight->stocks[model_slot_number(model, model_of_stamp(model, stamp))] =
                (uint32_t)strtoul(hit->fields[i]->values[0], NULL, 10);
}

static int search_documents(struct actor *actor, unsigned client, struct sight *sight,
                            struct arena *arena, ProtobufCMessage **answer, struct err *err)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__QueryStage *stages[] = {&stage};
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
    char *shown[] = {"stamp", "title", "stock", "serial"};
    char *tokens[] = {sight->token};

    stage._limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage.limit = HIT_COUNT_MAX;
    stage.show = shown;
    stage.n_show = sizeof(shown) / sizeof(shown[0]);
    query.stages = stages;
    query.n_stages = 1;
    request.client = (char *)client_names[client];
    request.query = &query;
    request.deadline_ms = SEARCH_MS;
    request.wait = tokens;
    request.n_wait = *sight->token != '\0';
    query.unknown_is_empty = true;
    return world_call(actor->crowd->world, &torg__v1__searcher_service__descriptor, "Search", NULL,
                      &request.base, arena, answer, err);
}

bool documents_look(struct actor *actor, unsigned client, uint32_t shown[SLOT_COUNT_MAX])
{
    struct model *model = actor->crowd->model;
    struct arena *arena = arena_new();
    const Torg__V1__SearchResponse *response;
    ProtobufCMessage *answer;
    struct sight sight;
    struct err err;
    bool is_whole;
    int rc;

    begin(actor, &sight, true, client);
    rc = search_documents(actor, client, &sight, arena, &answer, &err);
    response = (const Torg__V1__SearchResponse *)answer;
    model_lock();
    if (rc && !is_unsure(rc) && rc != ERR_NOT_FOUND) /* there is no index before the first */
        model_fail(model, NULL, "a right search was refused: %s", err.text);
    is_whole = !rc && !response->is_partial;
    if (!is_whole) {
        model_step(model, NULL, "no whole answer to a search: %s", rc ? err.text : "partial");
        model->unsure_count += rc != ERR_NOT_FOUND;
    } else {
        for (size_t i = 0; i < response->answer->stages[0]->n_hits; i++)
            if (!misfit_of(response->answer->stages[0]->hits[i]))
                see_document(model, &sight, response->answer->stages[0]->hits[i]);
        judge(model, &sight, true, client);
        judge_stocks(model, &sight, client);
    }
    model_unlock();
    arena_free(arena);
    if (shown)
        memcpy(shown, sight.shown, sizeof(sight.shown));
    return is_whole || rc == ERR_NOT_FOUND;
}

bool misfits_look(struct actor *actor, int64_t versions[MISFIT_COUNT])
{
    struct arena *arena = arena_new();
    struct sight sight = {.start_us = now_wall_us()};
    const Torg__V1__SearchResponse *response;
    ProtobufCMessage *answer;
    struct err err;
    bool is_whole = !search_documents(actor, 0, &sight, arena, &answer, &err);

    response = (const Torg__V1__SearchResponse *)answer;
    is_whole = is_whole && !response->is_partial;
    memset(versions, 0, MISFIT_COUNT * sizeof(versions[0]));
    for (size_t i = 0; is_whole && i < response->answer->stages[0]->n_hits; i++) {
        const Torg__V1__Hit *hit = response->answer->stages[0]->hits[i];
        unsigned number = misfit_of(hit);

        for (size_t k = 0; number && k < hit->n_fields; k++)
            if (strcmp(hit->fields[k]->name, "serial") == 0)
                versions[number - 1] = (int64_t)strtoul(hit->fields[k]->values[0], NULL, 10);
    }
    arena_free(arena);
    return is_whole;
}

void reader_step(struct actor *actor)
{
    documents_look(actor, draw_below(&actor->rng, CLIENT_COUNT), NULL);
}
