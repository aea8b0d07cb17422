/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_history.c - see sim_core.h: what happened, in lines, and how a life ends.
 *
 * The last megabytes are kept in a ring that outlives the life; with --trace every line goes out as
 * it comes. Its hash, with that of every choice, is what two runs of one seed are compared by.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_core.h"

enum { LINE_SIZE = 4096, OUTPUT_FD = 1 };

struct sim_state *sim;

void sim_mix(uint64_t value)
{
    sim->hash = (sim->hash ^ value) * 0x9e3779b97f4a7c15u;
    sim->hash ^= sim->hash >> 29;
}

static void write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t written = sim_real_write(fd, data, size);

        if (written <= 0)
            return;
        data += written;
        size -= (size_t)written;
    }
}

/* A line is never broken by the ring's end. */
static void keep(const char *line, size_t size)
{
    size_t at = sim->line_bytes % SIM_HISTORY_SIZE;

    for (size_t i = 0; i < size; i++)
        sim_mix((unsigned char)line[i]);
    if (at + size > SIM_HISTORY_SIZE) {
        memset(sim->history + at, '\n', SIM_HISTORY_SIZE - at);
        sim->line_bytes += SIM_HISTORY_SIZE - at;
        at = 0;
    }
    memcpy(sim->history + at, line, size);
    sim->line_bytes += size;
    if (sim->is_traced)
        write_all(OUTPUT_FD, line, size);
}

void sim_line(const char *who, const char *text, size_t size)
{
    const char *end;
    char line[LINE_SIZE];
    int saved_errno = errno, head;

    while (size && text[size - 1] == '\n')
        size--;
    end = size ? memchr(text, '\n', size) : NULL;
    if (end) {
        sim_line(who, text, (size_t)(end - text));
        sim_line(who, end + 1, size - (size_t)(end - text) - 1);
        return;
    }
    head = snprintf(line, sizeof(line), "# %u %4lld.%06lld %-15s %.*s\n", sim->life,
                    (long long)(sim->now_us / 1000000), (long long)(sim->now_us % 1000000), who,
                    (int)(size < LINE_SIZE - 100 ? size : LINE_SIZE - 100), text);
    keep(line, (size_t)head);
    errno = saved_errno;
}

void sim_trace(const char *format, ...)
{
    char text[LINE_SIZE];
    va_list args;
    int size;

    if (!sim)
        return;
    va_start(args, format);
    size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (size >= LINE_SIZE)
        size = LINE_SIZE - 1;
    sim_line(sim_current ? sim_current->name : "driver", text, (size_t)size);
}

void sim_print_history(int fd, size_t line_count_max)
{
    size_t end = sim->line_bytes % SIM_HISTORY_SIZE, size = SIM_HISTORY_SIZE, count = 0, start;

    if (sim->line_bytes < SIM_HISTORY_SIZE)
        size = end;
    for (start = 0; start < size && count <= line_count_max; start++)
        count += sim->history[(end + SIM_HISTORY_SIZE - start - 1) % SIM_HISTORY_SIZE] == '\n';
    if (count > line_count_max)
        start--; /* the end of the line before */
    start = (end + SIM_HISTORY_SIZE - start) % SIM_HISTORY_SIZE;
    if (start > end) {
        write_all(fd, sim->history + start, SIM_HISTORY_SIZE - start);
        start = 0;
    }
    write_all(fd, sim->history + start, end - start);
}

/* --- ends --- */

_Noreturn void sim_end_life(enum sim_end end)
{
    static const char *const names[] = {[SIM_END_DONE] = "is done",
                                        [SIM_END_STOP] = "stops",
                                        [SIM_END_KILL] = "is killed",
                                        [SIM_END_POWER] = "loses its power",
                                        [SIM_END_FAIL] = "fails"};

    sim_trace("the life %s", names[end]);
    sim->end = end;
    sim->is_ended = true;
    if (sim_is_kept && end != SIM_END_FAIL)
        sim_fibre_leave();
    _exit(0);
}

/* The first failure is the one that counts. */
void sim_fail_text(const char *format, va_list args)
{
    if (!sim->failure[0])
        vsnprintf(sim->failure, sizeof(sim->failure), format, args);
}

void sim_set_failure(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    sim_fail_text(format, args);
    va_end(args);
}

_Noreturn void sim_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    sim_fail_text(format, args);
    va_end(args);
    sim_line("", sim->failure, strlen(sim->failure));
    sim_end_life(SIM_END_FAIL);
}

/* --- what the process prints --- */

static ssize_t print(void *who, const char *text, size_t size)
{
    (void)who;
    sim_line(sim_current ? sim_current->name : "", text, size);
    return (ssize_t)size;
}

/* libc's streams write past the calls of this folder. */
void sim_take_streams(void)
{
    const cookie_io_functions_t calls = {.write = print};
    FILE *stream = fopencookie(NULL, "w", calls);

    setvbuf(stream, NULL, _IOLBF, LINE_SIZE);
    stdout = stderr = stream;
}

/* --- what is drawn --- */

uint64_t sim_seed(void)
{
    return sim->seed;
}

unsigned sim_steps(void)
{
    return sim->steps;
}

int64_t sim_now_us(void)
{
    return sim->now_us;
}

uint64_t sim_random(void)
{
    return rng_next(&sim->world);
}

uint64_t sim_below(uint64_t bound)
{
    return rng_below(&sim->world, bound);
}

bool sim_chance(unsigned per_million)
{
    return rng_below(&sim->world, 1000000) < per_million;
}

static bool has_name(const struct sim_names *names, const char *name)
{
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return true;
    return false;
}

bool sim_has(const char *name)
{
    if (has_name(&sim->without, name))
        return false;
    if (!has_name(&sim->asked, name) && sim->asked.count < SIM_NAME_COUNT_MAX)
        snprintf(sim->asked.names[sim->asked.count++], SIM_NAME_SIZE, "%s", name);
    return true;
}
