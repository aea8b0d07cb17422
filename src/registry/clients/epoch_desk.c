/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_desk.c - epochs begin, are switched to and back, or given up: see epoch_desk.h. */
#include "registry/clients/epoch_desk.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "access/audit.h"
#include "base/log.h"
#include "registry/clients/epoch_numbers.h"
#include "registry/clients/epoch_schema.h"
#include "registry/indexing/backfill.h"
#include "registry/indexing/failed.h"
#include "registry/receiving/accept.h"
#include "store/sequence.h"

#define STATE(name) TORG__V1__INDEX_MAP__EPOCH__STATE__##name

enum { ATTEMPT_COUNT_MAX = 10 };

const struct epoch_view *epoch_in(const struct client_view *client,
                                  Torg__V1__IndexMap__Epoch__State state)
{
    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (client->epochs[i].state == state)
            return &client->epochs[i];
    return NULL;
}

/* --- rows --- */

static int set_state(struct store_tx *tx, int64_t client_id, int64_t epoch,
                     Torg__V1__IndexMap__Epoch__State state, struct err *err)
{
    return store_exec(
        tx, "UPDATE registry_epoch SET state = $3 WHERE client_id = $1 AND epoch = $2",
        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch), STORE_V_INT(state)), NULL, err);
}

static int set_client(struct store_tx *tx, int64_t client_id, int64_t writing, int64_t serving,
                      struct err *err)
{
    int rc = store_exec(
        tx,
        "UPDATE registry_client SET writing_epoch = $2, serving_epoch = $3 "
        "WHERE id = $1",
        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(writing), STORE_V_INT(serving)), NULL, err);

    return rc ? rc : client_touch(tx, client_id, err);
}

/* --- one act on a client --- */

struct act {
    const struct epoch_desk *desk;
    const struct client_view *client;
    struct arena *arena;
    struct audit_entry entry;
    int64_t epoch; /* asked for, 0: none; then what it is about */
    bool force;
    bool accept_losses;
    const struct epoch_proposal *proposal;
    const Torg__V1__StartEpochRequest *start;
};

static int begin_act(struct store_tx *tx, struct act *act, struct err *err)
{
    int rc = client_confirm(tx, act->client, err);

    if (!rc) {
        act->entry.target = arena_printf(act->arena, "%s/%" PRId64, act->client->name, act->epoch);
        rc = audit_add(tx, &act->entry, err);
    }
    return rc;
}

/* Searchers learn it from coord. What is committed stays so if coord does not answer: whoever asks
 * for the epochs next tells it again. */
static int announce(const struct epoch_desk *desk, struct err *err)
{
    struct err why = {0};
    int rc = desk->coord ? clients_announce(desk->clients, desk->coord, &why) : 0;

    if (rc)
        return err_set(err, ERR_UNAVAILABLE,
                       "it is done, but searchers have not been notified yet: %s; torg epoch "
                       "status notifies them again",
                       why.text);
    return 0;
}

/* Prepares and runs the transaction, with a fresh view as often as the client changes. */
static int run_act(struct act *act, const char *client,
                   int (*prepare)(struct act *act, void *arg, struct err *err), void *arg,
                   store_fn fn, struct err *err)
{
    const struct epoch_desk *desk = act->desk;
    int64_t asked = act->epoch;
    int rc = ERR_CONFLICT;

    for (int i = 0; i < ATTEMPT_COUNT_MAX && rc == ERR_CONFLICT; i++) {
        act->epoch = asked;
        rc = clients_find(desk->clients, client, true, &act->client, err);
        if (rc)
            return rc;
        rc = prepare(act, arg, err);
        if (!rc)
            rc = store_write(desk->store, fn, act, err);
        client_unref(act->client);
        act->client = NULL;
    }
    if (rc)
        return rc;
    audit_log(&act->entry);
    return announce(desk, err);
}

