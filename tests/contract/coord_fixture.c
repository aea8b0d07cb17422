/* SPDX-License-Identifier: Apache-2.0 */
/* coord_fixture.c - see coord_fixture.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "contract/cases.h"
#include "coord/bounds.h"
#include "coord_fixture.h"
#include "patience.h"
#include "sim/sim_net.h"

int64_t fixture_now_us(void)
{
    return clock_mono_us(clock_system());
}

void fixture_begin(struct backend *backend, const char *name)
{
    uint64_t unique = random_u64();

    *backend = (struct backend){.name = name};
    if (strcmp(name, "zookeeper") == 0) {
        const char *server = server_address(name);

        if (!server)
            skip();
        snprintf(backend->url, sizeof(backend->url), "zookeeper://%s/torg-test/%016jx", server,
                 (uintmax_t)unique);
    } else if (strcmp(name, "local") == 0) {
        assert_true(test_dir_make(backend->dir));
        snprintf(backend->url, sizeof(backend->url), "local:%s", backend->dir);
    } else if (strcmp(name, "sim") == 0) {
        struct err err = {0};

        OK(sim_net_open(1, NULL, NULL, &backend->net, &err));
        backend->member = sim_node_new(backend->net, "a");
        snprintf(backend->url, sizeof(backend->url), "sim:a");
    } else {
        snprintf(backend->url, sizeof(backend->url), "%s:%016jx", name, (uintmax_t)unique);
    }
}

void fixture_end(struct backend *backend)
{
    sim_node_free(backend->member);
    if (backend->net)
        sim_net_close(backend->net);
    if (backend->dir[0])
        assert_int_equal(dir_remove(backend->dir, NULL), 0);
}

struct coord *fixture_open(const char *url, const char *member, int lease_ms)
{
    struct coord_options options = {.lease_us = (int64_t)lease_ms * MS_US};
    struct coord *coord;
    struct err err = {0};

    if (coord_open(url, member, &options, &coord, &err))
        fail_msg("%s: %s", url, err.text);
    return coord;
}

struct coord_shards *fixture_join(struct coord *coord, const char *set, uint32_t count)
{
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;
    struct coord_shards *shards;
    struct err err = {0};
    int rc;

    do /* by a short lease a busy server is soon one that does not answer */
        rc = coord_join(coord, set, count, &shards, &err);
    while (rc == ERR_UNAVAILABLE && fixture_now_us() < give_up_us);
    if (rc)
        fail_msg("%s", err.text);
    return shards;
}

void fixture_settle(struct coord_shards *const *members, size_t member_count, uint32_t shard_count)
{
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;
    struct coord_shard owned[COORD_SHARD_COUNT_MAX];
    size_t i;
    size_t j;

    while (fixture_now_us() < give_up_us) {
        size_t total = 0;
        size_t fair = 0;

        for (i = 0; i < member_count; i++) {
            size_t count = coord_owned(members[i], owned, ARRAY_COUNT(owned));

            for (j = 0; j < count; j++) {
                if (owned[j].leaving)
                    coord_release(members[i], owned[j].shard, owned[j].ticket);
            }
            total += count;
            fair += count >= shard_count / member_count &&
                    count <= (shard_count + member_count - 1) / member_count;
        }
        if (total == shard_count && fair == member_count)
            return;
        usleep(STEP_MS * 1000);
    }
    fail_msg("shards were not spread within %d ms", PATIENCE_MS);
}

uint64_t fixture_ticket(struct coord_shards *shards, uint32_t shard)
{
    struct coord_shard owned[COORD_SHARD_COUNT_MAX];
    size_t count = coord_owned(shards, owned, ARRAY_COUNT(owned));
    size_t i;

    for (i = 0; i < count; i++) {
        if (owned[i].shard == shard)
            return owned[i].ticket;
    }
    return 0;
}

uint64_t fixture_wait_ticket(struct coord_shards *shards, uint32_t shard)
{
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;
    uint64_t ticket = 0;

    while (!ticket && fixture_now_us() < give_up_us) {
        ticket = fixture_ticket(shards, shard);
        if (!ticket)
            usleep(1000);
    }
    if (!ticket)
        fail_msg("shard %u was not gained within %d ms", shard, PATIENCE_MS);
    return ticket;
}

void fixture_wait_invalid(struct coord_shards *shards, uint32_t shard, uint64_t ticket)
{
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;

    while (coord_valid(shards, shard, ticket)) {
        if (fixture_now_us() > give_up_us)
            fail_msg("the old owner still claims its shard");
        usleep(1000);
    }
}

static void *beat(void *arg)
{
    struct pulse *pulse = arg;
    int64_t last_us = fixture_now_us();

    while (!atomic_load(&pulse->is_over)) {
        struct buf value = BUF_INIT(64);
        uint64_t version;
        struct err err;
        int rc = coord_get(pulse->coord, "pulse", &value, &version, &err);
        int64_t now_us = fixture_now_us();

        if (now_us - last_us > pulse->longest_us)
            pulse->longest_us = now_us - last_us;
        if (rc == ERR_NOT_FOUND)
            last_us = now_us;
        buf_release(&value);
        usleep(STEP_MS * 1000);
    }
    return NULL;
}

void pulse_begin(struct pulse *pulse, const char *url)
{
    *pulse = (struct pulse){.coord = fixture_open(url, "pulse", KEPT_MS)};
    assert_int_equal(pthread_create(&pulse->thread, NULL, beat, pulse), 0);
}

bool pulse_end(struct pulse *pulse, int lease_ms)
{
    atomic_store(&pulse->is_over, true);
    pthread_join(pulse->thread, NULL);
    coord_close(pulse->coord);
    return pulse->longest_us >= (int64_t)lease_ms * MS_US / STILL_PART;
}

void fixture_try(struct backend *backend, bool (*attempt)(struct backend *backend, int lease_ms))
{
    int lease_ms = LEASE_MS;

    for (int i = 0; i < TRY_COUNT; i++, lease_ms *= 2) {
        struct pulse pulse;
        bool is_still, is_done;

        pulse_begin(&pulse, backend->url);
        is_done = attempt(backend, lease_ms);
        is_still = pulse_end(&pulse, lease_ms);
        if (is_done)
            return;
        if (!is_still)
            fail_msg("it failed, and nothing stood still for longer than %d ms",
                     (int)(pulse.longest_us / MS_US));
        print_message("# once more: nothing was answered for %d ms\n",
                      (int)(pulse.longest_us / MS_US));
    }
    fail_msg("the machine stands still again and again, for longer than %d ms",
             lease_ms / 2 / STILL_PART);
}

bool vault_write(struct vault *vault, uint64_t ticket, uint64_t value)
{
    uint64_t newest = atomic_load(&vault->newest);

    do {
        if (ticket < newest)
            return false;
    } while (!atomic_compare_exchange_weak(&vault->newest, &newest, ticket));
    atomic_store(&vault->value, value);
    return true;
}
