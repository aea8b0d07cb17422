/* SPDX-License-Identifier: Apache-2.0 */
/* sim_disk.c - see sim_disk.h: the records. */
#include "sim_disk.h"

#include <assert.h>
#include <string.h>

#include "sim_core.h"

enum { CLASS_MIN = 6, ALIGNMENT = 64, DIR_MODE = 0755, FILE_MODE = 0644 };
#define FIRST_BESIDE (UINT64_C(1) << 32) /* what is not recorded has serials of its own */

struct disk *sim_disk;

/* --- memory --- */

static unsigned class_of(size_t size)
{
    unsigned class = CLASS_MIN;

    while (((size_t)1 << class) < size)
        class ++;
    assert(class < SIM_DISK_CLASS_COUNT);
    return class;
}

void *sim_disk_alloc(size_t size)
{
    unsigned class = class_of(size);
    void *memory = sim_disk->free[class];

    if (memory) {
        memcpy(&sim_disk->free[class], memory, sizeof(void *));
    } else {
        memory = (char *)sim_disk + sim_disk->used;
        sim_disk->used += (size_t)1 << class;
        assert(sim_disk->used <= SIM_DISK_MEMORY_SIZE);
    }
    return memory;
}

void sim_disk_free(void *memory, size_t size)
{
    unsigned class = class_of(size);

    memcpy(memory, &sim_disk->free[class], sizeof(void *));
    sim_disk->free[class] = memory;
}

/* --- files --- */

struct disk_inode *sim_disk_inode_new(const struct disk_inode *dir, bool is_dir)
{
    struct disk_inode *inode = sim_disk_alloc(sizeof(*inode));
    bool is_recorded = dir && dir->is_recorded;

    *inode = (struct disk_inode){.next = sim_disk->inodes,
                                 .serial = is_recorded ? ++sim_disk->serial
                                                       : FIRST_BESIDE + ++sim_disk->beside_serial,
                                 .is_dir = is_dir,
                                 .is_recorded = is_recorded,
                                 .mode = is_dir ? DIR_MODE : FILE_MODE};
    inode->changed_us = sim_wall_us();
    if (sim_disk->inodes)
        sim_disk->inodes->previous = inode;
    sim_disk->inodes = inode;
    return inode;
}

static void remove_entry(struct disk_entry *entry)
{
    struct disk_entry **link = &entry->dir->entries;

    while (*link != entry)
        link = &(*link)->next_in_dir;
    *link = entry->next_in_dir;
    link = &sim_disk->buckets[entry->hash % SIM_DISK_BUCKET_COUNT];
    while (*link != entry)
        link = &(*link)->next_in_bucket;
    *link = entry->next_in_bucket;
    sim_disk_free(entry, sizeof(*entry) + strlen(entry->name) + 1);
}

static void free_inode(struct disk_inode *inode)
{
    if (inode->refs || inode->opened)
        return;
    sim_content_drop(inode);
    while (inode->oldest)
        sim_disk_change_free(inode, inode->oldest);
    while (inode->entries) { /* nobody can reach them: what they name has lost that name */
        sim_disk_entry_set_live(inode->entries, NULL);
        sim_disk_entry_set_durable(inode->entries, NULL);
        remove_entry(inode->entries);
    }
    if (inode->previous)
        inode->previous->next = inode->next;
    else
        sim_disk->inodes = inode->next;
    if (inode->next)
        inode->next->previous = inode->previous;
    sim_disk_free(inode, sizeof(*inode));
}

void sim_disk_inode_drop(struct disk_inode *inode, unsigned refs)
{
    if (!inode)
        return;
    assert(inode->refs >= refs);
    inode->refs -= refs;
    free_inode(inode);
}

void sim_disk_inode_close(struct disk_inode *inode)
{
    assert(inode->opened);
    inode->opened--;
    free_inode(inode);
}