static struct act act_of(const struct epoch_desk *desk, const char *principal, const char *action,
                         int64_t epoch, struct arena *arena)
{
    return (struct act){.desk = desk,
                        .arena = arena,
                        .epoch = epoch,
                        .entry = {.at_us = clock_wall_us(desk->clock),
                                  .principal = principal,
                                  .action = action,
                                  .detail = ""}};
}

/* What searchers of an epoch that is built have refused is nobody's trouble any more, but for
 * documents of its own. Those, what its pour could not send, and refusals of one that has served,
 * which may stand for others' too, are tried once more: what other epochs have is superseded or
 * sent then, and what none can have fails again, and is seen. */
static int retire_failed(struct store_tx *tx, const struct act *act, int64_t epoch, struct err *err)
{
    int64_t client_id = act->client->id;
    const struct epoch_view *view = client_epoch(act->client, epoch);
    int rc = 0;

    if (view && view->state == STATE(BUILDING))
        rc = store_exec(tx,
                        "DELETE FROM registry_failed WHERE client_id = $1 AND refused_epoch = $2 "
                        "AND epoch <> $2",
                        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch)), NULL, err);
    return rc ? rc
              : store_exec(tx,
                           "UPDATE registry_failed SET next_us = $3 WHERE client_id = $1 "
                           "AND (epoch = $2 OR refused_epoch = $2) AND next_us = 0",
                           STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch),
                                      STORE_V_INT(clock_wall_us(act->desk->clock))),
                           NULL, err);
}

/* All that is kept of the epoch but documents, which are of no epoch alone. */
static int retire(struct store_tx *tx, const struct act *act, int64_t epoch, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(act->client->id), STORE_V_INT(epoch)};
    int rc = store_exec(tx, "DELETE FROM registry_backfill WHERE client_id = $1 AND epoch = $2",
                        params, 2, NULL, err);

    if (!rc)
        rc = store_exec(tx, "DELETE FROM registry_field WHERE client_id = $1 AND epoch = $2",
                        params, 2, NULL, err);
    if (!rc)
        rc = store_exec(tx, "DELETE FROM registry_epoch WHERE client_id = $1 AND epoch = $2",
                        params, 2, NULL, err);
    return rc ? rc : retire_failed(tx, act, epoch, err);
}

/* --- start --- */

struct starting {
    const Torg__V1__StartEpochRequest *request;
    struct violations *reasons;
    struct epoch_proposal proposal;
};

static int prepare_start(struct act *act, void *arg, struct err *err)
{
    struct starting *starting = arg;
    const struct epoch_view *built = epoch_in(act->client, STATE(BUILDING));
    int rc;

    if (built)
        return err_set(err, ERR_PRECONDITION,
                       "epoch %" PRId64
                       " of client %s is being built: switch to it first, or abandon it",
                       built->epoch, act->client->name);
    rc = epoch_propose(act->client, starting->request->fields, starting->request->n_fields,
                       starting->reasons, &starting->proposal, err);
    return rc ? rc
              : epoch_check_numbers(act->client, &starting->proposal.view, starting->request, err);
}

/* Numbers of epochs are never used again: their topics may still be there. */
static int next_epoch(struct store_tx *tx, const struct client_view *client, int64_t *epoch,
                      struct err *err)
{
    char name[64];
    int rc = 0;

    snprintf(name, sizeof(name), "registry/%" PRId64 "/epochs", client->id);
    *epoch = 0;
    while (!rc && *epoch <= client->epochs[client->epoch_count - 1].epoch)
        rc = store_next_seq(tx, name, 1, epoch, err);
    return rc;
}

