/* SPDX-License-Identifier: Apache-2.0 */
/* recomposer.c - see recomposer.h. */
#include "documents/recomposer.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "catalog/versions.h"
#include "documents/bounds.h"
#include "documents/category_digest.h"
#include "documents/composer.h"
#include "documents/recompose_mark.h"
#include "documents/recompose_send.h"

enum { RECOMPOSER_MAGIC = OBJECT_MAGIC('r', 'e', 'c', 'o') };

struct recomposer {
    uint32_t magic;
    struct recomposer_options options;
    struct coord_shards *shards; /* NULL: there is nobody to share with */
    struct recompose_sender sender;
    struct arena *arena; /* of a page */
    struct task task;

    int64_t seen_version; /* in use, and since when it is known; monotonic */
    int64_t seen_us;
    int64_t done_version; /* nothing is left up to this one */

    struct recompose_mark mark; /* as the row is */
    struct category_ids ids;    /* of mark.target_version, from list_version on */
    struct arena *ids_arena;
    int64_t ids_done, ids_target; /* the versions it was made for; 0: it is not */

    int64_t held_offer; /* the page behind it was held up; -1: none was */

    struct counter *errors;
    struct gauge *in_use;
    struct gauge *done;
    struct gauge *left;
};

static bool is_owner(struct recomposer *self)
{
    struct coord_shard owned;

    if (!self->shards)
        return true;
    if (!coord_owned(self->shards, &owned, 1))
        return false;
    if (owned.leaving)
        coord_release(self->shards, owned.shard, owned.ticket);
    return !owned.leaving;
}

static int64_t now_us(const struct recomposer *self)
{
    return clock_mono_us(self->options.clock);
}

/* The version in use here; how long it has been known is counted from when it was seen first. */
static int64_t look_at_version(struct recomposer *self)
{
    struct catalog *catalog = self->options.catalog(self->options.catalog_arg);
    int64_t version = catalog ? catalog_version(catalog) : 0;

    catalog_unref(catalog);
    if (version != self->seen_version) {
        self->seen_version = version;
        self->seen_us = now_us(self);
        gauge_set(self->in_use, version);
    }
    return version;
}

/* --- what is concerned --- */

/* 0 is the catalogue before the first: NULL. */
static int load(struct recomposer *self, int64_t version, struct catalog **catalog, struct err *err)
{
    struct arena *arena;
    int rc;

    *catalog = NULL;
    if (!version)
        return 0;
    arena = arena_new();
    rc = versions_load(self->options.store, version, arena, NULL, catalog, err);
    arena_free(arena);
    return rc;
}

/* Every version in between: a document may have been made by any of them. */
static int gather_ids(struct recomposer *self, int64_t done, int64_t target, struct err *err)
{
    struct catalog *before;
    int rc;

    if (self->ids_target == target && self->ids_done == done)
        return 0;
    self->ids_target = 0;
    self->ids.count = 0;
    arena_reset(self->ids_arena);
    rc = load(self, done, &before, err);
    for (int64_t version = done + 1; version <= target && !rc; version++) {
        struct catalog *after;

        rc = load(self, version, &after, err);
        if (rc)
            break;
        category_ids_add_changed(&self->ids, before, after, self->ids_arena);
        category_ids_settle(&self->ids);
        catalog_unref(before);
        before = after;
    }
    catalog_unref(before);
    if (rc)
        return rc;
    self->ids_done = done;
    self->ids_target = target;
    return 0;
}

static int count_offers(struct recomposer *self, int64_t *count, struct err *err)
{
    int rc = 0;

    *count = 0;
    for (size_t i = 0; i < self->ids.count && !rc && !task_is_stopping(&self->task); i++) {
        int64_t of_category = 0;

        rc = self->options.count(self->options.offers_arg, self->ids.list[i], &of_category, err);
        *count += of_category;
    }
    return rc;
}

/* --- on the way --- */

