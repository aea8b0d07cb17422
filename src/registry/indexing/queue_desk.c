/* SPDX-License-Identifier: Apache-2.0 */
/* queue_desk.c - see queue_desk.h. */
#include "registry/indexing/queue_desk.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "base/text.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/queue.h"

/* --- lanes --- */

struct lanes {
    const struct client_view **clients;
    size_t client_count;
    struct arena *arena;
    Torg__V1__ListLanesResponse *response;
};

static Torg__V1__LaneState *add_lane(struct lanes *lanes, const struct client_view *client,
                                     uint32_t shard, enum lane lane)
{
    Torg__V1__LaneState *told = MESSAGE_NEW(lane_state, lanes->arena);

    told->client = arena_strdup(lanes->arena, client->name);
    told->shard = shard;
    told->lane = (Torg__V1__QueueLane__Name)lane;
    lanes->response->lanes[lanes->response->n_lanes++] = told;
    return told;
}

static int read_lane(struct store_tx *tx, struct lanes *lanes, const struct client_view *client,
                     uint32_t shard, enum lane lane, struct err *err)
{
    Torg__V1__LaneState *told = add_lane(lanes, client, shard, lane);
    struct lane_state state;
    int rc = queue_state(tx, client->id, lane, shard, &state, err);

    if (rc)
        return rc;
    told->offset = state.offset;
    told->end = state.end;
    told->lag = state.end - state.offset;
    told->oldest_time = moment_or_none(state.oldest_us, lanes->arena);
    return 0;
}

static int read_failed_lane(struct store_tx *tx, struct lanes *lanes,
                            const struct client_view *client, uint32_t shard, struct err *err)
{
    Torg__V1__LaneState *told = add_lane(lanes, client, shard, LANE_FAILED);
    struct failed_state state;
    int rc = failed_state(tx, client->id, shard, &state, err);

    if (rc)
        return rc;
    told->lag = state.waiting_count;
    told->parked_count = state.parked_count;
    told->oldest_time = moment_or_none(state.oldest_us, lanes->arena);
    return 0;
}

static int read_lanes(struct store_tx *tx, void *arg, struct err *err)
{
    static const enum lane order[] = {LANE_EMERGENCY, LANE_MAIN, LANE_BACKFILL};
    struct lanes *lanes = arg;
    int rc = 0;

    lanes->response->n_lanes = 0;
    for (size_t i = 0; i < lanes->client_count; i++)
        for (uint32_t shard = 0; shard < lanes->clients[i]->shard_count && !rc; shard++) {
            for (size_t k = 0; k < sizeof(order) / sizeof(order[0]) && !rc; k++)
                rc = read_lane(tx, lanes, lanes->clients[i], shard, order[k], err);
            if (!rc)
                rc = read_failed_lane(tx, lanes, lanes->clients[i], shard, err);
        }
    return rc;
}

int queue_desk_lanes(const struct queue_desk *desk, const char *client, struct arena *arena,
                     Torg__V1__ListLanesResponse *response, struct err *err)
{
    struct lanes lanes = {.arena = arena, .response = response};
    const struct client_view *one = NULL;
    size_t shard_count = 0;
    int rc;

    assert(desk->store && desk->clients && desk->clock);
    if (client) {
        rc = clients_find(desk->clients, client, true, &one, err);
        lanes.clients = arena_array(arena, 1, sizeof(one));
        lanes.clients[0] = one;
        lanes.client_count = rc ? 0 : 1;
    } else {
        rc = clients_list(desk->clients, true, arena, &lanes.clients, &lanes.client_count, NULL,
                          err);
    }
    for (size_t i = 0; i < lanes.client_count && !rc; i++)
        shard_count += lanes.clients[i]->shard_count;
    response->lanes = arena_array(arena, shard_count * LANE_COUNT + 1, sizeof(response->lanes[0]));
    if (!rc)
        rc = store_read(desk->store, read_lanes, &lanes, err);
    for (size_t i = 0; i < lanes.client_count; i++)
        client_unref(lanes.clients[i]);
    return rc;
}

/* --- failed documents --- */

static void fill(const struct failed_element *element, const char *client, struct arena *arena,
                 Torg__V1__FailedDocument *told)
{
    told->client = arena_strdup(arena, client);
    told->shard = element->shard;
    told->pk = arena_text(arena, element->pk);
    told->epoch = element->order.epoch;
    told->version = element->order.version;
    told->modify_timestamp = moment_or_none(element->order.modify_us, arena);
    told->attempt_count = (int32_t)element->attempt_count;
    told->first_time = moment_or_none(element->first_us, arena);
    told->next_time = moment_or_none(element->next_us, arena);
    told->is_parked = element->next_us == 0;
    told->reason = arena_text(arena, element->reason);
}

