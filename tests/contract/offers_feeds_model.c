/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_feeds_model.c - random feeds of several sellers, compared with a naive model step by step.
 *
 * A step sends rows (new ones, the same again, the same number with other content), ends a task
 * with the right or a wrong count, confirms, cancels, undoes, cuts; or a seller or time moves an
 * offer, or a moderator has an opinion on one, deleted or not. Tasks and opinions come late and
 * overlap. The model has arrays and tells every rule a
 * second time.
 *
 * TORG_FEED_SEQUENCES (PostgreSQL: a twentieth of it) and TORG_MODEL_SEED repeat and deepen a run.
 */
#include "contract/feeds_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/random.h"
#include "feeds/apply/undo.h"
#include "long.h"

enum {
    SEQUENCE_COUNT = 200,
    SEQUENCE_COUNT_LONG = 4000,
    STEP_COUNT = 30,
    SELLER_COUNT = 2,
    FEED_COUNT = 2,
    NAME_COUNT = 6,
    TASK_COUNT_MAX = STEP_COUNT + 8,
    ROW_COUNT_MAX = 64,
    OFFER_COUNT_MAX = 512,
    NUMBER_COUNT = 3, /* different contents */
    BAD = -1,         /* a row that the catalogue refuses */
    DELETION = -2,    /* a row that deletes */
    REVIVE_S = 1000,
    UNDO_S = 650,
    NO_OFFER = -1,
    NO_FEED = -1,
};

#define OUTCOME(name) TORG__V1__FEED_REPORT_ROW__OUTCOME__##name
#define STATE(name) TORG__V1__FEED_TASK__STATE__##name

static const char *const feed_names[FEED_COUNT] = {"main", "other"};

struct m_offer {
    enum offer_status status;
    enum offer_status before_ban;
    int64_t opinion; /* the revision of the newest; 0: there is none */
    bool is_banned;  /* by it */
    int number;
    char id[OFFER_ID_TEXT_SIZE];
};

struct m_item {
    int offer; /* NO_OFFER: there is none */
    int feed;  /* NO_FEED: of none */
    int64_t task;
    int64_t gone_us;
};

struct m_row {
    int64_t row;
    int name;
    int what; /* a number, BAD, DELETION */
    int outcome;
    int offer;
    bool changed;
    bool has_content; /* the content was changed too */
    struct m_offer before;
    enum offer_status after_status;
    int after_number;
    int undo;
};

struct m_task {
    int seller;
    int feed;
    Torg__V1__FeedTask message;
    Torg__V1__FeedCounts counts;
    int64_t undo_until_us;
    struct m_row rows[ROW_COUNT_MAX];
    int row_count;
    int sent[ROW_COUNT_MAX]; /* name and what of each number, for sending it again */
    int sent_what[ROW_COUNT_MAX];
    int sent_count;
};

struct model {
    struct feed_scene *scene;
    struct rng rng;
    uint64_t seed;
    int sequence;
    int step;
    const char *what;
    char sellers[SELLER_COUNT][32];
    struct m_offer offers[OFFER_COUNT_MAX];
    int offer_count;
    struct m_item items[SELLER_COUNT][NAME_COUNT];
    struct m_task tasks[TASK_COUNT_MAX];
    int task_count;
    int64_t ended[SELLER_COUNT][FEED_COUNT];
    int64_t last[SELLER_COUNT][FEED_COUNT];
};

#define CHECK(model, condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ", sequence %d, step %d (%s): %s", (model)->seed,             \
                     (model)->sequence, (model)->step, (model)->what, #condition);                 \
    } while (0)

static void check_same(struct model *model, const char *real, const char *expected)
{
    if (strcmp(real, expected) != 0)
        fail_msg("seed %" PRIu64 ", sequence %d, step %d (%s):\n  \"%s\"\nthe model has\n  \"%s\"",
                 model->seed, model->sequence, model->step, model->what, real, expected);
}

static int below(struct model *model, int bound)
{
    return (int)rng_below(&model->rng, (uint64_t)bound);
}

