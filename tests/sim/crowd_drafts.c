/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_drafts.c - offers that are written first and published then. A seller has one draft: who
 * does not know whether the last one was published finds that out before the next.
 */
#include <stdio.h>
#include <string.h>

#include "sim/crowd.h"
#include "torg/v1/draft.pb-c.h"

static int call_drafts(struct actor *actor, const struct slot *slot, const char *method,
                       uint32_t once, const ProtobufCMessage *request, struct arena *arena,
                       ProtobufCMessage **answer, struct err *err)
{
    const struct caller caller = {.seller = seller_names[slot->owner],
                                  .once_key = once ? arena_printf(arena, "once-%u", once) : NULL};

    return world_call(actor->crowd->world, &torg__v1__draft_service__descriptor, method, &caller,
                      request, arena, answer, err);
}

/* With the lock. */
static bool has_open_draft(const struct model *model, unsigned seller)
{
    for (uint32_t i = 0; i < model->slot_count; i++) {
        const struct slot *slot = &model->slots[i];

        if (slot->kind == SLOT_OFFER && slot->owner == seller && slot->is_drafted &&
            slot->ask.what && slot->revision == 0)
            return true;
    }
    return false;
}

static int write_draft(struct actor *actor, const struct slot *slot, uint32_t stamp,
                       struct arena *arena, const Torg__V1__Draft **draft, struct err *err)
{
    Torg__V1__OpenDraftRequest open = TORG__V1__OPEN_DRAFT_REQUEST__INIT;
    Torg__V1__SaveDraftRequest save = TORG__V1__SAVE_DRAFT_REQUEST__INIT;
    ProtobufCMessage *answer;
    int rc = call_drafts(actor, slot, "OpenDraft", 0, &open.base, arena, &answer, err);

    if (rc)
        return rc;
    *draft = ((Torg__V1__OpenDraftResponse *)answer)->draft;
    save.id = (*draft)->id;
    save.expected_revision = (*draft)->revision;
    save.content = offer_content_of(slot, stamp, arena);
    return call_drafts(actor, slot, "SaveDraft", 0, &save.base, arena, &answer, err);
}

bool drafted_prepare(struct actor *actor, struct slot *slot)
{
    struct model *model = actor->crowd->model;
    struct arena *arena = arena_new();
    const Torg__V1__Draft *draft;
    struct err err;
    bool is_taken;
    uint32_t stamp;
    int rc;

    model_lock();
    is_taken = has_open_draft(model, slot->owner);
    stamp = is_taken ? 0 : model_stamp(model, slot);
    model_unlock();
    if (is_taken) {
        arena_free(arena);
        return false;
    }
    rc = write_draft(actor, slot, stamp, arena, &draft, &err);
    if (rc && !is_unsure(rc))
        model_fail(model, slot, "a draft was refused: %s", err.text);
    model_lock();
    if (rc) {
        slot->is_over = true;
    } else {
        snprintf(slot->key, sizeof(slot->key), "%s", draft->id);
        slot->stamp = stamp;
    }
    model_unlock();
    arena_free(arena);
    return !rc;
}

int drafted_publish(struct actor *actor, const struct slot *slot, struct arena *arena,
                    ProtobufCMessage **answer, struct err *err)
{
    Torg__V1__PublishDraftRequest publish = TORG__V1__PUBLISH_DRAFT_REQUEST__INIT;

    publish.id = (char *)slot->key;
    return call_drafts(actor, slot, "PublishDraft", slot->ask.once, &publish.base, arena, answer,
                       err);
}
