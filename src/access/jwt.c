/* SPDX-License-Identifier: Apache-2.0 */
/* jwt.c - see jwt.h. */
#include "access/jwt.h"

#include <ctype.h>
#include <jansson.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "access/scope.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"

#define SECONDS_MAX 253402300800.0 /* the year 10 000: of microseconds there are more */

struct token {
    struct bytes signed_part; /* header and claims, as they stand */
    struct bytes signature;
    json_t *header; /* owned */
    json_t *claims; /* owned */
    const struct jwk *jwk;
};

static int refuse(struct err *err, const char *reason)
{
    return err_set(err, ERR_UNAUTHENTICATED, "the token is refused: %s", reason);
}

/* --- its form --- */

static bool cut(struct bytes *text, struct bytes *part)
{
    const uint8_t *dot = text->size ? memchr(text->data, '.', text->size) : NULL;

    if (!dot)
        return false;
    *part = bytes_make(text->data, (size_t)(dot - text->data));
    *text = bytes_skip(*text, part->size + 1);
    return true;
}

static bool cut_all(struct bytes text, struct bytes parts[3])
{
    if (text.size > JWT_SIZE_MAX || !cut(&text, &parts[0]) || !cut(&text, &parts[1]))
        return false;
    parts[2] = text;
    return parts[0].size && parts[1].size && parts[2].size && !memchr(text.data, '.', text.size);
}

bool jwt_is_one(struct bytes text)
{
    struct bytes parts[3];

    return cut_all(text, parts);
}

