/* SPDX-License-Identifier: Apache-2.0 */
/* indexed.c - see indexed.h. */
#include "inspect/doors/indexed.h"

#include "numerator/numerator.h"

int indexed_find(const struct index_door *door, const char *replica,
                 const struct client_view *client, uint32_t shard, uint32_t doc_id, struct bytes pk,
                 struct arena *arena, const Torg__V1__IndexedDocument **found, struct err *err)
{
    Torg__V1__ListIndexedRequest request = TORG__V1__LIST_INDEXED_REQUEST__INIT;
    Torg__V1__ListIndexedResponse *response;
    int rc;

    *found = NULL;
    if (doc_id == NUMBER_NONE)
        return 0;
    request.client = (char *)client->name;
    request.epoch = client->serving_epoch;
    request.shard = shard;
    request.from_id = doc_id;
    request.limit = 1;
    rc = door->list(door->arg, replica, &request, arena, &response, err);
    if (!rc && response->n_documents && response->documents[0]->doc_id == doc_id &&
        bytes_equal_text(pk, response->documents[0]->pk))
        *found = response->documents[0];
    return rc;
}

bool indexed_is_past(const Torg__V1__ShardFreshness *shard, uint32_t lane, int64_t idx)
{
    for (size_t i = 0; i < shard->n_lanes; i++) {
        if ((uint32_t)shard->lanes[i]->lane == lane)
            return shard->lanes[i]->idx >= idx;
    }
    return false;
}
