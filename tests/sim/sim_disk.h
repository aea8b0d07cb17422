/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_disk.h - the files of a seed, and what a disk keeps of those below "disk" when its power
 * goes.
 *
 * All that lies below the working directory of a life is here and nowhere else: the system knows
 * nothing of it, and is not asked. Recorded is what is not durable yet of the files below "disk",
 * with what was there before: of each file the writes and changes of size since its last sync, of
 * each directory the names made, moved and removed since its last sync. A power loss takes some of
 * it back (sim_power.c). A file that has lost its last name is kept until its loss is durable.
 * Files beside "disk" are of no machine: their calls are no points, never fail and lose nothing.
 *
 * All of it is in memory that the lives and the driver share: a life that is killed loses nothing,
 * but what it has not synced can still be lost by the next one's power loss.
 */
#ifndef TORG_TESTS_SIM_SIM_DISK_H
#define TORG_TESTS_SIM_SIM_DISK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SIM_DISK_MEMORY_SIZE ((size_t)1 << 34)   /* reserved, not used: only touched pages are */
#define SIM_DISK_CONTENTS_SIZE ((size_t)1 << 42) /* behind it, likewise */
#define SIM_DISK_ROOT "disk"
enum {
    SIM_DISK_BUCKET_COUNT = 4096,
    SIM_DISK_CLASS_COUNT = 40,
    SIM_DISK_NAME_SIZE = NAME_MAX + 1,
    SIM_DISK_UNSYNCED_MAX = 16 << 20, /* of a file; then the system writes it back, oldest first */
};

/* A write or a change of size that is not durable. */
struct disk_change {
    struct disk_change *older, *newer; /* of the same file */
    uint64_t serial;
    bool is_resize;
    bool is_doomed; /* a sync has failed: no later one writes it, as Linux has it */
    uint64_t offset, size;
    uint64_t old_size, new_size; /* of the file, before and after */
    uint64_t old_count;          /* bytes that were there before; all others are zero */
    unsigned char bytes[];       /* what was there before; sim_power.c swaps it */
};

struct disk_entry;

struct disk_inode {
    struct disk_inode *previous, *next; /* of all */
    uint64_t serial;
    bool is_dir;
    bool is_recorded;   /* it is below "disk" */
    bool is_volatile;   /* its content is nobody's: SQLite's shared memory */
    mode_t mode;        /* permissions */
    unsigned refs;      /* names, live and durable, and changes of names */
    unsigned opened;    /* descriptors of the life */
    unsigned kept_refs; /* of refs: held by sim_power.c while names are put back */
    uint64_t size;      /* live */
    int64_t changed_us; /* wall time */
    uint64_t unsynced;  /* bytes of its changes */
    struct disk_change *oldest, *newest;
    struct disk_entry *entries;  /* of a directory */
    struct disk_entry *named_by; /* a live name; NULL: none */
    unsigned char *content;      /* what is in it; NULL: nothing yet */
    int locked_by;               /* the descriptor that has its flock; 0: none */
};

struct disk_entry {
    struct disk_entry *next_in_dir, *next_in_bucket;
    struct disk_inode *dir;
    struct disk_inode *live, *durable; /* NULL: there is no such name */
    unsigned namings;                  /* that are not durable */
    uint64_t since;                    /* listings begin with the newest name, as tmpfs has it */
    uint64_t hash;
    char name[];
};

/* Names that change together: a rename clears one and sets another. */
struct disk_naming {
    struct disk_naming *previous, *next;
    uint64_t serial;
    struct {
        struct disk_entry *entry; /* NULL: a later change is durable already */
        struct disk_inode *inode; /* NULL: the name is removed */
    } sets[2];
};

struct disk {
    size_t used;
    void *free[SIM_DISK_CLASS_COUNT]; /* by power of two */
    uint64_t serial;
    uint64_t beside_serial, name_serial; /* of files that are not recorded; of live names */
    struct disk_inode *inodes, *root;
    struct disk_inode *top; /* the working directory, with root as its "disk" */
    struct disk_naming *oldest, *newest;
    struct disk_entry *buckets[SIM_DISK_BUCKET_COUNT];
};

extern struct disk *sim_disk; /* the shared memory begins with it */

/* The driver's, once: memory that lives and driver share, zeroed. */
void sim_disk_open(void *memory);
/* The driver's, at a seed's start: an empty disk. */
void sim_disk_begin(void);
/* The driver's, between two lives. */
void sim_disk_end_life(void);
void sim_disk_lose_power(void);

/* --- for sim_files.c and sim_power.c --- */

void *sim_disk_alloc(size_t size);
void sim_disk_free(void *memory, size_t size);

/* It is recorded as the directory is that it will be in. */
struct disk_inode *sim_disk_inode_new(const struct disk_inode *dir, bool is_dir);
void sim_disk_inode_drop(struct disk_inode *inode, unsigned refs); /* gone with its last one */
void sim_disk_inode_close(struct disk_inode *inode);
void sim_disk_drop_held(void); /* what sim_power.c holds, and the life had opened */

struct disk_entry *sim_disk_entry_find(struct disk_inode *dir, const char *name, bool make);
void sim_disk_entry_set_live(struct disk_entry *entry, struct disk_inode *inode);
void sim_disk_entry_set_durable(struct disk_entry *entry, struct disk_inode *inode);

/* Records a change of one name, or of two; it has happened to the live ones already. */
void sim_disk_name(struct disk_entry *entry, struct disk_inode *inode, struct disk_entry *cleared);
void sim_disk_naming_free(struct disk_naming *naming);
void sim_disk_sync_dir(struct disk_inode *dir);

/* Room for a change at the end of the file's list; the caller fills it. */
struct disk_change *sim_disk_change_new(struct disk_inode *inode, uint64_t size);
void sim_disk_change_free(struct disk_inode *inode, struct disk_change *change);
/* What was changed up to the serial is durable. */
void sim_disk_sync_file(struct disk_inode *inode, uint64_t serial);

/* --- sim_content.c --- */

void sim_content_begin(void); /* at a seed's start: nothing is in use */
ssize_t sim_content_read(const struct disk_inode *inode, void *to, size_t size, uint64_t offset);
/* Behind its end the file grows, by zeros up to the offset. */
void sim_content_write(struct disk_inode *inode, const void *data, size_t size, uint64_t offset);
void sim_content_resize(struct disk_inode *inode, uint64_t size);
/* The content itself: it stays where it is. NULL: such a map is not to be had. */
void *sim_content_map(struct disk_inode *inode, size_t size, uint64_t offset);
void *sim_content_remap(void *old, size_t old_size, size_t size);
void sim_content_unmap(const void *address, size_t size);
bool sim_content_has(const void *address); /* it is of such a map */
void sim_content_end_life(void);           /* with all its maps */
void sim_content_drop(struct disk_inode *inode);

#endif
