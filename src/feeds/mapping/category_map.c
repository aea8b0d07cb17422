/* SPDX-License-Identifier: Apache-2.0 */
/* category_map.c - see category_map.h. */
#include "feeds/mapping/category_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/words.h"
#include "feeds/bounds.h"
#include "feeds/formats/value.h"
#include "feeds/mapping/memo.h"

/* A category by one of its names, folded. */
struct name {
    const char *text;
    const struct category *category;
};

enum { FEED_CATEGORY_MAP_MAGIC = OBJECT_MAGIC('f', 'c', 'a', 't') };

struct feed_category_map {
    uint32_t magic;
    const struct catalog *catalog; /* borrowed */
    struct arena *arena;           /* of names and rules; owned */
    struct arena *scratch;         /* of one search; owned */
    struct name *names;            /* sorted by text */
    size_t name_count;
    struct feed_placement *plain; /* of each category, by its number: no attributes set */
    struct category_rules rules;
    struct feed_memo found;   /* placements, by id, a zero byte and path */
    struct feed_memo refused; /* reasons, likewise; they are in arena */
    size_t refused_count;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static void collect_names(struct feed_category_map *map)
{
    size_t count;
    const struct category *const *categories = catalog_categories(map->catalog, &count);

    map->names = arena_array(map->arena, count * LANGUAGE_COUNT + 1, sizeof(*map->names));
    map->plain = arena_array(map->arena, count + 1, sizeof(*map->plain));
    for (size_t i = 0; i < count; i++) {
        map->plain[i] = (struct feed_placement){.category = categories[i]};
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            const char *text = words_fold(bytes_of(categories[i]->name.in[language]), map->arena);

            if (language && strcmp(text, map->names[map->name_count - 1].text) == 0)
                continue; /* the same in both */
            map->names[map->name_count++] = (struct name){text, categories[i]};
        }
    }
    qsort(map->names, map->name_count, sizeof(*map->names), compare_names);
}

static int take_default(struct feed_category_map *map, const char *id, struct err *err)
{
    const struct category *category = id ? category_find(map->catalog, id) : NULL;

    if (id && !category)
        return err_set(err, ERR_INVALID, "the catalogue has no category \"%.64s\"", id);
    if (category)
        map->rules.otherwise = &map->plain[category->number];
    return 0;
}

int feed_category_map_new(const struct catalog *catalog, struct bytes content,
                          const char *otherwise, struct feed_category_map **made, struct err *err)
{
    struct feed_category_map *map = mem_zero(sizeof(*map));
    int rc;

    object_begin(map, FEED_CATEGORY_MAP_MAGIC);
    *made = NULL;
    map->catalog = catalog;
    map->arena = arena_new();
    map->scratch = arena_new();
    feed_memo_init(&map->found);
    feed_memo_init(&map->refused);
    collect_names(map);
    rc = category_rules_read(content, catalog, map->arena, &map->rules, err);
    if (!rc)
        rc = take_default(map, otherwise, err);
    if (rc)
        feed_category_map_free(map);
    else
        *made = map;
    return rc;
}

void feed_category_map_free(struct feed_category_map *map)
{
    if (!map)
        return;
    object_check(map, FEED_CATEGORY_MAP_MAGIC);
    feed_memo_release(&map->found);
    feed_memo_release(&map->refused);
    arena_free(map->scratch);
    arena_free(map->arena);
    object_end(map, FEED_CATEGORY_MAP_MAGIC);
    free(map);
}

/* --- finding --- */

enum { PART_COUNT_MAX = FEED_CATEGORY_DEPTH_MAX };

struct path {
    const char *parts[PART_COUNT_MAX]; /* folded */
    size_t count;
};

/* "Электроника/Телефоны", "Электроника > Телефоны" */
static void split(struct bytes text, struct arena *arena, struct path *path)
{
    path->count = 0;
    while (text.size && path->count < PART_COUNT_MAX) {
        size_t size = 0;
        const char *part;

        while (size < text.size && !strchr("/>\\|", text.data[size]))
            size++;
        part = words_fold(bytes_make(text.data, size), arena);
        if (*part)
            path->parts[path->count++] = part;
        text = bytes_skip(text, size < text.size ? size + 1 : size);
    }
}

static bool is_named(const struct category *category, const char *folded, struct arena *arena)
{
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        if (strcmp(words_fold(bytes_of(category->name.in[language]), arena), folded) == 0)
            return true;
    }
    return false;
}

/* How many of the path's names, from its end on, are names of the category's parents in order. */
static size_t agreement(const struct category *category, const struct path *path,
                        struct arena *arena)
{
    size_t agreed = 0;

    category = category->parent;
    for (size_t i = path->count - 1; i > 0 && category; i--) {
        const struct category *at = category;

        while (at && !is_named(at, path->parts[i - 1], arena))
            at = at->parent;
        if (at) {
            agreed++;
            category = at->parent;
        }
    }
    return agreed;
}

static const char *guess(const struct feed_category_map *map, const char *name)
{
    size_t count = 0;
    const struct category **close;

    if (strlen(name) > CATALOG_QUERY_SIZE_MAX)
        return "";
    close = catalog_search(map->catalog, bytes_of(name), NULL, 1, map->scratch, &count);
    if (!count)
        return "";
    return arena_printf(map->scratch, " (perhaps %s, \"%s\"?)", close[0]->id,
                        close[0]->name.in[LANGUAGE_RU]);
}

