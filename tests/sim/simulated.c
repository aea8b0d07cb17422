/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated.c - the world of main.c in simulated time: sim.h's scheduler, clock and disk.
 *
 * A minute of the crowd over up to five lives, which end in order, killed, or by a power loss; the
 * last one comes to rest and is judged. Fewer steps are fewer seconds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "codec/json_type.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "sim/crowd.h"
#include "sim/draw.h"
#include "sim/rest.h"
#include "sim/sim.h"
#include "sim/sim_migrated.h"
#include "store/store.h"

enum {
    SECONDS = 60,
    LIFE_COUNT_MAX = 5,
    ABORT_COUNT_MAX = 20,          /* lives that the store ends, on a disk that fails */
    END_US_MAX = 10 * SECOND_US,   /* an end that waits for a rename comes within this */
    CLOCK_REST_US = 6 * SECOND_US, /* what has ended is not shown any more then */
    SPOILT_SHARE = 6,              /* of so many seeds one has a disk that fails */
    SPELL_US_MAX = 5 * SECOND_US,
    IO_ERROR_RATE = 20000, /* of a million calls */
    TEXT_SIZE = 4096,
};
#define DAY_US (INT64_C(86400) * SECOND_US)

struct plan {
    unsigned life_count;
    int64_t duration_us; /* of this life */
};

/* --- what the model tells is history (the linker wraps these two) --- */

void __real_model_step(struct model *model, const struct slot *slot, const char *format, ...);
void __wrap_model_step(struct model *model, const struct slot *slot, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void __real_model_fail(struct model *model, const struct slot *slot, const char *format,
                                 ...);
_Noreturn void __wrap_model_fail(struct model *model, const struct slot *slot, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));

void __wrap_model_step(struct model *model, const struct slot *slot, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    __real_model_step(model, slot, "%s", text);
    if (slot)
        sim_trace("#%u %s %s", model_slot_number(model, slot), slot->key, text);
    else
        sim_trace("%s", text);
}

void __wrap_model_fail(struct model *model, const struct slot *slot, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sim_set_failure("%s", text);
    __real_model_fail(model, slot, "%s", text);
}

/* --- the store's log is short, so that its checkpoints are met by kills and power losses --- */

int __real_store_open_with(const char *url, const struct store_options *options,
                           struct store **store, struct err *err);
int __wrap_store_open_with(const char *url, const struct store_options *options,
                           struct store **store, struct err *err);

int __wrap_store_open_with(const char *url, const struct store_options *options,
                           struct store **store, struct err *err)
{
    static const unsigned page_counts[] = {0, 40, 200, 200};
    struct store_options shorter = *options;
    struct rng rng = draw_for(sim_seed(), 0, 1004);

    shorter.wal_page_count = page_counts[draw_below(&rng, 4)];
    return __real_store_open_with(url, &shorter, store, err);
}

/* The database could not be synced: the process ends itself then, and the next life copies the log
 * again (sqlite_checkpointer.c). */
_Noreturn void __real_abort(void);
_Noreturn void __wrap_abort(void);

void __wrap_abort(void)
{
    if (strcmp(sim_task_name(), "store-wal") == 0 && sim_faults()->io_error)
        sim_end_life(SIM_END_KILL);
    __real_abort();
}

/* --- lives --- */

static struct plan draw_plan(uint64_t seed, unsigned life)
{
    struct rng rng = draw_for(seed, 0, 1001);
    struct plan plan = {.life_count = 1 + draw_below(&rng, LIFE_COUNT_MAX)};
    int64_t about_us = (int64_t)sim_steps() * SECOND_US / plan.life_count;

    for (unsigned i = 0; i <= life; i++)
        plan.duration_us = about_us / 2 + (int64_t)rng_below(&rng, (uint64_t)about_us + 1);
    return plan;
}

/* Spelling is rare: its dictionaries cost a second of work at each start. */
static void open_world(struct world *world, struct model *model)
{
    static const unsigned checkpoints[] = {0, 3, 20};
    struct rng rng = draw_for(model->seed, 0, 1000);
    struct world_options options = {.dir = "disk/data",
                                    .shards = 1 + draw_below(&rng, 2),
                                    .checkpoint = checkpoints[draw_below(&rng, 3)],
                                    .spelling = draw_chance(&rng, 2),
                                    .numbers_return = draw_chance(&rng, 500)};
    struct err err;

    if (world_open(world, &options, &err))
        model_fail(model, NULL, "the world does not open: %s", err.text);
    if (model->life == 1 && world_apply_catalog(world, 0, &err))
        model_fail(model, NULL, "the first catalogue: %s", err.text);
}

/* Between two steps of one of the crowd: a seed costs what they do, not the time. Some seeds are
 * dense, so that things meet; most are not, and there are the more of them. */