static json_t *read_object(struct bytes part, struct arena *arena)
{
    struct bytes json;
    json_t *object;

    if (!jose_bytes(part, JWT_SIZE_MAX, arena, &json))
        return NULL;
    object = json_loadb((const char *)json.data, json.size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(object))
        return object;
    json_decref(object);
    return NULL;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

/* --- its signature --- */

static bool find_algorithm(const char *name, enum jwt_algorithm *algorithm)
{
    static const char *const names[JWT_ALGORITHM_COUNT] = {
        [JWT_RS256] = "RS256", [JWT_ES256] = "ES256", [JWT_EDDSA] = "EdDSA"};

    for (int i = 0; i < JWT_ALGORITHM_COUNT; i++) {
        *algorithm = (enum jwt_algorithm)i;
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static int check_header(struct token *token, const struct jwks *set, struct err *err)
{
    const char *type = text_of(token->header, "typ");
    enum jwt_algorithm algorithm;

    if (!find_algorithm(text_of(token->header, "alg"), &algorithm))
        return refuse(err, "it is not signed by RS256, ES256 or EdDSA");
    if (json_object_get(token->header, "crit"))
        return refuse(err, "it has extensions that must be understood, and none is");
    if (*type && strcasecmp(type, "JWT") != 0 && strcasecmp(type, "at+jwt") != 0)
        return refuse(err, "its type is not JWT");
    token->jwk = jwks_find(set, text_of(token->header, "kid"), algorithm);
    if (!token->jwk)
        return err_set(err, ERR_NOT_FOUND, "the token is refused: its key is not known here");
    return 0;
}

/* ES256 signs as two numbers of 32 bytes (RFC 7518, 3.4), OpenSSL wants them in DER. */
static bool make_der(struct bytes raw, uint8_t *der, size_t *size)
{
    ECDSA_SIG *signature;
    BIGNUM *r;
    BIGNUM *s;
    int made;

    if (raw.size != 64)
        return false;
    signature = ECDSA_SIG_new();
    r = BN_bin2bn(raw.data, 32, NULL);
    s = BN_bin2bn(raw.data + 32, 32, NULL);
    if (!signature || !r || !s || !ECDSA_SIG_set0(signature, r, s))
        abort(); /* out of memory */
    made = i2d_ECDSA_SIG(signature, &der);
    ECDSA_SIG_free(signature);
    *size = made > 0 ? (size_t)made : 0;
    return made > 0;
}

static bool is_signed(const struct token *token)
{
    const EVP_MD *digest = token->jwk->algorithm == JWT_EDDSA ? NULL : EVP_sha256();
    struct bytes signature = token->signature;
    uint8_t der[80]; /* two numbers of 33 bytes at most, and their heads */
    size_t der_size;
    EVP_MD_CTX *ctx;
    bool good;

    if (token->jwk->algorithm == JWT_ES256) {
        if (!make_der(signature, der, &der_size))
            return false;
        signature = bytes_make(der, der_size);
    }
    ctx = EVP_MD_CTX_new();
    good = ctx && EVP_DigestVerifyInit(ctx, NULL, digest, NULL, token->jwk->key) == 1 &&
           EVP_DigestVerify(ctx, signature.data, signature.size, token->signed_part.data,
                            token->signed_part.size) == 1;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return good;
}

/* --- its claims --- */

/* Seconds since 1970, with or without a fraction. */
static bool time_of(const json_t *claims, const char *name, int64_t *us)
{
    const json_t *value = json_object_get(claims, name);
    double seconds = json_number_value(value);

    if (!json_is_number(value) || !(seconds >= 0 && seconds < SECONDS_MAX))
        return false;
    *us = (int64_t)(seconds * SECOND_US);
    return true;
}

static int check_times(const json_t *claims, const struct jwt_rules *rules, int64_t now_us,
                       int64_t *ends_us, struct err *err)
{
    int64_t at_us;

    if (!time_of(claims, "exp", ends_us))
        return refuse(err, "it has no time at which it ends (exp)");
    *ends_us += rules->skew_us;
    if (*ends_us <= now_us)
        return refuse(err, "it has expired (exp)");
    if (json_object_get(claims, "nbf") &&
        (!time_of(claims, "nbf", &at_us) || at_us > now_us + rules->skew_us))
        return refuse(err, "it is not valid yet (nbf)");
    if (json_object_get(claims, "iat") &&
        (!time_of(claims, "iat", &at_us) || at_us > now_us + rules->skew_us))
        return refuse(err, "it was made in the future (iat)");
    return 0;
}

static bool is_for(const json_t *claims, const char *audience)
{
    const json_t *told = json_object_get(claims, "aud");
    const char *one;

    if (json_is_string(told))
        return strcmp(json_string_value(told), audience) == 0;
    for (size_t i = 0; i < json_array_size(told); i++) {
        one = json_string_value(json_array_get(told, i));
        if (one && strcmp(one, audience) == 0)
            return true;
    }
    return false;
}

/* Into names of ours: what else is in it becomes '_'. */
static void put_name(char *to, size_t size, const char *text)
{
    size_t i;

    for (i = 0; text[i] && i + 1 < size; i++)
        to[i] = (char)(isascii((unsigned char)text[i]) &&
                               (isalnum((unsigned char)text[i]) || strchr("._-@:", text[i]))
                           ? text[i]
                           : '_');
    to[i] = 0;
}

static void add_scope(const char *text, size_t size, struct buf *out)
{
    for (size_t i = 0; i < scope_count; i++) {
        const struct scope *scope = &scope_table[i];

        if (scope->bindings & SCOPE_OF_SELLER && strlen(scope->name) == size &&
            memcmp(scope->name, text, size) == 0)
            buf_printf(out, "%s%s", out->size ? " " : "", scope->name);
    }
}

/* Those that a seller may have; others are for somebody else. "scope" is one text with blanks (RFC
 * 8693), some say a list. */
static bool put_scopes(const json_t *claims, char scopes[IDENTITY_SCOPES_SIZE])
{
    const json_t *told = json_object_get(claims, "scope");
    struct buf out = BUF_INIT(IDENTITY_SCOPES_SIZE - 1);
    const char *at = json_is_string(told) ? json_string_value(told) : "";
    bool fits;

    while (*at) {
        size_t size = strcspn(at, " ");

        add_scope(at, size, &out);
        at += size;
        at += strspn(at, " ");
    }
    for (size_t i = 0; i < json_array_size(told); i++) {
        const char *one = json_string_value(json_array_get(told, i));

        if (one)
            add_scope(one, strlen(one), &out);
    }
    fits = !buf_failed(&out);
    if (fits)
        memcpy(scopes, buf_text(&out), out.size + 1);
    buf_release(&out);
    return fits;
}

static int check_claims(const struct token *token, const struct jwt_rules *rules,
                        struct identity *identity, struct err *err)
{
    const char *seller = text_of(token->claims, rules->seller_claim);
    const char *subject = text_of(token->claims, "sub");
    char key[IDENTITY_KEY_SIZE - 4];

    if (strcmp(text_of(token->claims, "iss"), rules->issuer) != 0)
        return refuse(err, "somebody else issued it (iss)");
    if (!is_for(token->claims, rules->audience))
        return refuse(err, "it is meant for somebody else (aud)");
    if (!identity_is_name(bytes_of(seller)))
        return err_set(err, ERR_UNAUTHENTICATED,
                       "the token is refused: its claim %s names no seller, in 1 to %d letters, "
                       "digits, and . _ - @",
                       rules->seller_claim, IDENTITY_NAME_SIZE - 1);
    if (!put_scopes(token->claims, identity->scopes))
        return refuse(err, "it repeats the same scopes");
    snprintf(identity->seller, sizeof(identity->seller), "%s", seller);
    put_name(identity->principal, sizeof(identity->principal), *subject ? subject : seller);
    put_name(key, sizeof(key), token->jwk->id);
    snprintf(identity->key, sizeof(identity->key), "jwt:%s", key);
    return 0;
}

/* --- all of it --- */

static int open_token(struct bytes text, const struct jwks *set, struct arena *arena,
                      struct token *token, struct err *err)
{
    struct bytes parts[3];
    int rc;

    if (!cut_all(text, parts))
        return refuse(err, "it does not have the form of a token");
    token->signed_part = bytes_make(text.data, parts[0].size + 1 + parts[1].size);
    token->header = read_object(parts[0], arena);
    if (!token->header || !jose_bytes(parts[2], JWT_SIZE_MAX, arena, &token->signature))
        return refuse(err, "it does not have the form of a token");
    rc = check_header(token, set, err);
    if (rc)
        return rc;
    if (!is_signed(token))
        return refuse(err, "its signature is wrong");
    token->claims = read_object(parts[1], arena);
    return token->claims ? 0 : refuse(err, "its claims cannot be read");
}

int jwt_check(const struct jwks *set, const struct jwt_rules *rules, struct bytes text,
              int64_t now_us, struct identity *identity, int64_t *ends_us, struct err *err)
{
    struct arena *arena = arena_new();
    struct token token = {.header = NULL};
    int rc;

    *identity = (struct identity){.principal = ""};
    *ends_us = 0;
    rc = open_token(text, set, arena, &token, err);
    if (!rc)
        rc = check_times(token.claims, rules, now_us, ends_us, err);
    if (!rc)
        rc = check_claims(&token, rules, identity, err);
    if (rc)
        *identity = (struct identity){.principal = ""};
    json_decref(token.header);
    json_decref(token.claims);
    arena_free(arena);
    return rc;
}
