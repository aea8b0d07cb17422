/* SPDX-License-Identifier: Apache-2.0 */
/* feeds_fixture.c - see feeds_fixture.h. */
#include "contract/feeds_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "feeds/apply/apply.h"
#include "feeds/apply/undo.h"
#include "offers/change/external_item.h"
#include "offers/change/moderation.h"
#include "offers/record/offer_record.h"

enum { TEXT_SIZE_MAX = 1 << 20, ROW_COUNT_MAX = 4096, PAGE_COUNT = 7 };

bool feed_scene_open(struct feed_scene *scene, bool postgres)
{
    memset(scene, 0, sizeof(*scene));
    if (!offers_place_open(&scene->place, postgres))
        return false;
    scene->rules = feed_rules_default;
    scene->place.offers.feed_rules = &scene->rules;
    scene->arena = arena_new();
    scene->seller = "s";
    scene->feed = "main";
    return true;
}

void feed_scene_close(struct feed_scene *scene)
{
    arena_free(scene->arena);
    offers_place_close(&scene->place);
}

struct feed_key key_of(const struct feed_scene *scene, int64_t task_id)
{
    return (struct feed_key){.seller = scene->seller, .feed = scene->feed, .task_id = task_id};
}

const struct feed_patience *for_ever(void)
{
    static const struct feed_patience patience; /* for ever */

    return &patience;
}

/* --- sending --- */

static void add_photo(Torg__V1__OfferContent *content, struct arena *arena)
{
    content->photos = arena_array(arena, 1, sizeof(*content->photos));
    content->photos[0] = MESSAGE_NEW(photo, arena);
    content->photos[0]->source_url = arena_strdup(arena, "https://photos.example/1.jpg");
    content->n_photos = 1;
}

static Torg__V1__FeedEvent *event_of(struct feed_scene *scene, const char *word, int number)
{
    struct arena *arena = scene->arena;
    Torg__V1__FeedEvent *event =
        (Torg__V1__FeedEvent *)message_new(&torg__v1__feed_event__descriptor, arena);
    const char *equals = strchr(word, '=');

    if (*word == '-') {
        event->event_case = TORG__V1__FEED_EVENT__EVENT_DELETE;
        event->delete_ =
            (Torg__V1__FeedDelete *)message_new(&torg__v1__feed_delete__descriptor, arena);
        event->delete_->row = number;
        event->delete_->external_id = arena_strdup(arena, word + 1);
        return event;
    }
    event->event_case = TORG__V1__FEED_EVENT__EVENT_UPSERT;
    event->upsert = (Torg__V1__FeedUpsert *)message_new(&torg__v1__feed_upsert__descriptor, arena);
    event->upsert->row = number;
    event->upsert->external_id = arena_text(arena, bytes_make(word, (size_t)(equals - word)));
    event->upsert->content =
        content_of(arena, "books", (int)strtol(equals + 1, NULL, 10), 100, "RUB");
    event->upsert->unavailable = strchr(equals, '!') != NULL;
    if (strchr(equals, '@'))
        add_photo(event->upsert->content, arena);
    if (equals[1] == '?')
        event->upsert->content->title = arena_strdup(arena, "");
    return event;
}

Torg__V1__FeedEvent **events_of(struct feed_scene *scene, const char *rows, int first,
                                size_t *count)
{
    Torg__V1__FeedEvent **events =
        arena_array(scene->arena, ROW_COUNT_MAX, sizeof(Torg__V1__FeedEvent *));

    *count = 0;
    while (*rows) {
        size_t size = strcspn(rows, " ");

        events[*count] = event_of(scene, arena_text(scene->arena, bytes_make(rows, size)),
                                  first + 1 + (int)*count);
        (*count)++;
        rows += size + strspn(rows + size, " ");
    }
    return events;
}

int try_rows(struct feed_scene *scene, int64_t task_id, const char *rows, int first,
             struct err *err)
{
    struct feed_key key = key_of(scene, task_id);
    size_t count;
    Torg__V1__FeedEvent **events = events_of(scene, rows, first, &count);
    struct feed_task task;
    int rc = feed_task_open(&scene->place.offers, &key, FEED_AS_IT_IS, scene->arena, &task, err);

    return rc ? rc : feed_apply_rows(&scene->place.offers, &key, LANGUAGE_EN, events, count, err);
}

int try_end(struct feed_scene *scene, int64_t task_id, int64_t row_count,
            Torg__V1__FeedTask **message, struct err *err)
{
    Torg__V1__FeedEnd end = TORG__V1__FEED_END__INIT;
    struct feed_key key = key_of(scene, task_id);
    struct feed_task task = {0};
    int rc;

    end.row_count = row_count;
    rc = feed_end(&scene->place.offers, &key, &end, for_ever(), scene->arena, &task, err);
    if (message)
        *message = task.message;
    return rc;
}

