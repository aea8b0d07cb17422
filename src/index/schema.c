/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - see schema.h.
 *
 * Encoded: "TSCH" | format u32 | size of the rest u32 | CRC-32C of the rest u32, then a varint
 * count and per field type, flags, scale (a byte each), weight (f32), value_count_max (varint),
 * name (varint size, bytes).
 */
#include "index/schema.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "base/varint.h"
#include "index/bounds.h"

enum { FORMAT = 1, HEAD_SIZE = 16, FLAG_MULTIPLE = 1, FLAG_FILTERABLE = 2 };

static const uint8_t magic[4] = {'T', 'S', 'C', 'H'};

enum {
    SCHEMA_MAGIC = OBJECT_MAGIC('s', 'c', 'h', 'm'),
    NAME_SLOT_COUNT = 2 * SCHEMA_FIELD_COUNT_MAX, /* half of them stay free */
};

/* Of a column from outside. */
struct lent_field {
    struct field field;
    _Atomic bool is_there;
};

struct schema {
    uint32_t magic;
    _Atomic uint32_t count;                       /* stored after the field it counts */
    struct field *fields[SCHEMA_FIELD_COUNT_MAX]; /* owned */
    uint64_t hashes[SCHEMA_FIELD_COUNT_MAX];      /* of each field with all before it */
    _Atomic uint16_t by_name[NAME_SLOT_COUNT];    /* open hash table: id + 1; 0: free */
    _Atomic uint32_t lent_count, lent_mark;
    struct lent_field *lent[OUTSIDE_NAME_COUNT_MAX]; /* owned */
};

struct schema *schema_new(void)
{
    struct schema *schema = mem_zero(sizeof(*schema));

    object_begin(schema, SCHEMA_MAGIC);
    return schema;
}

void schema_free(struct schema *schema)
{
    uint32_t i;

    if (!schema)
        return;
    object_check(schema, SCHEMA_MAGIC);
    for (i = 0; i < schema->count; i++) {
        free((void *)schema->fields[i]->name);
        free(schema->fields[i]);
    }
    for (i = 0; i < schema->lent_count; i++) {
        free((void *)schema->lent[i]->field.name);
        free(schema->lent[i]);
    }
    object_end(schema, SCHEMA_MAGIC);
    free(schema);
}

bool field_is_hidden(const struct field *field)
{
    return field->name[0] == '_';
}

const char *field_type_name(enum field_type type)
{
    static const char *const names[] = {"?",    "text",    "keyword",  "integer", "decimal",
                                        "date", "boolean", "category", "geo",     "stored"};

    return type >= FIELD_TEXT && type <= FIELD_STORED ? names[type] : names[0];
}

bool field_has_column(const struct field *field)
{
    return field->type != FIELD_TEXT && field->type != FIELD_STORED;
}

bool field_has_dictionary(const struct field *field)
{
    return field->type == FIELD_KEYWORD || field->type == FIELD_CATEGORY;
}

uint32_t schema_count(const struct schema *schema)
{
    object_check(schema, SCHEMA_MAGIC);
    return atomic_load_explicit(&schema->count, memory_order_acquire);
}

const struct field *schema_field(const struct schema *schema, uint32_t id)
{
    object_check(schema, SCHEMA_MAGIC);
    return id < schema_count(schema) ? schema->fields[id] : NULL;
}

static uint32_t name_home(struct bytes name)
{
    return (uint32_t)(hash64(name) % NAME_SLOT_COUNT);
}

/* Of documents. */
static const struct field *find_own(const struct schema *schema, struct bytes name)
{
    uint32_t at = name_home(name);

    for (;; at = (at + 1) % NAME_SLOT_COUNT) {
        uint32_t slot = atomic_load_explicit(&schema->by_name[at], memory_order_acquire);

        if (!slot)
            return NULL;
        if (bytes_equal_text(name, schema->fields[slot - 1]->name))
            return schema->fields[slot - 1];
    }
}

