/* SPDX-License-Identifier: Apache-2.0 */
/* service_synonyms.h - torg.v1.SynonymService: the synonyms in force, changed and proposed. */
#ifndef TORG_SEARCH_SERVICE_SYNONYMS_H
#define TORG_SEARCH_SERVICE_SYNONYMS_H

#include "base/clock.h"
#include "net/rpc.h"
#include "search/synonyms/synonym_holder.h"
#include "torg/v1/synonym.pb-c.h"

/* The context of the handlers; it lives as long as the server. */
struct synonym_service {
    struct store *store;
    struct synonym_holder *holder;
    const struct clock *clock;
};

struct rpc_service synonym_rpc_service(struct synonym_service *service);

#endif
