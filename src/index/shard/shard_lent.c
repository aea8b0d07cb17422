/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_lent.c - columns from outside: see shard.h.
 *
 * They are not the shard's: no checkpoint has them, and whoever opens the shard brings them again.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "index/columns/outside_column.h"
#include "index/shard/shard_parts.h"

/* Before readers see it: values that are older than the owners of their numbers are none. */
static void settle_all(const struct shard *shard, struct outside_column *values)
{
    int64_t births[WINDOW_SIZE];
    struct column_view view;

    for (uint32_t i = 0; i < outside_column_window_count(values); i++) {
        column_view(columns_column(shard->state, STATE_BIRTH), i, &view);
        view_values(&view, births);
        outside_column_settle_window(values, i, births);
    }
}

static struct lent_state *find(struct shard *shard, const char *name)
{
    for (uint32_t i = 0; i < shard->lent_count; i++)
        if (strcmp(shard->lent[i].name, name) == 0)
            return &shard->lent[i];
    return NULL;
}

static int lend_locked(struct shard *shard, const char *name, uint8_t digits, int64_t mark,
                       struct outside_column *values, struct err *err)
{
    struct lent_state *lent = find(shard, name);
    char full[sizeof(lent->name) + sizeof(FIELD_OUTSIDE_PREFIX)];
    struct field field = {
        .name = full, .type = digits ? FIELD_DECIMAL : FIELD_INTEGER, .scale = digits};
    uint16_t id;
    int rc;

    if (!lent && shard->lent_count == OUTSIDE_COLUMN_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "column \"%s\" would be one more than %d: drop another",
                       name, OUTSIDE_COLUMN_COUNT_MAX);
    snprintf(full, sizeof(full), "%s%s", FIELD_OUTSIDE_PREFIX, name);
    rc = schema_lend(shard->schema, &field, &id, err);
    if (rc)
        return rc;
    if (values)
        settle_all(shard, values);
    columns_lend(shard->columns, id, values);
    if (!lent) {
        lent = &shard->lent[shard->lent_count++];
        snprintf(lent->name, sizeof(lent->name), "%s", name);
    }
    lent->field = id;
    lent->mark = mark;
    lent->trouble[0] = 0;
    return 0;
}

int shard_lend(struct shard *shard, const char *name, uint8_t digits, int64_t mark,
               struct outside_column *values, struct err *err)
{
    int rc;

    object_check(shard, SHARD_MAGIC);
    assert(strlen(name) <= OUTSIDE_NAME_SIZE_MAX);
    assert(!values || outside_column_head(values)->digits == digits);
    shard_lock(shard);
    rc = lend_locked(shard, name, digits, mark, values, err);
    shard_unlock(shard);
    if (rc)
        outside_column_close(values);
    return rc;
}

void shard_take_back(struct shard *shard, const char *name)
{
    struct lent_state *lent;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    lent = find(shard, name);
    if (lent) {
        schema_take_back(shard->schema, lent->field);
        columns_lend(shard->columns, lent->field, NULL);
        *lent = shard->lent[--shard->lent_count];
    }
    shard_unlock(shard);
}

void shard_blame_lent(struct shard *shard, const char *name, const char *trouble)
{
    struct lent_state *lent;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    lent = find(shard, name);
    if (lent)
        snprintf(lent->trouble, sizeof(lent->trouble), "%s", trouble);
    shard_unlock(shard);
}

uint32_t shard_lent(struct shard *shard, struct shard_lent list[OUTSIDE_COLUMN_COUNT_MAX])
{
    uint32_t count;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    count = shard->lent_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct lent_state *lent = &shard->lent[i];

        list[i] = (struct shard_lent){
            .mark = lent->mark, .has_values = columns_lent(shard->columns, lent->field) != NULL};
        snprintf(list[i].name, sizeof(list[i].name), "%s", lent->name);
        snprintf(list[i].trouble, sizeof(list[i].trouble), "%s", lent->trouble);
    }
    shard_unlock(shard);
    return count;
}
