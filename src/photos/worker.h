/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - answers photo requests of offers: fetches the photos, has them developed, sends back
 * their keys.
 *
 *     photo-requests ──► fetch.h ──► intake.h ──► photo-results
 *
 * Requests are tried in two lanes: the first has a few seconds for each photo, and leaves those
 * whose servers need longer, or are asked by too many (hosts.h), to the topic of the slow one, so
 * that nobody's photos wait behind a slow server of another.
 *
 * The pictures are durable before the answer, and the answer before the request is committed: what
 * it was stopped at is done again, to the same effect. A photo that will never do is FAILED at
 * once, with its reason. One whose server does not answer, or whose decoder died, is told as
 * FAILED, too, so that its seller knows; the request is parked and tried again, and a later READY
 * takes its place, until the time for it is over. A server that was silent to the slow lane is
 * asked by one request a minute; the others are put off without a try.
 */
#ifndef TORG_PHOTOS_WORKER_H
#define TORG_PHOTOS_WORKER_H

#include "base/clock.h"
#include "base/err.h"
#include "photos/fetch.h"
#include "photos/intake.h"
#include "store/store.h"
#include "topic/topic.h"

struct photo_worker;

struct photo_worker_options { /* all borrowed until it has stopped */
    struct topics *topics;
    struct store *store;
    const struct clock *clock;
    const struct intake *intake;
    struct fetch_rules fetch;
    int64_t retry_us; /* a photo whose server is silent is given up after this */
};

int photo_worker_start(const struct photo_worker_options *options, struct photo_worker **worker,
                       struct err *err);
void photo_worker_stop(struct photo_worker *worker); /* NULL is fine */

#endif
