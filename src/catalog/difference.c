/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference.c - see difference.h.
 *
 * Messages are walked by their descriptors, so a field added to the .proto is compared without a
 * line here. Lists of things with an id are compared by id, other lists as a whole.
 */
#include "catalog/difference.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"
#include "catalog/id_table.h"
#include "codec/message.h"
#include "codec/message_field.h"

enum { VALUE_TEXT_SIZE_MAX = 64 << 10, DEPTH_MAX = 4 }; /* our messages are no deeper */

/* Fields that differ, one after the other. */
struct fields {
    struct arena *arena;
    Torg__V1__CatalogChange__Field **list;
    size_t count;
    size_t room;
};

static void add_field(struct fields *fields, const char *path, const char *before,
                      const char *after)
{
    Torg__V1__CatalogChange__Field *field;

    if (fields->count == fields->room) {
        size_t room = fields->room ? fields->room * 2 : 8;
        Torg__V1__CatalogChange__Field **list = arena_array(fields->arena, room, sizeof(list[0]));

        for (size_t i = 0; i < fields->count; i++)
            list[i] = fields->list[i];
        fields->list = list;
        fields->room = room;
    }
    field = arena_alloc(fields->arena, sizeof(*field));
    torg__v1__catalog_change__field__init(field);
    field->field = arena_strdup(fields->arena, path);
    field->before = arena_strdup(fields->arena, before);
    field->after = arena_strdup(fields->arena, after);
    fields->list[fields->count++] = field;
}

/* --- values as text --- */

static void put_scalar(struct buf *out, const ProtobufCFieldDescriptor *field, const void *at)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        buf_put_text(out, *(char *const *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        buf_put_text(out, *(const protobuf_c_boolean *)at ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumValue *value =
            protobuf_c_enum_descriptor_get_value(field->descriptor, *(const int *)at);

        buf_put_text(out, value ? value->name : "?");
        break;
    }
    case PROTOBUF_C_TYPE_MESSAGE: { /* of a list of things with ids: the first field is the id */
        const ProtobufCMessage *message = *(ProtobufCMessage *const *)at;

        put_scalar(out, &message->descriptor->fields[0],
                   field_member(message, &message->descriptor->fields[0]));
        break;
    }
    default: /* the other numbers of our messages are uint32 */
        assert(field->type == PROTOBUF_C_TYPE_UINT32);
        buf_printf(out, "%u", *(const uint32_t *)at);
        break;
    }
}

static bool is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const void *at = field_member(message, field);

    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return *field_count(message, field);
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *field_case(message, field) == field->id;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return **(char *const *)at;
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)at;
    case PROTOBUF_C_TYPE_BOOL:
        return *(const protobuf_c_boolean *)at;
    default:
        return *(const uint32_t *)at;
    }
}

/* "" for a field that is not set. */
static const char *value_text(const ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field, struct arena *arena)
{
    struct buf out = BUF_INIT(VALUE_TEXT_SIZE_MAX);
    const char *text;

    if (!message || !is_set(message, field))
        return "";
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        const uint8_t *list = *(uint8_t *const *)field_member(message, field);
        size_t count = *field_count(message, field);

        for (size_t i = 0; i < count; i++) {
            buf_put_text(&out, i ? ", " : "");
            put_scalar(&out, field, list + i * field_value_size(field->type));
        }
    } else {
        put_scalar(&out, field, field_member(message, field));
    }
    text = buf_failed(&out) ? "(long)" : arena_strdup(arena, buf_text(&out));
    buf_release(&out);
    return text;
}

/* As in the file: lengthMin, not length_min. */
static const char *json_name(const char *name, struct arena *arena)
{
    char *out = arena_strdup(arena, name);
    char *to = out;

    for (const char *from = name; *from; from++) {
        if (*from == '_' && from[1] >= 'a' && from[1] <= 'z')
            *to++ = (char)(*++from - 'a' + 'A');
        else
            *to++ = *from;
    }
    *to = 0;
    return out;
}

/* --- walking --- */

struct walk {
    const char *path; /* "" or "policy." */
    const ProtobufCMessage *before;
    const ProtobufCMessage *after; /* either may be NULL: all of it came or went */
    unsigned depth;
};

