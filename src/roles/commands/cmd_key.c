/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_key.c - torg key create, list, rotate, revoke. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/moment.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "roles/processes/service.h"

/* So far from now; no such option: not set. */
static int end_of(const struct invocation *invocation, const char *option, const char *example,
                  Google__Protobuf__Timestamp **end, struct err *err)
{
    const char *duration = invocation_option(invocation, option);
    int64_t life_us;
    int64_t end_us;

    if (!duration)
        return 0;
    if (!text_to_duration(bytes_of(duration), &life_us) || life_us <= 0 ||
        !int64_add(clock_wall_us(clock_system()), life_us, &end_us))
        return err_set(err, ERR_INVALID, "--%s=%.64s: expected a duration such as %s", option,
                       duration, example);
    *end = moment_or_none(end_us, invocation->arena);
    /* A time that has no JSON form would reach a server as none: a key for ever. */
    return timestamp_us(*end, &end_us, err);
}

static int build_request(const struct invocation *invocation, Torg__V1__CreateKeyRequest *request,
                         struct err *err)
{
    const char *seller = invocation_option(invocation, "seller");
    const char *client = invocation_option(invocation, "client");

    /* protobuf-c's strings are not const; nothing writes to them. */
    request->name = (char *)invocation->arguments[0];
    request->seller = (char *)(seller ? seller : "");
    request->client = (char *)(client ? client : "");
    request->scopes = arena_array(invocation->arena, ARGUMENT_COUNT_MAX, sizeof(char *));
    for (size_t i = 0; i < invocation->option_count; i++) {
        if (strcmp(invocation->options[i].name, "scope") == 0)
            request->scopes[request->n_scopes++] = (char *)invocation->options[i].value;
    }
    if (!request->n_scopes)
        return err_set(err, ERR_INVALID,
                       "torg key create needs --scope SCOPE: what the key may do; torg help key "
                       "create lists them");
    return end_of(invocation, "expires", "90d or 12h", &request->expire_time, err);
}

static void print_created(const Torg__V1__CreateKeyResponse *created)
{
    puts(created->secret);
    if (isatty(STDERR_FILENO))
        fprintf(stderr,
                "This is the only time the key is shown. Its id is %s; it is sent as\n"
                "  Authorization: Bearer %s\n",
                created->key->id, created->secret);
}

enum exit_code cmd_key_create(const struct invocation *invocation)
{
    Torg__V1__CreateKeyRequest request = TORG__V1__CREATE_KEY_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (build_request(invocation, &request, &err) ||
        desk_ask(invocation, true, &torg__v1__key_service__descriptor, "CreateKey", &request.base,
                 &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        print_created((const Torg__V1__CreateKeyResponse *)response);
    return EXIT_OK;
}

static const char *state_of(const Torg__V1__Key *key, struct arena *arena)
{
    int64_t now_s = clock_wall_us(clock_system()) / SECOND_US;

    if (key->revoke_time)
        return arena_printf(arena, "revoked %s", time_text(key->revoke_time, arena));
    if (key->expire_time)
        return arena_printf(arena, "%s %s",
                            key->expire_time->seconds <= now_s ? "expired" : "until",
                            time_text(key->expire_time, arena));
    return "valid";
}

static void print_keys(const Torg__V1__ListKeysResponse *list, struct arena *arena)
{
    if (isatty(STDOUT_FILENO))
        printf("%-10s  %-20s  %-20s  %-28s  %s\n", "ID", "NAME", "CREATED", "STATE", "SCOPES");
    for (size_t i = 0; i < list->n_keys; i++) {
        const Torg__V1__Key *key = list->keys[i];

        printf("%-10s  %-20s  %-20s  %-28s ", key->id, key->name,
               time_text(key->create_time, arena), state_of(key, arena));
        for (size_t j = 0; j < key->n_scopes; j++)
            printf(" %s", key->scopes[j]);
        if (*key->seller)
            printf(" seller=%s", key->seller);
        if (*key->client)
            printf(" client=%s", key->client);
        putchar('\n');
    }
}

/* Adds the page's keys to those of the pages before. */
static void add_page(Torg__V1__ListKeysResponse *all, const Torg__V1__ListKeysResponse *page,
                     struct arena *arena)
{
    size_t count = all->n_keys + page->n_keys;
    Torg__V1__Key **keys = arena_array(arena, count ? count : 1, sizeof(keys[0]));

    for (size_t i = 0; i < count; i++)
        keys[i] = i < all->n_keys ? all->keys[i] : page->keys[i - all->n_keys];
    all->keys = keys;
    all->n_keys = count;
}

enum exit_code cmd_key_list(const struct invocation *invocation)
{
    Torg__V1__ListKeysRequest request = TORG__V1__LIST_KEYS_REQUEST__INIT;
    Torg__V1__ListKeysResponse all = TORG__V1__LIST_KEYS_RESPONSE__INIT;
    const Torg__V1__ListKeysResponse *page;
    ProtobufCMessage *response;
    struct desk desk;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (desk_open(invocation, false, &desk, &err))
        return fail(&err);
    do {
        rc = desk_call(&desk, &torg__v1__key_service__descriptor, "ListKeys", &request.base,
                       &response, &err);
        if (rc)
            break;
        page = (const Torg__V1__ListKeysResponse *)response;
        add_page(&all, page, invocation->arena);
        request.page_token = page->next_page_token;
    } while (*request.page_token);
    desk_close(&desk);
    if (rc)
        return fail(&err);
    if (invocation->json)
        print_json(&all.base);
    else
        print_keys(&all, invocation->arena);
    return EXIT_OK;
}

enum exit_code cmd_key_rotate(const struct invocation *invocation)
{
    Torg__V1__RotateKeyRequest request = TORG__V1__ROTATE_KEY_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.id = (char *)invocation->arguments[0];
    if (!invocation_option(invocation, "old-ends"))
        err_set(
            &err, ERR_INVALID,
            "torg key rotate needs --old-ends DURATION: how long the old key stays valid, such as "
            "24h");
    else if (!end_of(invocation, "old-ends", "24h or 7d", &request.old_end_time, &err) &&
             !desk_ask(invocation, false, &torg__v1__key_service__descriptor, "RotateKey",
                       &request.base, &response, &err)) {
        if (invocation->json)
            print_json(response);
        else
            print_created((const Torg__V1__CreateKeyResponse *)response);
        return EXIT_OK;
    }
    return fail(&err);
}

enum exit_code cmd_key_revoke(const struct invocation *invocation)
{
    Torg__V1__RevokeKeyRequest request = TORG__V1__REVOKE_KEY_REQUEST__INIT;
    ProtobufCMessage *response;
    const Torg__V1__Key *key;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.id = (char *)invocation->arguments[0];
    if (desk_ask(invocation, false, &torg__v1__key_service__descriptor, "RevokeKey", &request.base,
                 &response, &err))
        return fail(&err);
    key = (const Torg__V1__Key *)response;
    if (invocation->json)
        print_json(response);
    else
        printf("key %s (%s) is revoked\n", key->id, key->name);
    return EXIT_OK;
}