/* Its field can be read already. */
static void note_name(struct schema *schema, const struct field *field)
{
    uint32_t at = name_home(bytes_of(field->name));

    while (atomic_load_explicit(&schema->by_name[at], memory_order_relaxed))
        at = (at + 1) % NAME_SLOT_COUNT;
    atomic_store_explicit(&schema->by_name[at], (uint16_t)(field->id + 1), memory_order_release);
}

/* Gone or not. */
static struct lent_field *find_lent(const struct schema *schema, struct bytes name)
{
    uint32_t count = atomic_load_explicit(&schema->lent_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (bytes_equal_text(name, schema->lent[i]->field.name))
            return schema->lent[i];
    return NULL;
}

const struct field *schema_find(const struct schema *schema, struct bytes name)
{
    const struct field *own = find_own(schema, name);
    const struct lent_field *lent;

    object_check(schema, SCHEMA_MAGIC);
    if (own || !bytes_begin(name, bytes_of(FIELD_OUTSIDE_PREFIX)))
        return own;
    lent = find_lent(schema, name);
    return lent && atomic_load_explicit(&lent->is_there, memory_order_acquire) ? &lent->field
                                                                               : NULL;
}

static int check_name(const char *name, struct err *err)
{
    size_t size = name ? strlen(name) : 0;
    size_t i;

    if (size == 0 || size > SCHEMA_NAME_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a field's name has 1 to %d bytes, not %zu",
                       SCHEMA_NAME_SIZE_MAX, size);
    if (!text_is_utf8(bytes_make(name, size)))
        return err_set(err, ERR_INVALID, "a field's name is not valid UTF-8");
    for (i = 0; i < size; i++)
        if ((uint8_t)name[i] <= ' ' || name[i] == 0x7f)
            return err_set(err, ERR_INVALID,
                           "the name of a field has a blank or control character at byte %zu", i);
    return 0;
}

static int check(const struct field *field, struct err *err)
{
    int rc = check_name(field->name, err);

    if (rc)
        return rc;
    if (field->type < FIELD_TEXT || field->type > FIELD_STORED)
        return err_set(err, ERR_INVALID, "field \"%s\" has the unknown type %d", field->name,
                       (int)field->type);
    if (field->multiple && !field_has_dictionary(field))
        return err_set(err, ERR_INVALID,
                       "field \"%s\" of type %s cannot have several values: keyword and category "
                       "can",
                       field->name, field_type_name(field->type));
    if (field->scale > (field->type == FIELD_DECIMAL ? FIELD_SCALE_MAX : 0))
        return err_set(err, ERR_INVALID,
                       "field \"%s\" of type %s has a scale of %d: a decimal has 0 to %d, others "
                       "none",
                       field->name, field_type_name(field->type), field->scale, FIELD_SCALE_MAX);
    if (field->value_count_max > (field_has_dictionary(field) ? KEYWORD_COUNT_MAX : 0))
        return err_set(err, ERR_INVALID,
                       "field \"%s\" of type %s asks for %u different values: keyword and "
                       "category may have up to %d",
                       field->name, field_type_name(field->type), field->value_count_max,
                       KEYWORD_COUNT_MAX);
    if (field->type == FIELD_TEXT && !(field->weight >= 0 && isfinite(field->weight)))
        return err_set(err, ERR_INVALID, "field \"%s\" needs a weight that is a positive number",
                       field->name);
    return 0;
}

/* Schemas that were stored when the usual limit was lower have that one written down. */
static struct field normalised(const struct field *field)
{
    struct field copy = *field;

