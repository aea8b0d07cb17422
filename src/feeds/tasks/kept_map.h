/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_map.h - which of our categories a seller has said his are (category_rules.h), kept for
 * imports that come without such a file.
 *
 * A file that has been fetched by address may mean something else when this changes: in the same
 * transaction it becomes due, to be taken whatever it is. A run under way sees that it was made due
 * meanwhile, and keeps nothing of its file.
 */
#ifndef TORG_FEEDS_TASKS_KEPT_MAP_H
#define TORG_FEEDS_TASKS_KEPT_MAP_H

#include "feeds/tasks/task.h"

/* Whether the catalogue in use can read it; ERR_INVALID names the line. */
int kept_map_check(const struct offers *offers, struct bytes content, struct err *err);

/* Keeps one that was checked; *now (may be NULL) is what it is then. The same again is no change.
 * ERR_LIMIT: it is larger than FEED_MAP_KEPT_SIZE_MAX. */
int kept_map_set(const struct offers *offers, const struct feed_key *key, struct bytes content,
                 struct arena *arena, Torg__V1__FeedCategories **now, struct err *err);
/* *kept is NULL when there is none. */
int kept_map_find(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                  Torg__V1__FeedCategories **kept, struct err *err);
/* ERR_NOT_FOUND when there is none; *kept is what there was. */
int kept_map_remove(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                    Torg__V1__FeedCategories **kept, struct err *err);

#endif
