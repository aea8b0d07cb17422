/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_schema.h - the schema that an epoch would have: what the client's has, with changes. */
#ifndef TORG_REGISTRY_CLIENTS_EPOCH_SCHEMA_H
#define TORG_REGISTRY_CLIENTS_EPOCH_SCHEMA_H

#include "registry/clients/clients.h"
#include "registry/receiving/document.h"

struct epoch_proposal {
    struct epoch_view view;   /* its epoch is one above all others of the client */
    struct new_fields fields; /* the same, to be inserted */
};

/* Of the arena of reasons; names are borrowed from the request and the client. ERR_INVALID: reasons
 * tell by field what is wrong. */
int epoch_propose(const struct client_view *client, Torg__V1__SchemaField *const *changes,
                  size_t change_count, struct violations *reasons, struct epoch_proposal *proposal,
                  struct err *err);

#endif