static int64_t now_us(struct model *model)
{
    return clock_wall_us(&model->scene->place.clock.base);
}

/* --- the rules of rows, told a second time --- */

static int64_t *count_of(struct m_task *task, int outcome)
{
    int64_t *const places[] = {NULL,
                               &task->counts.created,
                               &task->counts.updated,
                               &task->counts.unchanged,
                               &task->counts.banned,
                               &task->counts.refused,
                               &task->counts.left,
                               &task->counts.deleted,
                               &task->counts.revived};

    return places[outcome];
}

static struct m_row *row_find(struct m_task *task, int64_t row, int name)
{
    for (int i = 0; i < task->row_count; i++) {
        if (task->rows[i].row == row && task->rows[i].name == name)
            return &task->rows[i];
    }
    return NULL;
}

static bool is_sold(const struct m_offer *offer)
{
    return offer->status == OFFER_SOLD_ON_SITE || offer->status == OFFER_SOLD_ELSEWHERE;
}

static bool is_settled(struct m_task *task, const struct m_row *kept, int what)
{
    return kept && task->message.state != STATE(ENDING) && kept->what == what &&
           (kept->outcome != OUTCOME(REFUSED) || task->message.state != STATE(RUNNING));
}

/* The offer is to have the status, if nothing is against it. */
static void give_back(struct m_offer *offer, enum offer_status status)
{
    /* What a ban hid; one that has ended since hid what can be seen. */
    if (status == OFFER_BANNED)
        status = offer->before_ban ? offer->before_ban : OFFER_ACTIVE;
    offer->before_ban = offer->is_banned ? status : OFFER_NONE;
    offer->status = offer->is_banned ? OFFER_BANNED : status;
}

/* What the row makes of the offer; the item is touched unless *touched says otherwise. */
static int apply_to_item(struct model *model, struct m_task *task, struct m_item *item, int what,
                         struct m_row *row, bool *touched)
{
    struct m_offer *offer = item->offer == NO_OFFER ? NULL : &model->offers[item->offer];
    bool live = offer && !item->gone_us;

    *touched = live;
    if (offer && item->feed == task->feed && item->task > task->message.task_id) {
        *touched = false;
        return OUTCOME(LEFT);
    }
    if (live && item->feed != NO_FEED && item->feed != task->feed) {
        *touched = false;
        return OUTCOME(REFUSED);
    }
    if (what == DELETION) {
        if (!live || task->message.state != STATE(ENDING))
            return OUTCOME(UNCHANGED); /* with others at the end */
        row->changed = true;
        offer->status = OFFER_DELETED;
        item->gone_us = now_us(model);
        return OUTCOME(DELETED);
    }
    if (live && is_sold(offer))
        return OUTCOME(UNCHANGED);
    if (what == BAD)
        return OUTCOME(REFUSED);
    *touched = true;
    if (live) {
        row->changed = row->has_content = offer->number != what || offer->status == OFFER_EXPIRED;
        if (offer->status == OFFER_EXPIRED)
            offer->status = OFFER_ACTIVE;
        offer->number = what;
        if (offer->status == OFFER_BANNED)
            return OUTCOME(BANNED);
        return row->changed ? OUTCOME(UPDATED) : OUTCOME(UNCHANGED);
    }
    row->changed = true;
    if (offer &&
        (offer->is_banned || now_us(model) - item->gone_us <= (int64_t)REVIVE_S * SECOND_US)) {
        row->has_content = true;
        give_back(offer, offer->is_banned ? OFFER_BANNED : OFFER_ACTIVE);
        offer->number = what;
        item->gone_us = 0;
        return offer->is_banned ? OUTCOME(BANNED) : OUTCOME(REVIVED);
    }
    CHECK(model, model->offer_count < OFFER_COUNT_MAX);
    row->before = (struct m_offer){0};
    item->offer = model->offer_count;
    item->gone_us = 0;
    model->offers[model->offer_count++] = (struct m_offer){.status = OFFER_ACTIVE, .number = what};
    return OUTCOME(CREATED);
}

