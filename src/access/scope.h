/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - what a key may be allowed to do: the list of all scopes.
 *
 * A service names the scope its method needs; a key has some of them, or * for all.
 */
#ifndef TORG_ACCESS_SCOPE_H
#define TORG_ACCESS_SCOPE_H

#include <stddef.h>

#include "base/err.h"
#include "net/identity.h"

struct scope {
    const char *name;
    const char *help;
};

extern const struct scope scope_table[];
extern const size_t scope_count;

/* Joins names with blanks, each once; ERR_INVALID names the unknown one and the known ones. */
int scopes_join(const char *const *names, size_t count, char scopes[IDENTITY_SCOPES_SIZE],
                struct err *err);

#endif
