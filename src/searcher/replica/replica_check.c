/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_check.c - checks of a shard as a whole: its files, its content.
 *
 * The content is that of a moment at which nothing is applied, so the apply thread reads it,
 * between two batches, on request.
 */
#include "base/object.h"
#include "searcher/replica/replica_parts.h"

bool replica_arrival(struct replica *replica, uint32_t doc_id, int64_t *sent_us, int64_t *shown_us)
{
    object_check(replica, REPLICA_MAGIC);
    return arrivals_find(replica->arrivals, doc_id, sent_us, shown_us);
}

int replica_check_files(struct replica *replica, struct err *err)
{
    struct visit *visit;
    int rc = replica_visit(replica, 0, &visit, err);

    object_check(replica, REPLICA_MAGIC);
    if (!rc)
        rc = shard_check(visit->shard, err);
    visit_end(visit);
    return rc;
}

void replica_answer(struct replica *replica, struct shard *shard)
{
    struct content_ask *ask;

    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    ask = replica->ask;
    if (ask && !ask->is_begun) {
        ask->is_begun = true;
        ask->state = replica->state;
    } else {
        ask = NULL;
    }
    pthread_mutex_unlock(&replica->lock);
    if (!ask)
        return;
    ask->rc = shard_hash(shard, &ask->content, &ask->err);
    pthread_mutex_lock(&replica->lock);
    ask->is_done = true;
    condition_broadcast(&replica->changed);
    pthread_mutex_unlock(&replica->lock);
}

/* Under the lock. Once it is begun it is waited for: the thread has the ask in its hands. */
static void wait_for(struct replica *replica, struct content_ask *ask, int64_t until_us)
{
    bool in_time = true;

    while (replica->ask && in_time) /* somebody else's turn */
        in_time = condition_wait_until(&replica->changed, &replica->lock, until_us);
    if (replica->ask)
        return;
    replica->ask = ask;
    while (!ask->is_done && (ask->is_begun || (in_time && !task_is_stopping(&replica->task)))) {
        if (ask->is_begun)
            condition_wait(&replica->changed, &replica->lock);
        else
            in_time = condition_wait_until(&replica->changed, &replica->lock, until_us);
    }
    replica->ask = NULL;
    condition_broadcast(&replica->changed);
}

int replica_content(struct replica *replica, int64_t deadline_us, uint64_t *content,
                    struct replica_state *state, struct err *err)
{
    struct content_ask ask = {.rc = 0};

    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    wait_for(replica, &ask, deadline_us);
    pthread_mutex_unlock(&replica->lock);
    *content = ask.content;
    *state = ask.state;
    if (!ask.is_done)
        return err_set(err, ERR_TIMEOUT, "shard %u is busy: its content could not be looked at",
                       replica->options.shard);
    return ask.rc ? err_set(err, ask.rc, "%s", ask.err.text) : 0;
}
