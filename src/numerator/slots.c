/* SPDX-License-Identifier: Apache-2.0 */
/* slots.c - see slots.h. */
#include "numerator/slots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for one more in an owned array. */
static void *grown(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    return mem_resize(array, *capacity * size);
}

void slots_init(struct slots *slots, const struct number_rules *rules)
{
    *slots = (struct slots){.rules = *rules};
    slots_class(slots, BYTES_EMPTY);
    slots_commit(slots, 0);
}

void slots_release(struct slots *slots)
{
    for (uint32_t i = 0; i < slots->class_count; i++)
        free(slots->classes[i].free);
    free(slots->classes);
    free(slots->extents);
    free(slots->held);
    free(slots->steps);
    *slots = (struct slots){0};
}

static void add_step(struct slots *slots, enum slot_step_kind kind, uint32_t class_no,
                     uint32_t doc_id)
{
    slots->steps =
        grown(slots->steps, slots->step_count, &slots->step_capacity, sizeof(*slots->steps));
    slots->steps[slots->step_count++] = (struct slot_step){kind, class_no, doc_id};
}

struct bytes slots_class_name(const struct slots *slots, uint32_t class_no)
{
    assert(class_no < slots->class_count);
    return bytes_make(slots->classes[class_no].name, slots->classes[class_no].name_size);
}

uint32_t slots_class(struct slots *slots, struct bytes place)
{
    struct slot_class *made;
    size_t capacity = slots->class_capacity;

    assert(place.size <= NUMBER_CLASS_SIZE_MAX);
    for (uint32_t i = 0; i < slots->class_count; i++)
        if (bytes_equal(slots_class_name(slots, i), place))
            return i;
    if (slots->class_count == NUMBER_CLASS_COUNT_MAX)
        return 0;
    slots->classes = grown(slots->classes, slots->class_count, &capacity, sizeof(*slots->classes));
    slots->class_capacity = (uint32_t)capacity;
    made = &slots->classes[slots->class_count++];
    *made = (struct slot_class){.name_size = (uint32_t)place.size};
    if (place.size > 0)
        memcpy(made->name, place.data, place.size);
    add_step(slots, SLOT_CLASS, slots->class_count - 1, 0);
    return slots->class_count - 1;
}

/* --- the heap of free numbers --- */

static void push_free(struct slot_class *class, uint32_t doc_id)
{
    size_t at;

    class->free = grown(class->free, class->free_count, &class->free_capacity, sizeof(uint32_t));
    at = class->free_count++;
    while (at > 0 && class->free[(at - 1) / 2] > doc_id) {
        class->free[at] = class->free[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    class->free[at] = doc_id;
}

static uint32_t pop_free(struct slot_class *class)
{
    uint32_t lowest = class->free[0];
    uint32_t last = class->free[--class->free_count];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= class->free_count)
            break;
        if (child + 1 < class->free_count && class->free[child + 1] < class->free[child])
            child++;
        if (class->free[child] >= last)
            break;
        class->free[at] = class->free[child];
        at = child;
    }
    class->free[at] = last;
    return lowest;
}

/* --- extents --- */

static void add_extent(struct slots *slots, uint32_t class_no)
{
    struct slot_class *class = &slots->classes[class_no];
    uint32_t at = slots->next_extent / NUMBER_EXTENT_SIZE;

    slots->extents = grown(slots->extents, at, &slots->extent_capacity, sizeof(*slots->extents));
    assert(slots->next_extent % NUMBER_EXTENT_SIZE == 0 && class_no < slots->class_count);
    assert(class->next == class->end); /* the one before is used up */
    slots->extents[at] = class_no;
    class->next = slots->next_extent;
    class->end = slots->next_extent = class->next + NUMBER_EXTENT_SIZE;
}

uint32_t slots_extent(const struct slots *slots, uint32_t at, uint32_t *class_no)
{
    const struct slot_class *class;
    uint32_t first = at * NUMBER_EXTENT_SIZE;

    assert(first < slots->next_extent);
    *class_no = slots->extents[at];
    class = &slots->classes[*class_no];
    return class->end == first + NUMBER_EXTENT_SIZE ? class->next - first : NUMBER_EXTENT_SIZE;
}

uint32_t slots_size(const struct slots *slots)
{
    uint32_t at = slots->next_extent / NUMBER_EXTENT_SIZE, class_no;

    return at > 0 ? (at - 1) * NUMBER_EXTENT_SIZE + slots_extent(slots, at - 1, &class_no) : 0;
}

uint32_t slots_owned(const struct slots *slots)
{
    size_t others = slots->held_count - slots->held_first;

    for (uint32_t i = 0; i < slots->class_count; i++)
        others += slots->classes[i].free_count;
    assert(others <= slots_size(slots));
    return slots_size(slots) - (uint32_t)others;
}

/* --- picking --- */

/* What was held long enough becomes free, as the generation that is made next sees it. Never
 * undone: after a rollback the next is the same. */