static int insert_epoch(struct store_tx *tx, const struct act *act, struct err *err)
{
    struct numbering numbering;
    int rc = epoch_choose_numbers(tx, act->client, act->start, &numbering, err);

    if (!rc)
        rc = store_exec(tx,
                        "INSERT INTO registry_epoch (client_id, epoch, state, started_us, space, "
                        "shard_count, rebuild, numbered_by, is_ascending) "
                        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                        STORE_WITH(STORE_V_INT(act->client->id), STORE_V_INT(act->epoch),
                                   STORE_V_INT(STATE(BUILDING)), STORE_V_INT(act->entry.at_us),
                                   STORE_V_INT(numbering.space), STORE_V_INT(numbering.scheme),
                                   STORE_V_INT(numbering.rebuild),
                                   STORE_V_STRING(act->start->renumber_by),
                                   STORE_V_INT(act->start->renumber_ascending)),
                        NULL, err);

    for (uint32_t i = 0; i < act->proposal->fields.count && !rc; i++) {
        struct new_field field = act->proposal->fields.list[i];

        field.epoch = act->epoch;
        rc = schema_insert(tx, act->client->id, &field, act->arena, err);
    }
    return rc ? rc
              : backfill_begin(tx, act->client, act->epoch, numbering.scheme,
                               *act->start->renumber_by != '\0', err);
}

static int start_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct act *act = arg;
    const struct epoch_view *kept = epoch_in(act->client, STATE(KEPT));
    int rc = next_epoch(tx, act->client, &act->epoch, err);

    if (!rc)
        rc = begin_act(tx, act, err);
    if (!rc)
        rc = insert_epoch(tx, act, err);
    /* after a way back the kept one is what writers are in: it stays */
    if (!rc && kept && kept->epoch != act->client->writing_epoch)
        rc = retire(tx, act, kept->epoch, err);
    return rc ? rc : client_touch(tx, act->client->id, err);
}

int epoch_desk_start(const struct epoch_desk *desk, const char *client, const char *principal,
                     const Torg__V1__StartEpochRequest *request, struct violations *reasons,
                     Torg__V1__EpochStatus *status, struct err *err)
{
    struct starting starting = {.request = request, .reasons = reasons};
    struct act act = act_of(desk, principal, "epoch.start", 0, reasons->arena);
    int rc;

    assert(desk->store && desk->clients && desk->clock);
    act.proposal = &starting.proposal;
    act.start = request;
    rc = run_act(&act, client, prepare_start, &starting, start_tx, err);
    return rc ? rc : epoch_desk_status(desk, client, reasons->arena, status, err);
}

/* --- switch --- */

/* It is about the one that is built. */
static int prepare_built(struct act *act, void *arg, struct err *err)
{
    const struct epoch_view *built = epoch_in(act->client, STATE(BUILDING));

    (void)arg;
    if (!built)
        return err_set(err, ERR_PRECONDITION,
                       "client %s has no epoch that is built: it is served by epoch %" PRId64
                       ", torg epoch start begins the next",
                       act->client->name, act->client->serving_epoch);
    if (act->epoch && act->epoch != built->epoch)
        return err_set(err, ERR_PRECONDITION,
                       "epoch: %" PRId64 " was asked for, and %" PRId64 " is built", act->epoch,
                       built->epoch);
    act->epoch = built->epoch;
    return 0;
}

static int refuse_lacks(const struct act *act, char **lacks, size_t count, struct err *err)
{
    if (!count)
        return 0;
    return err_set(err, ERR_PRECONDITION,
                   "epoch %" PRId64 " is not complete: %s%s; wait, or force it", act->epoch,
                   lacks[0],
                   count > 1 ? arena_printf(act->arena, ", and %zu more", count - 1) : "");
}

/* Searchers are asked outside of the transaction. */
static int prepare_switch(struct act *act, void *arg, struct err *err)
{
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    int rc = prepare_built(act, arg, err);

    if (rc || act->force)
        return rc;
    rc = epoch_desk_status(act->desk, act->client->name, act->arena, &status, err);
    return rc ? rc : refuse_lacks(act, status.waits_for, status.n_waits_for, err);
}

static int check_lacks(struct store_tx *tx, struct act *act, struct err *err)
{
    struct epoch_lacks lacks = {.arena = act->arena};
    int rc = epoch_find_lacks(tx, act->client, act->epoch, &lacks, err);

    return rc ? rc : refuse_lacks(act, lacks.list, lacks.count, err);
}

