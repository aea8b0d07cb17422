/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.SearchService. */
#ifndef TORG_SEARCH_SERVICE_H
#define TORG_SEARCH_SERVICE_H

#include "net/rest.h"
#include "net/rpc.h"
#include "search/search.h"

/* All borrow it for the server's life. */
struct rpc_service search_service(struct search *search);
/* The same by an address, in plain JSON: service_plain.c. */
struct rest_service search_plain_service(struct search *search);
/* Offers and sellers as pages, robots.txt, sitemap.xml: service_pages.c. */
struct rest_service search_pages_service(struct search *search);

/* SearchOffers, with the language and the waits of its call. */
int search_offers_call(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err);

#endif
