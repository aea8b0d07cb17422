/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt.h - a seller's token: a JSON Web Token that somebody we trust has signed (RFC 7519, 7515).
 *
 *   base64url(header) . base64url(claims) . base64url(signature)
 *   {"alg":"ES256","kid":"k1"}
 * {"iss":…,"aud":…,"exp":…,"sub":…,"seller":"s-17","scope":"offers.read"}
 *
 * The algorithm is the key's (RS256, ES256, EdDSA), the token has to agree; "none" and secrets do
 * not exist here. The signature is checked before a claim is looked at. iss, aud, exp and the
 * seller must be there; nbf and iat are looked at when they are. A token is bound to its seller and
 * gets of its scopes those that a seller may have.
 *
 * Threads: any; nothing is waited for.
 */
#ifndef TORG_ACCESS_JWT_H
#define TORG_ACCESS_JWT_H

#include <stdint.h>

#include "access/jwks.h"
#include "base/bytes.h"
#include "base/err.h"
#include "model/identity.h"

struct jwt_rules {
    const char *issuer;
    const char *audience;
    const char *seller_claim;
    int64_t skew_us; /* that the issuer's clock may be off */
};

/* Whether the text has the form of a token: three parts. */
bool jwt_is_one(struct bytes text);

/* ERR_UNAUTHENTICATED with the reason; ERR_NOT_FOUND: it names a key that is not in the set, which
 * may be older than the key. *ends_us: from then on it is not good any more. */
int jwt_check(const struct jwks *set, const struct jwt_rules *rules, struct bytes text,
              int64_t now_us, struct identity *identity, int64_t *ends_us, struct err *err);

#endif
