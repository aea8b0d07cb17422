/* SPDX-License-Identifier: Apache-2.0 */
/*
 * russian.h - reasons in Russian, for those who ask for it: commands, and the files they write.
 *
 * Everything that refuses speaks English; who shows it to people has the words of the one list of
 * web/cabinet/reasons-ru.js, which the cabinet has, too. {name} of a form is whatever stands there;
 * {reason} is a reason again, and has to be known as well.
 */
#ifndef TORG_FEEDS_REPORT_RUSSIAN_H
#define TORG_FEEDS_REPORT_RUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct feed_words {
    const char *form;
    const char *words;
};

/* Made by tools/embed-reasons. */
extern const struct feed_words feed_words_russian[];
extern const size_t feed_words_russian_count;

/* Of the arena, or NULL: it is not known. */
const char *feed_reason_in_russian(const char *reason, struct arena *arena);

/* What the field of a reason is called: "цена" for "price"; where it is not known as it is. */
const char *feed_field_said(const char *field, bool is_russian);

/* In Russian if it is wanted and known, else as it is. */
const char *feed_reason_said(const char *reason, bool is_russian, struct arena *arena);

#endif
