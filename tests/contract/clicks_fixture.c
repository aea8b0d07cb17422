/* SPDX-License-Identifier: Apache-2.0 */
/* clicks_fixture.c - see clicks_fixture.h. */
#include "contract/clicks_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "stage/make_topics.h"

struct index_place place;
struct events events;
struct rater_options rater;
static uint64_t read_from[64]; /* offsets of the topic documents */

/* Offers "a" to "z" of the seller "shop", all of one category but for "z". */
static int fetch(void *arg, const char *id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    (void)arg;
    if (strlen(id) != 1)
        return err_set(err, ERR_NOT_FOUND, "no offer %s", id);
    *offer = MESSAGE_NEW(offer, arena);
    (*offer)->id = arena_strdup(arena, id);
    (*offer)->seller = (char *)"shop";
    (*offer)->content = MESSAGE_NEW(offer_content, arena);
    (*offer)->content->category = (char *)(*id == 'z' ? "boats" : "bikes");
    return 0;
}

void begin(void **state)
{
    struct topic_config config;
    struct err err = {0};
    uint64_t first;

    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    snprintf(place.client, sizeof(place.client), "%s", OFFER_CLIENT);
    events = (struct events){.store = place.store, .clock = &place.clock.base, .fetch = fetch};
    rater = (struct rater_options){
        .store = place.store, .topics = place.topics, .clock = &place.clock.base};
    if (stage_make_topic(place.topics, TOPIC_DOCUMENTS, &err) ||
        topic_describe(place.topics, TOPIC_DOCUMENTS, &config, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < config.partition_count; i++) /* what is there is not ours */
        OK(topic_range(place.topics, TOPIC_DOCUMENTS, i, &first, &read_from[i], &err));
}

uint32_t record_from(const struct event_sender *sender, const char *session,
                     Torg__V1__Event__Kind kind, const char *offer, const char *id,
                     uint32_t position)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);
    Torg__V1__Event event = TORG__V1__EVENT__INIT;
    Torg__V1__Event *list[] = {&event};
    struct err err = {0};
    uint32_t counted;

    event.id = (char *)id;
    event.kind = kind;
    event.offer_id = (char *)offer;
    event.position = position;
    request.session = (char *)session;
    request.events = list;
    request.n_events = 1;
    if (events_record(&events, sender, &request, &reasons, &counted, &err))
        fail_msg("%s", err.text);
    return counted;
}

uint32_t record(const char *session, const char *seller, Torg__V1__Event__Kind kind,
                const char *offer, const char *id, uint32_t position)
{
    return record_from(&(struct event_sender){seller, 0}, session, kind, offer, id, position);
}

uint32_t click(const char *session, const char *offer, const char *id)
{
    return record(session, "", TORG__V1__EVENT__KIND__CLICK, offer, id, 1);
}

void receive(void)
{
    struct arena *arena = arena_new();
    struct topic_config config;
    struct err err = {0};

    if (topic_describe(place.topics, TOPIC_DOCUMENTS, &config, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < config.partition_count; i++) {
        const struct topic_message *messages;
        const Torg__V1__QualifiedBatch *batch;
        Torg__V1__Verdict **verdicts;
        ProtobufCMessage *decoded;
        uint64_t first, end;
        size_t count;

        OK(topic_range(place.topics, TOPIC_DOCUMENTS, i, &first, &end, &err));
        while (read_from[i] < end) {
            OK(topic_read(place.topics, TOPIC_DOCUMENTS, i, read_from[i], 1, 1000, arena, &messages,
                          &count, &err));
            assert_int_equal(count, 1);
            OK(message_decode(messages[0].value, &torg__v1__qualified_batch__descriptor, arena,
                              &decoded, &err));
            read_from[i]++;
            batch = (const Torg__V1__QualifiedBatch *)decoded;
            if (batch->n_changes) /* others' tests may share the servers */
                OK(receiver_put_fields(&place.receiver, batch->client, batch->changes,
                                       batch->n_changes, arena, &verdicts, &err));
        }
    }
    arena_free(arena);
}

double in_registry(const char *pk, const char *field)
{
    Torg__V1__StoredDocument found = TORG__V1__STORED_DOCUMENT__INIT;
    struct err err = {0};

    OK(receiver_get(&place.receiver, place.client, pk, place.arena, &found, &err));
    for (size_t i = 0; i < found.n_side; i++)
        if (strcmp(found.side[i]->field->name, field) == 0)
            return strtod(found.side[i]->field->decimal, NULL);
    return -1;
}
