/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - consumer groups of the embedded broker; the members live in this process.
 *
 * A group has a slot for each partition of its topics. A slot has an owner, who reads and commits
 * it, and a target, who shall own it. Whenever a member joins or leaves the targets are dealt
 * again, each member keeping what it can. A slot whose owner is not its target changes hands when
 * the owner polls (it has then processed its batch), closes, or has been silent for its session's
 * time: so no two members work on one partition, and a commit by anyone but the owner is refused.
 *
 * Members and slots hold their topics; code that reads a partition enters its topic first. After
 * the topic was removed they report that until they are closed: they do not move to a new topic of
 * the same name.
 *
 * Threads: local->groups_lock guards all of it, except that a slot's position belongs to its
 * owner while the owner is `busy` (inside poll or commit), when it cannot lose the slot.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "topic/local.h"

enum { SLOT_MAGIC = OBJECT_MAGIC('g', 's', 'l', 't') };

struct slot {
    uint32_t magic;
    struct local_topic *topic;
    uint32_t partition;
    struct member *owner, *target;
    bool positioned;
    uint64_t position; /* of the next record to read */
    struct read_hint hint;
};

struct member {
    struct consumer base;
    struct local *local;
    struct group *group;
    struct member *next;
    bool joined;
    bool busy;
    int64_t seen_us;
    int64_t session_us;
    enum topic_start start;
    size_t dealt; /* of the topic that is being dealt */

    struct local_topic *topics[TOPIC_SUBSCRIPTION_MAX];
    size_t topic_count;
    const void *things[TOPIC_SUBSCRIPTION_MAX + 1]; /* what wakes it: its topics, itself */

    struct slot **mine; /* owned array: what this poll reads */
    size_t mine_count;
    size_t turn; /* which of mine is read first */
    struct read_space space;
    struct arena *arena;
    struct topic_message *messages; /* owned, poll_count */
    size_t poll_count;
};

enum { GROUP_MAGIC = OBJECT_MAGIC('g', 'r', 'u', 'p') };

struct group {
    uint32_t magic;
    struct group *next;
    char *name;
    uint64_t generation;
    size_t consumer_count;  /* open ones, also those expelled */
    struct member *members; /* joined, oldest first */
    size_t member_count;
    struct slot **slots; /* owned; those of one topic are neighbours */
    size_t slot_count;
};

static struct member *member_of(struct consumer *consumer)
{
    return container_of(consumer, struct member, base);
}

void groups_init(struct local *local)
{
    pthread_mutex_init(&local->groups_lock, NULL);
}

void groups_release(struct local *local)
{
    assert(!local->groups);
    pthread_mutex_destroy(&local->groups_lock);
}

/* --- dealing; with groups_lock held --- */

static bool subscribes(const struct member *member, const struct local_topic *topic)
{
    size_t i;

    for (i = 0; i < member->topic_count; i++)
        if (member->topics[i] == topic)
            return true;
    return false;
}

static struct member *least_dealt(struct group *group, const struct local_topic *topic)
{
    struct member *least = NULL, *member;

    for (member = group->members; member; member = member->next)
        if (subscribes(member, topic) && (!least || member->dealt < least->dealt))
            least = member;
    return least;
}

/* The slots of one topic: owners keep up to their share, the rest goes to who has least. */
static void deal_topic(struct group *group, struct slot **slots, size_t count)
{
    const struct local_topic *topic = slots[0]->topic;
    struct member *member;
    size_t members = 0, share, extra, i;

    for (member = group->members; member; member = member->next) {
        member->dealt = 0;
        members += subscribes(member, topic);
    }
    assert(members <= group->member_count);
    share = members ? count / members : 0;
    extra = members ? count % members : 0; /* so many members have one more */
    for (i = 0; i < count; i++) {
        struct member *owner = slots[i]->owner;

        slots[i]->target = NULL;
        if (!owner || !subscribes(owner, topic))
            continue;
        if (owner->dealt < share || (owner->dealt == share && extra)) {
            extra -= owner->dealt == share;
            owner->dealt++;
            slots[i]->target = owner;
        }
    }
    for (i = 0; i < count; i++)
        if (!slots[i]->target) {
            slots[i]->target = least_dealt(group, topic);
            if (slots[i]->target)
                slots[i]->target->dealt++;
        }
}

static void hand_over(struct slot *slot)
{
    object_check(slot, SLOT_MAGIC);
    assert(!slot->target || slot->target->joined);
    slot->owner = slot->target;
    slot->positioned = false;
}

