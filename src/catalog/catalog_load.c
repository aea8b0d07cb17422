/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_load.c - makes a catalogue from a message: checks all of it, then resolves it top down.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"
#include "catalog/words.h"
#include "codec/json.h"
#include "codec/message.h"

enum { PLACE_SIZE_MAX = 256, CYCLE_TOLD_MAX = 8 };

/* --- telling --- */

static void put_index(struct buf *out, const char *name, size_t index)
{
    buf_put_text(out, name);
    if (index != SIZE_MAX)
        buf_printf(out, "[%zu]", index);
}

void loading_fault(struct loading *loading, const struct place *place, const char *field,
                   const char *format, ...)
{
    struct violations *violations = loading->violations;
    struct buf path = BUF_INIT(PLACE_SIZE_MAX);
    struct arena_mark mark;
    const char *reason;
    va_list args;

    if (violations->count >= VIOLATION_COUNT_MAX) {
        violations->count++;
        return;
    }
    put_index(&path, place->list, place->index);
    if (place->part) {
        buf_put_text(&path, ".");
        put_index(&path, place->part, place->part_index);
    }
    if (*field)
        buf_printf(&path, ".%s", field);
    mark = arena_mark(loading->arena);
    va_start(args, format);
    reason = arena_vprintf(loading->arena, format, args);
    va_end(args);
    violations_add(violations, buf_text(&path), "%s", reason);
    arena_rewind(loading->arena, mark);
    buf_release(&path);
}

/* --- what attributes and categories share --- */

bool loading_check_id(struct loading *loading, const struct place *place, const char *id)
{
    size_t size = strlen(id);

    if (size && size <= CATALOG_ID_SIZE_MAX &&
        strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == size)
        return true;
    loading_fault(loading, place, "id", "\"%.64s\" is not 1 to %d of a-z 0-9 - _ .", id,
                  CATALOG_ID_SIZE_MAX);
    return false;
}

static bool check_text(struct loading *loading, const struct place *place, const char *field,
                       const char *text)
{
    size_t size = strlen(text);

    if (size > CATALOG_NAME_SIZE_MAX)
        loading_fault(loading, place, field, "%zu bytes; the limit is %d", size,
                      CATALOG_NAME_SIZE_MAX);
    else if (size && (text[0] == ' ' || text[size - 1] == ' '))
        loading_fault(loading, place, field, "\"%s\" has blanks at its ends", text);
    else
        return true;
    return false;
}

struct local_text loading_name(struct loading *loading, const struct place *place,
                               const Torg__V1__LocalText *name)
{
    struct local_text text = {{"", ""}};

    if (!name || (!*name->ru && !*name->en)) {
        loading_fault(loading, place, "name", "it needs a name, such as {\"ru\": …, \"en\": …}");
        return text;
    }
    check_text(loading, place, "name.ru", name->ru);
    check_text(loading, place, "name.en", name->en);
    text.in[LANGUAGE_RU] = *name->ru ? name->ru : name->en;
    text.in[LANGUAGE_EN] = *name->en ? name->en : name->ru;
    return text;
}

struct local_text loading_fold(struct loading *loading, const struct local_text *name)
{
    struct local_text folded;

    for (int language = 0; language < LANGUAGE_COUNT; language++)
        folded.in[language] = words_fold_name(bytes_of(name->in[language]), loading->arena);
    return folded;
}

/* --- the tree --- */

static void check_synonyms(struct loading *loading, const struct place *place, const char *field,
                           char *const *synonyms, size_t count)
{
    if (count > CATALOG_SYNONYM_COUNT_MAX) {
        loading_fault(loading, place, field, "%zu synonyms; the limit is %d", count,
                      CATALOG_SYNONYM_COUNT_MAX);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!*synonyms[i])
            loading_fault(loading, place, field, "the synonym at %zu is empty", i);
        check_text(loading, place, field, synonyms[i]);
    }
}

static void read_category(struct loading *loading, size_t index)
{
    struct catalog *catalog = loading->catalog;
    const Torg__V1__Category *message = catalog->message->categories[index];
    struct category *category = &catalog->in_file[index];
    const struct place place = {"categories", index, NULL, 0};
    const struct category *same;

    category->id = message->id;
    category->message = message;
    category->place = (uint32_t)index;
    category->name = loading_name(loading, &place, message->name);
    if (message->synonyms) {
        check_synonyms(loading, &place, "synonyms.ru", message->synonyms->ru,
                       message->synonyms->n_ru);
        check_synonyms(loading, &place, "synonyms.en", message->synonyms->en,
                       message->synonyms->n_en);
    }
    if (!loading_check_id(loading, &place, message->id))
        return;
    same = id_table_add(&catalog->category_ids, message->id, category);
    if (same)
        loading_fault(loading, &place, "id", "\"%s\" is the id of categories[%u] too", message->id,
                      same->place);
}

