/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - see change.h. */
#include "catalog/change.h"

#include <assert.h>
#include <inttypes.h>

#include "base/memory.h"
#include "base/object.h"
#include "catalog/difference.h"
#include "catalog/versions.h"
#include "codec/message.h"

static Torg__V1__CatalogChange__Broken *broken_message(const struct category *category,
                                                       const struct catalog_broken *broken,
                                                       struct arena *arena)
{
    Torg__V1__CatalogChange__Broken *message = MESSAGE_NEW(catalog_change__broken, arena);

    assert(broken->sample_count <= ARRAY_COUNT(broken->samples));
    message->category = arena_strdup(arena, category->id);
    message->offer_count = broken->offer_count;
    message->reason = arena_strdup(arena, broken->reason ? broken->reason : "");
    message->sample_offers = arena_array(arena, broken->sample_count + 1, sizeof(char *));
    for (size_t i = 0; i < broken->sample_count; i++)
        message->sample_offers[i] = arena_strdup(arena, broken->samples[i]);
    message->n_sample_offers = broken->sample_count;
    return message;
}

/* Every category whose rules change, its offers looked at. */
static int weigh(const struct catalog_editor *editor, const struct catalog *before,
                 const struct catalog *after, Torg__V1__CatalogChange *change, struct err *err)
{
    size_t count;
    const struct category *const *categories = catalog_categories(before, &count);

    if (!editor->impact)
        return 0;
    change->offers_checked = true;
    change->broken = arena_array(editor->arena, count + 1, sizeof(change->broken[0]));
    for (size_t i = 0; i < count; i++) {
        const struct category *next = category_find(after, categories[i]->id);
        struct catalog_broken broken = {.offer_count = 0};
        int rc;

        if (next && category_rules_equal(categories[i], next))
            continue;
        rc = editor->impact->count_broken(editor->impact, categories[i], next, editor->arena,
                                          &broken, err);
        if (rc)
            return err_wrap(err, "offers of the category %s", categories[i]->id);
        if (!broken.offer_count)
            continue;
        change->broken_offer_count += broken.offer_count;
        change->broken[change->n_broken++] = broken_message(categories[i], &broken, editor->arena);
    }
    return 0;
}

static int find_unfit(const struct catalog_editor *editor, const struct catalog *next,
                      Torg__V1__CatalogChange *change, struct err *err)
{
    struct catalog_unfit *unfit = NULL;
    size_t count = 0;
    int rc = 0;

    if (editor->index)
        rc = editor->index->find_unfit(editor->index, next, editor->arena, &unfit, &count, err);
    if (rc)
        return err_wrap(err, "what the index takes");
    change->unfit = arena_array(editor->arena, count + 1, sizeof(change->unfit[0]));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__CatalogChange__Unfit *message = arena_alloc(editor->arena, sizeof(*message));

        torg__v1__catalog_change__unfit__init(message);
        message->attribute = arena_strdup(editor->arena, unfit[i].attribute);
        message->reason = arena_strdup(editor->arena, unfit[i].reason);
        change->unfit[change->n_unfit++] = message;
    }
    return 0;
}

static int compare(const struct catalog_editor *editor, const struct catalog *next,
                   struct catalog **current, Torg__V1__CatalogChange *change, struct err *err)
{
    int rc = versions_load(editor->store, 0, editor->arena, NULL, current, err);

    if (rc)
        return rc;
    change->from_version = catalog_version(*current);
    catalog_compare(*current, next, editor->arena, change);
    rc = find_unfit(editor, next, change, err);
    return rc ? rc : weigh(editor, *current, next, change, err);
}

int catalog_diff(const struct catalog_editor *editor, const struct catalog *next,
                 Torg__V1__CatalogChange *change, struct err *err)
{
    struct catalog *current = NULL;
    int rc = compare(editor, next, &current, change, err);

    catalog_unref(current);
    return rc;
}

static int refuse_broken(const Torg__V1__CatalogChange *change, struct err *err)
{
    const Torg__V1__CatalogChange__Broken *first = change->broken[0];

    return err_set(err, ERR_PRECONDITION,
                   "%" PRId64 " stored offers would break a rule, in %zu categories (%s: %" PRId64
                   ", such as %s); fix the catalogue or the offers, or apply it by force (--force)",
                   change->broken_offer_count, change->n_broken, first->category,
                   first->offer_count, first->n_sample_offers ? first->sample_offers[0] : "-");
}

static int refuse_unfit(const Torg__V1__CatalogChange *change, struct err *err)
{
    return err_set(err, ERR_PRECONDITION,
                   "the index cannot take every attribute as it would be, and offers would not be "
                   "found (%zu such; %s: %s): start an epoch that takes them (--with-epoch), or "
                   "leave them as they are",
                   change->n_unfit, change->unfit[0]->attribute, change->unfit[0]->reason);
}

int catalog_apply(const struct catalog_editor *editor, const struct catalog *next, int64_t expected,
                  bool force, Torg__V1__CatalogChange *change, struct err *err)
{
    struct catalog *current = NULL;
    int rc = compare(editor, next, &current, change, err);

    if (rc)
        goto out;
    if (change->from_version != expected) {
        rc = err_set(err, ERR_CONFLICT,
                     "version %" PRId64 " of the catalogue is in use, not %" PRId64
                     ": look at the difference again",
                     change->from_version, expected);
    } else if (change->n_broken && !force) {
        rc = refuse_broken(change, err);
    } else if (change->n_unfit && !force) {
        rc = refuse_unfit(change, err);
    } else if (expected && catalog_equal(current, next)) {
        change->to_version = expected;
    } else {
        rc = versions_add(editor->store, next, expected, editor->principal, editor->now_us,
                          &change->to_version, err);
    }
out:
    catalog_unref(current);
    return rc;
}
