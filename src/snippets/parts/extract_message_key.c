/* SPDX-License-Identifier: Apache-2.0 */
/* extract_message_key.c - "message-key": the key of the record. */
#include "snippets/parts/parts.h"

static int extract(const void *state, const struct snippet_record *record, struct arena *arena,
                   struct bytes *key, struct err *err)
{
    *key = record->key;
    return 0;
}

const struct snippet_extractor extractor_message_key = {
    .name = "message-key",
    .about = "message-key: the key of the record",
    .formats = ~0u,
    .extract = extract,
};