static void walk_message(struct fields *fields, const struct walk *walk);

static const char *id_of(const ProtobufCMessage *message)
{
    return *(char *const *)field_member(message, &message->descriptor->fields[0]);
}

static const Torg__V1__LocalText *name_of(const ProtobufCMessage *message)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "name");

    return *(Torg__V1__LocalText **)field_member(message, field);
}

/* The name in the first language that has one. */
static const char *either(const Torg__V1__LocalText *name)
{
    return *name->ru ? name->ru : name->en;
}

static ProtobufCMessage *find_by_id(const ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field,
                                    const struct id_table *ids, const char *id)
{
    return message && *field_count(message, field) ? id_table_find(ids, id) : NULL;
}

static void index_ids(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                      struct id_table *ids, struct arena *arena)
{
    size_t count = message ? *field_count(message, field) : 0;
    ProtobufCMessage **list = count ? *(ProtobufCMessage ***)field_member(message, field) : NULL;

    id_table_init(ids, count, arena);
    for (size_t i = 0; i < count; i++)
        id_table_add(ids, id_of(list[i]), list[i]);
}

/* What only one side has: an option or unit by its name, an override by its fields. */
static void tell_lone(struct fields *fields, const char *path, const ProtobufCMessage *item,
                      bool is_after)
{
    const struct walk inner = {arena_printf(fields->arena, "%s.", path), is_after ? NULL : item,
                               is_after ? item : NULL, DEPTH_MAX};
    const Torg__V1__LocalText *name;

    if (item->descriptor == &torg__v1__attribute_override__descriptor) {
        walk_message(fields, &inner);
        return;
    }
    name = name_of(item);
    add_field(fields, path, is_after ? "" : either(name), is_after ? either(name) : "");
}

/* Things with ids: what stayed is walked, what came or went is named. */
static void walk_list(struct fields *fields, const struct walk *walk,
                      const ProtobufCFieldDescriptor *field, const char *name)
{
    const ProtobufCMessage *sides[] = {walk->before, walk->after};
    struct id_table ids[2];
    bool same_set = true;

    for (int side = 0; side < 2; side++)
        index_ids(sides[side], field, &ids[side], fields->arena);
    for (int side = 0; side < 2; side++) {
        size_t count = sides[side] ? *field_count(sides[side], field) : 0;

        for (size_t i = 0; i < count; i++) {
            ProtobufCMessage *item = (*(ProtobufCMessage ***)field_member(sides[side], field))[i];
            ProtobufCMessage *other = find_by_id(sides[!side], field, &ids[!side], id_of(item));
            const char *path =
                arena_printf(fields->arena, "%s%s[%s]", walk->path, name, id_of(item));
            struct walk inner = {arena_printf(fields->arena, "%s.", path), item, other,
                                 walk->depth + 1};

            if (!other)
                tell_lone(fields, path, item, side);
            else if (!side)
                walk_message(fields, &inner);
            same_set = same_set && other;
        }
    }
    if (same_set && walk->before && walk->after) {
        const char *before = value_text(walk->before, field, fields->arena);
        const char *after = value_text(walk->after, field, fields->arena);

        if (strcmp(before, after) != 0)
            add_field(fields, arena_printf(fields->arena, "%s%s", walk->path, name), before, after);
    }
}

static const ProtobufCMessage *member_message(const ProtobufCMessage *message,
                                              const ProtobufCFieldDescriptor *field)
{
    return message ? *(ProtobufCMessage **)field_member(message, field) : NULL;
}

static void walk_field(struct fields *fields, const struct walk *walk,
                       const ProtobufCFieldDescriptor *field)
{
    const char *name = json_name(field->name, fields->arena);
    const char *path = arena_printf(fields->arena, "%s%s", walk->path, name);
    const char *before;
    const char *after;

    if (field->type == PROTOBUF_C_TYPE_MESSAGE && field->label == PROTOBUF_C_LABEL_REPEATED) {
        walk_list(fields, walk, field, name);
        return;
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        struct walk inner = {arena_printf(fields->arena, "%s.", path),
                             member_message(walk->before, field),
                             member_message(walk->after, field), walk->depth + 1};

        if (inner.before || inner.after)
            walk_message(fields, &inner);
        return;
    }
    before = value_text(walk->before, field, fields->arena);
    after = value_text(walk->after, field, fields->arena);
    if (strcmp(before, after) != 0)
        add_field(fields, path, before, after);
}

