/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - what was found, as messages of the API. */
#ifndef TORG_SNIPPETS_REQUESTS_MESSAGE_H
#define TORG_SNIPPETS_REQUESTS_MESSAGE_H

#include "snippets/requests/snippets.h"
#include "torg/v1/snippet.pb-c.h"

/* Its texts are borrowed from what was found. */
Torg__V1__Snippet *snippet_message(const struct snippet_found *found, struct arena *arena);
Torg__V1__Snippet **snippet_messages(const struct snippet_found *found, size_t count,
                                     struct arena *arena);

/* A list of texts as bytes; borrowed. */
struct bytes *snippet_texts(char *const *texts, size_t count, struct arena *arena);

#endif
