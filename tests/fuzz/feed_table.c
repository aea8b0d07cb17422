/* SPDX-License-Identifier: Apache-2.0 */
/* feed_table.c - any bytes as CSV, and as JSON lines; what is checked stands in feed_check.h. */
#include "feed_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_check(bytes_make(data, size), FEED_FORMAT_CSV);
    feed_check(bytes_make(data, size), FEED_FORMAT_JSON);
    return 0;
}
