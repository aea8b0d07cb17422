/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_keywords.c - what the keywords of a schema mean, one function each (schema.h).
 *
 * A keyword that the draft does not know is a remark, as the drafts want it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "schema/bounds.h"
#include "schema/schema_parts.h"

struct reading {
    struct schema_compiler *compiler;
    struct rule *rule;
};

static int refuse(const struct reading *reading, const struct placed_json *node, const char *wanted)
{
    return compiler_refuse(reading->compiler, reading->rule->document, node, ERR_INVALID,
                           "%.*s: expected %s, found %s", BYTES_ARG(node->key), wanted,
                           placed_kind_name(node->kind));
}

static int sub_rule(const struct reading *reading, const struct placed_json *node,
                    struct rule **rule)
{
    return compiler_rule(reading->compiler, reading->rule->document, node, reading->rule->base,
                         rule);
}

/* --- parts that several have --- */

static int read_number(const struct reading *reading, const struct placed_json *node,
                       struct json_number **number)
{
    if (node->kind != PLACED_NUMBER)
        return refuse(reading, node, "a number");
    *number = arena_zero(reading->compiler->arena, sizeof(**number));
    json_number_read(node->text, *number);
    return 0;
}

static int read_count(const struct reading *reading, const struct placed_json *node,
                      uint64_t *count)
{
    struct json_number number;
    uint32_t i;

    if (node->kind != PLACED_NUMBER)
        return refuse(reading, node, "a number");
    json_number_read(node->text, &number);
    if (number.negative || number.exponent < 0 || number.digit_count + number.exponent > 15)
        return compiler_refuse(reading->compiler, reading->rule->document, node, ERR_INVALID,
                               "%.*s: expected a count, 0 or more", BYTES_ARG(node->key));
    *count = 0;
    for (i = 0; i < number.digit_count; i++)
        *count = *count * 10 + number.digits[i];
    for (i = 0; i < (uint32_t)number.exponent; i++)
        *count *= 10;
    return 0;
}

static int read_bool(const struct reading *reading, const struct placed_json *node, bool *value)
{
    if (node->kind != PLACED_TRUE && node->kind != PLACED_FALSE)
        return refuse(reading, node, "true or false");
    *value = node->kind == PLACED_TRUE;
    return 0;
}

/* A list of names; keys of objects. */
static int read_names(const struct reading *reading, const struct placed_json *node,
                      struct bytes **names, size_t *count)
{
    uint32_t i;

    if (node->kind != PLACED_LIST)
        return refuse(reading, node, "a list of strings");
    *names = arena_array(reading->compiler->arena, node->count, sizeof(**names));
    *count = node->count;
    for (i = 0; i < node->count; i++) {
        if (node->children[i]->kind != PLACED_TEXT)
            return refuse(reading, node->children[i], "a string");
        (*names)[i] = node->children[i]->text;
    }
    return 0;
}

static int read_rules(const struct reading *reading, const struct placed_json *node,
                      struct rule_list *list)
{
    uint32_t i;
    int rc = 0;

    if (node->kind != PLACED_LIST)
        return refuse(reading, node, "a list of schemas");
    list->rules = arena_array(reading->compiler->arena, node->count, sizeof(*list->rules));
    list->count = node->count;
    for (i = 0; i < node->count && !rc; i++)
        rc = sub_rule(reading, node->children[i], &list->rules[i]);
    return rc;
}

static int read_some_rules(const struct reading *reading, const struct placed_json *node,
                           struct rule_list *list)
{
    if (node->kind == PLACED_LIST && node->count == 0)
        return refuse(reading, node, "at least one schema");
    return read_rules(reading, node, list);
}

static int read_rest(const struct reading *reading, const struct placed_json *node,
                     struct rule_rest *rest)
{
    if (node->kind == PLACED_OBJECT)
        return sub_rule(reading, node, &rest->rule);
    if (node->kind != PLACED_TRUE && node->kind != PLACED_FALSE)
        return refuse(reading, node, "true, false or a schema");
    rest->is_forbidden = node->kind == PLACED_FALSE;
    return 0;
}

static int read_pattern(const struct reading *reading, const struct placed_json *node,
                        struct bytes text, const struct pattern **pattern)
{
    struct err err;
    int rc = pattern_compile(text, reading->compiler->arena, pattern, &err);

    if (rc)
        return compiler_refuse(reading->compiler, reading->rule->document, node, rc, "%s",
                               err.text);
    return 0;
}

static const struct {
    const char *name;
    unsigned mask;
} type_names[] = {
    {"null", TYPE_NULL},       {"boolean", TYPE_BOOLEAN},
    {"integer", TYPE_INTEGER}, {"number", TYPE_NUMBER | TYPE_INTEGER},
    {"string", TYPE_STRING},   {"array", TYPE_ARRAY},
    {"object", TYPE_OBJECT},
};

