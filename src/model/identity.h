/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - who is calling: always taken from the credential, never from the message.
 */
#ifndef TORG_MODEL_IDENTITY_H
#define TORG_MODEL_IDENTITY_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"

enum { IDENTITY_NAME_SIZE = 64, IDENTITY_SCOPES_SIZE = 256 };

struct identity {
    char principal[IDENTITY_NAME_SIZE]; /* the key's or certificate's name; "" = anonymous */
    char seller[IDENTITY_NAME_SIZE];    /* bound to this seller; "" = to none */
    char client[IDENTITY_NAME_SIZE];    /* registry client or tenant; "" = none */
    char scopes[IDENTITY_SCOPES_SIZE];  /* separated by blanks; "*" = all */
};

bool identity_has_scope(const struct identity *identity, const char *scope);

/*
 * Turns the value of an Authorization header into an identity: 0, or ERR_UNAUTHENTICATED with
 * the reason. Called on reactor threads: must not block (look-ups are cached).
 */
struct authenticator {
    int (*authenticate)(struct authenticator *self, struct bytes authorization,
                        struct identity *identity, struct err *err);
};

#endif
