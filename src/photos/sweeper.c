/* SPDX-License-Identifier: Apache-2.0 */
/* sweeper.c - see sweeper.h. */
#include "photos/sweeper.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/task.h"
#include "photos/bounds.h"

struct sweeper {
    struct ledger *ledger;
    int64_t keep_us;
    struct task task;
    struct log_pace pace;
    struct counter *photos;
    struct counter *blobs;
    struct counter *errors;
};

static void sweep(struct sweeper *self)
{
    bool more = true;

    while (more && !task_is_stopping(&self->task)) {
        struct ledger_swept swept;
        struct err err = {0};

        task_says(&self->task, "sweeping photos");
        if (ledger_sweep(self->ledger, self->keep_us, LEDGER_SWEEP_COUNT, &swept, &more, &err)) {
            counter_add(self->errors, 1);
            if (log_pace_is_due(&self->pace, &err))
                log_warn("photos could not be swept; this is tried again",
                         LOG_TEXT("error", err.text));
            more = false;
        }
        counter_add(self->photos, swept.photo_count);
        counter_add(self->blobs, swept.blob_count);
    }
}

/* Often enough that what is to be kept for seconds, in tests, is not kept for a minute. */
static int64_t period_us(const struct sweeper *self)
{
    int64_t period = self->keep_us / 4;

    if (period > (int64_t)LEDGER_SWEEP_PERIOD_S * SECOND_US)
        period = (int64_t)LEDGER_SWEEP_PERIOD_S * SECOND_US;
    return period < SECOND_US / 4 ? SECOND_US / 4 : period;
}

static void run(struct task *task, void *arg)
{
    struct sweeper *self = arg;

    do
        sweep(self);
    while (task_pause(task, period_us(self)));
}

int sweeper_start(struct ledger *ledger, int64_t keep_us, struct sweeper **sweeper, struct err *err)
{
    struct sweeper *self = mem_zero(sizeof(*self));
    const struct task_options options = {
        .name = "photos-sweeper", .run = run, .arg = self, .clock = ledger->clock};
    int rc;

    self->ledger = ledger;
    self->keep_us = keep_us;
    self->photos = metrics_counter("torg_photos_swept_total", NULL,
                                   "Photos removed because no offer referred to them.");
    self->blobs = metrics_counter("torg_photos_swept_files_total", NULL,
                                  "Files of the photos that were removed.");
    self->errors = metrics_counter("torg_photos_sweep_errors_total", NULL,
                                   "Rounds of removing photos that failed.");
    rc = keep_us ? task_start(&self->task, &options, err) : 0;
    if (rc) {
        free(self);
        self = NULL;
    }
    *sweeper = self;
    return rc;
}

void sweeper_stop(struct sweeper *sweeper)
{
    if (!sweeper)
        return;
    task_stop(&sweeper->task);
    free(sweeper);
}
