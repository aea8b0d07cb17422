/* SPDX-License-Identifier: Apache-2.0 */
/* role_offers.c - the role offers: sellers' offers, drafts, cabinets and feeds. */
#include "base/memory.h"
#include "feeds/service.h"
#include "offers/service.h"
#include "roles/processes/feed_settings.h"
#include "roles/processes/process.h"

/* One a process; the server borrows them for its life. */
static struct offers offers;
static struct contacts contacts;
static struct feed_rules feed_rules;
static struct rpc_service services[8];

int role_offers_start(struct process *process, struct err *err)
{
    size_t count = ARRAY_COUNT(services) - 1;
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    feed_rules = feed_settings(process->config);
    offers = (struct offers){.store = process->backends.store,
                             .clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog,
                             .bell = &process->bell,
                             .feed_rules = &feed_rules};
    services[0] = offer_service(&offers);
    services[1] = draft_service(&offers);
    services[2] = cabinet_service(&offers);
    services[3] = moderation_service(&offers);
    services[4] = stage_service(&offers);
    services[5] = counters_service(&offers);
    services[6] = feed_service(&offers);
    contacts.offers = &offers;
    contacts.topics = process->backends.topics;
    contact_limit_init(&contacts.limit,
                       config_number(process->config, SETTING_OFFERS_CONTACTS_PER_HOUR));
    if (contacts.topics) /* a command that works on the directory has none, and buyers neither */
        services[count++] = contact_service(&contacts);
    process_add_services(process, services, count);
    return 0;
}

void role_offers_stop(struct process *process)
{
    (void)process; /* it has no threads: its calls ended with the server's */
    contact_limit_release(&contacts.limit);
}
