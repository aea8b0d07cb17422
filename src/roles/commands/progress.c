/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. */
#include "roles/commands/progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"

enum {
    BAR_INTERVAL_US = 200 * 1000,
    LINE_INTERVAL_US = 5 * SECOND_US,
    WIDTH_DEFAULT = 80,
    WIDTH_MAX = 250,
    BAR_MIN = 10, /* columns; a shorter one says nothing */
    BAR_MAX = 40,
    ESTIMATE_AFTER_US = 2 * SECOND_US, /* the first rows say little about the rest */
    NAME_MAX_SHOWN = 30,
    LINE_SIZE_MAX = 1024,
};

static unsigned width_of(FILE *out)
{
    struct winsize size;

    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH_DEFAULT;
    return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

void progress_begin(struct progress *progress, FILE *out, const struct clock *clock, bool quiet,
                    const char *name)
{
    *progress = (struct progress){.out = out, .clock = clock, .name = name};
    progress->begun_us = progress->shown_us = clock_mono_us(clock);
    if (!quiet)
        progress->manner = isatty(fileno(out)) ? PROGRESS_BAR : PROGRESS_LINES;
    if (progress->manner == PROGRESS_BAR)
        progress->width = width_of(out);
}

int64_t progress_spent_us(const struct progress *progress)
{
    return clock_mono_us(progress->clock) - progress->begun_us;
}

uint64_t progress_rate(const struct progress *progress)
{
    int64_t spent_ms = progress_spent_us(progress) / MS_US;

    return spent_ms > 0 ? progress->row_count * 1000 / (uint64_t)spent_ms : 0;
}

void progress_size_text(uint64_t size, char text[PROGRESS_SIZE_TEXT_SIZE])
{
    if (size < 1000 * 1000)
        snprintf(text, PROGRESS_SIZE_TEXT_SIZE, "%.1f KB", (double)size / 1e3);
    else if (size < UINT64_C(1000) * 1000 * 1000)
        snprintf(text, PROGRESS_SIZE_TEXT_SIZE, "%.1f MB", (double)size / 1e6);
    else
        snprintf(text, PROGRESS_SIZE_TEXT_SIZE, "%.2f GB", (double)size / 1e9);
}

/* 0 … 100; -1: not known. */
static int percent_of(const struct progress *progress)
{
    if (!progress->total_size)
        return -1;
    if (progress->read_size >= progress->total_size)
        return 100;
    return (int)((double)progress->read_size * 100 / (double)progress->total_size);
}

/* What stands behind the bar. */
static void put_figures(const struct progress *progress, const char *gap, struct buf *line)
{
    int64_t spent_us = progress_spent_us(progress);
    char read[PROGRESS_SIZE_TEXT_SIZE];
    char total[PROGRESS_SIZE_TEXT_SIZE];

    progress_size_text(progress->read_size, read);
    progress_size_text(progress->total_size, total);
    if (progress->total_size)
        buf_printf(line, "%s of %s", read, total);
    else
        buf_put_text(line, read);
    buf_printf(line, "%s%" PRIu64 " rows%s%" PRIu64 " rows/s", gap, progress->row_count, gap,
               progress_rate(progress));
    if (percent_of(progress) > 0 && spent_us > ESTIMATE_AFTER_US) {
        double left =
            (double)spent_us * ((double)progress->total_size / (double)progress->read_size - 1);
        int64_t seconds = left > 0 ? (int64_t)(left / SECOND_US) + 1 : 0;

        if (seconds >= 3600)
            buf_printf(line, "%s%" PRId64 ":%02d:%02d left", gap, seconds / 3600,
                       (int)(seconds / 60 % 60), (int)(seconds % 60));
        else
            buf_printf(line, "%s%d:%02d left", gap, (int)(seconds / 60), (int)(seconds % 60));
    }
}

/* The front of the name that fits, not cut inside a character. */
static int name_size(const struct progress *progress)
{
    size_t size = strlen(progress->name);
    size_t shown = size < NAME_MAX_SHOWN ? size : NAME_MAX_SHOWN;

    while (shown < size && shown > 0 && (progress->name[shown] & 0xc0) == 0x80)
        shown--;
    return (int)shown;
}

static void put_bar(struct buf *line, int percent, int width)
{
    int done = width * percent / 100;

    buf_put_byte(line, '[');
    for (int i = 0; i < width; i++)
        buf_put_byte(line, i < done ? '=' : i == done ? '>' : ' ');
    buf_put_text(line, "]  ");
}

static void show_bar(struct progress *progress)
{
    struct buf figures = BUF_INIT(LINE_SIZE_MAX);
    struct buf line = BUF_INIT(LINE_SIZE_MAX);
    int percent = percent_of(progress);
    int room;

    put_figures(progress, "  ", &figures);
    buf_printf(&line, "%.*s  ", name_size(progress), progress->name);
    if (percent >= 0)
        buf_printf(&line, "%3d%% ", percent);
    room = (int)progress->width - 1 - (int)line.size - (int)figures.size - 4;
    if (percent >= 0 && room >= BAR_MIN)
        put_bar(&line, percent, room < BAR_MAX ? room : BAR_MAX);
    buf_put(&line, buf_bytes(&figures));
    /* A longer line would wrap, and each picture of it stay. */
    if (line.size >= progress->width)
        buf_truncate(&line, progress->width - 1);
    fprintf(progress->out, "\r%s\033[K", buf_text(&line));
    fflush(progress->out);
    buf_release(&figures);
    buf_release(&line);
}

static void show_line(struct progress *progress)
{
    struct buf line = BUF_INIT(LINE_SIZE_MAX);
    int percent = percent_of(progress);

    if (percent >= 0)
        buf_printf(&line, "%d%%, ", percent);
    put_figures(progress, ", ", &line);
    fprintf(progress->out, "%s: %s\n", progress->name, buf_text(&line));
    fflush(progress->out);
    buf_release(&line);
}

void progress_update(struct progress *progress, uint64_t read_size, uint64_t total_size,
                     uint64_t row_count)
{
    int64_t now_us;

    progress->read_size = read_size;
    progress->total_size = total_size;
    progress->row_count = row_count;
    if (progress->manner == PROGRESS_NONE)
        return;
    now_us = clock_mono_us(progress->clock);
    if (now_us - progress->shown_us <
        (progress->manner == PROGRESS_BAR ? BAR_INTERVAL_US : LINE_INTERVAL_US))
        return;
    progress->shown_us = now_us;
    if (progress->manner == PROGRESS_BAR)
        show_bar(progress);
    else
        show_line(progress);
}

void progress_end(struct progress *progress)
{
    if (progress->manner != PROGRESS_BAR)
        return;
    fputs("\r\033[K", progress->out);
    fflush(progress->out);
}
