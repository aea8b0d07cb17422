/* SPDX-License-Identifier: Apache-2.0 */
/* role_snippets.c - the role snippets: what is kept beside the index, put and got by name and
 * key. */
#include "roles/processes/process.h"
#include "snippets/intake/intake.h"
#include "snippets/requests/snippets.h"
#include "snippets/service.h"

/* One a process; the server borrows them for its life. */
static struct rpc_service service;
static struct rest_service resources;
static struct snippet_intake *intake; /* NULL: a command's own, which reads no topics */

int process_open_snippets(struct process *process, struct err *err)
{
    const struct snippets_options options = {
        .config_path = config_text(process->config, SETTING_SNIPPETS_CONFIG),
        .prefixes_path = config_text(process->config, SETTING_SNIPPETS_PREFIXES),
        .allots = config_number(process->config, SETTING_SNIPPETS_ALLOT) != 0,
        .store = process->backends.store,
        .clock = process->clock,
    };

    return process->snippets ? 0 : snippets_open(&options, &process->snippets, err);
}

int role_snippets_serve(struct process *process, struct err *err)
{
    int rc = process_open_snippets(process, err);

    if (rc)
        return rc;
    service = snippet_service(process->snippets);
    process_add_services(process, &service, 1);
    return 0;
}

int role_snippets_start(struct process *process, struct err *err)
{
    int rc = role_snippets_serve(process, err);

    if (rc)
        return rc;
    snippets_sweep(process->snippets);
    resources = snippet_resources(process->snippets);
    if (process->server)
        server_add_rest(process->server, &resources);
    return snippet_intake_start(
        &(struct snippet_intake_options){
            .snippets = process->snippets,
            .topics = process->backends.topics,
            .store = process->backends.store,
            .clock = process->clock,
            .retry_pause_us = config_number(process->config, SETTING_SNIPPETS_RETRY_PAUSE)},
        &intake, err);
}

void role_snippets_stop(struct process *process)
{
    (void)process; /* closed with what roles share, as pages of the role search read them too */
    snippet_intake_stop(intake);
    intake = NULL;
}
