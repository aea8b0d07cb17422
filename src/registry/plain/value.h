/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - a value of plain JSON as a field of a document, by the type of its column. */
#ifndef TORG_REGISTRY_PLAIN_VALUE_H
#define TORG_REGISTRY_PLAIN_VALUE_H

#include "registry/plain/columns.h"

/* NULL and a reason, if the value is not of the type. Rules of size are the receiver's. */
Torg__V1__RawField *plain_value(const struct plain_column *column, const struct placed_json *value,
                                bool is_table, struct arena *arena, const char **reason);

/* A day or a moment, as filters have them. */
bool plain_moment(struct bytes text, int64_t *seconds);

#endif
