/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - how callers reach snippets: SnippetService, and /snippets/NAME/KEY[/LANGUAGE]. */
#ifndef TORG_SNIPPETS_SERVICE_H
#define TORG_SNIPPETS_SERVICE_H

#include "net/rest.h"
#include "net/rpc.h"
#include "snippets/requests/snippets.h"

struct rpc_service snippet_service(struct snippets *snippets);
struct rest_service snippet_resources(struct snippets *snippets);
/* Without the prefix, for a port that has nothing else: /NAME/KEY[/LANGUAGE]. */
struct rest_service snippet_root_resources(struct snippets *snippets);

#endif
