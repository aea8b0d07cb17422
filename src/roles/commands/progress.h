/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a long command has come: a bar on a terminal, lines now and then elsewhere.
 *
 *     goods.yml  62% [==========>      ]  31.0 of 50.0 MB  62014 rows  2410 rows/s  0:08 left
 */
#ifndef TORG_ROLES_COMMANDS_PROGRESS_H
#define TORG_ROLES_COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"

enum progress_manner {
    PROGRESS_NONE,
    PROGRESS_LINES,
    PROGRESS_BAR,
};

struct progress {
    FILE *out; /* borrowed */
    const struct clock *clock;
    enum progress_manner manner;
    unsigned width; /* of the terminal, in columns */
    const char *name;
    int64_t begun_us;
    int64_t shown_us;
    uint64_t read_size;
    uint64_t total_size; /* 0: not known */
    uint64_t row_count;
};

/* name: borrowed. A bar when out is a terminal, lines otherwise, nothing when quiet. */
void progress_begin(struct progress *progress, FILE *out, const struct clock *clock, bool quiet,
                    const char *name);
/* Cheap; shows it when it is time to. */
void progress_update(struct progress *progress, uint64_t read_size, uint64_t total_size,
                     uint64_t row_count);
/* Wipes the bar, so that what is printed next has a clean line. */
void progress_end(struct progress *progress);

/* Microseconds since the beginning, and rows a second. */
int64_t progress_spent_us(const struct progress *progress);
uint64_t progress_rate(const struct progress *progress);

/* "31.0 MB" */
enum { PROGRESS_SIZE_TEXT_SIZE = 24 };
void progress_size_text(uint64_t size, char text[PROGRESS_SIZE_TEXT_SIZE]);

#endif
