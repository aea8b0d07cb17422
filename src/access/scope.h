/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - what a key may be allowed to do: the list of all scopes.
 *
 * A service names the scope its method needs; a key has some of them, or * for all.
 */
#ifndef TORG_ACCESS_SCOPE_H
#define TORG_ACCESS_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/identity.h"

struct scope {
    const char *name;
    const char *help;
    unsigned bindings; /* what it keeps to; 0 opens what belongs to all: for unbound keys alone */
};

/* Kinds of keys that may have a scope although they are bound. */
enum { SCOPE_OF_SELLER = 1 << 0, SCOPE_OF_CLIENT = 1 << 1 };

extern const struct scope scope_table[];
extern const size_t scope_count;

/* Joins names with blanks, each once; ERR_INVALID names the unknown one and the known ones. */
int scopes_join(const char *const *names, size_t count, char scopes[IDENTITY_SCOPES_SIZE],
                struct err *err);

/* Of a key that is bound so (0: to nobody): ERR_INVALID names the first that it cannot have. */
int scopes_check_bound(const char *const *names, size_t count, unsigned bindings, struct err *err);

/* Takes those out that a key bound so cannot have, "*" becomes the others; false: there was none
 * of them. For keys of a time when they were not refused, and what others say of a seller. */
bool scopes_keep_bound(char scopes[IDENTITY_SCOPES_SIZE], unsigned bindings);

static inline unsigned scope_bindings(const char *seller, const char *client)
{
    return (*seller ? SCOPE_OF_SELLER : 0u) | (*client ? SCOPE_OF_CLIENT : 0u);
}

#endif
