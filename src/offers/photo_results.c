/* SPDX-License-Identifier: Apache-2.0 */
/* photo_results.c - see photo_results.h. */
#include "offers/photo_results.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/photos.h"
#include "stage/reader.h"

struct photo_results {
    const struct offers *offers;
    struct stage_reader *reader;
    struct counter *applied;
    struct counter *stale;
    struct counter *refused;
};

static int apply(const struct offers *offers, struct bytes value, struct arena *arena,
                 bool *changed, struct err *err)
{
    struct violations violations = violations_in(arena);
    Torg__V1__PhotoResult *result;
    ProtobufCMessage *decoded;
    int rc = message_decode(value, &torg__v1__photo_result__descriptor, arena, &decoded, err);

    result = (Torg__V1__PhotoResult *)decoded;
    if (!rc && photo_result_check(result, &violations))
        rc = err_set(err, ERR_INVALID, "%s: %s", violations.first->field, violations.first->reason);
    return rc ? rc : photos_apply(offers, result, arena, changed, err);
}

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    const struct photo_results *self = arg;
    bool changed = false;
    int rc = apply(self->offers, message->value, arena, &changed, err);

    if (!rc)
        counter_add(changed ? self->applied : self->stale, 1);
    else if (rc != ERR_UNAVAILABLE && rc != ERR_CONFLICT && rc != ERR_TIMEOUT)
        counter_add(self->refused, 1);
    return rc;
}

static struct counter *count(const char *labels)
{
    return metrics_counter("torg_photo_results_total", labels, "Results of photos read.");
}

/* An answer is told from what is no news whenever it comes: none waits for another. */
int photo_results_start(const struct offers *offers, struct topics *topics,
                        struct photo_results **photo_results, struct err *err)
{
    static const struct stage_reader_handler handler = {.take = use_record};
    struct photo_results *self = mem_zero(sizeof(*self));
    const struct stage_reader_options options = {.stage = PARKED_BY_PHOTOS,
                                                 .topic = TOPIC_PHOTO_RESULTS,
                                                 .group = "offers-photos",
                                                 .handler = &handler,
                                                 .arg = self,
                                                 .topics = topics,
                                                 .store = offers->store,
                                                 .clock = offers->clock,
                                                 .order = PARKED_ASIDE,
                                                 .worker_count = PHOTO_RESULT_WORKER_COUNT};
    int rc;

    *photo_results = NULL;
    self->offers = offers;
    self->applied = count("result=\"applied\"");
    self->stale = count("result=\"stale\"");
    self->refused = count("result=\"refused\"");
    rc = stage_reader_new(&options, &self->reader, err);
    if (!rc)
        rc = stage_reader_begin(self->reader, err);
    if (rc)
        photo_results_stop(self);
    else
        *photo_results = self;
    return rc;
}

void photo_results_stop(struct photo_results *photo_results)
{
    if (!photo_results)
        return;
    stage_reader_stop(photo_results->reader);
    free(photo_results);
}
