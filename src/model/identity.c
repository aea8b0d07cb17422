/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - see identity.h. */
#include "model/identity.h"

#include <string.h>

bool identity_has_scope(const struct identity *identity, const char *scope)
{
    const char *at = identity->scopes;
    size_t wanted = strlen(scope);

    while (*at) {
        size_t size = strcspn(at, " ");

        if ((size == 1 && *at == '*') || (size == wanted && memcmp(at, scope, size) == 0))
            return true;
        at += size;
        at += strspn(at, " ");
    }
    return false;
}
