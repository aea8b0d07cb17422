/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of access/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_ACCESS_BOUNDS_H
#define TORG_ACCESS_BOUNDS_H

enum {
    KEY_COUNT_MAX = 50000,    /* all are held in memory, about 600 bytes each */
    KEY_PAGE_COUNT = 500,     /* rows read at a time */
    KEY_REFRESH_MS = 500,     /* a revocation elsewhere is known here within a second */
    KEY_STALE_MS_MAX = 60000, /* a store silent for longer: stored keys are refused */
    KEY_STALE_SEARCH_MS_MAX = 3600 * 1000, /* those that can only search; buyers go on by them */
    KEY_TEMPORARY_COUNT_MAX = 4,           /* the start key, the operators' key */
    KEY_SECRETS_COUNT_MAX = 2, /* keys in use of one name: the new one, and the one it replaces */
    KEY_FAILURES_TELL_MS = 60 * 1000, /* refused credentials are counted into one row per minute */
    JWT_SIZE_MAX = 8 << 10,           /* of a token: half of what a head may have */
    JWT_CACHE_COUNT = 4096,           /* checked tokens that are remembered; about 600 bytes each */
    JWK_ID_SIZE_MAX = 128,            /* of a key's name (kid) */
    JWKS_COUNT_MAX = 32,              /* keys of an issuer; a rotation has two or three */
    JWKS_SIZE_MAX = 256 << 10,        /* bytes of a set of keys */
    JWKS_LOOK_MS = 1000,              /* a file is looked at so often */
    JWKS_FETCH_MS = 300 * 1000,       /* an address is asked so often ... */
    JWKS_HURRY_MS = 10 * 1000,        /* ... or so, while tokens name keys that are not known */
    JWKS_STALE_MS_MAX = 24 * 3600 * 1000, /* an address silent for longer: tokens are refused */
    AUDIT_PAGE_COUNT = 1000,              /* entries that a verification reads at a time */
};

#endif