Torg__V1__FeedTask *run_task(struct feed_scene *scene, int64_t task_id, const char *rows)
{
    Torg__V1__FeedTask *task;
    struct err err = {0};
    size_t count;

    events_of(scene, rows, 0, &count);
    OK(try_rows(scene, task_id, rows, 0, &err));
    OK(try_end(scene, task_id, (int64_t)count, &task, &err));
    return task;
}

Torg__V1__FeedTask *get_task(struct feed_scene *scene, int64_t task_id)
{
    struct feed_key key = key_of(scene, task_id);
    struct feed_task task;
    struct err err = {0};

    OK(feed_task_get(&scene->place.offers, &key, scene->arena, &task, &err));
    return task.message;
}

Torg__V1__FeedTask *undo(struct feed_scene *scene, int64_t task_id)
{
    struct feed_key key = key_of(scene, task_id);
    struct feed_task task;
    struct err err = {0};

    OK(feed_undo(&scene->place.offers, &key, for_ever(), scene->arena, &task, &err));
    return task.message;
}

Torg__V1__FeedTask *confirm(struct feed_scene *scene, int64_t task_id)
{
    struct feed_key key = key_of(scene, task_id);
    struct feed_task task;
    struct err err = {0};

    OK(feed_task_move(&scene->place.offers, &key, FEED_HELD, FEED_ENDING, scene->arena, &task,
                      &err));
    OK(feed_end_go_on(&scene->place.offers, &key, for_ever(), scene->arena, &task, &err));
    return task.message;
}

/* --- looking --- */

static const char *kept_text(struct feed_scene *scene, struct buf *text)
{
    const char *kept = arena_strdup(scene->arena, buf_text(text));

    assert_false(buf_failed(text));
    buf_release(text);
    return kept;
}

const char *told(struct feed_scene *scene, const Torg__V1__FeedTask *task)
{
    struct buf text = BUF_INIT(TEXT_SIZE_MAX);
    const Torg__V1__FeedCounts *counts = task->counts;
    const struct {
        const char *name;
        int64_t count;
    } all[] = {{"rows", counts->rows},           {"created", counts->created},
               {"updated", counts->updated},     {"unchanged", counts->unchanged},
               {"banned", counts->banned},       {"refused", counts->refused},
               {"left", counts->left},           {"deleted", counts->deleted},
               {"revived", counts->revived},     {"undone", counts->undone},
               {"undo_left", counts->undo_left}, {"withdrawn", counts->withdrawn}};

    buf_put_text(&text, feed_state_name((enum feed_state)task->state));
    if (task->hold)
        buf_printf(&text, " %s",
                   protobuf_c_enum_descriptor_get_value(&torg__v1__feed_task__hold__descriptor,
                                                        (int)task->hold)
                       ->name);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].count)
            buf_printf(&text, " %s %" PRId64, all[i].name, all[i].count);
    }
    return kept_text(scene, &text);
}

static void put_row(struct buf *text, const Torg__V1__FeedReportRow *row)
{
    if (text->size)
        buf_put_text(text, "; ");
    if (row->row)
        buf_printf(text, "%" PRId64 " ", row->row);
    else
        buf_put_text(text, "- ");
    buf_printf(text, "%s %s", row->external_id,
               protobuf_c_enum_descriptor_get_value(&torg__v1__feed_report_row__outcome__descriptor,
                                                    (int)row->outcome)
                   ->name);
    for (size_t i = 0; i < row->n_problems; i++)
        buf_printf(text, " %s",
                   *row->problems[i]->field ? row->problems[i]->field : row->problems[i]->reason);
    for (size_t i = 0; i < row->n_notes; i++)
        buf_printf(text, " (%s)", row->notes[i]->reason);
    for (size_t i = 0; i < row->n_photos_failed; i++)
        buf_printf(text, " photo %s: %s", row->photos_failed[i]->field,
                   row->photos_failed[i]->reason);
    if (row->undo)
        buf_printf(text,
                   row->undo == TORG__V1__FEED_REPORT_ROW__UNDO__UNDONE ? " undone" : " left: %s",
                   row->undo_reason);
}

const char *report(struct feed_scene *scene, int64_t task_id)
{
    struct feed_key key = key_of(scene, task_id);
    struct buf text = BUF_INIT(TEXT_SIZE_MAX);
    struct feed_place place = {.external_id = ""};
    Torg__V1__FeedReportRow *rows[PAGE_COUNT];
    struct feed_task task;
    struct err err = {0};
    size_t count;

    OK(feed_task_get(&scene->place.offers, &key, scene->arena, &task, &err));
    do {
        OK(feed_rows_read(&scene->place.offers, &task, &place,
                          TORG__V1__FEED_REPORT_ROW__OUTCOME__OUTCOME_UNSPECIFIED, PAGE_COUNT,
                          scene->arena, rows, &count, &err));
        for (size_t i = 0; i < count; i++)
            put_row(&text, rows[i]);
    } while (count == PAGE_COUNT);
    return kept_text(scene, &text);
}

