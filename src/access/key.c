/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - see key.h. */
#include "access/key.h"

#include <assert.h>
#include <ctype.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "access/digest.h"
#include "base/random.h"

static const char prefix[] = "torg_";
static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

enum { LETTER_COUNT = sizeof(letters) - 1, FAIR_BYTES = 256 - 256 % LETTER_COUNT };

/* Bytes past the last whole multiple of 62 are drawn again, so every letter is as likely. */
static void put_letters(char *to, size_t count)
{
    size_t done = 0;

    while (done < count) {
        uint8_t random[64];

        random_fill(random, sizeof(random));
        for (size_t i = 0; i < sizeof(random) && done < count; i++) {
            if (random[i] < FAIR_BYTES)
                to[done++] = letters[random[i] % LETTER_COUNT];
        }
        OPENSSL_cleanse(random, sizeof(random));
    }
}

_Static_assert((int)KEY_HASH_SIZE == (int)DIGEST_SIZE, "a key's hash is its digest");

void key_generate(struct key *key, char text[KEY_TEXT_LENGTH + 1])
{
    char secret[KEY_SECRET_LENGTH + 1] = "";

    put_letters(key->id, KEY_ID_LENGTH);
    key->id[KEY_ID_LENGTH] = 0;
    put_letters(secret, KEY_SECRET_LENGTH);
    snprintf(text, KEY_TEXT_LENGTH + 1, "%s%s_%s", prefix, key->id, secret);
    OPENSSL_cleanse(secret, sizeof(secret));
    digest_of(bytes_make(text, KEY_TEXT_LENGTH), key->hash);
}

static bool only_letters(const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!isascii(text[i]) || !isalnum(text[i]))
            return false;
    }
    return true;
}

bool key_parse(struct bytes text, char id[KEY_ID_LENGTH + 1], uint8_t hash[KEY_HASH_SIZE])
{
    const uint8_t *at = text.data;

    if (text.size != KEY_TEXT_LENGTH || memcmp(at, prefix, strlen(prefix)) != 0)
        return false;
    at += strlen(prefix);
    if (!only_letters(at, KEY_ID_LENGTH) || at[KEY_ID_LENGTH] != '_' ||
        !only_letters(at + KEY_ID_LENGTH + 1, KEY_SECRET_LENGTH))
        return false;
    memcpy(id, at, KEY_ID_LENGTH);
    id[KEY_ID_LENGTH] = 0;
    digest_of(text, hash);
    return true;
}

bool key_hash_equal(const uint8_t a[KEY_HASH_SIZE], const uint8_t b[KEY_HASH_SIZE])
{
    return CRYPTO_memcmp(a, b, KEY_HASH_SIZE) == 0;
}
