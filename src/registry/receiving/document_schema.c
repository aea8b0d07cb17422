/* SPDX-License-Identifier: Apache-2.0 */
/* document_schema.c - whether fields are as their epoch has them, or may join it: document.h. */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "model/bounds.h"
#include "registry/bounds.h"
#include "registry/receiving/document.h"

enum { SCALE_DEFAULT = 2 };

/* --- lists of new fields --- */

void new_fields_add(struct new_fields *fields, const struct new_field *field, struct arena *arena)
{
    if (fields->count == fields->room) {
        uint32_t room = fields->room ? 2 * fields->room : 16;
        struct new_field *list = arena_array(arena, room, sizeof(*list));

        if (fields->count)
            memcpy(list, fields->list, fields->count * sizeof(*list));
        fields->list = list;
        fields->room = room;
    }
    fields->list[fields->count++] = *field;
}

const struct new_field *new_fields_find(const struct new_fields *fields, int64_t epoch,
                                        struct bytes name, uint64_t hash)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct new_field *field = &fields->list[i];

        if (field->hash == hash && field->epoch == epoch &&
            bytes_equal_text(name, field->field.name))
            return field;
    }
    return NULL;
}

/* --- settings --- */

static bool has_column(Torg__V1__SchemaField__Type type)
{
    return type != TORG__V1__SCHEMA_FIELD__TYPE__TEXT &&
           type != TORG__V1__SCHEMA_FIELD__TYPE__STORED;
}

static bool has_dictionary(Torg__V1__SchemaField__Type type)
{
    return type == TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY;
}

static bool may_be_side(Torg__V1__SchemaField__Type type)
{
    return type == TORG__V1__SCHEMA_FIELD__TYPE__INTEGER ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__DATE ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN;
}

/* Settings of a new field: what is said, and otherwise what its type can do best. */
static void settle_options(const struct spot *spot, const Torg__V1__FieldOptions *options,
                           struct epoch_field *field)
{
    bool is_text = field->type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    bool is_decimal = field->type == TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL;

    field->weight = is_text ? 1 : 0;
    field->scale = is_decimal ? SCALE_DEFAULT : 0;
    field->filter = has_column(field->type);
    field->value_count_max = has_dictionary(field->type) ? KEYWORD_COUNT_MAX : 0;
    if (!options)
        return;
    if (options->weight != 0) {
        if (!is_text)
            spot_refuse(spot, ".options.weight", "only text has a weight");
        else if (!(options->weight > 0 && options->weight <= DOCUMENT_WEIGHT_MAX))
            spot_refuse(spot, ".options.weight", "expected a number above 0, at most %d",
                        DOCUMENT_WEIGHT_MAX);
        field->weight = options->weight;
    }
    if (options->_scale_case) {
        if (!is_decimal)
            spot_refuse(spot, ".options.scale", "only decimals have digits after the point");
        else if (options->scale > FIELD_SCALE_MAX)
            spot_refuse(spot, ".options.scale", "expected 0 to 9 digits after the point");
        field->scale = (uint8_t)options->scale;
    }
    if (options->_filter_case) {
        if (!has_column(field->type))
            spot_refuse(spot, ".options.filter", "text and stored fields cannot be filtered by");
        field->filter = options->filter;
    }
    if (options->value_count_max) {
        if (!has_dictionary(field->type))
            spot_refuse(spot, ".options.valueCountMax",
                        "only keywords and categories have a limit of values");
        else if (options->value_count_max > KEYWORD_COUNT_MAX)
            spot_refuse(spot, ".options.valueCountMax", "the limit is 16777216");
        field->value_count_max = options->value_count_max;
    }
    if (options->side && !may_be_side(field->type))
        spot_refuse(spot, ".options.side", "only integers, decimals, dates and booleans can be");
    field->side = options->side;
}

static void refuse_change(const struct document_check *check, const struct spot *spot,
                          const char *member, const char *name, const char *is)
{
    spot_refuse(spot, member,
                "field \"%s\" has %s in epoch %" PRId64 ": leave it out, or start a new epoch",
                name, is, check->epoch->epoch);
}

/* What is said of a field that is there must be what it has. */
static void compare_options(const struct document_check *check, const struct spot *spot,
                            const Torg__V1__FieldOptions *options, const struct epoch_field *field)
{
    struct arena *arena = check->arena;

    if (options->weight != 0 && options->weight != field->weight)
        refuse_change(check, spot, ".options.weight", field->name,
                      arena_printf(arena, "weight %g", (double)field->weight));
    if (options->_scale_case && options->scale != field->scale)
        refuse_change(check, spot, ".options.scale", field->name,
                      arena_printf(arena, "%d digits after the point", field->scale));
    if (options->_filter_case && !!options->filter != field->filter)
        refuse_change(check, spot, ".options.filter", field->name,
                      field->filter ? "fast filters" : "no fast filters");
    if (options->value_count_max && options->value_count_max != field->value_count_max)
        refuse_change(check, spot, ".options.valueCountMax", field->name,
                      arena_printf(arena, "at most %" PRIu32 " values", field->value_count_max));
    if (options->side && !field->side)
        refuse_change(check, spot, ".options.side", field->name, "values that documents bring");
}

static bool options_equal(const struct epoch_field *a, const struct epoch_field *b)
{
    return a->type == b->type && a->weight == b->weight && a->scale == b->scale &&
           a->filter == b->filter && a->value_count_max == b->value_count_max && a->side == b->side;
}

/* --- joining --- */