struct showing {
    struct feed_scene *scene;
    struct store_tx *tx;
    struct buf text;
};

static int show_offer(struct showing *showing, const struct store_value *columns, struct err *err)
{
    Torg__V1__Offer *offer;
    int rc =
        record_open_offer(columns[1].integer, columns[2].bytes, showing->scene->arena, &offer, err);

    if (rc)
        return rc;
    if (showing->text.size)
        buf_put_text(&showing->text, " ");
    buf_printf(&showing->text, "%.*s=%s", BYTES_ARG(columns[0].bytes), offer->content->title + 6);
    assert_string_equal(offer->content->external_id,
                        arena_text(showing->scene->arena, columns[0].bytes));
    if (offer->status != TORG__V1__OFFER__STATUS__ACTIVE)
        buf_printf(&showing->text, ":%s", offer_status_name((enum offer_status)offer->status));
    return 0;
}

static int show(struct store_tx *tx, void *arg, struct err *err)
{
    struct showing *showing = arg;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(showing->scene->seller))};
    struct store_rows rows =
        store_select(tx,
                     "SELECT f.external_id, o.id, o.body FROM feed f JOIN offer o ON o.id = "
                     "f.offer_id AND o.kind = 'offer' WHERE f.seller_id = $1 AND f.gone_us = 0 "
                     "ORDER BY f.external_id",
                     params, 1);

    buf_reset(&showing->text);
    while (store_next(&rows))
        rows.rc = show_offer(showing, rows.columns, err);
    return store_rows_end(&rows, err);
}

const char *shown(struct feed_scene *scene)
{
    struct showing showing = {.scene = scene, .text = BUF_INIT(TEXT_SIZE_MAX)};
    struct err err = {0};

    OK(store_read(scene->place.store, show, &showing, &err));
    return kept_text(scene, &showing.text);
}

struct itemizing {
    struct feed_scene *scene;
    const char *external_id;
    struct external_item item;
    Torg__V1__Offer *offer;
};

static int find_item(struct store_tx *tx, void *arg, struct err *err)
{
    struct itemizing *itemizing = arg;
    struct feed_scene *scene = itemizing->scene;
    int rc = external_item_find(tx, scene->seller, itemizing->external_id, scene->arena,
                                &itemizing->item, err);

    if (!rc && itemizing->item.offer_id)
        rc = record_find(tx, itemizing->item.offer_id, scene->arena, &itemizing->offer, err);
    return rc;
}

Torg__V1__Offer *item_offer(struct feed_scene *scene, const char *external_id)
{
    struct itemizing itemizing = {.scene = scene, .external_id = external_id};
    struct err err = {0};

    OK(store_read(scene->place.store, find_item, &itemizing, &err));
    return itemizing.offer;
}

void move_item(struct feed_scene *scene, const char *external_id, enum offer_move move)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(NULL, scene->arena);
    struct err err = {0};

    OK(offers_move(&scene->place.offers, &author, id_of(item_offer(scene, external_id)->id), 0,
                   move, &receipt, &err));
}

bool judge(struct feed_scene *scene, const char *offer_id, int64_t revision, bool ban)
{
    static char *reasons[] = {"counterfeit"};
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    struct err err = {0};

    opinion.offer_id = (char *)offer_id;
    opinion.revision = revision;
    opinion.verdict = ban ? TORG__V1__MODERATION_OPINION__VERDICT__BAN
                          : TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    opinion.reasons = reasons;
    opinion.n_reasons = ban;
    OK(moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &answer, &err));
    return answer.applied;
}

void check_items(struct feed_scene *scene)
{
    static const char *const wrong[] = {
        /* a name whose offer is not there */
        "SELECT COUNT(*) FROM feed f WHERE NOT EXISTS (SELECT 1 FROM offer o WHERE "
        "o.id = f.offer_id AND o.kind = 'offer')",
        /* gone exactly when its offer is deleted (which has no category) */
        "SELECT COUNT(*) FROM feed f JOIN offer o ON o.id = f.offer_id AND o.kind = 'offer' "
        "WHERE (f.gone_us = 0) <> (o.category_id IS NOT NULL)",
        /* an offer with two names */
        "SELECT COUNT(*) FROM (SELECT offer_id FROM feed GROUP BY offer_id HAVING COUNT(*) > 1) d",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t count = read_integer(scene->place.store, wrong[i]);

        if (count)
            fail_msg("%" PRId64 " by: %s", count, wrong[i]);
    }
    place_recount(&scene->place);
}
