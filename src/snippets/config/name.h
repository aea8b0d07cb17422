/* SPDX-License-Identifier: Apache-2.0 */
/* name.h - what names, keys and languages of snippets may look like. */
#ifndef TORG_SNIPPETS_CONFIG_NAME_H
#define TORG_SNIPPETS_CONFIG_NAME_H

#include "base/bytes.h"
#include "base/err.h"

/* ([a-z0-9_.]+)(/[a-z0-9_.]+)*, no segment of dots alone. */
int snippet_name_check(struct bytes name, struct err *err);
/* Any text without control characters, not empty. */
int snippet_key_check(struct bytes key, struct err *err);
/* Letters, digits and hyphens; empty is none. */
int snippet_language_check(struct bytes language, struct err *err);

#endif
