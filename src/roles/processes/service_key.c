/* SPDX-License-Identifier: Apache-2.0 */
/* service_key.c - torg.v1.KeyService: messages in, messages out; the work is access/keys.h's. */
#include <string.h>

#include "access/bounds.h"
#include "access/keys.h"
#include "base/memory.h"
#include "base/violation.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "roles/processes/service.h"

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
    message->create_time = moment_or_none(key->created_us, arena);
    message->expire_time = moment_or_none(key->expires_us, arena);
    message->revoke_time = moment_or_none(key->revoked_us, arena);
    put_scopes(message, key->scopes, arena);
}

static Torg__V1__Key *key_message(const struct key *key, struct arena *arena)
{
    Torg__V1__Key *message = MESSAGE_NEW(key, arena);

    put_key(message, key, arena);
    return message;
}

/* --- handlers --- */

/* This process refuses a revoked key, and takes a new one, from its answer on. The change is made
 * in any case: should the reading fail (which is logged) the ring's thread will try again. */
static void refresh(const struct process *process)
{
    if (process->ring) /* a command's process has none */
        key_ring_refresh(process->ring, NULL);
}

static int create_key(struct call *call, const ProtobufCMessage *message,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__CreateKeyRequest *request = (const Torg__V1__CreateKeyRequest *)message;
    Torg__V1__CreateKeyResponse *answer = (Torg__V1__CreateKeyResponse *)response;
    const struct process *process = call_context(call);
    struct violations violations = violations_in(call_arena(call));
    struct key_request wanted = {
        .name = request->name,
        .scopes = (const char *const *)request->scopes,
        .scope_count = request->n_scopes,
        .seller = request->seller,
        .client = request->client,
    };
    char text[KEY_TEXT_LENGTH + 1];
    struct key key;
    int rc = timestamp_us(request->expire_time, &wanted.expires_us, err);

    if (rc) {
        call_violation(call, "expire_time", "%s", err->text);
        return rc;
    }
    rc = keys_create(process->backends.store, &wanted, call_actor(call),
                     clock_wall_us(process->clock), &violations, &key, text, err);
    call_violations(call, &violations);
    if (rc)
        return rc;
    answer->key = key_message(&key, call_arena(call));
    answer->secret = arena_strdup(call_arena(call), text);
    refresh(process);
    return 0;
}

static int list_keys(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *response,
                     struct err *err)
{
    const Torg__V1__ListKeysRequest *request = (const Torg__V1__ListKeysRequest *)message;
    Torg__V1__ListKeysResponse *answer = (Torg__V1__ListKeysResponse *)response;
    size_t max = request->page_size ? (size_t)request->page_size : KEY_PAGE_COUNT;
    const struct process *process = call_context(call);
    struct arena *arena = call_arena(call);
    struct key *keys;
    size_t found;
    size_t count;
    int rc;

    if (request->page_size < 0 || request->page_size > KEY_PAGE_COUNT)
        return call_invalid(call, err, "page_size", "expected 0 to %d", KEY_PAGE_COUNT);
    /* One more than is shown tells whether there is another page. */
    rc =
        keys_list(process->backends.store, request->page_token, max + 1, arena, &keys, &found, err);
    if (rc)
        return rc;
    count = found < max ? found : max;
    answer->keys = arena_array(arena, count ? count : 1, sizeof(answer->keys[0]));
    for (size_t i = 0; i < count; i++)
        answer->keys[i] = key_message(&keys[i], arena);
    answer->n_keys = count;
    if (found > max)
        answer->next_page_token = answer->keys[count - 1]->id;
    return 0;
}

static int revoke_key(struct call *call, const ProtobufCMessage *message,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__RevokeKeyRequest *request = (const Torg__V1__RevokeKeyRequest *)message;
    const struct process *process = call_context(call);
    struct key key;
    int rc = keys_revoke(process->backends.store, request->id, call_actor(call),
                         clock_wall_us(process->clock), &key, err);

    if (rc)
        return rc;
    put_key((Torg__V1__Key *)response, &key, call_arena(call));
    refresh(process);
    return 0;
}

static int rotate_key(struct call *call, const ProtobufCMessage *message,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__RotateKeyRequest *request = (const Torg__V1__RotateKeyRequest *)message;
    Torg__V1__CreateKeyResponse *answer = (Torg__V1__CreateKeyResponse *)response;
    const struct process *process = call_context(call);
    char text[KEY_TEXT_LENGTH + 1];
    int64_t old_ends_us = 0;
    struct key key;
    int rc = timestamp_us(request->old_end_time, &old_ends_us, err);

    if (rc) {
        call_violation(call, "old_end_time", "%s", err->text);
        return rc;
    }
    rc = keys_rotate(process->backends.store, request->id, old_ends_us, call_actor(call),
                     clock_wall_us(process->clock), call_arena(call), &key, text, err);
    if (rc)
        return rc;
    answer->key = key_message(&key, call_arena(call));
    answer->secret = arena_strdup(call_arena(call), text);
    refresh(process);
    return 0;
}

static const struct rpc_method methods[] = {
    {.name = "CreateKey", .unary = create_key, .scope = "admin"},
    {.name = "ListKeys", .unary = list_keys, .scope = "admin"},
    {.name = "RevokeKey", .unary = revoke_key, .scope = "admin"},
    {.name = "RotateKey", .unary = rotate_key, .scope = "admin"},
};

struct rpc_service key_service(struct process *process)
{
    return RPC_SERVICE(key, methods, process);
}