/* What stays of the record of an earlier row with the same number. */
static void merge(struct m_row *row, const struct m_row *kept)
{
    if (!kept || !kept->changed)
        return;
    if (!row->changed) {
        row->changed = true;
        row->has_content = kept->has_content;
        row->before = kept->before;
        row->after_status = kept->after_status;
        row->after_number = kept->after_number;
        row->offer = kept->offer;
        if (row->outcome == OUTCOME(UNCHANGED))
            row->outcome = kept->outcome;
    } else if (row->outcome != OUTCOME(CREATED) && kept->offer == row->offer) {
        if (kept->outcome == OUTCOME(CREATED) && row->outcome == OUTCOME(UPDATED))
            row->outcome = OUTCOME(CREATED);
        if (kept->has_content || kept->outcome == OUTCOME(CREATED))
            row->before = kept->before;
        else
            row->before.status = kept->before.status;
        row->has_content =
            kept->has_content || (row->has_content && kept->outcome != OUTCOME(CREATED));
    }
}

static void keep_row(struct model *model, struct m_task *task, struct m_row *row,
                     struct m_row *kept)
{
    if (kept && task->message.state == STATE(ENDING))
        row->what = kept->what;
    merge(row, kept);
    if (kept)
        (*count_of(task, kept->outcome))--;
    else
        task->counts.rows += row->row != FEED_ROW_GONE;
    (*count_of(task, row->outcome))++;
    if (!kept) {
        CHECK(model, task->row_count < ROW_COUNT_MAX);
        kept = &task->rows[task->row_count++];
    }
    *kept = *row;
}

/* Whether it counts for its name, and not those before it. */
static bool apply_row(struct model *model, struct m_task *task, int64_t number, int name, int what)
{
    struct m_item *item = &model->items[task->seller][name];
    struct m_row *kept = row_find(task, number, name);
    struct m_row row = {.row = number, .name = name, .what = what};
    bool touched;
    bool counts;

    if (is_settled(task, kept, what))
        return false;
    if (item->offer != NO_OFFER)
        row.before = model->offers[item->offer];
    row.outcome = apply_to_item(model, task, item, what, &row, &touched);
    counts = row.outcome != OUTCOME(REFUSED);
    row.offer = item->offer;
    if (row.changed) {
        row.after_status = model->offers[item->offer].status;
        row.after_number = model->offers[item->offer].number;
    }
    if (touched) {
        item->feed = task->feed;
        item->task = task->message.task_id;
        if (what == DELETION && !row.changed)
            item->task--;
    }
    keep_row(model, task, &row, kept);
    return counts;
}

/* A row behind it has its name. */
static void pass_over(struct model *model, struct m_task *task, int64_t number, int name, int what)
{
    struct m_row *kept = row_find(task, number, name);
    struct m_row row = {.row = number, .name = name, .what = what, .outcome = OUTCOME(UNCHANGED)};

    if (is_settled(task, kept, what))
        return;
    row.offer = model->items[task->seller][name].offer;
    keep_row(model, task, &row, kept);
}

/* Of the rows of a name that are sent at once the last that is good counts. */
static void apply_rows(struct model *model, struct m_task *task, int first, int count)
{
    bool counts[NAME_COUNT] = {false};

    for (int i = first + count - 1; i >= first; i--) {
        int name = task->sent[i];

        if (counts[name])
            pass_over(model, task, i + 1, name, task->sent_what[i]);
        else
            counts[name] = apply_row(model, task, i + 1, name, task->sent_what[i]);
    }
}

/* --- the rules of tasks --- */

static bool is_late(struct model *model, const struct m_task *task)
{
    return model->ended[task->seller][task->feed] > task->message.task_id;
}

static bool is_older(const struct m_item *item, const struct m_task *task)
{
    return item->offer != NO_OFFER && !item->gone_us && item->feed == task->feed &&
           item->task < task->message.task_id;
}

