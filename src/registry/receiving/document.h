/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - whether a document that was sent may be kept: every rule, all reasons at once.
 *
 * A document is checked with what is known of its client and of the fields that earlier documents
 * of the same batch would bring. What those may still change (they may be refused yet) is not
 * decided: such a document waits for the next round.
 */
#ifndef TORG_REGISTRY_RECEIVING_DOCUMENT_H
#define TORG_REGISTRY_RECEIVING_DOCUMENT_H

#include "base/arena.h"
#include "base/violation.h"
#include "registry/clients/clients.h"
#include "registry/receiving/rows.h"

/* A field that an epoch does not have yet. */
struct new_field {
    int64_t epoch;
    uint64_t hash;            /* of its name */
    struct epoch_field field; /* without a number */
};

/* What documents that were checked before would bring. */
struct new_fields {
    struct new_field *list; /* of an arena */
    uint32_t count;
    uint32_t room;
};

struct document_check {
    const struct client_view *client;
    const struct epoch_view *epoch;  /* that the document is checked with; set by the check */
    const struct new_fields *before; /* of the batch; may be NULL */
    struct new_fields added;         /* the document's own: those in `before` too */
    struct violations *reasons;
    bool waits;          /* it depends on what becomes of those before it */
    bool is_too_old;     /* its epoch is below the client's */
    bool is_declaration; /* of a schema: faults of a type are told so */
    struct arena *arena;
};

/*
 * Checks a document and fills the row but for what the store has a say in: row->order.epoch is 0
 * when the document names none, and order.modify_us when it tells no time. The row is not packed.
 * resolved_epoch: the epoch of one that names none; 0: the client's.
 */
void document_check(struct document_check *check, const Torg__V1__RawDocument *document,
                    int64_t resolved_epoch, struct row *row);

/* A field that is declared ahead (fields[place] of the declaration), as if a document brought it.
 */
void schema_field_check(struct document_check *check, size_t place,
                        const Torg__V1__SchemaField *field);

void new_fields_add(struct new_fields *fields, const struct new_field *field, struct arena *arena);
const struct new_field *new_fields_find(const struct new_fields *fields, int64_t epoch,
                                        struct bytes name, uint64_t hash);

/* "integer": as documents write it. */
const char *schema_type_name(Torg__V1__SchemaField__Type type);
Torg__V1__SchemaField *schema_field_message(const struct epoch_field *field, struct arena *arena);

/* --- between its files --- */

/* A field of the document: fields[place]. Its path is written only when there is a fault to tell.
 */
struct spot {
    struct violations *reasons;
    size_t place;
};
/* member: ".text", or "" for the field itself. */
void spot_refuse(const struct spot *spot, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What is wrong with the value of a field that has this type and settings. */
void document_check_value(const struct spot *spot, const Torg__V1__RawField *value,
                          const struct epoch_field *field);
/* The one kind of value that a field has; UNSPECIFIED, told, when it has none or several. */
Torg__V1__SchemaField__Type document_value_type(const struct spot *spot,
                                                const Torg__V1__RawField *value);
/* Whether it has one of any kind. */
bool document_has_value(const Torg__V1__RawField *value);
/* What is wrong with a text of so many bytes without control characters; NULL: nothing. */
const char *document_text_fault(const char *text, size_t size_min, size_t size_max,
                                struct arena *arena);
/* Whether the field is as the epoch has it, or may join it; NULL, told, when it is neither. */
const struct epoch_field *document_check_field(struct document_check *check, size_t place,
                                               const char *name, Torg__V1__SchemaField__Type type,
                                               const Torg__V1__FieldOptions *options);

#endif
