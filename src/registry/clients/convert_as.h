/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_as.h - a value that was sent as one type, read as another: for epochs in which a field
 * has another type than its documents were written with.
 *
 * A value is accepted if one would write it by hand for the other type: integers, booleans and
 * dates are their texts and the other way round, a decimal without a fraction is an integer, text,
 * keyword, category and stored are interchangeable, keywords are a keyword if there is exactly one.
 * Nothing is rounded or cut; points are only points.
 */
#ifndef TORG_REGISTRY_CLIENTS_CONVERT_AS_H
#define TORG_REGISTRY_CLIENTS_CONVERT_AS_H

#include "base/arena.h"
#include "registry/clients/clients.h"
#include "torg/v1/document.pb-c.h"

/* False: it cannot be read so. Of *as only the value is set, and the name. */
bool convert_as(const Torg__V1__RawField *field, const struct epoch_field *wanted,
                struct arena *arena, Torg__V1__RawField *as);

#endif