/* The last row of the name; FEED_ROW_GONE: there is none. */
static int64_t last_row(const struct m_task *task, int name)
{
    int64_t last = 0;

    for (int i = 0; i < task->row_count; i++) {
        if (task->rows[i].name == name && task->rows[i].row > last)
            last = task->rows[i].row;
    }
    return last ? last : FEED_ROW_GONE;
}

static void finish(struct model *model, struct m_task *task)
{
    struct m_item *items = model->items[task->seller];

    if (model->ended[task->seller][task->feed] < task->message.task_id)
        model->ended[task->seller][task->feed] = task->message.task_id;
    task->message.state = STATE(ENDING);
    for (int i = 0; i < NAME_COUNT; i++) {
        if (is_older(&items[i], task))
            apply_row(model, task, last_row(task, i), i, DELETION);
    }
    task->message.state = STATE(DONE);
    task->undo_until_us = now_us(model) + (int64_t)UNDO_S * SECOND_US;
}

static void end_in_model(struct model *model, struct m_task *task, int64_t row_count)
{
    struct m_item *items = model->items[task->seller];
    int64_t older = 0;
    int64_t had = -(task->counts.created + task->counts.revived);

    for (int i = 0; i < NAME_COUNT; i++) {
        older += is_older(&items[i], task);
        had += items[i].offer != NO_OFFER && !items[i].gone_us && items[i].feed == task->feed;
    }
    had = had > older ? had : older;
    task->message.state = STATE(HELD);
    task->message.hold = TORG__V1__FEED_TASK__HOLD__HOLD_UNSPECIFIED;
    if (row_count != task->counts.rows)
        task->message.hold = TORG__V1__FEED_TASK__HOLD__COUNT_DIFFERS;
    else if (task->counts.rows == task->counts.refused && older)
        task->message.hold = TORG__V1__FEED_TASK__HOLD__EMPTY;
    else if (older > model->scene->rules.guard_min &&
             older * 100 > had * model->scene->rules.guard_percent)
        task->message.hold = TORG__V1__FEED_TASK__HOLD__MASS_DELETION;
    else
        finish(model, task);
}

static int order_of_undo(const void *a, const void *b)
{
    const struct m_row *x = a;
    const struct m_row *y = b;

    if (x->row != y->row)
        return x->row < y->row ? 1 : -1;
    return y->name - x->name;
}

static void undo_in_model(struct model *model, struct m_task *task)
{
    qsort(task->rows, (size_t)task->row_count, sizeof(task->rows[0]), order_of_undo);
    for (int i = 0; i < task->row_count; i++) {
        struct m_row *row = &task->rows[i];
        struct m_item *item = &model->items[task->seller][row->name];
        struct m_offer *offer = row->offer == NO_OFFER ? NULL : &model->offers[row->offer];

        if (!row->changed)
            continue;
        if (item->offer != row->offer || item->feed != task->feed ||
            item->task > task->message.task_id || offer->status != row->after_status ||
            offer->number != row->after_number) {
            task->counts.undo_left++;
            continue;
        }
        task->counts.undone++;
        if (row->before.status && row->before.status != OFFER_DELETED)
            give_back(offer, row->before.status);
        else
            offer->status = OFFER_DELETED;
        if (row->has_content)
            offer->number = row->before.number;
        item->gone_us = offer->status == OFFER_DELETED ? now_us(model) : 0;
    }
    task->message.state = STATE(UNDONE);
}

/* --- comparing --- */

static void check_seller(struct model *model, int seller)
{
    struct feed_scene *scene = model->scene;
    struct buf text = BUF_INIT(1 << 16);

    scene->seller = model->sellers[seller];
    for (int i = 0; i < NAME_COUNT; i++) {
        const struct m_item *item = &model->items[seller][i];
        struct m_offer *offer = item->offer == NO_OFFER ? NULL : &model->offers[item->offer];
        const char *id;

        if (!offer || item->gone_us)
            continue;
        buf_printf(&text, "%s%c=%d", text.size ? " " : "", 'a' + i, offer->number);
        if (offer->status != OFFER_ACTIVE)
            buf_printf(&text, ":%s", offer_status_name(offer->status));
        id = item_offer(scene, (char[]){(char)('a' + i), 0})->id;
        if (!*offer->id)
            snprintf(offer->id, sizeof(offer->id), "%s", id);
        check_same(model, id, offer->id);
    }
    check_same(model, shown(scene), buf_text(&text));
    buf_release(&text);
}

