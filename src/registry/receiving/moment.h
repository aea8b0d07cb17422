/* SPDX-License-Identifier: Apache-2.0 */
/* moment.h - microseconds since 1970 and the message that tells them. */
#ifndef TORG_REGISTRY_RECEIVING_MOMENT_H
#define TORG_REGISTRY_RECEIVING_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "google/protobuf/timestamp.pb-c.h"

Google__Protobuf__Timestamp *moment_message(int64_t us, struct arena *arena);
/* Finer than a microsecond is cut off. False: it is not between the years 1 and 9999. */
bool moment_us(const Google__Protobuf__Timestamp *message, int64_t *us);

#endif
