/* SPDX-License-Identifier: Apache-2.0 */
/* avro_file.c - any bytes as an Avro file: refused with a reason, or read to their end. */
#include "codec/avro_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_rest(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct bytes *rest = arg;

    (void)err;
    *got = rest->size < size ? rest->size : size;
    if (*got)
        memcpy(to, rest->data, *got);
    *rest = bytes_skip(*rest, *got);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = bytes_make(data, size);
    const struct avro_value *row = NULL;
    struct avro_reader *reader;
    struct err err = {0};
    int rc = avro_reader_open(read_rest, &rest, &reader, &err);

    if (!rc == !reader)
        abort();
    while (!rc) {
        rc = avro_reader_next(reader, &row, &err);
        if (rc || !row)
            break;
    }
    if (rc && !err.text[0])
        abort();
    avro_reader_close(reader);
    return 0;
}
