/* SPDX-License-Identifier: Apache-2.0 */
/* scheme.c - see scheme.h. */
#include "numerator/scheme.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/memory.h"
#include "numerator/bounds.h"
#include "numerator/numerator.h"

struct shop {
    uint64_t at; /* of its name */
    uint32_t size;
    uint32_t shard;
};

struct number_shops {
    struct shop *list; /* owned; in order of names once settled */
    size_t count, capacity;
    struct buf names;
    bool is_settled;
};

uint32_t number_scheme_shard_count(uint32_t scheme)
{
    uint32_t count = number_scheme_is_by_shop(scheme) ? scheme - NUMBER_SCHEME_BY_SHOP : scheme;

    return count <= NUMBER_SHARD_COUNT_MAX ? count : 0;
}

bool number_scheme_is_by_shop(uint32_t scheme)
{
    return scheme > NUMBER_SCHEME_BY_SHOP;
}

struct number_shops *number_shops_new(void)
{
    struct number_shops *shops = mem_zero(sizeof(*shops));

    buf_init(&shops->names, SIZE_MAX);
    return shops;
}

void number_shops_free(struct number_shops *shops)
{
    if (!shops)
        return;
    buf_release(&shops->names);
    free(shops->list);
    free(shops);
}

void number_shops_add(struct number_shops *shops, struct bytes shop, uint32_t shard)
{
    assert(!shops->is_settled);
    shops->list = mem_grow(shops->list, shops->count + 1, sizeof(*shops->list), &shops->capacity);
    shops->list[shops->count++] =
        (struct shop){.at = shops->names.size, .size = (uint32_t)shop.size, .shard = shard};
    buf_put(&shops->names, shop);
}

static struct bytes name_of(const struct number_shops *shops, const struct shop *shop)
{
    return bytes_make(shops->names.data + shop->at, shop->size);
}

static int compare_shops(const void *left, const void *right, void *arg)
{
    return bytes_compare(name_of(arg, left), name_of(arg, right));
}

int number_shops_settle(struct number_shops *shops, struct err *err)
{
    if (shops->count > 1)
        qsort_r(shops->list, shops->count, sizeof(*shops->list), compare_shops, shops);
    shops->is_settled = true;
    for (size_t i = 1; i < shops->count; i++) {
        const struct shop *shop = &shops->list[i];

        if (compare_shops(shop - 1, shop, shops) == 0 && shop[-1].shard != shop->shard)
            return err_set(err, ERR_INVALID,
                           "shop %.*s is there twice, in shard %" PRIu32 " and in %" PRIu32,
                           BYTES_ARG(name_of(shops, shop)), shop[-1].shard, shop->shard);
    }
    return 0;
}

bool number_shops_find(const struct number_shops *shops, struct bytes shop, uint32_t *shard)
{
    size_t low = 0, high = shops->count;

    assert(shops->is_settled);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(name_of(shops, &shops->list[middle]), shop);

        if (order == 0) {
            *shard = shops->list[middle].shard;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static int shard_of_shop(uint32_t shard_count, const struct number_shops *shops, struct bytes shop,
                         uint32_t *shard, struct err *err)
{
    if (shop.size == 0)
        return err_set(err, ERR_INVALID, "it has no shop, by which keys are spread over shards");
    if (!shops || !number_shops_find(shops, shop, shard))
        *shard = number_key_shard(number_key_hash(shop), shard_count);
    if (*shard >= shard_count)
        return err_set(err, ERR_INVALID,
                       "the file of shops has shop %.*s in shard %" PRIu32
                       ", and there are %" PRIu32 " shards",
                       BYTES_ARG(shop), *shard, shard_count);
    return 0;
}

int number_scheme_shard(uint32_t scheme, uint32_t shard_count, const struct number_shops *shops,
                        uint64_t hash, struct bytes shop, uint32_t *shard, struct err *err)
{
    if (number_scheme_is_by_shop(scheme))
        return shard_of_shop(shard_count, shops, shop, shard, err);
    *shard = number_key_shard((int64_t)(hash ^ (1ULL << 63)), shard_count);
    return 0;
}