static uint32_t count_texts(const struct document_check *check, bool with_before)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < check->epoch->field_count; i++)
        count += check->epoch->fields[i].type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    for (uint32_t i = 0; i < check->added.count; i++)
        count += check->added.list[i].field.type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    for (uint32_t i = 0; with_before && check->before && i < check->before->count; i++) {
        const struct new_field *one = &check->before->list[i];

        count += one->epoch == check->epoch->epoch &&
                 one->field.type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT &&
                 !new_fields_find(&check->added, one->epoch, bytes_of(one->field.name), one->hash);
    }
    return count;
}

/* Where the type is told. */
static const char *type_member(const struct document_check *check, Torg__V1__SchemaField__Type type)
{
    return check->is_declaration ? ".type"
                                 : arena_printf(check->arena, ".%s", schema_type_name(type));
}

/* Whether there is room for one more; counts what is brought before twice at the worst, and then
 * the document waits without need. */
static void check_room(struct document_check *check, const struct spot *spot,
                       const struct epoch_field *field)
{
    uint32_t own = check->epoch->field_count + check->added.count + 1;
    uint32_t all = own + (check->before ? check->before->count : 0);

    if (own > DOCUMENT_SCHEMA_COUNT_MAX)
        spot_refuse(spot, ".name",
                    "\"%s\" would be field %" PRIu32 " of epoch %" PRId64 "; the limit is %d",
                    field->name, own, check->epoch->epoch, DOCUMENT_SCHEMA_COUNT_MAX);
    else if (all > DOCUMENT_SCHEMA_COUNT_MAX)
        check->waits = true;
    if (field->type != TORG__V1__SCHEMA_FIELD__TYPE__TEXT)
        return;
    if (count_texts(check, false) >= DOCUMENT_TEXT_FIELD_COUNT_MAX)
        spot_refuse(spot, type_member(check, field->type),
                    "\"%s\" would be text field %d of epoch %" PRId64
                    "; the limit is %d: put its words into one that is there, or send it as "
                    "keyword or stored",
                    field->name, DOCUMENT_TEXT_FIELD_COUNT_MAX + 1, check->epoch->epoch,
                    DOCUMENT_TEXT_FIELD_COUNT_MAX);
    else if (count_texts(check, true) >= DOCUMENT_TEXT_FIELD_COUNT_MAX)
        check->waits = true;
}

static const struct epoch_field *join(struct document_check *check, const struct spot *spot,
                                      const char *name, Torg__V1__SchemaField__Type type,
                                      const Torg__V1__FieldOptions *options)
{
    struct new_field added = {.epoch = check->epoch->epoch,
                              .hash = hash64(bytes_of(name)),
                              .field = {.type = type, .name = name}};
    const struct new_field *before = NULL;

    settle_options(spot, options, &added.field);
    if (added.field.side && !check->is_declaration)
        spot_refuse(spot, ".options.side", "a side field is declared first (DeclareSchema)");
    if (check->before)
        before = new_fields_find(check->before, added.epoch, bytes_of(name), added.hash);
    if (before && !options_equal(&before->field, &added.field))
        check->waits = true;
    if (!before)
        check_room(check, spot, &added.field);
    new_fields_add(&check->added, &added, check->arena);
    return &check->added.list[check->added.count - 1].field;
}

static bool name_is_right(const char *name)
{
    size_t size = strlen(name);

    if (size < 1 || size > DOCUMENT_FIELD_NAME_SIZE_MAX || name[0] < 'a' || name[0] > 'z')
        return false;
    for (size_t i = 1; i < size; i++) {
        char c = name[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-'))
            return false;
    }
    return true;
}

const struct epoch_field *document_check_field(struct document_check *check, size_t place,
                                               const char *name, Torg__V1__SchemaField__Type type,
                                               const Torg__V1__FieldOptions *options)
{
    const struct epoch_field *there = epoch_find_field(check->epoch, bytes_of(name));
    const struct spot spot = {.reasons = check->reasons, .place = place};

    if (there && there->side && !check->is_declaration) {
        spot_refuse(&spot, ".name",
                    "\"%s\" is a side field of epoch %" PRId64 ": leave it out, and call PutFields",
                    name, check->epoch->epoch);
        return NULL;
    }
    if (there && there->type == type) {
        if (options)
            compare_options(check, &spot, options, there);
        return there;
    }
    if (!there && !name_is_right(name))
        spot_refuse(&spot, ".name",
                    "\"%.80s\": expected 1 to %d of a-z, 0-9, _ . and -, beginning with a letter",
                    name, DOCUMENT_FIELD_NAME_SIZE_MAX);
    else if (!there && type)
        return join(check, &spot, name, type, options);
    else if (there && type)
        spot_refuse(&spot, type_member(check, type),
                    "field \"%s\" is %s in epoch %" PRId64
                    " and cannot be %s: send it as %s, or start a new epoch",
                    name, schema_type_name(there->type), check->epoch->epoch,
                    schema_type_name(type), schema_type_name(there->type));
    return NULL;
}

/* --- as messages --- */

Torg__V1__SchemaField *schema_field_message(const struct epoch_field *field, struct arena *arena)
{
    Torg__V1__SchemaField *message = MESSAGE_NEW(schema_field, arena);

    message->name = arena_strdup(arena, field->name);
    message->type = field->type;
    message->number = field->number;
    message->options = MESSAGE_NEW(field_options, arena);
    message->options->weight = field->weight;
    message->options->value_count_max = field->value_count_max;
    message->options->side = field->side;
    if (field->type == TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL) {
        message->options->_scale_case = TORG__V1__FIELD_OPTIONS___SCALE_SCALE;
        message->options->scale = field->scale;
    }
    if (has_column(field->type)) {
        message->options->_filter_case = TORG__V1__FIELD_OPTIONS___FILTER_FILTER;
        message->options->filter = field->filter;
    }
    return message;
}
