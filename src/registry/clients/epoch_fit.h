/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_fit.h - whether fields that are to come fit the newest epoch of a client: documents that
 * have one that does not would be refused. */
#ifndef TORG_REGISTRY_CLIENTS_EPOCH_FIT_H
#define TORG_REGISTRY_CLIENTS_EPOCH_FIT_H

#include "registry/clients/clients.h"

struct epoch_misfit {
    const Torg__V1__SchemaField *field; /* of those asked for */
    const char *reason;                 /* in the arena */
};

/* In the arena, in the order of the fields. The newest epoch is the one that is built, if there is
 * one. A client that is not there yet begins with an epoch that has no fields. */
int epoch_find_misfits(struct clients *clients, const char *client,
                       Torg__V1__SchemaField *const *fields, size_t field_count,
                       struct arena *arena, struct epoch_misfit **misfits, size_t *count,
                       struct err *err);

#endif
