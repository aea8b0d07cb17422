/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_read.c - see shard_work.h: segment files are read and checked before queries need them.
 *
 * After a start, and after a merge (which keeps the page cache free of what it writes), nothing of
 * a file is in memory, and a query would wait for the disk again and again, most of all one that
 * looks at positions. So the background reads files from end to end, once, and notes the sums that
 * were right. It does not when they are much of the machine's memory: then what is asked for should
 * stay there rather than what was read last.
 */
#include <unistd.h>

#include "base/object.h"
#include "index/shard/shard_work.h"

enum { STEP_CHUNKS = 64, MEMORY_SHARE = 2 };

static bool is_due(const struct part *part)
{
    return part->has_file && part->segment && part->read_chunks < part->segment->chunk_count;
}

/* Under the lock. */
static bool fits_memory(const struct shard *shard)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t size = 0;
    uint32_t i;

    for (i = 0; i < shard->part_count; i++) {
        if (shard->parts[i]->has_file)
            size += shard->parts[i]->segment->size;
    }
    return size <= memory / MEMORY_SHARE;
}

int shard_read_on(struct shard *shard, bool *did, struct err *err)
{
    struct part *part = NULL;
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    if (!shard->options.background)
        return 0;
    shard_lock(shard);
    for (i = 0; i < shard->part_count && !part; i++) {
        if (is_due(shard->parts[i]))
            part = shard->parts[i];
    }
    if (part && !fits_memory(shard))
        part = NULL;
    shard_unlock(shard);
    if (!part)
        return 0;
    *did = true;
    return text_segment_check_on(part->segment, &part->read_chunks, STEP_CHUNKS, err);
}

int shard_read_part(struct shard *shard, struct part *part, struct err *err)
{
    bool fits;
    int rc = 0;

    object_check(part, PART_MAGIC);
    object_check(shard, SHARD_MAGIC);
    if (!shard->options.background)
        return 0;
    shard_lock(shard);
    fits = fits_memory(shard);
    shard_unlock(shard);
    while (fits && is_due(part) && !shard_pause(shard) && !rc)
        rc = text_segment_check_on(part->segment, &part->read_chunks, STEP_CHUNKS, err);
    return rc;
}
