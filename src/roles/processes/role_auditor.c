/* SPDX-License-Identifier: Apache-2.0 */
/* role_auditor.c - the role auditor: compares stages all the time, and repairs what differs. */
#include "inspect/audit/auditor.h"
#include "inspect/doors/searcher_door.h"
#include "roles/processes/peer_settings.h"
#include "roles/processes/process.h"

/* One a process. */
static struct inspect inspect;
static struct peers *searchers;
static struct auditor *auditor;

/* Of a process without the role searcher, whose it would be. */
static int open_inspect(struct process *process, struct err *err)
{
    int rc = process_open_registry(process, err);

    if (!rc)
        rc = process_open_catalog(process, err);
    if (!rc)
        rc = peer_settings_open(process, SETTING_SEARCH_SEARCHERS, SETTING_SEARCH_SEARCHERS_KEY,
                                &searchers, err);
    if (!rc && !searchers)
        rc = err_set(err, ERR_PRECONDITION,
                     "the role auditor has no searcher to compare with: name those of other "
                     "processes in search.searchers, or add the role searcher before it");
    if (rc)
        return rc;
    inspect = (struct inspect){.store = process->backends.store,
                               .clients = process->clients,
                               .dictionaries = process->dictionaries,
                               .clock = process->clock,
                               .door = peers_door(searchers),
                               .topics = process->backends.topics,
                               .catalog = catalog_in_use,
                               .catalog_arg = process->catalog};
    return 0;
}

int role_auditor_start(struct process *process, struct err *err)
{
    struct auditor_options options = {.inspect = process->inspect,
                                      .coord = process->backends.coord,
                                      .rate = config_number(process->config, SETTING_AUDITOR_RATE),
                                      .pause_us =
                                          config_number(process->config, SETTING_AUDITOR_PAUSE)};
    int rc = 0;

    if (!options.rate)
        return 0;
    if (!options.inspect) {
        rc = open_inspect(process, err);
        options.inspect = &inspect;
    }
    return rc ? rc : auditor_start(&options, &auditor, err);
}

void role_auditor_stop(struct process *process)
{
    (void)process;
    auditor_stop(auditor);
    peers_close(searchers);
    auditor = NULL;
    searchers = NULL;
}
