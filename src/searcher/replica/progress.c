/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. */
#include "searcher/replica/progress.h"

#include "base/varint.h"

enum {
    VERSION_WITHOUT_POUR = 1,
    VERSION_WITHOUT_TIME = 2,
    VERSION_WITHOUT_NUMBERS = 3,
    VERSION = 4,
    FLAG_GAP = 1
};

void progress_encode(const struct progress *progress, struct buf *out)
{
    varint_put(out, VERSION);
    varint_put(out, progress->ticket);
    varint_put(out, progress->has_gap ? FLAG_GAP : 0);
    varint_put(out, (uint64_t)progress->pour); /* never below 0: such a shard is thrown away */
    varint_put(out, progress->pour_ticket);
    varint_put(out, (uint64_t)progress->time_us);
    for (int i = 0; i < 4; i++)
        varint_put(out, progress->numbers[i]);
    varint_put(out, PROGRESS_LANE_COUNT);
    for (int i = 0; i < PROGRESS_LANE_COUNT; i++)
        varint_put(out, (uint64_t)progress->lanes[i]);
}

static bool decode_numbers(struct bytes *note, struct progress *progress)
{
    for (int i = 0; i < 4; i++) {
        uint64_t number;

        if (!varint_get(note, &number) || number > UINT32_MAX)
            return false;
        progress->numbers[i] = (uint32_t)number;
    }
    return true;
}

static bool decode(struct bytes note, struct progress *progress)
{
    uint64_t version, flags, count, idx;
    uint64_t pour = 0, time_us = 0;

    if (!varint_get(&note, &version) || version < VERSION_WITHOUT_POUR || version > VERSION ||
        !varint_get(&note, &progress->ticket) || !varint_get(&note, &flags) || flags > FLAG_GAP)
        return false;
    if (version > VERSION_WITHOUT_POUR &&
        (!varint_get(&note, &pour) || !varint_get(&note, &progress->pour_ticket)))
        return false;
    if (version > VERSION_WITHOUT_TIME && !varint_get(&note, &time_us))
        return false;
    if (version > VERSION_WITHOUT_NUMBERS && !decode_numbers(&note, progress))
        return false;
    if (!varint_get(&note, &count) || count > PROGRESS_LANE_COUNT)
        return false;
    progress->has_gap = flags & FLAG_GAP;
    progress->pour = version == VERSION_WITHOUT_POUR && progress->has_gap ? -1 : (int64_t)pour;
    progress->time_us = (int64_t)time_us;
    for (uint64_t i = 0; i < count; i++) {
        if (!varint_get(&note, &idx))
            return false;
        progress->lanes[i] = (int64_t)idx;
    }
    return note.size == 0;
}

int progress_decode(struct bytes note, struct progress *progress, struct err *err)
{
    *progress = (struct progress){0};
    if (note.size == 0 || decode(note, progress))
        return 0;
    return err_set(err, ERR_CORRUPT, "the shard's note is not of this version of the searcher");
}