/* By names: the only one, or the only one that agrees best with the path. */
static const struct category *find_by_name(const struct feed_category_map *map,
                                           const struct path *path, struct bytes said,
                                           const char **reason)
{
    const struct name key = {.text = path->parts[path->count - 1]};
    const struct name *at = bsearch(&key, map->names, map->name_count, sizeof(key), compare_names);
    const struct name *end = map->names + map->name_count;
    const struct category *best = NULL;
    const struct category *other = NULL;
    size_t best_agreement = 0;

    while (at && at > map->names && compare_names(at - 1, &key) == 0)
        at--;
    for (; at && at < end && compare_names(at, &key) == 0; at++) {
        size_t agreed = agreement(at->category, path, map->scratch);

        if (!best || agreed > best_agreement) {
            best = at->category;
            best_agreement = agreed;
            other = NULL;
        } else if (agreed == best_agreement && at->category != best) {
            other = at->category;
        }
    }
    if (best && !other)
        return best;
    if (best)
        *reason =
            arena_printf(map->scratch, "\"%.*s\" may be %s or %s; say which in a --categories file",
                         BYTES_ARG(said), best->id, other->id);
    else
        *reason = arena_printf(map->scratch,
                               "the catalogue has no category \"%.*s\"%s; say which it is in a "
                               "--categories file",
                               BYTES_ARG(said), guess(map, key.text));
    return NULL;
}

/* As the file of --categories says: of the id, the whole path, the last name, what is above. */
static const struct category_rule *find_rule(struct feed_category_map *map, struct bytes id,
                                             struct bytes said, const struct path *path)
{
    const struct category_rule *rule = category_rules_find(&map->rules, id, map->scratch);
    struct buf above = BUF_INIT(FEED_VALUE_SIZE_MAX);

    if (!rule)
        rule = category_rules_find(&map->rules, said, map->scratch);
    if (!rule && path->count)
        rule =
            category_rules_find(&map->rules, bytes_of(path->parts[path->count - 1]), map->scratch);
    for (size_t count = path->count; !rule && map->rules.count && count-- > 1;) {
        buf_reset(&above);
        for (size_t i = 0; i < count; i++)
            buf_printf(&above, "%s ", path->parts[i]);
        rule = category_rules_find(&map->rules, buf_bytes(&above), map->scratch);
    }
    buf_release(&above);
    return rule;
}

/* By the catalogue alone. */
static const struct category *find_in_catalog(struct feed_category_map *map, struct bytes id,
                                              struct bytes said, const struct path *path,
                                              const char **reason)
{
    struct path whole = {.count = 1};
    const struct category *category = NULL;

    if (id.size)
        category = category_find(map->catalog, arena_text(map->scratch, id));
    if (!category && said.size)
        category = category_find(map->catalog, arena_text(map->scratch, said));
    if (category)
        return category;
    if (!path->count) {
        *reason = id.size
                      ? arena_printf(map->scratch,
                                     "the feed has no name for its category \"%.*s\", and the "
                                     "catalogue has no such id; say which it is in a --categories "
                                     "file",
                                     BYTES_ARG(feed_shown(id)))
                      : "the row names no category";
        return NULL;
    }
    whole.parts[0] = words_fold(said, map->scratch); /* "Ремонт / стройка" may be one name */
    category = path->count > 1 ? find_by_name(map, &whole, said, reason) : NULL;
    return category ? category : find_by_name(map, path, said, reason);
}

static const struct feed_placement *search(struct feed_category_map *map, struct bytes id,
                                           struct bytes said, const char **reason)
{
    struct path path;
    const struct category_rule *rule;
    const struct category *category;

    split(said, map->scratch, &path);
    rule = find_rule(map, id, said, &path);
    if (rule && !rule->to.category)
        *reason = FEED_CATEGORY_REFUSED;
    if (rule)
        return rule->to.category ? &rule->to : NULL;
    category = find_in_catalog(map, id, said, &path, reason);
    return category ? &map->plain[category->number] : map->rules.otherwise;
}

const struct feed_placement *feed_category_find(struct feed_category_map *map, struct bytes id,
                                                struct bytes path, const char **reason)
{
    const struct feed_placement *placement;
    const void *value;
    struct bytes key;
    uint8_t *joined;

    object_check(map, FEED_CATEGORY_MAP_MAGIC);
    arena_reset(map->scratch);
    joined = arena_alloc(map->scratch, id.size + 1 + path.size);
    memcpy(joined, id.data ? id.data : (const uint8_t *)"", id.size);
    joined[id.size] = 0;
    memcpy(joined + id.size + 1, path.data ? path.data : (const uint8_t *)"", path.size);
    key = bytes_make(joined, id.size + 1 + path.size);
    if (feed_memo_find(&map->found, NULL, key, &value))
        return value;
    if (feed_memo_find(&map->refused, NULL, key, &value)) {
        *reason = value;
        return NULL;
    }
    *reason = NULL;
    placement = search(map, id, path, reason);
    if (placement) {
        feed_memo_add(&map->found, NULL, key, placement);
    } else if (map->refused_count < FEED_MEMO_COUNT_MAX) {
        map->refused_count++;
        feed_memo_add(&map->refused, NULL, key, arena_strdup(map->arena, *reason));
    }
    return placement;
}