static int move(struct recomposer *self, struct recompose_mark *to, struct err *err)
{
    int rc;

    to->moved_us = clock_wall_us(self->options.clock);
    rc = recompose_mark_move(self->options.store, &self->mark, to, err);
    if (rc)
        return rc;
    self->mark = *to;
    gauge_set(self->done, to->done_version);
    gauge_set(self->left, to->target_version > to->done_version && to->offer_count > to->seen_count
                              ? to->offer_count - to->seen_count
                              : 0);
    return 0;
}

static int begin(struct recomposer *self, int64_t target, struct err *err)
{
    struct recompose_mark next = {.done_version = self->mark.done_version,
                                  .target_version = target,
                                  .began_us = clock_wall_us(self->options.clock)};
    int rc = count_offers(self, &next.offer_count, err);

    if (!rc)
        rc = move(self, &next, err);
    if (!rc)
        log_info("offers are composed again for another catalogue", LOG_INT("version", target),
                 LOG_INT("categories", self->ids.count), LOG_INT("offers", next.offer_count));
    return rc;
}

static int finish(struct recomposer *self, struct err *err)
{
    struct recompose_mark next = self->mark;
    int rc;

    next.done_version = next.target_version;
    next.category[0] = '\0';
    next.offer = 0;
    rc = move(self, &next, err);
    if (!rc)
        log_info("all offers are composed by the catalogue", LOG_INT("version", next.done_version),
                 LOG_INT("sent", next.sent_count), LOG_INT("hidden", next.hidden_count),
                 LOG_INT("failed", next.failed_count));
    return rc;
}

/* One page: read, sent, taken by the receiver; then the row moves behind it. */
static int take_page(struct recomposer *self, const char *category, struct err *err)
{
    const struct recomposer_options *options = &self->options;
    bool is_same = strcmp(category, self->mark.category) == 0;
    int64_t after = is_same ? self->mark.offer : 0;
    struct recompose_mark next = self->mark;
    struct recompose_page page;
    struct catalog *catalog;
    int64_t hold_us;
    int rc;

    arena_reset(self->arena);
    rc = options->page(options->offers_arg, category, after, options->page_count, self->arena,
                       &page, err);
    if (rc)
        return rc;
    catalog = options->catalog(options->catalog_arg);
    hold_us = self->held_offer == after ? 0 : recompose_hold_us(&self->sender, catalog, &page);
    if (hold_us) {
        catalog_unref(catalog);
        self->held_offer = after; /* once: the page is read again, and sent */
        return task_pause(&self->task, hold_us) ? 0 : ERR_CANCELLED;
    }
    rc = recompose_send(&self->sender, catalog, &page, self->arena, &next, err);
    catalog_unref(catalog);
    if (rc)
        return rc;
    self->held_offer = -1;
    /* A category that is done is marked by an offer behind all. */
    snprintf(next.category, sizeof(next.category), "%s", category);
    next.offer = page.last ? page.last : INT64_MAX;
    return move(self, &next, err);
}

/* The first category that is not done; NULL: all are. */
static const char *next_category(const struct recomposer *self)
{
    for (size_t i = 0; i < self->ids.count; i++) {
        int order = strcmp(self->ids.list[i], self->mark.category);

        if (order > 0 || (order == 0 && self->mark.offer != INT64_MAX))
            return self->ids.list[i];
    }
    return NULL;
}

static int64_t target_of(const struct recomposer *self, int64_t version)
{
    int64_t step_end = self->mark.done_version + RECOMPOSE_STEP_COUNT;

    return version < step_end ? version : step_end;
}

