/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry_fixture.h - a store with the registry's tables for tests on every backend, and
 * shorthands to write documents.
 */
#ifndef TORG_TESTS_CONTRACT_REGISTRY_FIXTURE_H
#define TORG_TESTS_CONTRACT_REGISTRY_FIXTURE_H

#include "base/random.h"
#include "contract/cases.h"
#include "contract/place.h"
#include "registry/receiving/receiver.h"
#include "store/store.h"

struct registry_place {
    bool postgres;
    struct store_place at;
    struct store *store;
    struct clock_manual clock;
    struct receiver receiver;
};

/* False, having skipped nothing, when the server is missing and not required. */
bool registry_place_open(struct registry_place *place, bool postgres);
void registry_place_close(struct registry_place *place);
/* What a restart forgets: views and dictionaries. */
void registry_place_forget(struct registry_place *place);

/* A document with a text "title" and, from 0 on, an integer "price"; version and moment 0: unset.
 */
Torg__V1__RawDocument *document_of(struct arena *arena, const char *pk, int64_t version,
                                   const char *title, int64_t price);
Torg__V1__RawDocument *deletion_of(struct arena *arena, const char *pk, int64_t version);
Torg__V1__RawField *add_field(struct arena *arena, Torg__V1__RawDocument *document,
                              const char *name);

/* The verdict on one. */
Torg__V1__Verdict *put_one(struct registry_place *place, const char *client,
                           Torg__V1__RawDocument *document, struct arena *arena);
void expect_kind(const Torg__V1__Verdict *verdict, Torg__V1__Verdict__Kind kind);

#endif
