/* SPDX-License-Identifier: Apache-2.0 */
/* avro_type.c - see avro_type.h; the schema is JSON. */
#include "codec/avro_type.h"

#include <assert.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/bounds.h"
#include "codec/placed_json.h"

static const struct {
    const char *name;
    enum avro_wire wire;
} PRIMITIVES[] = {
    {"null", AVRO_WIRE_NULL},   {"boolean", AVRO_WIRE_BOOLEAN}, {"int", AVRO_WIRE_INT},
    {"long", AVRO_WIRE_LONG},   {"float", AVRO_WIRE_FLOAT},     {"double", AVRO_WIRE_DOUBLE},
    {"bytes", AVRO_WIRE_BYTES}, {"string", AVRO_WIRE_STRING},
};

enum avro_kind avro_wire_kind(enum avro_wire wire)
{
    static const enum avro_kind kinds[] = {
        [AVRO_WIRE_NULL] = AVRO_NULL,    [AVRO_WIRE_BOOLEAN] = AVRO_BOOLEAN,
        [AVRO_WIRE_INT] = AVRO_LONG,     [AVRO_WIRE_LONG] = AVRO_LONG,
        [AVRO_WIRE_FLOAT] = AVRO_DOUBLE, [AVRO_WIRE_DOUBLE] = AVRO_DOUBLE,
        [AVRO_WIRE_BYTES] = AVRO_BYTES,  [AVRO_WIRE_STRING] = AVRO_STRING,
        [AVRO_WIRE_ENUM] = AVRO_STRING,  [AVRO_WIRE_FIXED] = AVRO_BYTES,
        [AVRO_WIRE_LIST] = AVRO_LIST,
    };

    assert(wire < ARRAY_COUNT(kinds));
    return kinds[wire];
}

const char *avro_kind_name(enum avro_kind kind)
{
    static const char *const names[] = {"null",   "boolean", "long", "double",
                                        "string", "bytes",   "list"};

    assert(kind < ARRAY_COUNT(names));
    return names[kind];
}

static const struct placed_json *member(const struct placed_json *object, const char *name)
{
    return placed_json_find(object, bytes_of(name));
}

static int read_symbols(const struct placed_json *node, struct arena *arena,
                        struct avro_branch *branch, struct err *err)
{
    const struct placed_json *symbols = member(node, "symbols");
    struct bytes *names;

    if (!symbols || symbols->kind != PLACED_LIST || !symbols->count)
        return err_set(err, ERR_INVALID, "an enum has no \"symbols\"");
    names = arena_array(arena, symbols->count, sizeof(*names));
    for (uint32_t i = 0; i < symbols->count; i++) {
        if (symbols->children[i]->kind != PLACED_TEXT)
            return err_set(err, ERR_INVALID, "a symbol of an enum is not a text");
        names[i] = symbols->children[i]->text;
    }
    branch->wire = AVRO_WIRE_ENUM;
    branch->symbols = names;
    branch->size = symbols->count;
    return 0;
}

static int read_fixed(const struct placed_json *node, struct avro_branch *branch, struct err *err)
{
    const struct placed_json *size = member(node, "size");
    uint64_t count = 0;

    if (!size || size->kind != PLACED_NUMBER || !text_to_u64(size->text, &count) || !count ||
        count > AVRO_VALUE_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a fixed has no \"size\" from 1 to %d",
                       AVRO_VALUE_SIZE_MAX);
    branch->wire = AVRO_WIRE_FIXED;
    branch->size = count;
    return 0;
}

/* {"type": "string", …} is "string", however often it is wrapped. */
static const struct placed_json *unwrap(const struct placed_json *node)
{
    const struct placed_json *inner = node;

    while (inner && inner->kind == PLACED_OBJECT) {
        node = inner;
        inner = member(node, "type");
    }
    return inner && inner->kind == PLACED_TEXT && node->kind == PLACED_OBJECT ? node : inner;
}

static int read_list(const struct placed_json *node, struct avro_branch *branch, struct err *err)
{
    const struct placed_json *items = unwrap(member(node, "items"));

    if (items && items->kind == PLACED_OBJECT)
        items = member(items, "type");
    if (!items || items->kind != PLACED_TEXT || !bytes_equal_text(items->text, "string"))
        return err_set(err, ERR_UNSUPPORTED, "only lists of strings are supported");
    branch->wire = AVRO_WIRE_LIST;
    return 0;
}