static void walk_message(struct fields *fields, const struct walk *walk)
{
    const ProtobufCMessageDescriptor *type =
        walk->before ? walk->before->descriptor : walk->after->descriptor;

    assert(walk->depth <= DEPTH_MAX + 1);
    for (unsigned i = 0; i < type->n_fields; i++)
        walk_field(fields, walk, &type->fields[i]);
}

/* --- categories and attributes --- */

static Torg__V1__CatalogChange__Item *item_new(Torg__V1__CatalogChange__Kind kind, const char *id,
                                               const Torg__V1__LocalText *name, struct arena *arena)
{
    Torg__V1__CatalogChange__Item *item = MESSAGE_NEW(catalog_change__item, arena);

    item->kind = kind;
    item->id = arena_strdup(arena, id);
    item->name = arena_strdup(arena, either(name));
    return item;
}

/* A list of both catalogues: categories or attributes, whose second or third field is a name. */
struct items {
    ProtobufCMessage *const *before;
    size_t before_count;
    ProtobufCMessage *const *after;
    size_t after_count;
};

static Torg__V1__CatalogChange__Item **compare_items(const struct items *items, size_t *count,
                                                     struct arena *arena)
{
    Torg__V1__CatalogChange__Item **list =
        arena_array(arena, items->before_count + items->after_count + 1, sizeof(list[0]));
    struct id_table before;
    struct id_table after;

    *count = 0;
    id_table_init(&before, items->before_count, arena);
    id_table_init(&after, items->after_count, arena);
    for (size_t i = 0; i < items->before_count; i++)
        id_table_add(&before, id_of(items->before[i]), items->before[i]);
    for (size_t i = 0; i < items->after_count; i++) {
        ProtobufCMessage *message = items->after[i];
        ProtobufCMessage *old = id_table_find(&before, id_of(message));
        struct fields fields = {.arena = arena};
        struct walk walk = {"", old, message, 1};
        Torg__V1__CatalogChange__Item *item;

        id_table_add(&after, id_of(message), message);
        if (old)
            walk_message(&fields, &walk);
        if (old && !fields.count)
            continue;
        item = item_new(old ? TORG__V1__CATALOG_CHANGE__KIND__CHANGED
                            : TORG__V1__CATALOG_CHANGE__KIND__ADDED,
                        id_of(message), name_of(message), arena);
        item->fields = fields.list;
        item->n_fields = fields.count;
        list[(*count)++] = item;
    }
    for (size_t i = 0; i < items->before_count; i++) {
        ProtobufCMessage *message = items->before[i];

        if (!id_table_find(&after, id_of(message)))
            list[(*count)++] = item_new(TORG__V1__CATALOG_CHANGE__KIND__REMOVED, id_of(message),
                                        name_of(message), arena);
    }
    return list;
}

/* Whether categories that both have come in another order. */
static bool order_differs(const struct catalog *before, const struct catalog *after)
{
    size_t at = 0;

    for (size_t i = 0; i < after->category_count; i++) {
        if (!category_find(before, after->in_file[i].id))
            continue;
        while (at < before->category_count && !category_find(after, before->in_file[at].id))
            at++;
        if (at == before->category_count ||
            strcmp(before->in_file[at++].id, after->in_file[i].id) != 0)
            return true;
    }
    return false;
}

static void compare_defaults(const struct catalog *before, const struct catalog *after,
                             struct arena *arena, Torg__V1__CatalogChange *change)
{
    struct fields fields = {.arena = arena};
    struct walk walk = {"defaults.", (ProtobufCMessage *)before->message->defaults,
                        (ProtobufCMessage *)after->message->defaults, 1};

    if (walk.before || walk.after)
        walk_message(&fields, &walk);
    if (order_differs(before, after))
        add_field(&fields, "categories", "", "in another order");
    change->defaults = fields.list;
    change->n_defaults = fields.count;
}

