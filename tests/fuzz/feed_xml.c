/* SPDX-License-Identifier: Apache-2.0 */
/* feed_xml.c - any bytes as an XML feed; what is checked stands in feed_check.h. */
#include "feed_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_check(bytes_make(data, size), FEED_FORMAT_YML);
    feed_check(bytes_make(data, size), FEED_FORMAT_AVITO);
    return 0;
}
