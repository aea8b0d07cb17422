/* SPDX-License-Identifier: Apache-2.0 */
/* event_inbox.c - see event_inbox.h. */
#include "clicks/event_inbox.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "clicks/bounds.h"
#include "codec/message.h"
#include "model/topics.h"
#include "stage/reader.h"

struct event_inbox {
    const struct events *events;
    struct stage_reader *reader;
    struct counter *counted;
    struct counter *others;
};

static int take_record(void *arg, const struct topic_message *message, struct arena *arena,
                       struct err *err)
{
    const struct event_inbox *inbox = arg;
    struct violations reasons = violations_in(arena);
    Torg__V1__RecordEventsRequest *request;
    ProtobufCMessage *decoded;
    uint32_t counted = 0;
    int rc = message_decode(message->value, &torg__v1__record_events_request__descriptor, arena,
                            &decoded, err);

    if (rc)
        return rc;
    request = (Torg__V1__RecordEventsRequest *)decoded;
    /* who writes the topic calls for all visitors, as a front end with a key does */
    rc = events_record(inbox->events, &(const struct event_sender){.seller = request->seller},
                       request, &reasons, &counted, err);
    if (!rc) {
        counter_add(inbox->counted, counted);
        counter_add(inbox->others, request->n_events - counted);
    }
    return rc;
}

int event_inbox_start(const struct events *events, struct topics *topics, struct event_inbox **out,
                      struct err *err)
{
    static const struct stage_reader_handler handler = {.take = take_record};
    static const char name[] = "torg_events_read_total", help[] = "Events of the topic.";
    struct event_inbox *inbox = mem_zero(sizeof(*inbox));
    const struct stage_reader_options options = {.stage = PARKED_BY_EVENTS,
                                                 .topic = TOPIC_EVENTS,
                                                 .group = "clicks",
                                                 .handler = &handler,
                                                 .arg = inbox,
                                                 .topics = topics,
                                                 .store = events->store,
                                                 .clock = events->clock,
                                                 .order = PARKED_ASIDE,
                                                 .worker_count = EVENT_WORKER_COUNT};
    int rc;

    inbox->events = events;
    inbox->counted = metrics_counter(name, "result=\"counted\"", help);
    inbox->others = metrics_counter(name, "result=\"not counted\"", help);
    rc = stage_reader_start(&options, &inbox->reader, err);
    *out = inbox;
    if (rc) {
        event_inbox_stop(inbox);
        *out = NULL;
    }
    return rc;
}

void event_inbox_stop(struct event_inbox *inbox)
{
    if (!inbox)
        return;
    stage_reader_stop(inbox->reader);
    free(inbox);
}