struct listing {
    int64_t client_id;
    struct failed_filter filter;
    size_t max;
    struct arena *arena;
    struct failed_element *elements;
    size_t count;
};

static int list_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;

    return failed_list(tx, listing->client_id, &listing->filter, listing->max, listing->arena,
                       &listing->elements, &listing->count, err);
}

/* "SHARD:PK" of the last that was shown. */
static bool read_token(const char *token, struct failed_filter *filter)
{
    const char *colon = strchr(token, ':');
    uint64_t shard;

    if (!*token)
        return true;
    if (!colon || !colon[1] || !text_to_u64(bytes_make(token, (size_t)(colon - token)), &shard) ||
        shard > UINT32_MAX)
        return false;
    filter->after_shard = (uint32_t)shard;
    filter->after_pk = bytes_of(colon + 1);
    return true;
}

int queue_desk_list(const struct queue_desk *desk, const char *client,
                    const Torg__V1__ListFailedRequest *request, struct arena *arena,
                    Torg__V1__ListFailedResponse *response, struct err *err)
{
    size_t max = request->page_size ? (size_t)request->page_size : FAILED_PAGE_COUNT;
    struct listing listing = {.filter = {.shard = -1,
                                         .parked_only = request->parked_only,
                                         .pk_prefix = bytes_of(request->pk_prefix),
                                         .reason_part = bytes_of(request->reason)},
                              .max = max + 1, /* whether there is another page */
                              .arena = arena};
    const struct client_view *view;
    int rc;

    assert(desk->store && desk->clients && desk->clock);
    if (request->page_size < 0 || request->page_size > FAILED_PAGE_COUNT_MAX)
        return err_set(err, ERR_INVALID, "page_size: expected 0 to %d", FAILED_PAGE_COUNT_MAX);
    if (!read_token(request->page_token, &listing.filter))
        return err_set(err, ERR_INVALID, "page_token: expected next_page_token of another answer");
    rc = clients_find(desk->clients, client, false, &view, err);
    if (rc)
        return rc;
    listing.client_id = view->id;
    client_unref(view);
    rc = store_read(desk->store, list_tx, &listing, err);
    response->documents = arena_array(arena, max + 1, sizeof(response->documents[0]));
    for (size_t i = 0; i < listing.count && i < max && !rc; i++) {
        response->documents[i] = MESSAGE_NEW(failed_document, arena);
        fill(&listing.elements[i], client, arena, response->documents[i]);
        response->n_documents++;
    }
    if (!rc && listing.count > max)
        response->next_page_token =
            arena_printf(arena, "%" PRIu32 ":%.*s", listing.elements[max - 1].shard,
                         BYTES_ARG(listing.elements[max - 1].pk));
    return rc;
}

/* --- one of them --- */

struct finding {
    int64_t client_id;
    uint32_t shard;
    struct bytes pk;
    struct arena *arena;
    struct failed_element element;
    struct row row;
    bool is_found, has_row;
};

static int refuse_missing(const char *client, struct bytes pk, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND,
                   "no document %.*s of client %s has failed; torg queue list shows those that "
                   "have",
                   BYTES_ARG(pk), client);
}

static int find_place(const struct queue_desk *desk, const char *client, const char *pk,
                      struct arena *arena, struct finding *finding, struct err *err)
{
    const struct client_view *view;
    int rc;

    *finding = (struct finding){.pk = bytes_of(pk), .arena = arena};
    if (!*pk || strlen(pk) > DOCUMENT_PK_SIZE_MAX)
        return err_set(err, ERR_INVALID, "pk: expected 1 to %d bytes", DOCUMENT_PK_SIZE_MAX);
    rc = clients_find(desk->clients, client, false, &view, err);
    if (rc)
        return rc;
    finding->client_id = view->id;
    finding->shard = number_key_shard(number_key_hash(finding->pk), view->shard_count);
    client_unref(view);
    return 0;
}

static int find_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct finding *finding = arg;
    int rc = failed_find(tx, finding->client_id, finding->shard, finding->pk, finding->arena,
                         &finding->element, &finding->is_found, err);

    if (!rc && finding->is_found)
        rc = row_find(tx, finding->client_id, finding->pk, true, finding->arena, &finding->row,
                      &finding->has_row, err);
    return rc;
}

