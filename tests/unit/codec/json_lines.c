/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_lines.c - torg.test.v1.Everything by line, for json_against_python.py:
 *   write SEED COUNT   prints "<wire in hex> <json>" of random messages
 *   read               turns each line of JSON into its wire in hex, or "! reason"
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"
#include "random_message.h"

#define EVERYTHING (&torg__test__v1__everything__descriptor)

enum { LINE_SIZE_MAX = 16 << 20 };

static void print_hex(const ProtobufCMessage *message, struct buf *line)
{
    struct buf wire = BUF_INIT(LINE_SIZE_MAX);

    message_encode(message, &wire);
    text_put_hex(line, buf_bytes(&wire));
    buf_release(&wire);
}

static void write_lines(uint64_t seed, unsigned long count, struct arena *arena, struct buf *line)
{
    struct rng rng = rng_seeded(seed);

    while (count--) {
        ProtobufCMessage *message;

        arena_reset(arena);
        buf_reset(line);
        message = random_message(&rng, EVERYTHING, arena, 2);
        print_hex(message, line);
        buf_put_byte(line, ' ');
        json_encode(message, line);
        puts(buf_text(line));
    }
}

static void read_lines(struct arena *arena, struct buf *line)
{
    char *input = NULL;
    size_t capacity = 0;
    ssize_t size;

    for (size = getline(&input, &capacity, stdin); size > 0;
         size = getline(&input, &capacity, stdin)) {
        ProtobufCMessage *message;
        struct err err;

        arena_reset(arena);
        buf_reset(line);
        if (json_decode(bytes_make(input, (size_t)size), EVERYTHING, arena, &message, NULL, &err))
            buf_printf(line, "! %s", err.text);
        else
            print_hex(message, line);
        puts(buf_text(line));
    }
    free(input);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct buf line = BUF_INIT(LINE_SIZE_MAX);
    struct err err;
    int rc = json_add_types(bytes_make(echo_descriptors, echo_descriptors_size), &err);

    if (!rc && argc == 4)
        write_lines(strtoull(argv[2], NULL, 0), strtoul(argv[3], NULL, 0), arena, &line);
    else if (!rc)
        read_lines(arena, &line);
    buf_release(&line);
    arena_free(arena);
    return rc ? 1 : 0;
}
