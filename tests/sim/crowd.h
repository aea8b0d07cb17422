/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - those who use the world: each a task that draws what to do next, does it by calls, and
 * writes into the model what it asked and what it was told.
 */
#ifndef TORG_TESTS_SIM_CROWD_H
#define TORG_TESTS_SIM_CROWD_H

#include "base/task.h"
#include "sim/draw.h"
#include "sim/model.h"
#include "sim/world.h"
#include "torg/v1/offer.pb-c.h"

enum {
    SELLER_COUNT = 2,
    CLIENT_COUNT = 2,
    OFFER_LIVE_MAX = 12,    /* of a seller, by hand */
    DOCUMENT_LIVE_MAX = 24, /* keys of a client */
    ACTOR_COUNT_MAX = 16,
};

/* As in the catalogues (world.c): rings wait for a photo, lamps do so for a while. */
enum { CATEGORY_BOOKS, CATEGORY_BIKES, CATEGORY_RINGS, CATEGORY_LAMPS, CATEGORY_COUNT };

struct crowd;

struct actor {
    struct crowd *crowd;
    unsigned number; /* among those who do the same */
    struct rng rng;
    struct task task;
    void (*step)(struct actor *actor);
    int64_t pause_us; /* about, between two steps */
};

struct crowd {
    struct world *world;
    struct model *model;
    struct actor actors[ACTOR_COUNT_MAX];
    size_t actor_count;
};

void crowd_start(struct crowd *crowd, struct world *world, struct model *model, int64_t pause_us);
void crowd_stop(struct crowd *crowd);

/* --- what each does in a step --- */

void seller_step(struct actor *actor);
void moderator_step(struct actor *actor);
void photographer_step(struct actor *actor);
void feeder_step(struct actor *actor);
void client_step(struct actor *actor);
void buyer_step(struct actor *actor);
void reader_step(struct actor *actor); /* of documents */
void operator_step(struct actor *actor);
void misfit_step(struct actor *actor);
void snippeteer_step(struct actor *actor);

/* --- what they share --- */

extern const char *const seller_names[SELLER_COUNT];
extern const char *const client_names[CLIENT_COUNT];
extern const char *const garbage_stages[GARBAGE_STAGE_COUNT];

/* A failure that may have happened after all, or was none of the caller's: try again later. */
bool is_unsure(int rc);
/* A record of a topic, of this key. */
int topic_send(struct actor *actor, const char *topic, const char *key,
               const ProtobufCMessage *message, struct err *err);
/* Takes the slot; false: somebody works on it, or searches are behind. */
bool slot_take(struct slot *slot);
void slot_give(struct slot *slot);
/* A slot of this kind and owner, drawn; NULL: the drawn one is not free. Taken. */
struct slot *slot_draw(struct actor *actor, enum slot_kind kind, unsigned owner);

/* The content of a stamp, and the stamp of what is told of it (0: it is none of ours). */
Torg__V1__OfferContent *offer_content_of(const struct slot *slot, uint32_t stamp,
                                         struct arena *arena);
uint32_t offer_stamp(const char *title, const Torg__V1__Price *price);

/* Finds out what became of the slot's open write, or what time has made of it. False: not yet. */
bool offer_resolve(struct actor *actor, struct slot *slot);
bool document_resolve(struct actor *actor, struct slot *slot);
/* An older version, after an epoch of its client has begun and serves: it is newer by that. */
bool document_put_anew(struct actor *actor, struct slot *slot);
/* A change of the side field of a document whose slot is taken and has nothing open; what was not
 * answered is sent again. */
void fields_put(struct actor *actor, struct slot *slot);
bool fields_resolve(struct actor *actor, struct slot *slot);
bool feed_resolve(struct actor *actor, unsigned feed);
bool snippet_resolve(struct actor *actor, unsigned number);
bool others_resolve(struct actor *actor, struct slot *slot); /* a moderator's, a photographer's */
/* The readable record that has to follow an unreadable one of its key. */
bool mended_resolve(struct actor *actor);
/* A draft with a new stamp's content, under the slot's key; false: it is not to be published by it,
 * or (the slot is over) not at all. */
bool drafted_prepare(struct actor *actor, struct slot *slot);
/* The slot's open write, by its draft. */
int drafted_publish(struct actor *actor, const struct slot *slot, struct arena *arena,
                    ProtobufCMessage **answer, struct err *err);

/* --- documents that do not fit every epoch --- */

/* Those of the first client, in one seed of four. */
bool misfits_are_on(const struct model *model);
/* Some who move epochs consent to losses. */
bool misfits_may_be_left_out(const struct model *model);
bool misfits_resolve(struct actor *actor);
/* At rest: what is not found is explained; then all of them are made to fit, and are found. */
void misfits_judge(struct actor *actor);
/* The versions that a search shows; 0: it is not found. False: there was no whole answer. */
bool misfits_look(struct actor *actor, int64_t versions[MISFIT_COUNT]);
/* An operator begins an epoch of one of the indexes, moves to it or back, or gives it up. */
void epoch_move(struct actor *actor, unsigned index);

/* At rest: each snippet is as it was written last. */
void snippets_judge(struct actor *actor);

/* Searches for all and judges; shown (may be NULL): the stamps seen, by slot, 0: none. False: there
 * was no whole answer. */
bool offers_look(struct actor *actor, uint32_t shown[SLOT_COUNT_MAX]);
bool documents_look(struct actor *actor, unsigned client, uint32_t shown[SLOT_COUNT_MAX]);

int offer_read(struct actor *actor, const struct slot *slot, struct arena *arena,
               Torg__V1__Offer **offer, struct err *err);
/* When its photo is asked for anew, as the offer says. */
void slot_take_photo_ask(struct slot *slot, const Torg__V1__Offer *offer);

#endif
