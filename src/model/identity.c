/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - see identity.h. */
#include "model/identity.h"

#include <ctype.h>
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

bool identity_is_name(struct bytes name)
{
    for (size_t i = 0; i < name.size; i++) {
        if (!isascii(name.data[i]) || (!isalnum(name.data[i]) && !strchr("._-@", name.data[i])))
            return false;
    }
    return name.size && name.size < IDENTITY_NAME_SIZE;
}