/* What is written before a shard is numbered comes to the epoch with its pour alone, which ends
 * when the epoch is built no more: who went there before would lose writes, and no force is meant
 * to do that. */
static int check_numbered(struct store_tx *tx, const struct act *act, struct err *err)
{
    const struct epoch_view *epoch = client_epoch(act->client, act->epoch);
    int64_t shard = -1;
    int rc = 0;

    if (*epoch->number_by)
        rc = backfill_find_unpoured(tx, act->client->id, act->epoch, &shard, err);
    if (rc || shard < 0)
        return rc;
    return err_set(err, ERR_PRECONDITION,
                   "epoch %" PRId64 " is numbered by %s, and shard %" PRId64
                   " has not all its documents yet: writes that come with them would be lost; "
                   "wait, or abandon it; it cannot be forced",
                   act->epoch, epoch->number_by, shard);
}

/* Who is moved to an epoch does not find what does not fit it: that is to be known, not met. */
static int check_losses(struct store_tx *tx, struct act *act, struct err *err)
{
    const struct client_view *client = act->client;
    uint32_t shard_count = client_numbering(client, client_epoch(client, act->epoch))->scheme;
    int64_t count;
    int rc = failed_count(tx, client->id, act->epoch, &count, err);

    for (uint32_t shard = 0; shard < shard_count && !rc; shard++) {
        struct backfill backfill;
        bool found;

        rc = backfill_find(tx, act->client->id, act->epoch, shard, &backfill, &found, err);
        count += backfill.refused_count + backfill.late_count;
    }
    if (rc || !count)
        return rc;
    act->entry.detail = arena_printf(act->arena, "%saccepted losses: %" PRId64,
                                     act->force ? "forced, " : "", count);
    if (act->accept_losses)
        return 0;
    return err_set(err, ERR_PRECONDITION,
                   "%" PRId64 " documents or writes did not fit epoch %" PRId64
                   " and would not be found in it: PlanEpoch with this epoch and ListFailed show "
                   "which; send them in a form that fits, or set accept_losses",
                   count, act->epoch);
}

/* What searchers of the epoch that is left have refused may be refused by those of the other, too,
 * which was not kept (refusal_inbox.c): it is sent once more, so that whoever serves now says so.
 */
static int retry_refused(struct store_tx *tx, const struct act *act, int64_t epoch, struct err *err)
{
    return store_exec(
        tx,
        "UPDATE registry_failed SET next_us = $3 WHERE client_id = $1 AND "
        "refused_epoch = $2 AND next_us = 0",
        STORE_WITH(STORE_V_INT(act->client->id), STORE_V_INT(epoch), STORE_V_INT(act->entry.at_us)),
        NULL, err);
}

static int switch_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct act *act = arg;
    const struct client_view *client = act->client;
    int rc = check_losses(tx, act, err);

    if (!rc)
        rc = begin_act(tx, act, err);
    if (!rc && !act->force)
        rc = check_lacks(tx, act, err);
    if (!rc)
        rc = check_numbered(tx, act, err);
    for (uint32_t i = 0; i < client->epoch_count && !rc; i++) {
        int64_t epoch = client->epochs[i].epoch;

        if (epoch == act->epoch)
            rc = set_state(tx, client->id, epoch, STATE(SERVING), err);
        else if (epoch == client->serving_epoch)
            rc = set_state(tx, client->id, epoch, STATE(KEPT), err);
        else
            rc = retire(tx, act, epoch, err);
    }
    if (!rc)
        rc = retry_refused(tx, act, client->serving_epoch, err);
    return rc ? rc : set_client(tx, client->id, act->epoch, act->epoch, err);
}

int epoch_desk_switch(const struct epoch_desk *desk, const char *client, const char *principal,
                      const Torg__V1__SwitchEpochRequest *request, struct arena *arena,
                      Torg__V1__EpochStatus *status, struct err *err)
{
    struct act act = act_of(desk, principal, "epoch.switch", request->epoch, arena);
    int rc;

    assert(desk->store && desk->clients && desk->clock);
    act.force = request->force;
    act.accept_losses = request->accept_losses;
    act.entry.detail = request->force ? "forced" : "";
    rc = run_act(&act, client, prepare_switch, NULL, switch_tx, err);
    return rc ? rc : epoch_desk_status(desk, client, arena, status, err);
}

