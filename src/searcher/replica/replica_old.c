/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_old.c - the state that a shard had, served while the one that replaces it is made.
 *
 * A shard whose topic has dropped the messages that it needs next is rebuilt by a pour. What it has
 * is whole, but old: it stays open, at one of the shard's two places (DIR and DIR.b), while the new
 * state is filled at the other; when that is ready it takes over in one step (replica_follow.c).
 *
 *     DIR    followed ── too far behind ──> old, served to who takes it ── replaced ──> removed
 *     DIR.b                                 followed, filled by a pour ──> ready        when DIR.b
 *                                                                             has a checkpoint
 *
 * After a crash in between both are there, and their checkpoints show which is which. At most
 * SEARCHER_OLD_COUNT_MAX shards of a process have two states; any further one has no old state.
 *
 * Threads: the apply thread only. Nothing is applied to an old state except the ends of its
 * documents.
 */
#include <assert.h>

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "searcher/bounds.h"
#include "searcher/replica/replica_parts.h"

/* ---- room ---- */

static bool enter_room(struct replica *replica)
{
    if (atomic_fetch_add(&replica->options.old->count, 1) < SEARCHER_OLD_COUNT_MAX) {
        gauge_add(replica->options.old->now, 1);
        return true;
    }
    atomic_fetch_sub(&replica->options.old->count, 1);
    return false;
}

static void leave_room(struct replica *replica)
{
    gauge_add(replica->options.old->now, -1);
    atomic_fetch_sub(&replica->options.old->count, 1);
}

/* ---- places ---- */

void replica_clear_place(struct replica *replica, uint32_t place)
{
    struct err err;

    object_check(replica, REPLICA_MAGIC);
    if (replica->places[place] && dir_remove(replica->places[place], &err))
        replica_tell(replica, err.text);
}

/* The replaced state is nobody's any more; its files stay until those of the new one are there. */
static void end_replaced(struct replica *replica)
{
    if (!replica->replaced)
        return;
    replica_close_shard(replica, replica->replaced);
    replica->replaced = NULL;
    replica->has_leftover = replica->places[0] != NULL;
    leave_room(replica);
}

/* What the checkpoint of a place says. */
struct glance {
    bool is_there, is_whole;
    uint64_t offset, serve_from;
    struct progress progress;
};

static struct glance glance_at(const char *dir)
{
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    struct glance seen = {0};
    int rc = shard_peek(dir, &seen.offset, &seen.serve_from, &note, NULL);

    seen.is_there = rc != ERR_NOT_FOUND;
    rc = rc ? rc : progress_decode(buf_bytes(&note), &seen.progress, NULL);
    seen.is_whole = !rc && seen.offset && !seen.progress.has_gap;
    buf_release(&note);
    return seen;
}

/* An old state of before a restart. What could not be read has been thrown away, and is empty. */
static bool open_old(struct replica *replica, uint32_t place, const struct glance *seen)
{
    struct opened *opened;
    struct shard *shard;
    struct err err;

    if (seen->offset < seen->serve_from || !seen->progress.time_us || !enter_room(replica))
        return false;
    if (replica_open_shard(replica, place, &shard, &err)) {
        leave_room(replica);
        return false;
    }
    opened = opened_new(shard);
    if (shard_offset(shard) != seen->offset) {
        replica_close_shard(replica, opened);
        leave_room(replica);
        return false;
    }
    pthread_mutex_lock(&replica->lock);
    replica->old = opened;
    replica->old_us = seen->progress.time_us;
    pthread_mutex_unlock(&replica->lock);
    return true;
}

uint32_t replica_choose_place(struct replica *replica, uint64_t first)
{
    struct glance seen[REPLICA_PLACE_COUNT] = {0};
    uint32_t newer, other;

    object_check(replica, REPLICA_MAGIC);
    if (!replica->places[1] || replica->old)
        return replica->place;
    end_replaced(replica);
    replica->has_leftover = false; /* what is there is looked at now */
    seen[1] = glance_at(replica->places[1]);
    if (!seen[1].is_there)
        return 0;
    seen[0] = glance_at(replica->places[0]);
    if (!seen[0].is_there)
        return 1;
    if (seen[0].is_whole == seen[1].is_whole)
        newer = seen[1].offset > seen[0].offset;
    else
        newer = seen[1].is_whole;
    other = 1 - newer;
    if (seen[newer].is_whole && !seen[other].is_whole && seen[newer].offset < first) {
        if (!open_old(replica, newer, &seen[newer]))
            replica_clear_place(replica, newer);
        return other;
    }
    replica_clear_place(replica, other);
    return newer;
}

/* ---- the old state ---- */

bool replica_keep_old(struct replica *replica, struct opened *opened,
                      const struct progress *progress, uint64_t offset)
{
    object_check(replica, REPLICA_MAGIC);
    if (replica->old || progress->has_gap || progress->pour < 0 || !progress->time_us ||
        offset < shard_serve_from(opened->shard) || !enter_room(replica))
        return false;
    replica_end_old(replica); /* of before; its place is needed */
    pthread_mutex_lock(&replica->lock);
    replica->old = opened;
    replica->old_us = progress->time_us;
    replica->opened = NULL;
    replica->state.is_ready = false;
    replica->state.old_us = progress->time_us;
    pthread_mutex_unlock(&replica->lock);
    log_warn("a shard is too far behind its topic: it is being refilled, and its old state "
             "answers those who accept one",
             LOG_TEXT("topic", replica->topic), LOG_INT("partition", replica->options.shard),
             LOG_INT("offset", offset), LOG_INT("of_seconds", progress->time_us / SECOND_US));
    replica->place = 1 - replica->place;
    replica_clear_place(replica, replica->place);
    return true;
}

static bool is_visited(struct opened *opened)
{
    bool is_visited;

    pthread_mutex_lock(&opened->lock);
    is_visited = opened->visit_count > 0;
    pthread_mutex_unlock(&opened->lock);
    return is_visited;
}

void replica_tend_old(struct replica *replica, int64_t now)
{
    struct opened *old = replica->old; /* changed by this thread alone */
    bool is_saved;

    object_check(replica, REPLICA_MAGIC);
    if (old && shard_expire(old->shard, now))
        (void)shard_publish(old->shard, shard_offset(old->shard), NULL); /* else the next time */
    if (replica->replaced && !is_visited(replica->replaced))
        end_replaced(replica);
    if (!replica->has_leftover)
        return;
    pthread_mutex_lock(&replica->lock);
    /* Where no checkpoint can be written the disk may be full: the old files are in its way. */
    is_saved = replica->checkpoint_offset >= replica->whole_offset || replica->has_failed_to_save;
    pthread_mutex_unlock(&replica->lock);
    if (is_saved) {
        replica->has_leftover = false;
        replica_clear_place(replica, 1 - replica->place);
    }
}

void replica_replace_old(struct replica *replica, uint64_t offset)
{
    object_check(replica, REPLICA_MAGIC);
    if (!replica->old)
        return;
    assert(!replica->replaced);
    replica->replaced = replica->old; /* closed when its last visit has ended */
    replica->old = NULL;
    replica->old_us = 0;
    replica->whole_offset = offset;
    replica->has_failed_to_save = false;
}

void replica_end_old(struct replica *replica)
{
    struct opened *old = replica->old;

    object_check(replica, REPLICA_MAGIC);
    end_replaced(replica);
    if (!old)
        return;
    pthread_mutex_lock(&replica->lock);
    replica->old = NULL;
    replica->state.old_us = 0;
    pthread_mutex_unlock(&replica->lock);
    replica_close_shard(replica, old);
    leave_room(replica);
}
