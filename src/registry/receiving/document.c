/* SPDX-License-Identifier: Apache-2.0 */
/* document.c - see document.h; fields and values are in document_schema.c and document_value.c. */
#include "registry/receiving/document.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "codec/moment.h"
#include "model/bounds.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"

static void check_text(struct document_check *check, const char *path, const char *text,
                       size_t size_min, size_t size_max)
{
    const char *fault = document_text_fault(text, size_min, size_max, check->arena);

    if (fault)
        violations_add(check->reasons, path, "%s", fault);
}

static void check_times(struct document_check *check, const Torg__V1__RawDocument *document,
                        struct row *row)
{
    if (document->modify_timestamp &&
        (!moment_us(document->modify_timestamp, &row->order.modify_us) ||
         row->order.modify_us <= 0))
        violations_add(check->reasons, "modifyTimestamp", "is not between the years 1970 and 9999");
    if (document->expire_time && row->status == ROW_TOMBSTONE)
        violations_add(check->reasons, "expireTime", "a deletion has none: leave it out");
    else if (document->expire_time &&
             (!moment_us(document->expire_time, &row->expires_us) || row->expires_us <= 0))
        violations_add(check->reasons, "expireTime", "is not between the years 1970 and 9999");
}

/* The epoch whose schema it must fit; NULL, told, when there is none. */
static const struct epoch_view *choose_epoch(struct document_check *check,
                                             const Torg__V1__RawDocument *document,
                                             int64_t resolved_epoch)
{
    int64_t wanted = document->epoch  ? document->epoch
                     : resolved_epoch ? resolved_epoch
                                      : check->client->writing_epoch;
    const struct epoch_view *epoch = client_epoch(check->client, wanted);

    /* Its row is of an epoch that was given up: it stays newer than others, and has their schema.
     */
    if (!epoch && !document->epoch && resolved_epoch)
        epoch = client_epoch(check->client, check->client->writing_epoch);
    check->is_too_old = document->epoch > 0 && document->epoch < check->client->writing_epoch;
    if (!epoch && !check->is_too_old)
        violations_add(check->reasons, "epoch",
                       "%" PRId64 ": the client's epoch is %" PRId64
                       ", leave it out or start the new one first",
                       document->epoch, check->client->writing_epoch);
    return epoch;
}

/* Bits of the places of fields that were met. */
struct met {
    uint64_t bits[(DOCUMENT_SCHEMA_COUNT_MAX + 63) / 64];
};

static bool meet(struct met *met, const struct epoch_view *epoch, const struct epoch_field *field)
{
    size_t place = (size_t)(field - epoch->fields);
    uint64_t bit = 1ULL << place % 64;
    bool was_met = met->bits[place / 64] & bit;

    met->bits[place / 64] |= bit;
    return was_met;
}

/* Whether a field of this name came before: of those that are in the schema by its place in it, of
 * new ones by the list of them. */
static bool is_repeated(const struct document_check *check, struct met *met, const char *name)
{
    const struct epoch_field *there = epoch_find_field(check->epoch, bytes_of(name));

    if (there)
        return meet(met, check->epoch, there);
    return new_fields_find(&check->added, check->epoch->epoch, bytes_of(name),
                           hash64(bytes_of(name))) != NULL;
}

static void check_field(struct document_check *check, size_t place, struct met *met,
                        const Torg__V1__RawField *value)
{
    const struct spot spot = {.reasons = check->reasons, .place = place};
    Torg__V1__SchemaField__Type type = document_value_type(&spot, value);
    const struct epoch_field *field;

    if (is_repeated(check, met, value->name)) {
        spot_refuse(&spot, ".name", "\"%s\" is there already: several keywords go into one field",
                    value->name);
        return;
    }
    field = document_check_field(check, place, value->name, type, value->options);
    if (field)
        document_check_value(&spot, value, field);
}

static void check_fields(struct document_check *check, const Torg__V1__RawDocument *document)
{
    struct met met = {{0}};

    if (document->n_fields > DOCUMENT_FIELD_COUNT_MAX) {
        violations_add(check->reasons, "fields", "has %zu; the limit is %d", document->n_fields,
                       DOCUMENT_FIELD_COUNT_MAX);
        return;
    }
    if (!document->n_fields)
        violations_add(check->reasons, "fields", "is empty: a document has at least one field");
    for (size_t i = 0; i < document->n_fields && check->epoch; i++)
        check_field(check, i, &met, document->fields[i]);
}

void document_check(struct document_check *check, const Torg__V1__RawDocument *document,
                    int64_t resolved_epoch, struct row *row)
{
    bool is_known = document->event == TORG__V1__RAW_DOCUMENT__EVENT__UPSERT ||
                    document->event == TORG__V1__RAW_DOCUMENT__EVENT__DELETE;

    *row = (struct row){.pk = bytes_of(document->pk),
                        .order = {.epoch = document->epoch, .version = document->version},
                        .status = document->event == TORG__V1__RAW_DOCUMENT__EVENT__DELETE
                                      ? ROW_TOMBSTONE
                                      : ROW_ALIVE};
    row->hash = number_key_hash(row->pk);
    check->waits = false;
    check->is_too_old = false;
    check->added = (struct new_fields){0};
    check_text(check, "pk", document->pk, 1, DOCUMENT_PK_SIZE_MAX);
    check_text(check, "placementClass", document->placement_class, 0, DOCUMENT_CLASS_SIZE_MAX);
    if (document->version < 0)
        violations_add(check->reasons, "version", "%" PRId64 " is negative", document->version);
    if (document->epoch < 0)
        violations_add(check->reasons, "epoch", "%" PRId64 " is negative", document->epoch);
    if (!is_known)
        violations_add(check->reasons, "event", "%d is neither UPSERT nor DELETE", document->event);
    check_times(check, document, row);
    check->epoch = document->epoch < 0 ? NULL : choose_epoch(check, document, resolved_epoch);
    if (row->status == ROW_ALIVE)
        check_fields(check, document);
    else if (document->n_fields)
        violations_add(check->reasons, "fields", "a deletion has none: leave them out");
}

void schema_field_check(struct document_check *check, size_t place,
                        const Torg__V1__SchemaField *field)
{
    const struct spot spot = {.reasons = check->reasons, .place = place};
    bool is_type = field->type > TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED &&
                   field->type <= TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS;

    if (!is_type)
        spot_refuse(&spot, ".type",
                    "is not set, or unknown: set one of TEXT, KEYWORD, KEYWORDS, "
                    "INTEGER, DECIMAL, DATE, BOOLEAN, CATEGORY, POINT, STORED");
    else if (new_fields_find(&check->added, check->epoch->epoch, bytes_of(field->name),
                             hash64(bytes_of(field->name))))
        spot_refuse(&spot, ".name", "\"%s\" is there already", field->name);
    else
        document_check_field(check, place, field->name, field->type, field->options);
}