/* Parents, and every category into its parent's list; *top gets those without one. */
static void link_children(struct loading *loading)
{
    struct catalog *catalog = loading->catalog;
    size_t count = catalog->category_count;
    const struct category **lists = arena_array(loading->arena, count + 1, sizeof(lists[0]));
    size_t *child_counts = arena_array(loading->arena, count + 1, sizeof(child_counts[0]));
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        struct category *category = &catalog->in_file[i];
        const struct place place = {"categories", i, NULL, 0};
        const char *parent = category->message->parent;

        if (*parent) {
            category->parent = id_table_find(&catalog->category_ids, parent);
            if (!category->parent)
                loading_fault(loading, &place, "parent", "there is no category \"%.64s\"", parent);
        }
        child_counts[category->parent ? category->parent->place : count]++;
    }
    /* One array for all lists: each category's begins behind the one before. */
    for (size_t i = 0; i < count; i++) {
        catalog->in_file[i].children = lists + used;
        used += child_counts[i];
    }
    catalog->top = lists + used;
    for (size_t i = 0; i < count; i++) {
        const struct category *category = &catalog->in_file[i];

        if (category->parent) {
            struct category *parent = &catalog->in_file[category->parent->place];

            lists[parent->children - lists + (ptrdiff_t)parent->child_count++] = category;
        } else {
            lists[used + catalog->top_count++] = category;
        }
    }
}

static void resolve(struct loading *loading, struct category *category, const struct policy *policy,
                    uint32_t filters)
{
    category->policy = category->parent ? category->parent->policy : *policy;
    category->filters = category->parent ? category->parent->filters : filters;
    loading_inherit(loading, category);
    loading_inherit_filters(loading, category);
    loading_inherit_policy(loading, category);
}

/* Numbers the categories depth first, and resolves each behind its parent. No recursion: the way
 * back is in the parents. What is in a circle, or below one, is not reached. */
static size_t number_and_resolve(struct loading *loading)
{
    struct catalog *catalog = loading->catalog;
    const struct policy policy = loading_default_policy(loading);
    uint32_t filters = loading_default_filters(loading);
    size_t *next = arena_array(loading->arena, catalog->category_count + 1, sizeof(next[0]));
    struct category *at = NULL;
    bool orphaned = false; /* below an unknown parent: that was told, what follows from it is not */
    size_t top = 0;
    uint32_t number = 0;

    for (;;) {
        const struct category *down = NULL;

        if (!at && top < catalog->top_count) {
            down = catalog->top[top++];
            orphaned = *down->message->parent;
        }
        if (at && next[at->place] < at->child_count && at->depth <= CATALOG_DEPTH_MAX)
            down = at->children[next[at->place]++];
        if (down) {
            uint32_t depth = at ? at->depth + 1 : 1;

            at = &catalog->in_file[down->place];
            at->depth = depth;
            at->number = number;
            catalog->categories[number++] = at;
            if (depth > CATALOG_DEPTH_MAX) {
                const struct place place = {"categories", at->place, NULL, 0};

                loading_fault(loading, &place, "parent", "\"%s\" is deeper than %d levels", at->id,
                              CATALOG_DEPTH_MAX);
            }
            if (!orphaned)
                resolve(loading, at, &policy, filters);
        } else if (at) {
            at->last = number - 1;
            at = at->parent ? &catalog->in_file[at->parent->place] : NULL;
        } else {
            return number;
        }
    }
}

/* Tells the circle that goes up from here, and marks it: depth of what was told is not 0. */
static void tell_circle(struct loading *loading, struct category *category)
{
    const struct place place = {"categories", category->place, NULL, 0};
    struct buf names = BUF_INIT(CYCLE_TOLD_MAX * (CATALOG_ID_SIZE_MAX + 4));
    const struct category *at = category;
    int told = 0;

    do {
        if (told++ < CYCLE_TOLD_MAX)
            buf_printf(&names, "%s > ", at->id);
        loading->catalog->in_file[at->place].depth = 1;
        at = at->parent;
    } while (at != category);
    loading_fault(loading, &place, "parent", "a circle: %s%s%s", buf_text(&names),
                  told > CYCLE_TOLD_MAX ? "… > " : "", category->id);
    buf_release(&names);
}

