/* SPDX-License-Identifier: Apache-2.0 */
/* jwks.c - see jwks.h. */
#include "access/jwks.h"

#include <assert.h>
#include <jansson.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

enum {
    RSA_BITS_MIN = 2048,
    RSA_SIZE_MAX = 1024, /* bytes of a modulus: 8192 bits */
    EC_SIZE = 32,        /* of a coordinate of P-256 */
    ED_SIZE = 32,
};

bool jose_bytes(struct bytes text, size_t max, struct arena *arena, struct bytes *bytes)
{
    struct buf out = BUF_INIT(max);
    bool good = true;

    for (size_t i = 0; i < text.size && good; i++) /* of the other alphabet, or padding */
        good = text.data[i] != '+' && text.data[i] != '/' && text.data[i] != '=';
    good = good && text_from_base64(text, &out);
    *bytes = good ? arena_copy(arena, buf_bytes(&out)) : BYTES_EMPTY;
    buf_release(&out);
    return good;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

/* The bytes of a base64url member; exact: their number, 0 = up to max. */
static bool bytes_member(const json_t *object, const char *name, size_t exact, size_t max,
                         struct arena *arena, struct bytes *bytes)
{
    const char *text = text_of(object, name);

    return *text && jose_bytes(bytes_of(text), max, arena, bytes) && bytes->size &&
           (!exact || bytes->size == exact);
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *builder)
{
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;

    if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *rsa_key(const json_t *object, struct arena *arena)
{
    OSSL_PARAM_BLD *builder;
    EVP_PKEY *key = NULL;
    struct bytes n;
    struct bytes e;
    BIGNUM *modulus;
    BIGNUM *exponent;

    if (!bytes_member(object, "n", 0, RSA_SIZE_MAX, arena, &n) ||
        !bytes_member(object, "e", 0, 8, arena, &e))
        return NULL;
    modulus = BN_bin2bn(n.data, (int)n.size, NULL);
    exponent = BN_bin2bn(e.data, (int)e.size, NULL);
    builder = OSSL_PARAM_BLD_new();
    if (modulus && exponent && builder && BN_num_bits(modulus) >= RSA_BITS_MIN &&
        BN_is_odd(exponent) && !BN_is_one(exponent) &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent))
        key = make_key("RSA", builder);
    OSSL_PARAM_BLD_free(builder);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

static EVP_PKEY *ec_key(const json_t *object, struct arena *arena)
{
    uint8_t point[1 + 2 * EC_SIZE] = {4}; /* uncompressed */
    OSSL_PARAM_BLD *builder;
    EVP_PKEY *key = NULL;
    struct bytes x;
    struct bytes y;

    if (strcmp(text_of(object, "crv"), "P-256") != 0 ||
        !bytes_member(object, "x", EC_SIZE, EC_SIZE, arena, &x) ||
        !bytes_member(object, "y", EC_SIZE, EC_SIZE, arena, &y))
        return NULL;
    memcpy(point + 1, x.data, EC_SIZE);
    memcpy(point + 1 + EC_SIZE, y.data, EC_SIZE);
    builder = OSSL_PARAM_BLD_new();
    if (builder &&
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)))
        key = make_key("EC", builder); /* a point that is not on the curve is refused there */
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static EVP_PKEY *ed_key(const json_t *object, struct arena *arena)
{
    struct bytes x;

    if (strcmp(text_of(object, "crv"), "Ed25519") != 0 ||
        !bytes_member(object, "x", ED_SIZE, ED_SIZE, arena, &x))
        return NULL;
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x.data, x.size);
}

static const struct kind {
    const char *type;
    const char *algorithm;
    EVP_PKEY *(*make)(const json_t *object, struct arena *arena);
} kinds[JWT_ALGORITHM_COUNT] = {
    [JWT_RS256] = {"RSA", "RS256", rsa_key},
    [JWT_ES256] = {"EC", "ES256", ec_key},
    [JWT_EDDSA] = {"OKP", "EdDSA", ed_key},
};

/* NULL: it is none that we can use. */
static EVP_PKEY *read_key(const json_t *object, enum jwt_algorithm *algorithm, struct arena *arena)
{
    const char *type = text_of(object, "kty");
    const char *use = text_of(object, "use");
    const char *wanted = text_of(object, "alg");

    if (*use && strcmp(use, "sig") != 0)
        return NULL;
    for (int i = 0; i < JWT_ALGORITHM_COUNT; i++) {
        if (strcmp(type, kinds[i].type) == 0 &&
            (!*wanted || strcmp(wanted, kinds[i].algorithm) == 0)) {
            *algorithm = (enum jwt_algorithm)i;
            return kinds[i].make(object, arena);
        }
    }
    return NULL;
}

static void add_key(struct jwks *set, const json_t *object, struct arena *arena)
{
    const char *id = text_of(object, "kid");
    struct jwk *jwk = &set->keys[set->count];

    if (!json_is_object(object) || set->count == JWKS_COUNT_MAX || strlen(id) > JWK_ID_SIZE_MAX)
        return;
    jwk->key = read_key(object, &jwk->algorithm, arena);
    ERR_clear_error();
    if (!jwk->key)
        return;
    snprintf(jwk->id, sizeof(jwk->id), "%s", id);
    set->count++;
}

int jwks_parse(struct bytes json, struct jwks **set, struct err *err)
{
    json_error_t why;
    json_t *root = json_loadb((const char *)json.data, json.size, JSON_REJECT_DUPLICATES, &why);
    const json_t *keys = json_object_get(root, "keys");
    struct arena *arena = arena_new();
    struct jwks *made = mem_zero(sizeof(*made));
    int rc = 0;

    *set = NULL;
    for (size_t i = 0; i < json_array_size(keys); i++)
        add_key(made, json_array_get(keys, i), arena);
    if (!root)
        rc = err_set(err, ERR_INVALID, "the set of keys is not JSON: line %d", why.line);
    else if (!json_is_array(keys))
        rc = err_set(err, ERR_INVALID, "the set of keys has no list \"keys\"");
    else if (!made->count)
        rc = err_set(err, ERR_INVALID,
                     "the set has no key that can be used: expected RSA of %d bits or more, EC "
                     "P-256 or Ed25519, for signatures",
                     RSA_BITS_MIN);
    json_decref(root);
    arena_free(arena);
    if (rc)
        jwks_free(made);
    else
        *set = made;
    return rc;
}

void jwks_free(struct jwks *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        EVP_PKEY_free(set->keys[i].key);
    free(set);
}

const struct jwk *jwks_find(const struct jwks *set, const char *id, enum jwt_algorithm algorithm)
{
    const struct jwk *found = NULL;

    for (size_t i = 0; i < set->count; i++) {
        const struct jwk *jwk = &set->keys[i];

        if (jwk->algorithm != algorithm || (*id && strcmp(jwk->id, id) != 0))
            continue;
        if (found)
            return NULL;
        found = jwk;
    }
    return found;
}
