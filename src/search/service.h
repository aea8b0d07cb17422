/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.SearchService. */
#ifndef TORG_SEARCH_SERVICE_H
#define TORG_SEARCH_SERVICE_H

#include "net/rpc.h"
#include "search/search.h"

struct rpc_service search_service(struct search *search); /* borrowed for the server's life */

#endif
