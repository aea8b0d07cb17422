/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/offers_fill.c - fills a store with offers, quickly, by the transaction that publishes them.
 *
 * Every offer goes through offer_save_in, so that lists, counts, totals and sequences are what
 * they would be; only many share a commit, and the export's queue is emptied at once, as if a
 * worker had been there. Sellers get a key each. STATE gets an array of struct sample_record, KEYS
 * a key a line.
 *
 * usage: bench-offers-fill STORE_URL OFFERS SELLERS STATE KEYS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/keys.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/change/offer_save.h"
#include "offers/record/offer_record.h"
#include "offers_sample.h"
#include "store/migrate.h"

enum { CHUNK_COUNT = 500, SELLER_SIZE = 16, YEAR_S = 365 * 24 * 3600 };

struct chunk {
    struct offers *offers;
    struct offer_save saves[CHUNK_COUNT];
    uint32_t sellers[CHUNK_COUNT];
    size_t count;
};

static void check(int rc, const char *what, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-offers-fill: %s: %s\n", what, err->text);
        exit(1);
    }
}

static uint64_t number_of(const char *text)
{
    uint64_t number;

    if (!text_to_u64(bytes_of(text), &number) || !number) {
        fprintf(stderr, "bench-offers-fill: %s: a number is expected\n", text);
        exit(2);
    }
    return number;
}

static int save_chunk(struct store_tx *tx, void *arg, struct err *err)
{
    struct chunk *chunk = arg;
    int rc = 0;

    for (size_t i = 0; i < chunk->count && !rc; i++) {
        chunk->saves[i].id = 0;
        rc = offer_save_in(tx, &chunk->saves[i], err);
    }
    return rc ? rc : store_exec(tx, "DELETE FROM queue", NULL, 0, NULL, err);
}

/* Ten years are left to each: a kept store can be measured next month. */
static Torg__V1__Offer *make_offer(struct rng *rng, const char *seller, struct arena *arena)
{
    Torg__V1__Offer *offer = (Torg__V1__Offer *)message_new(&torg__v1__offer__descriptor, arena);
    int64_t now_us = clock_wall_us(clock_system());

    offer->seller = arena_strdup(arena, seller);
    offer->revision = 1;
    offer->status = TORG__V1__OFFER__STATUS__ACTIVE;
    offer->content = sample_content(rng, arena);
    offer->create_time = offer->update_time = moment_or_none(now_us, arena);
    offer->expire_time = moment_or_none(now_us + 10 * (int64_t)YEAR_S * SECOND_US, arena);
    return offer;
}

static void fill_chunk(struct chunk *chunk, struct rng *rng, uint64_t seller_count, FILE *state)
{
    struct arena *arena = arena_new();
    struct err err;

    for (size_t i = 0; i < chunk->count; i++) {
        struct offer_save *save = &chunk->saves[i];
        char seller[SELLER_SIZE];

        chunk->sellers[i] = (uint32_t)rng_below(rng, seller_count);
        snprintf(seller, sizeof(seller), "s%05u", chunk->sellers[i]);
        *save = (struct offer_save){
            .offers = chunk->offers, .arena = arena, .after = make_offer(rng, seller, arena)};
        check(offer_save_prepare(save, &err), "encode", &err);
    }
    check(store_write(chunk->offers->store, save_chunk, chunk, &err), "save", &err);
    for (size_t i = 0; i < chunk->count; i++) {
        const struct sample_record record = {
            .id = chunk->saves[i].id, .seller = chunk->sellers[i], .revision = 1};

        if (fwrite(&record, sizeof(record), 1, state) != 1)
            exit(1);
        offer_save_release(&chunk->saves[i]);
    }
    arena_free(arena);
}

static void make_keys(struct store *store, uint64_t seller_count, FILE *file)
{
    static const char *const scopes[] = {"offers.read", "offers.write"};

    for (uint64_t i = 0; i < seller_count; i++) {
        struct arena *arena = arena_new();
        struct violations violations = violations_in(arena);
        char text[KEY_TEXT_LENGTH + 1];
        char seller[SELLER_SIZE];
        struct key key;
        struct err err;
        const struct key_request request = {.name = seller,
                                            .scopes = scopes,
                                            .scope_count = ARRAY_COUNT(scopes),
                                            .seller = seller,
                                            .client = ""};

        snprintf(seller, sizeof(seller), "s%05" PRIu64, i);
        check(keys_create(store, &request, "bench", clock_wall_us(clock_system()), &violations,
                          &key, text, &err),
              "key", &err);
        fprintf(file, "%s\n", text);
        arena_free(arena);
    }
}

int main(int argc, char **argv)
{
    static struct chunk chunk;
    struct offers offers = {.clock = clock_system()};
    struct rng rng = rng_seeded(1);
    uint64_t seller_count;
    uint64_t count;
    struct err err;
    FILE *state;
    FILE *keys;

    if (argc != 6) {
        fprintf(stderr, "usage: bench-offers-fill STORE_URL OFFERS SELLERS STATE KEYS\n");
        return 2;
    }
    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_WARN, STDERR_FILENO);
    count = number_of(argv[2]);
    seller_count = number_of(argv[3]);
    state = fopen(argv[4], "wb");
    keys = fopen(argv[5], "w");
    if (!state || !keys) {
        perror("bench-offers-fill");
        return 1;
    }
    check(store_open(argv[1], &offers.store, &err), "open", &err);
    check(store_migrate(offers.store, NULL, &err), "migrate", &err);
    make_keys(offers.store, seller_count, keys);
    chunk.offers = &offers;
    for (uint64_t done = 0; done < count; done += chunk.count) {
        chunk.count = count - done < CHUNK_COUNT ? (size_t)(count - done) : CHUNK_COUNT;
        fill_chunk(&chunk, &rng, seller_count, state);
    }
    store_close(offers.store);
    if (fclose(state) || fclose(keys)) {
        perror("bench-offers-fill");
        return 1;
    }
    return 0;
}
