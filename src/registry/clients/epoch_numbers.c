/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_numbers.c - see epoch_numbers.h. */
#include "registry/clients/epoch_numbers.h"

#include <inttypes.h>
#include <stdio.h>

#include "config/bounds.h"
#include "registry/receiving/document.h"
#include "store/sequence.h"

static const struct numbering *numbering_now(const struct client_view *client)
{
    return client_numbering(client, client_epoch(client, client->writing_epoch));
}

static bool wants_other(const struct client_view *client,
                        const Torg__V1__StartEpochRequest *request)
{
    return request->renumber ||
           (request->shard_count && request->shard_count != numbering_now(client)->scheme);
}

/* The field must be there, and have one number a document. */
static int check_field(const struct epoch_view *proposed, const char *name, struct err *err)
{
    const struct epoch_field *field = epoch_find_field(proposed, bytes_of(name));

    if (!field)
        return err_set(err, ERR_INVALID,
                       "renumber_by: the new epoch has no field \"%s\": expected one that "
                       "documents have, an integer, a decimal or a date",
                       name);
    if (field->type != TORG__V1__SCHEMA_FIELD__TYPE__INTEGER &&
        field->type != TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL &&
        field->type != TORG__V1__SCHEMA_FIELD__TYPE__DATE)
        return err_set(
            err, ERR_INVALID,
            "renumber_by: field \"%s\" is %s, which has no order of numbers: expected an "
            "integer, a decimal or a date",
            name, schema_type_name(field->type));
    return 0;
}

int epoch_check_numbers(const struct client_view *client, const struct epoch_view *proposed,
                        const Torg__V1__StartEpochRequest *request, struct err *err)
{
    if (request->shard_count > CLIENT_SHARD_COUNT_MAX ||
        request->shard_count % client->shard_count != 0)
        return err_set(err, ERR_INVALID,
                       "shard_count: %" PRIu32 "; client %s writes by %" PRIu32
                       " shards, so its index has %" PRIu32 " or a multiple of that, at most %d",
                       request->shard_count, client->name, client->shard_count, client->shard_count,
                       CLIENT_SHARD_COUNT_MAX);
    if (!*request->renumber_by && request->renumber_ascending)
        return err_set(err, ERR_INVALID, "renumber_ascending: name the field in renumber_by");
    if (*request->renumber_by && !request->renumber)
        return err_set(err, ERR_INVALID,
                       "renumber_by: documents are numbered by a field when renumber is set, too");
    return *request->renumber_by ? check_field(proposed, request->renumber_by, err) : 0;
}

/* A V is never used again: data that was made for it may still be somewhere. */
static int next_rebuild(struct store_tx *tx, const struct client_view *client, uint32_t *rebuild,
                        struct err *err)
{
    char name[64];
    int64_t next = 0;
    uint32_t newest = 0;
    int rc = 0;

    for (uint32_t i = 0; i < client->numbering_count; i++)
        if (client->numberings[i].rebuild > newest)
            newest = client->numberings[i].rebuild;
    snprintf(name, sizeof(name), "registry/%" PRId64 "/numberings", client->id);
    while (!rc && next <= newest)
        rc = store_next_seq(tx, name, 1, &next, err);
    if (!rc && next > INT32_MAX)
        rc = err_set(err, ERR_LIMIT,
                     "client %s was renumbered %" PRId64 " times, which is the limit", client->name,
                     next);
    *rebuild = (uint32_t)next;
    return rc;
}

int epoch_choose_numbers(struct store_tx *tx, const struct client_view *client,
                         const Torg__V1__StartEpochRequest *request, struct numbering *numbering,
                         struct err *err)
{
    int rc;

    *numbering = *numbering_now(client);
    if (!wants_other(client, request))
        return 0;
    if (request->shard_count)
        numbering->scheme = request->shard_count;
    rc = next_rebuild(tx, client, &numbering->rebuild, err);
    numbering->space = client->id | (int64_t)numbering->rebuild << 32;
    return rc;
}

/* The first numbering of a client: its epochs' space is not told, or the client itself. */
static int check_rebuild(const struct client_view *client, uint32_t rebuild, struct err *err)
{
    for (uint32_t i = 0; i < client->numbering_count; i++)
        if (client->numberings[i].space != client->id && client->numberings[i].rebuild == rebuild)
            return err_set(err, ERR_PRECONDITION,
                           "an epoch of client %s has numbers of V %" PRIu32
                           " already, and data made from these would be taken for theirs: drop the "
                           "epoch first, or number the state anew (--rebuild-state-force) until "
                           "its V is another",
                           client->name, rebuild);
    return 0;
}

int epoch_take_rebuild(struct store_tx *tx, const struct client_view *client, uint32_t rebuild,
                       struct err *err)
{
    int rc = check_rebuild(client, rebuild, err);

    if (!rc)
        rc = client_confirm(tx, client, err);
    if (!rc)
        rc = store_exec(tx,
                        "UPDATE registry_epoch SET rebuild = $2 WHERE client_id = $1 "
                        "AND (space = 0 OR space = $1)",
                        STORE_WITH(STORE_V_INT(client->id), STORE_V_INT(rebuild)), NULL, err);
    return rc ? rc : client_touch(tx, client->id, err);
}

int epoch_make_client(struct store_tx *tx, const char *name, uint32_t shard_count, uint32_t rebuild,
                      int64_t now_us, int64_t *id, struct err *err)
{
    int rc;

    if (shard_count > CLIENT_SHARD_COUNT_MAX)
        return err_set(err, ERR_PRECONDITION,
                       "the state has %" PRIu32 " shards, and a client at most %d", shard_count,
                       CLIENT_SHARD_COUNT_MAX);
    rc = client_make(tx, name, shard_count, now_us, id, err);
    return rc ? rc
              : store_exec(tx, "UPDATE registry_epoch SET rebuild = $2 WHERE client_id = $1",
                           STORE_WITH(STORE_V_INT(*id), STORE_V_INT(rebuild)), NULL, err);
}
