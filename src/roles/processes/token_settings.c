/* SPDX-License-Identifier: Apache-2.0 */
/* token_settings.c - see token_settings.h. */
#include "roles/processes/token_settings.h"

#include <string.h>

#include "config/address.h"
#include "net/client/http_client.h"

enum { FETCH_MS = 10 * 1000 };

/* Keys that came by a wire that anybody can write to would let anybody sign. */
static bool is_safe(const char *keys)
{
    static const char plain[] = "http://";
    struct address address;
    char host[sizeof(address.host) + 16];
    const char *start = keys + strlen(plain);
    size_t size = strcspn(start, "/?#");

    if (strncmp(keys, plain, strlen(plain)) != 0)
        return true;
    if (size >= sizeof(host))
        return false;
    memcpy(host, start, size);
    host[size] = 0;
    return address_parse(host, &address) && address_is_loopback(&address);
}

static int fetch(void *arg, const char *url, struct buf *out, struct err *err)
{
    const struct http_client_request request = {
        .url = url, .timeout_ms = FETCH_MS, .response_size_max = JWKS_SIZE_MAX};
    struct http_client_response response;
    struct arena *arena = arena_new();
    int rc = http_client_send(arg, &request, arena, &response, err);

    if (!rc && response.status != 200)
        rc = err_set(err, ERR_UNAVAILABLE, "the answer has the status %d", response.status);
    if (!rc)
        buf_put(out, response.body);
    arena_free(arena);
    return rc;
}

int tokens_start(struct process *process, struct err *err)
{
    const struct config *config = process->config;
    struct tokens_options options = {
        .keys = config_text(config, SETTING_TOKENS_KEYS),
        .rules = {.issuer = config_text(config, SETTING_TOKENS_ISSUER),
                  .audience = config_text(config, SETTING_TOKENS_AUDIENCE),
                  .seller_claim = config_text(config, SETTING_TOKENS_SELLER_CLAIM),
                  .skew_us = config_number(config, SETTING_TOKENS_SKEW)},
        .clock = process->clock,
        .fetch = fetch,
    };

    if (!*options.keys)
        return 0;
    if (!*options.rules.issuer || !*options.rules.audience)
        return err_set(err, ERR_PRECONDITION,
                       "tokens.keys needs tokens.issuer and tokens.audience: a token that was made "
                       "by or for another must not open anything here");
    if (!is_safe(options.keys))
        return err_set(err, ERR_PRECONDITION,
                       "tokens.keys = \"%s\": http:// is allowed only on loopback, use https://",
                       options.keys);
    process->tokens_client = http_client_new(NULL);
    options.fetch_arg = process->tokens_client;
    return tokens_open(&options, &process->tokens, err);
}

void tokens_stop(struct process *process)
{
    tokens_close(process->tokens);
    http_client_free(process->tokens_client);
}
