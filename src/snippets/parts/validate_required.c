/* SPDX-License-Identifier: Apache-2.0 */
/* validate_required.c - "required:/price,/currency": JSON that has these values. */
#include "snippets/parts/parts.h"

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    struct pointer_list *list = arena_zero(setup->arena, sizeof(*list));

    *state = list;
    return pointers_read(setup, list, err);
}

static int check(const void *state, const struct snippet_input *input, struct arena *arena,
                 struct err *err)
{
    const struct pointer_list *list = state;
    size_t i;

    for (i = 0; i < list->count; i++) {
        const struct placed_json *node = placed_json_at(input->json, list->pointers[i]);

        if (!node || node->kind == PLACED_NULL)
            return err_set(err, ERR_INVALID, "%.*s is missing", BYTES_ARG(list->pointers[i]));
    }
    return 0;
}

const struct snippet_validator validator_required = {
    .name = "required",
    .about = "required:/price,/currency: JSON that has these values",
    .make = make,
    .formats = 1u << SNIPPET_JSON,
    .check = check,
};
