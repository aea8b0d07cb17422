/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_epochs.c - who moves the offers to other epochs: begins one, gives it up, switches to it,
 * goes back, by whichever machine he is given. See cluster.h.
 *
 * What he asks for may be impossible just now, and what nobody has answered may have happened: the
 * judge looks at the epoch that the store says is served.
 */
#include "codec/message.h"
#include "model/offer_fields.h"
#include "registry/clients/epoch_desk.h"
#include "sim/cluster.h"

enum deed { DEED_START, DEED_SWITCH, DEED_BACK, DEED_ABANDON, DEED_COUNT };
static const char *const deed_names[] = {"begins one", "switches", "goes back", "gives it up"};

struct moving {
    struct request base;
    enum deed deed;
};

static void run_moving(struct stages *stages, struct request *base)
{
    const struct epoch_desk desk = {.store = stages->store,
                                    .clients = stages->clients,
                                    .dictionaries = stages->dictionaries,
                                    .topics = stages->topics,
                                    .coord = stages->coord,
                                    .clock = stages->clock};
    struct violations reasons = violations_in(base->arena);
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;

    switch (((struct moving *)base)->deed) {
    case DEED_START:
        base->rc = epoch_desk_start(&desk, OFFER_CLIENT, "olga",
                                    MESSAGE_NEW(start_epoch_request, base->arena), &reasons,
                                    &status, &base->err);
        break;
    case DEED_SWITCH:
        base->rc = epoch_desk_switch(&desk, OFFER_CLIENT, "olga",
                                     MESSAGE_NEW(switch_epoch_request, base->arena), base->arena,
                                     &status, &base->err);
        break;
    case DEED_BACK:
        base->rc = epoch_desk_rollback(&desk, OFFER_CLIENT, "olga",
                                       MESSAGE_NEW(rollback_epoch_request, base->arena),
                                       base->arena, &status, &base->err);
        break;
    default:
        base->rc = epoch_desk_abandon(&desk, OFFER_CLIENT, "olga",
                                      MESSAGE_NEW(abandon_epoch_request, base->arena), base->arena,
                                      &status, &base->err);
    }
}

void epochs_step(struct actor *actor)
{
    static const enum deed deeds[] = {DEED_START,  DEED_START,  DEED_START, DEED_SWITCH,
                                      DEED_SWITCH, DEED_SWITCH, DEED_BACK,  DEED_ABANDON};
    struct machine *machine = &actor->cluster->machines[rng_below(&actor->rng, BACK_COUNT)];
    struct moving *moving = request_new(sizeof(*moving), run_moving);
    enum deed deed = deeds[rng_below(&actor->rng, sizeof(deeds) / sizeof(deeds[0]))];
    int rc;

    moving->deed = deed;
    rc = machine_ask(machine, &moving->base, ASK_MS * MS_US);
    cluster_note("epochs: the operator %s by %s: %s", deed_names[deed], machine->name,
                 !rc                    ? "done"
                 : moving->base.is_done ? moving->base.err.text
                                        : err_name(rc));
    if (rc && rc != ERR_UNAVAILABLE && rc != ERR_TIMEOUT && rc != ERR_CONFLICT &&
        rc != ERR_PRECONDITION && rc != ERR_NOT_FOUND && rc != ERR_LIMIT)
        cluster_fail("the operator %s: %s", deed_names[deed], moving->base.err.text);
    request_free(&moving->base);
}
