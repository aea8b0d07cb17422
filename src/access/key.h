/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - an API key: what its holder shows, and what we keep of it.
 *
 * The holder has `torg_<id>_<secret>`: the id (10 characters) finds the row, the secret
 * (43 characters, 256 random bits) proves it. We keep SHA-256 of the whole text: the secret has too
 * many bits to be guessed from it, so a slow password hash would only cost time on every call.
 * The fixed beginning lets scanners of leaked secrets recognise it.
 */
#ifndef TORG_ACCESS_KEY_H
#define TORG_ACCESS_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "model/identity.h"

enum {
    KEY_ID_LENGTH = 10,
    KEY_SECRET_LENGTH = 43, /* 62^43 > 2^256 */
    KEY_TEXT_LENGTH = 5 + KEY_ID_LENGTH + 1 + KEY_SECRET_LENGTH,
    KEY_HASH_SIZE = 32,
};

struct key {
    char id[KEY_ID_LENGTH + 1];
    char name[IDENTITY_NAME_SIZE];
    char scopes[IDENTITY_SCOPES_SIZE]; /* separated by blanks */
    char seller[IDENTITY_NAME_SIZE];   /* "" = bound to none */
    char client[IDENTITY_NAME_SIZE];
    int64_t created_us;
    int64_t expires_us; /* 0 = never */
    int64_t revoked_us; /* 0 = not */
    uint8_t hash[KEY_HASH_SIZE];
};

/* Makes a new id and secret: sets key->id and key->hash, and writes what the holder gets. */
void key_generate(struct key *key, char text[KEY_TEXT_LENGTH + 1]);

/* Takes a shown key apart; false when it has not the form of one. */
bool key_parse(struct bytes text, char id[KEY_ID_LENGTH + 1], uint8_t hash[KEY_HASH_SIZE]);

/* In a time that does not depend on where they differ. */
bool key_hash_equal(const uint8_t a[KEY_HASH_SIZE], const uint8_t b[KEY_HASH_SIZE]);

#endif