/* To free one may free others, those below a directory: the list is begun anew. */
void sim_disk_drop_held(void)
{
    struct disk_inode *inode = sim_disk->inodes;

    while (inode) {
        unsigned held = inode->kept_refs;

        if (!inode->opened && !held && inode->refs) {
            inode = inode->next;
            continue;
        }
        inode->opened = 0;
        inode->kept_refs = 0;
        sim_disk_inode_drop(inode, held);
        inode = sim_disk->inodes;
    }
}

void sim_disk_end_life(void)
{
    sim_disk_drop_held();
    for (struct disk_inode *inode = sim_disk->inodes; inode; inode = inode->next)
        inode->locked_by = 0;
    sim_content_end_life();
}

/* --- changes of files --- */

static size_t change_size(uint64_t bytes)
{
    return sizeof(struct disk_change) + bytes;
}

struct disk_change *sim_disk_change_new(struct disk_inode *inode, uint64_t size)
{
    struct disk_change *change = sim_disk_alloc(change_size(size));

    *change = (struct disk_change){.older = inode->newest,
                                   .serial = ++sim_disk->serial,
                                   .size = size,
                                   .old_size = inode->size};
    if (inode->newest)
        inode->newest->newer = change;
    else
        inode->oldest = change;
    inode->newest = change;
    inode->unsynced += size;
    while (inode->unsynced > SIM_DISK_UNSYNCED_MAX && inode->oldest != change)
        sim_disk_change_free(inode, inode->oldest);
    return change;
}

void sim_disk_change_free(struct disk_inode *inode, struct disk_change *change)
{
    if (change->older)
        change->older->newer = change->newer;
    else
        inode->oldest = change->newer;
    if (change->newer)
        change->newer->older = change->older;
    else
        inode->newest = change->older;
    inode->unsynced -= change->size;
    sim_disk_free(change, change_size(change->size));
}

/* A doomed write that is older than a durable one can no longer be taken back by what was there
 * before it: it becomes durable with that one. */
void sim_disk_sync_file(struct disk_inode *inode, uint64_t serial)
{
    struct disk_change *change = inode->oldest, *next;
    bool is_durable = false;

    for (; change && change->serial <= serial; change = change->newer)
        is_durable = is_durable || !change->is_doomed;
    if (!is_durable)
        return;
    for (change = inode->oldest; change && change->serial <= serial; change = next) {
        next = change->newer;
        sim_disk_change_free(inode, change);
    }
}

/* --- names --- */

static uint64_t hash_of(const struct disk_inode *dir, const char *name)
{
    uint64_t hash = dir->serial * 0x9e3779b97f4a7c15u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash ^ (hash >> 32);
}

struct disk_entry *sim_disk_entry_find(struct disk_inode *dir, const char *name, bool make)
{
    uint64_t hash = hash_of(dir, name);
    struct disk_entry **bucket = &sim_disk->buckets[hash % SIM_DISK_BUCKET_COUNT];
    size_t size = strlen(name) + 1;
    struct disk_entry *entry = *bucket;

    while (entry && (entry->hash != hash || entry->dir != dir || strcmp(entry->name, name) != 0))
        entry = entry->next_in_bucket;
    if (entry || !make)
        return entry;
    entry = sim_disk_alloc(sizeof(*entry) + size);
    *entry = (struct disk_entry){
        .next_in_dir = dir->entries, .next_in_bucket = *bucket, .dir = dir, .hash = hash};
    memcpy(entry->name, name, size);
    dir->entries = entry;
    *bucket = entry;
    return entry;
}

void sim_disk_entry_set_live(struct disk_entry *entry, struct disk_inode *inode)
{
    struct disk_inode *before = entry->live;

    entry->live = inode;
    if (before && before->named_by == entry)
        before->named_by = NULL;
    if (inode) {
        inode->refs++;
        inode->named_by = entry;
        entry->since = ++sim_disk->name_serial;
    }
    sim_disk_inode_drop(before, before != NULL);
}

