/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_documents.c - clients who send documents: new ones, newer ones, late ones, the same again,
 * deletions, and ones that end by themselves.
 *
 * A write is answered by a verdict that follows from what is kept. One that was not answered is
 * sent again as it was: it is accepted then, or a duplicate.
 */
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "sim/crowd.h"
#include "torg/v1/document.pb-c.h"

enum { WHAT_NEWER = 1, WHAT_DELETE, WHAT_LATE, WHAT_AGAIN, WHAT_ANEW };
enum { BATCH_COUNT_MAX = 4 };
typedef Torg__V1__RawDocument Raw;
typedef Torg__V1__Verdict Verdict;

static const char *const what_names[] = {"", "newer", "delete", "late", "again", "anew"};

/* ---- documents ---- */

static Torg__V1__RawField *add_field(Raw *document, const char *name, struct arena *arena)
{
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    field->name = (char *)name;
    document->fields[document->n_fields++] = field;
    return field;
}

static void add_fields(Raw *document, uint32_t stamp, struct arena *arena)
{
    Torg__V1__RawField *field;

    document->fields = arena_array(arena, 4, sizeof(*document->fields));
    field = add_field(document, "title", arena);
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = arena_printf(arena, "paper s%u", stamp);
    field = add_field(document, "group", arena);
    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = arena_printf(arena, "g%u", stamp % 5);
    field = add_field(document, "weight", arena);
    field->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    field->decimal = arena_printf(arena, "%u.5", stamp);
    field = add_field(document, "stamp", arena);
    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = stamp;
}

static Raw *document_of(const struct slot *slot, struct arena *arena)
{
    const struct entry *entry = &slot->entries[slot->ask.entry % ENTRY_COUNT_MAX];
    Raw *document = (Raw *)message_new(&torg__v1__raw_document__descriptor, arena);

    document->pk = (char *)slot->key;
    document->version = slot->ask.number;
    document->event = entry->is_shown ? TORG__V1__RAW_DOCUMENT__EVENT__UPSERT
                                      : TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    if (!entry->is_shown)
        return document;
    add_fields(document, entry->stamp, arena);
    if (entry->ends_us) {
        document->expire_time = (Google__Protobuf__Timestamp *)message_new(
            &google__protobuf__timestamp__descriptor, arena);
        document->expire_time->seconds = entry->ends_us / SECOND_US;
        document->expire_time->nanos = (int32_t)(entry->ends_us % SECOND_US * 1000);
    }
    return document;
}

/* ---- what is asked ---- */

static void ask(struct actor *actor, struct slot *slot, int what)
{
    struct model *model = actor->crowd->model;
    int64_t now_us = now_wall_us();
    struct entry entry = {.is_shown = what != WHAT_DELETE};
    int64_t version = slot->revision;

    model_lock();
    if (what == WHAT_NEWER && draw_chance(&actor->rng, 120))
        entry.ends_us = now_us + (1 + (int64_t)draw_below(&actor->rng, 8)) * SECOND_US;
    if (what == WHAT_NEWER || what == WHAT_DELETE)
        version += 1 + draw_below(&actor->rng, 3);
    else if (what == WHAT_LATE || what == WHAT_ANEW)
        version -= 1;
    if (what == WHAT_AGAIN)
        entry = (struct entry){.is_shown = slot->stamp != 0, .ends_us = slot->ends_us};
    entry.stamp = what == WHAT_AGAIN ? slot->stamp : entry.is_shown ? model_stamp(model, slot) : 0;
    slot_ask(slot, what, &entry);
    slot->ask.number = version;
    slot->ask.once = model->epoch_moves;
    model->asked_count++;
    model_step(model, slot, "put %s: version %d, stamp %u%s", what_names[what], (int)version,
               entry.stamp, entry.ends_us ? ", ends" : "");
    model_unlock();
}

/* ---- verdicts ---- */

static bool is_right(const struct model *model, const struct slot *slot, int kind, bool is_again)
{
    bool is_ended = slot->ends_us && now_wall_us() >= slot->ends_us - 2 * SECOND_US;

    bool is_moved = slot->ask.once != model->epoch_moves || slot->epoch_moves != model->epoch_moves;

    if (slot->ask.what == WHAT_ANEW) /* the epoch counts first */
        return kind == TORG__V1__VERDICT__KIND__ACCEPTED;
    /* What has ended is remembered for longer than a seed takes: it does not come back. */
    if (slot->ask.what == WHAT_LATE && !is_moved)
        return kind == TORG__V1__VERDICT__KIND__STALE;
    if (is_again || is_ended || is_moved)
        return kind == TORG__V1__VERDICT__KIND__ACCEPTED ||
               kind == TORG__V1__VERDICT__KIND__DUPLICATE || kind == TORG__V1__VERDICT__KIND__STALE;
    if (slot->ask.what == WHAT_AGAIN)
        return kind == TORG__V1__VERDICT__KIND__DUPLICATE;
    return kind == TORG__V1__VERDICT__KIND__ACCEPTED;
}

