/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_again.c - see sim_core.h: a process that has ended a life begins the next as if it were new.
 *
 * To make a process for each life, and its memory page by page, took a quarter of a seed's time.
 * What the code of a life can change is: variables of the program and of its libraries, those of
 * its only thread, the heap as it was before, maps and descriptors. The first three are put back as
 * they were before the first life; the others are taken away (sim_memory.c, sim_life.c). The driver
 * runs some seeds again in processes of their own and compares their histories.
 */
#include <assert.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "sim_core.h"

enum { PIECE_COUNT_MAX = 512, PAGE_SIZE = 4096 };

struct piece {
    char *start;
    size_t size;
    const char *copy;
};

/* In memory of its own: it is not put back itself. */
struct again {
    size_t count;
    struct piece pieces[PIECE_COUNT_MAX];
};

static struct again *again;

static void add(struct again *to, char *start, size_t size)
{
    if (!size)
        return;
    assert(to->count < PIECE_COUNT_MAX);
    to->pieces[to->count++] = (struct piece){.start = start, .size = size};
}

/* What is written by the loader alone is read-only by now. */
static int find_variables(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t fixed = 0, fixed_end = 0;

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            fixed = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            fixed_end = (fixed + info->dlpi_phdr[i].p_memsz) & ~(uintptr_t)(PAGE_SIZE - 1);
        }
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;

        if (part->p_type == PT_TLS && info->dlpi_tls_data)
            add(context, info->dlpi_tls_data, part->p_memsz);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        if (start < fixed_end && fixed < end)
            start = fixed_end;
        if (start < end)
            add(context, (char *)start, end - start);
    }
    return 0;
}

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert(memory != MAP_FAILED);
    return memory;
}

void sim_again_keep(void)
{
    size_t heap_size;
    char *heap = sim_memory_heap(&heap_size);

    again = map(sizeof(*again));
    dl_iterate_phdr(find_variables, again);
    add(again, heap, heap_size);
    for (size_t i = 0; i < again->count; i++)
        again->pieces[i].copy = map(again->pieces[i].size);
    for (size_t i = 0; i < again->count; i++)
        memcpy((char *)again->pieces[i].copy, again->pieces[i].start, again->pieces[i].size);
}

/* Most pages are as they were: they are not touched. */
void sim_again_restore(void)
{
    const struct again *from = again;

    for (size_t i = 0; i < from->count; i++) {
        const struct piece *piece = &from->pieces[i];

        for (size_t at = 0; at < piece->size; at += PAGE_SIZE) {
            size_t size = piece->size - at < PAGE_SIZE ? piece->size - at : PAGE_SIZE;

            if (memcmp(piece->start + at, piece->copy + at, size) != 0)
                memcpy(piece->start + at, piece->copy + at, size);
        }
    }
}
