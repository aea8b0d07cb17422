/* SPDX-License-Identifier: Apache-2.0 */
/* validate_max_size.c - "max-size:4KB": no body above this many bytes. */
#include <inttypes.h>

#include "base/text.h"
#include "snippets/bounds.h"
#include "snippets/parts/parts.h"

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    uint64_t *size = arena_zero(setup->arena, sizeof(*size));

    *state = size;
    if (!text_to_size(setup->argument, size) || *size == 0 || *size > SNIPPET_BODY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "expected a size up to %d bytes, as in max-size:4KB",
                       SNIPPET_BODY_SIZE_MAX);
    return 0;
}

static int check(const void *state, const struct snippet_input *input, struct arena *arena,
                 struct err *err)
{
    uint64_t size = *(const uint64_t *)state;

    if (input->body.size <= size)
        return 0;
    return err_set(err, ERR_INVALID, "a body of %zu bytes; at most %" PRIu64 " are expected",
                   input->body.size, size);
}

const struct snippet_validator validator_max_size = {
    .name = "max-size",
    .about = "max-size:4KB: no body above this many bytes",
    .make = make,
    .formats = ~0u,
    .check = check,
};
