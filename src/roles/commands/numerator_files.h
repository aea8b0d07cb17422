/* SPDX-License-Identifier: Apache-2.0 */
/* numerator_files.h - what commands on numbers share: the blob store, for names like
 * blob:states/shop; options of a batch, and what it prints. */
#ifndef TORG_ROLES_COMMANDS_NUMERATOR_FILES_H
#define TORG_ROLES_COMMANDS_NUMERATOR_FILES_H

#include "blob/blob.h"
#include "numerator/batch.h"
#include "roles/commands/command.h"
#include "roles/commands/progress.h"

/* NULL in *blob when none of the names (they may be NULL) is in it. To be closed in every case. */
int open_blob_of(const struct invocation *invocation, const char *const *names, size_t count,
                 struct blob **blob, struct err *err);

/* All but the states. Complains, and is false, when something is wrong with one. */
bool read_batch_options(const struct invocation *invocation, struct number_batch *batch);
/* As people read it, or as JSON. */
void print_batch(const struct invocation *invocation, const struct number_batch_result *result);
/* A progress bar on a terminal; progress_end when it is over. */
void show_batch_progress(struct number_batch *batch, struct progress *progress);

#endif