    if (field_has_dictionary(field) &&
        (!copy.value_count_max || copy.value_count_max == KEYWORD_COUNT_BEFORE))
        copy.value_count_max = KEYWORD_COUNT_MAX;
    if (field->type != FIELD_TEXT)
        copy.weight = 0;
    else if (copy.weight == 0)
        copy.weight = 1;
    return copy;
}

static int check_same(const struct field *there, const struct field *field, struct err *err)
{
    if (there->type != field->type || there->multiple != field->multiple)
        return err_set(err, ERR_PRECONDITION,
                       "field \"%s\" is %s%s and cannot become %s%s: give the new one another name",
                       there->name, there->multiple ? "multiple " : "",
                       field_type_name(there->type), field->multiple ? "multiple " : "",
                       field_type_name(field->type));
    if (there->scale != field->scale)
        return err_set(err, ERR_PRECONDITION,
                       "field \"%s\" has %d digits after the point and cannot have %d", there->name,
                       there->scale, field->scale);
    if (there->value_count_max != field->value_count_max ||
        there->filterable != field->filterable || there->weight != field->weight)
        return err_set(err, ERR_PRECONDITION,
                       "field \"%s\" is there with other settings (limit of values %u, %s, weight "
                       "%g): they change with a new epoch",
                       there->name, there->value_count_max,
                       there->filterable ? "filterable" : "not filterable", (double)there->weight);
    return 0;
}

/* Of its name and what check_same compares. */
static uint64_t hash_field(const struct field *field, uint64_t before)
{
    uint64_t settings[] = {field->type,  field->multiple,        field->filterable,
                           field->scale, field->value_count_max, 0};

    memcpy(&settings[5], &field->weight, sizeof(field->weight));
    return hash64_seeded(bytes_of(field->name),
                         hash64_seeded(bytes_make(settings, sizeof(settings)), before));
}

bool schema_begins_alike(const struct schema *one, const struct schema *other, uint32_t count)
{
    if (schema_count(one) < count || schema_count(other) < count)
        return false;
    return !count || one->hashes[count - 1] == other->hashes[count - 1];
}

int schema_add(struct schema *schema, const struct field *field, uint16_t *id, struct err *err)
{
    uint32_t count = schema_count(schema);
    const struct field *there;
    struct field *added;
    int rc = check(field, err);

    object_check(schema, SCHEMA_MAGIC);
    if (rc)
        return rc;
    there = find_own(schema, bytes_of(field->name));
    if (there) {
        struct field wanted = normalised(field);

        if (id)
            *id = there->id;
        return check_same(there, &wanted, err);
    }
    if (count == SCHEMA_FIELD_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "no room for field \"%s\": a schema has at most %d fields",
                       field->name, SCHEMA_FIELD_COUNT_MAX);
    added = mem_zero(sizeof(*added));
    *added = normalised(field);
    added->id = (uint16_t)count;
    added->name = mem_strdup(field->name);
    schema->fields[count] = added;
    schema->hashes[count] = hash_field(added, count ? schema->hashes[count - 1] : 0);
    atomic_store_explicit(&schema->count, count + 1, memory_order_release);
    note_name(schema, added); /* who finds it by name finds it by number, too */
    if (id)
        *id = added->id;
    return 0;
}

/* ---- columns from outside ---- */

static int lend_new(struct schema *schema, const struct field *field, uint16_t *id, struct err *err)
{
    uint32_t count = atomic_load_explicit(&schema->lent_count, memory_order_relaxed);
    struct lent_field *lent;

    if (count == OUTSIDE_NAME_COUNT_MAX)
        return err_set(err, ERR_LIMIT,
                       "\"%s\" would be one more than %d names of columns that were seen since the "
                       "shard was opened: reuse names, or restart the searcher",
                       field->name, OUTSIDE_NAME_COUNT_MAX);
    lent = mem_zero(sizeof(*lent));
    lent->field = *field;
    lent->field.id = (uint16_t)(SCHEMA_FIELD_COUNT_MAX + count);
    lent->field.name = mem_strdup(field->name);
    atomic_init(&lent->is_there, true);
    schema->lent[count] = lent;
    atomic_store_explicit(&schema->lent_count, count + 1, memory_order_release);
    *id = lent->field.id;
    return 0;
}

int schema_lend(struct schema *schema, const struct field *field, uint16_t *id, struct err *err)
{
    struct lent_field *there;
    int rc = check(field, err);

    object_check(schema, SCHEMA_MAGIC);
    assert(bytes_begin(bytes_of(field->name), bytes_of(FIELD_OUTSIDE_PREFIX)));
    if (rc)
        return rc;
    there = find_lent(schema, bytes_of(field->name));
    rc = there ? check_same(&there->field, field, err) : lend_new(schema, field, id, err);
    if (rc)
        return rc;
    if (there) {
        *id = there->field.id;
        atomic_store_explicit(&there->is_there, true, memory_order_release);
    }
    atomic_fetch_add(&schema->lent_mark, 1);
    return 0;
}

void schema_take_back(struct schema *schema, uint16_t id)
{
    object_check(schema, SCHEMA_MAGIC);
    assert(id >= SCHEMA_FIELD_COUNT_MAX &&
           (uint32_t)id < SCHEMA_FIELD_COUNT_MAX + schema->lent_count);
    atomic_store_explicit(&schema->lent[id - SCHEMA_FIELD_COUNT_MAX]->is_there, false,
                          memory_order_release);
    atomic_fetch_add(&schema->lent_mark, 1);
}

const struct field *schema_any_field(const struct schema *schema, uint32_t id)
{
    uint32_t count = atomic_load_explicit(&schema->lent_count, memory_order_acquire);

    if (id < SCHEMA_FIELD_COUNT_MAX)
        return schema_field(schema, id);
    id -= SCHEMA_FIELD_COUNT_MAX;
    return id < count ? &schema->lent[id]->field : NULL;
}

const struct field *schema_find_any(const struct schema *schema, struct bytes name)
{
    const struct field *own = find_own(schema, name);
    const struct lent_field *lent = own ? NULL : find_lent(schema, name);

    return lent ? &lent->field : own;
}

uint32_t schema_lent_mark(const struct schema *schema)
{
    object_check(schema, SCHEMA_MAGIC);
    return atomic_load_explicit(&schema->lent_mark, memory_order_acquire);
}

/* Whether all that the one has is there in the other, as it is. */
static bool lent_are_in(const struct schema *one, const struct schema *other)
{
    uint32_t count = atomic_load_explicit(&one->lent_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++) {
        const struct lent_field *lent = one->lent[i];
        const struct lent_field *like;

        if (!atomic_load_explicit(&lent->is_there, memory_order_acquire))
            continue;
        like = find_lent(other, bytes_of(lent->field.name));
        if (!like || !atomic_load_explicit(&like->is_there, memory_order_acquire) ||
            like->field.id != lent->field.id || check_same(&like->field, &lent->field, NULL))
            return false;
    }
    return true;
}

bool schema_lent_alike(const struct schema *one, const struct schema *other)
{
    return lent_are_in(one, other) && lent_are_in(other, one);
}

/* ---- stored form ---- */

static void put_field(const struct field *field, struct buf *out)
{
    uint8_t weight[4];
    uint32_t weight_bits;

    memcpy(&weight_bits, &field->weight, sizeof(weight_bits));
    put_le32(weight, weight_bits);
    buf_put_byte(out, (uint8_t)field->type);
    buf_put_byte(out, (uint8_t)((field->multiple ? FLAG_MULTIPLE : 0) |
                                (field->filterable ? FLAG_FILTERABLE : 0)));
    buf_put_byte(out, field->scale);
    buf_put_raw(out, weight, sizeof(weight));
    varint_put(out, field->value_count_max);
    varint_put(out, strlen(field->name));
    buf_put_text(out, field->name);
}

void schema_encode(const struct schema *schema, struct buf *out)
{
    struct buf body = BUF_INIT(SCHEMA_SIZE_MAX);
    uint32_t count = schema_count(schema);
    uint8_t head[HEAD_SIZE];
    uint32_t i;

    object_check(schema, SCHEMA_MAGIC);
    varint_put(&body, count);
    for (i = 0; i < count; i++)
        put_field(schema->fields[i], &body);
    assert(!buf_failed(&body)); /* SCHEMA_FIELD_COUNT_MAX fields of 116 bytes */
    memcpy(head, magic, sizeof(magic));
    put_le32(head + 4, FORMAT);
    put_le32(head + 8, (uint32_t)body.size);
    put_le32(head + 12, crc32c(0, buf_bytes(&body)));
    buf_put_raw(out, head, sizeof(head));
    buf_put(out, buf_bytes(&body));
    buf_release(&body);
}

static bool get_field(struct bytes *in, struct field *field, char name[SCHEMA_NAME_SIZE_MAX + 1])
{
    uint32_t weight_bits;
    uint64_t count_max;
    uint64_t size;

    *field = (struct field){.name = name};
    if (in->size < 7 || in->data[1] > (FLAG_MULTIPLE | FLAG_FILTERABLE))
        return false;
    field->type = in->data[0];
    field->multiple = in->data[1] & FLAG_MULTIPLE;
    field->filterable = in->data[1] & FLAG_FILTERABLE;
    field->scale = in->data[2];
    weight_bits = get_le32(in->data + 3);
    memcpy(&field->weight, &weight_bits, sizeof(weight_bits));
    *in = bytes_skip(*in, 7);
    if (!varint_get(in, &count_max) || count_max > KEYWORD_COUNT_MAX || !varint_get(in, &size) ||
        size > SCHEMA_NAME_SIZE_MAX || size > in->size || memchr(in->data, 0, size))
        return false;
    field->value_count_max = (uint32_t)count_max;
    memcpy(name, in->data, size);
    name[size] = 0;
    *in = bytes_skip(*in, size);
    return true;
}

static void drop_all(struct schema *schema)
{
    uint32_t i;

    for (i = 0; i < schema->count; i++) {
        free((void *)schema->fields[i]->name);
        free(schema->fields[i]);
    }
    schema->count = 0;
    memset((void *)schema->by_name, 0, sizeof(schema->by_name));
}

int schema_decode(struct schema *schema, struct bytes encoded, struct err *err)
{
    struct bytes in = encoded;
    uint64_t count;
    uint64_t i;

    object_check(schema, SCHEMA_MAGIC);
    assert(!schema_count(schema));
    if (in.size < HEAD_SIZE || memcmp(in.data, magic, sizeof(magic)) != 0)
        return err_set(err, ERR_CORRUPT, "this is not a schema");
    if (get_le32(in.data + 4) != FORMAT)
        return err_set(err, ERR_UNSUPPORTED, "a schema of format %u, this program reads %d",
                       get_le32(in.data + 4), FORMAT);
    in = bytes_skip(in, HEAD_SIZE);
    if (get_le32(encoded.data + 8) != in.size || get_le32(encoded.data + 12) != crc32c(0, in))
        return err_set(err, ERR_CORRUPT, "a damaged schema: size or checksum differ");
    if (!varint_get(&in, &count) || count > SCHEMA_FIELD_COUNT_MAX)
        return err_set(err, ERR_CORRUPT, "a damaged schema: bad number of fields");
    for (i = 0; i < count; i++) {
        char name[SCHEMA_NAME_SIZE_MAX + 1];
        struct field field;
        uint16_t id;

        if (!get_field(&in, &field, name) || schema_add(schema, &field, &id, err) || id != i) {
            drop_all(schema);
            return err_set(err, ERR_CORRUPT, "a damaged schema: field %ju", (uintmax_t)i);
        }
    }
    if (in.size) {
        drop_all(schema);
        return err_set(err, ERR_CORRUPT, "a damaged schema: %zu bytes too many", in.size);
    }
    return 0;
}
