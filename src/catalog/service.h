/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.CatalogService: answers from the catalogue in use, and changes it. */
#ifndef TORG_CATALOG_SERVICE_H
#define TORG_CATALOG_SERVICE_H

#include "base/clock.h"
#include "catalog/change.h"
#include "catalog/holder.h"
#include "net/rpc.h"

/* The context of the handlers; it lives as long as the server. */
struct catalog_service {
    struct catalog_holder *holder;
    struct store *store;
    const struct clock *clock;
    struct catalog_impact *impact; /* asks stored offers; NULL: there are none */
    struct catalog_index *index;   /* asks the index's schema; NULL: nothing is indexed */
};

struct rpc_service catalog_rpc_service(struct catalog_service *service);

/* Fills the answer of CheckCatalog. */
void catalog_describe(const struct catalog *catalog, Torg__V1__CheckCatalogResponse *response);

#endif