static int add_type(const struct reading *reading, const struct placed_json *node,
                    struct rule_types *types)
{
    bool is_old = reading->rule->document->draft == SCHEMA_DRAFT_3;
    size_t i;

    if (is_old && node->kind == PLACED_OBJECT)
        return sub_rule(reading, node, &types->rules.rules[types->rules.count++]);
    if (node->kind != PLACED_TEXT)
        return refuse(reading, node, "the name of a type");
    if (is_old && bytes_equal_text(node->text, "any")) {
        types->mask = TYPE_ANY;
        return 0;
    }
    for (i = 0; i < ARRAY_COUNT(type_names); i++) {
        if (bytes_equal_text(node->text, type_names[i].name)) {
            types->mask |= type_names[i].mask;
            return 0;
        }
    }
    return compiler_refuse(reading->compiler, reading->rule->document, node, ERR_INVALID,
                           "there is no type \"%.*s\"", BYTES_ARG(node->text));
}

static int read_types(const struct reading *reading, const struct placed_json *node,
                      struct rule_types *types)
{
    uint32_t i;
    int rc = 0;

    types->rules.rules =
        arena_array(reading->compiler->arena, node->count + 1, sizeof(*types->rules.rules));
    if (node->kind != PLACED_LIST)
        return add_type(reading, node, types);
    if (node->count == 0)
        return refuse(reading, node, "at least one type");
    for (i = 0; i < node->count && !rc; i++)
        rc = add_type(reading, node->children[i], types);
    return rc;
}

/* --- keywords --- */

static int on_type(const struct reading *reading, const struct placed_json *node)
{
    reading->rule->has_types = true;
    return read_types(reading, node, &reading->rule->types);
}

static int on_disallow(const struct reading *reading, const struct placed_json *node)
{
    reading->rule->has_disallow = true;
    return read_types(reading, node, &reading->rule->disallow);
}

static int on_enum(const struct reading *reading, const struct placed_json *node)
{
    if (node->kind != PLACED_LIST || node->count == 0)
        return refuse(reading, node, "a list of at least one value");
    reading->rule->values = node;
    return 0;
}

static int on_minimum(const struct reading *reading, const struct placed_json *node)
{
    return read_number(reading, node, &reading->rule->minimum);
}

static int on_maximum(const struct reading *reading, const struct placed_json *node)
{
    return read_number(reading, node, &reading->rule->maximum);
}

static int on_exclusive_minimum(const struct reading *reading, const struct placed_json *node)
{
    return read_bool(reading, node, &reading->rule->is_minimum_out);
}

static int on_exclusive_maximum(const struct reading *reading, const struct placed_json *node)
{
    return read_bool(reading, node, &reading->rule->is_maximum_out);
}

static int on_step(const struct reading *reading, const struct placed_json *node)
{
    struct rule *rule = reading->rule;
    int rc = read_number(reading, node, &rule->step);

    if (rc)
        return rc;
    if (rule->step->negative || rule->step->digit_count == 0)
        return refuse(reading, node, "a number above 0");
    if (rule->step->digit_count > JSON_STEP_DIGIT_COUNT_MAX)
        return compiler_refuse(reading->compiler, rule->document, node, ERR_LIMIT,
                               "a number of more than %d digits", JSON_STEP_DIGIT_COUNT_MAX);
    return 0;
}

static int on_min_length(const struct reading *reading, const struct placed_json *node)
{
    return read_count(reading, node, &reading->rule->length.min);
}

static int on_max_length(const struct reading *reading, const struct placed_json *node)
{
    return read_count(reading, node, &reading->rule->length.max);
}

static int on_min_items(const struct reading *reading, const struct placed_json *node)
{
    return read_count(reading, node, &reading->rule->items_range.min);
}

static int on_max_items(const struct reading *reading, const struct placed_json *node)
{
    return read_count(reading, node, &reading->rule->items_range.max);
}

static int on_min_properties(const struct reading *reading, const struct placed_json *node)
{
    return read_count(reading, node, &reading->rule->properties_range.min);
}

static int on_max_properties(const struct reading *reading, const struct placed_json *node)
{
    return read_count(reading, node, &reading->rule->properties_range.max);
}

static int on_pattern(const struct reading *reading, const struct placed_json *node)
{
    if (node->kind != PLACED_TEXT)
        return refuse(reading, node, "a string");
    reading->rule->pattern_text = node->text;
    return read_pattern(reading, node, node->text, &reading->rule->pattern);
}

