/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.ComposerService. */
#ifndef TORG_DOCUMENTS_SERVICE_H
#define TORG_DOCUMENTS_SERVICE_H

#include "base/clock.h"
#include "net/rpc.h"
#include "store/store.h"
#include "torg/v1/composer.pb-c.h"

struct composer_context { /* all borrowed for the server's life */
    struct store *store;
    const struct clock *clock;
};

struct rpc_service composer_service(struct composer_context *context);

#endif
