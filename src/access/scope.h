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
    bool is_of_site; /* opens what belongs to all: never of a key that is bound to a seller */
};

extern const struct scope scope_table[];
extern const size_t scope_count;

/* Joins names with blanks, each once; ERR_INVALID names the unknown one and the known ones. */
int scopes_join(const char *const *names, size_t count, char scopes[IDENTITY_SCOPES_SIZE],
                struct err *err);

/* Of a key that is bound to a seller: ERR_INVALID names the first that it cannot have. */
int scopes_check_seller(const char *const *names, size_t count, struct err *err);

/* Takes those out that a key bound to a seller cannot have, "*" becomes the others; false: there
 * was none of them. For keys of a time when they were not refused. */
bool scopes_keep_to_seller(char scopes[IDENTITY_SCOPES_SIZE]);

#endif