static void check_task(struct model *model, struct m_task *task)
{
    struct feed_scene *scene = model->scene;

    scene->seller = model->sellers[task->seller];
    scene->feed = feed_names[task->feed];
    task->message.counts = &task->counts;
    if (getenv("TORG_MODEL_TRACE"))
        printf("# %s\n", report(scene, task->message.task_id));
    check_same(model, told(scene, get_task(scene, task->message.task_id)),
               told(scene, &task->message));
}

/* --- steps --- */

static struct m_task *task_with(struct model *model, int seller, int feed, int64_t task_id)
{
    for (int i = 0; i < model->task_count; i++) {
        struct m_task *task = &model->tasks[i];

        if (task->seller == seller && task->feed == feed && task->message.task_id == task_id)
            return task;
    }
    return NULL;
}

static struct m_task *task_new(struct model *model, int seller, int feed, int64_t task_id)
{
    struct m_task *task = &model->tasks[model->task_count];

    CHECK(model, model->task_count < TASK_COUNT_MAX);
    *task = (struct m_task){.seller = seller,
                            .feed = feed,
                            .message = TORG__V1__FEED_TASK__INIT,
                            .counts = TORG__V1__FEED_COUNTS__INIT};
    task->message.task_id = task_id;
    task->message.state = STATE(RUNNING);
    if (model->last[seller][feed] < task_id)
        model->last[seller][feed] = task_id;
    return task;
}

/* What opening would do; 0 or an error. A new one is in the list only when it was made. */
static int open_in_model(struct model *model, struct m_task *task, bool is_new)
{
    if (is_new) {
        if (is_late(model, task))
            return ERR_PRECONDITION;
        model->task_count++;
        return 0;
    }
    if (task->message.state == STATE(CANCELLED) || task->message.state == STATE(UNDONE))
        return ERR_PRECONDITION;
    if (task->message.state == STATE(HELD)) {
        if (is_late(model, task))
            return ERR_PRECONDITION;
        task->message.state = STATE(RUNNING);
        task->message.hold = TORG__V1__FEED_TASK__HOLD__HOLD_UNSPECIFIED;
    }
    return 0;
}

/* Rows first + 1, …: again as they were, or new ones; some of the old with other content. */
static const char *choose_rows(struct model *model, struct m_task *task, int *first, int *count)
{
    struct buf text = BUF_INIT(1 << 12);
    const char *kept;

    *first = task->sent_count && below(model, 3) == 0 ? 0 : task->sent_count;
    *count = below(model, 6);
    for (int i = *first; i < *first + *count && i < ROW_COUNT_MAX / 2; i++) {
        if (i >= task->sent_count || below(model, 8) == 0) {
            if (i >= task->sent_count)
                task->sent[i] = below(model, NAME_COUNT);
            task->sent_what[i] = below(model, 8) == 0   ? BAD
                                 : below(model, 8) == 0 ? DELETION
                                                        : below(model, NUMBER_COUNT);
            if (i >= task->sent_count)
                task->sent_count = i + 1;
        }
        buf_put_text(&text, text.size ? " " : "");
        if (task->sent_what[i] == DELETION)
            buf_printf(&text, "-%c", 'a' + task->sent[i]);
        else if (task->sent_what[i] == BAD)
            buf_printf(&text, "%c=?", 'a' + task->sent[i]);
        else
            buf_printf(&text, "%c=%d", 'a' + task->sent[i], task->sent_what[i]);
    }
    if (*first + *count > ROW_COUNT_MAX / 2)
        *count = ROW_COUNT_MAX / 2 > *first ? ROW_COUNT_MAX / 2 - *first : 0;
    kept = arena_strdup(model->scene->arena, buf_text(&text));
    buf_release(&text);
    return kept;
}