/* Towards the version in use, until it is reached, or it is time to stop, or another is in use. */
static int follow(struct recomposer *self, int64_t version, struct err *err)
{
    int64_t target = target_of(self, version);
    int rc = gather_ids(self, self->mark.done_version, target, err);

    if (!rc && self->mark.target_version != target)
        rc = begin(self, target, err);
    while (!rc && !task_is_stopping(&self->task) && is_owner(self)) {
        const char *category = next_category(self);

        if (!category)
            return finish(self, err);
        rc = take_page(self, category, err);
        if (look_at_version(self) != version)
            break;
    }
    return rc;
}

static int step(struct recomposer *self, struct err *err)
{
    int64_t version = look_at_version(self);
    int rc;

    if (version <= self->done_version || !is_owner(self) ||
        now_us(self) - self->seen_us < self->options.settle_us)
        return 0;
    rc = recompose_mark_read(self->options.store, &self->mark, err);
    if (rc)
        return rc;
    gauge_set(self->done, self->mark.done_version);
    self->done_version = self->mark.done_version;
    return version <= self->done_version ? 0 : follow(self, version, err);
}

static void run(struct task *task, void *arg)
{
    struct recomposer *self = arg;
    int64_t pause_us = RECOMPOSE_LOOK_MS * 1000LL;
    struct err err;

    object_check(self, RECOMPOSER_MAGIC);
    while (task_pause(task, pause_us)) {
        int rc;

        task_says(task, "composing offers again");
        rc = step(self, &err);

        pause_us = RECOMPOSE_LOOK_MS * 1000LL;
        if (!rc || rc == ERR_STALE || rc == ERR_CANCELLED)
            continue; /* overtaken, or stopping: the row is read again */
        counter_add(self->errors, 1);
        log_warn("composing offers again failed and will be retried", LOG_TEXT("error", err.text));
        pause_us = RECOMPOSE_RETRY_MS * 1000LL;
    }
}

static void open_metrics(struct recomposer *self)
{
    self->errors = metrics_counter("torg_composer_catalog_errors_total", NULL,
                                   "Failures to compose offers again; retried.");
    self->in_use = metrics_gauge("torg_composer_catalog_version", NULL,
                                 "The version of the catalogue that offers are composed with.");
    self->done = metrics_gauge("torg_composer_catalog_done_version", NULL,
                               "The version that all documents have followed.");
    self->left = metrics_gauge("torg_composer_catalog_left", NULL,
                               "Offers still to be composed again for the catalogue.");
}

static void free_recomposer(struct recomposer *self)
{
    if (self->shards)
        coord_leave(self->shards);
    category_ids_release(&self->ids);
    arena_free(self->ids_arena);
    arena_free(self->arena);
    object_end(self, RECOMPOSER_MAGIC);
    free(self);
}

int recomposer_start(const struct recomposer_options *options, struct recomposer **recomposer,
                     struct err *err)
{
    struct recomposer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "recomposer", .run = run, .arg = self, .clock = options->clock};
    int rc;

    object_begin(self, RECOMPOSER_MAGIC);
    *recomposer = NULL;
    self->options = *options;
    if (!self->options.page_count)
        self->options.page_count = RECOMPOSE_PAGE_COUNT;
    if (!self->options.settle_us)
        self->options.settle_us = RECOMPOSE_SETTLE_MS * 1000LL;
    self->arena = arena_new();
    self->ids_arena = arena_new();
    open_metrics(self);
    rc = recompose_sender_init(&self->sender, options->topics, options->store, options->clock,
                               options->taker_group, &self->task, err);
    if (!rc && options->coord)
        rc = coord_join(options->coord, RECOMPOSE_SET, 1, &self->shards, err);
    if (rc) {
        free_recomposer(self);
        return rc;
    }
    self->seen_us = now_us(self);
    self->held_offer = -1;
    rc = task_start(&self->task, &task, err);
    if (rc)
        free_recomposer(self);
    else
        *recomposer = self;
    return rc;
}

void recomposer_stop(struct recomposer *self)
{
    if (!self)
        return;
    object_check(self, RECOMPOSER_MAGIC);
    task_stop(&self->task);
    free_recomposer(self);
}
