/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - who is calling: always taken from the credential, never from the message.
 */
#ifndef TORG_MODEL_IDENTITY_H
#define TORG_MODEL_IDENTITY_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"

enum { IDENTITY_NAME_SIZE = 64, IDENTITY_KEY_SIZE = 40, IDENTITY_SCOPES_SIZE = 256 };

struct identity {
    char principal[IDENTITY_NAME_SIZE]; /* the key's or certificate's name; "" = anonymous */
    char key[IDENTITY_KEY_SIZE];        /* which of its keys: an id; "" = none */
    char seller[IDENTITY_NAME_SIZE];    /* bound to this seller; "" = to none */
    char client[IDENTITY_NAME_SIZE];    /* registry client or tenant; "" = none */
    char scopes[IDENTITY_SCOPES_SIZE];  /* separated by blanks; "*" = all */
};

bool identity_has_scope(const struct identity *identity, const char *scope);

/* What goes into logs, headers and SQL as a name: letters, digits, and . _ - @ */
bool identity_is_name(struct bytes name);

/* What a caller shows of himself. */
struct credential {
    struct bytes authorization; /* the header's value */
    struct bytes seller;        /* the header Torg-Seller: in whose name; empty: in his own */
};

/*
 * Turns a credential into an identity: 0, or ERR_UNAUTHENTICATED (ERR_DENIED: not in this seller's
 * name) with the reason. Called on reactor threads: must not block (look-ups are cached).
 */
struct authenticator {
    int (*authenticate)(struct authenticator *self, const struct credential *credential,
                        struct identity *identity, struct err *err);
    /* Whether it takes the CPU to check one, as a signature does that nobody has seen lately.
     * NULL: none does. */
    bool (*is_dear)(struct authenticator *self, const struct credential *credential);
};

#endif
