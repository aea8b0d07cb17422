/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_split.h - a migration's text as single statements.
 *
 * Knows strings, quoted names and comments; a semicolon in them ends nothing.
 */
#ifndef TORG_STORE_SQL_SPLIT_H
#define TORG_STORE_SQL_SPLIT_H

#include <stdbool.h>

#include "base/bytes.h"

/* Takes the next statement off the front of *text, without its semicolon and the blanks and
 * comments before it; false when there is none. */
bool sql_next(struct bytes *text, struct bytes *statement);

#endif