void sim_disk_entry_set_durable(struct disk_entry *entry, struct disk_inode *inode)
{
    struct disk_inode *before = entry->durable;

    if (inode)
        inode->refs++;
    entry->durable = inode;
    sim_disk_inode_drop(before, before != NULL);
}

/* While a naming is not durable, its name and directory stay known. */
static void hold(struct disk_naming *naming, int i, struct disk_entry *entry)
{
    naming->sets[i].entry = entry;
    entry->namings++;
    entry->dir->refs++;
}

static void let_go(struct disk_naming *naming, int i)
{
    struct disk_entry *entry = naming->sets[i].entry;
    struct disk_inode *dir;

    if (!entry)
        return;
    naming->sets[i].entry = NULL;
    dir = entry->dir;
    if (--entry->namings == 0 && !entry->live && !entry->durable)
        remove_entry(entry);
    sim_disk_inode_drop(dir, 1);
}

void sim_disk_name(struct disk_entry *entry, struct disk_inode *inode, struct disk_entry *cleared)
{
    struct disk_naming *naming;

    if (!entry->dir->is_recorded)
        return;
    naming = sim_disk_alloc(sizeof(*naming));
    *naming = (struct disk_naming){.previous = sim_disk->newest, .serial = ++sim_disk->serial};
    naming->sets[0].inode = inode;
    if (inode)
        inode->refs++;
    hold(naming, 0, entry);
    if (cleared)
        hold(naming, 1, cleared);
    if (sim_disk->newest)
        sim_disk->newest->next = naming;
    else
        sim_disk->oldest = naming;
    sim_disk->newest = naming;
}

void sim_disk_naming_free(struct disk_naming *naming)
{
    if (naming->previous)
        naming->previous->next = naming->next;
    else
        sim_disk->oldest = naming->next;
    if (naming->next)
        naming->next->previous = naming->previous;
    else
        sim_disk->newest = naming->previous;
    let_go(naming, 0);
    let_go(naming, 1);
    if (naming->sets[0].inode)
        sim_disk_inode_drop(naming->sets[0].inode, 1);
    sim_disk_free(naming, sizeof(*naming));
}

/* What is older and would set the same name has been overtaken. */
static void overtake(const struct disk_naming *naming, const struct disk_entry *entry)
{
    for (struct disk_naming *each = naming->previous; each; each = each->previous)
        for (int i = 0; i < 2; i++)
            if (each->sets[i].entry == entry)
                let_go(each, i);
}

static bool touches(const struct disk_naming *naming, const struct disk_inode *dir)
{
    return (naming->sets[0].entry && naming->sets[0].entry->dir == dir) ||
           (naming->sets[1].entry && naming->sets[1].entry->dir == dir);
}

/* A rename between two directories is one change, durable with either. */
void sim_disk_sync_dir(struct disk_inode *dir)
{
    struct disk_naming *next;

    for (struct disk_naming *naming = sim_disk->oldest; naming; naming = next) {
        next = naming->next;
        if (!touches(naming, dir))
            continue;
        for (int i = 0; i < 2; i++)
            if (naming->sets[i].entry) {
                overtake(naming, naming->sets[i].entry);
                sim_disk_entry_set_durable(naming->sets[i].entry, naming->sets[i].inode);
            }
        sim_disk_naming_free(naming);
    }
}

/* --- seeds --- */

void sim_disk_open(void *memory)
{
    sim_disk = memory;
}

void sim_disk_begin(void)
{
    memset(sim_disk, 0, sizeof(*sim_disk));
    sim_disk->used = (sizeof(*sim_disk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    sim_content_begin();
    sim_disk->top = sim_disk_inode_new(NULL, true);
    sim_disk->top->refs = 1;
    sim_disk->root = sim_disk_inode_new(NULL, true);
    sim_disk->root->is_recorded = true;
    sim_disk->root->serial = ++sim_disk->serial;
    sim_disk_entry_set_live(sim_disk_entry_find(sim_disk->top, SIM_DISK_ROOT, true),
                            sim_disk->root);
}
