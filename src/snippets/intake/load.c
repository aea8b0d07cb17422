/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - see load.h. */
#include "snippets/intake/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "snippets/requests/snippets_parts.h"

/* The prefixes that a name stands for; they are the config's, which the caller unrefs. */
struct target {
    struct snippet_config *config;
    const struct snippet_section *section;
    int64_t numbers[SNIPPET_GROUP_COUNT_MAX];
    struct snippet_prefix_list prefixes;
};

static int find(struct snippets *snippets, struct bytes name, struct target *target,
                struct err *err)
{
    int rc = snippets_find(snippets, name, &target->config, &target->section, err);

    object_check(snippets, SNIPPETS_MAGIC);
    if (rc)
        return rc;
    target->prefixes = (struct snippet_prefix_list){target->numbers, 0};
    for (size_t i = 0; i < target->section->target_count; i++)
        target->numbers[target->prefixes.count++] = target->section->targets[i]->prefix;
    return 0;
}

int snippets_load_begin(struct snippets *snippets, struct bytes name, int64_t *load,
                        struct err *err)
{
    struct target target = {0};
    int rc = find(snippets, name, &target, err);

    if (!rc)
        rc = snippet_generation_begin(snippets_store(snippets), &target.prefixes, load, err);
    if (!rc)
        log_info("a load of snippets has begun", LOG_TEXT("name", target.section->name),
                 LOG_INT("load", *load));
    snippet_config_unref(target.config);
    return rc;
}

/* All rows of a load end together, as long after its beginning as they are shown: one that is not
 * whole by then is given up. */
static int check_in_time(struct snippets *snippets, const struct target *target, int64_t load,
                         struct err *err)
{
    const struct clock *clock = store_clock(snippets_store(snippets));
    int64_t begun_us = 0;
    int rc = 0;

    if (target->prefixes.count)
        rc = snippet_generation_begun(snippets_store(snippets), &target->prefixes, load, &begun_us,
                                      err);
    for (size_t i = 0; i < target->section->target_count && !rc; i++) {
        const struct snippet *snippet = target->section->targets[i];

        if (snippet->ttl_us && clock_wall_us(clock) >= begun_us + snippet->ttl_us)
            rc = err_set(err, ERR_PRECONDITION,
                         "this load takes longer than %s is shown, %" PRId64
                         " minutes (TtlMinutes): load it faster, or raise that; nothing was "
                         "changed",
                         snippet->name, snippet->ttl_us / 60000000);
    }
    if (rc == ERR_PRECONDITION)
        snippet_generation_abandon(snippets_store(snippets), &target->prefixes, load, NULL);
    return rc;
}

static int write_rows(struct snippets *snippets, int64_t load, const struct snippet_row *rows,
                      size_t count, struct snippet_load_count *counts, struct err *err)
{
    int rc = 0;

    for (size_t at = 0; at < count && !rc; at += SNIPPET_LOAD_WRITE_COUNT) {
        size_t part = count - at < SNIPPET_LOAD_WRITE_COUNT ? count - at : SNIPPET_LOAD_WRITE_COUNT;
        size_t written = 0;

        rc = snippet_rows_load(snippets_store(snippets), rows + at, part, load, &written, err);
        counts->stored += written;
        counts->older += rc ? 0 : part - written;
    }
    return rc;
}

struct prepared {
    struct snippet_row *rows;
    size_t count, capacity;
};

/* All of them before the first is written: what is refused has stored nothing. */
static int prepare_rows(const struct target *target, const struct snippet_load_row *rows,
                        size_t row_count, struct arena *arena, struct prepared *prepared,
                        struct err *err)
{
    for (size_t i = 0; i < row_count; i++) {
        struct snippet_row *some;
        size_t count = 0;
        int rc = snippet_prepare(target->section->targets, target->section->target_count,
                                 &rows[i].body, arena, &some, &count, err);

        if (rc)
            return err_wrap(err, "row %" PRId64, rows[i].place);
        prepared->rows = mem_grow(prepared->rows, prepared->count + count, sizeof(*prepared->rows),
                                  &prepared->capacity);
        for (size_t k = 0; k < count; k++)
            prepared->rows[prepared->count++] = some[k];
    }
    return 0;
}

