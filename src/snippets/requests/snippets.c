/* SPDX-License-Identifier: Apache-2.0 */
/* snippets.c - see snippets.h: requests; snippets_files.c keeps the config in use. */
#include "snippets/requests/snippets.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "snippets/bounds.h"
#include "snippets/config/name.h"
#include "snippets/requests/snippets_parts.h"

int snippets_find(struct snippets *snippets, struct bytes name, struct snippet_config **config,
                  const struct snippet_section **section, struct err *err)
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

/* The rows of a write, or of a deletion, which has no body. */
static int prepare(struct snippets *snippets, struct bytes name, const struct snippet_body *what,
                   bool is_deletion, struct arena *arena, struct snippet_part *part,
                   struct err *err)
{
    const struct snippet_section *section;
    struct snippet_config *config;
    struct snippet_row *rows = NULL;
    int rc = snippets_find(snippets, name, &config, &section, err);

    object_check(snippets, SNIPPETS_MAGIC);
    if (!rc)
        rc = (is_deletion ? snippet_prepare_delete : snippet_prepare)(
            section->targets, section->target_count, what, arena, &rows, &part->count, err);
    part->rows = rows;
    snippet_config_unref(config);
    return rc;
}

static void count_write(struct snippets *snippets, bool is_deletion)
{
    counter_add(is_deletion ? snippets->delete_count : snippets->put_count, 1);
    snippet_watch_tell(snippets->watch);
}

void snippets_note_failure(struct snippets *snippets, struct bytes name, struct bytes key,
                           const struct err *err)
{
    object_check(snippets, SNIPPETS_MAGIC);
    counter_add(snippets->refused_count, 1);
    snippet_failures_add(snippets->failures, clock_wall_us(snippets->options.clock), name, key,
                         err->text);
}

static int write_now(struct snippets *snippets, struct bytes name, const struct snippet_body *what,
                     bool is_deletion, struct arena *arena, struct err *err)
{
    struct snippet_part part;
    int rc = prepare(snippets, name, what, is_deletion, arena, &part, err);

    if (!rc)
        rc = snippet_rows_write(snippets->options.store, part.rows, part.count, NULL, NULL, err);
    if (rc)
        snippets_note_failure(snippets, name, what->key, err);
    else
        count_write(snippets, is_deletion);
    return rc;
}

void snippets_tell(struct snippets *snippets)
{
    object_check(snippets, SNIPPETS_MAGIC);
    snippet_watch_tell(snippets->watch);
}

int snippets_put(struct snippets *snippets, struct bytes name, const struct snippet_body *body,
                 struct arena *arena, struct err *err)
{
    return write_now(snippets, name, body, false, arena, err);
}

int snippets_delete(struct snippets *snippets, struct bytes name, struct bytes key,
                    struct bytes language, struct arena *arena, struct err *err)
{
    struct snippet_body what = {.key = key, .language = language};

    return write_now(snippets, name, &what, true, arena, err);
}

/* --- writes that others wait for --- */

static void written(struct snippet_write *write, int rc, struct err *err)
{
    struct snippet_request *request = container_of(write, struct snippet_request, write);

    if (rc)
        snippets_note_failure(request->snippets, request->name,
                              write->part.count ? write->part.rows[0].key : BYTES_EMPTY, err);
    else
        count_write(request->snippets, request->is_deletion);
    request->done(request, rc, err);
}

bool snippets_defers(const struct snippets *snippets)
{
    return snippets->committer != NULL;
}

static int write_later(struct snippets *snippets, struct bytes name,
                       const struct snippet_body *what, bool is_deletion, struct arena *arena,
                       struct snippet_request *request, struct err *err)
{
    int rc;

    assert(snippets->committer);
    request->snippets = snippets;
    request->name = name;
    request->is_deletion = is_deletion;
    request->write.done = written;
    rc = prepare(snippets, name, what, is_deletion, arena, &request->write.part, err);
    if (!rc)
        rc = snippet_committer_submit(snippets->committer, &request->write, err);
    if (rc)
        snippets_note_failure(snippets, name, what->key, err);
    return rc;
}

int snippets_put_later(struct snippets *snippets, struct bytes name,
                       const struct snippet_body *body, struct arena *arena,
                       struct snippet_request *request, struct err *err)
{
    return write_later(snippets, name, body, false, arena, request, err);
}