static int read_branch(const struct placed_json *node, struct arena *arena,
                       struct avro_branch *branch, struct err *err)
{
    struct bytes name = BYTES_EMPTY;

    node = unwrap(node);
    if (node && node->kind == PLACED_TEXT)
        name = node->text;
    else if (node && node->kind == PLACED_OBJECT)
        name = member(node, "type")->text;
    for (size_t i = 0; i < ARRAY_COUNT(PRIMITIVES); i++) {
        if (bytes_equal_text(name, PRIMITIVES[i].name)) {
            branch->wire = PRIMITIVES[i].wire;
            return 0;
        }
    }
    if (node && node->kind == PLACED_OBJECT && bytes_equal_text(name, "enum"))
        return read_symbols(node, arena, branch, err);
    if (node && node->kind == PLACED_OBJECT && bytes_equal_text(name, "fixed"))
        return read_fixed(node, branch, err);
    if (node && node->kind == PLACED_OBJECT && bytes_equal_text(name, "array"))
        return read_list(node, branch, err);
    if (name.size > AVRO_NAME_SIZE_MAX)
        name.size = AVRO_NAME_SIZE_MAX;
    return err_set(err, ERR_UNSUPPORTED, "values of type \"%.*s\" are not supported",
                   BYTES_ARG(name));
}

static int read_type(const struct placed_json *node, struct arena *arena, struct avro_type *type,
                     struct err *err)
{
    int rc = 0;

    if (!node)
        return err_set(err, ERR_INVALID, "it has no \"type\"");
    type->is_union = node->kind == PLACED_LIST;
    type->count = type->is_union ? node->count : 1;
    if (!type->count || type->count > AVRO_BRANCH_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "a union has 1 to %d types", AVRO_BRANCH_COUNT_MAX);
    type->branches = arena_array(arena, type->count, sizeof(*type->branches));
    for (size_t i = 0; !rc && i < type->count; i++)
        rc = read_branch(type->is_union ? node->children[i] : node, arena, &type->branches[i], err);
    return rc;
}

static void describe(const struct avro_type *type, struct avro_column *column)
{
    for (size_t i = type->count; i > 0; i--) {
        enum avro_kind kind = avro_wire_kind(type->branches[i - 1].wire);

        column->optional = column->optional || kind == AVRO_NULL;
        if (kind != AVRO_NULL)
            column->kind = kind;
    }
}

static int read_column(const struct placed_json *field, struct arena *arena,
                       struct avro_column *column, struct avro_type *type, struct err *err)
{
    const struct placed_json *name = member(field, "name");
    int rc;

    if (!name || name->kind != PLACED_TEXT || !name->text.size ||
        name->text.size > AVRO_NAME_SIZE_MAX)
        return err_set(err, ERR_INVALID, "the schema: field %u has no name of 1 to %d bytes",
                       field->index + 1, AVRO_NAME_SIZE_MAX);
    column->name = arena_text(arena, name->text);
    rc = read_type(member(field, "type"), arena, type, err);
    if (rc)
        return err_wrap(err, "the schema: field \"%s\"", column->name);
    describe(type, column);
    return 0;
}

int avro_table_read(struct bytes schema, struct arena *arena, struct avro_table *table,
                    struct err *err)
{
    const struct placed_json *root;
    const struct placed_json *fields;
    const struct placed_json *type;
    int rc = placed_json_read(schema, arena, &root, err);

    if (rc)
        return err_wrap(err, "the schema");
    type = member(root, "type");
    fields = member(root, "fields");
    if (!type || !bytes_equal_text(type->text, "record") || !fields ||
        fields->kind != PLACED_LIST || !fields->count || fields->count > AVRO_COLUMN_COUNT_MAX)
        return err_set(err, ERR_UNSUPPORTED, "the schema is not a record of 1 to %d fields",
                       AVRO_COLUMN_COUNT_MAX);
    table->count = fields->count;
    table->columns = arena_array(arena, table->count, sizeof(*table->columns));
    table->types = arena_array(arena, table->count, sizeof(*table->types));
    for (size_t i = 0; !rc && i < table->count; i++)
        rc = read_column(fields->children[i], arena, &table->columns[i], &table->types[i], err);
    return rc;
}