int snippets_load_add(struct snippets *snippets, struct bytes name, int64_t load,
                      const struct snippet_load_row *rows, size_t count, struct arena *arena,
                      struct snippet_load_count *counts, struct err *err)
{
    struct prepared prepared = {0};
    struct target target = {0};
    int rc = find(snippets, name, &target, err);

    *counts = (struct snippet_load_count){0};
    if (!rc)
        rc = check_in_time(snippets, &target, load, err);
    if (!rc)
        rc = prepare_rows(&target, rows, count, arena, &prepared, err);
    if (!rc)
        rc = write_rows(snippets, load, prepared.rows, prepared.count, counts, err);
    free(prepared.rows);
    snippet_config_unref(target.config);
    return rc;
}

/* Whether so much may go. */
static int guard(const struct snippet_difference *difference, unsigned percent_max, struct err *err)
{
    int64_t removed = difference->before - difference->kept;

    if (removed * 100 <= difference->before * (int64_t)percent_max)
        return 0;
    return err_set(err, ERR_PRECONDITION,
                   "%" PRId64 " of %" PRId64 " snippets are not in it and would go, more than "
                   "%u percent: nothing was changed",
                   removed, difference->before, percent_max);
}

int snippets_load_finish(struct snippets *snippets, struct bytes name, int64_t load,
                         unsigned removed_percent_max, bool is_dry,
                         struct snippet_difference *difference, struct err *err)
{
    struct store *store = snippets_store(snippets);
    struct target target = {0};
    int rc = find(snippets, name, &target, err);
    struct err refusal = {0};

    if (!rc)
        rc = check_in_time(snippets, &target, load, err);
    if (!rc)
        rc = snippet_generation_compare(store, &target.prefixes, load, difference, err);
    if (!rc && (is_dry || guard(difference, removed_percent_max, &refusal))) {
        rc = snippet_generation_abandon(store, &target.prefixes, load, err);
        if (!rc && refusal.code)
            rc = err_set(err, refusal.code, "%s", refusal.text);
    } else if (!rc) {
        snippet_cache_hold_all(snippets->cache, &target.prefixes);
        rc = snippet_generation_switch(store, &target.prefixes, load, err);
        snippet_cache_let_go_all(snippets->cache, &target.prefixes);
        snippets_tell(snippets);
        if (!rc)
            log_info("a load of snippets is shown", LOG_TEXT("name", target.section->name),
                     LOG_INT("load", load), LOG_INT("before", difference->before),
                     LOG_INT("after", difference->after));
    }
    snippet_config_unref(target.config);
    return rc;
}

int snippets_load_abandon(struct snippets *snippets, struct bytes name, int64_t load,
                          struct err *err)
{
    struct target target = {0};
    int rc = find(snippets, name, &target, err);

    if (!rc)
        rc = snippet_generation_abandon(snippets_store(snippets), &target.prefixes, load, err);
    snippet_config_unref(target.config);
    return rc;
}

int snippets_load_back(struct snippets *snippets, struct bytes name, struct err *err)
{
    struct target target = {0};
    int rc = find(snippets, name, &target, err);

    if (!rc) {
        snippet_cache_hold_all(snippets->cache, &target.prefixes);
        rc = snippet_generation_back(snippets_store(snippets), &target.prefixes, err);
        snippet_cache_let_go_all(snippets->cache, &target.prefixes);
    }
    if (!rc)
        log_info("the load of snippets before is shown again",
                 LOG_TEXT("name", target.section->name));
    snippets_tell(snippets);
    snippet_config_unref(target.config);
    return rc;
}
