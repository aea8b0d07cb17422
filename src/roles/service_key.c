/* SPDX-License-Identifier: Apache-2.0 */
/* service_key.c - torg.v1.KeyService: messages in, messages out; the work is access/keys.h's. */
#include <string.h>

#include "access/keys.h"
#include "base/limits.h"
#include "base/memory.h"
#include "roles/service.h"

/* The blank-separated scopes as a list. */
static void put_scopes(Torg__V1__Key *message, const char *scopes, struct arena *arena)
{
    message->scopes = arena_array(arena, IDENTITY_SCOPES_SIZE / 2, sizeof(char *));
    while (*scopes) {
        size_t size = strcspn(scopes, " ");

        message->scopes[message->n_scopes++] = arena_text(arena, bytes_make(scopes, size));
        scopes += size + (scopes[size] == ' ');
    }
}

static void put_key(Torg__V1__Key *message, const struct key *key, struct arena *arena)
{
    message->id = arena_strdup(arena, key->id);
    message->name = arena_strdup(arena, key->name);
    message->seller = arena_strdup(arena, key->seller);
    message->client = arena_strdup(arena, key->client);
    message->create_time = timestamp_new(arena, key->created_us);
    message->expire_time = timestamp_new(arena, key->expires_us);
    message->revoke_time = timestamp_new(arena, key->revoked_us);
    put_scopes(message, key->scopes, arena);
}

static Torg__V1__Key *key_message(const struct key *key, struct arena *arena)
{
    Torg__V1__Key *message = arena_alloc(arena, sizeof(*message));

    torg__v1__key__init(message);
    put_key(message, key, arena);
    return message;
}

int key_service_create(const struct asker *asker, const Torg__V1__CreateKeyRequest *request,
                       Torg__V1__CreateKeyResponse *response, struct err *err)
{
    struct key_request wanted = {
        .name = request->name,
        .scopes = (const char *const *)request->scopes,
        .scope_count = request->n_scopes,
        .seller = request->seller,
        .client = request->client,
    };
    char text[KEY_TEXT_LENGTH + 1];
    struct key key;
    int rc;

    rc = timestamp_us(request->expire_time, &wanted.expires_us, err);
    if (rc) {
        violations_add(asker->violations, "expire_time", "%s", err->text);
        return rc;
    }
    rc = keys_create(asker->store, &wanted, asker->principal, asker->now_us, asker->violations,
                     &key, text, err);
    if (rc)
        return rc;
    response->key = key_message(&key, asker->arena);
    response->secret = arena_strdup(asker->arena, text);
    return 0;
}

int key_service_list(const struct asker *asker, const Torg__V1__ListKeysRequest *request,
                     Torg__V1__ListKeysResponse *response, struct err *err)
{
    size_t max = request->page_size ? (size_t)request->page_size : KEY_PAGE_COUNT;
    struct key *keys;
    size_t found;
    size_t count;
    int rc;

    if (request->page_size < 0 || request->page_size > KEY_PAGE_COUNT) {
        violations_add(asker->violations, "page_size", "expected 0 to %d", KEY_PAGE_COUNT);
        return err_set(err, ERR_INVALID, "page_size: expected 0 to %d", KEY_PAGE_COUNT);
    }
    /* One more than is shown tells whether there is another page. */
    rc = keys_list(asker->store, request->page_token, max + 1, asker->arena, &keys, &found, err);
    if (rc)
        return rc;
    count = found < max ? found : max;
    response->keys = arena_array(asker->arena, count ? count : 1, sizeof(response->keys[0]));
    for (size_t i = 0; i < count; i++)
        response->keys[i] = key_message(&keys[i], asker->arena);
    response->n_keys = count;
    if (found > max)
        response->next_page_token = response->keys[count - 1]->id;
    return 0;
}

int key_service_revoke(const struct asker *asker, const Torg__V1__RevokeKeyRequest *request,
                       Torg__V1__Key *response, struct err *err)
{
    struct key key;
    int rc = keys_revoke(asker->store, request->id, asker->principal, asker->now_us, &key, err);

    if (!rc)
        put_key(response, &key, asker->arena);
    return rc;
}

/* --- handlers --- */

/* This process refuses a revoked key, and takes a new one, from its answer on. The change is made
 * in any case: should the reading fail (which is logged) the ring's thread will try again. */
static void refresh(struct call *call)
{
    const struct process *process = call_context(call);

    key_ring_refresh(process->ring, NULL);
}

static int create_key(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    struct violations violations;
    const struct asker asker = asker_of(call, &violations);
    int rc = key_service_create(&asker, (const Torg__V1__CreateKeyRequest *)request,
                                (Torg__V1__CreateKeyResponse *)response, err);

    asker_tell(call, &violations);
    if (!rc)
        refresh(call);
    return rc;
}

static int list_keys(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                     struct err *err)
{
    struct violations violations;
    const struct asker asker = asker_of(call, &violations);
    int rc = key_service_list(&asker, (const Torg__V1__ListKeysRequest *)request,
                              (Torg__V1__ListKeysResponse *)response, err);

    asker_tell(call, &violations);
    return rc;
}

static int revoke_key(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    struct violations violations;
    const struct asker asker = asker_of(call, &violations);
    int rc = key_service_revoke(&asker, (const Torg__V1__RevokeKeyRequest *)request,
                                (Torg__V1__Key *)response, err);

    if (!rc)
        refresh(call);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "CreateKey", .unary = create_key, .scope = "admin"},
    {.name = "ListKeys", .unary = list_keys, .scope = "admin"},
    {.name = "RevokeKey", .unary = revoke_key, .scope = "admin"},
};

struct rpc_service key_service(struct process *process)
{
    return (struct rpc_service){
        .descriptor = &torg__v1__key_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = process,
    };
}
