/* SPDX-License-Identifier: Apache-2.0 */
/* opinions.c - see opinions.h. */
#include "offers/opinions.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/moderation.h"
#include "stage/reader.h"

struct opinions {
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

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    const struct opinions *self = arg;
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
    return metrics_counter("torg_moderation_opinions_total", labels, "Opinions read.");
}

/* The newest opinion is the one that counts: it is tried, whatever became of those before. */
int opinions_start(const struct offers *offers, struct topics *topics, struct opinions **opinions,
                   struct err *err)
{
    static const struct stage_reader_handler handler = {.take = use_record};
    struct opinions *self = mem_zero(sizeof(*self));
    const struct stage_reader_options options = {.stage = PARKED_BY_OPINIONS,
                                                 .topic = TOPIC_OPINIONS,
                                                 .group = "offers-moderation",
                                                 .handler = &handler,
                                                 .arg = self,
                                                 .topics = topics,
                                                 .store = offers->store,
                                                 .clock = offers->clock,
                                                 .order = PARKED_NEWEST,
                                                 .worker_count = OPINION_WORKER_COUNT};
    int rc;

    *opinions = NULL;
    self->offers = offers;
    self->applied = count("result=\"applied\"");
    self->stale = count("result=\"stale\"");
    self->refused = count("result=\"refused\"");
    rc = stage_reader_new(&options, &self->reader, err);
    if (!rc)
        rc = stage_reader_begin(self->reader, err);
    if (rc)
        opinions_stop(self);
    else
        *opinions = self;
    return rc;
}

void opinions_stop(struct opinions *opinions)
{
    if (!opinions)
        return;
    stage_reader_stop(opinions->reader);
    free(opinions);
}
