/* SPDX-License-Identifier: Apache-2.0 */
/* snippets.c - see snippets.h: requests; snippets_files.c keeps the config in use. */
#include "snippets/snippets.h"

#include <stdlib.h>

#include "snippets/bounds.h"
#include "snippets/name.h"
#include "snippets/snippets_parts.h"

static int find_section(struct snippets *snippets, struct bytes name,
                        struct snippet_config **config, const struct snippet_section **section,
                        struct err *err)
{
    *config = snippets_config(snippets);
    *section = name.size ? snippet_config_find(*config, name) : NULL;
    if (*section)
        return 0;
    snippet_config_unref(*config);
    *config = NULL;
    return err_set(err, ERR_NOT_FOUND, "there is no snippet or group \"%.*s\"",
                   name.size > SNIPPET_NAME_SIZE_MAX ? SNIPPET_NAME_SIZE_MAX : (int)name.size,
                   (const char *)(name.data ? name.data : (const uint8_t *)""));
}

int snippets_put(struct snippets *snippets, struct bytes name, const struct snippet_body *body,
                 struct arena *arena, struct err *err)
{
    const struct snippet_section *section;
    struct snippet_config *config;
    struct snippet_row *rows;
    size_t row_count;
    int rc = find_section(snippets, name, &config, &section, err);

    object_check(snippets, SNIPPETS_MAGIC);
    if (!rc)
        rc = snippet_prepare(section->targets, section->target_count, body, arena, &rows,
                             &row_count, err);
    if (!rc)
        rc = snippet_rows_write(snippets->options.store, rows, row_count, NULL, NULL, err);
    snippet_config_unref(config);
    counter_add(rc ? snippets->refused_count : snippets->put_count, 1);
    return rc;
}

int snippets_delete(struct snippets *snippets, struct bytes name, struct bytes key,
                    struct bytes language, struct arena *arena, struct err *err)
{
    struct snippet_body body = {.key = key, .language = language};
    const struct snippet_section *section;
    struct snippet_config *config;
    struct snippet_row *rows;
    size_t row_count;
    int rc = find_section(snippets, name, &config, &section, err);

    object_check(snippets, SNIPPETS_MAGIC);
    if (!rc)
        rc = snippet_prepare_delete(section->targets, section->target_count, &body, arena, &rows,
                                    &row_count, err);
    if (!rc)
        rc = snippet_rows_write(snippets->options.store, rows, row_count, NULL, NULL, err);
    snippet_config_unref(config);
    counter_add(rc ? snippets->refused_count : snippets->delete_count, 1);
    return rc;
}

static int get_targets(struct snippets *snippets, const struct snippet_section *section,
                       struct bytes key, struct bytes language, struct arena *arena,
                       struct snippet_found *list, size_t *found_count, struct err *err)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < section->target_count && !rc; i++) {
        const struct snippet *snippet = section->targets[i];
        struct snippet_found *found = &list[*found_count];
        bool is_there;

        rc = snippet_rows_get(snippets->options.store, snippet->prefix, key, language, arena,
                              &found->row, &is_there, err);
        if (rc || !is_there)
            continue;
        found->name = arena_strdup(arena, snippet->name);
        found->format = snippet->output;
        ++*found_count;
    }
    return rc;
}

int snippets_get(struct snippets *snippets, struct bytes name, struct bytes key,
                 struct bytes language, struct arena *arena, struct snippet_found **list,
                 size_t *found_count, struct err *err)
{
    const struct snippet_section *section;
    struct snippet_config *config;
    int rc = find_section(snippets, name, &config, &section, err);

    object_check(snippets, SNIPPETS_MAGIC);
    if (rc)
        return rc;
    rc = snippet_key_check(key, err);
    if (!rc)
        rc = snippet_language_check(language, err);
    *list = arena_array(arena, section->target_count + 1, sizeof(**list));
    *found_count = 0;
    if (!rc)
        rc = get_targets(snippets, section, key, language, arena, *list, found_count, err);
    if (!rc && *found_count == 0)
        rc = err_set(err, ERR_NOT_FOUND, "%s has nothing under this key%s", section->name,
                     language.size ? " in this language" : "");
    snippet_config_unref(config);
    counter_add(snippets->get_count, 1);
    return rc;
}

