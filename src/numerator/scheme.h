/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheme.h - sharding schemes (S of T.S.V.G): which shard does a new key belong to?
 *
 *     1 to 4096            so many shards, by the hash of the key
 *     10001 to 14096       S - 10000 shards, by shop: a shop's keys are all in one, that of the
 *                          file of shops, or by the hash of the shop when the file has it not
 *
 * A known key stays where it is until all are numbered anew, whatever the file says by then.
 * Threads: shops are read by any, once they are made.
 */
#ifndef TORG_NUMERATOR_SCHEME_H
#define TORG_NUMERATOR_SCHEME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum { NUMBER_SCHEME_BY_SHOP = 10000 };

/* 0: there is no such scheme. */
uint32_t number_scheme_shard_count(uint32_t scheme);
bool number_scheme_is_by_shop(uint32_t scheme);

struct number_shops;

struct number_shops *number_shops_new(void);
void number_shops_free(struct number_shops *shops); /* NULL is fine */
/* Then number_shops_settle, once. The shop is copied. */
void number_shops_add(struct number_shops *shops, struct bytes shop, uint32_t shard);
/* ERR_INVALID: a shop is there twice, in two shards. */
int number_shops_settle(struct number_shops *shops, struct err *err);
bool number_shops_find(const struct number_shops *shops, struct bytes shop, uint32_t *shard);

/* hash: hash64 of the key, shop: its own, when the scheme goes by it. ERR_INVALID: it needs a shop
 * and there is none, or the file of shops names a shard that there is not. */
int number_scheme_shard(uint32_t scheme, uint32_t shard_count, const struct number_shops *shops,
                        uint64_t hash, struct bytes shop, uint32_t *shard, struct err *err);

#endif
