/* SPDX-License-Identifier: Apache-2.0 */
/* photo_results.c - see photo_results.h. */
#include "offers/photo_results.h"

#include "base/limits.h"
#include "net/message.h"
#include "offers/photos.h"

static int apply(void *arg, struct bytes value, struct arena *arena, bool *changed, struct err *err)
{
    const struct offers *offers = arg;
    struct violations violations = violations_in(arena);
    Torg__V1__PhotoResult *result;
    ProtobufCMessage *decoded;
    int rc = message_decode(value, &torg__v1__photo_result__descriptor, arena, &decoded, err);

    result = (Torg__V1__PhotoResult *)decoded;
    if (!rc && photo_result_check(result, &violations))
        rc = err_set(err, ERR_INVALID, "%s: %s", violations.first->field, violations.first->reason);
    return rc ? rc : photos_apply(offers, result, arena, changed, err);
}

static struct counter *count(const char *labels)
{
    return metrics_counter("torg_photo_results_total", labels, "Results of photos read.");
}

int photo_results_start(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                        struct err *err)
{
    const struct inbox_options options = {
        .topic = PHOTO_RESULTS_TOPIC,
        .group = "offers-photos",
        .what = "a result of photos",
        .apply = apply,
        .arg = (void *)offers,
        .clock = offers->clock,
        .lane_count = INBOX_LANE_COUNT_MAX,
        .applied = count("result=\"applied\""),
        .stale = count("result=\"stale\""),
        .refused = count("result=\"refused\""),
        .errors = metrics_counter("torg_photo_errors_total", NULL,
                                  "Failures to read or apply results of photos, tried again."),
    };

    return inbox_start(&options, topics, inbox, err);
}
