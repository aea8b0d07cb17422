/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - the full state of a snippet or a group, received piece by piece and shown when it is
 * complete; whatever is not in it is removed (generation.h).
 *
 * Threads: any. A load is known by its name and number alone: whoever has those can go on with it.
 */
#ifndef TORG_SNIPPETS_INTAKE_LOAD_H
#define TORG_SNIPPETS_INTAKE_LOAD_H

#include "snippets/requests/snippets.h"
#include "snippets/rows/generation.h"

/* Begins one; another that is under way is given up. ERR_NOT_FOUND: there is no such name. */
int snippets_load_begin(struct snippets *snippets, struct bytes name, int64_t *load,
                        struct err *err);

struct snippet_load_row {
    struct snippet_body body;
    int64_t place; /* in the file, for errors */
};

struct snippet_load_count {
    size_t stored;
    size_t older; /* not stored: put or deleted since the load began, or there already */
};

/* Rows are prepared like those of a request. ERR_INVALID tells the row, and others of the call are
 * not stored; ERR_STALE: the load is not under way (any more); ERR_PRECONDITION: it takes longer
 * than what it loads is shown (TtlMinutes), and is given up. */
int snippets_load_add(struct snippets *snippets, struct bytes name, int64_t load,
                      const struct snippet_load_row *rows, size_t count, struct arena *arena,
                      struct snippet_load_count *counts, struct err *err);

/* Shows what was loaded. ERR_PRECONDITION: more than removed_percent_max percent of what is shown
 * would go, or it took too long, as above. The load is given up then, and after a dry run, which
 * tells the difference alone. */
int snippets_load_finish(struct snippets *snippets, struct bytes name, int64_t load,
                         unsigned removed_percent_max, bool is_dry,
                         struct snippet_difference *difference, struct err *err);
int snippets_load_abandon(struct snippets *snippets, struct bytes name, int64_t load,
                          struct err *err);

/* What was shown before the last load is shown again, and the other way round. */
int snippets_load_back(struct snippets *snippets, struct bytes name, struct err *err);

#endif