/* With the lock. */
static void take_verdict(struct model *model, struct slot *slot, const Verdict *verdict,
                         bool is_again)
{
    const struct entry *entry = &slot->entries[slot->ask.entry % ENTRY_COUNT_MAX];
    int kind = (int)verdict->kind;
    bool is_kept =
        kind == TORG__V1__VERDICT__KIND__ACCEPTED || kind == TORG__V1__VERDICT__KIND__DUPLICATE;

    model_step(model, slot, "verdict %d %s", kind, verdict->token);
    if (kind == TORG__V1__VERDICT__KIND__UNAVAILABLE) {
        model->unsure_count++;
        return;
    }
    if (strcmp(verdict->pk, slot->key) != 0 || !is_right(model, slot, kind, is_again))
        model_fail(model, slot, "the verdict on a %s write (version %d after %d) is %d: %s",
                   what_names[slot->ask.what], (int)slot->ask.number, (int)slot->revision, kind,
                   verdict->n_reasons ? verdict->reasons[0]->text : "");
    if (is_kept) {
        slot->revision = slot->ask.number;
        slot->epoch_moves = slot->ask.once;
        slot->stamp = entry->is_shown ? entry->stamp : 0;
        slot->ends_us = entry->is_shown ? entry->ends_us : 0;
        snprintf(slot->token, sizeof(slot->token), "%s", verdict->token);
        slot->token_entry = slot->ask.entry;
        slot->token_age = ++model->token_count;
    } else if (slot->floor == slot->ask.entry) {
        model_fail(model, slot, "a search has shown what was refused");
    }
    slot_settle(slot, is_kept);
}

static int put(struct actor *actor, struct slot *const *slots, size_t count, bool is_again,
               struct err *err)
{
    struct model *model = actor->crowd->model;
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct arena *arena = arena_new();
    Raw *documents[BATCH_COUNT_MAX];
    ProtobufCMessage *answer;
    int rc;

    for (size_t i = 0; i < count; i++)
        documents[i] = document_of(slots[i], arena);
    batch.client = (char *)client_names[slots[0]->owner];
    batch.documents = documents;
    batch.n_documents = count;
    batch.lane = draw_chance(&actor->rng, 50)   ? TORG__V1__QUEUE_LANE__NAME__EMERGENCY
                 : draw_chance(&actor->rng, 50) ? TORG__V1__QUEUE_LANE__NAME__BACKFILL
                                                : TORG__V1__QUEUE_LANE__NAME__MAIN;
    rc = world_call(actor->crowd->world, &torg__v1__document_service__descriptor, "PutDocuments",
                    NULL, &batch.base, arena, &answer, err);
    model_lock();
    for (size_t i = 0; i < count && !rc; i++)
        take_verdict(model, slots[i], ((Torg__V1__PutDocumentsResponse *)answer)->verdicts[i],
                     is_again);
    model->unsure_count += rc != 0;
    model_unlock();
    arena_free(arena);
    return rc;
}

/* ---- steps ---- */

bool document_resolve(struct actor *actor, struct slot *slot)
{
    struct err err;
    int rc = put(actor, &slot, 1, true, &err);

    if (rc && !is_unsure(rc))
        model_fail(actor->crowd->model, slot, "a right batch was refused: %s", err.text);
    return slot->ask.what == 0;
}

bool document_put_anew(struct actor *actor, struct slot *slot)
{
    ask(actor, slot, WHAT_ANEW);
    return document_resolve(actor, slot);
}

static struct slot *draw_slot(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    struct slot *slot = NULL;
    unsigned count = 0;

    model_lock();
    for (uint32_t i = 0; i < model->slot_count; i++)
        count += model->slots[i].kind == SLOT_DOCUMENT && model->slots[i].owner == actor->number;
    if (count < DOCUMENT_LIVE_MAX && draw_chance(&actor->rng, 300)) {
        slot = model_add(model, SLOT_DOCUMENT, actor->number);
        if (slot) {
            snprintf(slot->key, sizeof(slot->key), "d%u", model_slot_number(model, slot));
            slot->is_busy = true;
        }
    }
    model_unlock();
    return slot ? slot : slot_draw(actor, SLOT_DOCUMENT, actor->number);
}

static int draw_what(struct actor *actor, const struct slot *slot)
{
    unsigned drawn = draw_below(&actor->rng, 100);

    if (slot->revision == 0 || drawn < 65)
        return WHAT_NEWER;
    if (drawn < 80)
        return WHAT_DELETE;
    return drawn < 90 ? WHAT_LATE : WHAT_AGAIN;
}

void client_step(struct actor *actor)
{
    struct slot *slots[BATCH_COUNT_MAX];
    size_t wanted = 1 + draw_below(&actor->rng, BATCH_COUNT_MAX);
    size_t count = 0;
    struct err err;
    int rc;

    while (wanted-- > 0) {
        struct slot *slot = draw_slot(actor);

        if (!slot)
            continue;
        if (slot->ask.what) {
            document_resolve(actor, slot);
            slot_give(slot);
            continue;
        }
        /* Not where days pass: rows are forgotten then, and side fields with them. */
        if (slot->stock_asked || (slot->revision && !actor->crowd->model->wall_step_us &&
                                  draw_chance(&actor->rng, 150))) {
            if (slot->stock_asked)
                fields_resolve(actor, slot);
            else
                fields_put(actor, slot);
            slot_give(slot);
            continue;
        }
        ask(actor, slot, draw_what(actor, slot));
        slots[count++] = slot;
    }
    if (count == 0)
        return;
    rc = put(actor, slots, count, false, &err);
    if (rc && !is_unsure(rc))
        model_fail(actor->crowd->model, slots[0], "a right batch was refused: %s", err.text);
    for (size_t i = 0; i < count; i++)
        slot_give(slots[i]);
    if (!rc && draw_chance(&actor->rng, 300)) /* before it can have come by itself */
        documents_look(actor, actor->number, NULL);
}
