/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_operator.c - who moves the category of all offers, by another catalogue now and then: its
 * documents are composed anew, by whichever machine has that work. See cluster.h.
 *
 * What of it has happened is for the store to say: the judge looks there.
 */
#include <inttypes.h>

#include "catalog/versions.h"
#include "sim/cluster.h"

/* Of so many steps he does something in one. */
enum { IDLE_SHARE = 12, EPOCH_IDLE_SHARE = 4 };

struct applying {
    struct request base;
    const struct catalog *catalog;
    int64_t version;
};

static void run_applying(struct stages *stages, struct request *base)
{
    struct applying *applying = (struct applying *)base;
    int64_t current = 0;

    base->rc = versions_current(stages->store, &current, &base->err);
    if (!base->rc)
        base->rc = versions_add(stages->store, applying->catalog, current, "olga",
                                clock_wall_us(stages->clock), &applying->version, &base->err);
}

void operator_step(struct actor *actor)
{
    struct machine *machine = &actor->cluster->machines[rng_below(&actor->rng, BACK_COUNT)];
    unsigned which = (unsigned)rng_below(&actor->rng, CATALOG_COUNT);
    struct applying *applying;
    int rc;

    if (actor->cluster->seed % EPOCHS_SHARE == 4 && !rng_below(&actor->rng, EPOCH_IDLE_SHARE)) {
        epochs_step(actor);
        return;
    }
    if (rng_below(&actor->rng, IDLE_SHARE))
        return;
    applying = request_new(sizeof(*applying), run_applying);
    applying->catalog = actor->cluster->catalogs[which];
    rc = machine_ask(machine, &applying->base, ASK_MS * MS_US);
    cluster_note("the operator: catalogue %u by %s: %s, version %" PRId64, which, machine->name,
                 rc ? err_name(rc) : "in use", rc ? 0 : applying->version);
    request_free(&applying->base);
}
