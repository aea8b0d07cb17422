/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_tree.c - the text of a config as a tree of sections, names unfolded (config.h).
 *
 * "a/b" below "c" is the section b of a of c. The sections on the way are made if nobody describes
 * them; whoever describes one twice is refused. So the order of sections is no matter.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snippets/bounds.h"
#include "snippets/config/config_parts.h"
#include "snippets/config/name.h"

static int read_section(struct config_loader *loader, const struct text_field *fields,
                        const struct text_field *place, struct draft *parent);

static struct draft *find_child(const struct draft *parent, struct bytes own)
{
    struct draft *child = parent->first_child;

    while (child && !bytes_equal(child->own, own))
        child = child->next;
    return child;
}

static struct draft *add_child(struct config_loader *loader, struct draft *parent, struct bytes own)
{
    struct draft *child = arena_zero(loader->arena, sizeof(*child));

    child->own = own;
    child->parent = parent;
    child->depth = parent->depth + 1;
    child->name = *parent->name
                      ? arena_printf(loader->arena, "%s/%.*s", parent->name, BYTES_ARG(own))
                      : arena_text(loader->arena, own);
    if (parent->last_child)
        parent->last_child->next = child;
    else
        parent->first_child = child;
    parent->last_child = child;
    parent->child_count++;
    loader->draft_count++;
    return child;
}

/* The section of a relative name, with those on the way to it. */
static int unfold(struct config_loader *loader, const struct text_field *name, struct draft *parent,
                  struct draft **draft)
{
    struct bytes rest = name->value;
    struct err err;

    if (name->kind != TEXT_FIELD_STRING)
        return config_refuse(loader, name->line, name->column, ERR_INVALID,
                             "Name: expected a text in quotation marks");
    if (snippet_name_check(name->value, &err))
        return config_refuse(loader, name->line, name->column, err.code, "Name: %s", err.text);
    while (rest.size) {
        const uint8_t *slash = memchr(rest.data, '/', rest.size);
        struct bytes own = bytes_make(rest.data, slash ? (size_t)(slash - rest.data) : rest.size);
        struct draft *child = find_child(parent, own);

        parent = child ? child : add_child(loader, parent, own);
        if (!child) {
            parent->line = name->line;
            parent->column = name->column;
        }
        rest = bytes_skip(rest, own.size + (slash != NULL));
        if (loader->draft_count > SNIPPET_COUNT_MAX)
            return config_refuse(loader, name->line, name->column, ERR_LIMIT,
                                 "more than %d sections (SNIPPET_COUNT_MAX)", SNIPPET_COUNT_MAX);
        if (snippet_name_check(bytes_of(parent->name), &err))
            return config_refuse(loader, name->line, name->column, err.code, "\"%s\": %s",
                                 parent->name, err.text);
    }
    *draft = parent;
    return 0;
}

static int read_body(struct config_loader *loader, const struct text_field *body,
                     struct draft *draft)
{
    struct option_value *values = arena_array(loader->arena, OPTION_COUNT, sizeof(*values));
    const struct text_field *field;
    int rc = 0;

    draft->values = values;
    for (field = body->fields; field && !rc; field = field->next) {
        if (!bytes_equal_text(field->name, "Sections"))
            rc = option_read(loader, field, values);
        else if (field->kind != TEXT_FIELD_MESSAGE)
            rc = config_refuse(loader, field->line, field->column, ERR_INVALID,
                               "Sections: expected a section in brackets");
        else
            rc = read_section(loader, field->fields, field, draft);
    }
    return rc;
}

/* Name and Body of a section. */
static int read_heads(struct config_loader *loader, const struct text_field *fields,
                      const struct text_field **name, const struct text_field **body)
{
    const struct text_field *field;

    *name = *body = NULL;
    for (field = fields; field; field = field->next) {
        bool is_name = bytes_equal_text(field->name, "Name");
        const struct text_field **place = is_name ? name : body;

        if (!is_name && !bytes_equal_text(field->name, "Body"))
            return config_refuse(loader, field->line, field->column, ERR_INVALID,
                                 "a section has Name and Body, not \"%.*s\"",
                                 BYTES_ARG(field->name));
        if (*place)
            return config_refuse(loader, field->line, field->column, ERR_INVALID,
                                 "%.*s comes twice: line %u, too", BYTES_ARG(field->name),
                                 (*place)->line);
        if (!is_name && field->kind != TEXT_FIELD_MESSAGE)
            return config_refuse(loader, field->line, field->column, ERR_INVALID,
                                 "Body: expected options in brackets");
        *place = field;
    }
    return 0;
}

static int read_section(struct config_loader *loader, const struct text_field *fields,
                        const struct text_field *place, struct draft *parent)
{
    const struct text_field *name, *body;
    struct draft *draft = parent;
    int rc = read_heads(loader, fields, &name, &body);

    if (rc)
        return rc;
    if (!parent) {
        draft = loader->root;
        if (name && name->value.size)
            return config_refuse(loader, name->line, name->column, ERR_INVALID,
                                 "the Name of the root is empty");
    } else if (!name) {
        return config_refuse(loader, place->line, place->column, ERR_INVALID,
                             "the section has no Name");
    } else {
        rc = unfold(loader, name, parent, &draft);
        if (rc)
            return rc;
        if (draft->place)
            return config_refuse(loader, name->line, name->column, ERR_INVALID,
                                 "\"%s\" is described twice: line %u, too", draft->name,
                                 draft->place->line);
        draft->place = place;
        draft->line = name->line;
        draft->column = name->column;
    }
    return body ? read_body(loader, body, draft) : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct draft *const *)a)->name, (*(struct draft *const *)b)->name);
}

/* All sections into an array, without recursion. */
static void list_drafts(struct config_loader *loader)
{
    struct draft *draft = loader->root;
    size_t count = 0;

    loader->drafts = arena_array(loader->arena, loader->draft_count, sizeof(*loader->drafts));
    while (draft) {
        loader->drafts[count++] = draft;
        if (draft->first_child) {
            draft = draft->first_child;
            continue;
        }
        while (draft && !draft->next)
            draft = draft->parent;
        draft = draft ? draft->next : NULL;
    }
    assert(count == loader->draft_count);
    qsort(loader->drafts, count, sizeof(*loader->drafts), by_name);
}

int config_tree_read(struct config_loader *loader, struct bytes text)
{
    const struct text_field *fields;
    int rc = text_format_read(text, loader->arena, &fields, loader->err);

    if (rc)
        return rc;
    loader->root = arena_zero(loader->arena, sizeof(*loader->root));
    loader->root->name = "";
    loader->root->line = loader->root->column = 1;
    loader->draft_count = 1;
    rc = read_section(loader, fields, NULL, NULL);
    if (!rc)
        list_drafts(loader);
    return rc;
}

struct draft *config_tree_find(const struct config_loader *loader, struct bytes name)
{
    size_t low = 0, high = loader->draft_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(bytes_of(loader->drafts[middle]->name), name);

        if (order == 0)
            return loader->drafts[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
