/* SPDX-License-Identifier: Apache-2.0 */
/* role_photos.c - the role photos: fetched, uploaded, developed, and shown to those who look at
 * offers. */
#include "base/log.h"
#include "photos/photo_folder.h"
#include "photos/sweeper.h"
#include "photos/upload.h"
#include "photos/worker.h"
#include "roles/processes/process.h"

/* One a process; the server borrows them for its life. */
static struct folder folder;
static struct ledger ledger;
static struct sweeper *sweeper;
static struct intake intake;
static struct rest_service uploads;
static struct photo_worker *worker;

/* Without the program that decodes, photos that are there are shown, requests wait in their topic,
 * and nobody can upload: told once, as the rest of the process has nothing to do with it. */
static bool open_darkroom(struct process *process)
{
    const struct darkroom_options options = {.clock = process->clock};
    struct err err;

    if (!darkroom_open(&options, &intake.darkroom, &err))
        return true;
    log_warn("photos are neither fetched nor uploaded", LOG_TEXT("reason", err.text));
    return false;
}

static int start_worker(struct process *process, struct err *err)
{
    const struct photo_worker_options options = {
        .topics = process->backends.topics,
        .store = process->backends.store,
        .clock = process->clock,
        .intake = &intake,
        .fetch = {.ledger = &ledger,
                  .clock = process->clock,
                  .takes_private_addresses =
                      config_number(process->config, SETTING_PHOTOS_PRIVATE_ADDRESSES),
                  .maker = process->attendant ? process->attendant->photo_maker : NULL},
        .retry_us = config_number(process->config, SETTING_PHOTOS_RETRY)};

    return photo_worker_start(&options, &worker, err);
}

int role_photos_start(struct process *process, struct err *err)
{
    int rc = 0;

    ledger = (struct ledger){
        .store = process->backends.store, .blob = process->backends.blob, .clock = process->clock};
    folder = photo_folder(&ledger);
    intake = (struct intake){.ledger = &ledger};
    if (process->server)
        server_add_folder(process->server, &folder);
    rc = sweeper_start(&ledger, config_number(process->config, SETTING_PHOTOS_KEEP), &sweeper, err);
    if (rc || !open_darkroom(process))
        return rc;
    uploads = upload_service(&intake);
    if (process->server)
        server_add_rest(process->server, &uploads);
    if (config_number(process->config, SETTING_PHOTOS_FETCH) ||
        (process->attendant && process->attendant->photo_maker)) /* nobody else makes those */
        rc = start_worker(process, err);
    return rc;
}

void role_photos_stop(struct process *process)
{
    (void)process; /* uploads ended with the server */
    photo_worker_stop(worker);
    sweeper_stop(sweeper);
    darkroom_close(intake.darkroom);
    worker = NULL;
    sweeper = NULL;
    intake.darkroom = NULL;
}
