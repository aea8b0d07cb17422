/* SPDX-License-Identifier: Apache-2.0 */
/* side.c - see side.h. */
#include "registry/receiving/side.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "registry/bounds.h"

int side_decode(struct bytes wire, struct arena *arena, Torg__V1__SideFields **fields,
                struct err *err)
{
    ProtobufCMessage *message;
    int rc = message_decode(wire, &torg__v1__side_fields__descriptor, arena, &message, err);

    *fields = (Torg__V1__SideFields *)message;
    return rc ? err_wrap(err, "its side fields") : 0;
}

int side_encode(const Torg__V1__SideFields *fields, struct arena *arena, struct bytes *wire,
                struct err *err)
{
    struct buf out = BUF_INIT(SIDE_SIZE_MAX);
    int rc = 0;

    message_encode(&fields->base, &out);
    if (buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "the document would have more than %d bytes of side fields",
                     SIDE_SIZE_MAX);
    else
        *wire = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

static bool is_same_value(const Torg__V1__RawField *a, const Torg__V1__RawField *b)
{
    struct buf one = BUF_INIT(SIDE_SIZE_MAX);
    struct buf other = BUF_INIT(SIDE_SIZE_MAX);
    bool is_same;

    message_encode(&a->base, &one);
    message_encode(&b->base, &other);
    is_same = bytes_equal(buf_bytes(&one), buf_bytes(&other));
    buf_release(&one);
    buf_release(&other);
    return is_same;
}

static int order_of(const Torg__V1__SideField *kept, const Torg__V1__FieldChange *change)
{
    if (change->epoch != kept->epoch)
        return change->epoch < kept->epoch ? -1 : 1;
    return (change->sequence > kept->sequence) - (change->sequence < kept->sequence);
}

static size_t place_of(const Torg__V1__SideFields *fields, const char *name)
{
    size_t place = 0;

    while (place < fields->n_fields && strcmp(fields->fields[place]->field->name, name) != 0)
        place++;
    return place;
}

/* How the field is used is the schema's to keep. */
static Torg__V1__RawField *without_options(Torg__V1__RawField *field, struct arena *arena)
{
    Torg__V1__RawField *plain;

    if (!field->options)
        return field;
    plain = arena_alloc(arena, sizeof(*plain));
    *plain = *field;
    plain->options = NULL;
    return plain;
}

static Torg__V1__SideField *make_field(Torg__V1__RawField *field,
                                       const Torg__V1__FieldChange *change, struct arena *arena)
{
    Torg__V1__SideField *made = MESSAGE_NEW(side_field, arena);

    made->field = field;
    made->epoch = change->epoch;
    made->sequence = change->sequence;
    return made;
}

static void tell_kept(const Torg__V1__SideField *kept, size_t place, struct violations *reasons)
{
    violations_add(reasons, arena_printf(reasons->arena, "fields[%zu]", place),
                   "what is kept of \"%s\" is not older: epoch %" PRId64 ", sequence %" PRId64,
                   kept->field->name, kept->epoch, kept->sequence);
}

enum side_outcome side_merge(const Torg__V1__SideFields *kept, const Torg__V1__FieldChange *change,
                             struct violations *reasons, struct arena *arena,
                             Torg__V1__SideFields **merged, Torg__V1__FieldChange *taken)
{
    Torg__V1__SideFields *made = MESSAGE_NEW(side_fields, arena);
    bool has_stale = false;

    made->n_fields = kept->n_fields;
    made->fields =
        arena_array(arena, kept->n_fields + change->n_fields + 1, sizeof(made->fields[0]));
    if (kept->n_fields)
        memcpy(made->fields, kept->fields, kept->n_fields * sizeof(made->fields[0]));
    torg__v1__field_change__init(taken);
    taken->pk = change->pk;
    taken->fields = arena_array(arena, change->n_fields + 1, sizeof(taken->fields[0]));
    for (size_t i = 0; i < change->n_fields; i++) {
        Torg__V1__RawField *field = without_options(change->fields[i], arena);
        size_t place = place_of(kept, field->name);
        Torg__V1__SideField *old = place < kept->n_fields ? kept->fields[place] : NULL;
        int order = old ? order_of(old, change) : 1;

        if (order > 0) {
            made->fields[place < kept->n_fields ? place : made->n_fields++] =
                make_field(field, change, arena);
            taken->fields[taken->n_fields++] = field;
        } else if (order < 0 || !is_same_value(old->field, field)) {
            has_stale = true;
            tell_kept(old, i, reasons);
        }
    }
    *merged = made;
    assert(made->n_fields >= kept->n_fields);
    return taken->n_fields ? SIDE_TAKEN : has_stale ? SIDE_STALE : SIDE_DUPLICATE;
}
