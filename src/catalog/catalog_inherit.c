/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_inherit.c - the attributes a category has: its parent's, less those it hides, plus
 * those it adds, with its overrides.
 *
 * Called top down, so the parent is resolved. A category that says nothing shares its parent's
 * list.
 */
#include <assert.h>
#include <string.h>

#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"

/* A category's list while it is made. */
struct listing {
    struct category *category;
    const Torg__V1__Category *message;
    const struct attribute **attributes;
    size_t count;
    bool *changed; /* of each: added or renamed here */
};

static size_t position_of(const struct listing *listing, const char *id)
{
    for (size_t i = 0; i < listing->count; i++) {
        if (strcmp(listing->attributes[i]->id, id) == 0)
            return i;
    }
    return listing->count;
}

static struct place part_of(const struct listing *listing, const char *part, size_t index)
{
    return (struct place){"categories", listing->category->place, part, index};
}

static void hide(struct loading *loading, struct listing *listing, size_t index)
{
    const struct place place = part_of(listing, "hidden", index);
    const char *id = listing->message->hidden[index];
    size_t at = position_of(listing, id);

    if (at == listing->count) {
        loading_fault(loading, &place, "",
                      "\"%s\" inherits no attribute \"%.64s\" that it could hide",
                      listing->category->id, id);
        return;
    }
    listing->count--;
    for (size_t i = at; i < listing->count; i++)
        listing->attributes[i] = listing->attributes[i + 1];
}

static void add(struct loading *loading, struct listing *listing, size_t index)
{
    const struct place place = part_of(listing, "attributes", index);
    const char *id = listing->message->attributes[index];
    const struct attribute_definition *definition =
        id_table_find(&loading->catalog->definition_ids, id);
    size_t same = position_of(listing, id);
    struct attribute *attribute;

    if (!definition) {
        loading_fault(loading, &place, "", "no attribute \"%.64s\" is defined", id);
        return;
    }
    if (same < listing->count) {
        const struct category *origin = listing->attributes[same]->origin;

        loading_fault(loading, &place, "",
                      "\"%s\" adds the attribute \"%s\", which it has already, from \"%s\"; to "
                      "change it name it in overrides",
                      listing->category->id, id, origin->id);
        return;
    }
    attribute = arena_alloc(loading->arena, sizeof(*attribute));
    *attribute = definition->attribute;
    attribute->origin = listing->category;
    listing->changed[listing->count] = true;
    listing->attributes[listing->count++] = attribute;
}

static void narrow_options(struct loading *loading, const struct place *place,
                           const Torg__V1__AttributeOverride *message, struct attribute *attribute)
{
    const struct attribute_definition *definition = attribute->definition;
    const struct attribute_option **options;
    bool *allowed;

    if (!message->n_options)
        return;
    if (!attribute->option_count) {
        loading_fault(loading, place, "options", "\"%s\" has no options", attribute->id);
        return;
    }
    options = arena_array(loading->arena, message->n_options, sizeof(options[0]));
    allowed = arena_array(loading->arena, definition->attribute.option_count, sizeof(allowed[0]));
    attribute->option_count = 0;
    for (size_t i = 0; i < message->n_options; i++) {
        const struct attribute_option *option =
            id_table_find(&definition->options, message->options[i]);

        if (!option)
            loading_fault(loading, place, "options", "\"%s\" has no option \"%.64s\"",
                          attribute->id, message->options[i]);
        else if (allowed[option->place])
            loading_fault(loading, place, "options", "\"%s\" comes twice", option->id);
        else
            options[attribute->option_count++] = option;
        if (option)
            allowed[option->place] = true;
    }
    attribute->options = options;
    attribute->allowed = allowed;
}

static void override(struct loading *loading, struct listing *listing, size_t index)
{
    const struct place place = part_of(listing, "overrides", index);
    const Torg__V1__AttributeOverride *message = listing->message->overrides[index];
    size_t at = position_of(listing, message->id);
    struct attribute *attribute;

    if (at == listing->count) {
        loading_fault(loading, &place, "id", "\"%s\" has no attribute \"%.64s\" to override",
                      listing->category->id, message->id);
        return;
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(listing->message->overrides[i]->id, message->id) == 0)
            loading_fault(loading, &place, "id", "overrides[%zu] is of \"%s\" too", i, message->id);
    }
    attribute = arena_alloc(loading->arena, sizeof(*attribute));
    *attribute = *listing->attributes[at];
    listing->attributes[at] = attribute;
    if (attribute->definition->broken)
        return; /* what is wrong here may be the definition's fault, which was told */
    if (message->name) {
        attribute->name = loading_name(loading, &place, message->name);
        attribute->folded = loading_fold(loading, &attribute->name);
        listing->changed[at] = true;
    }
    if (message->_required_case)
        attribute->required = message->required;
    narrow_options(loading, &place, message, attribute);
    loading_set_limits(loading, &place, attribute, message->min, message->max, message->length_min,
                       message->length_max, message->count_max);
    loading_set_filter(loading, &place, attribute, message->filter);
}

/* --- names --- */

static void check_pair(struct loading *loading, const struct listing *listing, size_t one,
                       size_t other)
{
    const struct place place = part_of(listing, NULL, 0);
    const struct attribute *a = listing->attributes[other];
    const struct attribute *b = listing->attributes[one];

    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        if (strcmp(a->folded.in[language], b->folded.in[language]) != 0)
            continue;
        loading_fault(loading, &place, "",
                      "two attributes of \"%s\" have the name \"%s\": \"%s\" (from \"%s\") and "
                      "\"%s\" (from \"%s\")",
                      listing->category->id, b->name.in[language], a->id, a->origin->id, b->id,
                      b->origin->id);
        return;
    }
}

/* Pairs that were together above have been looked at there. */
static void check_names(struct loading *loading, const struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        for (size_t j = 0; listing->changed[i] && j < listing->count; j++) {
            if (i != j && (!listing->changed[j] || j < i))
                check_pair(loading, listing, i, j);
        }
    }
}

void loading_inherit(struct loading *loading, struct category *category)
{
    const Torg__V1__Category *message = category->message;
    const struct category *parent = category->parent;
    size_t inherited = parent ? parent->attribute_count : 0;
    struct listing listing = {.category = category, .message = message, .count = inherited};
    size_t room = inherited + message->n_attributes;

    if (parent) {
        category->attributes = parent->attributes;
        category->attribute_count = inherited;
    }
    if (!message->n_hidden && !message->n_attributes && !message->n_overrides)
        return;
    if (room > CATALOG_ATTRIBUTE_CATEGORY_MAX) {
        const struct place place = part_of(&listing, NULL, 0);

        loading_fault(loading, &place, "attributes",
                      "\"%s\" has %zu attributes, inherited ones included; the limit is %d",
                      category->id, room, CATALOG_ATTRIBUTE_CATEGORY_MAX);
        return;
    }
    listing.attributes = arena_array(loading->arena, room + 1, sizeof(listing.attributes[0]));
    listing.changed = arena_array(loading->arena, room + 1, sizeof(listing.changed[0]));
    for (size_t i = 0; i < inherited; i++)
        listing.attributes[i] = parent->attributes[i];
    for (size_t i = 0; i < message->n_hidden; i++)
        hide(loading, &listing, i);
    for (size_t i = 0; i < message->n_attributes; i++)
        add(loading, &listing, i);
    for (size_t i = 0; i < message->n_overrides; i++)
        override(loading, &listing, i);
    check_names(loading, &listing);
    category->attributes = listing.attributes;
    category->attribute_count = listing.count;
}
