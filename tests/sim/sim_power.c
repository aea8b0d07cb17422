/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_power.c - see sim_disk.h: what is left when the power goes.
 *
 * First every file is taken back to what is durable of it, newest change first; then, oldest first,
 * some changes are put into it after all, whole or torn at any byte: the system has written them
 * back in an order of its own. Names likewise.
 */
#include <string.h>

#include "sim_core.h"
#include "sim_disk.h"

enum { SECTOR = 512 };

/* How much the disk has kept, drawn for each loss: the extremes find other faults than the mixture.
 */
enum style { KEEPS_NOTHING, KEEPS_ALL, KEEPS_THE_FIRST, KEEPS_SOME, STYLE_COUNT };

struct loss {
    enum style style;
    uint64_t until; /* KEEPS_THE_FIRST: serials */
    unsigned kept;  /* KEEPS_SOME: of a million */
};

static bool is_kept(const struct loss *loss, uint64_t serial)
{
    switch (loss->style) {
    case KEEPS_NOTHING:
        return false;
    case KEEPS_ALL:
        return true;
    case KEEPS_THE_FIRST:
        return serial <= loss->until;
    default:
        return sim_draw(&sim->disk, loss->kept);
    }
}

/* --- content --- */

/* The change afterwards holds what it has taken away. */
static void take_back(struct disk_inode *inode, struct disk_change *change)
{
    if (change->is_resize) {
        sim_content_resize(inode, change->old_size);
        sim_content_write(inode, change->bytes, change->old_count, change->offset);
        return;
    }
    for (uint64_t i = 0; i < change->size; i++) {
        unsigned char *at = inode->content + change->offset + i, was = *at;

        *at = i < change->old_count ? change->bytes[i] : was;
        change->bytes[i] = was;
    }
    sim_content_resize(inode, change->old_size);
}

static void put_range(struct disk_inode *inode, const struct disk_change *change, uint64_t from,
                      uint64_t to)
{
    if (from < to)
        sim_content_write(inode, change->bytes + from, to - from, change->offset + from);
}

static void put_sectors(struct disk_inode *inode, const struct disk_change *change)
{
    for (uint64_t at = 0; at < change->size;) {
        uint64_t end = (change->offset + at) / SECTOR * SECTOR + SECTOR - change->offset;

        end = end < change->size ? end : change->size;
        if (rng_below(&sim->disk, 2))
            put_range(inode, change, at, end);
        at = end;
    }
}

/* Torn: the first bytes of it, the last, or some of its sectors. */
static void put(struct disk_inode *inode, const struct disk_change *change, bool may_tear)
{
    uint64_t cut = rng_below(&sim->disk, change->size + 1);
    uint64_t way = may_tear ? rng_below(&sim->disk, 6) : 5;

    if (change->is_resize)
        sim_content_resize(inode, change->new_size);
    else if (way == 0)
        put_range(inode, change, 0, cut);
    else if (way == 1)
        put_range(inode, change, cut, change->size);
    else if (way == 2)
        put_sectors(inode, change);
    else
        put_range(inode, change, 0, change->size);
}

static void lose_content(struct disk_inode *inode, const struct loss *loss)
{
    for (struct disk_change *change = inode->newest; change; change = change->older)
        take_back(inode, change);
    for (struct disk_change *change = inode->oldest; change; change = change->newer) {
        bool is_whole = is_kept(loss, change->serial);

        if (is_whole)
            put(inode, change, loss->style == KEEPS_SOME);
        else if (loss->style == KEEPS_SOME && rng_below(&sim->disk, 8) == 0 &&
                 change->new_size > change->old_size)
            sim_content_resize(inode, change->new_size); /* its size, not its bytes */
        sim->lost += !is_whole;
    }
    while (inode->oldest)
        sim_disk_change_free(inode, inode->oldest);
}

/* --- names --- */

static void lose_names(const struct loss *loss)
{
    while (sim_disk->oldest) {
        struct disk_naming *naming = sim_disk->oldest;
        bool is_whole = is_kept(loss, naming->serial);

        sim->lost += !is_whole;
        for (int i = 0; i < 2; i++)
            if (is_whole && naming->sets[i].entry)
                sim_disk_entry_set_durable(naming->sets[i].entry, naming->sets[i].inode);
        sim_disk_naming_free(naming);
    }
}

/* Every live name that is not to stay is taken away; what it named may have another. */
static void take_away(struct disk_entry *entry)
{
    struct disk_inode *inode = entry->live;

    inode->refs++; /* until all names are what they are to be */
    inode->kept_refs++;
    sim_disk_entry_set_live(entry, NULL);
}

static void take_all_away(void)
{
    for (struct disk_inode *dir = sim_disk->inodes; dir; dir = dir->next)
        for (struct disk_entry *entry = dir->entries; entry; entry = entry->next_in_dir)
            if (dir->is_recorded && entry->live && entry->live != entry->durable)
                take_away(entry);
}

static void put_all_back(struct disk_inode *dir)
{
    for (struct disk_entry *entry = dir->entries; entry; entry = entry->next_in_dir) {
        if (entry->durable && !entry->live)
            sim_disk_entry_set_live(entry, entry->durable);
        if (entry->live && entry->live->is_dir)
            put_all_back(entry->live);
    }
}

/* --- the loss --- */

static struct loss draw_loss(void)
{
    struct loss loss = {.style = (enum style)rng_below(&sim->disk, STYLE_COUNT + 2)};
    uint64_t first = sim_disk->oldest ? sim_disk->oldest->serial : sim_disk->serial;

    for (struct disk_inode *inode = sim_disk->inodes; inode; inode = inode->next)
        if (inode->oldest && inode->oldest->serial < first)
            first = inode->oldest->serial;
    if (loss.style >= STYLE_COUNT)
        loss.style = KEEPS_SOME;
    loss.until = first + rng_below(&sim->disk, sim_disk->serial - first + 1);
    loss.kept = (unsigned)rng_below(&sim->disk, 1000000);
    return loss;
}

void sim_disk_lose_power(void)
{
    static const char *const names[] = {[KEEPS_NOTHING] = "nothing",
                                        [KEEPS_ALL] = "all",
                                        [KEEPS_THE_FIRST] = "the first",
                                        [KEEPS_SOME] = "some"};
    struct loss loss = draw_loss();
    uint64_t lost = sim->lost;

    for (struct disk_inode *inode = sim_disk->inodes; inode; inode = inode->next)
        if (inode->oldest)
            lose_content(inode, &loss);
    lose_names(&loss);
    take_all_away();
    put_all_back(sim_disk->root);
    sim_disk_drop_held(); /* what has no name left is gone, with all below it */
    sim_trace("the disk has kept %s of what was not synced: %ju changes are lost",
              names[loss.style], (uintmax_t)(sim->lost - lost));
}
