/* SPDX-License-Identifier: Apache-2.0 */
/* role_snippets.c - the role snippets: what is kept beside the index, put and got by name and
 * key. */
#include "base/log.h"
#include "roles/processes/process.h"
#include "snippets/intake/intake.h"
#include "snippets/requests/snippets.h"
#include "snippets/service.h"

/* One a process; the server borrows them for its life. */
static struct rpc_service service;
static struct rest_service resources, root_resources;
static struct server *own_server;     /* of snippets.listen; NULL: there is none */
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

/* The port that has nothing but snippets, by their names alone. */
static int start_own_server(struct process *process, struct err *err)
{
    const char *listen = config_text(process->config, SETTING_SNIPPETS_LISTEN);
    struct server_options options;
    int rc;

    if (!*listen || !process->server)
        return 0;
    options = process_server_options(process, listen); /* without a server there are no keys */
    rc = server_new(&options, &own_server, err);
    if (rc)
        return err_wrap(err, "snippets.listen");
    root_resources = snippet_root_resources(process->snippets);
    server_add_rest(own_server, &resources);
    server_add_rest(own_server, &root_resources);
    rc = server_start(own_server, err);
    if (!rc)
        log_info("snippets have a port of their own", LOG_TEXT("listen", listen),
                 LOG_INT("port", server_port(own_server)));
    return rc;
}

static void stop_own_server(struct process *process)
{
    if (!own_server)
        return;
    server_drain(own_server, config_number(process->config, SETTING_SERVER_DRAIN) / MS_US);
    server_free(own_server);
    own_server = NULL;
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
    rc = start_own_server(process, err);
    if (rc)
        return rc;
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
    stop_own_server(process);
    snippet_intake_stop(intake); /* snippets stay open: pages of the role search read them, too */
    intake = NULL;
}