static int on_format(const struct reading *reading, const struct placed_json *node)
{
    if (node->kind != PLACED_TEXT)
        return refuse(reading, node, "a string");
    reading->rule->format_name = node->text;
    if (reading->compiler->options->with_formats)
        reading->rule->format = schema_format_find(reading->rule->document->draft, node->text);
    return 0;
}

static int on_items(const struct reading *reading, const struct placed_json *node)
{
    if (node->kind == PLACED_OBJECT)
        return sub_rule(reading, node, &reading->rule->items);
    reading->rule->has_item_list = true;
    return read_rules(reading, node, &reading->rule->item_list);
}

static int on_additional_items(const struct reading *reading, const struct placed_json *node)
{
    return read_rest(reading, node, &reading->rule->other_items);
}

static int on_unique_items(const struct reading *reading, const struct placed_json *node)
{
    return read_bool(reading, node, &reading->rule->is_unique);
}

static int on_properties(const struct reading *reading, const struct placed_json *node)
{
    struct rule *rule = reading->rule;
    uint32_t i;
    int rc = 0;

    if (node->kind != PLACED_OBJECT)
        return refuse(reading, node, "an object of schemas");
    rule->properties =
        arena_array(reading->compiler->arena, node->count, sizeof(*rule->properties));
    rule->property_count = node->count;
    for (i = 0; i < node->count && !rc; i++) {
        const struct placed_json *each = node->sorted[i];
        const struct placed_json *required = placed_json_find(each, bytes_of("required"));

        rule->properties[i].key = each->key;
        if (rule->document->draft == SCHEMA_DRAFT_3 && required)
            rc = read_bool(reading, required, &rule->properties[i].is_required);
        if (!rc)
            rc = sub_rule(reading, each, &rule->properties[i].rule);
    }
    return rc;
}

static int on_pattern_properties(const struct reading *reading, const struct placed_json *node)
{
    struct rule *rule = reading->rule;
    uint32_t i;
    int rc = 0;

    if (node->kind != PLACED_OBJECT)
        return refuse(reading, node, "an object of schemas");
    rule->patterns = arena_array(reading->compiler->arena, node->count, sizeof(*rule->patterns));
    rule->pattern_count = node->count;
    for (i = 0; i < node->count && !rc; i++) {
        rc = read_pattern(reading, node->children[i], node->children[i]->key,
                          &rule->patterns[i].pattern);
        if (!rc)
            rc = sub_rule(reading, node->children[i], &rule->patterns[i].rule);
    }
    return rc;
}

static int on_additional_properties(const struct reading *reading, const struct placed_json *node)
{
    return read_rest(reading, node, &reading->rule->other_properties);
}

static int on_required(const struct reading *reading, const struct placed_json *node)
{
    return read_names(reading, node, &reading->rule->required, &reading->rule->required_count);
}

static int read_dependency(const struct reading *reading, const struct placed_json *node,
                           struct rule_dependency *dependency)
{
    dependency->key = node->key;
    if (node->kind == PLACED_OBJECT)
        return sub_rule(reading, node, &dependency->rule);
    if (node->kind != PLACED_TEXT || reading->rule->document->draft != SCHEMA_DRAFT_3)
        return read_names(reading, node, &dependency->keys, &dependency->key_count);
    dependency->keys = arena_array(reading->compiler->arena, 1, sizeof(*dependency->keys));
    dependency->keys[0] = node->text;
    dependency->key_count = 1;
    return 0;
}

static int on_dependencies(const struct reading *reading, const struct placed_json *node)
{
    struct rule *rule = reading->rule;
    uint32_t i;
    int rc = 0;

    if (node->kind != PLACED_OBJECT)
        return refuse(reading, node, "an object");
    rule->dependencies =
        arena_array(reading->compiler->arena, node->count, sizeof(*rule->dependencies));
    rule->dependency_count = node->count;
    for (i = 0; i < node->count && !rc; i++)
        rc = read_dependency(reading, node->children[i], &rule->dependencies[i]);
    return rc;
}

static int on_all_of(const struct reading *reading, const struct placed_json *node)
{
    return read_some_rules(reading, node, &reading->rule->all_of);
}

static int on_any_of(const struct reading *reading, const struct placed_json *node)
{
    reading->rule->has_any_of = true;
    return read_some_rules(reading, node, &reading->rule->any_of);
}

static int on_one_of(const struct reading *reading, const struct placed_json *node)
{
    reading->rule->has_one_of = true;
    return read_some_rules(reading, node, &reading->rule->one_of);
}

static int on_not(const struct reading *reading, const struct placed_json *node)
{
    return sub_rule(reading, node, &reading->rule->not_this);
}

