/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - fuzz target: a schema, a zero byte and a value. What compiles is checked, and says the
 * same twice; a tree that was read is read from its own text again as the same.
 */
#include <assert.h>
#include <string.h>

#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct placed_json *value, struct arena *arena)
{
    struct buf text = BUF_INIT(16 << 20);
    const struct placed_json *again;
    int rc;

    placed_json_put(value, &text);
    rc = placed_json_read(buf_bytes(&text), arena, &again, NULL);
    assert(rc == 0 && placed_json_equal(value, again));
    assert(placed_json_hash(value) == placed_json_hash(again));
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    struct bytes json = bytes_make(data, zero ? (size_t)(zero - data) : size);
    struct bytes rest = zero ? bytes_skip(bytes_make(data, size), json.size + 1) : json;
    struct schema_options options = {.with_formats = true,
                                     .draft = size & 1 ? SCHEMA_DRAFT_3 : SCHEMA_DRAFT_4};
    struct arena *arena = arena_new();
    const struct placed_json *value;
    struct json_schema *schema;
    int rc;

    if (placed_json_read(rest, arena, &value, NULL) == 0) {
        check_text(value, arena);
        if (json_schema_compile(json, &options, &schema, NULL) == 0) {
            rc = json_schema_check(schema, value, arena, NULL);
            assert(rc == json_schema_check(schema, value, arena, NULL));
            json_schema_free(schema);
        }
    }
    arena_free(arena);
    return 0;
}