static void find_circles(struct loading *loading)
{
    struct catalog *catalog = loading->catalog;

    for (size_t i = 0; i < catalog->category_count; i++) {
        const struct category *slow = &catalog->in_file[i];
        const struct category *fast = slow;

        /* What a numbered one has above it ends at the top; two of different speed meet else. */
        while (fast && !fast->depth && fast->parent) {
            slow = slow->parent;
            fast = fast->parent->parent;
            if (slow == fast)
                break;
        }
        if (fast && !fast->depth && slow == fast)
            tell_circle(loading, &catalog->in_file[fast->place]);
        for (slow = &catalog->in_file[i]; slow && !slow->depth; slow = slow->parent)
            catalog->in_file[slow->place].depth = 1; /* nobody walks here again */
    }
}

static void load_tree(struct loading *loading)
{
    struct catalog *catalog = loading->catalog;
    size_t count = catalog->message->n_categories;

    if (count > CATALOG_CATEGORY_COUNT_MAX) {
        const struct place place = {"categories", CATALOG_CATEGORY_COUNT_MAX, NULL, 0};

        loading_fault(loading, &place, "", "%zu categories; the limit is %d", count,
                      CATALOG_CATEGORY_COUNT_MAX);
        count = CATALOG_CATEGORY_COUNT_MAX;
    }
    catalog->category_count = count;
    catalog->in_file = arena_array(loading->arena, count + 1, sizeof(catalog->in_file[0]));
    catalog->categories = arena_array(loading->arena, count + 1, sizeof(catalog->categories[0]));
    id_table_init(&catalog->category_ids, count, loading->arena);
    for (size_t i = 0; i < count; i++)
        read_category(loading, i);
    link_children(loading);
    if (number_and_resolve(loading) < count)
        find_circles(loading);
}

/* --- entry --- */

static struct catalog *catalog_new(void)
{
    struct catalog *catalog = mem_zero(sizeof(*catalog));

    object_begin(catalog, CATALOG_MAGIC);
    catalog->refs = 1;
    catalog->arena = arena_new();
    return catalog;
}

/* Ends a loading: the catalogue, or the first of its faults. */
static int finish(struct catalog *catalog, const struct violations *violations,
                  struct catalog **result, struct err *err)
{
    if (!violations->count) {
        *result = catalog;
        return 0;
    }
    catalog_unref(catalog);
    *result = NULL;
    return err_set(err, ERR_INVALID, "%s: %s%s", violations->first->field,
                   violations->first->reason, violations->count > 1 ? " (and more is wrong)" : "");
}

static int load(struct catalog *made, struct violations *violations, struct catalog **catalog,
                struct err *err)
{
    struct arena *own = violations ? NULL : arena_new();
    struct violations local = violations_in(own);
    struct loading loading = {
        .catalog = made, .arena = made->arena, .violations = violations ? violations : &local};
    int rc;

    loading_define(&loading);
    load_tree(&loading);
    if (!loading.violations->count) {
        loading_index_names(&loading);
        loading_index_values(&loading);
    }
    rc = finish(made, loading.violations, catalog, err);
    arena_free(own);
    return rc;
}

int catalog_from_json(struct bytes json, struct violations *violations, struct catalog **catalog,
                      struct err *err)
{
    struct catalog *made;
    ProtobufCMessage *message;
    int rc;

    *catalog = NULL;
    if (json.size > CATALOG_FILE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "the catalogue has %zu bytes; the limit is %d", json.size,
                       CATALOG_FILE_SIZE_MAX);
    made = catalog_new();
    rc = json_decode(json, &torg__v1__catalog__descriptor, made->arena, &message, violations, err);
    if (rc) {
        catalog_unref(made);
        return rc;
    }
    made->message = (const Torg__V1__Catalog *)message;
    return load(made, violations, catalog, err);
}

int catalog_from_wire(struct bytes wire, struct violations *violations, struct catalog **catalog,
                      struct err *err)
{
    struct catalog *made = catalog_new();
    ProtobufCMessage *message;
    int rc;

    *catalog = NULL;
    rc = message_decode(wire, &torg__v1__catalog__descriptor, made->arena, &message, err);
    if (rc) {
        catalog_unref(made);
        return rc;
    }
    made->message = (const Torg__V1__Catalog *)message;
    return load(made, violations, catalog, err);
}

int catalog_from_message(const Torg__V1__Catalog *message, struct violations *violations,
                         struct catalog **catalog, struct err *err)
{
    struct buf wire = BUF_INIT(CATALOG_WIRE_SIZE_MAX);
    int rc;

    *catalog = NULL;
    message_encode(&message->base, &wire);
    if (buf_failed(&wire))
        rc = err_set(err, ERR_LIMIT, "the catalogue is larger than %d bytes as a message",
                     CATALOG_WIRE_SIZE_MAX);
    else
        rc = catalog_from_wire(buf_bytes(&wire), violations, catalog, err);
    buf_release(&wire);
    return rc;
}
