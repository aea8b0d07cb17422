/* SPDX-License-Identifier: Apache-2.0 */
/* registry_fixture.c - see registry_fixture.h. */
#include "contract/registry_fixture.h"

#include <string.h>

#include "codec/message.h"

bool registry_place_open(struct registry_place *place, bool postgres)
{
    memset(place, 0, sizeof(*place));
    place->postgres = postgres;
    if (!store_place_open(&place->at, postgres, "", &place->store))
        return false;
    clock_manual_init(&place->clock, INT64_C(1800000000000000));
    place->receiver = (struct receiver){.store = place->store,
                                        .clock = &place->clock.base,
                                        .clients = clients_new(place->store, &place->clock.base),
                                        .dictionaries = dictionaries_new(place->store),
                                        .intake = intake_new(place->store),
                                        .shard_count = 1,
                                        .tombstone_life_us = 1000 * (int64_t)SECOND_US};
    return true;
}

void registry_place_forget(struct registry_place *place)
{
    dictionaries_free(place->receiver.dictionaries);
    clients_free(place->receiver.clients);
    place->receiver.clients = clients_new(place->store, &place->clock.base);
    place->receiver.dictionaries = dictionaries_new(place->store);
}

void registry_place_close(struct registry_place *place)
{
    intake_free(place->receiver.intake);
    dictionaries_free(place->receiver.dictionaries);
    clients_free(place->receiver.clients);
    store_place_close(&place->at, place->store);
}

Torg__V1__RawField *add_field(struct arena *arena, Torg__V1__RawDocument *document,
                              const char *name)
{
    Torg__V1__RawField **fields =
        arena_array(arena, document->n_fields + 1, sizeof(Torg__V1__RawField *));

    if (document->n_fields)
        memcpy(fields, document->fields, document->n_fields * sizeof(*fields));
    fields[document->n_fields] =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);
    fields[document->n_fields]->name = arena_strdup(arena, name);
    document->fields = fields;
    return fields[document->n_fields++];
}

Torg__V1__RawDocument *document_of(struct arena *arena, const char *pk, int64_t version,
                                   const char *title, int64_t price)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);
    Torg__V1__RawField *field;

    document->pk = arena_strdup(arena, pk);
    document->version = version;
    field = add_field(arena, document, "title");
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = arena_strdup(arena, title);
    if (price >= 0) {
        field = add_field(arena, document, "price");
        field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
        field->integer = price;
    }
    return document;
}

Torg__V1__RawDocument *deletion_of(struct arena *arena, const char *pk, int64_t version)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);

    document->pk = arena_strdup(arena, pk);
    document->version = version;
    document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    return document;
}

Torg__V1__Verdict *put_one(struct registry_place *place, const char *client,
                           Torg__V1__RawDocument *document, struct arena *arena)
{
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    if (receiver_put(&place->receiver, client, LANE_MAIN, &document, 1, arena, &verdicts, &err))
        fail_msg("%s", err.text);
    return verdicts[0];
}

void expect_kind(const Torg__V1__Verdict *verdict, Torg__V1__Verdict__Kind kind)
{
    if (verdict->kind != kind)
        fail_msg("verdict %d, not %d: %s %s", verdict->kind, kind,
                 verdict->n_reasons ? verdict->reasons[0]->field : "",
                 verdict->n_reasons ? verdict->reasons[0]->text : "");
}
