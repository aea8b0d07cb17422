/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - see changes.h. */
#include "demo/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "base/task.h"
#include "demo/bounds.h"
#include "offers/bounds.h"
#include "offers/change/moderation.h"
#include "offers/lists/cabinet.h"
#include "offers/record/offer_record.h"

enum { BANNED_COUNT_MAX = 16, KOPECKS = 100, NEW_COUNT = 1 << 28, DESCRIPTION_SIZE_MAX = 3000 };

enum { CHANGES_MAGIC = OBJECT_MAGIC('d', 'c', 'h', 'g') };

struct changes {
    uint32_t magic;
    struct changes_options options;
    struct rng rng;
    struct task task;
    offerid banned[BANNED_COUNT_MAX]; /* by us, to be let in again some day */
    size_t banned_count;
    bool is_failing; /* told once, not each time */
};

/* One change under way. */
struct change {
    struct changes *changes;
    struct arena *arena;
    struct violations violations;
    struct author author;
    Torg__V1__OfferReceipt receipt;
    offerid id;
    Torg__V1__Offer *offer; /* that is to be changed */
};

/* --- which --- */

static int make_offer(struct change *change, uint64_t number, struct made_offer *made,
                      struct err *err)
{
    const struct offers *offers = change->changes->options.offers;
    struct catalog *catalog = offers->catalog(offers->catalog_arg);
    int rc = generator_make(change->changes->options.generator, catalog, number, change->arena,
                            made, err);

    catalog_unref(catalog);
    if (!rc)
        change->author.seller = made->seller;
    change->author.language = rc ? LANGUAGE_RU : made->language;
    return rc;
}

/* Some active offer that the demo has made, of the seller of some number; *found is false when he
 * has none. */
static int find_offer(struct change *change, bool *found, struct err *err)
{
    struct changes *self = change->changes;
    Torg__V1__Offer **list =
        arena_array(change->arena, OFFER_BATCH_COUNT_MAX, sizeof(Torg__V1__Offer *));
    struct cabinet_place place = cabinet_start;
    struct made_offer made;
    size_t count = 0;
    size_t own_count = 0;
    int rc = make_offer(change, rng_below(&self->rng, self->options.offer_count), &made, err);

    if (!rc)
        rc = cabinet_list(self->options.offers, made.seller, TORG__V1__CABINET__PRESET__ACTIVE,
                          &place, OFFER_BATCH_COUNT_MAX, change->arena, list, &count, err);
    for (size_t i = 0; i < count; i++) /* what a visitor has made is his */
        if (generator_is_own(list[i]->content->external_id))
            list[own_count++] = list[i];
    *found = !rc && own_count;
    if (!*found)
        return rc;
    change->offer = list[rng_below(&self->rng, own_count)];
    return offer_id_parse(bytes_of(change->offer->id), &change->id, err);
}

/* --- what --- */

static int update(struct change *change, struct err *err)
{
    return offers_update(change->changes->options.offers, &change->author, change->id,
                         change->offer->revision, change->offer->content, &change->receipt, err);
}

static int change_price(struct change *change, struct err *err)
{
    Torg__V1__Price *price = change->offer->content->price;
    bool is_shop = price && price->amount / KOPECKS % 500 == 490; /* 12 490 stays so */
    uint64_t percent = 85 + rng_below(&change->changes->rng, 22); /* mostly down */
    int64_t before;

    if (!price || price->amount <= 0)
        return 0;
    before = price->amount;
    price->amount =
        KOPECKS * generator_round_price((double)before / KOPECKS * (double)percent / 100, is_shop);
    return price->amount == before ? 0 : update(change, err);
}

static int add_words(struct change *change, struct err *err)
{
    static const char *const words[][LANGUAGE_COUNT] = {
        {"Торг уместен.", "Open to offers."},
        {"Ещё в продаже.", "Still available."},
        {"Отвечаю быстро, пишите.", "Quick to reply, just write."},
        {"Могу отправить в другой город.", "Can be sent to another city."},
    };
    Torg__V1__OfferContent *content = change->offer->content;
    const char *more =
        words[rng_below(&change->changes->rng, ARRAY_COUNT(words))][change->author.language];

    if (strstr(content->description, more) || strlen(content->description) > DESCRIPTION_SIZE_MAX)
        return 0;
    content->description = arena_printf(change->arena, "%s %s", content->description, more);
    return update(change, err);
}

static int publish(struct change *change, struct err *err)
{
    struct made_offer made;
    int rc = make_offer(change, DEMO_OFFER_COUNT_MAX + rng_below(&change->changes->rng, NEW_COUNT),
                        &made, err);

    if (rc)
        return rc;
    return offers_create(change->changes->options.offers, &change->author, made.content,
                         &change->receipt, err);
}

