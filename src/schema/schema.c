/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - a schema compiled (schema.h): documents, ids, references, circles.
 *
 * Rules are made by reference and read from a list, not by recursion, so that neither depth nor
 * circles of references are a matter. Ids are looked for where the drafts have schemas, and nowhere
 * else: an "id" in an enum, or a property of that name, is none.
 */
#include "schema/schema.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "draft_03.h"
#include "draft_04.h"
#include "schema/bounds.h"
#include "schema/schema_parts.h"
#include "schema/uri.h"

enum { RULE_SLOT_COUNT = 1 << 16 };
_Static_assert(RULE_SLOT_COUNT > 2 * SCHEMA_NODE_COUNT_MAX, "slots are found soon");

#define DRAFT_3_URI "http://json-schema.org/draft-03/schema"
#define DRAFT_4_URI "http://json-schema.org/draft-04/schema"

int compiler_refuse(struct schema_compiler *compiler, const struct schema_source *document,
                    const struct placed_json *node, int code, const char *format, ...)
{
    struct buf pointer = BUF_INIT(SCHEMA_REASON_SIZE_MAX);
    char reason[SCHEMA_REASON_SIZE_MAX];
    unsigned line, column;
    va_list args;
    int rc;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    placed_json_put_pointer(node, &pointer);
    placed_json_place(document->json, node->offset, &line, &column);
    rc = err_set(compiler->err, code, "%.*s#%s (line %u, column %u): %s", BYTES_ARG(document->uri),
                 buf_text(&pointer), line, column, reason);
    buf_release(&pointer);
    return rc;
}

/* --- documents and ids --- */

static enum schema_draft draft_of(const struct placed_json *root, enum schema_draft otherwise)
{
    const struct placed_json *node = placed_json_find(root, bytes_of("$schema"));
    struct bytes uri = node && node->kind == PLACED_TEXT ? node->text : BYTES_EMPTY;

    (void)uri_cut_fragment(&uri);
    if (bytes_equal_text(uri, DRAFT_3_URI))
        return SCHEMA_DRAFT_3;
    if (bytes_equal_text(uri, DRAFT_4_URI))
        return SCHEMA_DRAFT_4;
    return otherwise;
}

static int add_document(struct schema_compiler *compiler, struct bytes uri, struct bytes json,
                        enum schema_draft draft, struct schema_source **document)
{
    struct schema_source *made = arena_zero(compiler->arena, sizeof(*made));
    int rc = placed_json_read(json, compiler->arena, &made->root, compiler->err);

    if (rc)
        return uri.size && compiler->err ? err_wrap(compiler->err, "%.*s", BYTES_ARG(uri)) : rc;
    made->uri = arena_copy(compiler->arena, uri);
    made->json = json;
    made->draft = draft_of(made->root, draft);
    made->next = compiler->documents;
    compiler->documents = made;
    *document = made;
    return 0;
}

static void add_id(struct schema_compiler *compiler, struct schema_source *document,
                   const struct placed_json *node, struct bytes uri)
{
    struct schema_id *id = arena_zero(compiler->arena, sizeof(*id));

    if (uri.size && uri.data[uri.size - 1] == '#')
        uri.size--;
    id->uri = uri;
    id->node = node;
    id->document = document;
    id->next = compiler->ids;
    compiler->ids = id;
}

/* The base of what is in this place: its parent's, unless it has an id. */
static struct bytes base_of(struct schema_compiler *compiler, const struct placed_json *node,
                            struct bytes base)
{
    const struct placed_json *id = placed_json_find(node, bytes_of("id"));

    if (!id || id->kind != PLACED_TEXT || id->text.size > SCHEMA_URI_SIZE_MAX ||
        base.size > SCHEMA_URI_SIZE_MAX || placed_json_find(node, bytes_of("$ref")))
        return base;
    return uri_resolve(base, id->text, compiler->arena);
}

static void walk_ids(struct schema_compiler *compiler, struct schema_source *document,
                     const struct placed_json *node, struct bytes base);

/* Schemas in the value of a keyword. */
static void walk_keyword(struct schema_compiler *compiler, struct schema_source *document,
                         const struct placed_json *node, struct bytes base)
{
    enum keyword_shape shape = keyword_shape(document->draft, node->key);
    uint32_t i;

    if (shape == SHAPE_SCHEMA && node->kind == PLACED_OBJECT)
        walk_ids(compiler, document, node, base);
    else if (shape != SHAPE_NONE) {
        for (i = 0; i < node->count; i++)
            walk_ids(compiler, document, node->children[i], base);
    }
}

static void walk_ids(struct schema_compiler *compiler, struct schema_source *document,
                     const struct placed_json *node, struct bytes base)
{
    struct bytes own = base_of(compiler, node, base);
    uint32_t i;

    if (node->kind != PLACED_OBJECT)
        return;
    if (own.data != base.data) {
        add_id(compiler, document, node, own);
        (void)uri_cut_fragment(&own);
    }
    for (i = 0; i < node->count; i++)
        walk_keyword(compiler, document, node->children[i], own);
}