static void deal(struct local *local, struct group *group)
{
    struct member *member;
    size_t from, to, i;

    object_check(group, GROUP_MAGIC);
    assert(!group->members == !group->member_count);
    group->generation++;
    for (from = 0; from < group->slot_count; from = to) {
        for (to = from; to < group->slot_count; to++)
            if (group->slots[to]->topic != group->slots[from]->topic)
                break;
        deal_topic(group, group->slots + from, to - from);
    }
    for (i = 0; i < group->slot_count; i++)
        if (!group->slots[i]->owner)
            hand_over(group->slots[i]);
    for (member = group->members; member; member = member->next)
        waiter_wake(&local->board, member);
}

static void add_slots(struct local *local, struct group *group, struct local_topic *topic)
{
    uint32_t i;

    for (i = 0; i < group->slot_count; i++)
        if (group->slots[i]->topic == topic)
            return;
    group->slots = mem_resize(group->slots, (group->slot_count + topic->config.partition_count) *
                                                sizeof(*group->slots));
    for (i = 0; i < topic->config.partition_count; i++) {
        struct slot *slot = mem_zero(sizeof(*slot));

        object_begin(slot, SLOT_MAGIC);
        local_hold(local, topic);
        slot->topic = topic;
        slot->partition = i;
        group->slots[group->slot_count++] = slot;
    }
}

static void join(struct member *member)
{
    struct group *group = member->group;
    struct member **last = &group->members;
    size_t i;

    for (i = 0; i < member->topic_count; i++)
        add_slots(member->local, group, member->topics[i]);
    assert(!member->joined);
    while (*last)
        last = &(*last)->next;
    *last = member;
    member->next = NULL;
    member->joined = true;
    member->seen_us = clock_mono_us(member->local->clock);
    group->member_count++;
    assert(group->member_count <= group->consumer_count);
    deal(member->local, group);
}

/* Slots of topics that nobody subscribes to any more: such topics may be removed ones. */
static void prune_slots(struct local *local, struct group *group)
{
    size_t kept = 0, i;

    for (i = 0; i < group->slot_count; i++) {
        struct slot *slot = group->slots[i];
        const struct member *member = group->members;

        while (member && !subscribes(member, slot->topic))
            member = member->next;
        if (member) {
            group->slots[kept++] = slot;
            continue;
        }
        local_drop(local, slot->topic);
        object_end(slot, SLOT_MAGIC);
        free(slot);
    }
    group->slot_count = kept;
}

static void leave(struct member *member)
{
    struct group *group = member->group;
    struct member **at = &group->members;
    size_t i;

    if (!member->joined)
        return;
    assert(group->member_count > 0);
    while (*at != member)
        at = &(*at)->next;
    *at = member->next;
    member->joined = false;
    group->member_count--;
    for (i = 0; i < group->slot_count; i++)
        if (group->slots[i]->owner == member)
            group->slots[i]->owner = NULL;
    prune_slots(member->local, group);
    deal(member->local, group);
}

static void expire_group(struct local *local, struct group *group)
{
    int64_t now_us = clock_mono_us(local->clock);
    struct member *member, *next;

    for (member = group->members; member; member = next) {
        next = member->next;
        if (member->busy || now_us - member->seen_us <= member->session_us)
            continue;
        log_warn("consumer was silent for too long: its partitions go to others",
                 LOG_TEXT("group", group->name));
        leave(member);
    }
}

void groups_expire(struct local *local)
{
    struct group *group;

    pthread_mutex_lock(&local->groups_lock);
    for (group = local->groups; group; group = group->next)
        expire_group(local, group);
    pthread_mutex_unlock(&local->groups_lock);
}

/* --- opening and closing --- */

static int get_group(struct local *local, const char *name, struct group **group, struct err *err)
{
    struct group *found = local->groups;

    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    if (!found) {
        if (local->group_count == TOPIC_GROUP_COUNT_MAX)
            return err_set(err, ERR_LIMIT, "group %s would be one more than %d", name,
                           TOPIC_GROUP_COUNT_MAX);
        found = mem_zero(sizeof(*found));
        object_begin(found, GROUP_MAGIC);
        found->name = mem_strdup(name);
        found->next = local->groups;
        local->groups = found;
        local->group_count++;
    }
    if (found->consumer_count == TOPIC_MEMBER_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "group %s has TOPIC_MEMBER_COUNT_MAX members, %d", name,
                       TOPIC_MEMBER_COUNT_MAX);
    *group = found;
    return 0;
}

