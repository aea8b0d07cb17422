/* SPDX-License-Identifier: Apache-2.0 */
/* opinions.c - see opinions.h. */
#include "offers/opinions.h"

#include "base/limits.h"
#include "net/message.h"
#include "offers/moderation.h"

static int apply(void *arg, struct bytes value, struct arena *arena, bool *changed, struct err *err)
{
    const struct offers *offers = arg;
    struct violations violations = violations_in(arena);
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    Torg__V1__ModerationOpinion *opinion;
    ProtobufCMessage *decoded;
    int rc = message_decode(value, &torg__v1__moderation_opinion__descriptor, arena, &decoded, err);

    opinion = (Torg__V1__ModerationOpinion *)decoded;
    if (!rc && opinion_check(opinion, &violations))
        rc = err_set(err, ERR_INVALID, "%s: %s", violations.first->field, violations.first->reason);
    if (!rc)
        rc = moderation_apply(offers, opinion, arena, &answer, err);
    *changed = answer.applied;
    return rc;
}

static struct counter *count(const char *labels)
{
    return metrics_counter("torg_moderation_opinions_total", labels, "Opinions read.");
}

int opinions_start(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                   struct err *err)
{
    const struct inbox_options options = {
        .topic = OPINIONS_TOPIC,
        .group = "offers-moderation",
        .what = "an opinion",
        .apply = apply,
        .arg = (void *)offers,
        .clock = offers->clock,
        .lane_count = INBOX_LANE_COUNT,
        .applied = count("result=\"applied\""),
        .stale = count("result=\"stale\""),
        .refused = count("result=\"refused\""),
        .errors = metrics_counter("torg_moderation_errors_total", NULL,
                                  "Failures to read or apply opinions, tried again."),
    };

    return inbox_start(&options, topics, inbox, err);
}
