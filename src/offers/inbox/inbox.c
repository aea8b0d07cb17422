/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - see inbox.h. */
#include "offers/inbox/inbox.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/change/moderation.h"
#include "offers/change/photos.h"
#include "offers/inbox/likeness.h"
#include "offers/inbox/messages.h"
#include "stage/reader.h"

/* Checks and applies one record. */
typedef int (*inbox_fn)(const struct offers *offers, const ProtobufCMessage *message,
                        struct violations *violations, struct arena *arena, bool *changed,
                        struct err *err);

struct inbox {
    const struct offers *offers;
    const ProtobufCMessageDescriptor *descriptor; /* of a record */
    inbox_fn apply;
    struct stage_reader *reader;
    struct counter *applied;
    struct counter *stale;
    struct counter *refused;
};

static int tell_first(const struct violations *violations, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: %s", violations->first->field, violations->first->reason);
}

static int apply_opinion(const struct offers *offers, const ProtobufCMessage *message,
                         struct violations *violations, struct arena *arena, bool *changed,
                         struct err *err)
{
    const Torg__V1__ModerationOpinion *opinion = (const Torg__V1__ModerationOpinion *)message;
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    int rc = opinion_check(opinion, violations)
                 ? tell_first(violations, err)
                 : moderation_apply(offers, NULL, opinion, arena, &answer, err);

    *changed = answer.applied;
    return rc;
}

static int apply_photo_result(const struct offers *offers, const ProtobufCMessage *message,
                              struct violations *violations, struct arena *arena, bool *changed,
                              struct err *err)
{
    const Torg__V1__PhotoResult *result = (const Torg__V1__PhotoResult *)message;

    int rc = photo_result_check(result, violations)
                 ? tell_first(violations, err)
                 : photos_apply(offers, result, arena, changed, err);

    return rc ? rc : likeness_note(offers, result, arena, err);
}

static int apply_message(const struct offers *offers, const ProtobufCMessage *message,
                         struct violations *violations, struct arena *arena, bool *changed,
                         struct err *err)
{
    const Torg__V1__SellerMessage *sent = (const Torg__V1__SellerMessage *)message;

    return message_check(sent, violations) ? tell_first(violations, err)
                                           : messages_apply(offers, sent, changed, err);
}

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    const struct inbox *self = arg;
    struct violations violations = violations_in(arena);
    ProtobufCMessage *decoded;
    bool changed = false;
    int rc = message_decode(message->value, self->descriptor, arena, &decoded, err);

    if (!rc)
        rc = self->apply(self->offers, decoded, &violations, arena, &changed, err);
    if (!rc)
        counter_add(changed ? self->applied : self->stale, 1);
    else if (!err_is_passing(rc))
        counter_add(self->refused, 1);
    return rc;
}

/* What differs is in options and inbox; the rest of both is set here. */
static int start(struct stage_reader_options options, struct inbox inbox, const char *metric,
                 const char *help, struct inbox **started, struct err *err)
{
    static const struct stage_reader_handler handler = {.take = use_record};
    struct inbox *self = mem_zero(sizeof(*self));
    int rc;

    *self = inbox;
    self->applied = metrics_counter(metric, "result=\"applied\"", help);
    self->stale = metrics_counter(metric, "result=\"stale\"", help);
    self->refused = metrics_counter(metric, "result=\"refused\"", help);
    options.handler = &handler;
    options.arg = self;
    options.store = inbox.offers->store;
    options.clock = inbox.offers->clock;
    rc = stage_reader_start(&options, &self->reader, err);
    if (rc) {
        inbox_stop(self);
        self = NULL;
    }
    *started = self;
    return rc;
}

/* The newest opinion is the one that counts: it is tried, whatever became of those before. */
int inbox_start_opinions(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                         struct err *err)
{
    return start((struct stage_reader_options){.stage = PARKED_BY_OPINIONS,
                                               .topic = TOPIC_OPINIONS,
                                               .group = "offers-moderation",
                                               .topics = topics,
                                               .order = PARKED_NEWEST,
                                               .worker_count = OPINION_WORKER_COUNT},
                 (struct inbox){.offers = offers,
                                .descriptor = &torg__v1__moderation_opinion__descriptor,
                                .apply = apply_opinion},
                 "torg_moderation_opinions_total", "Opinions read.", inbox, err);
}

/* An answer is told from what is no news whenever it comes: none waits for another. */
int inbox_start_photos(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                       struct err *err)
{
    return start((struct stage_reader_options){.stage = PARKED_BY_PHOTOS,
                                               .topic = TOPIC_PHOTO_RESULTS,
                                               .group = "offers-photos",
                                               .topics = topics,
                                               .order = PARKED_ASIDE,
                                               .worker_count = PHOTO_RESULT_WORKER_COUNT},
                 (struct inbox){.offers = offers,
                                .descriptor = &torg__v1__photo_result__descriptor,
                                .apply = apply_photo_result},
                 "torg_photo_results_total", "Results of photos read.", inbox, err);
}

/* Their order is that of their times. */
int inbox_start_messages(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                         struct err *err)
{
    return start((struct stage_reader_options){.stage = PARKED_BY_MESSAGES,
                                               .topic = TOPIC_MESSAGES,
                                               .group = "offers-messages",
                                               .topics = topics,
                                               .order = PARKED_ASIDE,
                                               .worker_count = MESSAGE_WORKER_COUNT},
                 (struct inbox){.offers = offers,
                                .descriptor = &torg__v1__seller_message__descriptor,
                                .apply = apply_message},
                 "torg_messages_total", "Buyers' messages read.", inbox, err);
}

void inbox_stop(struct inbox *inbox)
{
    if (!inbox)
        return;
    stage_reader_stop(inbox->reader);
    free(inbox);
}
