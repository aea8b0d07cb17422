/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefixes.h - key prefixes (kps): the number under which the keys of a snippet are stored, so that
 * equal keys of two snippets never meet.
 *
 * They stand in a file that is kept under version control beside the config:
 *
 *     # key prefixes of snippets; `torg snippets prefixes --allot` adds what is missing
 *     1000 rating
 *     1001 delivery/pickup
 *
 * A number or a name that is there twice is refused with its lines: two snippets would overwrite
 * each other. A name that is in no config keeps its number until its rows are gone.
 */
#ifndef TORG_SNIPPETS_CONFIG_PREFIXES_H
#define TORG_SNIPPETS_CONFIG_PREFIXES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct snippet_config;

struct snippet_prefix {
    int64_t number;
    const char *name;
    unsigned line;
};

struct snippet_prefixes {
    struct snippet_prefix *list; /* in the order of names */
    size_t count;
    int64_t last; /* the largest number */
};

/* The text of such a file, in the arena. ERR_INVALID tells the line. */
int snippet_prefixes_read(struct bytes text, struct arena *arena, struct snippet_prefixes *prefixes,
                          struct err *err);
/* The file; one that is not there is an empty one. */
int snippet_prefixes_load(const char *path, struct arena *arena, struct snippet_prefixes *prefixes,
                          struct err *err);
/* 0: it has none. */
int64_t snippet_prefixes_find(const struct snippet_prefixes *prefixes, struct bytes name);

/* Adds numbers for the snippets of the config that have none, and writes the file; *added: how
 * many. Of several who do so at once one comes after the other: they wait on the clock, for
 * SNIPPET_PREFIXES_LOCK_MS at most (ERR_EXISTS). */
int snippet_prefixes_allot(const char *path, const struct snippet_config *config,
                           const struct clock *clock, size_t *added, struct err *err);
/* Takes the line of a name out; the caller has seen that nothing is stored under it. */
int snippet_prefixes_free(const char *path, struct bytes name, const struct clock *clock,
                          struct err *err);

#endif