static void walk_document(struct schema_compiler *compiler, struct schema_source *document)
{
    if (document->is_walked)
        return;
    document->is_walked = true;
    add_id(compiler, document, document->root, document->uri);
    walk_ids(compiler, document, document->root, document->uri);
}

static const struct schema_id *find_id(const struct schema_compiler *compiler, struct bytes uri)
{
    const struct schema_id *id;

    for (id = compiler->ids; id; id = id->next) {
        if (bytes_equal(id->uri, uri))
            return id;
    }
    return NULL;
}

/* The documents that were given, read when they are referred to. */
static int find_given(struct schema_compiler *compiler, struct bytes uri, struct bytes *json,
                      enum schema_draft *draft)
{
    const struct schema_options *options = compiler->options;
    size_t i;

    *draft = options->draft;
    for (i = 0; i < options->document_count; i++) {
        if (bytes_equal(options->documents[i].uri, uri)) {
            *json = options->documents[i].json;
            return 0;
        }
    }
    *draft = bytes_equal_text(uri, DRAFT_3_URI) ? SCHEMA_DRAFT_3 : SCHEMA_DRAFT_4;
    if (!bytes_equal_text(uri, DRAFT_3_URI) && !bytes_equal_text(uri, DRAFT_4_URI))
        return ERR_NOT_FOUND;
    *json = *draft == SCHEMA_DRAFT_3 ? bytes_make(draft_03, draft_03_size)
                                     : bytes_make(draft_04, draft_04_size);
    return 0;
}

/* --- references --- */

static struct bytes base_at(struct schema_compiler *compiler, const struct schema_id *from,
                            const struct placed_json *node)
{
    const struct placed_json *path[PLACED_JSON_DEPTH_MAX + 1];
    struct bytes base = from->uri;
    size_t count = 0;

    (void)uri_cut_fragment(&base);
    for (; node && node != from->node; node = node->parent) {
        assert(count <= PLACED_JSON_DEPTH_MAX);
        path[count++] = node;
    }
    while (count-- > 1) { /* its own is taken when its rule is made */
        base = base_of(compiler, path[count], base);
        (void)uri_cut_fragment(&base);
    }
    return base;
}

int compiler_ref(struct schema_compiler *compiler, const struct rule *from,
                 const struct placed_json *node, struct rule **rule)
{
    struct bytes uri, fragment, pointer, json;
    struct schema_source *document;
    const struct schema_id *id;
    const struct placed_json *target;
    enum schema_draft draft;

    if (node->text.size > SCHEMA_URI_SIZE_MAX || from->base.size > SCHEMA_URI_SIZE_MAX)
        return compiler_refuse(compiler, from->document, node, ERR_LIMIT,
                               "a reference above %d bytes", SCHEMA_URI_SIZE_MAX);
    uri = uri_resolve(from->base, node->text, compiler->arena);
    id = find_id(compiler, uri);
    fragment = uri_cut_fragment(&uri);
    if (id && fragment.size && fragment.data[0] != '/')
        return compiler_rule(compiler, id->document, id->node, base_at(compiler, id, id->node),
                             rule);
    id = find_id(compiler, uri);
    if (!id && find_given(compiler, uri, &json, &draft) == 0) {
        int rc = add_document(compiler, uri, json, draft, &document);

        if (rc)
            return rc;
        walk_document(compiler, document);
        return compiler_ref(compiler, from, node, rule);
    }
    if (!id || !uri_decode(fragment, compiler->arena, &pointer))
        return compiler_refuse(compiler, from->document, node, ERR_INVALID,
                               "there is no schema \"%.*s\" here, and schemas are never fetched",
                               BYTES_ARG(uri));
    target = placed_json_at(id->node, pointer);
    if (!target)
        return compiler_refuse(compiler, from->document, node, ERR_INVALID,
                               "\"%.*s\" leads to nothing", BYTES_ARG(node->text));
    if (target->kind != PLACED_OBJECT)
        return compiler_refuse(compiler, from->document, node, ERR_INVALID,
                               "\"%.*s\" leads to no schema", BYTES_ARG(node->text));
    return compiler_rule(compiler, id->document, target, base_at(compiler, id, target), rule);
}

/* --- rules --- */

static struct rule **slot_of(struct schema_compiler *compiler, const struct placed_json *node)
{
    size_t at = hash64(bytes_make(&node, sizeof(node))) % RULE_SLOT_COUNT;

    while (compiler->by_node[at] && compiler->by_node[at]->source != node)
        at = (at + 1) % RULE_SLOT_COUNT;
    return &compiler->by_node[at];
}

int compiler_rule(struct schema_compiler *compiler, struct schema_source *document,
                  const struct placed_json *node, struct bytes base, struct rule **result)
{
    struct rule **slot = slot_of(compiler, node);
    struct rule *rule = *slot;

    *result = rule;
    if (rule)
        return 0;
    if (node->kind != PLACED_OBJECT)
        return compiler_refuse(compiler, document, node, ERR_INVALID,
                               "expected a schema, an object, found %s",
                               placed_kind_name(node->kind));
    if (++compiler->rule_count > SCHEMA_NODE_COUNT_MAX)
        return compiler_refuse(compiler, document, node, ERR_LIMIT,
                               "more than %d schemas in it (SCHEMA_NODE_COUNT_MAX)",
                               SCHEMA_NODE_COUNT_MAX);
    rule = arena_zero(compiler->arena, sizeof(*rule));
    rule->source = node;
    rule->document = document;
    rule->base = base_of(compiler, node, base);
    (void)uri_cut_fragment(&rule->base);
    rule->next = compiler->rules;
    compiler->rules = rule;
    *slot = rule;
    *result = rule;
    return 0;
}

