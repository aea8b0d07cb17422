/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_shard_writer.c - opens a shard, replays its topic, compares it with a rebuild, writes on.
 *
 * usage: crash-shard-writer DIR SEED COUNT
 *
 * The topic is the seed (shard_model.h). Prints "checked X0 OFFSET" once the shard that was found
 * has the content of one that was built from nothing, then "at OFFSET" as it goes, COUNT further,
 * with checkpoints all the time; then it waits to be killed. Exit 3: the contents differ.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "index/shard/shard.h"
#include "shard_model.h"

enum { BATCH_MAX = 10 };

static void die_if(int rc, const struct err *err)
{
    if (!rc)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(2);
}

static void apply(struct shard *shard, uint64_t seed, uint64_t from, uint64_t to)
{
    struct err err = {0};
    struct op op;

    for (; from < to; from++) {
        op_make(seed, from, &op);
        op_apply(shard, &op);
        if (op.doc % BATCH_MAX == 0 || from + 1 == to)
            die_if(shard_publish(shard, from + 1, &err), &err);
    }
}

static void compare(struct shard *shard, uint64_t seed, uint64_t offset)
{
    struct shard_options options = {.epoch = 5};
    struct shard *built;
    struct err err = {0};
    uint64_t found, expected;

    die_if(shard_open(&options, &built, &err), &err);
    apply(built, seed, 0, offset);
    die_if(shard_hash(shard, &found, &err), &err);
    die_if(shard_hash(built, &expected, &err), &err);
    shard_close(built);
    if (found == expected)
        return;
    fprintf(stderr, "at offset %ju the shard is not what a rebuild is\n", (uintmax_t)offset);
    exit(3);
}

/* Beside those of the background, which come late on a full machine; in the midst of batches. */
static void *checkpoint_on(void *context)
{
    struct err err = {0};
    int rc = 0;

    while (!rc || rc == ERR_TIMEOUT)
        rc = shard_checkpoint(context, &err);
    die_if(rc, &err);
    return NULL;
}

int main(int argc, char **argv)
{
    struct shard_options options = {
        .epoch = 5, .background = true, .buffer_doc_count_max = 30, .checkpoint_change_count = 50};
    uint64_t seed, limit, offset, found;
    struct shard *shard;
    struct err err = {0};
    pthread_t thread;

    if (argc != 4)
        return 2;
    options.dir = argv[1];
    seed = strtoull(argv[2], NULL, 10);
    limit = strtoull(argv[3], NULL, 10);
    die_if(shard_open(&options, &shard, &err), &err);
    found = shard_offset(shard);
    offset = shard_serve_from(shard);
    apply(shard, seed, found, offset);
    compare(shard, seed, offset);
    die_if(shard_check(shard, &err), &err);
    printf("checked %ju %ju\n", (uintmax_t)found, (uintmax_t)offset);
    fflush(stdout);
    if (pthread_create(&thread, NULL, checkpoint_on, shard))
        return 2;
    limit += offset;
    for (; offset < limit; offset += 20) {
        apply(shard, seed, offset, offset + 20);
        printf("at %ju\n", (uintmax_t)offset + 20);
        fflush(stdout);
        if (offset / 20 % 4 ==
            3) /* beside those of the background, which comes late on a full box */
            die_if(shard_checkpoint(shard, &err), &err);
    }
    pause();
    return 0;
}