/* Whether all rows are known as they are. */
static bool are_settled(struct m_task *task, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        if (!is_settled(task, row_find(task, i + 1, task->sent[i]), task->sent_what[i]))
            return false;
    }
    return true;
}

static void send_rows(struct model *model, struct m_task *task, bool is_new)
{
    struct feed_scene *scene = model->scene;
    struct err err = {0};
    int first;
    int count;
    const char *rows = choose_rows(model, task, &first, &count);
    int expected = open_in_model(model, task, is_new);
    int rc = try_rows(scene, task->message.task_id, rows, first, &err);

    if (!expected && !are_settled(task, first, count) &&
        (task->message.state != STATE(RUNNING) || is_late(model, task)))
        expected = ERR_PRECONDITION;
    model->what = arena_printf(scene->arena, "task %" PRId64 ": rows %s from %d: %s",
                               task->message.task_id, rows, first, err.text);
    CHECK(model, rc == expected);
    if (!rc)
        apply_rows(model, task, first, count);
}

static void end_task(struct model *model, struct m_task *task)
{
    int64_t row_count = task->counts.rows + (below(model, 6) == 0);
    bool open = task->message.state == STATE(RUNNING) || task->message.state == STATE(HELD);
    Torg__V1__FeedTask *real;
    struct err err = {0};
    int rc = try_end(model->scene, task->message.task_id, row_count, &real, &err);

    model->what = arena_printf(model->scene->arena, "task %" PRId64 ": end", task->message.task_id);
    CHECK(model, rc == (open && is_late(model, task) ? ERR_PRECONDITION : 0));
    if (!rc && open)
        end_in_model(model, task, row_count);
}

static void decide_task(struct model *model, struct m_task *task, int how)
{
    static const enum feed_state to[] = {FEED_ENDING, FEED_CANCELLED};
    struct feed_scene *scene = model->scene;
    struct feed_key key = key_of(scene, task->message.task_id);
    enum feed_state from = how == 2 ? FEED_RUNNING : FEED_HELD;
    struct feed_task real;
    struct err err = {0};

    model->what = how == 0 ? "confirm" : how == 1 ? "cancel" : "cut";
    if (how == 2)
        OK(feed_end_cut(&scene->place.offers, &key, scene->arena, &real, &err));
    else
        OK(feed_task_move(&scene->place.offers, &key, from, to[how], scene->arena, &real, &err));
    if (how == 0)
        OK(feed_end_go_on(&scene->place.offers, &key, for_ever(), scene->arena, &real, &err));
    if (task->message.state != (Torg__V1__FeedTask__State)from)
        return;
    if (how == 0) {
        finish(model, task);
    } else if (how == 1) {
        task->message.state = STATE(CANCELLED);
        task->undo_until_us = now_us(model) + (int64_t)UNDO_S * SECOND_US;
    } else {
        task->message.state = STATE(HELD);
        task->message.hold = TORG__V1__FEED_TASK__HOLD__CUT_SHORT;
    }
}

static void undo_task(struct model *model, struct m_task *task)
{
    struct feed_scene *scene = model->scene;
    struct feed_key key = key_of(scene, task->message.task_id);
    bool over = task->message.state == STATE(UNDONE);
    bool may = (task->message.state == STATE(DONE) || task->message.state == STATE(CANCELLED)) &&
               now_us(model) <= task->undo_until_us;
    struct feed_task real;
    struct err err = {0};
    int rc = feed_undo(&scene->place.offers, &key, for_ever(), scene->arena, &real, &err);

    model->what = arena_printf(scene->arena, "undo task %" PRId64, task->message.task_id);
    CHECK(model, rc == (may || over ? 0 : ERR_PRECONDITION));
    if (may)
        undo_in_model(model, task);
}