static void drop_group(struct local *local, struct group *group)
{
    struct group **at = &local->groups;
    size_t i;

    assert(group->consumer_count == 0 && !group->members && group->member_count == 0);
    assert(local->group_count > 0);
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    local->group_count--;
    for (i = 0; i < group->slot_count; i++) {
        local_drop(local, group->slots[i]->topic);
        object_end(group->slots[i], SLOT_MAGIC);
        free(group->slots[i]);
    }
    free(group->slots);
    free(group->name);
    object_end(group, GROUP_MAGIC);
    free(group);
}

static void free_member(struct member *member)
{
    size_t i;

    for (i = 0; i < member->topic_count; i++)
        local_drop(member->local, member->topics[i]);
    free(member->mine);
    free(member->space.data);
    free(member->messages);
    arena_free(member->arena);
    free(member);
}

int group_consumer_open(struct topics *topics, const struct consumer_options *options,
                        struct consumer **consumer, struct err *err)
{
    struct local *local = container_of(topics, struct local, base);
    struct member *member = mem_zero(sizeof(*member));
    size_t slot_count = 0, i;
    int rc;

    member->local = local;
    member->session_us = (int64_t)options->session_ms * MS_US;
    member->start = options->start;
    member->poll_count = options->poll_count;
    for (i = 0; i < options->topic_count; i++) {
        struct local_topic *topic = local_take(local, options->topics[i]);

        if (!topic) { /* removed since it was asked for */
            rc = local_refuse_removed(options->topics[i], err);
            free_member(member);
            return rc;
        }
        local_hold(local, topic);
        local_leave(local, topic);
        member->topics[member->topic_count++] = topic;
        member->things[i] = topic;
        slot_count += topic->config.partition_count;
    }
    member->things[i] = member;
    member->mine = mem_array(slot_count, sizeof(*member->mine));
    member->messages = mem_array(member->poll_count, sizeof(*member->messages));
    member->space = (struct read_space){mem_alloc(READ_SPACE_SIZE), READ_SPACE_SIZE, 0};
    member->arena = arena_new();
    pthread_mutex_lock(&local->groups_lock);
    rc = get_group(local, options->group, &member->group, err);
    if (!rc) {
        member->group->consumer_count++;
        expire_group(local, member->group);
        join(member);
    }
    pthread_mutex_unlock(&local->groups_lock);
    if (rc) {
        free_member(member);
        return rc;
    }
    *consumer = &member->base;
    return 0;
}

void group_consumer_close(struct consumer *consumer)
{
    struct member *member = member_of(consumer);
    struct local *local = member->local;

    pthread_mutex_lock(&local->groups_lock);
    assert(!member->busy && member->group->consumer_count > 0);
    leave(member);
    if (--member->group->consumer_count == 0)
        drop_group(local, member->group);
    pthread_mutex_unlock(&local->groups_lock);
    free_member(member);
}

/* --- polling --- */

/* Joins again if it was expelled, gives away what is to go, and notes what it has. */
static void renew_membership(struct member *member)
{
    struct group *group = member->group;
    size_t i;

    expire_group(member->local, group);
    if (!member->joined)
        join(member);
    assert(member->joined && member->group == group);
    member->busy = true;
    member->mine_count = 0;
    for (i = 0; i < group->slot_count; i++) {
        struct slot *slot = group->slots[i];

        if (slot->owner == member && slot->target != member) {
            hand_over(slot);
            if (slot->owner)
                waiter_wake(&member->local->board, slot->owner);
        }
        if (slot->owner == member)
            member->mine[member->mine_count++] = slot;
    }
}

static void position_slot(struct member *member, struct slot *slot)
{
    struct partition *partition = &slot->topic->partitions[slot->partition];
    uint64_t first, end;

    if (slot->positioned)
        return;
    if (!offsets_find(&member->local->offsets, member->group->name, slot->topic->name,
                      slot->partition, &slot->position)) {
        partition_range(partition, &first, &end);
        slot->position = member->start == TOPIC_START_LATEST ? end : first;
    }
    slot->hint = (struct read_hint){0};
    slot->positioned = true;
}

/* Retention may have passed a slow reader: it goes on with the first record there is. A disk that
 * has lost what it had synced leaves a group behind the end: the group has dealt with those
 * records, and those that get their offsets now are others, so it goes on at the end. */
