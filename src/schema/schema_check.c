/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_check.c - a value checked by a compiled schema (schema.h).
 *
 * Rules call rules; depth and steps are counted, so that no schema and no value ends elsewhere than
 * in an answer. Inside anyOf, oneOf and not nobody reads why a rule failed, and nothing is written.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "schema/bounds.h"
#include "schema/schema_parts.h"

struct checking {
    struct arena *scratch;
    struct err *err;
    uint64_t steps; /* that are left */
    unsigned depth;
    unsigned quiet; /* > 0: reasons are not read */
};

static int check(struct checking *checking, const struct rule *rule,
                 const struct placed_json *node);

/* The value is refused. */
static int refuse(struct checking *checking, const struct placed_json *node, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

static int refuse(struct checking *checking, const struct placed_json *node, const char *format,
                  ...)
{
    struct buf pointer = BUF_INIT(SCHEMA_REASON_SIZE_MAX);
    char reason[SCHEMA_REASON_SIZE_MAX];
    va_list args;

    if (checking->quiet)
        return ERR_INVALID;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    placed_json_put_pointer(node, &pointer);
    (void)err_set(checking->err, ERR_INVALID, "%s: %s", pointer.size ? buf_text(&pointer) : "/",
                  reason);
    buf_release(&pointer);
    return ERR_INVALID;
}

static int spend(struct checking *checking, uint64_t count)
{
    if (checking->steps < count) {
        checking->steps = 0;
        return err_set(checking->err, ERR_LIMIT,
                       "the schema asks for more than %d steps (SCHEMA_STEP_COUNT_MAX)",
                       SCHEMA_STEP_COUNT_MAX);
    }
    checking->steps -= count;
    return 0;
}

/* Whether a rule takes the value; the reason is nobody's. */
static int takes(struct checking *checking, const struct rule *rule, const struct placed_json *node,
                 bool *taken)
{
    int rc;

    checking->quiet++;
    rc = check(checking, rule, node);
    checking->quiet--;
    *taken = rc == 0;
    return rc == ERR_INVALID ? 0 : rc;
}

/* --- types --- */

static bool is_integer(struct bytes number)
{
    size_t i;

    for (i = 0; i < number.size; i++) {
        if (number.data[i] == '.' || number.data[i] == 'e' || number.data[i] == 'E')
            return false;
    }
    return true;
}

static unsigned type_of(const struct placed_json *node)
{
    static const unsigned masks[] = {
        [PLACED_NULL] = TYPE_NULL,     [PLACED_FALSE] = TYPE_BOOLEAN, [PLACED_TRUE] = TYPE_BOOLEAN,
        [PLACED_NUMBER] = TYPE_NUMBER, [PLACED_TEXT] = TYPE_STRING,   [PLACED_LIST] = TYPE_ARRAY,
        [PLACED_OBJECT] = TYPE_OBJECT,
    };

    if (node->kind == PLACED_NUMBER && is_integer(node->text))
        return TYPE_INTEGER;
    return masks[node->kind];
}

/* Whether it is of one of the types. */
static int is_of(struct checking *checking, const struct rule_types *types,
                 const struct placed_json *node, bool *result)
{
    size_t i;
    int rc = 0;

    *result = types->mask & type_of(node);
    for (i = 0; i < types->rules.count && !*result && !rc; i++)
        rc = takes(checking, types->rules.rules[i], node, result);
    return rc;
}

static void put_types(struct buf *out, unsigned mask)
{
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};
    size_t i;

    if (mask & TYPE_NUMBER)
        mask &= ~(unsigned)TYPE_INTEGER;
    for (i = 0; i < ARRAY_COUNT(names); i++) {
        if (mask & 1u << i)
            buf_printf(out, "%s%s", out->size ? " or " : "", names[i]);
    }
}

static int check_types(struct checking *checking, const struct rule *rule,
                       const struct placed_json *node)
{
    struct buf wanted = BUF_INIT(SCHEMA_REASON_SIZE_MAX);
    bool is = true;
    int rc = rule->has_types ? is_of(checking, &rule->types, node, &is) : 0;

    if (!rc && !is) {
        put_types(&wanted, rule->types.mask);
        rc = refuse(checking, node, "expected %s, found %s", buf_text(&wanted),
                    placed_kind_name(node->kind));
        buf_release(&wanted);
    }
    if (rc || !rule->has_disallow)
        return rc;
    rc = is_of(checking, &rule->disallow, node, &is);
    if (!rc && is)
        rc = refuse(checking, node, "%s is disallowed here", placed_kind_name(node->kind));
    return rc;
}

/* --- single values --- */

static int check_enum(struct checking *checking, const struct rule *rule,
                      const struct placed_json *node)
{
    struct buf list = BUF_INIT(SCHEMA_REASON_SIZE_MAX / 2);
    uint32_t i;
    int rc = 0;

    for (i = 0; i < rule->values->count && !rc; i++) {
        rc = spend(checking, 1 + node->count);
        if (!rc && placed_json_equal(node, rule->values->children[i]))
            return 0;
    }
    if (rc)
        return rc;
    placed_json_put(rule->values, &list);
    rc = refuse(checking, node, "expected one of the listed values%s%s",
                buf_failed(&list) ? "" : ": ", buf_failed(&list) ? "" : buf_text(&list));
    buf_release(&list);
    return rc;
}

