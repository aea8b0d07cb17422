/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: tokens and sets of keys. The first byte chooses: '0' the input is a set, '1' a whole
 * token, '2' the claims of one that is signed well, '3' its head.
 */
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "access/jwt.h"
#include "access/scope.h"
#include "base/buf.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static EVP_PKEY *key;
static struct jwks set = {.count = 1, .keys = {{.id = "d", .algorithm = JWT_EDDSA}}};
static const struct jwt_rules rules = {
    .issuer = "i", .audience = "a", .seller_claim = "seller", .skew_us = 0};

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void put_base64url(struct buf *out, struct bytes bytes)
{
    size_t start = out->size;

    text_put_base64(out, bytes);
    while (out->size > start && out->data[out->size - 1] == '=')
        buf_truncate(out, out->size - 1);
    for (size_t i = start; i < out->size; i++)
        out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
}

static void sign(struct bytes head, struct bytes claims, struct buf *out)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t signature[64];
    size_t size = sizeof(signature);

    put_base64url(out, head);
    buf_put_text(out, ".");
    put_base64url(out, claims);
    require(EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
            EVP_DigestSign(ctx, signature, &size, out->data, out->size) == 1);
    EVP_MD_CTX_free(ctx);
    buf_put_text(out, ".");
    put_base64url(out, bytes_make(signature, size));
}

/* Nobody is let in without a name, a seller and an end; nobody gets a scope of the site. */
static void check(struct bytes text)
{
    struct identity identity;
    int64_t ends_us;
    struct err err;

    if (jwt_check(&set, &rules, text, 1, &identity, &ends_us, &err)) {
        require(err.code == ERR_UNAUTHENTICATED || err.code == ERR_NOT_FOUND);
        require(!*identity.principal && !*identity.seller && !*identity.scopes);
        return;
    }
    require(identity_is_name(bytes_of(identity.seller)) && *identity.principal && ends_us > 1);
    require(!*identity.client && !strchr(identity.principal, '#') && !strchr(identity.key, '#'));
    require(!scopes_keep_bound(identity.scopes, SCOPE_OF_SELLER));
}

static void check_signed(struct bytes head, struct bytes claims)
{
    struct buf token = BUF_INIT(1 << 20);

    sign(head, claims, &token);
    check(buf_bytes(&token));
    buf_release(&token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_make(data + 1, size ? size - 1 : 0);
    struct jwks *made;
    struct err err;

    if (!key) {
        key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, (const uint8_t[32]){7}, 32);
        set.keys[0].key = key;
    }
    if (!size || size > 16 << 10)
        return 0;
    if (data[0] == '0') {
        if (!jwks_parse(input, &made, &err))
            require(made->count && made->count <= JWKS_COUNT_MAX);
        jwks_free(made);
    } else if (data[0] == '1') {
        check(input);
    } else if (data[0] == '2') {
        check_signed(bytes_of("{\"alg\":\"EdDSA\",\"kid\":\"d\"}"), input);
    } else {
        check_signed(input, bytes_of("{\"iss\":\"i\",\"aud\":\"a\",\"exp\":9,\"seller\":\"s\"}"));
    }
    return 0;
}
