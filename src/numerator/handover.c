/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.c - see handover.h. The register is a text, so that operators can read it:
 *
 *     numbering 1
 *     lock TICKET HOLDER|- NONCE TAKEN_US LIMIT_US
 *     last TICKET T S V G CLUSTER|- NAME|-
 *     previous ...
 */
#include "numerator/handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"

enum { REGISTER_SIZE_MAX = 4096, TRY_COUNT = 8, COORD_KEY_SIZE = 128 };

#define NONE "-"

struct reading {
    struct handover now;
    uint64_t version; /* of the register */
};

static void key_of(const char *numbering, char key[COORD_KEY_SIZE])
{
    snprintf(key, COORD_KEY_SIZE, "numbering.%s", numbering);
}

static const char *or_none(const char *text)
{
    return text[0] ? text : NONE;
}

static void put_state(struct buf *out, const char *word, const struct handed_state *state)
{
    buf_printf(out, "%s %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %s %s\n", word,
               state->ticket, state->version.kind, state->version.scheme, state->version.rebuild,
               state->version.generation, or_none(state->cluster), or_none(state->name));
}

static void encode(const struct handover *now, struct buf *out)
{
    buf_printf(out, "numbering 1\nlock %" PRIu64 " %s %" PRIu64 " %" PRId64 " %" PRId64 "\n",
               now->ticket, or_none(now->holder), now->nonce, now->taken_us, now->limit_us);
    put_state(out, "last", &now->last);
    put_state(out, "previous", &now->previous);
}

/* "-" stands for an empty text. */
static void take_none(char *text)
{
    if (strcmp(text, NONE) == 0)
        text[0] = 0;
}

/* The line that begins with the word. */
static bool read_state(const char *text, const char *word, struct handed_state *state)
{
    const char *line = strstr(text, word);
    int size = -1;

    if (!line || sscanf(line + strlen(word),
                        " %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %64s %512s%n",
                        &state->ticket, &state->version.kind, &state->version.scheme,
                        &state->version.rebuild, &state->version.generation, state->cluster,
                        state->name, &size) != 7)
        return false;
    take_none(state->cluster);
    take_none(state->name);
    return size > 0;
}

static bool decode(const char *text, struct handover *now)
{
    *now = (struct handover){0};
    if (sscanf(text, "numbering 1\nlock %" SCNu64 " %64s %" SCNu64 " %" SCNd64 " %" SCNd64,
               &now->ticket, now->holder, &now->nonce, &now->taken_us, &now->limit_us) != 5)
        return false;
    take_none(now->holder);
    return read_state(text, "\nlast ", &now->last) &&
           read_state(text, "\nprevious ", &now->previous);
}

static int look(struct coord *coord, const char *numbering, struct reading *reading,
                struct err *err)
{
    struct buf text = BUF_INIT(REGISTER_SIZE_MAX);
    char key[COORD_KEY_SIZE];
    int rc;

    *reading = (struct reading){0};
    key_of(numbering, key);
    rc = coord_get(coord, key, &text, &reading->version, err);
    if (rc == ERR_NOT_FOUND)
        rc = 0;
    else if (rc == 0 && !decode(buf_text(&text), &reading->now))
        rc = err_set(err, ERR_CORRUPT, "the register %s is not one of a numbering", key);
    buf_release(&text);
    return rc;
}

static int save(struct coord *coord, const char *numbering, const struct reading *reading,
                struct err *err)
{
    struct buf text = BUF_INIT(REGISTER_SIZE_MAX);
    char key[COORD_KEY_SIZE];
    int rc;

    key_of(numbering, key);
    encode(&reading->now, &text);
    rc = buf_failed(&text) ? err_set(err, ERR_LIMIT, "the register %s is too long", key)
                           : coord_set(coord, key, buf_bytes(&text), reading->version, NULL, err);
    buf_release(&text);
    return rc;
}

int handover_look(struct coord *coord, const char *numbering, struct handover *now, struct err *err)
{
    struct reading reading;
    int rc = look(coord, numbering, &reading, err);

    *now = reading.now;
    return rc;
}