static int check_number(struct checking *checking, const struct rule *rule,
                        const struct placed_json *node)
{
    struct json_number number;
    int order;

    if (!rule->minimum && !rule->maximum && !rule->step)
        return 0;
    json_number_read(node->text, &number);
    if (rule->minimum) {
        order = json_number_compare(&number, rule->minimum);
        if (order < 0 || (order == 0 && rule->is_minimum_out))
            return refuse(checking, node, "%.*s is below the minimum", BYTES_ARG(node->text));
    }
    if (rule->maximum) {
        order = json_number_compare(&number, rule->maximum);
        if (order > 0 || (order == 0 && rule->is_maximum_out))
            return refuse(checking, node, "%.*s is above the maximum", BYTES_ARG(node->text));
    }
    if (rule->step && !json_number_is_multiple(&number, rule->step))
        return refuse(checking, node, "%.*s is not a multiple of the step", BYTES_ARG(node->text));
    return 0;
}

static int check_range(struct checking *checking, const struct placed_json *node, uint64_t count,
                       struct rule_range range, const char *what)
{
    if (count < range.min)
        return refuse(checking, node, "%" PRIu64 " %s; at least %" PRIu64 " are expected", count,
                      what, range.min);
    if (count > range.max)
        return refuse(checking, node, "%" PRIu64 " %s; at most %" PRIu64 " are expected", count,
                      what, range.max);
    return 0;
}

static uint64_t count_chars(struct bytes text)
{
    uint64_t count = 0;
    size_t i;

    for (i = 0; i < text.size; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static int check_text(struct checking *checking, const struct rule *rule,
                      const struct placed_json *node)
{
    bool matches = true;
    int rc = 0;

    if (rule->length.min > 0 || rule->length.max < UINT64_MAX)
        rc = check_range(checking, node, count_chars(node->text), rule->length, "characters");
    if (!rc && rule->pattern)
        rc = pattern_matches(rule->pattern, node->text, checking->scratch, &checking->steps,
                             &matches, checking->err);
    if (!rc && !matches)
        rc = refuse(checking, node, "the text does not match the pattern %.*s",
                    BYTES_ARG(rule->pattern_text));
    if (!rc && rule->format && !rule->format(node->text))
        rc = refuse(checking, node, "the text is no %.*s", BYTES_ARG(rule->format_name));
    return rc;
}

/* --- lists --- */

struct hashed {
    uint64_t hash;
    const struct placed_json *node;
};

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;

    return (x > y) - (x < y);
}

static int check_unique(struct checking *checking, const struct placed_json *node)
{
    struct hashed *list = arena_array(checking->scratch, node->count, sizeof(*list));
    uint32_t i, j;
    int rc = 0;

    for (i = 0; i < node->count; i++)
        list[i] = (struct hashed){placed_json_hash(node->children[i]), node->children[i]};
    qsort(list, node->count, sizeof(*list), by_hash);
    for (i = 0; i < node->count && !rc; i++) {
        for (j = i + 1; j < node->count && list[j].hash == list[i].hash && !rc; j++) {
            rc = spend(checking, 1);
            if (!rc && placed_json_equal(list[i].node, list[j].node))
                rc = refuse(checking, list[j].node, "the same value comes twice in the list");
        }
    }
    return rc;
}

static int check_rest(struct checking *checking, const struct rule_rest *rest,
                      const struct placed_json *node, const char *what)
{
    if (rest->is_forbidden)
        return refuse(checking, node, "no further %s are expected", what);
    return rest->rule ? check(checking, rest->rule, node) : 0;
}

static int check_list(struct checking *checking, const struct rule *rule,
                      const struct placed_json *node)
{
    uint32_t i;
    int rc = check_range(checking, node, node->count, rule->items_range, "items");

    if (!rc && rule->is_unique)
        rc = check_unique(checking, node);
    for (i = 0; i < node->count && !rc; i++) {
        if (rule->items)
            rc = check(checking, rule->items, node->children[i]);
        else if (rule->has_item_list && i < rule->item_list.count)
            rc = check(checking, rule->item_list.rules[i], node->children[i]);
        else if (rule->has_item_list)
            rc = check_rest(checking, &rule->other_items, node->children[i], "items");
    }
    return rc;
}

/* --- objects --- */

static const struct rule_property *find_property(const struct rule *rule, struct bytes key)
{
    size_t low = 0, high = rule->property_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(rule->properties[middle].key, key);

        if (order == 0)
            return &rule->properties[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int check_property(struct checking *checking, const struct rule *rule,
                          const struct placed_json *node)
{
    const struct rule_property *property = find_property(rule, node->key);
    bool is_named = property, matches;
    size_t i;
    int rc = property ? check(checking, property->rule, node) : 0;

    for (i = 0; i < rule->pattern_count && !rc; i++) {
        rc = pattern_matches(rule->patterns[i].pattern, node->key, checking->scratch,
                             &checking->steps, &matches, checking->err);
        if (!rc && matches) {
            is_named = true;
            rc = check(checking, rule->patterns[i].rule, node);
        }
    }
    if (!rc && !is_named)
        rc = check_rest(checking, &rule->other_properties, node, "properties");
    return rc;
}

static int check_names(struct checking *checking, const struct placed_json *node,
                       const struct bytes *names, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (!placed_json_find(node, names[i]))
            return refuse(checking, node, "the property \"%.*s\" is missing", BYTES_ARG(names[i]));
    }
    return spend(checking, count);
}

static int check_dependencies(struct checking *checking, const struct rule *rule,
                              const struct placed_json *node)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < rule->dependency_count && !rc; i++) {
        const struct rule_dependency *dependency = &rule->dependencies[i];

        if (!placed_json_find(node, dependency->key))
            continue;
        rc = dependency->rule
                 ? check(checking, dependency->rule, node)
                 : check_names(checking, node, dependency->keys, dependency->key_count);
    }
    return rc;
}

