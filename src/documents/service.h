/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - torg.v1.ComposerService, and its functions for a command without a server.
 */
#ifndef TORG_DOCUMENTS_SERVICE_H
#define TORG_DOCUMENTS_SERVICE_H

#include "base/arena.h"
#include "base/clock.h"
#include "net/rpc.h"
#include "store/store.h"
#include "torg/v1/composer.pb-c.h"

struct composer_context { /* all borrowed for the server's life */
    struct store *store;
    const struct clock *clock;
};

int composer_list_parked(const struct composer_context *context, struct arena *arena,
                         const Torg__V1__ListParkedOffersRequest *request,
                         Torg__V1__ListParkedOffersResponse *response, struct err *err);
int composer_replay_parked(const struct composer_context *context,
                           const Torg__V1__ReplayParkedOffersRequest *request,
                           Torg__V1__ReplayParkedOffersResponse *response, struct err *err);
int composer_catalog_progress(const struct composer_context *context, struct arena *arena,
                              Torg__V1__CatalogProgress *progress, struct err *err);

struct rpc_service composer_service(struct composer_context *context);

#endif
