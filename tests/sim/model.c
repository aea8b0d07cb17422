/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - see model.h. */
#include "sim/model.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "offers/record/offer_status.h"
#include "sim/draw.h"

/* Seconds are what the index keeps of an end, and it is looked at once a second. */
enum { END_SLACK_US = 5 * SECOND_US, STEP_SHOWN_COUNT = 60 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct model *model_new(uint64_t seed)
{
    struct model *model =
        mmap(NULL, sizeof(*model), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert(model != MAP_FAILED);
    model->seed = seed;
    model->start_us = now_mono_us();
    return model;
}

void model_free(struct model *model)
{
    munmap(model, sizeof(*model));
}

void model_begin_life(struct model *model)
{
    model->life++;
    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];

        slot->is_busy = false;
        /* its maker did not come to ask for it */
        slot->is_over |= slot->kind == SLOT_OFFER && slot->revision == 0 && !slot->ask.what;
    }
}

void model_lock(void)
{
    pthread_mutex_lock(&lock);
}

void model_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct slot *model_add(struct model *model, enum slot_kind kind, unsigned owner)
{
    struct slot *slot;

    if (model->slot_count == SLOT_COUNT_MAX)
        return NULL;
    slot = &model->slots[model->slot_count++];
    *slot = (struct slot){.kind = kind, .owner = owner, .entry_count = 1};
    slot->entries[0] = (struct entry){.state = ENTRY_DONE}; /* it does not exist */
    return slot;
}

uint32_t model_slot_number(const struct model *model, const struct slot *slot)
{
    return (uint32_t)(slot - model->slots);
}

uint32_t model_stamp(struct model *model, const struct slot *slot)
{
    uint32_t stamp = ++model->stamp_count;

    assert(stamp < STAMP_COUNT_MAX);
    model->stamp_slots[stamp] = (uint16_t)(model_slot_number(model, slot) + 1);
    return stamp;
}

struct slot *model_of_stamp(struct model *model, uint32_t stamp)
{
    if (stamp == 0 || stamp > model->stamp_count || !model->stamp_slots[stamp])
        return NULL;
    return &model->slots[model->stamp_slots[stamp] - 1];
}

/* ---- writes ---- */

bool slot_has_room(const struct slot *slot)
{
    return slot->entry_count - slot->floor < ENTRY_COUNT_MAX - 1;
}

static struct entry *entry_at(struct slot *slot, uint32_t place)
{
    return &slot->entries[place % ENTRY_COUNT_MAX];
}

void slot_ask(struct slot *slot, int what, const struct entry *entry)
{
    assert(slot->ask.what == 0 && what != 0 && slot_has_room(slot));
    slot->ask.what = what;
    slot->ask.stamp = entry->stamp;
    slot->ask.entry = slot->entry_count;
    *entry_at(slot, slot->entry_count++) = *entry;
    entry_at(slot, slot->ask.entry)->state = ENTRY_ASKED;
}

void slot_settle(struct slot *slot, bool has_happened)
{
    assert(slot->ask.what != 0);
    entry_at(slot, slot->ask.entry)->state = has_happened ? ENTRY_DONE : ENTRY_VOID;
    slot->ask = (struct ask){.what = 0};
}

/* ---- what may be seen ---- */

static bool entry_fits(const struct entry *entry, uint32_t stamp, int64_t start_us, int64_t now_us)
{
    if (entry->state == ENTRY_VOID)
        return false;
    if (stamp == 0)
        return !entry->is_shown || (entry->ends_us && now_us >= entry->ends_us - END_SLACK_US);
    if (entry->stamp != stamp)
        return false;
    if (!entry->is_shown)
        return entry->shows_us && now_us >= entry->shows_us - END_SLACK_US;
    return !entry->ends_us || start_us <= entry->ends_us + END_SLACK_US;
}

uint32_t slot_oldest(const struct slot *slot)
{
    return slot->entry_count > ENTRY_COUNT_MAX ? slot->entry_count - ENTRY_COUNT_MAX : 0;
}

