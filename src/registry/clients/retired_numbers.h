/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retired_numbers.h - numbers that no epoch names any more are taken out of the store.
 *
 * A numbering lives as long as an epoch has it. When the last such epoch is given up, its rows are
 * of no use to anybody; they may be millions, so they go in pieces.
 */
#ifndef TORG_REGISTRY_CLIENTS_RETIRED_NUMBERS_H
#define TORG_REGISTRY_CLIENTS_RETIRED_NUMBERS_H

#include "store/store.h"

/* At most some RETIRED_NUMBER_COUNT rows; *is_over: there is nothing left to take out. */
int retired_numbers_remove(struct store *store, bool *is_over, struct err *err);

#endif
