/* SPDX-License-Identifier: Apache-2.0 */
/* clients_load.h - a client as the store has it, made into a view. */
#ifndef TORG_REGISTRY_CLIENTS_CLIENTS_LOAD_H
#define TORG_REGISTRY_CLIENTS_CLIENTS_LOAD_H

#include <stdatomic.h>

#include "registry/clients/clients.h"

/* A view with what it is made of. */
struct held_view {
    struct client_view view;
    _Atomic uint32_t ref_count;
    struct arena *arena; /* owned: epochs' fields and tables */
};

struct client_loading {
    const char *name;
    int64_t known_state;    /* of the view that is held; 0: none is */
    struct held_view *view; /* with one reference; NULL: there is no such client, or ... */
    bool is_same;           /* ... the one held is as the store has it */
};

/* A transaction on struct client_loading; may be run again. */
int client_load(struct store_tx *tx, void *arg, struct err *err);
void held_view_free(struct held_view *view); /* NULL is fine */

#endif
