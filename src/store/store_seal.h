/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_seal.h - the key that tokens are sealed with (base/seal.h): made once for a store, by
 * whoever needs it first, and the same for all who use the store from then on.
 */
#ifndef TORG_STORE_STORE_SEAL_H
#define TORG_STORE_STORE_SEAL_H

#include "base/seal.h"
#include "store/store.h"

/* Outside of transactions. Read once a process; any thread. */
int store_seal(struct store *store, struct seal *seal, struct err *err);

#endif
