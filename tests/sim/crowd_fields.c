/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_fields.c - clients who change a side field of their documents, a stock, in an order of its
 * own: whatever becomes of the document, its number, its epoch.
 *
 * A change that was not answered is sent again as it was. Its value is its sequence, so what a
 * search shows tells which change it is.
 */
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "sim/crowd.h"
#include "torg/v1/document.pb-c.h"

static Torg__V1__FieldChange *change_of(const struct slot *slot, struct arena *arena)
{
    Torg__V1__FieldChange *change = MESSAGE_NEW(field_change, arena);
    Torg__V1__RawField *field = MESSAGE_NEW(raw_field, arena);

    field->name = "stock";
    field->options = MESSAGE_NEW(field_options, arena);
    field->options->side = true;
    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = slot->stock_asked;
    change->pk = (char *)slot->key;
    change->sequence = slot->stock_asked;
    change->fields = arena_array(arena, 1, sizeof(change->fields[0]));
    change->fields[0] = field;
    change->n_fields = 1;
    return change;
}

/* With the lock. */
static void take_verdict(struct model *model, struct slot *slot, const Torg__V1__Verdict *verdict)
{
    bool is_ended = slot->ends_us && now_wall_us() >= slot->ends_us - 2 * SECOND_US;
    bool is_taken = verdict->kind == TORG__V1__VERDICT__KIND__ACCEPTED ||
                    verdict->kind == TORG__V1__VERDICT__KIND__DUPLICATE;
    bool is_lacking = verdict->kind == TORG__V1__VERDICT__KIND__NOT_FOUND;

    model_step(model, slot, "stock %u: verdict %d", slot->stock_asked, (int)verdict->kind);
    if (verdict->kind == TORG__V1__VERDICT__KIND__UNAVAILABLE) {
        model->unsure_count++;
        return;
    }
    if (!is_taken && !(is_lacking && (!slot->stamp || is_ended)))
        model_fail(model, slot, "the verdict on stock %u after %u is %d: %s", slot->stock_asked,
                   slot->stock, (int)verdict->kind,
                   verdict->n_reasons ? verdict->reasons[0]->text : "");
    if (is_taken && !slot->stamp)
        model_fail(model, slot, "stock %u is taken, and there is no document", slot->stock_asked);
    if (is_taken) {
        slot->stock = slot->stock_asked;
        slot->stock_age = ++model->token_count;
        snprintf(slot->stock_token, sizeof(slot->stock_token), "%s", verdict->token);
    }
    slot->stock_asked = 0;
}

bool fields_resolve(struct actor *actor, struct slot *slot)
{
    struct model *model = actor->crowd->model;
    Torg__V1__PutFieldsRequest request = TORG__V1__PUT_FIELDS_REQUEST__INIT;
    struct arena *arena = arena_new();
    Torg__V1__FieldChange *changes[1];
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    if (slot->stock_asked) {
        changes[0] = change_of(slot, arena);
        request.client = (char *)client_names[slot->owner];
        request.changes = changes;
        request.n_changes = 1;
        rc = world_call(actor->crowd->world, &torg__v1__document_service__descriptor, "PutFields",
                        NULL, &request.base, arena, &answer, &err);
        if (rc && !is_unsure(rc))
            model_fail(model, slot, "a right change was refused: %s", err.text);
        model_lock();
        if (!rc)
            take_verdict(model, slot, ((Torg__V1__PutFieldsResponse *)answer)->verdicts[0]);
        model->unsure_count += rc != 0;
        model_unlock();
    }
    arena_free(arena);
    return slot->stock_asked == 0;
}

void fields_put(struct actor *actor, struct slot *slot)
{
    struct model *model = actor->crowd->model;

    model_lock();
    slot->stock_asked = ++slot->stock_count;
    model->asked_count++;
    model_step(model, slot, "put stock %u", slot->stock_asked);
    model_unlock();
    fields_resolve(actor, slot);
}
