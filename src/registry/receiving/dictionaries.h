/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionaries.h - what documents of a client share, kept apart from them: found, held, trained.
 *
 * The first documents of a client that has none are collected; when there are enough, a thread
 * finds what they share and stores it. Of two processes that do so at once the first one's counts.
 * A dictionary that was met is held for ever: rows packed with it stay readable.
 */
#ifndef TORG_REGISTRY_RECEIVING_DICTIONARIES_H
#define TORG_REGISTRY_RECEIVING_DICTIONARIES_H

#include "base/pack.h"
#include "registry/receiving/rows.h"

struct dictionary_choice {
    int64_t number;                           /* 0: none */
    const struct pack_dictionary *dictionary; /* NULL: none */
    bool is_collecting;                       /* dictionaries_sample wants the document */
};

/* What to pack with now. Reads the store when the client is met first; when that fails, packs
 * without one. Not inside a transaction. */
struct dictionary_choice dictionaries_choose(struct dictionaries *dictionaries, int64_t client_id);
void dictionaries_sample(struct dictionaries *dictionaries, int64_t client_id, struct bytes raw);

/* What a row was packed with; 0: none. Not inside a transaction. */
int dictionaries_find(struct dictionaries *dictionaries, int64_t client_id, int64_t number,
                      const struct pack_dictionary **dictionary, struct err *err);

/* Waits for a training that is under way; for tests. */
void dictionaries_settle(struct dictionaries *dictionaries);

#endif
