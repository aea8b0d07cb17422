/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_snippets.c - one who puts, deletes and reads snippets, some by calls and some by a topic.
 *
 * Each write of a key has the next number, which is its content; every third deletes. What was not
 * answered is sent again before the next of its key. A call that was answered is seen by every
 * reader from then on, a record of the topic sometime; what was seen never becomes older.
 */
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "sim/crowd.h"
#include "torg/v1/snippet.pb-c.h"

enum { DELETING_SHARE = 3, BODY_SIZE = 32, LOOK_COUNT = 600, LOOK_US = 200 * MS_US };

static bool goes_by_topic(unsigned number)
{
    return number % 2;
}

static const char *name_of(unsigned number)
{
    return goes_by_topic(number) ? WORLD_SNIPPET_BY_TOPIC : WORLD_SNIPPET_BY_CALL;
}

static bool is_deletion(uint32_t write)
{
    return write % DELETING_SHARE == 0;
}

/* --- writes --- */

static int call(struct actor *actor, const char *key, const char *body, struct err *err)
{
    Torg__V1__PutSnippetRequest put = TORG__V1__PUT_SNIPPET_REQUEST__INIT;
    Torg__V1__DeleteSnippetRequest delete = TORG__V1__DELETE_SNIPPET_REQUEST__INIT;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    int rc;

    put.name = delete.name = WORLD_SNIPPET_BY_CALL;
    put.key = delete.key = (char *)key;
    put.format = TORG__V1__SNIPPET_FORMAT__JSON;
    put.body = (ProtobufCBinaryData){.data = (uint8_t *)body, .len = strlen(body)};
    rc = world_call(actor->crowd->world, &torg__v1__snippet_service__descriptor,
                    *body ? "PutSnippet" : "DeleteSnippet", NULL, *body ? &put.base : &delete.base,
                    arena, &answer, err);
    arena_free(arena);
    return rc;
}

/* The empty value deletes. */
static int produce(struct actor *actor, const char *key, const char *body, struct err *err)
{
    const struct topic_record record = {.key = bytes_of(key), .value = bytes_of(body)};

    return topic_produce(actor->crowd->world->process.backends.topics, WORLD_SNIPPET_TOPIC, &record,
                         1, NULL, err);
}

static void write_key(char key[KEY_SIZE], unsigned number)
{
    snprintf(key, KEY_SIZE, "k%u", number);
}

bool snippet_resolve(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_snippet *snippet = &model->snippets[number];
    char body[BODY_SIZE] = "", key[KEY_SIZE];
    struct err err;
    int rc;

    if (!snippet->asked)
        return true;
    if (!is_deletion(snippet->asked))
        snprintf(body, sizeof(body), "{\"write\": %u}", snippet->asked);
    write_key(key, number);
    rc = goes_by_topic(number) ? produce(actor, key, body, &err) : call(actor, key, body, &err);
    if (rc && !is_unsure(rc))
        model_fail(model, NULL, "snippet %s, write %u, is refused: %s", key, snippet->asked,
                   err.text);
    model_lock();
    model->unsure_count += rc != 0;
    if (!rc) {
        snippet->acknowledged = snippet->asked;
        snippet->asked = 0;
        model_step(model, NULL, "snippet %s: write %u acknowledged", key, snippet->acknowledged);
    }
    model_unlock();
    return !rc;
}

static void write_next(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_snippet *snippet = &model->snippets[number];

    if (!snippet_resolve(actor, number))
        return;
    model_lock();
    snippet->asked = ++snippet->count;
    model->asked_count++;
    model_unlock();
    snippet_resolve(actor, number);
}

/* --- reads --- */

/* The write whose content is there; nothing is there: the oldest write from `floor` on that may
 * have made it so. False: there was no answer. */
static bool read(struct actor *actor, unsigned number, uint32_t floor, uint32_t *write)
{
    Torg__V1__GetSnippetsRequest get = TORG__V1__GET_SNIPPETS_REQUEST__INIT;
    struct model *model = actor->crowd->model;
    struct arena *arena = arena_new();
    const Torg__V1__GetSnippetsResponse *found;
    char key[KEY_SIZE], *keys[] = {key}, *names[] = {(char *)name_of(number)};
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    write_key(key, number);
    get.names = names;
    get.keys = keys;
    get.n_names = get.n_keys = 1;
    rc = world_call(actor->crowd->world, &torg__v1__snippet_service__descriptor, "GetSnippets",
                    NULL, &get.base, arena, &answer, &err);
    if (rc && !is_unsure(rc))
        model_fail(model, NULL, "snippet %s cannot be read: %s", key, err.text);
    found = rc ? NULL : (const Torg__V1__GetSnippetsResponse *)answer;
    if (found && found->n_snippets == 0)
        *write = (floor + DELETING_SHARE - 1) / DELETING_SHARE * DELETING_SHARE;
    else if (found && (found->n_snippets > 1 ||
                       sscanf(found->snippets[0]->text, "{\"write\": %u}", write) != 1))
        model_fail(model, NULL, "snippet %s is what nobody has written: %s", key,
                   found->snippets[0]->text);
    arena_free(arena);
    return !rc;
}

/* False: there was no answer. */
static bool look(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_snippet *snippet = &model->snippets[number];
    uint32_t floor = snippet->seen, write = 0;

    if (!goes_by_topic(number) && snippet->acknowledged > floor)
        floor = snippet->acknowledged;
    if (!read(actor, number, floor, &write))
        return false;
    if (write < floor || write > snippet->count)
        model_fail(model, NULL,
                   "snippet k%u shows write %u; seen %u, acknowledged %u, asked for %u", number,
                   write, snippet->seen, snippet->acknowledged, snippet->count);
    model_lock();
    snippet->seen = write;
    model_unlock();
    return true;
}

void snippets_judge(struct actor *actor)
{
    struct model *model = actor->crowd->model;

    for (unsigned number = 0; number < SNIPPET_COUNT; number++) {
        uint32_t last = model->snippets[number].acknowledged, write = 0;
        unsigned tries = 0;

        while (!look(actor, number) || !read(actor, number, last, &write) || write != last) {
            if (tries++ == LOOK_COUNT)
                model_fail(model, NULL, "at rest snippet k%u shows write %u and not %u", number,
                           write, last);
            pause_us(LOOK_US);
        }
    }
}

void snippeteer_step(struct actor *actor)
{
    unsigned number = draw_below(&actor->rng, SNIPPET_COUNT);

    if (draw_below(&actor->rng, 2))
        write_next(actor, number);
    else
        look(actor, number);
}
