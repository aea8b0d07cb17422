/* SPDX-License-Identifier: Apache-2.0 */
/* extract_json_pointer.c - "json-pointer:/offer/id": the key is a value of the JSON. */
#include "snippets/parts/parts.h"

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    struct pointer_list *list = arena_zero(setup->arena, sizeof(*list));
    int rc = pointers_read(setup, list, err);

    *state = list;
    if (!rc && list->count != 1)
        rc = err_set(err, ERR_INVALID, "expected one pointer");
    return rc;
}

static int extract(const void *state, const struct snippet_record *record, struct arena *arena,
                   struct bytes *key, struct err *err)
{
    const struct pointer_list *list = state;
    const struct placed_json *node;

    if (record->input.body.size == 0) { /* a deletion has nothing else */
        *key = record->key;
        return 0;
    }
    node = placed_json_at(record->input.json, list->pointers[0]);
    if (!node || (node->kind != PLACED_TEXT && node->kind != PLACED_NUMBER))
        return err_set(err, ERR_INVALID, "%.*s has no key: a string or a number is expected",
                       BYTES_ARG(list->pointers[0]));
    *key = node->text;
    return 0;
}

const struct snippet_extractor extractor_json_pointer = {
    .name = "json-pointer",
    .about = "json-pointer:/offer/id: the key is a value of the JSON",
    .make = make,
    .formats = 1u << SNIPPET_JSON,
    .extract = extract,
};
