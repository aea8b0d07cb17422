/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_name.h - what a field is called in an index when its owner calls it as they please.
 *
 *     Price -> price     createdAt -> createdat     "Цвет кузова" -> cvet_kuzova
 *
 * Documents, filters, facets and sorts go by the same rule, so that everybody may keep to their
 * own spelling. Two names that become one are one.
 */
#ifndef TORG_MODEL_FIELD_NAME_H
#define TORG_MODEL_FIELD_NAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Appends a-z, 0-9, _ . and -, beginning with a letter. False, nothing appended: it cannot be one,
 * being empty, too long or of letters other than Latin and Cyrillic. */
bool field_name_put(struct bytes name, struct buf *out);

#endif
