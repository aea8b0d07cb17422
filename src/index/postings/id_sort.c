/* SPDX-License-Identifier: Apache-2.0 */
/* id_sort.c - see id_sort.h: a radix sort, one byte of the ids at a time, from the lowest. */
#include "index/postings/id_sort.h"

#include <string.h>

enum { FEW_COUNT = 32 };

static void sort_few(struct id_place *list, size_t count)
{
    size_t i, at;

    for (i = 1; i < count; i++) {
        struct id_place entry = list[i];

        for (at = i; at > 0 && list[at - 1].id > entry.id; at--)
            list[at] = list[at - 1];
        list[at] = entry;
    }
}

static void sort_by_byte(const struct id_place *list, struct id_place *sorted, size_t count,
                         unsigned shift)
{
    uint32_t places[256] = {0}, place = 0;
    size_t i;

    for (i = 0; i < count; i++)
        places[list[i].id >> shift & 255]++;
    for (i = 0; i < 256; i++) {
        uint32_t of_byte = places[i];

        places[i] = place;
        place += of_byte;
    }
    for (i = 0; i < count; i++)
        sorted[places[list[i].id >> shift & 255]++] = list[i];
}

void id_sort(struct id_place *list, struct id_place *spare, size_t count)
{
    struct id_place *from = list, *to = spare, *other;
    docid differing = 0;
    unsigned shift;
    size_t i;

    if (count <= FEW_COUNT) {
        sort_few(list, count);
        return;
    }
    for (i = 1; i < count; i++)
        differing |= list[i].id ^ list[0].id;
    for (shift = 0; shift < 32; shift += 8) {
        if (!(differing >> shift & 255))
            continue;
        sort_by_byte(from, to, count, shift);
        other = from;
        from = to;
        to = other;
    }
    if (from != list)
        memcpy(list, from, count * sizeof(*list));
}