static int move(struct change *change, enum offer_move move, struct err *err)
{
    return offers_move(change->changes->options.offers, &change->author, change->id,
                       change->offer->revision, move, &change->receipt, err);
}

static int give_opinion(struct change *change, offerid id, bool ban, struct err *err)
{
    static char *const reasons[] = {"Похоже на повтор другого объявления",
                                    "Цена не похожа на настоящую", "Телефон в описании"};
    const struct offers *offers = change->changes->options.offers;
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    char text[OFFER_ID_TEXT_SIZE];
    char *reason = reasons[rng_below(&change->changes->rng, ARRAY_COUNT(reasons))];

    offer_id_format(id, text);
    opinion.offer_id = text;
    opinion.revision = clock_wall_us(offers->clock);
    opinion.verdict = ban ? TORG__V1__MODERATION_OPINION__VERDICT__BAN
                          : TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    opinion.reasons = &reason;
    opinion.n_reasons = ban;
    opinion.moderator = (char *)"demo";
    return moderation_apply(offers, NULL, &opinion, change->arena, &answer, err);
}

static int ban(struct change *change, struct err *err)
{
    struct changes *self = change->changes;
    int rc;

    if (self->banned_count == BANNED_COUNT_MAX) {
        offerid oldest = self->banned[0];

        memmove(self->banned, self->banned + 1, sizeof(self->banned) - sizeof(self->banned[0]));
        self->banned_count--;
        return give_opinion(change, oldest, false, err);
    }
    rc = give_opinion(change, change->id, true, err);
    if (!rc)
        self->banned[self->banned_count++] = change->id;
    return rc;
}

/* --- when --- */

static int make_change(struct change *change, struct err *err)
{
    uint64_t dice = rng_below(&change->changes->rng, 100);
    bool found;
    int rc;

    if (dice < 18)
        return publish(change, err);
    rc = find_offer(change, &found, err);
    if (rc || !found)
        return rc;
    if (dice < 70)
        return change_price(change, err);
    if (dice < 80)
        return add_words(change, err);
    if (dice < 93)
        return move(change, dice % 2 ? MOVE_SELL_ON_SITE : MOVE_SELL_ELSEWHERE, err);
    if (dice < 96)
        return move(change, MOVE_WITHDRAW, err);
    if (dice < 98)
        return move(change, MOVE_PROLONG, err);
    return ban(change, err);
}

static void step(struct changes *self, struct arena *arena)
{
    struct change change = {.changes = self,
                            .arena = arena,
                            .violations = violations_in(arena),
                            .author = {.seller = "", .arena = arena},
                            .receipt = TORG__V1__OFFER_RECEIPT__INIT};
    struct err err;
    int rc;

    change.author.violations = &change.violations;
    rc = make_change(&change, &err);
    /* Others change offers, too: someone may have been faster. */
    if (rc == ERR_CONFLICT || rc == ERR_PRECONDITION || rc == ERR_NOT_FOUND)
        rc = 0;
    if (rc && !self->is_failing)
        log_warn("a change of the demo failed", LOG_TEXT("error", err.text));
    self->is_failing = rc != 0;
}

/* Each at its time: what a slow disk has held up is made up for, but not more than a second. */
static void run(struct task *task, void *arg)
{
    struct changes *self = arg;
    const struct clock *clock = self->options.offers->clock;
    struct arena *arena = arena_new();
    int64_t due_us = clock_mono_us(clock);

    object_check(self, CHANGES_MAGIC);
    for (;;) {
        int64_t now_us = clock_mono_us(clock);

        due_us += SECOND_US / self->options.rate;
        if (due_us < now_us - SECOND_US)
            due_us = now_us;
        if (!task_wait(task, due_us))
            break;
        task_says(task, "changing an offer");
        arena_reset(arena);
        step(self, arena);
    }
    arena_free(arena);
}

int changes_start(const struct changes_options *options, struct changes **changes, struct err *err)
{
    struct changes *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "changes", .run = run, .arg = self, .clock = options->offers->clock};
    int rc;

    object_begin(self, CHANGES_MAGIC);
    *changes = NULL;
    self->options = *options;
    self->rng = rng_seeded(random_u64());
    rc = task_start(&self->task, &task, err);
    if (rc) {
        object_end(self, CHANGES_MAGIC);
        free(self);
        return rc;
    }
    *changes = self;
    return 0;
}

void changes_stop(struct changes *changes)
{
    if (!changes)
        return;
    object_check(changes, CHANGES_MAGIC);
    task_stop(&changes->task);
    object_end(changes, CHANGES_MAGIC);
    free(changes);
}