/* Reads rules until there are no new ones. */
static int read_rules(struct schema_compiler *compiler)
{
    struct rule *done = NULL;
    int rc = 0;

    while (!rc && compiler->rules != done) {
        struct rule *first = compiler->rules, *rule;

        for (rule = first; rule != done && !rc; rule = rule->next)
            rc = keywords_read(compiler, rule);
        done = first;
    }
    return rc;
}

/* --- circles --- */

static int climb(struct schema_compiler *compiler, struct rule *rule, unsigned depth);

static int climb_to(struct schema_compiler *compiler, struct rule *rule, struct rule *next,
                    unsigned depth)
{
    int rc = next ? climb(compiler, next, depth + 1) : 0;

    if (!rc && next && next->height >= rule->height)
        rule->height = (uint8_t)(next->height + 1);
    if (!rc && depth + rule->height > SCHEMA_CHAIN_MAX)
        rc = compiler_refuse(compiler, rule->document, rule->source, ERR_LIMIT,
                             "more than %d schemas in schemas for one value (SCHEMA_CHAIN_MAX)",
                             SCHEMA_CHAIN_MAX);
    return rc;
}

static int climb_list(struct schema_compiler *compiler, struct rule *rule,
                      const struct rule_list *list, unsigned depth)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < list->count && !rc; i++)
        rc = climb_to(compiler, rule, list->rules[i], depth);
    return rc;
}

/* Over all rules that look at the same value as this one. */
static int climb(struct schema_compiler *compiler, struct rule *rule, unsigned depth)
{
    const struct rule_list *lists[] = {&rule->types.rules, &rule->disallow.rules, &rule->all_of,
                                       &rule->any_of, &rule->one_of};
    size_t i;
    int rc = 0;

    if (rule->colour == 2)
        return 0;
    if (rule->colour == 1 || depth > SCHEMA_CHAIN_MAX)
        return compiler_refuse(compiler, rule->document, rule->source,
                               rule->colour ? ERR_INVALID : ERR_LIMIT,
                               rule->colour ? "the schema leads back to itself without going deeper"
                                            : "too many schemas in schemas for one value");
    rule->colour = 1;
    rc = climb_to(compiler, rule, rule->ref, depth);
    if (!rc)
        rc = climb_to(compiler, rule, rule->not_this, depth);
    for (i = 0; i < ARRAY_COUNT(lists) && !rc; i++)
        rc = climb_list(compiler, rule, lists[i], depth);
    for (i = 0; i < rule->dependency_count && !rc; i++)
        rc = climb_to(compiler, rule, rule->dependencies[i].rule, depth);
    rule->colour = 2;
    return rc;
}

static int refuse_circles(struct schema_compiler *compiler)
{
    struct rule *rule;
    int rc = 0;

    for (rule = compiler->rules; rule && !rc; rule = rule->next)
        rc = climb(compiler, rule, 0);
    return rc;
}

/* --- the whole --- */

static int compile(struct schema_compiler *compiler, struct bytes json, struct rule **root)
{
    struct schema_source *document;
    int rc = add_document(compiler, compiler->options->uri, arena_copy(compiler->arena, json),
                          compiler->options->draft, &document);

    if (rc)
        return rc;
    walk_document(compiler, document);
    rc = compiler_rule(compiler, document, document->root, document->uri, root);
    if (!rc)
        rc = read_rules(compiler);
    if (!rc)
        rc = refuse_circles(compiler);
    return rc;
}

int json_schema_compile(struct bytes json, const struct schema_options *given,
                        struct json_schema **result, struct err *err)
{
    struct schema_options options = given ? *given : (struct schema_options){0};
    struct schema_compiler compiler = {.options = &options, .err = err};
    struct rule *root = NULL;
    struct json_schema *schema;
    int rc;

    *result = NULL;
    if (!options.draft)
        options.draft = SCHEMA_DRAFT_4;
    compiler.arena = arena_new();
    compiler.by_node = mem_array(RULE_SLOT_COUNT, sizeof(*compiler.by_node));
    rc = compile(&compiler, json, &root);
    free(compiler.by_node);
    if (rc) {
        arena_free(compiler.arena);
        return rc;
    }
    schema = arena_zero(compiler.arena, sizeof(*schema));
    object_begin(schema, JSON_SCHEMA_MAGIC);
    schema->arena = compiler.arena;
    schema->root = root;
    *result = schema;
    return 0;
}

void json_schema_free(struct json_schema *schema)
{
    if (!schema)
        return;
    object_end(schema, JSON_SCHEMA_MAGIC);
    arena_free(schema->arena);
}
