/* SPDX-License-Identifier: Apache-2.0 */
/* role_offers_worker.c - the role offers-worker: export of changes, moderators' opinions, results
 * of photos, expiry. */
#include "offers/opinions.h"
#include "offers/photo_results.h"
#include "offers/worker.h"
#include "roles/process.h"

/* One a process. */
static struct offers offers;
static struct offers_worker *worker;
static struct inbox *opinions;
static struct inbox *photo_results;

static struct catalog *catalog_in_use(void *arg)
{
    return catalog_holder_ref(arg);
}

int role_offers_worker_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    offers = (struct offers){.store = process->backends.store,
                             .clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog,
                             .bell = &process->bell};
    rc = opinions_start(&offers, process->backends.topics, &opinions, err);
    if (!rc)
        rc = photo_results_start(&offers, process->backends.topics, &photo_results, err);
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
    inbox_stop(photo_results);
    inbox_stop(opinions);
    worker = NULL;
    photo_results = NULL;
    opinions = NULL;
}
