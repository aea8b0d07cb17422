/* SPDX-License-Identifier: Apache-2.0 */
/* demo_state.c - see demo_state.h. */
#include "roles/commands/demo_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "demo/bounds.h"

static const char heading[] = "torg demo 1";

static bool take_key(struct bytes value, char key[KEY_TEXT_LENGTH + 1])
{
    if (value.size > KEY_TEXT_LENGTH)
        return false;
    memcpy(key, value.data, value.size);
    key[value.size] = 0;
    return true;
}

static bool take_line(struct demo_state *state, struct bytes line)
{
    const uint8_t *blank = line.size ? memchr(line.data, ' ', line.size) : NULL;
    struct bytes name = bytes_make(line.data, blank ? (size_t)(blank - line.data) : 0);
    struct bytes value = blank ? bytes_skip(line, name.size + 1) : BYTES_EMPTY;

    if (bytes_equal_text(name, "seed"))
        return text_to_u64(value, &state->seed);
    if (bytes_equal_text(name, "target"))
        return text_to_u64(value, &state->target) && state->target <= DEMO_OFFER_COUNT_MAX;
    if (bytes_equal_text(name, "filled"))
        return text_to_u64(value, &state->filled) && state->filled <= DEMO_OFFER_COUNT_MAX;
    if (bytes_equal_text(name, "seller"))
        return take_key(value, state->seller_key);
    if (bytes_equal_text(name, "operator"))
        return take_key(value, state->operator_key);
    return bytes_equal_text(line, heading);
}

int demo_state_read(const char *path, struct demo_state *state, struct err *err)
{
    struct buf text = BUF_INIT(DEMO_STATE_SIZE_MAX);
    struct bytes rest;
    int rc = file_read(path, &text, err);

    *state = (struct demo_state){.seed = 0};
    if (rc)
        goto out;
    if (!bytes_begin(buf_bytes(&text), bytes_of(heading)))
        rc = err_set(err, ERR_PRECONDITION, "%s is not of torg demo: it does not begin with \"%s\"",
                     path, heading);
    for (rest = buf_bytes(&text); rest.size && !rc;) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        struct bytes line = bytes_make(rest.data, end ? (size_t)(end - rest.data) : rest.size);

        if (line.size && !take_line(state, line))
            rc = err_set(
                err, ERR_PRECONDITION,
                "%s: \"%.*s\" cannot be read; remove the data directory to start from scratch",
                path, (int)(line.size < 40 ? line.size : 40), (const char *)line.data);
        rest = bytes_skip(rest, line.size + (end ? 1 : 0));
    }
out:
    buf_release(&text);
    return rc;
}

int demo_state_write(const char *path, const struct demo_state *state, struct err *err)
{
    struct buf text = BUF_INIT(DEMO_STATE_SIZE_MAX);
    int rc;

    buf_printf(&text, "%s\nseed %" PRIu64 "\ntarget %" PRIu64 "\nfilled %" PRIu64 "\n", heading,
               state->seed, state->target, state->filled);
    if (*state->seller_key)
        buf_printf(&text, "seller %s\n", state->seller_key);
    if (*state->operator_key)
        buf_printf(&text, "operator %s\n", state->operator_key);
    rc = file_write(path, buf_bytes(&text), err);
    buf_release(&text);
    return rc;
}
