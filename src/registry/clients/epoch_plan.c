/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch_plan.c - which stored documents would not fit a schema: see epoch_desk.h.
 *
 * Documents are read page by page in order of their hashes, each page a transaction of its own, and
 * checked outside of it with what pouring would do. A call looks at PLAN_COUNT of them; where it
 * ends is the token of the next.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/message.h"
#include "registry/bounds.h"
#include "registry/clients/convert.h"
#include "registry/clients/epoch_desk.h"
#include "registry/clients/epoch_schema.h"

struct planning {
    const struct epoch_desk *desk;
    const struct client_view *client;
    const struct epoch_view *epoch;
    struct arena *arena; /* of the answer */
    Torg__V1__PlanEpochResponse *response;
    int64_t after; /* hash */
    struct arena *page_arena;
    struct row *rows;
    size_t row_count;
};

static int read_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct planning *planning = arg;

    return rows_scan(tx, planning->client->id, planning->after, INT64_MAX, PLAN_PAGE_COUNT, true,
                     planning->page_arena, &planning->rows, &planning->row_count, err);
}

static Torg__V1__EpochRefusal *find_refusal(struct planning *planning, const char *reason)
{
    Torg__V1__PlanEpochResponse *response = planning->response;
    Torg__V1__EpochRefusal *made;

    for (size_t i = 0; i < response->n_refusals; i++)
        if (strcmp(response->refusals[i]->reason, reason) == 0)
            return response->refusals[i];
    if (response->n_refusals == PLAN_REASON_COUNT_MAX)
        return NULL;
    made = MESSAGE_NEW(epoch_refusal, planning->arena);
    made->reason = arena_strdup(planning->arena, reason);
    made->sample_pks = arena_array(planning->arena, PLAN_SAMPLE_COUNT, sizeof(char *));
    response->refusals[response->n_refusals++] = made;
    return made;
}

static void refuse(struct planning *planning, const struct row *row, const char *reason)
{
    Torg__V1__EpochRefusal *refusal = find_refusal(planning, reason);

    planning->response->refused_count++;
    if (!refusal) /* there are as many different ones as are told */
        return;
    refusal->count++;
    if (refusal->n_sample_pks < PLAN_SAMPLE_COUNT)
        refusal->sample_pks[refusal->n_sample_pks++] = arena_text(planning->arena, row->pk);
}

static int check_row(struct planning *planning, const struct row *row, struct err *err)
{
    struct arena_mark mark = arena_mark(planning->page_arena);
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
    struct err why = {0};
    int rc = row_unpack(planning->desk->dictionaries, planning->client->id, row,
                        planning->page_arena, &document, &why);

    if (!rc)
        rc = convert_document(document, planning->epoch, planning->page_arena, &converted, &why);
    arena_rewind(planning->page_arena, mark);
    if (rc && !row_is_at_fault(rc))
        return err_set(err, rc, "%s", why.text);
    planning->response->checked_count++;
    if (rc)
        refuse(planning, row, why.text);
    return 0;
}

/* *is_over: there are no more behind it. */
static int check_page(struct planning *planning, bool *is_over, struct err *err)
{
    int rc;

    arena_reset(planning->page_arena);
    rc = store_read(planning->desk->store, read_page, planning, err);
    for (size_t i = 0; i < planning->row_count && !rc; i++) {
        planning->after = planning->rows[i].hash;
        if (planning->rows[i].status == ROW_ALIVE)
            rc = check_row(planning, &planning->rows[i], err);
    }
    *is_over = planning->row_count < PLAN_PAGE_COUNT;
    return rc;
}

static int compare_counts(const void *left, const void *right)
{
    const Torg__V1__EpochRefusal *a = *(Torg__V1__EpochRefusal *const *)left;
    const Torg__V1__EpochRefusal *b = *(Torg__V1__EpochRefusal *const *)right;

    return (a->count < b->count) - (a->count > b->count);
}

static int check_part(struct planning *planning, struct err *err)
{
    Torg__V1__PlanEpochResponse *response = planning->response;
    bool is_over = false;
    size_t looked_at = 0;
    int rc = 0;

    response->refusals =
        arena_array(planning->arena, PLAN_REASON_COUNT_MAX, sizeof(Torg__V1__EpochRefusal *));
    for (; looked_at < PLAN_COUNT && !is_over && !rc; looked_at += planning->row_count + 1)
        rc = check_page(planning, &is_over, err);
    if (response->n_refusals > 1)
        qsort(response->refusals, response->n_refusals, sizeof(response->refusals[0]),
              compare_counts);
    response->next_page_token =
        is_over ? "" : arena_printf(planning->arena, "%" PRId64, planning->after);
    response->done_percent =
        is_over ? 100 : (uint32_t)((((uint64_t)planning->after ^ (1ULL << 63)) >> 32) * 100 >> 32);
    return rc;
}

int epoch_desk_plan(const struct epoch_desk *desk, const char *client,
                    const Torg__V1__PlanEpochRequest *request, struct violations *reasons,
                    Torg__V1__PlanEpochResponse *response, struct err *err)
{
    struct planning planning = {
        .desk = desk, .arena = reasons->arena, .response = response, .after = INT64_MIN};
    struct epoch_proposal proposal;
    int rc;

    assert(desk->store && desk->clients && desk->clock);
    if (*request->page_token && !text_to_i64(bytes_of(request->page_token), &planning.after))
        return err_set(err, ERR_INVALID, "pageToken: is not one that an earlier answer gave");
    if (request->epoch && request->n_fields)
        return err_set(err, ERR_INVALID,
                       "fields: leave them out with an epoch, which has its own schema");
    rc = clients_find(desk->clients, client, true, &planning.client, err);
    if (rc)
        return rc;
    planning.page_arena = arena_new();
    if (request->epoch) {
        planning.epoch = client_epoch(planning.client, request->epoch);
    } else {
        rc = epoch_propose(planning.client, request->fields, request->n_fields, reasons, &proposal,
                           err);
        planning.epoch = &proposal.view;
    }
    if (!planning.epoch)
        rc = err_set(err, ERR_NOT_FOUND, "epoch: client %s has none of the number %" PRId64,
                     planning.client->name, request->epoch);
    if (!rc)
        rc = check_part(&planning, err);
    arena_free(planning.page_arena);
    client_unref(planning.client);
    return rc;
}
