/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what web addresses returned when they were fetched last, while that is in the ledger:
 * whoever names one again is answered without its file, if its server says that it has not changed
 * (conditional requests).
 */
#ifndef TORG_PHOTOS_SOURCE_H
#define TORG_PHOTOS_SOURCE_H

#include "base/arena.h"
#include "base/err.h"
#include "photos/fetch.h"
#include "store/store.h"
#include "torg/v1/photo.pb-c.h"

/* *item is NULL when nothing is known; else it and the state's texts are the arena's. */
int source_find(struct store *store, const char *url, struct arena *arena,
                struct fetch_state *state, Torg__V1__PhotoResult__Item **item, struct err *err);

/* A READY one, and what its server has told with it: nothing is kept where that is nothing. */
int source_keep(struct store *store, const char *url, const struct fetch_state *state,
                const Torg__V1__PhotoResult__Item *item, struct err *err);

/* What became of an upload, for offers that name its address (offers/change/own_uploads.h). */
int source_keep_upload(struct store *store, const char *url,
                       const Torg__V1__PhotoResult__Item *item, struct err *err);

#endif
