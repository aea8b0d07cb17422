/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.c - see lateness.h. */
#include "registry/indexing/lateness.h"

#include <string.h>

#include "base/clock.h"

void lateness_pass(struct lateness *lateness, int64_t position)
{
    uint32_t passed = 0;

    while (passed < lateness->count && lateness->marks[passed].idx <= position)
        passed++;
    lateness->count -= passed;
    memmove(lateness->marks, lateness->marks + passed,
            lateness->count * sizeof(lateness->marks[0]));
}

bool lateness_wants(const struct lateness *lateness, int64_t now_us)
{
    return lateness->count == 0 ||
           now_us - lateness->marks[lateness->count - 1].seen_us >= INDEXER_MARK_MS * MS_US;
}

void lateness_mark(struct lateness *lateness, int64_t position, int64_t newest, int64_t now_us)
{
    if (newest <= position ||
        (lateness->count && newest <= lateness->marks[lateness->count - 1].idx))
        return;
    if (lateness->count == INDEXER_MARK_COUNT) {
        lateness->count /= 2;
        for (uint32_t i = 1; i < lateness->count; i++)
            lateness->marks[i] = lateness->marks[2 * i];
    }
    lateness->marks[lateness->count++] = (struct lateness_mark){newest, now_us};
}

int64_t lateness_us(const struct lateness *lateness, int64_t now_us)
{
    return lateness->count ? now_us - lateness->marks[0].seen_us : 0;
}