static int64_t draw_pace(uint64_t seed)
{
    static const unsigned paces[] = {1, 3, 4, 5};
    struct rng rng = draw_for(seed, 0, 1003);

    return paces[draw_below(&rng, 4)] * (int64_t)SECOND_US;
}

/* In some seeds the clock is set forward between lives, by days: offers expire. 0: not in this. */
static int64_t draw_clock(uint64_t seed)
{
    struct rng rng = draw_for(seed, 0, 1002);

    if (!draw_chance(&rng, 200) || !sim_has("clock"))
        return 0;
    return DAY_US / 2 + (int64_t)rng_below(&rng, 2 * DAY_US);
}

/* Somebody has removed the index, or its disk is another: it is made anew from its topics. */
static void lose_index(const struct model *model)
{
    struct rng rng = draw_for(model->seed, model->life, 1005);
    struct err err = {.text = "done"};

    if (model->life == 1 || !draw_chance(&rng, 200) || !sim_has("shard-loss"))
        return;
    dir_remove("disk/data/index", &err);
    sim_trace("the index is removed: %s", err.text);
}

/* Who has no answer yet asks before: after days nobody remembers his idempotency key. */
static void set_clock_forward(struct world *world, struct model *model)
{
    rest_resolve(world, model);
    model->wall_ahead_us += model->wall_step_us;
    sim_member_set_wall(sim_member_current(), model->wall_ahead_us);
    sim_trace("the clock is set forward");
    pause_us(CLOCK_REST_US);
}

/* The disk fails, or is full, for a while, or up to the life's end: what was asked for meanwhile
 * has happened or not. */
static void spoil_disk(struct plan *plan)
{
    struct sim_faults *faults = sim_faults();
    int64_t spell_us = (int64_t)sim_below(SPELL_US_MAX);
    int64_t before_us = plan->duration_us - spell_us;
    bool lasts = sim_below(2);

    if (before_us > 0 && !lasts)
        before_us = (int64_t)sim_below((uint64_t)before_us);
    if (before_us < 0)
        before_us = 0;
    pause_us(before_us);
    if (sim_below(2))
        faults->io_error = IO_ERROR_RATE;
    else
        sim_disk_full(true);
    plan->duration_us -= before_us;
    if (lasts || plan->duration_us < spell_us)
        return;
    pause_us(spell_us);
    faults->io_error = 0;
    sim_disk_full(false);
    plan->duration_us -= spell_us;
}

static void live(void *shared, unsigned life)
{
    struct plan plan = draw_plan(sim_seed(), life);
    bool is_last = life + 1 >= plan.life_count;
    struct model *model = shared;
    struct world world;
    struct crowd crowd;
    uint64_t way = sim_below(10);
    bool is_cut_short = !is_last && way < 8;

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_WARN, STDERR_FILENO);
    if (life == 0) {
        model->seed = sim_seed();
        model->start_us = now_mono_us();
        model->wall_step_us = draw_clock(sim_seed());
    }
    sim_member_set_wall(sim_member_current(), model->wall_ahead_us);
    model_begin_life(model);
    lose_index(model);
    open_world(&world, model);
    sim_trace("the world is open");
    if (life && model->wall_step_us)
        set_clock_forward(&world, model);
    if (is_cut_short && way < 4)
        sim_end_at_rename(SIM_END_POWER, plan.duration_us);
    else if (is_cut_short)
        sim_end_later(way < 6 ? SIM_END_POWER : SIM_END_KILL, plan.duration_us);
    crowd_start(&crowd, &world, model, draw_pace(sim_seed()));
    if (sim_seed() % SPOILT_SHARE == 0 && sim_has("bad-disk"))
        spoil_disk(&plan);
    pause_us(plan.duration_us + (is_cut_short ? END_US_MAX : 0));
    crowd_stop(&crowd);
    sim_end_never();
    if (is_last) {
        sim_faults_none();
        sim_trace("it comes to rest");
        rest_judge(&world, model);
    }
    world_close(&world);
    if (!is_last)
        sim_end_life(SIM_END_STOP);
}

/* Descriptions of all messages are read when the first type is asked for. */
static void prepare(void)
{
    (void)json_type_get(&google__protobuf__timestamp__descriptor);
}

int main(int argc, char **argv)
{
    static const struct sim_program program = {.name = "world",
                                               .life = live,
                                               .prepare = prepare,
                                               .prepare_all = sim_migrated_prepare,
                                               .shared_size = sizeof(struct model),
                                               .step_count = SECONDS,
                                               .life_count_max = LIFE_COUNT_MAX + ABORT_COUNT_MAX};

    return sim_main(argc, argv, &program);
}
