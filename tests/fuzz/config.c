/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the configuration file. Whatever is in it, it is read or complained about. */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_sources none = {.file = "/dev/null"};
    struct arena *arena = arena_new();
    struct violations problems = violations_in(arena);
    struct config config;
    struct buf out = BUF_INIT(1 << 20);

    config_load(&config, &none, arena, &problems);
    config_parse(&config, bytes_make(data, size), &problems);
    config_dump(&config, &out);
    config_dump_json(&config, &out);
    buf_release(&out);
    arena_free(arena);
    return 0;
}
