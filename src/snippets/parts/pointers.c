/* SPDX-License-Identifier: Apache-2.0 */
/* pointers.c - lists of JSON pointers in arguments of parts (parts.h). */
#include <string.h>

#include "snippets/parts/parts.h"

int pointers_read(const struct part_setup *setup, struct pointer_list *list, struct err *err)
{
    struct bytes rest = arena_copy(setup->arena, setup->argument);
    size_t i, count = 1;

    for (i = 0; i < rest.size; i++)
        count += rest.data[i] == ',';
    list->pointers = arena_array(setup->arena, count, sizeof(*list->pointers));
    for (list->count = 0; list->count < count; list->count++) {
        const uint8_t *comma = rest.size ? memchr(rest.data, ',', rest.size) : NULL;
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size;

        if (size < 2 || rest.data[0] != '/')
            return err_set(err, ERR_INVALID,
                           "expected JSON pointers with commas between, as in pick:/title,/a/b");
        list->pointers[list->count] = bytes_make(rest.data, size);
        rest = bytes_skip(rest, comma ? size + 1 : size);
    }
    return 0;
}
