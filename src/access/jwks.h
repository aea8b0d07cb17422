/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwks.h - the public keys of those who sign tokens: a JSON Web Key Set (RFC 7517), read once into
 * OpenSSL's form, so that a check of a token parses no key.
 *
 * Keys that are not for us are passed over: other types and curves, encryption, RSA below 2048
 * bits. A set without a single usable key is refused. Secrets (type oct) are never taken: a public
 * set that had one would let anybody sign.
 */
#ifndef TORG_ACCESS_JWKS_H
#define TORG_ACCESS_JWKS_H

#include <stdbool.h>
#include <stddef.h>

#include "access/bounds.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct evp_pkey_st; /* OpenSSL's EVP_PKEY */

/* What a token may be signed by; a key is for one of them, whatever the token says. */
enum jwt_algorithm { JWT_RS256, JWT_ES256, JWT_EDDSA, JWT_ALGORITHM_COUNT };

struct jwk {
    char id[JWK_ID_SIZE_MAX + 1]; /* kid; "" = none */
    enum jwt_algorithm algorithm;
    struct evp_pkey_st *key; /* owned */
};

struct jwks {
    size_t count;
    struct jwk keys[JWKS_COUNT_MAX];
};

/* The bytes of base64url without padding, as JOSE has it; false: it is none, or longer than max. */
bool jose_bytes(struct bytes text, size_t max, struct arena *arena, struct bytes *bytes);

/* On failure *set is NULL. */
int jwks_parse(struct bytes json, struct jwks **set, struct err *err);
void jwks_free(struct jwks *set); /* NULL is fine */

/* By its id; without one, the only key of the algorithm. NULL: none, or not the only one. */
const struct jwk *jwks_find(const struct jwks *set, const char *id, enum jwt_algorithm algorithm);

#endif
