/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. Says it as assert does: to stderr, in one line, then abort. */
#include "base/object.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { FOUND_SIZE = 64 };

static void describe(const void *object, char found[FOUND_SIZE])
{
    uint32_t magic = object ? *(const uint32_t *)object : 0;
    int letters[] = {(int)(magic >> 24), (magic >> 16) & 0xff, (magic >> 8) & 0xff, magic & 0xff};

    if (!object)
        snprintf(found, FOUND_SIZE, "NULL");
    else if (magic == OBJECT_ENDED)
        snprintf(found, FOUND_SIZE, "an object that has ended");
    else if (magic == 0)
        snprintf(found, FOUND_SIZE, "an object that was not begun");
    else if (isalnum(letters[0]) && isalnum(letters[1]) && isalnum(letters[2]) &&
             isalnum(letters[3]))
        snprintf(found, FOUND_SIZE, "an object of kind '%c%c%c%c'", letters[0], letters[1],
                 letters[2], letters[3]);
    else
        snprintf(found, FOUND_SIZE, "no object (0x%08x)", (unsigned)magic);
}

_Noreturn void object_fail(const void *object, const char *expected, const char *file, int line,
                           const char *function)
{
    char found[FOUND_SIZE];

    describe(object, found);
    fprintf(stderr, "%s:%d: %s: expected %s, found %s\n", file, line, function, expected, found);
    abort();
}