/* --- the lock --- */

static int refuse_held(const struct handover *now, int64_t now_us, struct err *err)
{
    return err_set(err, ERR_EXISTS,
                   "%s makes the next state, with ticket %" PRIu64 ", since %" PRId64
                   " s; it is given up after %" PRId64 " s",
                   now->holder, now->ticket, (now_us - now->taken_us) / 1000000,
                   now->limit_us / 1000000);
}

int handover_ask(struct coord *coord, const struct clock *clock, const char *numbering,
                 const char *cluster, int64_t limit_us, struct handover *granted, struct err *err)
{
    uint64_t nonce = random_u64();
    int rc = ERR_CONFLICT;

    for (int tries = 0; tries < TRY_COUNT && (rc == ERR_CONFLICT || rc == ERR_UNAVAILABLE);
         tries++) {
        int64_t now_us = clock_wall_us(clock);
        struct reading reading;

        rc = look(coord, numbering, &reading, err);
        if (rc)
            continue;
        *granted = reading.now;
        if (reading.now.holder[0] && reading.now.nonce == nonce)
            return 0; /* an answer was lost */
        if (reading.now.holder[0] && now_us - reading.now.taken_us < reading.now.limit_us)
            return refuse_held(&reading.now, now_us, err);
        reading.now.ticket++;
        snprintf(reading.now.holder, sizeof(reading.now.holder), "%s", cluster);
        reading.now.nonce = nonce;
        reading.now.taken_us = now_us;
        reading.now.limit_us = limit_us;
        *granted = reading.now;
        rc = save(coord, numbering, &reading, err);
    }
    return rc;
}

static int refuse_ticket(const struct handover *now, uint64_t ticket, struct err *err)
{
    if (now->ticket != ticket)
        return err_set(err, ERR_PRECONDITION,
                       "ticket %" PRIu64 " is old, the newest is %" PRIu64
                       ": this state is void, the last one stays",
                       ticket, now->ticket);
    return err_set(err, ERR_PRECONDITION,
                   "ticket %" PRIu64 " was given back: this state is void, the last one stays",
                   ticket);
}

static int refuse_late(const struct handover *now, struct err *err)
{
    return err_set(err, ERR_PRECONDITION,
                   "ticket %" PRIu64 " had %" PRId64
                   " s, which are over: this state is void, the last one stays",
                   now->ticket, now->limit_us / 1000000);
}

int handover_publish(struct coord *coord, const struct clock *clock, const char *numbering,
                     const struct handed_state *made, bool is_last_void, struct err *err)
{
    int rc = ERR_CONFLICT;

    for (int tries = 0; tries < TRY_COUNT && (rc == ERR_CONFLICT || rc == ERR_UNAVAILABLE);
         tries++) {
        struct reading reading;
        struct handover *now = &reading.now;

        rc = look(coord, numbering, &reading, err);
        if (rc)
            continue;
        if (now->last.ticket == made->ticket || now->previous.ticket == made->ticket)
            return 0; /* an answer was lost */
        if (now->ticket != made->ticket || !now->holder[0])
            return refuse_ticket(now, made->ticket, err);
        if (clock_wall_us(clock) - now->taken_us >= now->limit_us)
            return refuse_late(now, err);
        if (!is_last_void)
            now->previous = now->last;
        now->last = *made;
        now->holder[0] = 0;
        rc = save(coord, numbering, &reading, err);
    }
    return rc;
}

int handover_give_up(struct coord *coord, const char *numbering, uint64_t ticket, struct err *err)
{
    int rc = ERR_CONFLICT;

    for (int tries = 0; tries < TRY_COUNT && (rc == ERR_CONFLICT || rc == ERR_UNAVAILABLE);
         tries++) {
        struct reading reading;

        rc = look(coord, numbering, &reading, err);
        if (rc)
            continue;
        if (reading.now.ticket != ticket || !reading.now.holder[0])
            return 0;
        reading.now.holder[0] = 0;
        rc = save(coord, numbering, &reading, err);
    }
    return rc;
}
