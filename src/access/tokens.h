/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.h - sellers' tokens (jwt.h) for reactors to ask: who is calling?
 *
 * Holds the issuer's keys and follows them: a file is read again when it changes, an address is
 * asked every few minutes, and soon when a token names a key that is not known. What was checked is
 * remembered until it ends, or the keys change: most calls cost a hash and no signature.
 *
 * Threads: any. Asking holds a lock for a look-up or a copy; the task that follows the keys waits
 * for files and addresses without it.
 */
#ifndef TORG_ACCESS_TOKENS_H
#define TORG_ACCESS_TOKENS_H

#include "access/jwt.h"
#include "base/buf.h"
#include "base/clock.h"

struct tokens;

struct tokens_options {
    const char *keys;          /* a file, or an address that begins with http:// or https:// */
    struct jwt_rules rules;    /* texts are copied */
    const struct clock *clock; /* NULL: the system's; borrowed */
    /* Gets what is at an address; from the tokens' own thread. Needed for one. */
    int (*fetch)(void *arg, const char *url, struct buf *out, struct err *err);
    void *fetch_arg;
    bool manual; /* tests: no thread; tokens_refresh alone learns of changes */
};

/* A file must be there and have a key; an address may be away, then tokens are refused until it
 * answers. */
int tokens_open(const struct tokens_options *options, struct tokens **tokens, struct err *err);
void tokens_close(struct tokens *tokens); /* NULL is fine */

/* 0, ERR_UNAUTHENTICATED, or ERR_UNAVAILABLE while the keys are not known. */
int tokens_check(struct tokens *tokens, struct bytes text, struct identity *identity,
                 struct err *err);

/* It was checked lately, and would be good again: it costs a look-up alone. */
bool tokens_knows(struct tokens *tokens, struct bytes text);

/* Reads the keys if that is due. */
int tokens_refresh(struct tokens *tokens, struct err *err);

#endif