/* A moderator; at times the opinion comes late, or twice. */
static void give_opinion(struct model *model, int seller, int name)
{
    const struct m_item *item = &model->items[seller][name];
    struct m_offer *offer = item->offer == NO_OFFER ? NULL : &model->offers[item->offer];
    bool bans = below(model, 3) > 0;
    int64_t revision;
    const char *id;

    if (!offer)
        return;
    revision = offer->opinion + 2 - below(model, 3);
    if (revision < 1)
        return;
    model->what = arena_printf(model->scene->arena, "opinion %" PRId64 " on %c: %s", revision,
                               'a' + name, bans ? "ban" : "pass");
    id = item_offer(model->scene, (char[]){(char)('a' + name), 0})->id;
    CHECK(model, judge(model->scene, id, revision, bans) == (revision > offer->opinion));
    if (revision <= offer->opinion)
        return;
    offer->opinion = revision;
    offer->is_banned = bans;
    if (offer->status == OFFER_DELETED)
        return;
    if (bans && offer->status != OFFER_BANNED) {
        offer->before_ban = offer->status;
        offer->status = OFFER_BANNED;
    } else if (!bans && offer->status == OFFER_BANNED) {
        offer->status = offer->before_ban;
        offer->before_ban = OFFER_NONE;
    }
}

/* A seller or time. */
static void move_offer(struct model *model, int seller, int name)
{
    static const enum offer_move moves[] = {MOVE_WITHDRAW, MOVE_REPUBLISH, MOVE_SELL_ON_SITE,
                                            MOVE_DELETE, MOVE_EXPIRE};
    enum offer_move move = moves[below(model, sizeof(moves) / sizeof(moves[0]))];
    struct m_item *item = &model->items[seller][name];
    struct m_offer *offer = item->offer == NO_OFFER ? NULL : &model->offers[item->offer];
    enum offer_status to;
    struct err err = {0};

    if (!offer || item->gone_us ||
        offer_status_move(offer->status, move, offer->before_ban, "it", &to, &err))
        return;
    model->what = arena_printf(model->scene->arena, "%s %c", offer_move_name(move), 'a' + name);
    move_item(model->scene, (char[]){(char)('a' + name), 0}, move);
    offer->status = to;
    if (to == OFFER_DELETED)
        item->gone_us = now_us(model);
}

static void create_by_hand(struct model *model, int seller, int name)
{
    struct feed_scene *scene = model->scene;
    struct m_item *item = &model->items[seller][name];
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(scene->seller, scene->arena);
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", 7, 100, "RUB");
    struct err err = {0};

    model->what = "create by hand";
    content->external_id = arena_printf(scene->arena, "%c", 'a' + name);
    if (item->offer != NO_OFFER && !item->gone_us) {
        CHECK(model,
              offers_create(&scene->place.offers, &author, content, &receipt, &err) == ERR_EXISTS);
        return;
    }
    if (item->offer != NO_OFFER && model->offers[item->offer].is_banned) {
        CHECK(model, offers_create(&scene->place.offers, &author, content, &receipt, &err) ==
                         ERR_PRECONDITION);
        return;
    }
    OK(offers_create(&scene->place.offers, &author, content, &receipt, &err));
    *item = (struct m_item){.offer = model->offer_count, .feed = NO_FEED};
    model->offers[model->offer_count++] = (struct m_offer){.status = OFFER_ACTIVE, .number = 7};
}

static void advance(struct model *model)
{
    static const int seconds[] = {7, 7, 7, 600, 1100};

    model->what = "time goes on";
    clock_manual_advance(&model->scene->place.clock, (int64_t)seconds[below(model, 5)] * SECOND_US);
}

/* One that is there, mostly the newest; or the next, or one between (task ids have gaps). */
static struct m_task *choose_task(struct model *model, int seller, int feed, bool *is_new)
{
    int64_t last = model->last[seller][feed];
    int64_t task_id = below(model, 3) == 0 ? last + 1 + below(model, 3) : last - below(model, 3);
    struct m_task *task;

