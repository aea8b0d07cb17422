/* SPDX-License-Identifier: Apache-2.0 */
/*
 * title_head.h - the words of a title that say what the thing is.
 *
 * In a title in Latin letters they come last, before its parts, purpose or colour: "Toro 22 in. Gas
 * Lawn Mower with Briggs Engine": lawn mower; "Blade for Lawn Mowers": blade. One in Cyrillic
 * begins with them: "Чехол для телефона": чехол; if it names nothing there ("Huawei nova 11 128
 * ГБ") it is read like one in Latin letters. So the thing is distinguished from its parts. It is a
 * guess by position and a few words of grammar: searches for other words of the title find it as
 * well.
 */
#ifndef TORG_DOCUMENTS_TITLE_HEAD_H
#define TORG_DOCUMENTS_TITLE_HEAD_H

#include "base/arena.h"

/* One to three words; "": none can be told. */
const char *title_head(const char *title, struct arena *arena);

/* The head of a title in Latin letters that ends with the maker's words: where the name of its
 * category has a word of the title ("Mountain bicycle Stels Navigator 710" among bicycles), that is
 * the thing. Behind "for" and its like it is not. */
const char *head_by_category(const char *head, const char *title, const char *name,
                             struct arena *arena);

/* Of a head its last word ("lawn mower": mower); all of it where that says little ("drill kit"). */
const char *head_thing(const char *head);

#endif