static void handle_range(struct member *member, struct slot *slot)
{
    uint64_t first, end;

    partition_range(&slot->topic->partitions[slot->partition], &first, &end);
    assert(slot->positioned && first <= end);
    if (slot->position < first)
        log_warn("retention deleted records before they were read",
                 LOG_TEXT("group", member->group->name), LOG_TEXT("topic", slot->topic->name),
                 LOG_INT("partition", slot->partition), LOG_INT("count", first - slot->position));
    else
        log_error("a topic has lost records that were stored: the group goes on at its end",
                  LOG_TEXT("group", member->group->name), LOG_TEXT("topic", slot->topic->name),
                  LOG_INT("partition", slot->partition), LOG_INT("end", end),
                  LOG_INT("count", slot->position - end));
    slot->position = slot->position < first ? first : end;
}

static int read_entered(struct member *member, struct slot *slot, size_t *count, struct err *err)
{
    struct topic_message *messages = member->messages + *count;
    size_t got = 0, i;
    int rc = ERR_RANGE;

    position_slot(member, slot);
    while (rc == ERR_RANGE) {
        rc = partition_read(&slot->topic->partitions[slot->partition], slot->position,
                            member->poll_count - *count, &slot->hint, &member->space, member->arena,
                            messages, &got, err);
        if (rc == ERR_RANGE)
            handle_range(member, slot);
    }
    if (rc)
        return rc;
    assert(*count + got <= member->poll_count);
    for (i = 0; i < got; i++) {
        assert(messages[i].offset == slot->position + i);
        messages[i].topic = slot->topic->name;
        messages[i].partition = slot->partition;
    }
    slot->position += got;
    *count += got;
    return 0;
}

static int read_slot(struct member *member, struct slot *slot, size_t *count, struct err *err)
{
    int rc;

    if (!local_enter(member->local, slot->topic))
        return local_refuse_removed(slot->topic->name, err);
    rc = read_entered(member, slot, count, err);
    local_leave(member->local, slot->topic);
    return rc;
}

static int read_mine(struct member *member, size_t *count, struct err *err)
{
    size_t i;
    int rc = 0;

    *count = 0;
    member->space.used = 0;
    arena_reset(member->arena);
    member->turn++;
    for (i = 0; i < member->mine_count && !rc; i++) {
        if (*count == member->poll_count || member->space.used >= TOPIC_POLL_SIZE)
            break;
        rc = read_slot(member, member->mine[(member->turn + i) % member->mine_count], count, err);
    }
    /* what was read is delivered; the bad partition is told of when it is first in turn */
    return *count ? 0 : rc;
}

int group_consumer_poll(struct consumer *consumer, int timeout_ms,
                        const struct topic_message **messages, size_t *count, struct err *err)
{
    struct member *member = member_of(consumer);
    struct local *local = member->local;
    int64_t until_us = clock_after_us(local->clock, (int64_t)timeout_ms * MS_US);
    struct waiter waiter;
    bool more = true;
    int rc;

    waiter_enter(&local->board, &waiter, member->things, member->topic_count + 1);
    do {
        pthread_mutex_lock(&local->groups_lock);
        renew_membership(member);
        pthread_mutex_unlock(&local->groups_lock);
        rc = read_mine(member, count, err);
        if (!rc && *count == 0)
            more = waiter_wait(&local->board, &waiter, until_us);
    } while (!rc && *count == 0 && more);
    waiter_leave(&local->board, &waiter);
    pthread_mutex_lock(&local->groups_lock);
    member->busy = false;
    member->seen_us = clock_mono_us(local->clock);
    pthread_mutex_unlock(&local->groups_lock);
    *messages = member->messages;
    return rc;
}

/* --- the owner's rights --- */

static struct slot *own_slot(struct member *member, const char *topic, uint32_t partition)
{
    struct group *group = member->group;
    size_t i;

    for (i = 0; member->joined && i < group->slot_count; i++) {
        struct slot *slot = group->slots[i];

        if (slot->partition == partition && slot->owner == member &&
            strcmp(slot->topic->name, topic) == 0)
            return slot;
    }
    return NULL;
}

static int refuse_stale(struct member *member, const char *topic, uint32_t partition,
                        struct err *err)
{
    return err_set(err, ERR_STALE,
                   "topic %s partition %u is not this consumer's any more in group %s: poll "
                   "to see what is",
                   topic, partition, member->group->name);
}