    if (task_id < 1)
        task_id = last + 1;
    task = task_with(model, seller, feed, task_id);
    *is_new = !task;
    return task ? task : task_new(model, seller, feed, task_id);
}

static void act_on_task(struct model *model, int seller, int feed)
{
    bool is_new;
    struct m_task *task = choose_task(model, seller, feed, &is_new);
    int dice = is_new ? 0 : below(model, 15);

    if (dice < 5) {
        send_rows(model, task, is_new);
        /* Many are sent and end at once, or there would be little to undo. */
        if (task_with(model, seller, feed, task->message.task_id) && below(model, 2) == 0)
            end_task(model, task);
    } else if (dice < 8) {
        end_task(model, task);
    } else if (dice < 11) {
        decide_task(model, task, dice - 8);
    } else {
        undo_task(model, task);
    }
    if (task_with(model, seller, feed, task->message.task_id))
        check_task(model, task);
}

static void step(struct model *model)
{
    int seller = below(model, SELLER_COUNT);
    int feed = below(model, 4) == 0;
    int dice = below(model, 14);

    model->scene->seller = model->sellers[seller];
    model->scene->feed = feed_names[feed];
    model->what = "nothing";
    if (dice < 2)
        move_offer(model, seller, below(model, NAME_COUNT));
    else if (dice == 2)
        create_by_hand(model, seller, below(model, NAME_COUNT));
    else if (dice == 3)
        advance(model);
    else if (dice < 6)
        give_opinion(model, seller, below(model, NAME_COUNT));
    else
        act_on_task(model, seller, feed);
    for (int i = 0; i < SELLER_COUNT; i++)
        check_seller(model, i);
}

static void run_sequence(struct feed_scene *scene, uint64_t seed, int sequence)
{
    static struct model model;

    memset(&model, 0, sizeof(model));
    model.scene = scene;
    model.seed = seed;
    model.sequence = sequence;
    model.rng = rng_seeded(seed + (uint64_t)sequence);
    for (int i = 0; i < SELLER_COUNT; i++) {
        snprintf(model.sellers[i], sizeof(model.sellers[i]), "s%d-%d", sequence, i);
        for (int j = 0; j < NAME_COUNT; j++)
            model.items[i][j] = (struct m_item){.offer = NO_OFFER, .feed = NO_FEED};
    }
    scene->rules.guard_min = below(&model, 3);
    scene->rules.guard_percent = 20 + below(&model, 60);
    for (model.step = 0; model.step < STEP_COUNT; model.step++) {
        step(&model);
        if (getenv("TORG_MODEL_TRACE"))
            printf("# %d/%d %s/%s %s\n", sequence, model.step, scene->seller, scene->feed,
                   model.what);
    }
    arena_reset(scene->arena);
}

static int count_from(const char *name, int fallback)
{
    const char *text = getenv(name);

    return text && *text ? (int)strtol(text, NULL, 10) : fallback;
}

static void run_model(bool postgres)
{
    struct feed_scene scene;
    uint64_t seed = (uint64_t)count_from("TORG_MODEL_SEED", 0);
    int count = (int)test_count("TORG_FEED_SEQUENCES", SEQUENCE_COUNT, SEQUENCE_COUNT_LONG);

    if (!feed_scene_open(&scene, postgres))
        skip();
    seed = seed ? seed : random_u64() % 1000000000 + 1;
    count = postgres ? (count + 19) / 20 : count;
    printf("# seed %" PRIu64 ", %d sequences\n", seed, count);
    scene.rules.revive_us = (int64_t)REVIVE_S * SECOND_US;
    scene.rules.undo_us = (int64_t)UNDO_S * SECOND_US;
    for (int i = 0; i < count; i++)
        run_sequence(&scene, seed, i);
    check_items(&scene);
    feed_scene_close(&scene);
}

static void feeds_are_as_the_model(void **state)
{
    run_model(case_on_servers(state));
}

static const struct test_case cases[] = {
    CASE(feeds_are_as_the_model),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "offers-feeds_model"};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
