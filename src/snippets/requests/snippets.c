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
        rc = snippet_cache_write(snippets->cache, snippets->options.store, &part, 1, NULL, NULL,
                                 err);
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

/* A prepared row has parts of the request's own bytes. */
static void end_texts(struct snippet_row *row, struct arena *arena)
{
    row->key = arena_copy(arena, row->key);
    row->language = arena_copy(arena, row->language);
    row->body = arena_copy(arena, row->body);
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
            if (section->targets[k]->prefix != rows[i].prefix)
                continue;
            end_texts(&rows[i], arena);
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

/* What a request of several names asks for. */
struct page {
    struct wanted_list wanted;
    struct snippet_grid grid;
};

static int page_init(struct page *page, const struct snippet_config *config,
                     const struct bytes *names, size_t name_count, const struct bytes *keys,
                     size_t key_count, struct bytes language, struct arena *arena, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < name_count && !rc; i++) {
        const struct snippet_section *section =
            names[i].size ? snippet_config_find(config, names[i]) : NULL;

        rc = section ? want(&page->wanted, section, err) : 0;
    }
    if (!rc)
        snippet_grid_init(&page->grid, page->wanted.prefixes, page->wanted.count, keys, key_count,
                          language, arena);
    return rc;
}

static void list_found(const struct page *page, struct arena *arena, struct snippet_found **list,
                       size_t *found_count)
{
    const struct snippet_grid *grid = &page->grid;

    *list = arena_array(arena, grid->prefix_count * grid->key_count + 1, sizeof(**list));
    for (size_t i = 0; i < grid->prefix_count; i++) {
        const struct snippet *snippet = of_prefix(&page->wanted, grid->prefixes[i]);
        const char *name = arena_strdup(arena, snippet->name);

        for (size_t k = 0; k < grid->key_count; k++) {
            const struct snippet_row *row = grid->cells[i * grid->key_count + k];

            if (row)
                (*list)[(*found_count)++] =
                    (struct snippet_found){.name = name, .format = snippet->output, .row = *row};
        }
    }
}

int snippets_batch(struct snippets *snippets, const struct bytes *names, size_t name_count,
                   const struct bytes *keys, size_t key_count, struct bytes language,
                   struct arena *arena, struct snippet_found **list, size_t *found_count,
                   struct err *err)
{
    struct snippet_config *config = snippets_config(snippets);
    struct page *page = arena_zero(arena, sizeof(*page));
    int rc = page_init(page, config, names, name_count, keys, key_count, language, arena, err);

    *found_count = 0;
    if (!rc && page->grid.prefix_count && page->grid.key_count)
        rc = snippet_grid_read(&page->grid, snippets->cache, snippets->options.store, arena, err);
    if (!rc)
        list_found(page, arena, list, found_count);
    snippet_config_unref(config);
    counter_add(snippets->batch_count, 1);
    return rc;
}

bool snippets_batch_at_hand(struct snippets *snippets, const struct bytes *names, size_t name_count,
                            const struct bytes *keys, size_t key_count, struct bytes language,
                            struct arena *arena, struct snippet_found **list, size_t *found_count)
{
    struct snippet_config *config;
    struct page *page;
    bool is_whole;

    *found_count = 0;
    if (!snippets->cache)
        return false;
    config = snippets_config(snippets);
    page = arena_zero(arena, sizeof(*page));
    is_whole =
        !page_init(page, config, names, name_count, keys, key_count, language, arena, NULL) &&
        snippet_grid_find(&page->grid, snippets->cache, snippets->options.store, arena);
    if (is_whole) {
        list_found(page, arena, list, found_count);
        counter_add(snippets->batch_count, 1);
    }
    snippet_config_unref(config);
    return is_whole;
}
