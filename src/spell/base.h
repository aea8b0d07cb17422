/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - the words spelling starts with, as tools/spell-base wrote them (the format is described
 * there).
 */
#ifndef TORG_SPELL_BASE_H
#define TORG_SPELL_BASE_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/err.h"
#include "spell/words.h"

/* Adds the words of a base to those there are; ERR_CORRUPT names the byte. stop (may be NULL) ends
 * it when it becomes true: ERR_CANCELLED. */
int base_load(struct bytes base, struct words *words, const atomic_bool *stop, struct err *err);

#endif
