/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snippets.h - the stage: snippets put, got and deleted by name and key, under a config that may
 * change while it runs.
 *
 *   request ──> the config in use ──> prepare.h ──> rows.h ──> the store
 *   page of a search ──> snippets_batch ──> rows.h
 *
 * The config, its schemas and the key prefixes are files; a task looks whether they have changed
 * and takes them in if they are whole. If they are not, the old ones stay in use, and the reason is
 * told in the log, by the metrics and by snippets_state. The same task removes rows that have
 * ended.
 *
 * Threads: any. A request works with the config that it began with.
 */
#ifndef TORG_SNIPPETS_REQUESTS_SNIPPETS_H
#define TORG_SNIPPETS_REQUESTS_SNIPPETS_H

#include "base/clock.h"
#include "snippets/config/config.h"
#include "snippets/requests/prepare.h"
#include "snippets/rows/commit.h"
#include "store/store.h"

struct snippets;

struct snippets_options {      /* all borrowed until it is closed */
    const char *config_path;   /* "": there are no snippets */
    const char *prefixes_path; /* "": beside the config, key_prefixes.txt */
    bool allots;               /* missing prefixes are added to the file */
    struct store *store;
    const struct clock *clock;
};

/* Reads the config; a broken one is an error. On failure *snippets is NULL. */
int snippets_open(const struct snippets_options *options, struct snippets **snippets,
                  struct err *err);
void snippets_close(struct snippets *snippets); /* NULL is fine; no request may be under way */

/* The config in use; the caller unrefs it. */
struct snippet_config *snippets_config(struct snippets *snippets);
/* From now on rows that have ended are removed, by this process among others. */
void snippets_sweep(struct snippets *snippets);
struct store *snippets_store(const struct snippets *snippets);
/* Looks at the files now. ERR_INVALID tells what is wrong with them; the old ones stay in use. */
int snippets_reload(struct snippets *snippets, bool *changed, struct err *err);

/* Rows were written by other functions than those below: who follows changes looks for them. */
void snippets_tell(struct snippets *snippets);

struct snippets_state {
    int64_t loaded_us;           /* when the config in use was taken in */
    char refused[ERR_TEXT_SIZE]; /* why a newer one was not; "": it was */
};

void snippets_state(struct snippets *snippets, struct snippets_state *state);

/* --- requests --- */

/* A name that may be a group's; ERR_NOT_FOUND: there is no section of that name. Durable when it
 * returns 0, all or nothing. */
int snippets_put(struct snippets *snippets, struct bytes name, const struct snippet_body *body,
                 struct arena *arena, struct err *err);
int snippets_delete(struct snippets *snippets, struct bytes name, struct bytes key,
                    struct bytes language, struct arena *arena, struct err *err);

/* The same without a thread that waits: done is told when it is durable, or why it is not, on some
 * thread, maybe before this has returned. If this fails, done is not told. What is given lives, in
 * the arena, until then. Only where snippets_defers is true. */
bool snippets_defers(const struct snippets *snippets);

struct snippet_request {
    void (*done)(struct snippet_request *request, int rc, struct err *err);
    void *arg;
    /* its own */
    struct snippets *snippets;
    struct snippet_write write;
    struct bytes name;
    bool is_deletion;
};

int snippets_put_later(struct snippets *snippets, struct bytes name,
                       const struct snippet_body *body, struct arena *arena,
                       struct snippet_request *request, struct err *err);
int snippets_delete_later(struct snippets *snippets, struct bytes name, struct bytes key,
                          struct bytes language, struct arena *arena,
                          struct snippet_request *request, struct err *err);
/* What a put would store, nothing of which is stored; the rows are without their times. */
struct snippet_found;
int snippets_try(struct snippets *snippets, struct bytes name, const struct snippet_body *body,
                 struct arena *arena, struct snippet_found **list, size_t *count, struct err *err);
/* Whether what is put under a name is checked or converted at length. */
bool snippets_is_dear(struct snippets *snippets, struct bytes name, size_t body_size);

struct snippet_found {
    const char *name;
    enum snippet_format format;
    struct snippet_row row; /* its key, language and body end with a NUL that is not counted */
};

/* What is there of a name, in this language alone; ERR_NOT_FOUND: nothing, or there is no such
 * name. The names are the arena's. */
int snippets_get(struct snippets *snippets, struct bytes name, struct bytes key,
                 struct bytes language, struct arena *arena, struct snippet_found **list,
                 size_t *count, struct err *err);
/* Of several names and keys, each in the language or, if it is not there, in none. Names that are
 * not there have nothing. By snippet, then by key. */
int snippets_batch(struct snippets *snippets, const struct bytes *names, size_t name_count,
                   const struct bytes *keys, size_t key_count, struct bytes language,
                   struct arena *arena, struct snippet_found **list, size_t *count,
                   struct err *err);
/* The same from memory alone; false: not all of it is there, or it asks for too much. */
bool snippets_batch_at_hand(struct snippets *snippets, const struct bytes *names, size_t name_count,
                            const struct bytes *keys, size_t key_count, struct bytes language,
                            struct arena *arena, struct snippet_found **list, size_t *count);

#endif