/* --- pages --- */

struct wanted_list {
    const struct snippet *list[SNIPPET_BATCH_NAME_COUNT_MAX * 4];
    int64_t prefixes[SNIPPET_BATCH_NAME_COUNT_MAX * 4];
    size_t count;
};

static int want(struct wanted_list *wanted, const struct snippet_section *section, struct err *err)
{
    size_t i, k;

    for (i = 0; i < section->target_count; i++) {
        for (k = 0; k < wanted->count && wanted->list[k] != section->targets[i]; k++)
            ;
        if (k < wanted->count)
            continue;
        if (k == SNIPPET_BATCH_NAME_COUNT_MAX * 4)
            return err_set(err, ERR_LIMIT,
                           "the names stand for more than %d snippets: ask for "
                           "fewer at once",
                           SNIPPET_BATCH_NAME_COUNT_MAX * 4);
        wanted->list[k] = section->targets[i];
        wanted->prefixes[k] = section->targets[i]->prefix;
        wanted->count++;
    }
    return 0;
}

static const struct snippet *of_prefix(const struct wanted_list *wanted, int64_t prefix)
{
    size_t i;

    for (i = 0; i < wanted->count; i++) {
        if (wanted->prefixes[i] == prefix)
            return wanted->list[i];
    }
    return NULL;
}

/* By snippet and key, the one in a language before the one in none. */
static int by_place(const void *a, const void *b)
{
    const struct snippet_row *x = a, *y = b;
    int order = x->prefix < y->prefix ? -1 : x->prefix > y->prefix;

    if (!order)
        order = bytes_compare(x->key, y->key);
    return order ? order : (x->language.size == 0) - (y->language.size == 0);
}

/* Of each key the row in the language, or the one in none. */
static void take_rows(const struct wanted_list *wanted, struct snippet_row *rows, size_t row_count,
                      struct arena *arena, struct snippet_found **list, size_t *found_count)
{
    size_t i;

    if (row_count)
        qsort(rows, row_count, sizeof(*rows), by_place);
    *list = arena_array(arena, row_count + 1, sizeof(**list));
    *found_count = 0;
    for (i = 0; i < row_count; i++) {
        const struct snippet *snippet = of_prefix(wanted, rows[i].prefix);

        if (!snippet || (i && rows[i].prefix == rows[i - 1].prefix &&
                         bytes_equal(rows[i].key, rows[i - 1].key)))
            continue;
        (*list)[(*found_count)++] = (struct snippet_found){
            .name = arena_strdup(arena, snippet->name), .format = snippet->output, .row = rows[i]};
    }
}

int snippets_batch(struct snippets *snippets, const struct bytes *names, size_t name_count,
                   const struct bytes *keys, size_t key_count, struct bytes language,
                   struct arena *arena, struct snippet_found **list, size_t *found_count,
                   struct err *err)
{
    struct snippet_config *config = snippets_config(snippets);
    struct wanted_list *wanted = arena_zero(arena, sizeof(*wanted));
    struct snippet_row *rows = NULL;
    size_t i, row_count = 0;
    int rc = 0;

    object_check(snippets, SNIPPETS_MAGIC);
    *found_count = 0;
    for (i = 0; i < name_count && !rc; i++) {
        const struct snippet_section *section =
            names[i].size ? snippet_config_find(config, names[i]) : NULL;

        rc = section ? want(wanted, section, err) : 0;
    }
    if (!rc && wanted->count && key_count)
        rc = snippet_rows_batch(snippets->options.store, wanted->prefixes, wanted->count, keys,
                                key_count, language, arena, &rows, &row_count, err);
    if (!rc)
        take_rows(wanted, rows, row_count, arena, list, found_count);
    snippet_config_unref(config);
    counter_add(snippets->batch_count, 1);
    return rc;
}