int snippets_delete_later(struct snippets *snippets, struct bytes name, struct bytes key,
                          struct bytes language, struct arena *arena,
                          struct snippet_request *request, struct err *err)
{
    struct snippet_body what = {.key = key, .language = language};

    return write_later(snippets, name, &what, true, arena, request, err);
}

static void add_found(const struct snippet *snippet, const struct snippet_row *row,
                      struct arena *arena, struct snippet_found *list, size_t *found_count)
{
    list[(*found_count)++] = (struct snippet_found){
        .name = arena_strdup(arena, snippet->name), .format = snippet->output, .row = *row};
}

int snippets_try(struct snippets *snippets, struct bytes name, const struct snippet_body *body,
                 struct arena *arena, struct snippet_found **list, size_t *found_count,
                 struct err *err)
{
    const struct snippet_section *section;
    struct snippet_config *config;
    struct snippet_row *rows = NULL;
    size_t count = 0;
    int rc = snippets_find(snippets, name, &config, &section, err);

    *found_count = 0;
    if (!rc)
        rc = snippet_prepare(section->targets, section->target_count, body, arena, &rows, &count,
                             err);
    *list = arena_array(arena, count + 1, sizeof(**list));
    for (size_t i = 0; i < count && !rc; i++) {
        for (size_t k = 0; k < section->target_count; k++) {
            if (section->targets[k]->prefix == rows[i].prefix)
                add_found(section->targets[k], &rows[i], arena, *list, found_count);
        }
    }
    snippet_config_unref(config);
    return rc;
}

bool snippets_is_dear(struct snippets *snippets, struct bytes name, size_t body_size)
{
    struct snippet_config *config = snippets_config(snippets);
    const struct snippet_section *section = name.size ? snippet_config_find(config, name) : NULL;
    bool is_dear = body_size > SNIPPET_BRIEF_SIZE_MAX;

    for (size_t i = 0; section && i < section->target_count && !is_dear; i++) {
        const struct snippet *one = section->targets[i];

        is_dear = one->input_schema || one->output_schema || one->validator || one->convertor;
    }
    snippet_config_unref(config);
    return is_dear;
}

/* All of a group by one read; list has room for each. */
static int get_group(struct snippets *snippets, const struct snippet_section *section,
                     struct bytes key, struct bytes language, struct arena *arena,
                     struct snippet_found *list, size_t *found_count, struct err *err)
{
    int64_t *prefixes = arena_array(arena, section->target_count + 1, sizeof(*prefixes));
    struct snippet_row *rows;
    size_t row_count = 0;
    int rc;

    for (size_t i = 0; i < section->target_count; i++)
        prefixes[i] = section->targets[i]->prefix;
    rc = snippet_rows_batch(snippets->options.store, prefixes, section->target_count, &key, 1,
                            language, arena, &rows, &row_count, err);
    for (size_t i = 0; i < section->target_count && !rc; i++) {
        for (size_t k = 0; k < row_count; k++) {
            if (rows[k].prefix == prefixes[i] && bytes_equal(rows[k].language, language))
                add_found(section->targets[i], &rows[k], arena, list, found_count);
        }
    }
    return rc;
}

static int get_targets(struct snippets *snippets, const struct snippet_section *section,
                       struct bytes key, struct bytes language, struct arena *arena,
                       struct snippet_found *list, size_t *found_count, struct err *err)
{
    struct snippet_row row;
    bool is_there;
    int rc;

    if (section->target_count != 1)
        return get_group(snippets, section, key, language, arena, list, found_count, err);
    rc = snippet_rows_get(snippets->options.store, section->targets[0]->prefix, key, language,
                          arena, &row, &is_there, err);
    if (!rc && is_there)
        add_found(section->targets[0], &row, arena, list, found_count);
    return rc;
}

int snippets_get(struct snippets *snippets, struct bytes name, struct bytes key,
                 struct bytes language, struct arena *arena, struct snippet_found **list,
                 size_t *found_count, struct err *err)
{
    const struct snippet_section *section;
    struct snippet_config *config;
    int rc = snippets_find(snippets, name, &config, &section, err);

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