/* --- the way back --- */

static int prepare_rollback(struct act *act, void *arg, struct err *err)
{
    const struct epoch_view *kept = epoch_in(act->client, STATE(KEPT));

    (void)arg;
    if (!kept)
        return err_set(err, ERR_PRECONDITION,
                       "client %s has no epoch to go back to: only %" PRId64 " has its documents",
                       act->client->name, act->client->serving_epoch);
    if (act->epoch && act->epoch != kept->epoch)
        return err_set(err, ERR_PRECONDITION,
                       "epoch: %" PRId64 " was asked for, and %" PRId64 " is kept", act->epoch,
                       kept->epoch);
    act->epoch = kept->epoch;
    return 0;
}

static int rollback_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct act *act = arg;
    const struct client_view *client = act->client;
    int rc = check_losses(tx, act, err);

    if (!rc)
        rc = begin_act(tx, act, err);
    if (!rc)
        rc = set_state(tx, client->id, client->serving_epoch, STATE(KEPT), err);
    if (!rc)
        rc = set_state(tx, client->id, act->epoch, STATE(SERVING), err);
    if (!rc)
        rc = retry_refused(tx, act, client->serving_epoch, err);
    return rc ? rc : set_client(tx, client->id, client->writing_epoch, act->epoch, err);
}

int epoch_desk_rollback(const struct epoch_desk *desk, const char *client, const char *principal,
                        const Torg__V1__RollbackEpochRequest *request, struct arena *arena,
                        Torg__V1__EpochStatus *status, struct err *err)
{
    struct act act = act_of(desk, principal, "epoch.rollback", request->epoch, arena);
    int rc;

    assert(desk->store && desk->clients && desk->clock);
    act.accept_losses = request->accept_losses;
    rc = run_act(&act, client, prepare_rollback, NULL, rollback_tx, err);
    return rc ? rc : epoch_desk_status(desk, client, arena, status, err);
}

/* --- giving up --- */

static int abandon_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct act *act = arg;
    int rc = begin_act(tx, act, err);

    if (!rc)
        rc = retire(tx, act, act->epoch, err);
    return rc ? rc : client_touch(tx, act->client->id, err);
}

int epoch_desk_abandon(const struct epoch_desk *desk, const char *client, const char *principal,
                       const Torg__V1__AbandonEpochRequest *request, struct arena *arena,
                       Torg__V1__EpochStatus *status, struct err *err)
{
    struct act act = act_of(desk, principal, "epoch.abandon", request->epoch, arena);
    int rc = run_act(&act, client, prepare_built, NULL, abandon_tx, err);

    assert(desk->store && desk->clients && desk->clock);
    return rc ? rc : epoch_desk_status(desk, client, arena, status, err);
}

/* The one that is kept; not while writers are in it, as after a way back. */
static int prepare_drop(struct act *act, void *arg, struct err *err)
{
    int rc = prepare_rollback(act, arg, err);

    if (!rc && act->epoch == act->client->writing_epoch)
        rc = err_set(err, ERR_PRECONDITION,
                     "epoch %" PRId64
                     " is written, though searches have gone back from it: torg epoch rollback is "
                     "the way forward to it",
                     act->epoch);
    return rc;
}

int epoch_desk_drop(const struct epoch_desk *desk, const char *client, const char *principal,
                    const Torg__V1__DropEpochRequest *request, struct arena *arena,
                    Torg__V1__EpochStatus *status, struct err *err)
{
    struct act act = act_of(desk, principal, "epoch.drop", request->epoch, arena);
    int rc = run_act(&act, client, prepare_drop, NULL, abandon_tx, err);

    assert(desk->store && desk->clients && desk->clock);
    return rc ? rc : epoch_desk_status(desk, client, arena, status, err);
}
