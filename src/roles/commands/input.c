/* SPDX-License-Identifier: Apache-2.0 */
/* input.c - see input.h. */
#include "roles/commands/input.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { PIECE_SIZE = 64 << 10 };

int read_input(const struct invocation *invocation, size_t argument, struct buf *out,
               struct err *err)
{
    uint8_t piece[PIECE_SIZE];

    if (invocation->argument_count > argument && strcmp(invocation->arguments[argument], "-") != 0)
        return file_read(invocation->arguments[argument], out, err);
    for (;;) {
        ssize_t size = read(STDIN_FILENO, piece, sizeof(piece));

        if (size < 0)
            return err_errno(err, "standard input");
        if (size == 0)
            return 0;
        buf_put(out, bytes_make(piece, (size_t)size));
        if (buf_failed(out))
            return err_set(err, ERR_LIMIT, "standard input: more than %zu bytes", out->limit);
    }
}
