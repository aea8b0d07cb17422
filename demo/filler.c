/* SPDX-License-Identifier: Apache-2.0 */
/* filler.c - see filler.h. */
#include "demo/filler.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "base/task.h"
#include "catalog/catalog.h"
#include "demo/bounds.h"
#include "offers/change/external_item.h"

enum { FILLER_MAGIC = OBJECT_MAGIC('f', 'i', 'l', 'l') };

struct filler {
    uint32_t magic;
    struct filler_options options;
    _Atomic uint64_t next;
    _Atomic uint64_t saved_count;
    _Atomic uint64_t created_count;
    _Atomic uint64_t waiting_count; /* of those: for their photos */
    atomic_uint running_count;
    atomic_bool has_failed; /* one of them: the others end, too */
    pthread_mutex_t lock;
    struct err err; /* guarded by lock: the first failure; code 0: none */
    struct task tasks[DEMO_FILLER_COUNT];
};

struct looking {
    const struct made_offer *offer;
    struct arena *arena;
    struct external_item item;
};

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;

    return external_item_find(tx, looking->offer->seller, looking->offer->content->external_id,
                              looking->arena, &looking->item, err);
}

/* A clock that is late: what a shop has was not all published a moment ago. */
struct late_clock {
    struct clock base;
    const struct clock *clock;
    int64_t late_us;
};

static int64_t late_wall_us(const struct clock *clock)
{
    const struct late_clock *late = container_of(clock, struct late_clock, base);

    return clock_wall_us(late->clock) - late->late_us;
}

static int64_t late_mono_us(const struct clock *clock)
{
    return clock_mono_us(container_of(clock, struct late_clock, base)->clock);
}

/* Waits are the real clock's (base/clock.h): only what time it is differs. */
static bool late_wait(const struct clock *clock, pthread_cond_t *changed, pthread_mutex_t *lock,
                      int64_t until_us)
{
    const struct clock *real = container_of(clock, struct late_clock, base)->clock;

    return real->wait(real, changed, lock, until_us);
}

/* Over some weeks, most of them in the last days; none so long ago that it would have expired. */
static int64_t age_of(uint64_t number, const struct category *category)
{
    struct rng rng = rng_seeded(number ^ 0x6461746573);
    double part = (double)rng_below(&rng, 1 << 20) / (1 << 20);
    uint32_t lifetime_days = category ? category->policy.lifetime_days : 0;
    uint32_t days =
        lifetime_days && lifetime_days <= DEMO_AGE_DAYS ? lifetime_days / 2 : DEMO_AGE_DAYS;

    return (int64_t)(part * part * days * 24 * 3600) * SECOND_US;
}

static int publish(struct filler *self, const struct made_offer *offer, int64_t age_us,
                   struct arena *arena, struct err *err)
{
    struct late_clock clock = {.base = {late_wall_us, late_mono_us, late_wait},
                               .clock = self->options.offers->clock,
                               .late_us = age_us};
    struct offers offers = *self->options.offers;
    struct looking looking = {.offer = offer, .arena = arena};
    struct violations violations = violations_in(arena);
    struct author author = {.seller = offer->seller,
                            .language = offer->language,
                            .arena = arena,
                            .violations = &violations};
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    int rc = 0;

    if (self->options.is_resumed)
        rc = store_read(self->options.offers->store, look, &looking, err);
    if (rc || looking.item.offer_id)
        return rc;
    offers.clock = &clock.base;
    rc = offers_create(&offers, &author, offer->content, &receipt, err);
    if (!rc && receipt.status == TORG__V1__OFFER__STATUS__WAITING)
        atomic_fetch_add(&self->waiting_count, 1);
    if (!rc)
        atomic_fetch_add(&self->created_count, 1);
    return rc;
}

static int fill_one(struct filler *self, struct task *task, uint64_t number, struct arena *arena,
                    struct err *err)
{
    const struct offers *offers = self->options.offers;
    struct catalog *catalog = offers->catalog(offers->catalog_arg);
    struct made_offer offer;
    int64_t age_us = 0;
    int rc = generator_make(self->options.generator, catalog, number, arena, &offer, err);

    if (!rc)
        age_us = age_of(number, category_find(catalog, offer.content->category));
    catalog_unref(catalog);
    while (!rc) {
        rc = publish(self, &offer, age_us, arena, err);
        if (!err_is_passing(rc))
            break;
        rc = task_pause(task, (int64_t)DEMO_RETRY_MS * MS_US) && !atomic_load(&self->has_failed)
                 ? 0
                 : ERR_CANCELLED;
    }
    if (!rc)
        atomic_fetch_add(&self->saved_count, 1);
    return rc;
}

static void fail(struct filler *self, const struct err *err)
{
    pthread_mutex_lock(&self->lock);
    if (!self->err.code)
        self->err = *err;
    pthread_mutex_unlock(&self->lock);
    atomic_store(&self->has_failed, true);
}

static void run(struct task *task, void *arg)
{
    struct filler *self = arg;
    struct arena *arena = arena_new();
    struct err err = {.code = 0};

    object_check(self, FILLER_MAGIC);
    while (!task_is_stopping(task) && !atomic_load(&self->has_failed)) {
        uint64_t number = atomic_fetch_add(&self->next, 1);
        int rc;

        if (number >= self->options.end)
            break;
        arena_reset(arena);
        task_says(task, "publishing an offer");
        rc = fill_one(self, task, number, arena, &err);
        if (rc && rc != ERR_CANCELLED)
            fail(self, &err);
    }
    arena_free(arena);
    atomic_fetch_sub(&self->running_count, 1);
}

void filler_start(const struct filler_options *options, struct filler **filler)
{
    struct filler *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "filler", .run = run, .arg = self, .clock = options->offers->clock};

    object_begin(self, FILLER_MAGIC);
    self->options = *options;
    atomic_init(&self->next, options->first);
    atomic_init(&self->running_count, DEMO_FILLER_COUNT);
    pthread_mutex_init(&self->lock, NULL);
    for (size_t i = 0; i < DEMO_FILLER_COUNT; i++) {
        int rc = task_start(&self->tasks[i], &task, NULL);

        assert(rc == 0);
    }
    *filler = self;
}

uint64_t filler_saved_count(const struct filler *filler)
{
    object_check(filler, FILLER_MAGIC);
    return atomic_load(&filler->saved_count);
}

uint64_t filler_created_count(const struct filler *filler)
{
    object_check(filler, FILLER_MAGIC);
    return atomic_load(&filler->created_count);
}

uint64_t filler_waiting_count(const struct filler *filler)
{
    object_check(filler, FILLER_MAGIC);
    return atomic_load(&filler->waiting_count);
}

bool filler_is_done(const struct filler *filler)
{
    object_check(filler, FILLER_MAGIC);
    return atomic_load(&filler->running_count) == 0;
}

int filler_stop(struct filler *filler, struct err *err)
{
    uint64_t wanted = filler->options.end - filler->options.first;
    int rc = 0;

    object_check(filler, FILLER_MAGIC);
    for (size_t i = 0; i < DEMO_FILLER_COUNT; i++)
        task_ask_stop(&filler->tasks[i]);
    for (size_t i = 0; i < DEMO_FILLER_COUNT; i++)
        task_stop(&filler->tasks[i]);
    if (filler->err.code) {
        *err = filler->err;
        rc = err->code;
    } else if (filler_saved_count(filler) < wanted) {
        rc = err_set(err, ERR_CANCELLED, "stopped before all offers were published");
    }
    pthread_mutex_destroy(&filler->lock);
    object_end(filler, FILLER_MAGIC);
    free(filler);
    return rc;
}