static void let_free(struct slots *slots, int64_t now_us)
{
    size_t settled = slots->held_count - slots->staged_count;

    assert(slots->staged_count <= slots->held_count && slots->held_first <= settled);
    while (slots->held_first < settled) {
        const struct slot_held *held = &slots->held[slots->held_first];

        if ((uint64_t)held->generation + slots->rules.hold_generations > slots->generation ||
            now_us - held->freed_us < slots->rules.hold_us)
            return;
        assert(held->class_no < slots->class_count && held->doc_id < slots->next_extent);
        push_free(&slots->classes[held->class_no], held->doc_id);
        slots->held_first++;
    }
}

/* A number that the class has; false: it has none. */
static bool pick_in(struct slots *slots, uint32_t class_no, uint32_t *doc_id)
{
    struct slot_class *class = &slots->classes[class_no];

    if (class->free_count > 0) {
        *doc_id = pop_free(class);
        add_step(slots, SLOT_HOLE, class_no, *doc_id);
        return true;
    }
    if (class->next == class->end)
        return false;
    *doc_id = class->next++;
    assert(class->next <= class->end && *doc_id < NUMBER_ID_END);
    add_step(slots, SLOT_NEXT, class_no, *doc_id);
    return true;
}

int slots_pick(struct slots *slots, uint32_t *class_no, int64_t now_us, uint32_t *doc_id,
               struct err *err)
{
    assert(*class_no < slots->class_count);
    let_free(slots, now_us);
    if (pick_in(slots, *class_no, doc_id))
        return 0;
    if (slots->next_extent <= NUMBER_ID_END - NUMBER_EXTENT_SIZE) {
        add_extent(slots, *class_no);
        add_step(slots, SLOT_EXTENT, *class_no, slots->classes[*class_no].next);
        pick_in(slots, *class_no, doc_id);
        return 0;
    }
    for (uint32_t i = 0; i < slots->class_count; i++)
        if (pick_in(slots, i, doc_id)) {
            *class_no = i;
            return 0;
        }
    return err_set(err, ERR_LIMIT,
                   "the shard has given all its %u numbers: renumber it, or spread the keys over "
                   "more shards",
                   NUMBER_ID_END);
}

static void add_held(struct slots *slots, struct slot_held held)
{
    if (slots->held_count == slots->held_capacity && slots->held_first > slots->held_count / 2) {
        slots->held_count -= slots->held_first;
        memmove(slots->held, slots->held + slots->held_first,
                slots->held_count * sizeof(*slots->held));
        slots->held_first = 0;
    }
    slots->held =
        grown(slots->held, slots->held_count, &slots->held_capacity, sizeof(*slots->held));
    assert(held.doc_id < slots->next_extent);
    slots->held[slots->held_count++] = held;
}

void slots_give_back(struct slots *slots, uint32_t doc_id, uint32_t class_no, uint32_t generation,
                     int64_t now_us)
{
    assert(class_no < slots->class_count);
    add_held(slots, (struct slot_held){doc_id, class_no, generation, now_us});
    slots->staged_count++;
}

void slots_commit(struct slots *slots, uint32_t generation)
{
    slots->generation = generation;
    slots->step_count = 0;
    slots->staged_count = 0;
}

void slots_rollback(struct slots *slots)
{
    slots->held_count -= slots->staged_count;
    slots->staged_count = 0;
    while (slots->step_count > 0) {
        const struct slot_step *step = &slots->steps[--slots->step_count];
        struct slot_class *class = &slots->classes[step->class_no];

        switch (step->kind) {
        case SLOT_HOLE:
            push_free(class, step->doc_id);
            break;
        case SLOT_NEXT:
            class->next = step->doc_id;
            break;
        case SLOT_EXTENT: /* the one before was used up */
            class->next = class->end = 0;
            slots->next_extent = step->doc_id;
            break;
        case SLOT_CLASS:
            free(class->free);
            slots->class_count--;
            break;
        }
    }
}

/* --- from what was kept --- */

void slots_restore_extent(struct slots *slots, struct bytes place, uint32_t first, uint32_t used)
{
    uint32_t class_no = slots_class(slots, place);

    assert(used <= NUMBER_EXTENT_SIZE && first == slots->next_extent);
    add_extent(slots, class_no);
    slots->classes[class_no].next += used;
}

void slots_restore_free(struct slots *slots, struct bytes place, uint32_t doc_id,
                        uint32_t generation, int64_t freed_us)
{
    add_held(slots, (struct slot_held){doc_id, slots_class(slots, place), generation, freed_us});
}

static int compare_held(const void *left, const void *right)
{
    const struct slot_held *a = left, *b = right;

    if (a->generation != b->generation)
        return a->generation < b->generation ? -1 : 1;
    if (a->freed_us != b->freed_us)
        return a->freed_us < b->freed_us ? -1 : 1;
    return (a->doc_id > b->doc_id) - (a->doc_id < b->doc_id);
}

void slots_restored(struct slots *slots, uint32_t generation)
{
    if (slots->held_count > 1)
        qsort(slots->held, slots->held_count, sizeof(*slots->held), compare_held);
    slots_commit(slots, generation);
}
