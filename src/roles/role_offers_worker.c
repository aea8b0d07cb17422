/* SPDX-License-Identifier: Apache-2.0 */
/* role_offers_worker.c - the role offers-worker: export of changes, moderators' opinions, expiry.
 */
#include "offers/opinions.h"
#include "offers/worker.h"
#include "roles/process.h"

/* One a process. */
static struct offers offers;
static struct offers_worker *worker;
static struct opinions *opinions;

static struct catalog *catalog_in_use(void *arg)
{
    return catalog_holder_ref(arg);
}

int role_offers_worker_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    offers = (struct offers){
        .store = process->backends.store,
        .clock = process->clock,
        .catalog = catalog_in_use,
        .catalog_arg = process->catalog,
        .visitor_draft_life_us = config_number(process->config, SETTING_OFFERS_VISITOR_DRAFT_LIFE),
        .seller_draft_life_us = config_number(process->config, SETTING_OFFERS_SELLER_DRAFT_LIFE)};
    rc = opinions_start(&offers, process->backends.topics, &opinions, err);
    if (!rc)
        rc = offers_worker_start(&offers, process->backends.topics, process->backends.coord,
                                 &worker, err);
    if (rc)
        role_offers_worker_stop(process); /* a role that did not start is not stopped by others */
    return rc;
}

void role_offers_worker_stop(struct process *process)
{
    (void)process;
    offers_worker_stop(worker);
    opinions_stop(opinions);
    worker = NULL;
    opinions = NULL;
}