bool slot_may_show(struct slot *slot, uint32_t floor, uint32_t stamp, int64_t start_us,
                   int64_t now_us)
{
    for (uint32_t place = floor; place < slot->entry_count; place++) {
        if (!entry_fits(entry_at(slot, place), stamp, start_us, now_us))
            continue;
        if (place > slot->floor)
            slot->floor = place;
        return true;
    }
    return false;
}

bool slot_may_match(struct slot *slot, uint32_t floor, uint32_t stamp, bool is_found,
                    int64_t start_us, int64_t now_us)
{
    if (is_found)
        return slot_may_show(slot, floor, stamp, start_us, now_us);
    for (uint32_t place = floor; place < slot->entry_count; place++) {
        const struct entry *entry = entry_at(slot, place);

        if (entry->state != ENTRY_VOID &&
            (entry->stamp != stamp || entry_fits(entry, 0, start_us, now_us)))
            return true;
    }
    return false;
}

uint32_t slot_final(struct slot *slot, int64_t now_us)
{
    for (uint32_t place = slot->entry_count; place-- > 0;) {
        const struct entry *entry = entry_at(slot, place);

        if (entry->state == ENTRY_VOID)
            continue;
        return entry->is_shown && (!entry->ends_us || now_us < entry->ends_us) ? entry->stamp : 0;
    }
    return 0;
}

bool slot_is_moving(const struct slot *slot, int64_t now_us)
{
    return (slot->ends_us && now_us >= slot->ends_us - END_SLACK_US) ||
           (slot->shows_us && now_us >= slot->shows_us - END_SLACK_US) ||
           (slot->asks_us && slot->status == OFFER_WAITING &&
            now_us >= slot->asks_us - END_SLACK_US);
}

/* ---- history ---- */

static void put_step(struct model *model, const struct slot *slot, const char *text)
{
    uint32_t place = model->step_count++ % STEP_COUNT_MAX;

    model->step_slots[place] = slot ? (uint16_t)(model_slot_number(model, slot) + 1) : (uint16_t)0;
    snprintf(model->steps[place], STEP_SIZE, "%10.6f life %u %s",
             (double)(now_mono_us() - model->start_us) / SECOND_US, model->life, text);
}

void model_step(struct model *model, const struct slot *slot, const char *format, ...)
{
    char text[STEP_SIZE];
    int length = 0;
    va_list args;

    if (slot)
        length = snprintf(text, sizeof(text), "#%u %s ", model_slot_number(model, slot), slot->key);
    va_start(args, format);
    vsnprintf(text + length, sizeof(text) - (size_t)length, format, args);
    va_end(args);
    put_step(model, slot, text);
}

static void print_steps(const struct model *model, const struct slot *slot)
{
    uint32_t kept = model->step_count < STEP_COUNT_MAX ? model->step_count : STEP_COUNT_MAX;
    uint32_t shown[STEP_SHOWN_COUNT];
    uint32_t count = 0;

    for (uint32_t i = 0; i < kept && count < STEP_SHOWN_COUNT; i++) {
        uint32_t place = (model->step_count - 1 - i) % STEP_COUNT_MAX;

        if (!slot || !model->step_slots[place] ||
            model->step_slots[place] == model_slot_number(model, slot) + 1)
            shown[count++] = place;
    }
    while (count > 0)
        fprintf(stderr, "#   %s\n", model->steps[shown[--count]]);
}

static void print_slot(const struct slot *slot)
{
    static const char *const states[] = {"asked", "done", "void"};

    for (uint32_t i = slot->floor; i < slot->entry_count; i++) {
        const struct entry *entry = &slot->entries[i % ENTRY_COUNT_MAX];

        fprintf(stderr, "#   entry %u: %s, stamp %u, %s\n", i, states[entry->state], entry->stamp,
                entry->is_shown ? "shown" : "hidden");
    }
}

void model_fail(struct model *model, const struct slot *slot, const char *format, ...)
{
    va_list args;

    pthread_mutex_trylock(&lock); /* for ever, by whomever: nothing else is told or written */
    model->is_failed = true;
    fprintf(stderr, "# seed %" PRIu64 ", life %u: ", model->seed, model->life);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    print_steps(model, slot);
    if (slot)
        print_slot(slot);
    fflush(stderr);
    _exit(LIFE_FAILED);
}