static int check_object(struct checking *checking, const struct rule *rule,
                        const struct placed_json *node)
{
    size_t i;
    int rc = check_range(checking, node, node->count, rule->properties_range, "properties");

    if (!rc)
        rc = check_names(checking, node, rule->required, rule->required_count);
    for (i = 0; i < rule->property_count && !rc; i++) {
        if (rule->properties[i].is_required)
            rc = check_names(checking, node, &rule->properties[i].key, 1);
    }
    for (i = 0; i < node->count && !rc; i++)
        rc = check_property(checking, rule, node->children[i]);
    if (!rc)
        rc = check_dependencies(checking, rule, node);
    return rc;
}

/* --- rules of rules --- */

/* How many of the list take it, up to two. */
static int count_takers(struct checking *checking, const struct rule_list *list,
                        const struct placed_json *node, size_t enough, size_t *count)
{
    bool taken;
    size_t i;
    int rc = 0;

    *count = 0;
    for (i = 0; i < list->count && !rc && *count < enough; i++) {
        rc = takes(checking, list->rules[i], node, &taken);
        *count += !rc && taken;
    }
    return rc;
}

static int check_combined(struct checking *checking, const struct rule *rule,
                          const struct placed_json *node)
{
    size_t i, count;
    bool taken;
    int rc = 0;

    for (i = 0; i < rule->all_of.count && !rc; i++)
        rc = check(checking, rule->all_of.rules[i], node);
    if (!rc && rule->has_any_of) {
        rc = count_takers(checking, &rule->any_of, node, 1, &count);
        if (!rc && count == 0)
            rc = refuse(checking, node, "none of the schemas of anyOf takes it");
    }
    if (!rc && rule->has_one_of) {
        rc = count_takers(checking, &rule->one_of, node, 2, &count);
        if (!rc && count != 1)
            rc = refuse(checking, node, "%s of the schemas of oneOf takes it",
                        count ? "more than one" : "none");
    }
    if (!rc && rule->not_this) {
        rc = takes(checking, rule->not_this, node, &taken);
        if (!rc && taken)
            rc = refuse(checking, node, "the schema of not takes it");
    }
    return rc;
}

static int check_kind(struct checking *checking, const struct rule *rule,
                      const struct placed_json *node)
{
    switch (node->kind) {
    case PLACED_NUMBER:
        return check_number(checking, rule, node);
    case PLACED_TEXT:
        return check_text(checking, rule, node);
    case PLACED_LIST:
        return check_list(checking, rule, node);
    case PLACED_OBJECT:
        return check_object(checking, rule, node);
    default:
        return 0;
    }
}

static int check(struct checking *checking, const struct rule *rule, const struct placed_json *node)
{
    int rc = spend(checking, 1);

    if (rc)
        return rc;
    if (++checking->depth > SCHEMA_DEPTH_MAX)
        rc = err_set(checking->err, ERR_LIMIT,
                     "schemas in schemas, more than %d of them for a "
                     "nested value (SCHEMA_DEPTH_MAX)",
                     SCHEMA_DEPTH_MAX);
    if (!rc && rule->ref) {
        rc = check(checking, rule->ref, node);
        checking->depth--;
        return rc;
    }
    if (!rc)
        rc = check_types(checking, rule, node);
    if (!rc && rule->values)
        rc = check_enum(checking, rule, node);
    if (!rc)
        rc = check_kind(checking, rule, node);
    if (!rc)
        rc = check_combined(checking, rule, node);
    checking->depth--;
    return rc;
}

int json_schema_check(const struct json_schema *schema, const struct placed_json *value,
                      struct arena *scratch, struct err *err)
{
    struct checking checking = {.scratch = scratch, .err = err, .steps = SCHEMA_STEP_COUNT_MAX};

    object_check(schema, JSON_SCHEMA_MAGIC);
    return check(&checking, schema->root, value);
}