void catalog_compare(const struct catalog *before, const struct catalog *after, struct arena *arena,
                     Torg__V1__CatalogChange *change)
{
    const struct items categories = {
        (ProtobufCMessage *const *)before->message->categories, before->message->n_categories,
        (ProtobufCMessage *const *)after->message->categories, after->message->n_categories};
    const struct items attributes = {
        (ProtobufCMessage *const *)before->message->attributes, before->message->n_attributes,
        (ProtobufCMessage *const *)after->message->attributes, after->message->n_attributes};

    object_check(before, CATALOG_MAGIC);
    object_check(after, CATALOG_MAGIC);
    change->categories = compare_items(&categories, &change->n_categories, arena);
    change->attributes = compare_items(&attributes, &change->n_attributes, arena);
    compare_defaults(before, after, arena, change);
}

bool catalog_equal(const struct catalog *before, const struct catalog *after)
{
    struct buf sides[] = {BUF_INIT(CATALOG_WIRE_SIZE_MAX), BUF_INIT(CATALOG_WIRE_SIZE_MAX)};
    bool equal;

    object_check(before, CATALOG_MAGIC);
    object_check(after, CATALOG_MAGIC);
    message_encode(&before->message->base, &sides[0]);
    message_encode(&after->message->base, &sides[1]);
    equal = !buf_failed(&sides[0]) && !buf_failed(&sides[1]) &&
            bytes_equal(buf_bytes(&sides[0]), buf_bytes(&sides[1]));
    buf_release(&sides[0]);
    buf_release(&sides[1]);
    return equal;
}

/* --- rules --- */

static bool limits_equal(const struct attribute *a, const struct attribute *b)
{
    return a->has_min == b->has_min && a->has_max == b->has_max &&
           (!a->has_min || !decimal_compare(a->min, b->min)) &&
           (!a->has_max || !decimal_compare(a->max, b->max)) && a->length_min == b->length_min &&
           a->length_max == b->length_max && a->count_max == b->count_max && a->digits == b->digits;
}

/* All that stands above an option is of an offer's values, whose number is limited. */
static bool parents_equal(const struct attribute_option *a, const struct attribute_option *b)
{
    while (a->parent && b->parent && strcmp(a->parent->id, b->parent->id) == 0) {
        a = a->parent;
        b = b->parent;
    }
    return !a->parent && !b->parent;
}

static bool choices_equal(const struct attribute *a, const struct attribute *b)
{
    if (a->option_count != b->option_count || a->unit_count != b->unit_count)
        return false;
    for (size_t i = 0; i < a->option_count; i++) {
        const struct attribute_option *option = option_find(b, a->options[i]->id);

        if (!option || !parents_equal(a->options[i], option))
            return false;
    }
    for (size_t i = 0; i < a->unit_count; i++) {
        const struct attribute_unit *unit = unit_find(b, a->units[i].id);

        if (!unit || decimal_compare(unit->factor, a->units[i].factor))
            return false;
    }
    return true;
}

static bool policies_equal(const struct policy *a, const struct policy *b)
{
    if (a->currency_count != b->currency_count)
        return false;
    for (size_t i = 0; i < a->currency_count; i++) {
        if (strcmp(a->currencies[i], b->currencies[i]) != 0)
            return false;
    }
    return a->photos_min == b->photos_min && a->photos_max == b->photos_max &&
           a->publish == b->publish && a->photo_wait_s == b->photo_wait_s && a->price == b->price &&
           a->title_min == b->title_min && a->title_max == b->title_max &&
           a->description_min == b->description_min && a->description_max == b->description_max &&
           a->lifetime_days == b->lifetime_days;
}

bool category_rules_equal(const struct category *before, const struct category *after)
{
    if (before->attribute_count != after->attribute_count || before->filters != after->filters ||
        !policies_equal(&before->policy, &after->policy))
        return false;
    for (size_t i = 0; i < before->attribute_count; i++) {
        const struct attribute *a = before->attributes[i];
        const struct attribute *b = attribute_find(after, a->id);

        if (!b || a->type != b->type || a->required != b->required || !limits_equal(a, b) ||
            !choices_equal(a, b))
            return false;
    }
    return true;
}