static int check_position(const struct slot *slot, const struct topic_position *position,
                          struct err *err)
{
    uint64_t first, end;

    partition_range(&slot->topic->partitions[slot->partition], &first, &end);
    if (position->offset <= end)
        return 0;
    return err_set(err, ERR_RANGE,
                   "topic %s partition %u ends at %" PRIu64 ": %" PRIu64 " cannot be committed",
                   position->topic, position->partition, end, position->offset);
}

static void leave_topics(struct local *local, struct local_topic **topics, size_t count)
{
    while (count)
        local_leave(local, topics[--count]);
}

/* Enters the topics of all positions, so that none is removed, and made anew, before the commit. */
static int enter_positions(struct member *member, const struct topic_position *positions,
                           size_t count, struct local_topic **topics, struct err *err)
{
    size_t entered = 0, i;
    int rc = 0;

    for (i = 0; i < count && !rc; i++) {
        const struct topic_position *position = &positions[i];
        struct slot *slot = own_slot(member, position->topic, position->partition);

        if (!slot) {
            rc = refuse_stale(member, position->topic, position->partition, err);
        } else if (!local_enter(member->local, slot->topic)) {
            rc = local_refuse_removed(position->topic, err);
        } else {
            topics[entered++] = slot->topic;
            rc = check_position(slot, position, err);
        }
    }
    if (rc)
        leave_topics(member->local, topics, entered);
    return rc;
}

int group_consumer_commit(struct consumer *consumer, const struct topic_position *positions,
                          size_t count, struct err *err)
{
    struct member *member = member_of(consumer);
    struct local *local = member->local;
    struct local_topic **topics = mem_array(count, sizeof(struct local_topic *));
    int rc;

    pthread_mutex_lock(&local->groups_lock);
    expire_group(local, member->group);
    rc = enter_positions(member, positions, count, topics, err);
    member->busy = !rc; /* so the slots stay ours until the commit is durable */
    pthread_mutex_unlock(&local->groups_lock);
    if (!rc) {
        rc = offsets_commit(&local->offsets, member->group->name, positions, count, err);
        leave_topics(local, topics, count);
        pthread_mutex_lock(&local->groups_lock);
        member->busy = false;
        pthread_mutex_unlock(&local->groups_lock);
    }
    free(topics);
    return rc;
}

int group_consumer_seek(struct consumer *consumer, const char *topic, uint32_t partition,
                        uint64_t offset, struct err *err)
{
    struct member *member = member_of(consumer);
    struct slot *slot;
    uint64_t first, end;
    int rc = 0;

    pthread_mutex_lock(&member->local->groups_lock);
    slot = own_slot(member, topic, partition);
    if (!slot) {
        rc = refuse_stale(member, topic, partition, err);
    } else if (!local_enter(member->local, slot->topic)) {
        rc = local_refuse_removed(topic, err);
    } else {
        partition_range(&slot->topic->partitions[partition], &first, &end);
        local_leave(member->local, slot->topic);
        if (offset < first || offset > end) {
            rc = err_set(err, ERR_RANGE,
                         "topic %s partition %u has offsets %" PRIu64 " to %" PRIu64
                         ", not %" PRIu64,
                         topic, partition, first, end, offset);
        } else {
            slot->position = offset;
            slot->hint = (struct read_hint){0};
            slot->positioned = true;
        }
    }
    pthread_mutex_unlock(&member->local->groups_lock);
    return rc;
}

int group_consumer_assignment(struct consumer *consumer, struct topic_position *positions,
                              size_t max, size_t *count, struct err *err)
{
    struct member *member = member_of(consumer);
    struct group *group = member->group;
    size_t i;

    (void)err;
    *count = 0;
    pthread_mutex_lock(&member->local->groups_lock);
    for (i = 0; i < group->slot_count; i++) {
        const struct slot *slot = group->slots[i];

        if (slot->owner != member)
            continue;
        if (*count < max)
            positions[*count] =
                (struct topic_position){slot->topic->name, slot->partition, slot->position};
        (*count)++;
    }
    pthread_mutex_unlock(&member->local->groups_lock);
    return 0;
}

uint64_t group_consumer_generation(struct consumer *consumer)
{
    struct member *member = member_of(consumer);
    uint64_t generation;

    pthread_mutex_lock(&member->local->groups_lock);
    generation = member->group->generation;
    pthread_mutex_unlock(&member->local->groups_lock);
    return generation;
}
