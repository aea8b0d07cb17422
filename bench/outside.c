/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/outside.c - how long a searcher takes to have a column from outside: fetching the file from
 * the blob store, mapping and checking it, comparing all numbers with the births of their owners.
 *
 * usage: bench-outside DIR VALUES. Wall time, of one run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/endian.h"
#include "base/random.h"
#include "base/text.h"
#include "index/columns/outside_column.h"
#include "numerator/passage.h"

enum { GENERATION = 100, PIECE_COUNT = 16384, PATH_SIZE = 4096 };

static void check(int rc, const struct err *err)
{
    if (!rc)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* The codes of numbers from `at` on. */
static struct bytes make_piece(uint64_t seed, uint32_t at, uint32_t count, uint8_t *codes)
{
    struct rng rng = rng_seeded(seed + at);
    uint32_t size = count - at < PIECE_COUNT ? count - at : PIECE_COUNT;

    for (uint32_t i = 0; i < size; i++)
        put_le32(codes + 4 * i, (uint32_t)rng_below(&rng, 1000000));
    return bytes_make(codes, (size_t)size * 4);
}

static void make_file(struct blob *blob, uint32_t count)
{
    struct outside_head head = {
        .numbers = {1, 1, 0, GENERATION}, .count = count, .width = 4, .digits = 4};
    static uint8_t codes[PIECE_COUNT * 4], start[OUTSIDE_HEAD_SIZE];
    struct outlet *out;
    struct err err;

    for (uint32_t at = 0; at < count; at += PIECE_COUNT)
        head.sum = crc32_plain(head.sum, make_piece(1, at, count, codes));
    outside_head_encode(&head, start);
    check(outlet_open("blob:columns/0", blob, &out, &err), &err);
    outlet_put(out, bytes_make(start, sizeof(start)));
    for (uint32_t at = 0; at < count; at += PIECE_COUNT)
        outlet_put(out, make_piece(1, at, count, codes));
    check(outlet_commit(out, &err), &err);
}

static double ms_since(int64_t begun_us)
{
    return (double)(clock_mono_us(clock_system()) - begun_us) / MS_US;
}

int main(int argc, char **argv)
{
    int64_t births[WINDOW_SIZE], begun_us;
    char url[PATH_SIZE], path[PATH_SIZE];
    double fetched, opened, settled;
    struct outside_column *column;
    uint64_t count;
    struct blob *blob;
    struct err err;

    if (argc != 3 || !text_to_u64(bytes_of(argv[2]), &count) || !count || count > 250000000) {
        fprintf(stderr, "usage: bench-outside DIR VALUES\n");
        return 2;
    }
    snprintf(url, sizeof(url), "dir:%s/blobs", argv[1]);
    snprintf(path, sizeof(path), "%s/0.column", argv[1]);
    check(blob_open(url, &blob, &err), &err);
    make_file(blob, (uint32_t)count);
    begun_us = clock_mono_us(clock_system());
    check(passage_copy("blob:columns/0", blob, path, NULL, NULL, NULL, &err), &err);
    fetched = ms_since(begun_us);
    begun_us = clock_mono_us(clock_system());
    check(outside_column_open(path, &column, &err), &err);
    opened = ms_since(begun_us);
    begun_us = clock_mono_us(clock_system());
    for (uint32_t i = 0; i < outside_column_window_count(column); i++) {
        for (uint32_t k = 0; k < WINDOW_SIZE; k++) /* one of a hundred has another owner */
            births[k] = k % 100 == i % 100 ? GENERATION + 1 : GENERATION;
        outside_column_settle_window(column, i, births);
    }
    settled = ms_since(begun_us);
    printf("%" PRIu64 " values: fetched and synced in %.0f ms, mapped and checked in %.0f ms, "
           "compared with births in %.0f ms; %.0f ms in all\n",
           count, fetched, opened, settled, fetched + opened + settled);
    outside_column_close(column);
    blob_close(blob);
    return 0;
}