static int on_extends(const struct reading *reading, const struct placed_json *node)
{
    struct rule_list *list = &reading->rule->all_of;

    if (node->kind == PLACED_LIST)
        return read_rules(reading, node, list);
    list->rules = arena_array(reading->compiler->arena, 1, sizeof(*list->rules));
    list->count = 1;
    return sub_rule(reading, node, &list->rules[0]);
}

/* Nothing is checked by them, but they have to be schemas. */
static int on_definitions(const struct reading *reading, const struct placed_json *node)
{
    struct rule *unused;
    uint32_t i;
    int rc = 0;

    if (node->kind != PLACED_OBJECT)
        return refuse(reading, node, "an object of schemas");
    for (i = 0; i < node->count && !rc; i++)
        rc = sub_rule(reading, node->children[i], &unused);
    return rc;
}

enum { OLD = 1, NEW = 2, BOTH = 3 };

static const struct keyword {
    const char *name;
    unsigned drafts;
    enum keyword_shape shape;
    int (*read)(const struct reading *reading, const struct placed_json *node);
} keywords[] = {
    {"additionalItems", BOTH, SHAPE_SCHEMA, on_additional_items},
    {"additionalProperties", BOTH, SHAPE_SCHEMA, on_additional_properties},
    {"allOf", NEW, SHAPE_SCHEMA, on_all_of},
    {"anyOf", NEW, SHAPE_SCHEMA, on_any_of},
    {"definitions", BOTH, SHAPE_MAP, on_definitions},
    {"dependencies", BOTH, SHAPE_MAP, on_dependencies},
    {"disallow", OLD, SHAPE_SCHEMA, on_disallow},
    {"divisibleBy", OLD, SHAPE_NONE, on_step},
    {"enum", BOTH, SHAPE_NONE, on_enum},
    {"exclusiveMaximum", BOTH, SHAPE_NONE, on_exclusive_maximum},
    {"exclusiveMinimum", BOTH, SHAPE_NONE, on_exclusive_minimum},
    {"extends", OLD, SHAPE_SCHEMA, on_extends},
    {"format", BOTH, SHAPE_NONE, on_format},
    {"items", BOTH, SHAPE_SCHEMA, on_items},
    {"maxItems", BOTH, SHAPE_NONE, on_max_items},
    {"maxLength", BOTH, SHAPE_NONE, on_max_length},
    {"maxProperties", NEW, SHAPE_NONE, on_max_properties},
    {"maximum", BOTH, SHAPE_NONE, on_maximum},
    {"minItems", BOTH, SHAPE_NONE, on_min_items},
    {"minLength", BOTH, SHAPE_NONE, on_min_length},
    {"minProperties", NEW, SHAPE_NONE, on_min_properties},
    {"minimum", BOTH, SHAPE_NONE, on_minimum},
    {"multipleOf", NEW, SHAPE_NONE, on_step},
    {"not", NEW, SHAPE_SCHEMA, on_not},
    {"oneOf", NEW, SHAPE_SCHEMA, on_one_of},
    {"pattern", BOTH, SHAPE_NONE, on_pattern},
    {"patternProperties", BOTH, SHAPE_MAP, on_pattern_properties},
    {"properties", BOTH, SHAPE_MAP, on_properties},
    {"required", NEW, SHAPE_NONE, on_required},
    {"type", BOTH, SHAPE_SCHEMA, on_type},
    {"uniqueItems", BOTH, SHAPE_NONE, on_unique_items},
};

static const struct keyword *find(enum schema_draft draft, struct bytes name)
{
    size_t i;

    for (i = 0; i < ARRAY_COUNT(keywords); i++) {
        if (bytes_equal_text(name, keywords[i].name) &&
            keywords[i].drafts & (draft == SCHEMA_DRAFT_3 ? OLD : NEW))
            return &keywords[i];
    }
    return NULL;
}

enum keyword_shape keyword_shape(enum schema_draft draft, struct bytes name)
{
    const struct keyword *keyword = find(draft, name);

    return keyword ? keyword->shape : SHAPE_NONE;
}

int keywords_read(struct schema_compiler *compiler, struct rule *rule)
{
    struct reading reading = {compiler, rule};
    const struct placed_json *ref = placed_json_find(rule->source, bytes_of("$ref"));
    uint32_t i;
    int rc = 0;

    rule->length.max = rule->items_range.max = rule->properties_range.max = UINT64_MAX;
    if (ref && ref->kind == PLACED_TEXT)
        return compiler_ref(compiler, rule, ref, &rule->ref);
    for (i = 0; i < rule->source->count && !rc; i++) {
        const struct placed_json *node = rule->source->children[i];
        const struct keyword *keyword = find(rule->document->draft, node->key);

        if (keyword)
            rc = keyword->read(&reading, node);
    }
    return rc;
}