int queue_desk_get(const struct queue_desk *desk, const char *client, const char *pk,
                   struct arena *arena, Torg__V1__FailedDocument *response, struct err *err)
{
    struct finding finding;
    struct err unreadable;
    int rc = find_place(desk, client, pk, arena, &finding, err);

    assert(desk->store && desk->clients && desk->clock);
    if (!rc)
        rc = store_read(desk->store, find_tx, &finding, err);
    if (!rc && !finding.is_found)
        rc = refuse_missing(client, finding.pk, err);
    if (rc)
        return rc;
    fill(&finding.element, client, arena, response);
    /* a damaged one is why it failed, and no reason to tell nothing */
    if (finding.has_row)
        (void)row_unpack(desk->dictionaries, finding.client_id, &finding.row, arena,
                         &response->document, &unreadable);
    return 0;
}

/* --- what changes them --- */

struct acting {
    struct finding finding;
    struct audit_entry entry;
    bool all;
    int64_t now_us;
    int64_t count;
};

static int replay_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct acting *acting = arg;
    const struct finding *finding = &acting->finding;
    int rc;

    acting->count = 0;
    rc = failed_replay(tx, finding->client_id, finding->shard,
                       acting->all ? BYTES_EMPTY : finding->pk, acting->now_us, FAILED_REPLAY_COUNT,
                       &acting->count, err);
    if (!rc && acting->count)
        rc = audit_add(tx, &acting->entry, err);
    return rc;
}

static struct audit_entry entry_of(const struct queue_desk *desk, const char *client,
                                   const char *principal, const char *action, const char *pk,
                                   struct arena *arena)
{
    return (struct audit_entry){.at_us = clock_wall_us(desk->clock),
                                .principal = principal,
                                .action = action,
                                .target = arena_printf(arena, "%s/%s", client, pk),
                                .detail = ""};
}

int queue_desk_replay(const struct queue_desk *desk, const char *client, const char *principal,
                      const Torg__V1__ReplayFailedRequest *request, int64_t *count, struct err *err)
{
    struct arena *arena = arena_new();
    struct acting acting = {.all = request->all, .now_us = clock_wall_us(desk->clock)};
    int rc = 0;

    assert(desk->store && desk->clients && desk->clock);
    *count = 0;
    if (request->all == (*request->pk != 0))
        rc = err_set(err, ERR_INVALID, "pk: say which one, or all, not both");
    if (!rc) /* of all, any key will do to find the client */
        rc =
            find_place(desk, client, request->all ? "*" : request->pk, arena, &acting.finding, err);
    acting.entry =
        entry_of(desk, client, principal, "queue.replay", request->all ? "*" : request->pk, arena);
    do { /* those replayed are due and are not counted again */
        if (!rc)
            rc = store_write(desk->store, replay_tx, &acting, err);
        if (!rc && acting.count)
            audit_log(&acting.entry);
        *count += rc ? 0 : acting.count;
    } while (!rc && acting.all && acting.count == FAILED_REPLAY_COUNT);
    if (!rc && !request->all && !*count)
        rc = refuse_missing(client, acting.finding.pk, err);
    arena_free(arena);
    return rc;
}

static int drop_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct acting *acting = arg;
    struct finding *finding = &acting->finding;
    int rc = find_tx(tx, finding, err);

    if (rc || !finding->is_found)
        return rc;
    rc = failed_remove(tx, finding->client_id, finding->shard, &finding->pk, 1, NULL, err);
    if (!rc)
        rc = audit_add(tx, &acting->entry, err);
    return rc;
}

int queue_desk_drop(const struct queue_desk *desk, const char *client, const char *principal,
                    const char *pk, struct arena *arena, Torg__V1__FailedDocument *response,
                    struct err *err)
{
    struct acting acting = {0};
    int rc = find_place(desk, client, pk, arena, &acting.finding, err);

    assert(desk->store && desk->clients && desk->clock);
    if (rc)
        return rc;
    acting.entry = entry_of(desk, client, principal, "queue.drop", pk, arena);
    rc = store_write(desk->store, drop_tx, &acting, err);
    if (!rc && !acting.finding.is_found)
        rc = refuse_missing(client, acting.finding.pk, err);
    if (rc)
        return rc;
    audit_log(&acting.entry);
    fill(&acting.finding.element, client, arena, response);
    return 0;
}
